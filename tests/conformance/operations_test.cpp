#include <cmath>
#include <random>

#include "conformance/open_anew.h"
#include "conformance/suite.h"

namespace wavegate::conformance {
namespace {

using kir::Type;
using program::Buffer;
using program::CsrMatrix;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarType;

std::vector<float> random_vector(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(generator);
  return values;
}

class Operations : public ConformanceTest {
 protected:
  /// The same bits; where a product is not rounded before it is added, which WGSL allows, as close as `bound`.
  void expect_same(const std::vector<float>& found, const std::vector<float>& expected, float bound) const {
    if (device()->profile().floats.contracts_f32)
      EXPECT_THAT(found, testing::Pointwise(testing::FloatNear(bound), expected));
    else
      EXPECT_EQ(found, expected);
  }
};

TEST_P(Operations, MaddMultipliesAndAddsWithTwoRoundings) {
  for (const uint32_t count : {1u, 255u, 256u, 70001u}) {
    const auto x = random_vector(count, 1), y = random_vector(count, 2);
    Program program("madd");
    const Buffer x_buffer = program.buffer("x", Type::f32, count, Initial::copy_of(x));
    const Buffer y_buffer = program.buffer("y", Type::f32, count, Initial::copy_of(y));
    const Buffer z_buffer = program.buffer("z", Type::f32, count);
    const Scalar a = program.scalar_f32("a", 1.1f);
    ops::madd(program, a, x_buffer, y_buffer, z_buffer);
    ops::madd(program, literal(0.3f), z_buffer, x_buffer, z_buffer);
    Executable executable = compiled(program);
    succeed(executable.run());
    std::vector<float> expected(count);
    for (size_t i = 0; i < count; ++i) {
      const float product = 1.1f * x[i];
      const float z = product + y[i];
      const float second = 0.3f * z;
      expected[i] = second + x[i];
    }
    expect_same(value_of(executable.read<float>(z_buffer)), expected, 1e-6f);
  }
}

TEST_P(Operations, DotGivesTheReferenceBytesAndIsCloseToTheSumInDouble) {
  for (const uint32_t count : {1u, 100u, 4096u, 4097u, 300000u}) {
    const auto x = random_vector(count, 3), y = random_vector(count, 4);
    Program program("dot");
    const Buffer x_buffer = program.buffer("x", Type::f32, count, Initial::copy_of(x));
    const Buffer y_buffer = program.buffer("y", Type::f32, count, Initial::copy_of(y));
    const Scalar result = program.scalar("result", ScalarType::float32);
    ops::dot(program, x_buffer, y_buffer, result);
    Executable executable = compiled(program);
    Executable oracle = compiled(program, reference());
    succeed(executable.run());
    succeed(oracle.run());
    double exact = 0, magnitude = 0;
    for (size_t i = 0; i < count; ++i) {
      exact += double{x[i]} * double{y[i]};
      magnitude += std::abs(double{x[i]} * double{y[i]});
    }
    EXPECT_EQ(value_of(executable.read_bits(result)), value_of(oracle.read_bits(result))) << count;
    EXPECT_NEAR(value_of(executable.read_f32(result)), exact, 1e-6 * magnitude);
  }
}

/// A matrix with `per_row` random entries in each row; rows 0 and 5 are empty.
struct RandomMatrix {
  uint32_t rows, columns;
  std::vector<uint32_t> offsets{0}, indices;
  std::vector<float> values;

  RandomMatrix(uint32_t row_count, uint32_t column_count, uint32_t per_row) : rows(row_count), columns(column_count) {
    std::mt19937 generator(per_row);
    for (uint32_t row = 0; row < rows; ++row) {
      if (row != 0 && row != 5) {
        std::vector<uint32_t> chosen;
        for (uint32_t k = 0; k < per_row; ++k) chosen.push_back(static_cast<uint32_t>(generator() % columns));
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        for (const uint32_t column : chosen) {
          indices.push_back(column);
          values.push_back(static_cast<float>(generator() % 1000) / 256.0f - 1.5f);
        }
      }
      offsets.push_back(static_cast<uint32_t>(indices.size()));
    }
  }
};

TEST_P(Operations, SpmvGivesTheReferenceBytesForShortAndLongRows) {
  for (const uint32_t per_row : {3u, 100u}) {
    const RandomMatrix matrix(3001, 500, per_row);
    const auto x = random_vector(matrix.columns, 5);
    Program program("spmv");
    const CsrMatrix a =
        program.csr_matrix("A", matrix.rows, matrix.columns, matrix.offsets, matrix.indices, matrix.values);
    const Buffer x_buffer = program.buffer("x", Type::f32, matrix.columns, Initial::copy_of(x));
    const Buffer y_buffer = program.buffer("y", Type::f32, matrix.rows);
    ops::spmv(program, a, x_buffer, y_buffer);
    Executable executable = compiled(program);
    Executable oracle = compiled(program, reference());
    succeed(executable.run());
    succeed(oracle.run());
    const auto y = value_of(executable.read<float>(y_buffer));
    expect_same(y, value_of(oracle.read<float>(y_buffer)), 1e-4f);
    for (uint32_t row = 0; row < matrix.rows; ++row) {
      double exact = 0;
      for (uint32_t k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
        exact += double{matrix.values[k]} * double{x[matrix.indices[k]]};
      ASSERT_NEAR(y[row], exact, 1e-4) << "row " << row;
    }
  }
}

TEST_P(Operations, ResidualIsMadeOfOtherOperations) {
  const RandomMatrix matrix(300, 300, 4);
  const auto x = random_vector(300, 6), b = random_vector(300, 7);
  Program program("residual");
  const CsrMatrix a =
      program.csr_matrix("A", matrix.rows, matrix.columns, matrix.offsets, matrix.indices, matrix.values);
  const Buffer x_buffer = program.buffer("x", Type::f32, 300, Initial::copy_of(x));
  const Buffer b_buffer = program.buffer("b", Type::f32, 300, Initial::copy_of(b));
  const Buffer r_buffer = program.buffer("r", Type::f32, 300);
  ops::residual(program, a, x_buffer, b_buffer, r_buffer);
  Executable executable = compiled(program);
  succeed(executable.run());
  std::vector<float> expected;
  for (uint32_t row = 0; row < 300; ++row) {
    float product = 0;
    for (uint32_t k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const float term = matrix.values[k] * x[matrix.indices[k]];
      product += term;
    }
    expected.push_back(-product + b[row]);
  }
  expect_same(value_of(executable.read<float>(r_buffer)), expected, 1e-5f);
}

TEST_P(Operations, BuffersOfSmallElementsNeedNotFillWholeWords) {
  if (!device()->profile().features.int16) GTEST_SKIP() << "the device has no 16-bit integers";
  kir::Builder b("increment", {64});
  auto data = b.buffer("data", Type::i16, kir::Access::read_write);
  const auto i = b.global_id();
  b.if_(i < data.length(), [&] { data[i] = data[i] + 1; });
  Program program("small");
  const Buffer buffer = program.buffer("data", Type::i16, 3, Initial::copy_of(std::vector<uint16_t>{1, 2, 65535}));
  program.dispatch({"increment", source(b.finish()), {buffer}, {}, program::Grid{1, 1, 1}, {}});
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_THAT(value_of(executable.read<uint16_t>(buffer)), testing::ElementsAre(2, 3, 0));
}

// The program's error: the reference device names it, the others do no harm.
TEST_P(Operations, AnAccessOutsideAWorkgroupArrayDoesNoHarm) {
  kir::Builder b("outside", {64});
  auto data = b.buffer("data", Type::i32, kir::Access::read_write);
  auto array = b.workgroup_array("array", Type::i32, 4);
  data[b.global_id()] = array[b.global_id() * 0x1000000u];
  Program program("outside");
  const Buffer buffer = program.buffer("data", Type::i32, 64, Initial::zero());
  program.dispatch({"outside", source(b.finish()), {buffer}, {}, program::Grid{1, 1, 1}, {}});
  Executable executable = compiled(program);
  const Result<void> result = executable.run();
  EXPECT_EQ(result.ok(), GetParam() != "reference");
  if (!result.ok()) {
    EXPECT_THAT(result.error().message, testing::HasSubstr("array"));
  }
}

TEST_P(Operations, AnExecutableCanBeReplacedByOneOfAnotherDevice) {
  // The old one holds the last reference to its device.
  const auto made = [](const std::string& name) {
    Program program("moved");
    const Scalar n = program.scalar_u32("n", 1);
    program.assign(n, n + 1);
    return value_of(compile(program, value_of(open_anew(name))));
  };
  Executable executable = made(GetParam());
  executable = made(GetParam());
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.read_bits(Scalar{0})), 2u);
}

// A user's operation: its own kernel beside the library's, a temporary of its own, a number or a scalar as operand.
TEST_P(Operations, AUsersOperationIsExpandedLikeTheLibrarys) {
  using program::Operand;
  using program::OperandKind;
  const auto scaled_norm = program::make_operation(
      {"scaled_norm",
       {{"factor", OperandKind::number, Type::f32, kir::Access::read},
        {"x", OperandKind::buffer, Type::f32, kir::Access::read},
        {"result", OperandKind::scalar, Type::f32, kir::Access::write}},
       [](const Program&, std::span<const Operand>) { return Result<void>(); },
       [](Program& p, std::span<const Operand> operands, const target::Profile&) -> Result<void> {
         const Buffer x = std::get<Buffer>(operands[1]);
         const auto count = static_cast<uint32_t>(p.info(x).count);
         kir::Builder b("scale", {64});
         auto from = b.buffer("from", Type::f32, kir::Access::read);
         auto to = b.buffer("to", Type::f32, kir::Access::write);
         const auto factor = b.parameter("factor", Type::f32);
         const auto i = b.global_id();
         b.if_(i < to.length(), [&] { to[i] = factor * from[i]; });
         WAVEGATE_TRY(kir::Kernel kernel, b.finish());
         const Buffer scaled = p.temporary("scaled", Type::f32, count);
         program::Dispatch dispatch{"scale", program::make_kernel_source(std::move(kernel)), {x, scaled},
                                    {},      program::grid_for({count, 1, 1}, {64, 1, 1}),   {}};
         if (const auto* scalar = std::get_if<Scalar>(&operands[0]))
           dispatch.parameters.emplace_back(*scalar);
         else
           dispatch.parameters.emplace_back(std::get<program::Literal>(operands[0]));
         p.dispatch(std::move(dispatch));
         ops::dot(p, scaled, scaled, std::get<Scalar>(operands[2]));
         return {};
       }});
  Program program("user");
  const Buffer x = program.buffer("x", Type::f32, 1000, Initial::repeated(2.0f));
  const Scalar first = program.scalar("first", ScalarType::float32);
  const Scalar second = program.scalar("second", ScalarType::float32);
  const Scalar half = program.scalar_f32("half", 0.5f);
  program.call(scaled_norm, {literal(3.0f), x, first});
  program.call(scaled_norm, {half, x, second});
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.read_f32(first)), 36000.0f);
  EXPECT_EQ(value_of(executable.read_f32(second)), 1000.0f);
}

/// One driver's compiler gets the maximum of a maximum wrong, where an operand is negated: a random program found it.
TEST_P(Operations, ExtremaOfExtremaTakeNegatedSums) {
  for (const int32_t start : {-1, 3, 0}) {
    Program program("extrema");
    const Scalar a = program.scalar("a", ScalarType::sint32, static_cast<uint32_t>(start));
    const Scalar most = program.scalar("most", ScalarType::sint32, static_cast<uint32_t>(start));
    const Scalar least = program.scalar("least", ScalarType::sint32, static_cast<uint32_t>(start));
    const Scalar gain = program.parameter("gain", literal(-3));
    program.assign(a, -(most + most));
    program.assign(most, program::maximum(program::maximum(most, a), gain - 1));
    program.assign(least, program::minimum(program::minimum(least, a), gain + 4));
    Executable executable = compiled(program);
    succeed(executable.run());
    const int32_t negated = -2 * start;
    EXPECT_EQ(value_of(executable.read_bits(a)), static_cast<uint32_t>(negated));
    EXPECT_EQ(value_of(executable.read_bits(most)), static_cast<uint32_t>(std::max({start, negated, -4})));
    EXPECT_EQ(value_of(executable.read_bits(least)), static_cast<uint32_t>(std::min({start, negated, 1})));
  }
}

TEST_P(Operations, ScalarArithmeticMeansTheSameOnEveryDevice) {
  Program program("scalars");
  const Scalar u = program.scalar_u32("u", 7);
  const Scalar s = program.scalar("s", ScalarType::sint32, static_cast<uint32_t>(-3));
  const Scalar f = program.scalar_f32("f", 2.5f);
  std::vector<std::pair<Scalar, uint32_t>> expected;
  const auto expect = [&](ScalarType type, const program::ScalarExpr& value, uint32_t bits) {
    const Scalar result = program.scalar("r" + std::to_string(expected.size()), type);
    program.assign(result, value);
    expected.emplace_back(result, bits);
  };
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  expect(ScalarType::uint32, u + 1, 8);
  expect(ScalarType::uint32, u - 9, 0xFFFFFFFEu);
  expect(ScalarType::uint32, u / 2, 3);
  expect(ScalarType::uint32, u / 0, 7);
  expect(ScalarType::sint32, s * 4, static_cast<uint32_t>(-12));
  expect(ScalarType::sint32, s / 2, static_cast<uint32_t>(-1));
  expect(ScalarType::sint32, -program::ScalarExpr(s), 3);
  expect(ScalarType::float32, f * 2 + 0.5f, bits(5.5f));
  expect(ScalarType::float32, 1.0f / f, bits(0.4f));
  expect(ScalarType::float32, program::square_root(f * f), bits(2.5f));
  expect(ScalarType::uint32, u > 6, 1);
  expect(ScalarType::uint32, s < 0, 1);
  expect(ScalarType::uint32, program::equal(f, 2.5f), 1);
  expect(ScalarType::uint32, (u > 6) && !(f < 1.0f), 1);
  expect(ScalarType::uint32, (u < 6) || (s > 5), 0);
  expect(ScalarType::sint32, program::select(u > 6, s, 5), static_cast<uint32_t>(-3));
  expect(ScalarType::uint32, program::minimum(u, 3), 3);
  expect(ScalarType::sint32, program::maximum(s, -9), static_cast<uint32_t>(-3));
  expect(ScalarType::uint32, {program::ScalarOp::to_uint32, {f}}, 2);
  expect(ScalarType::sint32, {program::ScalarOp::to_sint32, {f * -1.0f}}, static_cast<uint32_t>(-2));
  expect(ScalarType::float32, {program::ScalarOp::to_float32, {s}}, bits(-3.0f));
  program.assign(u, u * u);  // a later assignment sees an earlier one
  expect(ScalarType::uint32, u + u, 98);
  Executable executable = compiled(program);
  succeed(executable.run());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(value_of(executable.read_bits(expected[i].first)), expected[i].second) << "expression " << i;
}

WAVEGATE_CONFORMANCE(Operations);

}  // namespace
}  // namespace wavegate::conformance
