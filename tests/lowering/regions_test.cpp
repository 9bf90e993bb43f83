#include "wavegate/lowering/regions.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

using program::Body;
using program::ScalarOp;

/// A program with a scalar for predicates, of which one test sees the body.
struct Sample {
  Program program{"regions"};
  Scalar flag = program.scalar_u32("flag", 1);
  Scalar other = program.scalar_u32("other", 1);
  void assign(uint32_t value) { program.assign(other, literal(value)); }
  const program::Node& first() const { return program.body().front(); }
};

TEST(Regions, AnIfASwitchAndAWhileAreRegionsAndNothingElseIs) {
  Sample sample;
  sample.program.if_(
      sample.flag, [&] { sample.assign(1); }, {}, "one");
  sample.program.switch_(
      sample.flag, {}, [&] { sample.assign(1); }, "two");
  sample.program.while_(
      sample.flag, {.max = 1}, [&] { sample.assign(0); }, "three");
  sample.assign(0);
  std::vector<std::string> found;
  for (const program::Node& node : sample.program.body()) {
    const Region region = region_of(node);
    found.push_back(region.address == nullptr ? "none" : std::string(region.kind) + " " + *region.label);
  }
  EXPECT_THAT(found, testing::ElementsAre("if one", "switch two", "while three", "none"));
}

TEST(Regions, BodiesComeInTheOrderInWhichTheyAreWritten) {
  Sample sample;
  sample.program.if_(
      sample.flag, [&] { sample.assign(1); }, [&] { sample.assign(2), sample.assign(3); });
  sample.program.switch_(sample.flag, {{7, [&] { sample.assign(1); }}, {3, [] {}}},
                         [&] { sample.assign(1), sample.assign(1); });
  std::vector<std::vector<size_t>> sizes;
  for (const program::Node& node : sample.program.body()) {
    sizes.emplace_back();
    for (const Body* body : bodies_of(node)) sizes.back().push_back(body->size());
  }
  EXPECT_EQ(sizes, (std::vector<std::vector<size_t>>{{1, 2}, {1, 0, 2}}));
}

TEST(Regions, ABreakInABranchLeavesTheLoopAroundItAndOneInALoopDoesNot) {
  Sample sample;
  const auto loop = [&](const std::function<void()>& body) {
    sample.program.while_(sample.flag, {.max = 2}, body);
    return std::get<program::While>(sample.program.body().back().what);
  };
  EXPECT_TRUE(leaves_early(loop([&] {
                             sample.program.switch_(sample.flag, {}, [&] {
                               sample.program.if_(sample.flag, [&] { sample.program.continue_(); });
                             });
                           }).body));
  const program::While outer = loop([&] {
    sample.program.while_(sample.flag, {.max = 2},
                          [&] { sample.program.if_(sample.flag, [&] { sample.program.break_(); }); });
  });
  EXPECT_FALSE(leaves_early(outer.body));
  EXPECT_TRUE(has_loop(outer.body));
  EXPECT_FALSE(has_loop(std::get<program::While>(outer.body.front().what).body));
}

TEST(Regions, AnotherIterationBeginsByPredicateAndBounds) {
  Sample sample;
  const Scalar trips = sample.other;
  const auto test = [&](program::Bounds bounds) {
    return may_begin({.label = "loop", .loop = {}, .predicate = sample.flag, .bounds = bounds, .body = {}}, trips);
  };
  using Ids = std::set<uint32_t>;
  const ScalarExpr plain = test({.min = 0, .max = {}});
  EXPECT_EQ(plain.root().op, ScalarOp::not_equal);  // one or zero, since trips count it
  EXPECT_EQ(scalars_of(plain), Ids{sample.flag.id});
  const ScalarExpr at_least = test({.min = 3, .max = {}});
  EXPECT_EQ(at_least.root().op, ScalarOp::logical_or);
  EXPECT_EQ(scalars_of(at_least), (Ids{sample.flag.id, trips.id}));
  const ScalarExpr at_most = test({.min = 0, .max = 4});
  EXPECT_EQ(at_most.root().op, ScalarOp::logical_and);
  EXPECT_EQ(scalars_of(at_most), (Ids{sample.flag.id, trips.id}));
  // Where all iterations are certain nothing reads the predicate, which may not have a value yet.
  EXPECT_EQ(scalars_of(test({.min = 4, .max = 4})), Ids{trips.id});
}

}  // namespace
}  // namespace wavegate::lowering
