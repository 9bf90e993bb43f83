#include "wavegate/device/reference/lane_ops.h"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/evaluate.h"

namespace wavegate::device::reference {
namespace {

using kir::Op;
using kir::Shape;
using kir::Type;

constexpr Type kTypes[] = {Type::boolean, Type::i8, Type::i16, Type::i32, Type::i64, Type::f16, Type::f32, Type::f64};

bool fits(Shape shape, Type type, Type same) {
  switch (shape) {
    case Shape::none: return false;
    case Shape::same: return type == same;
    case Shape::boolean: return type == Type::boolean;
    case Shape::i32: return type == Type::i32;
    case Shape::integer: return kir::is_integer(type);
    case Shape::real: return kir::is_float(type);
    case Shape::any: return true;
  }
  return false;
}

/// Are these a result and an operand type that the operation exists for?
bool exists(Op op, Type type, Type operand) {
  const kir::OpInfo& row = kir::info(op);
  if (!fits(row.type, type, type) || !fits(row.operands[row.operand_count - 1], operand, type)) return false;
  switch (op) {
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_: return !kir::is_float(type);
    case Op::equal:
    case Op::not_equal: return !kir::is_float(operand);
    case Op::bitcast: return kir::bit_width(type) == kir::bit_width(operand) && type != Type::boolean;
    case Op::extend_u:
    case Op::extend_s: return kir::bit_width(type) > kir::bit_width(operand);
    case Op::truncate: return kir::bit_width(type) < kir::bit_width(operand);
    default: return true;
  }
}

/// Values at the edges of integers and floats, then random ones.
std::vector<uint64_t> interesting_bits(Type type, size_t count, uint64_t seed) {
  const uint32_t width = kir::bit_width(type);
  const uint64_t mask = ~uint64_t{0} >> (64 - width);
  std::vector<uint64_t> bits = {0, 1, 2, mask, mask - 1, mask >> 1, (mask >> 1) + 1, width - 1, width, 0x7f, 0x80};
  constexpr uint64_t k32[] = {0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                              0x7fc00000, 0x7f800001, 0x80000000, 0x00800000};
  constexpr uint64_t k64[] = {0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                              0x7ff0000000000001, 0x8000000000000000, 0x0010000000000000, 0x41f0000000000000};
  constexpr uint64_t k16[] = {0x3c00, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x8000, 0x0400, 0x7bff};
  for (uint64_t special : width == 64 ? k64 : width == 16 ? k16 : k32) bits.push_back(special);
  std::mt19937_64 random(seed);
  while (bits.size() < count) bits.push_back(random());
  std::ranges::shuffle(bits, random);
  for (uint64_t& b : bits) b &= mask;
  return bits;
}

class LaneOps : public testing::TestWithParam<Op> {};

TEST_P(LaneOps, agree_with_evaluate_on_special_and_random_bits) {
  constexpr size_t kLanes = 400;
  const Op op = GetParam();
  const auto operand_count = static_cast<size_t>(kir::info(op).operand_count);
  for (Type type : kTypes) {
    for (Type operand : kTypes) {
      if (!exists(op, type, operand)) continue;
      const Type first = op == Op::select ? Type::boolean : operand;
      const auto a = interesting_bits(first, kLanes, 1);
      const auto b = interesting_bits(operand, kLanes, 2);
      const auto c = interesting_bits(operand, kLanes, 3);
      std::vector<uint64_t> result(kLanes, ~uint64_t{0});
      lane_function(op, type, operand)({result.data(), a.data(), operand_count > 1 ? b.data() : nullptr,
                                        operand_count > 2 ? c.data() : nullptr, kLanes, op, type, operand});
      for (size_t i = 0; i < kLanes; ++i) {
        const uint64_t operands[] = {a[i], b[i], c[i]};
        const uint64_t expected = kir::evaluate(op, type, operand, std::span(operands, operand_count));
        ASSERT_EQ(result[i], expected) << format("{} {} of {}: {:#x} {:#x} {:#x}", kir::info(op).name,
                                                 kir::to_string(type), kir::to_string(operand), a[i], b[i], c[i]);
      }
    }
  }
}

std::vector<Op> pure_operations() {
  std::vector<Op> ops;
  for (int i = 0; i < kir::kOpCount; ++i) {
    const auto op = static_cast<Op>(i);
    if (kir::info(op).effect == kir::Effect::pure && kir::info(op).operand_count > 0) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(all, LaneOps, testing::ValuesIn(pure_operations()),
                         [](const auto& tested) { return std::string(kir::info(tested.param).name); });

}  // namespace
}  // namespace wavegate::device::reference
