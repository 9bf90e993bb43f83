#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "amdgpu/wave/wave_testing.h"

namespace wavegate::amdgpu::wave {
namespace {

using ::testing::HasSubstr;
using testing::Loaded;

std::unique_ptr<Loaded> arguments_object() {
  auto loaded = Loaded::open_kernels("arguments", "gfx1030.w32");
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

TEST(Launch, PointersToLdsLieOneBehindTheOtherAndAreAligned) {
  const auto loaded = arguments_object();
  ASSERT_NE(loaded, nullptr);
  Launch launch{"reversed", {8, 1, 1}, {8, 1, 1}};
  ASSERT_TRUE(launch.set_lds(*loaded->module, "low", 36).ok());
  ASSERT_TRUE(launch.set_lds(*loaded->module, "high", 32).ok());
  EXPECT_EQ(launch.dynamic_lds, 48 + 32);
  std::array<std::uint32_t, 8> x{0, 1, 2, 3, 4, 5, 6, 7};
  ASSERT_TRUE(launch.set(*loaded->module, "x", loaded->map(x, "x")).ok());
  const auto report = run(*loaded->module, loaded->memory, launch);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_THAT(report->findings, ::testing::IsEmpty());
  EXPECT_THAT(x, ::testing::ElementsAre(21, 18, 15, 12, 9, 6, 3, 0));
}

TEST(Launch, LdsThatNoTargetHasIsRefused) {
  const auto loaded = arguments_object();
  ASSERT_NE(loaded, nullptr);
  Launch launch{"reversed", {8, 1, 1}, {8, 1, 1}};
  const auto set = launch.set_lds(*loaded->module, "low", 0xffffffff);
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(set.error().message, HasSubstr("4294967295 bytes of LDS for \"low\""));
}

TEST(Launch, ALaunchThatIsCancelledEndsWithAnError) {
  const auto loaded = arguments_object();
  ASSERT_NE(loaded, nullptr);
  std::array<std::uint32_t, 1> flag{0};
  Launch launch{"waiting"};
  ASSERT_TRUE(launch.set(*loaded->module, "flag", loaded->map(flag, "flag")).ok());
  std::atomic<bool> cancelled = false;
  Options options;
  options.cancelled = &cancelled;
  options.maximum_instructions = ~std::uint64_t{0};
  const std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled = true;
  });
  const auto report = run(*loaded->module, loaded->memory, launch, options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("\"waiting\": the launch was cancelled"));
}

}  // namespace
}  // namespace wavegate::amdgpu::wave
