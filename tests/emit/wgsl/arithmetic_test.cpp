#include "wavegate/emit/wgsl/arithmetic.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The module of a kernel that stores one value.
std::string module_of(Type type, const std::function<Expr(Builder&, Expr, Expr)>& value, Type of = Type::none) {
  return emit_text(value_of(built("kernel", [&](Builder& b) {
    const Type from = of == Type::none ? type : of;
    auto in = b.buffer("x", from, Access::read);
    auto out = b.buffer("y", type, Access::write);
    out[0u] = value(b, in[b.global_id()], in[1u]);
  })));
}

TEST(Arithmetic, IntegersAreUnsignedAndSignedWhereTheOperationIs) {
  EXPECT_THAT(module_of(Type::i32,
                        [](Builder& b, Expr x, Expr y) {
                          return b.apply(Op::min_s, {x, y});
                        }),
              testing::ContainsRegex(R"(= select\(v[0-9]+, v[0-9]+, i32\(v[0-9]+\) < i32\(v[0-9]+\)\);)"));
  EXPECT_THAT(module_of(Type::i32,
                        [](Builder& b, Expr x, Expr) {
                          return b.apply(Op::div_s, {x, b.u32(0xffffffff)});
                        }),
              HasSubstr("/ (-1i));"));
  EXPECT_THAT(module_of(Type::i32, [](Builder&, Expr x, Expr y) { return x / y; }), HasSubstr(" / v"));
}

TEST(Arithmetic, ShiftAmountsAreModuloTheWidth) {
  EXPECT_THAT(module_of(Type::i32, [](Builder&, Expr x, Expr y) { return x << y; }), HasSubstr(" & 31u);"));
  EXPECT_THAT(module_of(Type::i32, [](Builder&, Expr x, Expr) { return x >> 33; }), HasSubstr(" >> 1u;"));
}

TEST(Arithmetic, DivisionByALiteralZeroIsNotWritten) {
  const std::string quotient = module_of(Type::i32, [](Builder& b, Expr x, Expr) { return x / b.u32(0); });
  EXPECT_THAT(quotient, Not(testing::ContainsRegex("v[0-9]+ /")));
  const std::string remainder = module_of(Type::i32, [](Builder& b, Expr x, Expr) { return x % b.u32(0); });
  EXPECT_THAT(remainder, HasSubstr("y[0u] = 0u;"));
}

TEST(Arithmetic, LiteralsAloneAreNamedSoThatTheDeviceComputes) {
  EXPECT_THAT(module_of(Type::f32,
                        [](Builder& b, Expr, Expr) {
                          return b.f32(3e38f) * b.f32(10);  // infinite, which WGSL refuses of literals
                        }),
              testing::ContainsRegex("let v[0-9]+ = v[0-9]+_a \\* v[0-9]+_b;"));
}

TEST(Arithmetic, FloatsWithoutALiteralComeFromTheirBits) {
  const std::string text =
      module_of(Type::f32, [](Builder& b, Expr x, Expr) { return x + b.constant(Type::f32, 0x7fc00000); });
  EXPECT_THAT(text, HasSubstr("let zero_bits = select(0u, 1u, grid.x == 0u);"));
  EXPECT_THAT(text, HasSubstr("= bitcast<f32>(0x7fc00000u | zero_bits);"));
}

TEST(Arithmetic, AZeroThatAFloatOperationTakesIsUnknownToCompilers) {
  for (const Op op : {Op::add_f, Op::mul_f, Op::div_f})
    EXPECT_THAT(module_of(Type::f32,
                          [&](Builder& b, Expr x, Expr) {
                            return b.apply(op, {x, b.f32(0)});
                          }),
                HasSubstr(" bitcast<f32>(zero_bits);"))
        << kir::info(op).name;
  EXPECT_THAT(module_of(Type::f32, [](Builder& b, Expr, Expr) { return b.f32(0); }), Not(HasSubstr("zero_bits")));
}

TEST(Arithmetic, WhatWgslLeavesOpenIsAFunction) {
  const std::string least = module_of(Type::f32, [](Builder& b, Expr x, Expr y) { return b.apply(Op::min_f, {x, y}); });
  EXPECT_THAT(least, HasSubstr("fn min_f(a: f32, b: f32) -> f32 {"));
  EXPECT_THAT(least, HasSubstr("fn is_nan("));
  EXPECT_THAT(least, Not(HasSubstr("fn max_f")));
  const std::string half = module_of(Type::f16, [](Builder& b, Expr x, Expr y) { return b.apply(Op::max_f, {x, y}); });
  EXPECT_THAT(half, HasSubstr("f16(max_f(f32("));
  EXPECT_THAT(
      module_of(
          Type::i32, [](Builder& b, Expr x, Expr) { return b.convert(Op::convert_f_to_s, Type::i32, x); }, Type::f32),
      HasSubstr("= f32_to_i32("));
  EXPECT_THAT(module_of(Type::i32,
                        [](Builder& b, Expr x, Expr y) {
                          return b.apply(Op::mul_high_s, {x, y});
                        }),
              HasSubstr("fn mul_high_u("));
}

TEST(Arithmetic, NotEqualIsTheNegationOfEqualSoThatItIsTrueOfNaN) {
  EXPECT_THAT(module_of(
                  Type::i32,
                  [](Builder& b, Expr x, Expr y) {
                    return b.select(b.apply(Op::not_equal_f, {x, y}), b.u32(1), b.u32(0));
                  },
                  Type::f32),
              testing::ContainsRegex("= !\\(v[0-9]+ == v[0-9]+\\);"));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
