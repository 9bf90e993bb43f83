#pragma once

#include <cstdint>

#include "wavegate/kir/builder.h"

namespace wavegate::ops {

/// How a sparse row is spread over invocations: chosen from rows and nonzeros alone, so that the order of each
/// row's sum, and with it every byte, does not depend on the device.
enum class RowStrategy : uint8_t {
  one_invocation,      ///< short rows: one invocation adds a row from left to right
  sixteen_invocations  ///< long rows: sixteen add every sixteenth entry, one adds their sums
};
RowStrategy choose_row_strategy(uint32_t rows, uint32_t nonzeros);

/// The buffers of a matrix as a kernel binds them, in this order.
struct MatrixBindings {
  kir::MemoryRef row_offsets, column_indices, values;
};
MatrixBindings bind_matrix(kir::Builder& builder);

/// Rows that a workgroup of 256 invocations covers.
uint32_t rows_per_workgroup(RowStrategy strategy);

/// The product of one row with a vector, in one pass of a workgroup over its rows.
class RowProduct {
 public:
  /// Declares the workgroup array that the strategy needs.
  RowProduct(kir::Builder& builder, RowStrategy strategy);

  struct Row {
    kir::Expr index;    ///< the row
    kir::Expr owned;    ///< true in the one invocation that holds the row's product, and only for a row that exists
    kir::Expr product;  ///< valid where owned, else 0
  };
  /// Rows of the `block`-th group of rows_per_workgroup rows; block is workgroup-uniform, and so is control flow.
  Row multiply(const MatrixBindings& matrix, const kir::MemoryRef& x, kir::Expr rows, kir::Expr block);

 private:
  kir::Builder& b_;
  RowStrategy strategy_;
  std::vector<kir::MemoryRef> parts_;
};

}  // namespace wavegate::ops
