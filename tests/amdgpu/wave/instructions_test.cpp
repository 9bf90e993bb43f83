#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "amdgpu/wave/matrix_testing.h"
#include "amdgpu/wave/wave_testing.h"

/// Instructions that compilers rarely make, each against what a table beside it says in C++.
namespace wavegate::amdgpu::wave::testing {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

struct Machine {
  const char* object;
  bool fnuz;  ///< floats of 8 bits have one zero and no infinities
};

float real(u32 word) {
  return std::bit_cast<float>(word);
}
u32 word(float value) {
  return std::isnan(value) ? 0x7fc00000u : std::bit_cast<u32>(value);
}
u32 bounded(u64 value) {
  return static_cast<u32>(std::min<u64>(value, 0xffffffff));
}
u32 bounded_signed(i64 value) {
  return static_cast<u32>(std::clamp<i64>(value, -0x80000000ll, 0x7fffffff));
}
i32 half(u32 value) {
  return static_cast<std::int16_t>(value);
}
u32 distance(u32 a, u32 b) {
  return a > b ? a - b : b - a;
}
u32 byte_differences(u32 a, u32 b, bool masked) {
  u32 sum = 0;
  for (; b != 0 || a != 0; a >>= 8, b >>= 8)
    if (!masked || (b & 255) != 0) sum += distance(a & 255, b & 255);
  return sum;
}
u64 four_sums(u64 a, u32 b, u64 c, bool masked) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 sum = byte_differences(static_cast<u32>(a >> 8 * i), b, masked) + static_cast<std::uint16_t>(c >> 16 * i);
    result |= u64{sum & 65535u} << 16 * i;
  }
  return result;
}
/// Face, its axis's value, and the two coordinates on it.
std::array<float, 4> cube(u32 a, u32 b, u32 c) {
  const float x = real(a), y = real(b), z = real(c);
  if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y)) return {z < 0 ? 5.f : 4.f, z, z < 0 ? -x : x, -y};
  if (std::fabs(y) >= std::fabs(x)) return {y < 0 ? 3.f : 2.f, y, x, y < 0 ? -z : z};
  return {x < 0 ? 1.f : 0.f, x, x < 0 ? z : -z, -y};
}
u32 whole_byte(float value) {
  return value > 0 ? static_cast<u32>(std::min(value, 255.0f)) : 0;
}
u32 with_byte(u32 value, u32 index, u32 byte) {
  return (value & ~(255u << 8 * index)) | byte << 8 * index;
}
i64 dot(u32 a, u32 b, unsigned width, bool signed_a, bool signed_b) {
  const auto part = [&](u32 value, unsigned i, bool is_signed) {
    const i64 bits = value >> i * width & ((1u << width) - 1);
    return is_signed && bits >= 1 << (width - 1) ? bits - (1 << width) : bits;
  };
  i64 sum = 0;
  for (unsigned i = 0; i < 32 / width; ++i) sum += part(a, i, signed_a) * part(b, i, signed_b);
  return sum;
}
/// Numbers of a few digits near 1 from the low bits that the kernel's input has: sums of products are exact.
float small_half(u32 bits) {
  return static_cast<float>(decode(Format::f16, bits & 0xffff));
}
float bfloat(u32 bits) {
  return static_cast<float>(decode(Format::bf16, bits & 0xffff));
}
float small(u32 bits) {
  return real(bits);
}
float dot2(float a, float b, float x, float y, float c) {
  return static_cast<float>(static_cast<double>(a) * x + static_cast<double>(b) * y + c);
}

thread_local bool fnuz = false;

/// A byte as a float by what its bits say.
float small_float(Format format, u32 byte) {
  byte &= 255;
  const bool five = format == Format::bf8 || format == Format::bf8_fnuz;
  if (fnuz ? byte == 0x80 : five ? (byte & 0x7f) > 0x7c : (byte & 0x7f) == 0x7f) return NAN;
  if (!fnuz && five && (byte & 0x7f) == 0x7c) return byte == 0x7c ? INFINITY : -INFINITY;
  const double value = decode(format, byte);
  return value == 0 && (byte & 0x80) != 0 ? -0.0f : static_cast<float>(value);
}
float fp8(u32 byte) {
  return small_float(fnuz ? Format::fp8_fnuz : Format::fp8, byte);
}
float bf8(u32 byte) {
  return small_float(fnuz ? Format::bf8_fnuz : Format::bf8, byte);
}
float dot4(float (*of_a)(u32), u32 a, float (*of_b)(u32), u32 b, float c) {
  double sum = c;
  for (int i = 0; i < 32; i += 8) sum += static_cast<double>(of_a(a >> i)) * of_b(b >> i);
  return static_cast<float>(sum);
}
/// The nearest of all bytes; of two the even one.
u32 nearest_byte(float (*of_byte)(u32), float value) {
  u32 best = 0;
  for (u32 byte = 0; byte < 0x7c; ++byte) {
    const float old = std::fabs(of_byte(best) - std::fabs(value)), now = std::fabs(of_byte(byte) - std::fabs(value));
    if (now < old || (now == old && byte % 2 == 0)) best = byte;
  }
  return fnuz && best == 0 ? 0 : best | (std::signbit(value) ? 0x80u : 0u);
}
u32 nearest_fp8(float value) {
  return nearest_byte(fp8, value);
}
u32 nearest_bf8(float value) {
  return nearest_byte(bf8, value);
}
/// Of normal numbers: noise is added to the digits that go, and what remains of them is cut off.
u32 stochastic(u32 bits, u32 noise, unsigned digits) {
  const u32 dropped = 23 - digits;
  const u32 moved = (bits + (noise >> (32 - dropped))) & ~((1u << dropped) - 1);
  return nearest_byte(digits == 3 ? fp8 : bf8, real(moved));
}

enum class Kind : std::uint8_t { words, keeps_one, keeps, longs, pairs };
struct Row {
  const char* targets;
  Kind kind;
  const char* name;
  std::function<u64(u64, u32, u64)> expected;
};
const Row kRows[] = {
#define WORDS(targets, name, text, ...)                                                    \
  {#targets, Kind::words, #name,                                                           \
   []([[maybe_unused]] u64 a64, [[maybe_unused]] u32 b, [[maybe_unused]] u64 c64) -> u64 { \
     [[maybe_unused]] const u32 a = static_cast<u32>(a64), c = static_cast<u32>(c64);      \
     return __VA_ARGS__;                                                                   \
   }},
#define KEEPS(targets, both, name, text, ...)                                                  \
  {#targets, both ? Kind::keeps : Kind::keeps_one, #name, [](u64 a64, u32 b, u64 c64) -> u64 { \
     const u32 a = static_cast<u32>(a64), c = static_cast<u32>(c64);                           \
     return __VA_ARGS__;                                                                       \
   }},
#define LONGS(targets, name, text, ...) \
  {#targets, Kind::longs, #name, [](u64 a, u32 b, u64 c) -> u64 { return __VA_ARGS__; }},
#define PAIRS(targets, name, text, ...)                         \
  {#targets, Kind::pairs, #name, [](u64 a64, u32, u64) -> u64 { \
     const u32 a = static_cast<u32>(a64);                       \
     return __VA_ARGS__;                                        \
   }},
#include "amdgpu/wave/kernels/instructions.inc"
#undef WORDS
#undef KEEPS
#undef LONGS
#undef PAIRS
};

class Instructions : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    auto opened = Loaded::open_kernels("instructions", GetParam().object);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    loaded_ = std::move(*opened);
    fnuz = GetParam().fnuz;
  }
  void run(const char* name, std::initializer_list<u64> arguments) {
    const auto report = run_kernel(*loaded_, {name, {kCount, 1, 1}, {64, 1, 1}}, arguments);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    EXPECT_TRUE(report->findings.empty()) << name;
  }
  static constexpr u32 kCount = 256;
  std::unique_ptr<Loaded> loaded_;
};

/// Floats whose sums of products need few digits, as words and as halves of words.
u32 few_digits(std::string_view name, u32 bits, bool addend) {
  if (name.starts_with("dot2_f16_f16")) return (bits & 0x83008300u) | 0x3c003c00u;
  if (name.starts_with("dot2_bf16_bf16")) return (bits & 0x80408040u) | 0x3f803f80u;
  if (addend && (name.starts_with("dot2") || name.starts_with("dot4_f32"))) return (bits & 0x80f00000u) | 0x3f000000u;
  if (name.starts_with("dot4_f32")) return (bits & 0x87878787u) | 0x38383838u;
  if (name.starts_with("dot2_bf16")) return (bits & 0x80708070u) | 0x3f803f80u;
  return name.starts_with("dot2") ? (bits & 0x83c083c0u) | 0x3c003c00u : bits;
}

/// Two floats whose NaNs are one.
u64 canonical(u64 floats) {
  return u64{word(real(static_cast<u32>(floats >> 32)))} << 32 | word(real(static_cast<u32>(floats)));
}

TEST_P(Instructions, EachGivesWhatItsRowSays) {
  std::mt19937 random(23);
  for (const Row& row : kRows) {
    if (!loaded_->module->kernel(row.name).ok()) continue;
    const bool wide = row.kind == Kind::longs;
    std::vector<u32> a(kCount * 2), b(kCount), c(kCount * 2), out(kCount * 2);
    for (u32& bits : a) bits = few_digits(row.name, static_cast<u32>(random()), false);
    for (u32& bits : b) bits = few_digits(row.name, static_cast<u32>(random()), false);
    for (u32& bits : c) bits = few_digits(row.name, static_cast<u32>(random()), true);
    const auto near_one = [&](u32 bits) {
      return row.kind == Kind::keeps ? (bits & 0x87ffffff) | 0x38000000 : (bits & 0x81ffffff) | 0x3e000000;
    };
    if (row.kind == Kind::keeps || row.kind == Kind::keeps_one) std::ranges::transform(a, a.begin(), near_one);
    if (row.kind == Kind::keeps) std::ranges::transform(b, b.begin(), near_one);
    if (std::string_view(row.name).starts_with("cube") || std::string_view(row.name).starts_with("cvt_pk_u8"))
      for (std::size_t i = 0; i < a.size(); ++i)
        a[i] = (a[i] & 0x87ffffff) | 0x40000000,
        c[i] = std::string_view(row.name).starts_with("cube") ? (c[i] & 0x87ffffff) | 0x40000000 : c[i];
    const u64 x = loaded_->map(a, "a"), y = loaded_->map(b, "b"), z = loaded_->map(c, "c"),
              to = loaded_->map(out, "out");
    if (row.kind == Kind::pairs)
      run(row.name, {x, to});
    else
      run(row.name, {x, y, z, to});
    const auto value = [](const std::vector<u32>& from, std::size_t i, bool pair) {
      return pair ? from[2 * i] | u64{from[2 * i + 1]} << 32 : from[i];
    };
    for (u32 i = 0; i < kCount; ++i) {
      const u64 first = value(a, i, wide), third = value(c, i, wide);
      u64 result = value(out, i, wide || row.kind == Kind::pairs), expected = row.expected(first, b[i], third);
      const std::string_view name = row.name;
      if (name == "mad_u16_clamp" || name.starts_with("dot2_f16_f16") || name == "dot2_bf16_bf16")
        result &= 0xffff, expected &= 0xffff;
      if (row.kind == Kind::pairs) result = canonical(result), expected = canonical(expected);
      const bool nan = row.kind == Kind::words && std::isnan(real(static_cast<u32>(expected))) &&
                       std::isnan(real(static_cast<u32>(result)));
      ASSERT_TRUE(result == expected || nan) << row.name << " of " << std::hex << first << ", " << b[i] << ", " << third
                                             << " gives " << result << ", not " << expected;
    }
  }
}

TEST_P(Instructions, DigitsOfTwoOverPiBeginWhereTheSegmentAndTheArgumentsExponentSay) {
  std::vector<u32> out(kCount * 4);
  run("trig_preop", {loaded_->map(out, "out")});
  const auto number = [&](u32 i) { return std::bit_cast<double>(out[2 * i] | u64{out[2 * i + 1]} << 32); };
  // 2 / pi to 33 digits.
  const long double wanted = 0.63661977236758134307553505349005744L;
  EXPECT_EQ(number(0), 0x1.45f306dc9c882p-1);  // its first 53 bits, cut off
  EXPECT_LT(std::fabs(static_cast<double>(number(0) + static_cast<long double>(number(2)) - wanted)), 0x1p-63);
  for (u32 segment = 1; segment < 20; ++segment)
    EXPECT_LT(number(2 * segment), std::ldexp(1.0, -53 * static_cast<int>(segment)));
  // 2^100 has an exponent of 1123, 46 more than 1077: so many bits are left out.
  const long double rest = std::fmod(number(0), 0x1p-46) + static_cast<long double>(number(2)) - number(1);
  EXPECT_GE(rest, 0);
  EXPECT_LT(rest, 0x1p-98L);
  EXPECT_LT(number(1), 0x1p-46);
}

TEST_P(Instructions, FourSumsOfDifferencesOfWordsAreAddedToFourWords) {
  std::mt19937 random(29);
  std::vector<u32> a(kCount * 2), b(kCount), c(kCount * 4), out(kCount * 4);
  for (auto* all : {&a, &b, &c})
    for (u32& bits : *all) bits = static_cast<u32>(random()) & static_cast<u32>(random() % 2 != 0 ? ~0u : 0xff00ffffu);
  run("mqsad_u32", {loaded_->map(a, "a"), loaded_->map(b, "b"), loaded_->map(c, "c"), loaded_->map(out, "out")});
  for (u32 i = 0; i < kCount; ++i)
    for (u32 j = 0; j < 4; ++j) {
      const u64 bytes = a[2 * i] | u64{a[2 * i + 1]} << 32;
      ASSERT_EQ(out[4 * i + j], byte_differences(static_cast<u32>(bytes >> 8 * j), b[i], true) + c[4 * i + j]) << i;
    }
}

TEST_P(Instructions, SwizzlesRotateAndReorderLanesAsAnFftWantsThem) {
  std::vector<u32> out(kCount * 8);
  run("swizzle", {loaded_->map(out, "out")});
  for (u32 i = 0; i < kCount; ++i) {
    const u32 first = i & ~31u, lane = i & 31;
    EXPECT_EQ(out[8 * i], first + (lane + 3) % 32) << i;
    EXPECT_EQ(out[8 * i + 1], first + lane / 8 * 8 + (lane % 8 + 3) % 8) << i;
    const u32 reversed = (lane & 1) * 16 + (lane & 2) * 4 + (lane & 4) + (lane & 8) / 4 + lane / 16;
    EXPECT_EQ(out[8 * i + 2], first + reversed) << i;
    EXPECT_EQ(out[8 * i + 3], first + (reversed / 2 | (lane & 16))) << i;
    EXPECT_EQ(out[8 * i + 4], i) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Instructions,
                         ::testing::Values(Machine{"gfx942.w64", true}, Machine{"gfx1030.w32", false},
                                           Machine{"gfx1100.w32", false}, Machine{"gfx1200.w32", false}),
                         [](const auto& test) { return test_name(test.param.object); });

}  // namespace
}  // namespace wavegate::amdgpu::wave::testing
