#include "differential/kernels.h"

#include <vector>

#include "wavegate/kir/builder.h"

namespace wavegate::differential {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::MemoryRef;
using kir::Op;
using kir::Type;

Result<kir::Kernel> affine() {
  Builder b("affine", {32});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const Expr factor = b.parameter("factor", Type::i32);
  const Expr addend = b.parameter("addend", Type::i32);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] * factor + addend; });
  return b.finish();
}

Result<kir::Kernel> combine() {
  Builder b("combine", {64});
  const MemoryRef out = b.buffer("out", Type::i32, Access::read_write);
  const MemoryRef x = b.buffer("x", Type::i32, Access::read);
  const MemoryRef y = b.buffer("y", Type::i32, Access::read);
  const Expr rule = b.parameter("rule", Type::i32);
  const Expr i = b.global_id();
  b.if_(i < out.length(), [&] {
    const Expr old = out[i];
    const Expr left = x[i % x.length()];
    const Expr right = y[i % y.length()];
    b.switch_(rule,
              {{0, [&] { out[i] = old + left * 3u - right; }},
               {1, [&] { out[i] = old ^ (left + right); }},
               {2,
                [&] {
                  out[i] = b.apply(Op::max_u, {left, right}) + (old >> 1u);
                }}},
              [&] {
                out[i] = b.apply(Op::div_s, {left, right}) - old;
              });
  });
  return b.finish();
}

Result<kir::Kernel> add_scalar() {
  Builder b("add_scalar", {64});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const kir::ScalarRef amount = b.scalar("amount", Type::i32, Access::read);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] + static_cast<Expr>(amount) * (i + 1u); });
  return b.finish();
}

/// The elements of this workgroup in workgroup memory, zero past the end, and all there.
MemoryRef staged(Builder& b, MemoryRef data, uint32_t width) {
  const MemoryRef shared = b.workgroup_array("shared", Type::i32, width);
  const Expr i = b.global_id();
  shared[b.local_id()] = 0u;
  b.if_(i < data.length(), [&] { shared[b.local_id()] = data[i]; });
  b.barrier();
  return shared;
}

Result<kir::Kernel> reverse() {
  constexpr uint32_t width = 64;
  Builder b("reverse", {width});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const MemoryRef shared = staged(b, data, width);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = shared[b.u32(width - 1) - b.local_id()] + 1u; });
  return b.finish();
}

Result<kir::Kernel> scan() {
  constexpr uint32_t width = 32;
  Builder b("scan", {width});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const MemoryRef shared = staged(b, data, width);
  const Expr lane = b.local_id();
  kir::Variable distance = b.variable(b.u32(1));
  b.while_([&] { return static_cast<Expr>(distance) < width; },
           [&] {
             const Expr reach = distance;
             kir::Variable sum = b.variable(shared[lane]);
             b.if_(lane >= reach, [&] { sum = static_cast<Expr>(sum) + shared[lane - reach]; });
             b.barrier();
             shared[lane] = static_cast<Expr>(sum);
             b.barrier();
             distance = reach << 1u;
           });
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = shared[lane]; });
  return b.finish();
}

Result<kir::Kernel> rotate_some() {
  constexpr uint32_t width = 32;
  Builder b("rotate_some", {width});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  b.if_((b.workgroup_id() & 1u) == 1u, [&] { b.return_(); });
  const MemoryRef shared = staged(b, data, width);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = shared[(b.local_id() + 1u) % width] ^ i; });
  return b.finish();
}

Result<kir::Kernel> halve_even() {
  Builder b("halve_even", {64});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const Expr amount = b.parameter("amount", Type::i32);
  const Expr i = b.global_id();
  b.if_(i >= data.length(), [&] { b.return_(); });
  const Expr old = data[i];
  b.if_((old & 1u) == 1u, [&] { b.return_(); });
  data[i] = (old >> 1u) + amount;
  return b.finish();
}

Result<kir::Kernel> collatz() {
  Builder b("collatz", {32});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] {
    kir::Variable value = b.variable(data[i] & 0xffu);
    kir::Variable steps = b.variable(b.u32(0));
    b.loop([&] {
      b.if_((static_cast<Expr>(value) <= 1u) | (static_cast<Expr>(steps) >= 12u), [&] { b.break_(); });
      const Expr v = value;
      value = b.select((v & 1u) == 1u, v * 3u + 1u, v >> 1u);
      steps = static_cast<Expr>(steps) + 1u;
    });
    data[i] = static_cast<Expr>(value) * 16u + steps;
  });
  return b.finish();
}

Result<kir::Kernel> into_bins(const char* name, Op op) {
  Builder b(name, {64});
  const MemoryRef bins = b.buffer("bins", Type::i32, Access::read_write);
  const MemoryRef x = b.buffer("x", Type::i32, Access::read);
  const Expr i = b.global_id();
  b.if_(i < x.length(), [&] {
    const Expr value = x[i];
    b.atomic(op, bins, value % bins.length(), (value & 0xffu) + 1u);
  });
  return b.finish();
}

Result<kir::Kernel> histogram() {
  return into_bins("histogram", Op::atomic_add);
}
Result<kir::Kernel> largest_bins() {
  return into_bins("largest_bins", Op::atomic_max_u);
}

Result<kir::Kernel> volume() {
  Builder b("volume", {4, 4, 2});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const Expr width = b.grid(0) * 4u;
  const Expr height = b.grid(1) * 4u;
  const Expr i = (b.global_id(2) * height + b.global_id(1)) * width + b.global_id(0);
  b.if_(i < data.length(), [&] { data[i] = data[i] + b.grid(0) * 100u + b.grid(1) * 10u + b.grid(2); });
  return b.finish();
}

Result<kir::Kernel> mark_grid() {
  Builder b("mark_grid", {16});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  b.for_(b.global_id(), data.length(), b.grid() * 16u,
         [&](Expr i) { data[i] = data[i] * 3u + b.grid() + b.workgroup_id(); });
  return b.finish();
}

Result<kir::Kernel> touch_groups() {
  Builder b("touch_groups", {16});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const Expr amount = b.parameter("amount", Type::i32);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] + amount + b.grid() * 7u; });
  return b.finish();
}

Result<kir::Kernel> overwrite() {
  Builder b("overwrite", {64});
  const MemoryRef out = b.buffer("out", Type::i32, Access::write);
  const kir::ScalarRef amount = b.scalar("amount", Type::i32, Access::read);
  const Expr seed = b.parameter("seed", Type::i32);
  const Expr i = b.global_id();
  b.if_(i < out.length(), [&] { out[i] = seed * i + amount; });
  return b.finish();
}

Result<kir::Kernel> gather() {
  Builder b("gather", {64});
  const MemoryRef out = b.buffer("out", Type::i32, Access::write);
  const MemoryRef x = b.buffer("x", Type::i32, Access::read);
  const Expr shift = b.parameter("shift", Type::i32);
  const Expr i = b.global_id();
  b.if_(i < out.length(), [&] { out[i] = x[(i * 7u + shift) % x.length()]; });
  return b.finish();
}

Result<kir::Kernel> float_step() {
  Builder b("float_step", {64});
  const MemoryRef f = b.buffer("f", Type::f32, Access::read_write);
  const Expr step = b.parameter("step", Type::f32);
  const Expr i = b.global_id();
  b.if_(i < f.length(), [&] {
    const Expr next = f[i] + step;
    f[i] = b.select(next > 512.0f, next - 512.0f, next);
  });
  return b.finish();
}

/// One workgroup of 64 reduces a value an invocation to the value of invocation 0, which `then` gets.
template <typename Then>
void reduce(Builder& b, Expr value, Op op, Then&& then) {
  const MemoryRef shared = b.workgroup_array("shared", Type::i32, 64);
  const Expr lane = b.local_id();
  shared[lane] = value;
  b.barrier();
  for (uint32_t distance = 32; distance > 0; distance /= 2) {
    b.if_(lane < distance, [&] { shared[lane] = b.apply(op, {shared[lane], shared[lane + distance]}); });
    b.barrier();
  }
  b.if_(lane == 0u, [&] { then(static_cast<Expr>(shared[0u])); });
}

Result<kir::Kernel> sum() {
  Builder b("sum", {64});
  const MemoryRef x = b.buffer("x", Type::i32, Access::read);
  const kir::ScalarRef result = b.scalar("result", Type::i32, Access::write);
  kir::Variable own = b.variable(b.u32(0));
  b.for_(b.local_id(), x.length(), b.u32(64), [&](Expr i) { own = static_cast<Expr>(own) + x[i]; });
  reduce(b, own, Op::add, [&](Expr total) { result = total; });
  return b.finish();
}

void count_and_test(Builder& b, kir::ScalarRef count, kir::ScalarRef active, Expr limit) {
  const Expr next = static_cast<Expr>(count) + 1u;
  count = next;
  active = b.select(next < limit, b.u32(1), b.u32(0));
}

Result<kir::Kernel> tick() {
  Builder b("tick");
  const kir::ScalarRef count = b.scalar("count", Type::i32, Access::read_write);
  const kir::ScalarRef active = b.scalar("active", Type::i32, Access::write);
  const Expr limit = b.parameter("limit", Type::i32);
  count_and_test(b, count, active, limit);
  return b.finish();
}

Result<kir::Kernel> step_and_test() {
  Builder b("step_and_test", {32});
  const MemoryRef data = b.buffer("data", Type::i32, Access::read_write);
  const kir::ScalarRef count = b.scalar("count", Type::i32, Access::read_write);
  const kir::ScalarRef active = b.scalar("active", Type::i32, Access::write);
  const Expr limit = b.parameter("limit", Type::i32);
  const Expr i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] * 5u + i; });
  b.if_(i == 0u, [&] { count_and_test(b, count, active, limit); });
  return b.finish();
}

Result<kir::Kernel> any_reaches() {
  Builder b("any_reaches", {64});
  const MemoryRef x = b.buffer("x", Type::i32, Access::read);
  const kir::ScalarRef count = b.scalar("count", Type::i32, Access::read_write);
  const kir::ScalarRef active = b.scalar("active", Type::i32, Access::write);
  const Expr limit = b.parameter("limit", Type::i32);
  kir::Variable own = b.variable(b.u32(0));
  b.for_(b.local_id(), x.length(), b.u32(64), [&](Expr i) { own = b.apply(Op::max_u, {own, x[i] & 63u}); });
  reduce(b, own, Op::max_u, [&](Expr largest) {
    const Expr before = count;
    count = before + 1u;
    active = b.select(largest >= limit + before, b.u32(1), b.u32(0));
  });
  return b.finish();
}

constexpr struct {
  KernelName name;
  Result<kir::Kernel> (*make)();
} kTable[] = {
    {KernelName::affine, affine},
    {KernelName::combine, combine},
    {KernelName::add_scalar, add_scalar},
    {KernelName::reverse, reverse},
    {KernelName::scan, scan},
    {KernelName::rotate_some, rotate_some},
    {KernelName::halve_even, halve_even},
    {KernelName::collatz, collatz},
    {KernelName::histogram, histogram},
    {KernelName::largest_bins, largest_bins},
    {KernelName::volume, volume},
    {KernelName::mark_grid, mark_grid},
    {KernelName::touch_groups, touch_groups},
    {KernelName::overwrite, overwrite},
    {KernelName::gather, gather},
    {KernelName::float_step, float_step},
    {KernelName::sum, sum},
    {KernelName::tick, tick},
    {KernelName::step_and_test, step_and_test},
    {KernelName::any_reaches, any_reaches},
};
static_assert(std::size(kTable) == kKernelCount);

}  // namespace

const std::shared_ptr<const program::KernelSource>& kernel(KernelName name) {
  static const std::vector<std::shared_ptr<const program::KernelSource>> kernels = [] {
    std::vector<std::shared_ptr<const program::KernelSource>> made(kKernelCount);
    for (const auto& row : kTable)
      made[static_cast<uint8_t>(row.name)] = program::make_kernel_source(row.make().value());
    return made;
  }();
  return kernels[static_cast<uint8_t>(name)];
}

}  // namespace wavegate::differential
