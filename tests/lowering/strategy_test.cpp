#include "wavegate/lowering/strategy.h"

#include <gmock/gmock.h>

namespace wavegate::lowering {
namespace {

TEST(Strategies, EachHasItsRowAndItsName) {
  std::vector<std::string_view> names;
  for (const StrategyInfo& row : strategies()) {
    EXPECT_EQ(&info(row.strategy), &row);
    EXPECT_EQ(parse_strategy(row.name), row.strategy);
    EXPECT_EQ(to_string(row.strategy), row.name);
    names.push_back(row.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("gate", "fused-gate", "chained-gate", "producer", "early-out", "chunked",
                                          "predication", "resident", "unroll"));
}

TEST(Strategies, AnotherNameIsNone) {
  for (const char* name : {"", "Gate", "fused_gate", "gate ", "native"}) EXPECT_FALSE(parse_strategy(name)) << name;
}

TEST(Strategies, OnlyChunksNeedTheHost) {
  for (const StrategyInfo& row : strategies()) EXPECT_EQ(row.host_free, row.strategy != Strategy::chunked) << row.name;
}

}  // namespace
}  // namespace wavegate::lowering
