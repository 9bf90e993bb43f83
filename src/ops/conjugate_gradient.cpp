#include "wavegate/ops/conjugate_gradient.h"

#include <algorithm>
#include <cfloat>

#include "wavegate/base/format.h"
#include "wavegate/kir/builder.h"
#include "wavegate/ops/elementwise.h"
#include "wavegate/ops/float_pair.h"
#include "wavegate/ops/row_product.h"
#include "wavegate/ops/workgroup_sum.h"

namespace wavegate::ops {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::MemoryRef;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::Operand;

/// Elements that one workgroup updates before it leaves its partial sums.
constexpr uint32_t kChunk = 4 * kReductionWidth;

/// The recurrence is checked against the true residual after it has fallen by this factor, squared.
constexpr float kReliableDrop = 1e-4f;

/// The residual is summed in f32: this much below the tolerance, squared, no rounding can lift it above.
constexpr float kSafety = 1.0f - 1e-4f;

Expr is_finite(Builder& b, Expr value) {
  return b.apply(kir::Op::less_equal_f, {b.apply(kir::Op::abs_f, {value}), b.f32(FLT_MAX)});
}

/// z = M^-1 r for one element; the identity without a preconditioner.
class Preconditioner {
 public:
  Preconditioner(Builder& b, bool jacobi) {
    if (jacobi) inverse_.push_back(b.buffer("inverse_diagonal", Type::f32, Access::read));
  }
  Expr apply(Expr r, Expr i) const { return inverse_.empty() ? r : r * inverse_.front()[i]; }

 private:
  std::vector<MemoryRef> inverse_;
};

/// Calls body(element) for this invocation's elements of each chunk, then leaves the sums of the pairs it returned in
/// partials[chunk] and partials[chunks + chunk]. Order and tree are fixed.
template <typename Body>
void sum_over_chunks(Builder& b, Expr count, Expr chunks, const MemoryRef& partials, Body&& body) {
  WorkgroupSum workgroup(b, 2);
  b.for_(b.workgroup_id(), chunks, b.grid(), [&](Expr chunk) {
    auto first_sum = b.variable(b.f32(0.0f));
    auto second_sum = b.variable(b.f32(0.0f));
    const Expr end = b.apply(kir::Op::min_u, {count, (chunk + 1) * kChunk});
    b.for_(chunk * kChunk + b.local_id(), end, b.u32(kReductionWidth), [&](Expr i) {
      const auto [first, second] = body(i);
      first_sum = static_cast<Expr>(first_sum) + first;
      second_sum = static_cast<Expr>(second_sum) + second;
    });
    workgroup.sum({first_sum, second_sum}, [&](const std::vector<Expr>& sums) {
      partials[chunk] = sums[0];
      partials[chunks + chunk] = sums[1];
    });
  });
}

/// One workgroup adds `lists` lists of `count` partial sums and calls use(sums) in one invocation.
template <typename Use>
void sum_partials(Builder& b, const MemoryRef& partials, Expr count, uint32_t lists, Use&& use) {
  WorkgroupSum workgroup(b, lists);
  std::vector<kir::Variable> sums;
  std::vector<Expr> values;
  for (uint32_t i = 0; i < lists; ++i) sums.push_back(b.variable(b.f32(0.0f)));
  b.for_(b.local_id(), count, b.u32(kReductionWidth), [&](Expr i) {
    for (uint32_t list = 0; list < lists; ++list)
      sums[list] = static_cast<Expr>(sums[list]) + partials[count * list + i];
  });
  for (const kir::Variable& sum : sums) values.push_back(sum);
  workgroup.sum(values, use);
}

/// r = p = z = b, x = d = 0; partial sums of r.r and r.z.
Result<kir::Kernel> start_kernel(bool jacobi) {
  Builder b("cg_start", {kReductionWidth});
  auto rhs = b.buffer("b", Type::f32, Access::read);
  auto r = b.buffer("r", Type::f32, Access::write);
  auto p = b.buffer("p", Type::f32, Access::write);
  auto d = b.buffer("d", Type::f32, Access::write);
  auto high = b.buffer("x_high", Type::f32, Access::write);
  auto low = b.buffer("x_low", Type::f32, Access::write);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Preconditioner preconditioner(b, jacobi);
  const Expr count = b.parameter("count", Type::i32);
  const Expr chunks = b.parameter("chunks", Type::i32);
  sum_over_chunks(b, count, chunks, partials, [&](Expr i) {
    const Expr value = rhs[i];
    const Expr z = preconditioner.apply(value, i);
    r[i] = value;
    p[i] = z;
    d[i] = b.f32(0.0f);
    high[i] = b.f32(0.0f);
    low[i] = b.f32(0.0f);
    return std::pair{value * value, value * z};
  });
  return b.finish();
}

/// The scalars before the first iteration.
Result<kir::Kernel> start_scalars_kernel(float tolerance) {
  Builder b("cg_start_scalars", {kReductionWidth});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  auto rz = b.scalar("rz", Type::f32, Access::write);
  auto largest = b.scalar("largest_rr", Type::f32, Access::write);
  auto target = b.scalar("target", Type::f32, Access::write);
  auto active = b.scalar("active", Type::i32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::write);
  const Expr chunks = b.parameter("chunks", Type::i32);
  sum_partials(b, partials, chunks, 2, [&](const std::vector<Expr>& sums) {
    const Expr limit = sums[0] * (tolerance * tolerance * kSafety);
    const Expr finite = is_finite(b, sums[0]) & is_finite(b, sums[1]);
    rz = sums[1];
    largest = sums[0];
    target = limit;
    active = b.select(finite & (sums[0] > limit), b.u32(1), b.u32(0));
    breakdown = b.select(finite, b.u32(0), b.u32(1));
  });
  return b.finish();
}

/// q = A p; partial sums of p.q.
Result<kir::Kernel> product_kernel(RowStrategy strategy) {
  Builder b("cg_product", {kReductionWidth});
  const MatrixBindings matrix = bind_matrix(b);
  auto p = b.buffer("p", Type::f32, Access::read);
  auto q = b.buffer("q", Type::f32, Access::write);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr blocks = b.parameter("blocks", Type::i32);
  RowProduct product(b, strategy);
  WorkgroupSum workgroup(b, 1);
  b.for_(b.workgroup_id(), blocks, b.grid(), [&](Expr block) {
    const RowProduct::Row row = product.multiply(matrix, p, rows, block);
    auto term = b.variable(b.f32(0.0f));
    b.if_(row.owned, [&] {
      q[row.index] = row.product;
      term = row.product * p[row.index];
    });
    workgroup.sum({term}, [&](const std::vector<Expr>& sums) { partials[block] = sums[0]; });
  });
  return b.finish();
}

/// alpha = r.z / p.Ap; a curvature that is not positive is a breakdown, and leaves alpha at zero.
Result<kir::Kernel> alpha_kernel() {
  Builder b("cg_alpha", {kReductionWidth});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  auto rz = b.scalar("rz", Type::f32, Access::read);
  auto alpha = b.scalar("alpha", Type::f32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::read_write);
  const Expr blocks = b.parameter("blocks", Type::i32);
  sum_partials(b, partials, blocks, 1, [&](const std::vector<Expr>& sums) {
    const Expr step = static_cast<Expr>(rz) / sums[0];
    const Expr sound = (sums[0] > 0.0f) & is_finite(b, sums[0]) & (step > 0.0f) & is_finite(b, step);
    alpha = b.select(sound, step, b.f32(0.0f));
    breakdown = b.select(sound, breakdown, b.u32(1));
  });
  return b.finish();
}

/// d += alpha p, r -= alpha q; partial sums of r.r and r.z.
Result<kir::Kernel> update_kernel(bool jacobi) {
  Builder b("cg_update", {kReductionWidth});
  auto p = b.buffer("p", Type::f32, Access::read);
  auto q = b.buffer("q", Type::f32, Access::read);
  auto d = b.buffer("d", Type::f32, Access::read_write);
  auto r = b.buffer("r", Type::f32, Access::read_write);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Preconditioner preconditioner(b, jacobi);
  auto alpha_slot = b.scalar("alpha", Type::f32, Access::read);
  const Expr count = b.parameter("count", Type::i32);
  const Expr chunks = b.parameter("chunks", Type::i32);
  const Expr alpha = alpha_slot;
  sum_over_chunks(b, count, chunks, partials, [&](Expr i) {
    d[i] = d[i] + alpha * p[i];
    const Expr residual = r[i] - alpha * q[i];
    r[i] = residual;
    return std::pair{residual * residual, residual * preconditioner.apply(residual, i)};
  });
  return b.finish();
}

/// beta, and whether the true residual is due.
Result<kir::Kernel> beta_kernel() {
  Builder b("cg_beta", {kReductionWidth});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  auto rz = b.scalar("rz", Type::f32, Access::read_write);
  auto beta = b.scalar("beta", Type::f32, Access::write);
  auto largest = b.scalar("largest_rr", Type::f32, Access::read_write);
  auto target = b.scalar("target", Type::f32, Access::read);
  auto refresh = b.scalar("refresh", Type::i32, Access::write);
  auto active = b.scalar("active", Type::i32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::read_write);
  const Expr chunks = b.parameter("chunks", Type::i32);
  sum_partials(b, partials, chunks, 2, [&](const std::vector<Expr>& sums) {
    const Expr rr = sums[0];
    const Expr next = sums[1];
    const Expr ratio = next / rz;
    const Expr limit = target;
    const Expr broken = (static_cast<Expr>(breakdown) != 0) | !is_finite(b, rr) | !is_finite(b, ratio) | (ratio < 0.0f);
    const Expr most = b.apply(kir::Op::max_f, {largest, rr});
    rz = next;
    beta = b.select(broken, b.f32(0.0f), ratio);
    largest = most;
    refresh = b.select((!broken) & ((rr <= limit) | (rr <= most * kReliableDrop)), b.u32(1), b.u32(0));
    breakdown = b.select(broken, b.u32(1), b.u32(0));
    active = b.select(broken, b.u32(0), b.u32(1));
  });
  return b.finish();
}

/// x += d, d = 0, with x a pair of floats.
Result<kir::Kernel> fold_kernel() {
  Builder b("cg_fold", {kElementwiseWidth});
  auto d = b.buffer("d", Type::f32, Access::read_write);
  auto high = b.buffer("x_high", Type::f32, Access::read_write);
  auto low = b.buffer("x_low", Type::f32, Access::read_write);
  const Expr count = b.parameter("count", Type::i32);
  for_each_element(b, count, [&](Expr i) {
    const FloatPair x = add(FloatPair{high[i], low[i]}, static_cast<Expr>(d[i]));
    high[i] = x.high;
    low[i] = x.low;
    d[i] = b.f32(0.0f);
  });
  return b.finish();
}

/// r = b - A x in pairs of floats, rounded once; partial sums of r.r and r.z.
Result<kir::Kernel> residual_kernel(bool jacobi) {
  Builder b("cg_residual", {kReductionWidth});
  const MatrixBindings matrix = bind_matrix(b);
  auto rhs = b.buffer("b", Type::f32, Access::read);
  auto high = b.buffer("x_high", Type::f32, Access::read);
  auto low = b.buffer("x_low", Type::f32, Access::read);
  auto r = b.buffer("r", Type::f32, Access::write);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Preconditioner preconditioner(b, jacobi);
  const Expr count = b.parameter("count", Type::i32);
  const Expr chunks = b.parameter("chunks", Type::i32);
  sum_over_chunks(b, count, chunks, partials, [&](Expr row) {
    auto sum_high = b.variable(rhs[row]);
    auto sum_low = b.variable(b.f32(0.0f));
    b.for_(matrix.row_offsets[row], matrix.row_offsets[row + 1], b.u32(1), [&](Expr entry) {
      const Expr value = -static_cast<Expr>(matrix.values[entry]);
      const Expr column = matrix.column_indices[entry];
      const FloatPair product = multiply(value, high[column]);
      const FloatPair small{product.high, product.low + value * low[column]};
      const FloatPair sum = add(FloatPair{sum_high, sum_low}, small);
      sum_high = sum.high;
      sum_low = sum.low;
    });
    const Expr residual = static_cast<Expr>(sum_high) + static_cast<Expr>(sum_low);
    r[row] = residual;
    return std::pair{residual * residual, residual * preconditioner.apply(residual, row)};
  });
  return b.finish();
}

/// The true residual decides whether the loop goes on.
Result<kir::Kernel> refresh_kernel() {
  Builder b("cg_refresh", {kReductionWidth});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  auto rz = b.scalar("rz", Type::f32, Access::write);
  auto largest = b.scalar("largest_rr", Type::f32, Access::write);
  auto target = b.scalar("target", Type::f32, Access::read);
  auto active = b.scalar("active", Type::i32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::read_write);
  const Expr chunks = b.parameter("chunks", Type::i32);
  sum_partials(b, partials, chunks, 2, [&](const std::vector<Expr>& sums) {
    const Expr finite = is_finite(b, sums[0]) & is_finite(b, sums[1]);
    rz = sums[1];
    largest = sums[0];
    active = b.select(finite & (sums[0] > target), b.u32(1), b.u32(0));
    breakdown = b.select(finite, breakdown, b.u32(1));
  });
  return b.finish();
}

/// p = z + beta p.
Result<kir::Kernel> direction_kernel(bool jacobi) {
  Builder b("cg_direction", {kElementwiseWidth});
  auto r = b.buffer("r", Type::f32, Access::read);
  auto p = b.buffer("p", Type::f32, Access::read_write);
  const Preconditioner preconditioner(b, jacobi);
  auto beta_slot = b.scalar("beta", Type::f32, Access::read);
  const Expr count = b.parameter("count", Type::i32);
  const Expr beta = beta_slot;
  for_each_element(b, count, [&](Expr i) { p[i] = preconditioner.apply(r[i], i) + beta * p[i]; });
  return b.finish();
}

}  // namespace

ConjugateGradient::ConjugateGradient(program::Program& program, const program::CsrMatrix& matrix, Buffer b,
                                     const std::vector<float>& diagonal, const ConjugateGradientOptions& options,
                                     const target::Profile& profile)
    : program_(program), matrix_(matrix), b_(b), options_(options), profile_(profile) {
  const uint32_t rows = matrix.rows;
  const auto vector = [&](const char* name) {
    return program_.buffer(std::string("cg.") + name, Type::f32, rows, Initial::zero());
  };
  x_high = vector("x_high");
  x_low = vector("x_low");
  r_ = vector("r");
  p_ = vector("p");
  q_ = vector("q");
  d_ = vector("d");
  const uint32_t lists = std::max(blocks_of(rows, rows_per_workgroup(choose_row_strategy(rows, matrix.nonzeros))),
                                  2 * blocks_of(rows, kChunk));
  partials_ = program_.buffer("cg.partials", Type::f32, lists, Initial::zero());
  if (options_.jacobi) {
    std::vector<float> inverse(diagonal.size());
    std::ranges::transform(diagonal, inverse.begin(), [](float value) { return 1.0f / value; });
    inverse_diagonal_ = program_.buffer("cg.inverse_diagonal", Type::f32, rows, Initial::copy_of(inverse));
  }
  active = program_.scalar_u32("cg.active", 0);
  breakdown = program_.scalar_u32("cg.breakdown", 0);
  refresh_ = program_.scalar_u32("cg.refresh", 0);
  rz_ = program_.scalar_f32("cg.rz", 0.0f);
  alpha_ = program_.scalar_f32("cg.alpha", 0.0f);
  beta_ = program_.scalar_f32("cg.beta", 0.0f);
  largest_rr_ = program_.scalar_f32("cg.largest_rr", 0.0f);
  target_ = program_.scalar_f32("cg.target", 0.0f);
}

std::vector<Operand> ConjugateGradient::with_preconditioner(std::vector<Operand> bindings) const {
  if (options_.jacobi) bindings.emplace_back(inverse_diagonal_);
  return bindings;
}

Result<void> ConjugateGradient::dispatch(const char* label, Result<kir::Kernel> kernel, std::vector<Operand> bindings,
                                         std::vector<uint32_t> parameters, uint32_t blocks) {
  if (!kernel) return std::move(kernel).error();
  program::Dispatch command{label,
                            program::make_kernel_source(std::move(kernel).value()),
                            std::move(bindings),
                            {},
                            grid_of_blocks(blocks, profile_),
                            {}};
  for (const uint32_t parameter : parameters) command.parameters.emplace_back(program::literal(parameter));
  program_.dispatch(std::move(command));
  return {};
}

Result<void> ConjugateGradient::start() {
  const uint32_t chunks = blocks_of(matrix_.rows, kChunk);
  WAVEGATE_CHECK(dispatch("start", start_kernel(options_.jacobi),
                          with_preconditioner({b_, r_, p_, d_, x_high, x_low, partials_}), {matrix_.rows, chunks},
                          chunks));
  return dispatch("start scalars", start_scalars_kernel(options_.tolerance),
                  {partials_, rz_, largest_rr_, target_, active, breakdown}, {chunks}, 1);
}

Result<void> ConjugateGradient::iteration() {
  const uint32_t rows = matrix_.rows;
  const uint32_t chunks = blocks_of(rows, kChunk);
  const RowStrategy strategy = choose_row_strategy(rows, matrix_.nonzeros);
  const uint32_t blocks = blocks_of(rows, rows_per_workgroup(strategy));
  const Operand offsets = matrix_.row_offsets, columns = matrix_.column_indices, values = matrix_.values;

  WAVEGATE_CHECK(dispatch("product", product_kernel(strategy), {offsets, columns, values, p_, q_, partials_},
                          {rows, blocks}, blocks));
  WAVEGATE_CHECK(dispatch("alpha", alpha_kernel(), {partials_, rz_, alpha_, breakdown}, {blocks}, 1));
  std::vector<Operand> update = with_preconditioner({p_, q_, d_, r_, partials_});
  update.emplace_back(alpha_);
  WAVEGATE_CHECK(dispatch("update", update_kernel(options_.jacobi), std::move(update), {rows, chunks}, chunks));
  WAVEGATE_CHECK(dispatch("beta", beta_kernel(),
                          {partials_, rz_, beta_, largest_rr_, target_, refresh_, active, breakdown}, {chunks}, 1));

  Result<void> status;
  program_.if_(
      refresh_,
      [&] {
        status = finish();
        if (!status) return;
        status = dispatch("true residual", residual_kernel(options_.jacobi),
                          with_preconditioner({offsets, columns, values, b_, x_high, x_low, r_, partials_}),
                          {rows, chunks}, chunks);
        if (!status) return;
        status = dispatch("refresh", refresh_kernel(), {partials_, rz_, largest_rr_, target_, active, breakdown},
                          {chunks}, 1);
      },
      {}, "true residual is due");
  WAVEGATE_CHECK(status);

  std::vector<Operand> direction = with_preconditioner({r_, p_});
  direction.emplace_back(beta_);
  return dispatch("direction", direction_kernel(options_.jacobi), std::move(direction), {rows},
                  blocks_of(rows, kElementwiseWidth));
}

Result<void> ConjugateGradient::finish() {
  return dispatch("fold", fold_kernel(), {d_, x_high, x_low}, {matrix_.rows},
                  blocks_of(matrix_.rows, kElementwiseWidth));
}

Result<void> ConjugateGradient::solve() {
  WAVEGATE_CHECK(start());
  Result<void> status;
  loop = program_.while_(
      active, {.min = 0, .max = options_.max_iterations}, [&] { status = iteration(); }, "conjugate gradients");
  WAVEGATE_CHECK(status);
  return finish();
}

}  // namespace wavegate::ops
