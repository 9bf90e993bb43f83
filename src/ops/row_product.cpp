#include "wavegate/ops/row_product.h"

#include "wavegate/ops/workgroup_sum.h"

namespace wavegate::ops {
namespace {

constexpr uint32_t kWideRow = 16;  ///< invocations on a long row
/// Average row length from which sixteen invocations are worth their barrier.
constexpr uint64_t kLongRow = 32;

uint32_t invocations_per_row(RowStrategy strategy) {
  return strategy == RowStrategy::one_invocation ? 1 : kWideRow;
}

}  // namespace

using kir::Access;
using kir::Expr;
using kir::Type;

RowStrategy choose_row_strategy(uint32_t rows, uint32_t nonzeros) {
  return nonzeros / kLongRow < rows ? RowStrategy::one_invocation : RowStrategy::sixteen_invocations;
}

MatrixBindings bind_matrix(kir::Builder& b) {
  return {b.buffer("row_offsets", Type::i32, Access::read), b.buffer("column_indices", Type::i32, Access::read),
          b.buffer("values", Type::f32, Access::read)};
}

uint32_t rows_per_workgroup(RowStrategy strategy) {
  return kReductionWidth / invocations_per_row(strategy);
}

RowProduct::RowProduct(kir::Builder& builder, RowStrategy strategy) : b_(builder), strategy_(strategy) {
  if (strategy == RowStrategy::sixteen_invocations)
    parts_.push_back(b_.workgroup_array("parts", Type::f32, kReductionWidth));
}

RowProduct::Row RowProduct::multiply(const MatrixBindings& matrix, const kir::MemoryRef& x, Expr rows, Expr block) {
  const uint32_t width = invocations_per_row(strategy_);
  const Expr id = b_.local_id();
  const Expr row = block * rows_per_workgroup(strategy_) + id / width;
  const Expr exists = row < rows;
  auto sum = b_.variable(b_.f32(0.0f));
  b_.if_(exists, [&] {
    const Expr first = static_cast<Expr>(matrix.row_offsets[row]) + id % width;
    const Expr end = matrix.row_offsets[row + 1];
    b_.for_(first, end, b_.u32(width),
            [&](Expr entry) { sum = static_cast<Expr>(sum) + matrix.values[entry] * x[matrix.column_indices[entry]]; });
  });
  if (strategy_ == RowStrategy::one_invocation) return {row, exists, sum};

  const kir::MemoryRef& parts = parts_.front();
  b_.barrier();  // the pass before may still be reading
  parts[id] = sum;
  b_.barrier();
  const Expr owned = exists & (id % width == 0);
  auto product = b_.variable(b_.f32(0.0f));
  b_.if_(owned, [&] {
    Expr total = parts[id];
    for (uint32_t k = 1; k < width; ++k) total = total + parts[id + k];
    product = total;
  });
  return {row, owned, product};
}

}  // namespace wavegate::ops
