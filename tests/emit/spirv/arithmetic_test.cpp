#include "wavegate/emit/spirv/arithmetic.h"

#include "emit/spirv/support.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Op;
using kir::Type;
using testing::HasSubstr;
using testing::Not;

/// A kernel that stores one expression of the parameter `p`.
std::string text_of(Type type, const std::function<Expr(Builder&, Expr)>& expression,
                    const target::Profile& profile = full_profile()) {
  Builder b("k", {1});
  auto p = b.parameter("p", type);
  const Expr value = expression(b, p);
  auto out = b.buffer("out", value.type(), Access::write);
  out[0u] = value;
  return emit_text(b, profile);
}

TEST(Arithmetic, a_division_by_an_unknown_is_guarded) {
  const std::string text = text_of(Type::i32, [](Builder& b, Expr p) { return b.apply(Op::div_u, {b.u32(9), p}); });
  EXPECT_THAT(text, HasSubstr("OpSelect"));
}

TEST(Arithmetic, a_division_by_a_harmless_constant_is_not_guarded) {
  for (Op op : {Op::div_u, Op::div_s, Op::rem_u, Op::rem_s}) {
    const std::string text = text_of(Type::i32, [&](Builder& b, Expr p) { return b.apply(op, {p, b.u32(10)}); });
    EXPECT_THAT(text, Not(HasSubstr("OpSelect"))) << kir::info(op).name;
  }
}

TEST(Arithmetic, a_signed_division_by_minus_one_is_guarded) {
  const std::string text = text_of(Type::i32, [](Builder& b, Expr p) {
    return b.apply(Op::div_s, {p, b.u32(0xffffffff)});
  });
  EXPECT_THAT(text, HasSubstr("OpSelect"));
}

TEST(Arithmetic, a_signed_remainder_never_uses_OpSRem) {
  const std::string text = text_of(Type::i32, [](Builder& b, Expr p) { return b.apply(Op::rem_s, {p, p}); });
  EXPECT_THAT(text, Not(HasSubstr("OpSRem")));
}

TEST(Arithmetic, a_shift_by_an_unknown_is_masked) {
  const std::string text = text_of(Type::i32, [](Builder& b, Expr p) {
    return b.apply(Op::shift_left, {b.u32(1), p});
  });
  EXPECT_THAT(text, HasSubstr("OpBitwiseAnd"));
}

TEST(Arithmetic, a_shift_by_a_constant_is_masked_beforehand) {
  const std::string text = text_of(Type::i32, [](Builder& b, Expr p) {
    return b.apply(Op::shift_left, {p, b.u32(35)});
  });
  EXPECT_THAT(text, Not(HasSubstr("OpBitwiseAnd")));
  EXPECT_THAT(text, HasSubstr(" 3\n"));
}

TEST(Arithmetic, float_operations_are_not_to_be_contracted) {
  const std::string text = text_of(Type::f32, [](Builder&, Expr p) { return p * p + p; });
  EXPECT_EQ(count(text, "NoContraction"), 2u);
}

TEST(Arithmetic, a_float_zero_is_hidden_from_folding) {
  for (uint64_t bits : {uint64_t{0}, uint64_t{0x80000000}}) {
    const std::string text = text_of(Type::f32, [&](Builder& b, Expr p) { return p * b.constant(Type::f32, bits); });
    EXPECT_THAT(text, HasSubstr("NumWorkgroups")) << bits;
  }
}

TEST(Arithmetic, the_bits_of_a_zero_taken_as_a_float_are_hidden_too) {
  const std::string text = text_of(Type::f32, [](Builder& b, Expr p) { return p * b.bitcast(Type::f32, b.u32(0)); });
  EXPECT_THAT(text, HasSubstr("NumWorkgroups"));
}

TEST(Arithmetic, other_constants_are_plain) {
  const std::string text = text_of(Type::f32, [](Builder& b, Expr p) { return p * b.f32(2); });
  EXPECT_THAT(text, Not(HasSubstr("NumWorkgroups")));
}

TEST(Arithmetic, a_minimum_with_a_constant_other_than_zero_needs_no_care_of_zeros) {
  const std::string text = text_of(Type::f32, [](Builder& b, Expr p) { return b.apply(Op::min_f, {p, b.f32(2)}); });
  EXPECT_THAT(text, Not(HasSubstr("OpSelect")));
}

TEST(Arithmetic, a_minimum_with_zero_tells_the_zeros_apart) {
  const std::string text = text_of(Type::f32, [](Builder& b, Expr p) { return b.apply(Op::min_f, {p, b.f32(0)}); });
  EXPECT_THAT(text, HasSubstr("OpSelect"));
}

TEST(Arithmetic, minima_of_f16_and_f64_need_no_integers_of_their_width) {
  target::Profile profile = full_profile();
  profile.features.int16 = profile.features.int64 = false;
  for (Type type : {Type::f16, Type::f64}) {
    const std::string text = text_of(
        type,
        [](Builder& b, Expr p) {
          return b.apply(Op::min_f, {p, b.apply(Op::neg_f, {p})});
        },
        profile);
    EXPECT_THAT(text, Not(HasSubstr("OpCapability Int"))) << kir::to_string(type);
  }
}

TEST(Arithmetic, bits_are_counted_in_32_bits_whatever_the_width) {
  for (Type type : {Type::i8, Type::i16, Type::i64}) {
    const std::string text = text_of(type, [](Builder& b, Expr p) { return b.apply(Op::count_bits, {p}); });
    EXPECT_THAT(text, HasSubstr("OpBitCount")) << kir::to_string(type);
  }
}

TEST(Arithmetic, booleans_have_logical_operations) {
  const std::string text = text_of(Type::i32, [](Builder& b, Expr p) {
    const Expr small = p < 3;
    return b.select(small & !(p == 1), b.u32(1), b.u32(2));
  });
  EXPECT_THAT(text, HasSubstr("OpLogicalAnd"));
  EXPECT_THAT(text, HasSubstr("OpLogicalNot"));
}

}  // namespace
}  // namespace wavegate::emit::spirv
