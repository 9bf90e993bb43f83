#include "wavegate/ops/ops.h"

#include "wavegate/base/format.h"
#include "wavegate/ops/chunks.h"
#include "wavegate/ops/elementwise.h"
#include "wavegate/ops/partial_sums.h"
#include "wavegate/ops/row_sum.h"
#include "wavegate/ops/slot_sum.h"

namespace wavegate::ops {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using program::KernelSource;
using program::OperandKind;
using program::Operation;
using Source = Result<std::shared_ptr<const KernelSource>>;

Source source_of(Result<kir::Kernel> kernel) {
  if (!kernel) return std::move(kernel).error();
  return program::make_kernel_source(std::move(kernel).value());
}

Source make_madd() {
  Builder b("madd", {kElementwiseWidth});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::read);
  auto result = b.buffer("result", Type::f32, Access::write);
  const Expr count = b.parameter("count", Type::i32);
  const Expr a = b.parameter("a", Type::f32);
  for_each_element(b, count, [&](Expr i) { result[i] = a * x[i] + y[i]; });
  return source_of(b.finish());
}

/// One partial sum a chunk.
Source make_dot_partials(Mapping mapping) {
  Builder b("dot_partials", {width_of(mapping)});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::read);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Expr count = b.parameter("count", Type::i32);
  const Expr elements_per_chunk = b.parameter("elements_per_chunk", Type::i32);
  const ChunkRange range = chunk_range(b, count, elements_per_chunk);
  SlotSum slots(b, mapping, 1);
  slots.add(kSlots, [&](Expr slot) -> SlotSum::Terms {
    auto sum = b.variable(b.f32(0.0f));
    for_slot_elements(b, mapping, slot, range, [&](const std::vector<Expr>& elements) {
      std::vector<Expr> products;
      for (const Expr i : elements) products.push_back(x[i] * y[i]);
      for (const Expr product : products) sum = static_cast<Expr>(sum) + product;
    });
    return {sum};
  });
  b.if_(b.local_id() == 0, [&] { partials[b.workgroup_id()] = slots.totals()[0]; });
  return source_of(b.finish());
}

/// One workgroup adds the partial sums.
Source make_dot_total(Mapping mapping, uint32_t chunks) {
  Builder b("dot_total", {width_of(mapping)});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  auto result = b.scalar("result", Type::f32, Access::write);
  SlotSum slots(b, mapping, 1);
  add_partials(b, mapping, slots, partials, chunks, 1);
  b.if_(b.local_id() == 0, [&] { result = slots.totals()[0]; });
  return source_of(b.finish());
}

Source make_spmv(Mapping mapping, const RowShape& shape) {
  Builder b(format("spmv_by_{}", shape.parts), {width_of(mapping)});
  const MatrixBindings matrix = bind_matrix(b);
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr blocks = b.parameter("blocks", Type::i32);
  RowSum sums(b, mapping, shape, 1);
  const RowSum::Rules rules = product_rules(b, matrix, [&](Expr column) -> Expr { return x[column]; });
  const auto multiply = [&](Expr first, Expr slot) {
    const RowSum::Row row = sums.add(matrix.row_offsets, first, rows, slot, rules);
    b.if_(row.exists, [&] { y[row.index] = row.sum[0]; });
  };
  b.for_(b.workgroup_id(), blocks, b.grid(), [&](Expr block) {
    const Expr first = block * shape.rows_per_block();
    if (mapping == Mapping::wide) return multiply(first, b.local_id());
    b.for_(b.local_id(), b.u32(shape.rows_per_block()), b.u32(width_of(mapping)),
           [&](Expr slot) { multiply(first, slot); });
  });
  return source_of(b.finish());
}

Buffer buffer_at(std::span<const Operand> operands, size_t i) {
  return std::get<Buffer>(operands[i]);
}

Result<void> same_size(const Program& program, const char* operation, std::initializer_list<Buffer> buffers) {
  const program::BufferInfo& first = program.info(*buffers.begin());
  for (const Buffer buffer : buffers)
    if (program.info(buffer).count != first.count)
      return invalid_input(format("buffers \"{}\" and \"{}\" have {} and {} elements", first.name,
                                  program.info(buffer).name, first.count, program.info(buffer).count),
                           operation);
  if (first.count >= uint64_t{1} << 31)
    return unsupported(format("buffer \"{}\" has {} elements; the library goes to 2^31 - 1", first.name, first.count),
                       operation);
  return {};
}

program::Literal count_of(const Program& program, Buffer buffer) {
  return program::literal(static_cast<uint32_t>(program.info(buffer).count));
}

std::variant<program::Literal, Scalar> number(const Operand& operand) {
  if (const auto* scalar = std::get_if<Scalar>(&operand)) return *scalar;
  return std::get<program::Literal>(operand);
}

std::shared_ptr<const Operation> madd_operation() {
  return program::make_operation(
      {"madd",
       {{"a", OperandKind::number, Type::f32, Access::read},
        {"x", OperandKind::buffer, Type::f32, Access::read},
        {"y", OperandKind::buffer, Type::f32, Access::read},
        {"result", OperandKind::buffer, Type::f32, Access::write}},
       [](const Program& program, std::span<const Operand> operands) {
         return same_size(program, "madd", {buffer_at(operands, 1), buffer_at(operands, 2), buffer_at(operands, 3)});
       },
       [kernel = make_madd()](Program& program, std::span<const Operand> operands,
                              const target::Profile& profile) -> Result<void> {
         if (!kernel) return kernel.error();
         const Buffer x = buffer_at(operands, 1);
         program.dispatch({"madd",
                           *kernel,
                           {x, buffer_at(operands, 2), buffer_at(operands, 3)},
                           {count_of(program, x), number(operands[0])},
                           grid_of_blocks(blocks_of(program.info(x).count, kElementwiseWidth), profile),
                           {}});
         return {};
       }});
}

std::shared_ptr<const Operation> dot_operation() {
  return program::make_operation(
      {"dot",
       {{"x", OperandKind::buffer, Type::f32, Access::read},
        {"y", OperandKind::buffer, Type::f32, Access::read},
        {"result", OperandKind::scalar, Type::f32, Access::write}},
       [](const Program& program, std::span<const Operand> operands) {
         return same_size(program, "dot", {buffer_at(operands, 0), buffer_at(operands, 1)});
       },
       [](Program& program, std::span<const Operand> operands, const target::Profile& profile) -> Result<void> {
         const Mapping mapping = choose_mapping(profile);
         WAVEGATE_TRY(auto partials_kernel, make_dot_partials(mapping));
         const Buffer x = buffer_at(operands, 0);
         const Chunks chunks = chunks_of(static_cast<uint32_t>(program.info(x).count), kSlots);
         WAVEGATE_TRY(auto total_kernel, make_dot_total(mapping, chunks.count));
         const Buffer partials = program.temporary("dot.partials", Type::f32, chunks.count);
         program.dispatch({"dot partials",
                           std::move(partials_kernel),
                           {x, buffer_at(operands, 1), partials},
                           {count_of(program, x), program::literal(chunks.elements_per_chunk)},
                           program::Grid{chunks.count, 1, 1},
                           {}});
         program.dispatch({"dot total",
                           std::move(total_kernel),
                           {partials, std::get<Scalar>(operands[2])},
                           {},
                           program::Grid{1, 1, 1},
                           {}});
         return {};
       }});
}

Result<void> check_product(const Program& program, const char* operation, const CsrMatrix& matrix, Buffer x, Buffer y) {
  const auto size = [&](Buffer buffer, uint64_t wanted, const char* what) -> Result<void> {
    if (program.info(buffer).count == wanted) return {};
    return invalid_input(format("buffer \"{}\" has {} elements, but the matrix has {} {}", program.info(buffer).name,
                                program.info(buffer).count, wanted, what),
                         operation);
  };
  WAVEGATE_CHECK(size(x, matrix.columns, "columns"));
  WAVEGATE_CHECK(size(y, matrix.rows, "rows"));
  if (x == y) return invalid_input("the result cannot be the vector that is multiplied", operation);
  if (y == matrix.values || y == matrix.row_offsets || y == matrix.column_indices)
    return invalid_input("the result cannot be part of the matrix", operation);
  return {};
}

std::shared_ptr<const Operation> spmv_operation() {
  return program::make_operation(
      {"spmv",
       {{"matrix", OperandKind::matrix, Type::f32, Access::read},
        {"x", OperandKind::buffer, Type::f32, Access::read},
        {"y", OperandKind::buffer, Type::f32, Access::write}},
       [](const Program& program, std::span<const Operand> operands) {
         return check_product(program, "spmv", std::get<CsrMatrix>(operands[0]), buffer_at(operands, 1),
                              buffer_at(operands, 2));
       },
       [](Program& program, std::span<const Operand> operands, const target::Profile& profile) -> Result<void> {
         const auto& matrix = std::get<CsrMatrix>(operands[0]);
         const RowShape shape = choose_row_shape(matrix.rows, matrix.nonzeros);
         WAVEGATE_TRY(auto kernel, make_spmv(choose_mapping(profile), shape));
         const uint32_t blocks = blocks_of(matrix.rows, shape.rows_per_block());
         program.dispatch({"spmv",
                           std::move(kernel),
                           {matrix.row_offsets, matrix.column_indices, matrix.values, buffer_at(operands, 1),
                            buffer_at(operands, 2)},
                           {program::literal(matrix.rows), program::literal(blocks)},
                           grid_of_blocks(blocks, profile),
                           {}});
         return {};
       }});
}

std::shared_ptr<const Operation> residual_operation() {
  return program::make_operation(
      {"residual",
       {{"matrix", OperandKind::matrix, Type::f32, Access::read},
        {"x", OperandKind::buffer, Type::f32, Access::read},
        {"b", OperandKind::buffer, Type::f32, Access::read},
        {"r", OperandKind::buffer, Type::f32, Access::write}},
       [](const Program& program, std::span<const Operand> operands) {
         return check_product(program, "residual", std::get<CsrMatrix>(operands[0]), buffer_at(operands, 1),
                              buffer_at(operands, 3));
       },
       [](Program& program, std::span<const Operand> operands, const target::Profile&) -> Result<void> {
         const auto& matrix = std::get<CsrMatrix>(operands[0]);
         const Buffer product = program.temporary("residual.product", Type::f32, matrix.rows);
         spmv(program, matrix, buffer_at(operands, 1), product);
         madd(program, program::literal(-1.0f), product, buffer_at(operands, 2), buffer_at(operands, 3));
         return {};
       }});
}

void call(Program& program, std::string_view name, std::vector<Operand> operands) {
  program.call(library().find(name)->second, std::move(operands));
}

}  // namespace

const program::OperationTable& library() {
  static const program::OperationTable table = [] {
    program::OperationTable made;
    for (auto& operation : {madd_operation(), dot_operation(), spmv_operation(), residual_operation()})
      made.emplace(operation->name(), operation);
    return made;
  }();
  return table;
}

void madd(Program& program, Operand a, Buffer x, Buffer y, Buffer result) {
  call(program, "madd", {std::move(a), x, y, result});
}

void dot(Program& program, Buffer x, Buffer y, Scalar result) {
  call(program, "dot", {x, y, result});
}

void spmv(Program& program, const CsrMatrix& matrix, Buffer x, Buffer y) {
  call(program, "spmv", {matrix, x, y});
}

void residual(Program& program, const CsrMatrix& matrix, Buffer x, Buffer b, Buffer r) {
  call(program, "residual", {matrix, x, b, r});
}

}  // namespace wavegate::ops
