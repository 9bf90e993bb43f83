#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "wavegate/kir/builder.h"
#include "wavegate/ops/mapping.h"

namespace wavegate::ops {

/// How the rows of a sparse matrix are laid over slots, and the order of each row's sum: chosen from rows and nonzeros
/// alone, so that no byte depends on the device.
struct RowShape {
  /// A power of two. Part k of a row adds its entries k, k + parts, ... in order; then the parts are added in order.
  uint32_t parts = 1;
  uint32_t rows_per_block() const { return kSlots / parts; }
  friend bool operator==(const RowShape&, const RowShape&) = default;
};
RowShape choose_row_shape(uint32_t rows, uint32_t nonzeros);

/// The buffers of a matrix as a kernel binds them, in this order.
struct MatrixBindings {
  kir::MemoryRef row_offsets, column_indices, values;
};
MatrixBindings bind_matrix(kir::Builder& builder);

/// Sums over the entries of rows. A sum has one component or several: an f32, or a pair of them.
class RowSum {
 public:
  using Sum = std::vector<kir::Expr>;
  struct Rules {
    Sum zero;
    std::function<Sum(const Sum&, kir::Expr)> add_entry;   ///< (sum, entry)
    std::function<Sum(const Sum&, const Sum&)> add_parts;  ///< two sums
  };
  struct Row {
    kir::Expr index;   ///< the row
    kir::Expr exists;  ///< whether the slot has a row
    Sum sum;           ///< zero where it has none
  };

  /// Declares the workgroup arrays that sums of so many components need. The workgroup has width_of(mapping)
  /// invocations.
  RowSum(kir::Builder& builder, Mapping mapping, const RowShape& shape, uint32_t components);

  /// The row of a slot below rows_per_block in the block that begins with row `first`, if it is before row `end`. Both
  /// are workgroup-uniform. When wide the slot is the local id, and control flow is workgroup-uniform too.
  Row add(const kir::MemoryRef& row_offsets, kir::Expr first, kir::Expr end, kir::Expr slot, const Rules& rules);

 private:
  Sum part(const kir::MemoryRef& row_offsets, kir::Expr row, kir::Expr number, const Rules& rules);
  std::vector<kir::Variable> variables(const Sum& values);

  kir::Builder& b_;
  RowShape shape_;
  std::vector<kir::MemoryRef> parts_;
};

/// The rules of a product with the vector whose elements x(column) gives.
RowSum::Rules product_rules(kir::Builder& b, const MatrixBindings& matrix,
                            const std::function<kir::Expr(kir::Expr)>& x);

}  // namespace wavegate::ops
