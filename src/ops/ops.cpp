#include "wavegate/ops/ops.h"

#include "wavegate/base/format.h"
#include "wavegate/ops/elementwise.h"
#include "wavegate/ops/row_product.h"
#include "wavegate/ops/workgroup_sum.h"

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

constexpr uint32_t kDotPerInvocation = 16;
constexpr uint32_t kDotChunk = kReductionWidth * kDotPerInvocation;

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

/// One partial sum a chunk of kDotChunk elements.
Source make_dot_partials() {
  Builder b("dot_partials", {kReductionWidth});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::read);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Expr count = b.parameter("count", Type::i32);
  const Expr chunks = b.parameter("chunks", Type::i32);
  WorkgroupSum workgroup(b, 1);
  b.for_(b.workgroup_id(), chunks, b.grid(), [&](Expr chunk) {
    auto sum = b.variable(b.f32(0.0f));
    const Expr first = chunk * kDotChunk + b.local_id();
    const Expr end = b.apply(kir::Op::min_u, {count, (chunk + 1) * kDotChunk});
    b.for_(first, end, b.u32(kReductionWidth), [&](Expr i) { sum = static_cast<Expr>(sum) + x[i] * y[i]; });
    workgroup.sum({sum}, [&](const std::vector<Expr>& total) { partials[chunk] = total[0]; });
  });
  return source_of(b.finish());
}

/// One workgroup adds the partial sums.
Source make_dot_total() {
  Builder b("dot_total", {kReductionWidth});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  auto result = b.scalar("result", Type::f32, Access::write);
  const Expr chunks = b.parameter("chunks", Type::i32);
  WorkgroupSum workgroup(b, 1);
  auto sum = b.variable(b.f32(0.0f));
  b.for_(b.local_id(), chunks, b.u32(kReductionWidth), [&](Expr i) { sum = static_cast<Expr>(sum) + partials[i]; });
  workgroup.sum({sum}, [&](const std::vector<Expr>& total) { result = total[0]; });
  return source_of(b.finish());
}

Source make_spmv(RowStrategy strategy) {
  Builder b(strategy == RowStrategy::one_invocation ? "spmv_short_rows" : "spmv_long_rows", {kReductionWidth});
  const MatrixBindings matrix = bind_matrix(b);
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr blocks = b.parameter("blocks", Type::i32);
  RowProduct product(b, strategy);
  b.for_(b.workgroup_id(), blocks, b.grid(), [&](Expr block) {
    const RowProduct::Row row = product.multiply(matrix, x, rows, block);
    b.if_(row.owned, [&] { y[row.index] = row.product; });
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
       [partials_kernel = make_dot_partials(), total_kernel = make_dot_total()](
           Program& program, std::span<const Operand> operands, const target::Profile& profile) -> Result<void> {
         if (!partials_kernel) return partials_kernel.error();
         if (!total_kernel) return total_kernel.error();
         const Buffer x = buffer_at(operands, 0);
         const uint32_t chunks = blocks_of(program.info(x).count, kDotChunk);
         const Buffer partials = program.temporary("dot.partials", Type::f32, chunks);
         program.dispatch({"dot partials",
                           *partials_kernel,
                           {x, buffer_at(operands, 1), partials},
                           {count_of(program, x), program::literal(chunks)},
                           grid_of_blocks(chunks, profile),
                           {}});
         program.dispatch({"dot total",
                           *total_kernel,
                           {partials, std::get<Scalar>(operands[2])},
                           {program::literal(chunks)},
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
       [short_rows = make_spmv(RowStrategy::one_invocation), long_rows = make_spmv(RowStrategy::sixteen_invocations)](
           Program& program, std::span<const Operand> operands, const target::Profile& profile) -> Result<void> {
         const auto& matrix = std::get<CsrMatrix>(operands[0]);
         const RowStrategy strategy = choose_row_strategy(matrix.rows, matrix.nonzeros);
         const Source& kernel = strategy == RowStrategy::one_invocation ? short_rows : long_rows;
         if (!kernel) return kernel.error();
         const uint32_t blocks = blocks_of(matrix.rows, rows_per_workgroup(strategy));
         program.dispatch({"spmv",
                           *kernel,
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
