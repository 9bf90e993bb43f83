#pragma once

#include <gmock/gmock.h>

#include <string_view>
#include <utility>

#include "wavegate/kir/text.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {

/// The kernel in text form; fails the test if it is none.
inline Kernel kernel_of(std::string_view text) {
  Result<Kernel> kernel = parse(text);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? std::string() : kernel.error().to_string()) << text;
  return kernel.ok() ? *std::move(kernel) : Kernel{};
}

/// A kernel that must verify and equal the other up to the numbers of values.
inline void expect_kernel(const Result<Kernel>& actual, std::string_view expected) {
  ASSERT_TRUE(actual.ok()) << actual.error().to_string();
  const Result<void> verified = verify(*actual);
  EXPECT_TRUE(verified.ok()) << verified.error().to_string() << "\n" << print(*actual);
  EXPECT_EQ(print(*actual), print(kernel_of(expected)));
}

}  // namespace wavegate::kir
