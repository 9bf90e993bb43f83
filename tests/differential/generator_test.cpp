#include "differential/generator.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <set>

#include "differential/expectation.h"
#include "differential/kernels.h"
#include "differential/print.h"
#include "differential/random.h"
#include "differential/seeds.h"
#include "differential/shrink.h"
#include "wavegate/device/reference/device.h"

namespace wavegate::differential {
namespace {

using program::Body;
using program::Node;

TEST(Random, TheNumbersAreThoseOfSplitMix64) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

TEST(Generator, ASeedGivesOneProgram) {
  std::set<std::string> programs;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string program = print(generate(seed).program);
    EXPECT_EQ(program, print(generate(seed).program));
    programs.insert(program);
  }
  EXPECT_EQ(programs.size(), 50u);
}

/// What the programs of the test hold.
struct Contents {
  std::array<uint32_t, std::variant_size_v<decltype(Node::what)>> nodes = {};
  std::map<std::string, uint32_t> kernels;
  uint32_t deepest = 0, computed_grids = 0, unbounded = 0, minimums = 0;

  void add(const Body& body, uint32_t depth) {
    deepest = std::max(deepest, depth);
    for (const Node& node : body) {
      ++nodes[node.what.index()];
      std::visit([&](const auto& what) { add(what, depth); }, node.what);
    }
  }
  void add(const program::Dispatch& dispatch, uint32_t) {
    ++kernels[dispatch.kernel->interface().name];
    computed_grids += dispatch.computed_grid ? 1 : 0;
  }
  void add(const program::If& branch, uint32_t depth) {
    add(branch.then_body, depth + 1);
    add(branch.else_body, depth + 1);
  }
  void add(const program::Switch& choice, uint32_t depth) {
    for (const program::Case& one : choice.cases) add(one.body, depth + 1);
    add(choice.default_body, depth + 1);
  }
  void add(const program::While& loop, uint32_t depth) {
    unbounded += loop.bounds.max ? 0 : 1;
    minimums += loop.bounds.min > 0 ? 1 : 0;
    add(loop.body, depth + 1);
  }
  template <typename Other>
  void add(const Other&, uint32_t) {}
};

TEST(Generator, TheProgramsAreOnesAndEndAndMostIterateTwiceOrMore) {
  const auto device = device::reference::make_device();
  Contents contents;
  Statistics all;
  uint32_t iterate = 0, failures = 0, resets = 0, settings = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    const Case one = generate(seed);
    contents.add(one.program.body(), 0);
    const Result<Expectation> expected = expect(one, device->profile());
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.error().to_string();
    failures += expected->failure ? 1 : 0;
    iterate += expected->statistics.most_trips >= 2 ? 1 : 0;
    all.breaks += expected->statistics.breaks;
    all.continues += expected->statistics.continues;
    all.loop_exits += expected->statistics.loop_exits;
    all.converged += expected->statistics.converged;
    all.most_trips = std::max(all.most_trips, expected->statistics.most_trips);
    for (const Step& step : one.steps) {
      resets += step.reset ? 1 : 0;
      settings += step.settings.empty() ? 0 : 1;
    }
  }
  EXPECT_GE(iterate * 100, kSeeds * 60) << "60 % of the programs iterate twice or more";
  EXPECT_THAT(contents.nodes, testing::Each(testing::Ge(kSeeds / 25))) << "every kind of command";
  EXPECT_EQ(contents.kernels.size(), kKernelCount);
  for (const auto& [name, count] : contents.kernels) EXPECT_GE(count, kSeeds / 25) << name;
  EXPECT_GE(contents.deepest, 4u);
  EXPECT_GE(contents.computed_grids, kSeeds / 10);
  EXPECT_GE(contents.unbounded, kSeeds / 25);
  EXPECT_GE(contents.minimums, kSeeds / 10);
  EXPECT_GE(all.breaks, kSeeds / 5);
  EXPECT_GE(all.continues, kSeeds / 5);
  EXPECT_GE(all.converged, kSeeds);
  EXPECT_GE(all.loop_exits - all.converged, kSeeds);
  EXPECT_GE(all.most_trips, 25u);
  EXPECT_GE(failures, 3u);
  EXPECT_LE(failures, kSeeds / 20);
  EXPECT_GE(resets, kSeeds / 10);
  EXPECT_GE(settings, kSeeds / 5);
}

TEST(Generator, ProgramsStayNearTheSizeThatIsAskedFor) {
  const auto device = device::reference::make_device();
  Size small;
  small.depth = 1;
  small.spelled_commands = 20;
  small.nested_iterations = 4;
  small.most_elements = 20;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Case one = generate(seed, small);
    Contents contents;
    contents.add(one.program.body(), 0);
    EXPECT_LE(contents.deepest, 2u) << "a loop whose end is a break holds a branch for it";
    for (const program::BufferInfo& buffer : one.program.buffers()) EXPECT_LE(buffer.count, 20u);
    for (const program::While* loop : loops_of(one.program.body())) EXPECT_LE(loop->bounds.max.value_or(0), 4u);
  }
}

TEST(Shrink, AFailingCaseBecomesSmallerAndStillFails) {
  const auto device = device::reference::make_device();
  // "Fails" if a copy runs: what is left must be little more than a copy.
  const auto fails = [&](const Case& one) {
    if (!expect(one, device->profile()).ok()) return false;
    Contents contents;
    contents.add(one.program.body(), 0);
    return contents.nodes[1] > 0;
  };
  uint32_t shrunk = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Case one = generate(seed);
    if (!fails(one)) continue;
    const Case small = shrink(one, fails, 1000);
    ASSERT_TRUE(fails(small));
    EXPECT_EQ(small.program.body().size(), 1u) << print(small.program);
    EXPECT_EQ(small.steps.size(), 1u);
    ++shrunk;
  }
  EXPECT_GE(shrunk, 5u);
}

}  // namespace
}  // namespace wavegate::differential
