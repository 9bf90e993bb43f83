#include "wavegate/ops/conjugate_gradient_kernels.h"

#include <cfloat>
#include <string>
#include <vector>

#include "wavegate/kir/builder.h"
#include "wavegate/ops/chunks.h"
#include "wavegate/ops/float_pair.h"
#include "wavegate/ops/partial_sums.h"
#include "wavegate/ops/slot_sum.h"

namespace wavegate::ops::cg {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::MemoryRef;
using kir::Scope;
using kir::Type;

/// The residual is summed in f32: this much below the tolerance, squared, no rounding can lift it above.
constexpr float kSafety = 1.0f - 1e-4f;

Expr is_finite(Builder& b, Expr value) {
  return b.apply(kir::Op::less_equal_f, {b.apply(kir::Op::abs_f, {value}), b.f32(FLT_MAX)});
}

Expr flag(Builder& b, Expr condition) {
  return b.select(condition, b.u32(1), b.u32(0));
}

/// True in the one invocation that writes the scalars: what it writes, no other workgroup may read.
Expr is_leader(Builder& b) {
  return (b.workgroup_id() == 0) & (b.local_id() == 0);
}

/// The residual r, and z = M^-1 r. Without a preconditioner they are one, and r has no buffer of its own.
class Residual {
 public:
  /// Declares r and the inverse of the diagonal, if there is a preconditioner.
  Residual(Builder& b, bool jacobi, Access access) {
    if (!jacobi) return;
    r_.push_back(b.buffer("r", Type::f32, access));
    inverse_.push_back(b.buffer("inverse_diagonal", Type::f32, Access::read));
  }
  Expr load(Expr i, Expr z) const { return r_.empty() ? z : static_cast<Expr>(r_.front()[i]); }
  /// Leaves r where it is kept, and gives z.
  Expr store(Expr i, Expr r) const {
    if (r_.empty()) return r;
    r_.front()[i] = r;
    return r * inverse_.front()[i];
  }

 private:
  std::vector<MemoryRef> r_, inverse_;
};

/// One element of r and z.
struct ResidualElement {
  Expr r, z;
};

/// The sums that a kernel before left: partial sums when wide, totals when narrow. See
/// ConjugateGradient::append_totals.
class Totals {
 public:
  Totals(Builder& b, Mapping mapping, const std::string& name, uint32_t lists, uint32_t chunks)
      : b_(b), mapping_(mapping), lists_(lists), chunks_(chunks) {
    if (mapping == Mapping::wide)
      partials_.push_back(b.buffer(name + "_partials", Type::f32, Access::read));
    else
      for (uint32_t list = 0; list < lists; ++list)
        scalars_.push_back(b.scalar(name + std::to_string(list), Type::f32, Access::read));
  }
  std::vector<Expr> read(SlotSum& slots) const {
    if (mapping_ == Mapping::wide) {
      add_partials(b_, mapping_, slots, partials_.front(), chunks_, lists_);
      return slots.totals();
    }
    return {scalars_.begin(), scalars_.end()};
  }

 private:
  Builder& b_;
  Mapping mapping_;
  uint32_t lists_, chunks_;
  std::vector<MemoryRef> partials_;
  std::vector<kir::ScalarRef> scalars_;
};

/// Running sums of r.r, and of r.z if they differ.
class ResidualSums {
 public:
  ResidualSums(Builder& b, const KernelOptions& options) {
    for (uint32_t list = 0; list < options.lists(); ++list) sums_.push_back(b.variable(b.f32(0.0f)));
  }
  void add(const ResidualElement& element) {
    sums_[0] = static_cast<Expr>(sums_[0]) + element.r * element.r;
    if (sums_.size() > 1) sums_[1] = static_cast<Expr>(sums_[1]) + element.r * element.z;
  }
  SlotSum::Terms terms() const { return {sums_.begin(), sums_.end()}; }

 private:
  std::vector<kir::Variable> sums_;
};

/// Leaves a workgroup's sums, one in each list of `chunks`.
void leave_partials(Builder& b, const SlotSum& slots, uint32_t lists, const MemoryRef& partials, uint32_t chunks) {
  b.if_(b.local_id() == 0, [&] {
    const std::vector<Expr> totals = slots.totals();
    for (uint32_t list = 0; list < lists; ++list) partials[b.workgroup_id() + list * chunks] = totals[list];
  });
}

/// The partial sums of r.r and r.z over this workgroup's chunk. `residuals_of` gives some elements at once.
template <typename Residuals>
void sum_residual(Builder& b, const KernelOptions& options, SlotSum& slots, const ChunkRange& range,
                  const MemoryRef& partials, uint32_t chunks, Residuals&& residuals_of) {
  slots.add(kSlots, [&](Expr slot) {
    ResidualSums sums(b, options);
    for_slot_elements(b, options.mapping, slot, range, [&](const std::vector<Expr>& elements) {
      for (const ResidualElement& element : residuals_of(elements)) sums.add(element);
    });
    return sums.terms();
  });
  leave_partials(b, slots, options.lists(), partials, chunks);
}

/// x + d, the solution with what the iterations since the last fold have added.
FloatPair folded(const MemoryRef& high, const MemoryRef& low, const MemoryRef& d, Expr i) {
  return add(FloatPair{high[i], low[i]}, static_cast<Expr>(d[i]));
}

void fold(Builder& b, Mapping mapping, const ChunkRange& range, const MemoryRef& high, const MemoryRef& low,
          const MemoryRef& d) {
  for_chunk_elements(b, mapping, range, [&](const std::vector<Expr>& elements) {
    for (const Expr i : elements) {
      const FloatPair x = folded(high, low, d, i);
      high[i] = x.high;
      low[i] = x.low;
      d[i] = 0.0f;
    }
  });
}

/// z and the old p of an element lie side by side, so that a gather finds both in one place.
struct Direction {
  MemoryRef zp;
  Expr beta;
  Expr operator()(Expr i) const {
    const std::vector<Expr> pair = i.builder()->load(zp, i * 2, 2);
    return pair[0] + beta * pair[1];
  }
};

/// q = A p over this workgroup's chunk, and the partial sum of p.q.
void multiply_chunk(Builder& b, const RowShape& shape, SlotSum& slots, RowSum& rows, const MatrixBindings& matrix,
                    const Direction& p, const MemoryRef& q, const MemoryRef& partials, const ChunkRange& range) {
  const RowSum::Rules rules = product_rules(b, matrix, p);
  slots.add(shape.rows_per_block(), [&](Expr slot) -> SlotSum::Terms {
    auto sum = b.variable(b.f32(0.0f));
    b.for_(range.first, range.end, b.u32(shape.rows_per_block()), [&](Expr first) {
      const RowSum::Row row = rows.add(matrix.row_offsets, first, range.end, slot, rules);
      b.if_(row.exists, [&] {
        q[row.index] = row.sum[0];
        sum = static_cast<Expr>(sum) + row.sum[0] * p(row.index);
      });
    });
    return {sum};
  });
  leave_partials(b, slots, 1, partials, 0);
}

}  // namespace

Result<kir::Kernel> start_kernel(const KernelOptions& options) {
  Builder b("cg_start", {width_of(options.mapping)});
  auto rhs = b.buffer("b", Type::f32, Access::read);
  auto zp = b.buffer("zp", Type::f32, Access::write);
  const Residual residual(b, options.jacobi, Access::write);
  auto d = b.buffer("d", Type::f32, Access::write);
  auto high = b.buffer("x_high", Type::f32, Access::write);
  auto low = b.buffer("x_low", Type::f32, Access::write);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr rows_per_chunk = b.parameter("rows_per_chunk", Type::i32);
  SlotSum slots(b, options.mapping, options.lists());
  sum_residual(b, options, slots, chunk_range(b, rows, rows_per_chunk), partials, options.product_chunks,
               [&](const std::vector<Expr>& elements) {
                 std::vector<ResidualElement> residuals;
                 for (const Expr i : elements) {
                   const Expr r = rhs[i];
                   const Expr z = residual.store(i, r);
                   b.store(zp, i * 2, {z, b.f32(0.0f)});
                   for (const MemoryRef& memory : {d, high, low}) memory[i] = 0.0f;
                   residuals.push_back({r, z});
                 }
                 return residuals;
               });
  return b.finish();
}

Result<kir::Kernel> start_scalars_kernel(const KernelOptions& options, float tolerance) {
  Builder b("cg_start_scalars", {width_of(options.mapping)});
  Totals totals(b, options.mapping, "residual", options.lists(), options.product_chunks);
  auto beta = b.scalar("beta", Type::f32, Access::write);
  auto target = b.scalar("target", Type::f32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::write);
  SlotSum slots(b, options.mapping, options.lists());
  const std::vector<Expr> sums = totals.read(slots);
  b.if_(is_leader(b), [&] {
    beta = 0.0f;
    target = sums[0] * (tolerance * tolerance * kSafety);
    breakdown = 0;
  });
  return b.finish();
}

Result<kir::Kernel> total_kernel(Mapping mapping, uint32_t chunks, uint32_t lists) {
  Builder b("cg_total", {width_of(mapping)});
  auto partials = b.buffer("partials", Type::f32, Access::read);
  std::vector<kir::ScalarRef> totals;
  for (uint32_t list = 0; list < lists; ++list)
    totals.push_back(b.scalar("total" + std::to_string(list), Type::f32, Access::write));
  SlotSum slots(b, mapping, lists);
  add_partials(b, mapping, slots, partials, chunks, lists);
  b.if_(b.local_id() == 0, [&] {
    const std::vector<Expr> sums = slots.totals();
    for (uint32_t list = 0; list < lists; ++list) totals[list] = sums[list];
  });
  return b.finish();
}

Result<kir::Kernel> update_kernel(const KernelOptions& options) {
  Builder b("cg_update", {width_of(options.mapping)});
  auto q = b.buffer("q", Type::f32, Access::read);
  auto zp = b.buffer("zp", Type::f32, Access::read_write);
  const Residual residual(b, options.jacobi, Access::read_write);
  auto d = b.buffer("d", Type::f32, Access::read_write);
  auto partials = b.buffer("residual_partials", Type::f32, Access::write);
  Totals totals(b, options.mapping, "product", 1, options.product_chunks);
  auto beta_slot = b.scalar("beta", Type::f32, Access::read);
  auto next_rz = b.scalar("next_rz", Type::f32, Access::read);
  auto next_largest = b.scalar("next_largest", Type::f32, Access::read);
  auto rz = b.scalar("rz", Type::f32, Access::write);
  auto largest = b.scalar("largest", Type::f32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::read_write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr rows_per_chunk = b.parameter("rows_per_chunk", Type::i32);

  SlotSum slots(b, options.mapping, options.lists());
  const Expr beta = beta_slot, numerator = next_rz;
  const Expr pq = totals.read(slots)[0];
  const Expr ratio = numerator / pq;
  const Expr sound = (pq > 0.0f) & is_finite(b, pq) & (ratio > 0.0f) & is_finite(b, ratio);
  const Expr alpha = b.select(sound, ratio, b.f32(0.0f));
  b.if_(is_leader(b), [&] {
    rz = numerator;
    largest = next_largest;
    breakdown = b.select(sound, breakdown, b.u32(1));
  });
  sum_residual(b, options, slots, chunk_range(b, rows, rows_per_chunk), partials, options.residual_chunks,
               [&](const std::vector<Expr>& elements) {
                 struct Loaded {
                   std::vector<Expr> pair;
                   Expr r, q, d;
                 };
                 std::vector<Loaded> loaded;
                 for (const Expr i : elements) {
                   const std::vector<Expr> pair = b.load(zp, i * 2, 2);
                   loaded.push_back({pair, residual.load(i, pair[0]), q[i], d[i]});
                 }
                 std::vector<ResidualElement> residuals;
                 for (size_t k = 0; k < elements.size(); ++k) {
                   const Expr i = elements[k];
                   const Expr p = loaded[k].pair[0] + beta * loaded[k].pair[1];
                   const Expr r = loaded[k].r - alpha * loaded[k].q;
                   const Expr z = residual.store(i, r);
                   b.store(zp, i * 2, {z, p});
                   d[i] = loaded[k].d + alpha * p;
                   residuals.push_back({r, z});
                 }
                 return residuals;
               });
  return b.finish();
}

Result<kir::Kernel> product_kernel(const KernelOptions& options, const RowShape& shape, float reliable_drop) {
  Builder b("cg_product", {width_of(options.mapping)});
  const MatrixBindings matrix = bind_matrix(b);
  auto zp = b.buffer("zp", Type::f32, Access::read);
  auto q = b.buffer("q", Type::f32, Access::read_write);
  auto partials = b.buffer("product_partials", Type::f32, Access::read_write);
  Totals totals(b, options.mapping, "residual", options.lists(), options.residual_chunks);
  auto rz = b.scalar("rz", Type::f32, Access::read);
  auto largest = b.scalar("largest", Type::f32, Access::read);
  auto target = b.scalar("target", Type::f32, Access::read);
  auto beta_slot = b.scalar("beta", Type::f32, Access::write);
  auto next_rz = b.scalar("next_rz", Type::f32, Access::write);
  auto next_largest = b.scalar("next_largest", Type::f32, Access::write);
  auto refresh = b.scalar("refresh", Type::i32, Access::write);
  auto active = b.scalar("active", Type::i32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::read_write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr rows_per_chunk = b.parameter("rows_per_chunk", Type::i32);

  SlotSum slots(b, options.mapping, options.lists());
  RowSum row_sums(b, options.mapping, shape, 1);
  const std::vector<Expr> sums = totals.read(slots);
  const Expr rr = sums.front();
  const Expr next = sums.back();
  const Expr ratio = next / rz;
  const Expr sound = is_finite(b, rr) & is_finite(b, ratio) & !(ratio < 0.0f);
  const Expr beta = b.select(sound, ratio, b.f32(0.0f));
  const Expr most = b.apply(kir::Op::max_f, {largest, rr});
  const Expr due = sound & ((rr <= target) | (rr <= most * (reliable_drop * reliable_drop)));
  b.if_(is_leader(b), [&] {
    const Expr broken = (static_cast<Expr>(breakdown) != 0) | !sound;
    beta_slot = beta;
    next_rz = next;
    next_largest = most;
    refresh = flag(b, due & !broken);
    active = flag(b, !broken);
    breakdown = flag(b, broken);
  });
  b.if_(b.assume_uniform(!due, Scope::workgroup), [&] {
    multiply_chunk(b, shape, slots, row_sums, matrix, {zp, beta}, q, partials, chunk_range(b, rows, rows_per_chunk));
  });
  return b.finish();
}

Result<kir::Kernel> residual_kernel(const KernelOptions& options, const RowShape& shape) {
  Builder b("cg_residual", {width_of(options.mapping)});
  const MatrixBindings matrix = bind_matrix(b);
  auto rhs = b.buffer("b", Type::f32, Access::read);
  auto high = b.buffer("x_high", Type::f32, Access::read);
  auto low = b.buffer("x_low", Type::f32, Access::read);
  auto d = b.buffer("d", Type::f32, Access::read);
  auto zp = b.buffer("zp", Type::f32, Access::read_write);
  const Residual residual(b, options.jacobi, Access::write);
  auto partials = b.buffer("partials", Type::f32, Access::write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr rows_per_chunk = b.parameter("rows_per_chunk", Type::i32);
  SlotSum slots(b, options.mapping, options.lists());
  RowSum row_sums(b, options.mapping, shape, 2);
  const RowSum::Rules rules{
      .zero = {b.f32(0.0f), b.f32(0.0f)},
      .add_entry = [&](const RowSum::Sum& sum, Expr entry) -> RowSum::Sum {
        const Expr value = -static_cast<Expr>(matrix.values[entry]);
        const FloatPair x = folded(high, low, d, matrix.column_indices[entry]);
        const FloatPair product = multiply(value, x.high);
        const FloatPair next = add(FloatPair{sum[0], sum[1]}, FloatPair{product.high, product.low + value * x.low});
        return {next.high, next.low};
      },
      .add_parts = [](const RowSum::Sum& a, const RowSum::Sum& other) -> RowSum::Sum {
        const FloatPair sum = add(FloatPair{a[0], a[1]}, FloatPair{other[0], other[1]});
        return {sum.high, sum.low};
      }};
  const ChunkRange range = chunk_range(b, rows, rows_per_chunk);
  slots.add(shape.rows_per_block(), [&](Expr slot) {
    ResidualSums sums(b, options);
    b.for_(range.first, range.end, b.u32(shape.rows_per_block()), [&](Expr first) {
      const RowSum::Row row = row_sums.add(matrix.row_offsets, first, range.end, slot, rules);
      b.if_(row.exists, [&] {
        // What is left of b: its sum began at zero so that the parts could be added first.
        const FloatPair left = add(FloatPair{row.sum[0], row.sum[1]}, static_cast<Expr>(rhs[row.index]));
        const Expr r = left.high + left.low;
        const Expr z = residual.store(row.index, r);
        zp[row.index * 2] = z;
        sums.add({r, z});
      });
    });
    return sums.terms();
  });
  leave_partials(b, slots, options.lists(), partials, options.product_chunks);
  return b.finish();
}

Result<kir::Kernel> product_after_residual_kernel(const KernelOptions& options, const RowShape& shape) {
  Builder b("cg_product_after_residual", {width_of(options.mapping)});
  const MatrixBindings matrix = bind_matrix(b);
  auto zp = b.buffer("zp", Type::f32, Access::read);
  auto q = b.buffer("q", Type::f32, Access::read_write);
  auto d = b.buffer("d", Type::f32, Access::read_write);
  auto high = b.buffer("x_high", Type::f32, Access::read_write);
  auto low = b.buffer("x_low", Type::f32, Access::read_write);
  auto partials = b.buffer("product_partials", Type::f32, Access::read_write);
  Totals totals(b, options.mapping, "residual", options.lists(), options.product_chunks);
  auto beta_slot = b.scalar("beta", Type::f32, Access::read);
  auto target = b.scalar("target", Type::f32, Access::read);
  auto next_rz = b.scalar("next_rz", Type::f32, Access::write);
  auto next_largest = b.scalar("next_largest", Type::f32, Access::write);
  auto active = b.scalar("active", Type::i32, Access::write);
  auto breakdown = b.scalar("breakdown", Type::i32, Access::read_write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr rows_per_chunk = b.parameter("rows_per_chunk", Type::i32);

  SlotSum slots(b, options.mapping, options.lists());
  RowSum row_sums(b, options.mapping, shape, 1);
  const std::vector<Expr> sums = totals.read(slots);
  const Expr finite = is_finite(b, sums.front()) & is_finite(b, sums.back());
  const Expr unsolved = finite & (sums.front() > target);
  b.if_(is_leader(b), [&] {
    next_rz = sums.back();
    next_largest = sums.front();
    active = flag(b, unsolved);
    breakdown = b.select(finite, breakdown, b.u32(1));
  });
  const ChunkRange range = chunk_range(b, rows, rows_per_chunk);
  fold(b, options.mapping, range, high, low, d);
  const Expr beta = beta_slot;
  b.if_(b.assume_uniform(unsolved, Scope::workgroup), [&] {
    multiply_chunk(b, shape, slots, row_sums, matrix, {zp, beta}, q, partials, range);
  });
  return b.finish();
}

Result<kir::Kernel> fold_kernel(Mapping mapping) {
  Builder b("cg_fold", {width_of(mapping)});
  auto d = b.buffer("d", Type::f32, Access::read_write);
  auto high = b.buffer("x_high", Type::f32, Access::read_write);
  auto low = b.buffer("x_low", Type::f32, Access::read_write);
  const Expr rows = b.parameter("rows", Type::i32);
  const Expr rows_per_chunk = b.parameter("rows_per_chunk", Type::i32);
  fold(b, mapping, chunk_range(b, rows, rows_per_chunk), high, low, d);
  return b.finish();
}

}  // namespace wavegate::ops::cg
