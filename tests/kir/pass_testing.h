#pragma once

#include <gmock/gmock.h>

#include <string_view>

#include "wavegate/kir/passes/pass.h"
#include "wavegate/kir/text.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {

using Pass = Result<PassStats>(Kernel&);

/// Runs a pass on a kernel in text form and compares with the kernel expected, up to the numbers of values. The
/// result must verify, and the statistics must say whether anything happened.
inline void expect_pass(Pass& pass, std::string_view before, std::string_view after) {
  Result<Kernel> kernel = parse(before);
  ASSERT_TRUE(kernel.ok()) << "before: " << kernel.error().to_string();
  const Result<Kernel> expected = parse(after);
  ASSERT_TRUE(expected.ok()) << "after: " << expected.error().to_string();
  const std::string printed_before = print(*kernel);
  const Result<PassStats> stats = pass(*kernel);
  ASSERT_TRUE(stats.ok()) << stats.error().to_string();
  EXPECT_EQ(print(*kernel), print(*expected));
  const Result<void> verified = verify(*kernel);
  EXPECT_TRUE(verified.ok()) << verified.error().to_string() << "\n" << print(*kernel);
  EXPECT_EQ(stats->any(), print(*kernel) != printed_before);
}

inline void expect_unchanged(Pass& pass, std::string_view text) {
  expect_pass(pass, text, text);
}

}  // namespace wavegate::kir
