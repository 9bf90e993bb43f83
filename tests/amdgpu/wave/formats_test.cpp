#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "amdgpu/wave/wave_testing.h"
#include "wavegate/amdgpu/isa/buffer_formats.h"

namespace wavegate::amdgpu::wave::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Format {
  const char *data, *number;
  std::vector<unsigned> widths;  ///< x first, which is in the lowest bits
};
const Format kFormats[] = {
    {"8_8_8_8", "UNORM", {8, 8, 8, 8}},
    {"16_16", "SNORM", {16, 16}},
    {"2_10_10_10", "UNORM", {10, 10, 10, 2}},
    {"10_11_11", "FLOAT", {11, 11, 10}},
    {"16_16_16_16", "FLOAT", {16, 16, 16, 16}},
    {"32_32", "FLOAT", {32, 32}},
    {"8_8", "SINT", {8, 8}},
    {"16", "UINT", {16}},
    {"8_8_8_8", "SSCALED", {8, 8, 8, 8}},
    {"32_32_32_32", "UINT", {32, 32, 32, 32}},
    {"16_16", "USCALED", {16, 16}},
    {"8", "SNORM", {8}},
};

struct Machine {
  const char* object;
  int generation;
};

/// The field of a descriptor's last word, with all components selected as they are and bounds in bytes.
u32 descriptor_word(const Machine& machine, const Format& format) {
  constexpr u32 kSelects = 4 | 5 << 3 | 6 << 6 | 7 << 9;
  if (machine.generation == 9) {
    const auto place = [](const auto& names, std::string_view name) {
      return static_cast<u32>(std::ranges::find(names, name) - std::begin(names));
    };
    return kSelects | place(isa::kDataFormats, format.data) << 15 | place(isa::kNumberFormats, format.number) << 12;
  }
  const std::string name = std::string(format.data) + "_" + format.number;
  const std::span<const std::string_view> names =
      machine.generation == 10 ? std::span<const std::string_view>(isa::kBufferFormatsGfx10) : isa::kBufferFormatsGfx11;
  return kSelects | static_cast<u32>(std::ranges::find(names, name) - names.begin()) << 12 | 3u << 28;
}

bool is_integer(const Format& format) {
  return std::string_view(format.number).ends_with("INT");
}
/// What a code of so many bits means.
u32 meaning(const Format& format, unsigned width, u32 code) {
  const std::string_view number = format.number;
  const auto bits = [](double value) { return std::bit_cast<u32>(static_cast<float>(value)); };
  const double all = std::exp2(width) - 1, half = std::exp2(width - 1) - 1;
  const std::int64_t with_sign = code > half ? static_cast<std::int64_t>(code) - (std::int64_t{1} << width) : code;
  if (number == "UINT" || width == 32) return code;
  if (number == "SINT") return static_cast<u32>(with_sign);
  if (number == "UNORM") return bits(code / all);
  if (number == "SNORM") return bits(std::max(static_cast<double>(with_sign) / half, -1.0));
  if (number == "USCALED") return bits(code);
  if (number == "SSCALED") return bits(static_cast<double>(with_sign));
  const unsigned digits = width == 16 ? 10 : width - 5;
  const int exponent = static_cast<int>(code >> digits & 31);
  const double fraction = (code & ((1u << digits) - 1)) / std::exp2(digits);
  const double value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return bits(width == 16 && code >> 15 != 0 ? -value : value);
}
/// A code that stays what it is when it is read and written: no NaN, and of -1 the nearer to zero.
u32 stable_code(const Format& format, unsigned width, u32 code) {
  if (width < 32) code &= (1u << width) - 1;
  const std::string_view number = format.number;
  if (number == "SNORM" && code == 1u << (width - 1)) ++code;
  if (number == "FLOAT") {
    const unsigned top = width == 32 ? 30 : width == 16 ? 14 : width - 1;
    code &= ~(1u << top);
    if (width == 16 && code == 0x8000) code = 0;
  }
  return code;
}

class Formats : public ::testing::TestWithParam<Machine> {
 protected:
  static constexpr u32 kCount = 192;
  void SetUp() override {
    auto opened = Loaded::open_kernels("formats", GetParam().object);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    loaded_ = std::move(*opened);
  }
  void run(const char* name, std::initializer_list<u64> arguments, u32 count = kCount) {
    const auto report = run_kernel(*loaded_, {name, {count, 1, 1}, {64, 1, 1}}, arguments);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->findings.empty()) << name;
  }
  /// Random elements, and what their components mean: 0 where there is none, but 1 for w.
  void fill(const Format& format) {
    unsigned bits = 0;
    for (const unsigned width : format.widths) bits += width;
    bytes_ = bits / 8;
    memory_.assign(kCount * 4, 0);
    values_.assign(kCount * 4, 0);
    for (u32 i = 0; i < kCount; ++i) {
      unsigned at = i * bits;
      values_[4 * i + 3] = is_integer(format) ? 1 : std::bit_cast<u32>(1.0f);
      for (unsigned component = 0; component < format.widths.size(); ++component) {
        const unsigned width = format.widths[component];
        const u32 code = stable_code(format, width, static_cast<u32>(random_()));
        values_[4 * i + component] = meaning(format, width, code);
        for (unsigned bit = 0; bit < width; ++bit, ++at) memory_[at / 32] |= (code >> bit & 1) << at % 32;
      }
    }
  }
  std::unique_ptr<Loaded> loaded_;
  std::mt19937 random_{31};
  unsigned bytes_ = 0;
  std::vector<u32> memory_, values_;
};

TEST_P(Formats, ElementsAreReadAsTheDescriptorsFormatSays) {
  for (const Format& format : kFormats) {
    fill(format);
    std::vector<u32> out(kCount * 4);
    run("load", {loaded_->map(memory_, "memory"), kCount * 16, descriptor_word(GetParam(), format), bytes_,
                 loaded_->map(out, "out")});
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], values_[i]) << format.data << "_" << format.number << " component " << i % 4 << " of " << i / 4;
  }
}

TEST_P(Formats, ElementsAreWrittenAsTheDescriptorsFormatSays) {
  for (const Format& format : kFormats) {
    fill(format);
    std::vector<u32> memory(kCount * 4);
    run("store", {loaded_->map(memory, "memory"), kCount * 16, descriptor_word(GetParam(), format), bytes_,
                  loaded_->map(values_, "in")});
    EXPECT_EQ(memory, memory_) << format.data << "_" << format.number;
  }
}

TEST_P(Formats, HalvesOfRegistersHoldNarrowComponents) {
  for (const Format& format : {kFormats[4], kFormats[6]}) {
    fill(format);
    std::vector<u32> out(kCount * 2);
    run("load_half", {loaded_->map(memory_, "memory"), kCount * 16, descriptor_word(GetParam(), format), bytes_,
                      loaded_->map(out, "out")});
    for (u32 i = 0; i < kCount; ++i) {
      const unsigned first = i * bytes_ * 8;
      const auto code = [&](unsigned at, unsigned width) { return memory_[at / 32] >> at % 32 & ((1u << width) - 1); };
      if (is_integer(format)) {
        ASSERT_EQ(out[2 * i], (values_[4 * i] & 0xffff) | values_[4 * i + 1] << 16) << i;
        ASSERT_EQ(out[2 * i + 1], 0u) << i;
      } else {
        ASSERT_EQ(out[2 * i], code(first, 16) | code(first + 16, 16) << 16) << i;
        ASSERT_EQ(out[2 * i + 1], code(first + 32, 16)) << i;
      }
    }
  }
}

TEST_P(Formats, AnInstructionsFormatComesBeforeTheDescriptors) {
  fill(kFormats[0]);
  std::vector<u32> out(kCount * 2);
  run("typed", {loaded_->map(memory_, "memory"), kCount * 16, descriptor_word(GetParam(), kFormats[3]),
                loaded_->map(out, "out")});
  for (u32 i = 0; i < kCount; ++i) {
    ASSERT_EQ(out[2 * i], static_cast<u32>(static_cast<std::int16_t>(memory_[i]))) << i;
    ASSERT_EQ(out[2 * i + 1], static_cast<u32>(static_cast<std::int16_t>(memory_[i] >> 16))) << i;
  }
}

TEST_P(Formats, LoadsToLdsPutEachLanesWordBehindM0) {
  fill(kFormats[0]);
  std::vector<u32> out(64);
  run("to_lds",
      {loaded_->map(memory_, "memory"), kCount * 16, descriptor_word(GetParam(), kFormats[0]),
       loaded_->map(out, "out")},
      64);
  for (u32 i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], memory_[i + 1] & 0xff) << i;
}

INSTANTIATE_TEST_SUITE_P(Targets, Formats,
                         ::testing::Values(Machine{"gfx900.w64", 9}, Machine{"gfx1030.w32", 10},
                                           Machine{"gfx1100.w32", 11}),
                         [](const auto& test) { return test_name(test.param.object); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
