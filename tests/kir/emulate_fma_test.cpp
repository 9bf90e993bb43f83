#include "wavegate/kir/passes/emulate_fma.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "wavegate/kir/evaluate.h"

namespace wavegate::kir {
namespace {

using Operands = std::array<uint64_t, 3>;

/// A kernel of one fma. Its operands are values 0, 1 and 2 without a definition, which Machine sets.
Kernel fma_kernel(Type type) {
  Kernel kernel;
  kernel.interface.name = "one";
  Instruction fma{.op = Op::fma, .type = type};
  for (int i = 0; i < 3; ++i) fma.operands.push_back(kernel.new_value(type));
  fma.results = {kernel.new_value(type)};
  kernel.body.instructions = {fma, {.op = Op::return_}};
  return kernel;
}

/// Runs straight-line code of pure operations.
class Machine {
 public:
  explicit Machine(Kernel kernel) : kernel_(std::move(kernel)), values_(kernel_.value_types.size()) {}

  uint64_t run(const Operands& operands) {
    std::copy(operands.begin(), operands.end(), values_.begin());
    std::array<uint64_t, 3> bits{};
    for (const Instruction& instruction : kernel_.body.instructions) {
      if (instruction.op == Op::return_) break;
      uint64_t& result = values_[instruction.result().id];
      if (instruction.op == Op::constant) {
        result = instruction.bits;
        continue;
      }
      const size_t count = instruction.operands.size();
      for (size_t i = 0; i < count; ++i) bits[i] = values_[instruction.operands[i].id];
      const Type operand_type = kernel_.type_of(instruction.operands.back());
      result = evaluate(instruction.op, instruction.type, operand_type, std::span(bits).first(count));
    }
    return values_[3];
  }

 private:
  Kernel kernel_;
  std::vector<uint64_t> values_;
};

bool is_nan(Type type, uint64_t bits) {
  return evaluate(Op::is_nan, Type::boolean, type, {&bits, 1}) != 0;
}

struct Layout {
  uint32_t width;
  uint32_t mantissa;  ///< stored bits
  uint64_t ones() const { return ~uint64_t{0} >> (64 - width); }
  uint64_t sign() const { return uint64_t{1} << (width - 1); }
  uint64_t infinity() const { return ones() >> 1 >> mantissa << mantissa; }
  uint64_t largest_exponent() const { return infinity() >> mantissa; }
};

Layout layout(Type type) {
  if (type == Type::f16) return {16, 10};
  return type == Type::f32 ? Layout{32, 23} : Layout{64, 52};
}

/// Zeros, ones, powers of two, and the first and last of the denormals, the normals and the NaNs; with both signs.
std::vector<uint64_t> special_values(Type type) {
  const Layout l = layout(type);
  const uint64_t one = (l.largest_exponent() >> 1) << l.mantissa;
  const uint64_t smallest_normal = uint64_t{1} << l.mantissa;
  std::vector<uint64_t> values = {0,
                                  1,
                                  2,
                                  3,
                                  smallest_normal / 2,
                                  smallest_normal - 1,
                                  smallest_normal,
                                  smallest_normal + 1,
                                  one - 1,
                                  one,
                                  one + 1,
                                  one + smallest_normal,
                                  one + smallest_normal / 2,
                                  one - smallest_normal,
                                  one - (l.mantissa + 1) * smallest_normal,
                                  one + (l.mantissa + 1) * smallest_normal,
                                  l.infinity() / 2,
                                  l.infinity() - smallest_normal,
                                  l.infinity() - 1,
                                  l.infinity(),
                                  l.infinity() + 1,
                                  l.infinity() + smallest_normal / 2};
  const size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i) values.push_back(values[i] | l.sign());
  return values;
}

/// Operands that are hard in turns: any bits; a few set bits only; a sum that cancels; a term just at the other's
/// last place; a denormal or overflowing result.
class Generator {
 public:
  explicit Generator(Type type) : type_(type), layout_(layout(type)) {}

  Operands next() {
    Operands operands = {value(), value(), value()};
    switch (turn_++ % 6) {
      case 0: break;
      case 1: operands[2] = (product(operands) ^ layout_.sign()) + small(); break;
      case 2: operands[2] = with_exponent_near(product(operands), 2); break;
      case 3: operands[2] = with_exponent_near(product(operands), layout_.mantissa + 4); break;
      case 4: operands[2] = with_exponent_near(product(operands), 2 * layout_.mantissa + 6); break;
      default: tiny_product(operands); break;
    }
    for (uint64_t& bits : operands) bits &= layout_.ones();
    return operands;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  uint64_t small() { return below(5) - 2; }

  uint64_t mantissa() {
    const uint64_t mask = (uint64_t{1} << layout_.mantissa) - 1;
    switch (below(4)) {
      case 0: return random_() & mask;
      case 1: return (uint64_t{1} << below(layout_.mantissa)) & mask;
      case 2: return (0 - (uint64_t{1} << below(layout_.mantissa))) & mask;
      default: return ((uint64_t{1} << below(layout_.mantissa)) | small()) & mask;
    }
  }

  uint64_t sign() { return below(2) == 0 ? 0 : layout_.sign(); }
  uint64_t value() { return sign() | below(layout_.largest_exponent()) << layout_.mantissa | mantissa(); }

  uint64_t product(const Operands& operands) { return evaluate(Op::mul_f, type_, type_, std::span(operands).first(2)); }

  uint64_t with_exponent_near(uint64_t bits, uint64_t range) {
    const uint64_t exponent = (bits >> layout_.mantissa & layout_.largest_exponent()) + below(2 * range + 1) - range;
    const uint64_t clamped = std::min(exponent, layout_.largest_exponent() - 1);  // a negative one wraps to the top
    return sign() | clamped << layout_.mantissa | mantissa();
  }

  /// Products around the smallest denormals, with an addend there too.
  void tiny_product(Operands& operands) {
    const uint64_t bias = layout_.largest_exponent() / 2;
    const uint64_t first = 1 + below(bias);
    const uint64_t second = bias - first + below(6) - layout_.mantissa / (1 + below(4));
    const uint64_t clamped = std::min(second, layout_.largest_exponent() - 1);
    operands[0] = sign() | first << layout_.mantissa | mantissa();
    operands[1] = sign() | clamped << layout_.mantissa | mantissa();
    operands[2] = sign() | below(3) << layout_.mantissa | mantissa();
  }

  Type type_;
  Layout layout_;
  uint64_t turn_ = 0;
  std::mt19937_64 random_{20240229};
};

struct Case {
  const char* name;
  Type type;
  FmaSupport support;
};

class EmulateFma : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    Kernel kernel = fma_kernel(GetParam().type);
    const Result<PassStats> stats = emulate_fma(kernel, GetParam().support);
    ASSERT_TRUE(stats.ok()) << stats.error().to_string();
    ASSERT_EQ(stats->changed, 1u);
    machine_.emplace(std::move(kernel));
  }

  /// False, with a failure, if the bits differ from those of a fused operation.
  bool agrees(const Operands& operands) {
    const Type type = GetParam().type;
    const uint64_t expected = evaluate(Op::fma, type, type, operands);
    const uint64_t actual = machine_->run(operands);
    if (actual == expected || (is_nan(type, actual) && is_nan(type, expected))) return true;
    ADD_FAILURE() << std::hex << "fma(" << operands[0] << ", " << operands[1] << ", " << operands[2] << ") is "
                  << expected << ", not " << actual;
    return false;
  }

  std::optional<Machine> machine_;
};

TEST_P(EmulateFma, HasTheBitsOfOneRoundingForAllSpecialValues) {
  const std::vector<uint64_t> values = special_values(GetParam().type);
  for (const uint64_t a : values)
    for (const uint64_t b : values)
      for (const uint64_t c : values)
        if (!agrees({a, b, c})) return;
}

TEST_P(EmulateFma, HasTheBitsOfOneRoundingForHardOperands) {
  Generator generator(GetParam().type);
  for (int i = 0; i < 120'000; ++i)
    if (!agrees(generator.next())) return;
}

INSTANTIATE_TEST_SUITE_P(AllForms, EmulateFma,
                         testing::Values(Case{"F32ThroughF64", Type::f32, {.has_f64 = true, .has_i64 = true}},
                                         Case{"F32InIntegers", Type::f32, {}},
                                         Case{"F64InIntegers", Type::f64, {.has_f64 = true, .has_i64 = true}},
                                         Case{"F16ThroughF32", Type::f16, {.fused_f32 = true, .fused_f64 = true}}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(EmulateFmaPass, LeavesWhatTheDeviceFuses) {
  Kernel kernel = fma_kernel(Type::f32);
  const Result<PassStats> stats = emulate_fma(kernel, {.fused_f32 = true});
  ASSERT_TRUE(stats.ok());
  EXPECT_FALSE(stats->any());
  EXPECT_EQ(kernel.body.instructions.size(), 2u);
}

TEST(EmulateFmaPass, TakesF32InIntegersWhereF64HasNoI64) {
  Kernel kernel = fma_kernel(Type::f32);
  ASSERT_TRUE(emulate_fma(kernel, {.has_f64 = true}).ok());
  EXPECT_THAT(kernel.value_types, testing::Each(testing::AnyOf(Type::f32, Type::i32, Type::boolean)));
}

TEST(EmulateFmaPass, RefusesF64WithoutI64AndLeavesTheKernelAsItWas) {
  Kernel kernel = fma_kernel(Type::f64);
  const Result<PassStats> stats = emulate_fma(kernel, {.has_f64 = true});
  ASSERT_FALSE(stats.ok());
  EXPECT_EQ(stats.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(stats.error().message, testing::HasSubstr("kernel \"one\""));
  ASSERT_EQ(kernel.body.instructions.size(), 2u);
  EXPECT_EQ(kernel.body.instructions[0].op, Op::fma);
}

TEST(EmulateFmaPass, ReplacesInEveryBlockAndSharesConstants) {
  Kernel kernel = fma_kernel(Type::f32);
  Instruction fma = kernel.body.instructions[0];
  fma.results = {kernel.new_value(Type::f32)};
  Instruction loop{.op = Op::loop};
  loop.blocks.push_back({{}, {fma, {.op = Op::break_}}});
  kernel.body.instructions.insert(kernel.body.instructions.begin() + 1, loop);
  const Result<PassStats> stats = emulate_fma(kernel, {});
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->changed, 2u);
  walk(kernel.body.instructions[kernel.body.instructions.size() - 2].blocks[0], [](const Instruction& instruction) {
    EXPECT_NE(instruction.op, Op::fma);
    EXPECT_NE(instruction.op, Op::constant);
  });
}

}  // namespace
}  // namespace wavegate::kir
