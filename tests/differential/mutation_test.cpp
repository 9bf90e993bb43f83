#include <gmock/gmock.h>

#include "differential/compare.h"
#include "wavegate/api/engine.h"

namespace wavegate::differential {
namespace {

using lowering::Mutation;

struct Broken {
  std::string name;
  Mutation mutation = Mutation::none;
};

class Mutations : public testing::TestWithParam<Broken> {};

// The same programs pass with every rule in place, so that it is the rule which they notice.
TEST_P(Mutations, AreNoticed) {
  const std::shared_ptr<device::Device> device = open_device("reference").value();
  uint32_t whole = 0, noticed = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Case one = generate(seed);
    const Result<Expectation> expected = expect(one, device->profile());
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    Subject subject{"gate", device};
    subject.options.strategy = lowering::Strategy::gate;
    whole += compare(one, *expected, subject).kind == Verdict::Kind::different ? 1 : 0;
    subject.options.mutation = GetParam().mutation;
    noticed += compare(one, *expected, subject).kind == Verdict::Kind::different ? 1 : 0;
  }
  EXPECT_EQ(whole, 0u);
  EXPECT_GE(noticed, 1u);
}

INSTANTIATE_TEST_SUITE_P(Rules, Mutations,
                         testing::Values(Broken{"no_latch", Mutation::no_latch},
                                         Broken{"no_conjunction", Mutation::no_conjunction},
                                         Broken{"ungated_fill", Mutation::ungated_fill}),
                         [](const auto& broken) { return broken.param.name; });

}  // namespace
}  // namespace wavegate::differential
