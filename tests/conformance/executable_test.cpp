#include "conformance/suite.h"

namespace wavegate::conformance {
namespace {

using kir::Type;
using program::Buffer;
using program::Initial;
using program::Program;

class ExecutableContract : public ConformanceTest {};

TEST_P(ExecutableContract, BeforeTheFirstRunABufferHoldsItsInitialContentsAndWhatWasWritten) {
  Program program("before");
  const Buffer plain = program.buffer("plain", Type::i32, 4, Initial::repeated(7u));
  const Buffer output = program.buffer("output", Type::i32, 4, Initial::repeated(8u));
  program.output(output);
  Executable executable = compiled(program);
  const std::vector<uint32_t> two = {1, 2};
  succeed(executable.write<uint32_t>(plain, two, 1));
  EXPECT_THAT(value_of(executable.read<uint32_t>(plain)), testing::ElementsAre(7u, 1u, 2u, 7u));
  EXPECT_THAT(value_of(executable.read<uint32_t>(output)), testing::Each(8u));
}

TEST_P(ExecutableContract, ReadingBeforeTheFirstRunDoesNotChangeWhatItStartsFrom) {
  Program program("unchanged");
  const Buffer output = program.buffer("output", Type::i32, 4, Initial::repeated(8u));
  program.output(output);
  Executable executable = compiled(program);
  const std::vector<uint32_t> one = {1};
  succeed(executable.write<uint32_t>(output, one, 2));
  value_of(executable.read<uint32_t>(output));
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint32_t>(output)), testing::ElementsAre(8u, 8u, 1u, 8u));
}

TEST_P(ExecutableContract, AReadBeforeTheFirstRunCostsASubmissionAWaitAndAReadback) {
  Program program("cost");
  const Buffer output = program.buffer("output", Type::i32, 4, Initial::zero());
  program.output(output);
  Executable executable = compiled(program);
  const device::Counters before = device()->counters();
  value_of(executable.read<uint32_t>(output));
  const device::Counters spent = device()->counters() - before;
  EXPECT_EQ(spent.submissions, 1u);
  EXPECT_EQ(spent.host_waits, 1u);
  EXPECT_EQ(spent.readbacks, 1u);
}

WAVEGATE_CONFORMANCE(ExecutableContract);

}  // namespace
}  // namespace wavegate::conformance
