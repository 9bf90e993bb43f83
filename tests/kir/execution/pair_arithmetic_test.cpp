#include "wavegate/kir/passes/pair_arithmetic.h"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "kir/execution/random_kernel.h"
#include "wavegate/device/reference/interpreter.h"
#include "wavegate/kir/passes/simplify.h"
#include "wavegate/kir/passes/split_i64.h"
#include "wavegate/kir/text.h"
#include "wavegate/kir/type_rules.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

using device::reference::BoundRange;
using device::reference::Storage;

constexpr uint32_t kWorkgroup = 8;

Storage storage_of(const std::vector<uint64_t>& numbers) {
  Storage storage{std::vector<std::byte>(numbers.size() * 8), std::vector<uint8_t>(numbers.size() * 8, 1)};
  std::memcpy(storage.bytes.data(), numbers.data(), storage.bytes.size());
  return storage;
}

/// Numbers about which carries, signs and rounding turn.
std::vector<uint64_t> integers(uint32_t seed) {
  std::vector<uint64_t> numbers;
  for (uint64_t base : {uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 63, uint64_t{0xffffff},
                        uint64_t{0x100000001}, uint64_t{0x8000008000000000}})
    for (int64_t off = -2; off <= 2; ++off) numbers.push_back(base + static_cast<uint64_t>(off));
  Random random(seed);
  for (int i = 0; i < 85; ++i) {
    const uint64_t bits = uint64_t{random.next()} << 32 | random.next();
    numbers.push_back(bits >> random.below(64));
  }
  numbers.resize(120);
  return numbers;
}

/// Bits of f32, one in each element's low word.
std::vector<uint64_t> floats(uint32_t seed) {
  std::vector<uint64_t> numbers;
  for (const float value : {0.0f, -0.0f, 0.99f, -0.99f, 1.0f, -1.5f, 4294967296.0f, 4294967040.0f, 0x1p63f, -0x1p63f,
                            0x1.fffffep62f, 0x1p64f, 0x1.fffffep63f, -0x1p64f, 3e38f, 1e-40f})
    numbers.push_back(std::bit_cast<uint32_t>(value));
  for (const uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u}) numbers.push_back(bits);
  Random random(seed);
  while (numbers.size() < 120) {
    const uint32_t exponent = 120 + random.below(75);
    numbers.push_back((random.next() & 0x807fffff) | exponent << 23);
  }
  return numbers;
}

/// out[i] = the operation of a[i] and b[i], as bits: of i64 in two words, of others in the low one.
Kernel operation_kernel(Op op, Type type, Type from) {
  Builder b("one", {kWorkgroup});
  auto x = b.buffer("x", from == Type::i64 ? Type::i64 : Type::i32, Access::read);
  auto y = b.buffer("y", Type::i64, Access::read);
  auto out = b.buffer("out", type == Type::i64 ? Type::i64 : Type::i32, Access::read_write);
  const Expr i = b.global_id();
  const auto place = [&](Type t) { return t == Type::i64 ? i : i * 2; };
  const auto loaded = [&](bool first) -> Expr {
    if (from == Type::i64) return first ? x[i] : y[i];
    const Expr bits = x[place(from)];
    if (from == Type::f32) return b.bitcast(Type::f32, bits);
    if (from == Type::f16) return b.convert(Op::convert_f, Type::f16, b.bitcast(Type::f32, bits));
    return from == Type::i32 ? bits : b.convert(Op::truncate, from, bits);
  };
  Instruction instruction{.op = op, .type = type};
  const OpInfo& row = info(op);
  for (int k = 0; k < row.operand_count; ++k)
    instruction.operands.push_back(
        (row.operands[k] == Shape::boolean ? (loaded(true) & 1) == 0 : loaded(k == row.operand_count - 2 || k == 0))
            .value());
  Expr result = b.append_value(instruction, type);
  if (type == Type::boolean) result = b.select(result, b.u32(1), b.u32(0));
  if (type == Type::f16) result = b.convert(Op::convert_f, Type::f32, result);
  if (is_float(type)) result = b.bitcast(Type::i32, result);
  if (type == Type::i8 || type == Type::i16) result = b.convert(Op::extend_u, Type::i32, result);
  out[place(type)] = result;
  Result<Kernel> kernel = b.finish();
  EXPECT_TRUE(kernel.ok()) << info(op).name << ": " << (kernel.ok() ? std::string() : kernel.error().to_string());
  return kernel.ok() ? *std::move(kernel) : Kernel{};
}

std::vector<std::byte> run(const Kernel& kernel, const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
  Storage a = storage_of(x), b = storage_of(y), out = storage_of(std::vector<uint64_t>(x.size()));
  std::vector<BoundRange> ranges;
  for (Storage* storage : {&a, &b, &out}) ranges.push_back({storage, 0, storage->bytes.size()});
  const auto groups = static_cast<uint32_t>(x.size() / kWorkgroup);
  const Result<void> ran = device::reference::interpret(
      kernel, {.bindings = ranges, .words = {}, .grid = {groups, 1, 1}, .subgroup_size = 4, .max_steps = 100'000'000});
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? std::string() : ran.error().to_string()) << print(kernel);
  return out.bytes;
}

void expect_same(Op op, Type type, Type from, const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
  const Kernel whole = operation_kernel(op, type, from);
  Kernel split = whole;
  ASSERT_TRUE(split_i64(split).ok());
  const Result<void> verified = verify(split);
  ASSERT_TRUE(verified.ok()) << verified.error().to_string() << print(split);
  EXPECT_FALSE(has_i64(split));
  const auto expected = run(whole, x, y);
  const auto found = run(split, x, y);
  ASSERT_TRUE(simplify(split).ok());
  EXPECT_EQ(run(split, x, y), found);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::memcmp(expected.data() + 8 * i, found.data() + 8 * i, 8), 0)
        << info(op).name << " of " << std::hex << x[i] << ", " << y[i] << ": "
        << *reinterpret_cast<const uint64_t*>(found.data() + 8 * i) << ", not "
        << *reinterpret_cast<const uint64_t*>(expected.data() + 8 * i);
}

class EveryPairOperation : public testing::TestWithParam<int> {};

TEST_P(EveryPairOperation, GivesTheBitsOfI64) {
  const Op op = static_cast<Op>(GetParam());
  const OpInfo& row = info(op);
  for (const Type type : {Type::boolean, Type::i8, Type::i16, Type::i32, Type::i64, Type::f16, Type::f32})
    for (const Type from : {Type::i8, Type::i32, Type::i64, Type::f16, Type::f32}) {
      if (type != Type::i64 && from != Type::i64) continue;
      std::vector<Type> operands;
      for (int k = 0; k < row.operand_count; ++k)
        operands.push_back(row.operands[k] == Shape::boolean ? Type::boolean
                           : row.operands[k] == Shape::same  ? type
                           : row.operands[k] == Shape::i32   ? Type::i32
                                                             : from);
      if (operands.empty() || operands.back() != from || type_mismatch(op, type, operands)) continue;
      for (uint32_t seed = 1; seed <= 4; ++seed) {
        std::vector<uint64_t> x = is_float(from) ? floats(seed) : integers(seed);
        std::vector<uint64_t> y = integers(seed + 10);
        if (seed % 2 == 0) std::swap(x[3], y[3]);
        std::rotate(y.begin(), y.begin() + 7 * seed, y.end());
        expect_same(op, type, from, x, y);
        if (HasFatalFailure()) return;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryPairOperation,
                         testing::Range(static_cast<int>(Op::select), static_cast<int>(Op::convert_f)),
                         [](const auto& test) { return std::string(kir::info(static_cast<Op>(test.param)).name); });

TEST(PairArithmetic, ReducesOverASubgroup) {
  for (const Op op : {Op::subgroup_add, Op::subgroup_exclusive_add, Op::subgroup_min_u, Op::subgroup_max_u,
                      Op::subgroup_broadcast_first, Op::assume_uniform}) {
    if (op == Op::assume_uniform) {
      const std::vector<uint64_t> same(16, 0x123456789abcdef0);
      const auto kernel = [&] {
        Builder b("claim", {kWorkgroup});
        auto x = b.buffer("x", Type::i64, Access::read);
        b.buffer("y", Type::i64, Access::read);
        auto out = b.buffer("out", Type::i64, Access::read_write);
        out[b.global_id()] = b.assume_uniform(x[b.global_id()], Scope::workgroup) + 1;
        return b.finish().value();
      }();
      Kernel split = kernel;
      ASSERT_TRUE(split_i64(split).ok());
      EXPECT_EQ(run(split, same, same), run(kernel, same, same));
    } else {
      expect_same(op, Type::i64, Type::i64, integers(5), integers(6));
    }
  }
}

TEST(PairArithmetic, MovesBetweenLanes) {
  for (const Op op : {Op::subgroup_shuffle, Op::subgroup_shuffle_xor}) {
    Builder b("move", {kWorkgroup});
    auto x = b.buffer("x", Type::i64, Access::read);
    b.buffer("y", Type::i64, Access::read);
    auto out = b.buffer("out", Type::i64, Access::read_write);
    out[b.global_id()] = b.apply(op, {Expr(x[b.global_id()]), b.global_id() & 3});
    const Kernel whole = b.finish().value();
    Kernel split = whole;
    ASSERT_TRUE(split_i64(split).ok());
    EXPECT_EQ(run(split, integers(7), integers(8)), run(whole, integers(7), integers(8)));
  }
}

}  // namespace
}  // namespace wavegate::kir
