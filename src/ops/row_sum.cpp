#include "wavegate/ops/row_sum.h"

namespace wavegate::ops {
namespace {

constexpr uint32_t kMostParts = 16;
/// Entries that a part has at most, on average.
constexpr uint64_t kEntriesPerPart = 8;

void assign(std::vector<kir::Variable>& variables, const std::vector<kir::Expr>& values) {
  for (size_t i = 0; i < values.size(); ++i) variables[i] = values[i];
}

std::vector<kir::Expr> values_of(const std::vector<kir::Variable>& variables) {
  return {variables.begin(), variables.end()};
}

}  // namespace

using kir::Access;
using kir::Expr;
using kir::Type;

RowShape choose_row_shape(uint32_t rows, uint32_t nonzeros) {
  RowShape shape;
  while (shape.parts < kMostParts && nonzeros > kEntriesPerPart * shape.parts * rows) shape.parts *= 2;
  return shape;
}

MatrixBindings bind_matrix(kir::Builder& b) {
  return {b.buffer("row_offsets", Type::i32, Access::read), b.buffer("column_indices", Type::i32, Access::read),
          b.buffer("values", Type::f32, Access::read)};
}

RowSum::RowSum(kir::Builder& builder, Mapping mapping, const RowShape& shape, uint32_t components)
    : b_(builder), shape_(shape) {
  if (mapping == Mapping::narrow || shape.parts == 1) return;
  for (uint32_t i = 0; i < components; ++i)
    parts_.push_back(b_.workgroup_array("parts" + std::to_string(i), Type::f32, kSlots));
}

std::vector<kir::Variable> RowSum::variables(const Sum& values) {
  std::vector<kir::Variable> made;
  for (const Expr value : values) made.push_back(b_.variable(value));
  return made;
}

RowSum::Sum RowSum::part(const kir::MemoryRef& row_offsets, Expr row, Expr number, const Rules& rules) {
  auto sum = variables(rules.zero);
  const Expr begin = static_cast<Expr>(row_offsets[row]) + number;
  const Expr end = row_offsets[row + 1];
  b_.for_(begin, end, b_.u32(shape_.parts), [&](Expr entry) { assign(sum, rules.add_entry(values_of(sum), entry)); });
  return values_of(sum);
}

RowSum::Row RowSum::add(const kir::MemoryRef& row_offsets, Expr first, Expr end, Expr slot, const Rules& rules) {
  Row row{first + slot, {}, {}};
  row.exists = row.index < end;
  auto sum = variables(rules.zero);
  if (parts_.empty()) {
    b_.if_(row.exists, [&] {
      if (shape_.parts == 1) return assign(sum, part(row_offsets, row.index, b_.u32(0), rules));
      b_.for_(b_.u32(0), b_.u32(shape_.parts), b_.u32(1), [&](Expr number) {
        const Sum next = part(row_offsets, row.index, number, rules);
        assign(sum, rules.add_parts(values_of(sum), next));
      });
    });
    row.sum = values_of(sum);
    return row;
  }
  // Neighbours take the parts of a row, then the row's slot adds them.
  const Expr parted = first + slot / shape_.parts;
  b_.if_(parted < end, [&] { assign(sum, part(row_offsets, parted, slot % shape_.parts, rules)); });
  b_.barrier();  // the pass before may still be reading
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i][slot] = sum[i];
  b_.barrier();
  row.exists = row.exists & (slot < shape_.rows_per_block());
  auto total = variables(rules.zero);
  b_.if_(row.exists, [&] {
    Sum added = rules.zero;
    for (uint32_t k = 0; k < shape_.parts; ++k) {
      Sum next;
      for (const kir::MemoryRef& memory : parts_) next.push_back(memory[slot * shape_.parts + k]);
      added = rules.add_parts(added, next);
    }
    assign(total, added);
  });
  row.sum = values_of(total);
  return row;
}

RowSum::Rules product_rules(kir::Builder& b, const MatrixBindings& matrix, const std::function<Expr(Expr)>& x) {
  return {.zero = {b.f32(0.0f)},
          .add_entry = [&matrix, x](const RowSum::Sum& sum, Expr entry) -> RowSum::Sum {
            return {sum[0] + matrix.values[entry] * x(matrix.column_indices[entry])};
          },
          .add_parts = [](const RowSum::Sum& a, const RowSum::Sum& other) -> RowSum::Sum { return {a[0] + other[0]}; }};
}

}  // namespace wavegate::ops
