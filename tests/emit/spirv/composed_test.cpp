#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "emit/spirv/support.h"
#include "kir/execution/random_kernel.h"
#include "wavegate/kir/compose.h"
#include "wavegate/kir/in_one_workgroup.h"
#include "wavegate/kir/passes/merge_bindings.h"
#include "wavegate/kir/passes/simplify.h"
#include "wavegate/kir/passes/structure_returns.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Kernel;

target::Profile roomy_profile() {
  target::Profile profile = full_profile();
  profile.limits.storage_buffers = 64;
  profile.limits.immediate_words = 64;
  return profile;
}

Kernel value_of(Result<Kernel> kernel) {
  EXPECT_TRUE(kernel.ok()) << kernel.error().to_string();
  return kernel.ok() ? *std::move(kernel) : Kernel{};
}

Kernel random_kernel(uint32_t seed, bool tied) {
  kir::RandomKernel::Shape shape;
  shape.grid = {3, 1, 1};
  shape.workgroup = tied ? std::array<uint32_t, 3>{8, 1, 1} : std::array<uint32_t, 3>{2, 2, 1};
  shape.tied = tied;
  return kir::RandomKernel(seed, shape).make();
}

TEST(Composed, kernels_are_valid_modules) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const bool tied = seed % 2 == 0;
    Kernel structured = random_kernel(seed, tied);
    emit_text(value_of(kir::guard(structured, "latch")));
    ASSERT_TRUE(kir::structure_returns(structured).ok());
    emit_text(structured);

    // b, the fourth binding, stands in for the latch.
    const Kernel first = value_of(kir::in_one_workgroup(random_kernel(seed, tied), {3, 1, 1}, 8));
    const Kernel second = value_of(kir::in_one_workgroup(random_kernel(seed + 100, !tied), {3, 1, 1}, 8));
    const Kernel both = value_of(kir::sequence(first, value_of(kir::only_if(second, "latch"))));
    Kernel loop = value_of(kir::repeat_while(first, 3, both));
    emit_text(loop, roomy_profile());
    std::vector<uint32_t> same_as(loop.interface.bindings.size());
    std::iota(same_as.begin(), same_as.end(), 0u);
    for (uint32_t i = 4; i + 1 < same_as.size(); ++i) same_as[i] = i % 4;  // all but the inner latch
    ASSERT_TRUE(kir::merge_bindings(loop, same_as).ok());
    ASSERT_TRUE(kir::verify(loop).ok()) << kir::verify(loop).error().to_string();
    emit_text(loop, roomy_profile());
    ASSERT_TRUE(kir::simplify(loop).ok());
    emit_text(loop, roomy_profile());
  }
}

TEST(Composed, parts_are_ordered_by_a_barrier_over_coherent_memory) {
  kir::Builder b("first", {8});
  auto x = b.buffer("x", kir::Type::i32, kir::Access::write);
  x[b.global_id()] = b.u32(1);
  const Kernel first = value_of(b.finish());
  kir::Builder c("second", {8});
  auto y = c.buffer("x", kir::Type::i32, kir::Access::read);
  auto z = c.buffer("z", kir::Type::i32, kir::Access::write);
  z[c.global_id()] = kir::Expr(y[c.u32(7) - c.global_id()]);
  Kernel both = value_of(kir::sequence(first, value_of(c.finish())));
  ASSERT_TRUE(kir::merge_bindings(both, std::vector<uint32_t>{0, 0, 2}).ok());
  const std::string text = emit_text(both);
  EXPECT_EQ(count(text, "OpControlBarrier"), 1u);
  EXPECT_EQ(count(text, " Coherent\n"), 1u);
  EXPECT_EQ(count(text, " NonReadable\n"), 1u);
  EXPECT_EQ(count(text, " NonWritable\n"), 0u);
}

}  // namespace
}  // namespace wavegate::emit::spirv
