#include <gmock/gmock.h>

#include <map>
#include <ostream>

#include "differential/compare.h"
#include "wavegate/api/engine.h"

namespace wavegate::differential {
namespace {

using lowering::Mutation;

struct Broken {
  std::string name;
  Mutation mutation = Mutation::none;
};
void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class Mutations : public testing::TestWithParam<Broken> {};

// The same programs pass with every rule in place, so that it is the rule which they notice; and they notice it under
// every strategy that keeps the rule in a way of its own.
TEST_P(Mutations, AreNoticed) {
  using enum lowering::Strategy;
  const std::shared_ptr<device::Device> device = open_device("reference").value();
  std::map<lowering::Strategy, uint32_t> noticed;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Case one = generate(seed);
    const Result<Expectation> expected = expect(one, device->profile());
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    for (const lowering::Strategy strategy : {gate, fused_gate, chained_gate, early_out, chunked, predication}) {
      Subject subject{std::string(to_string(strategy)), device, options_of(one)};
      subject.options.strategy = strategy;
      const Verdict whole = compare(one, *expected, subject);
      EXPECT_NE(whole.kind, Verdict::Kind::different) << "seed " << seed << ", " << subject.name << ": " << whole.text;
      subject.options.mutation = GetParam().mutation;
      noticed[strategy] += compare(one, *expected, subject).kind == Verdict::Kind::different ? 1 : 0;
    }
  }
  for (const auto& [strategy, times] : noticed) EXPECT_GE(times, 1u) << to_string(strategy);
}

INSTANTIATE_TEST_SUITE_P(Rules, Mutations,
                         testing::Values(Broken{"no_latch", Mutation::no_latch},
                                         Broken{"no_conjunction", Mutation::no_conjunction},
                                         Broken{"ungated_fill", Mutation::ungated_fill}),
                         [](const auto& broken) { return broken.param.name; });

}  // namespace
}  // namespace wavegate::differential
