#include "wavegate/emit/wgsl/requirements.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::function<void(Builder&)>& body, const target::Profile& profile = full_profile(),
                       std::array<uint32_t, 3> workgroup = {1, 1, 1}) {
  Builder b("big", workgroup);
  body(b);
  const std::string message = refusal(b, profile);
  EXPECT_THAT(message, testing::StartsWith("kernel \"big\": "));
  return message;
}

std::string accepted(const std::function<void(Builder&)>& body, const target::Profile& profile) {
  Builder b("fits", {1, 1, 1});
  body(b);
  const std::string text = refusal(b, profile);
  EXPECT_THAT(text, testing::StartsWith("accepted:"));
  return text;
}

TEST(Requirements, TypesThatWgslLacksAreNamed) {
  for (const Type type : {Type::i8, Type::i16, Type::f64}) {
    const std::string needs = "needs " + std::string(kir::to_string(type)) + ", which WGSL does not have";
    EXPECT_THAT(refusal_of([&](Builder& b) { b.buffer("x", type, Access::read); }),
                HasSubstr("binding \"x\" " + needs));
    EXPECT_THAT(refusal_of([&](Builder& b) { b.parameter("p", type); }), HasSubstr("parameter \"p\" " + needs));
    EXPECT_THAT(refusal_of([&](Builder& b) { b.local_array("a", type, 4)[0u] = b.constant(type, 0); }),
                HasSubstr("memory \"a\" " + needs));
    EXPECT_THAT(refusal_of([&](Builder& b) {
                  auto out = b.buffer("out", Type::i32, Access::write);
                  const Expr value = b.convert(kir::is_float(type) ? Op::convert_u_to_f : Op::truncate, type, b.u32(1));
                  out[0u] = b.convert(kir::is_float(type) ? Op::convert_f_to_u : Op::extend_u, Type::i32, value);
                }),
                HasSubstr(needs));
  }
}

TEST(Requirements, FeaturesThatTheDeviceLacksAreNamed) {
  const target::Profile nothing = [] {
    target::Profile profile;
    profile.name = "plain";
    return profile;
  }();
  EXPECT_THAT(refusal_of([](Builder& b) { b.buffer("x", Type::f16, Access::read); }, nothing),
              HasSubstr("binding \"x\" needs f16, which \"plain\" does not offer"));
  EXPECT_THAT(refusal_of(
                  [](Builder& b) {
                    auto out = b.buffer("out", Type::i32, Access::write);
                    out[0u] = b.apply(Op::subgroup_add, {b.u32(1)});
                  },
                  nothing),
              HasSubstr("subgroup_add needs subgroup operations"));
  EXPECT_THAT(refusal_of(
                  [](Builder& b) {
                    auto out = b.buffer("out", Type::i32, Access::write);
                    out[0u] = b.builtin(kir::Builtin::subgroup_size);
                  },
                  nothing),
              HasSubstr("subgroup_size needs subgroup operations"));
}

TEST(Requirements, OperationsThatWgslLacksAreNamed) {
  EXPECT_THAT(refusal_of([](Builder& b) {
                auto x = b.buffer("x", Type::i32, Access::write);
                x[0u] = b.load_pointer(Type::i32, b.parameter("p", Type::i64));
              }),
              HasSubstr("load through a device pointer"));
  EXPECT_THAT(refusal_of([](Builder& b) {
                auto x = b.buffer("x", Type::i64, Access::read_write);
                b.atomic(Op::atomic_add, x, b.u32(0), b.constant(Type::i64, 1));
              }),
              HasSubstr("atomic_add of i64 has no WGSL form"));
  EXPECT_THAT(refusal_of([](Builder& b) {
                auto x = b.buffer("x", Type::i32, Access::read_write);
                b.atomic(Op::atomic_or, x, b.u32(0), b.u32(1), Scope::device, kir::Order::acquire);
              }),
              HasSubstr("atomic_or with order acquire has no WGSL form"));
  EXPECT_THAT(refusal_of([](Builder& b) { b.fence(Scope::device, kir::Order::release); }),
              HasSubstr("fence over a device has no WGSL form; end the dispatch there"));
}

TEST(Requirements, LimitsAreNamed) {
  target::Profile profile = full_profile();
  profile.limits.workgroup_size = {256, 256, 64};
  profile.limits.workgroup_invocations = 256;
  profile.limits.workgroup_memory = 16384;
  profile.limits.storage_buffers = 2;
  profile.limits.immediate_words = 2;
  const auto nothing = [](Builder&) {};
  EXPECT_THAT(refusal_of(nothing, profile, {1, 1, 65}), HasSubstr("exceeds the device's 64 in z"));
  EXPECT_THAT(refusal_of(nothing, profile, {32, 32, 1}), HasSubstr("1024 invocations exceeds the device's 256"));
  EXPECT_THAT(refusal_of([](Builder& b) { b.workgroup_array("tile", Type::i32, 5000); }, profile),
              HasSubstr("20000 bytes of workgroup memory exceed the device's 16384"));
  // A claim before a barrier is a load of a word of its own.
  const auto claims = [](uint32_t words, bool is_followed) {
    return [=](Builder& b) {
      auto x = b.buffer("x", Type::i32, Access::read_write);
      auto tile = b.workgroup_array("tile", Type::i32, words);
      const Expr value = b.assume_uniform(x[0u], Scope::workgroup);
      b.if_(value == 3, [&] {
        tile[0u] = 1;
        if (is_followed) b.barrier();
      });
    };
  };
  EXPECT_THAT(refusal_of(claims(4096, true), profile),
              HasSubstr("16400 bytes of workgroup memory (16 of them for a workgroupUniformLoad) exceed the device's"));
  EXPECT_THAT(accepted(claims(4092, true), profile), HasSubstr("workgroupUniformLoad"));
  EXPECT_THAT(accepted(claims(4096, false), profile), testing::Not(HasSubstr("workgroupUniformLoad")));
  EXPECT_THAT(refusal_of([](Builder& b) { b.local_array("own", Type::i64, 1025); }, profile),
              HasSubstr("8200 bytes of local arrays exceed WGSL's 8192"));
  EXPECT_THAT(refusal_of(
                  [](Builder& b) {
                    for (const char* name : {"x", "y"}) b.buffer(name, Type::i32, Access::read);
                    b.scalar("s", Type::i32, Access::read);
                  },
                  profile),
              HasSubstr("3 storage buffers (the scalar arena is one) exceed the device's 2"));
  EXPECT_THAT(refusal_of(
                  [](Builder& b) {
                    b.parameter("p", Type::i64);
                    b.parameter("q", Type::i32);
                  },
                  profile),
              HasSubstr("3 launch words exceed the device's 2"));
}

TEST(Requirements, NestingAndCasesAreLimitedByWgsl) {
  const auto nested = [](uint32_t depth, bool divides) {
    return [=](Builder& b) {
      auto out = b.buffer("out", Type::i64, Access::read_write);
      std::function<void(uint32_t)> nest = [&](uint32_t left) {
        if (left > 0)
          b.if_(b.global_id() == left, [&] { nest(left - 1); });
        else if (divides)
          out[0u] = Expr(out[0u]) / Expr(out[1u]);
        else
          out[0u] = Expr(out[1u]);
      };
      nest(depth);
    };
  };
  EXPECT_THAT(refusal_of(nested(60, false)), HasSubstr("nested deeper than the 60"));
  EXPECT_THAT(refusal_of(nested(58, true)), HasSubstr("nested deeper than the 60"));  // by the division's loop
  Builder fits("fits", {1});
  nested(56, true)(fits);
  emit_text(fits);
  EXPECT_THAT(refusal_of([](Builder& b) {
                std::vector<std::pair<uint32_t, Builder::Body>> cases;
                for (uint32_t i = 0; i < 1023; ++i) cases.emplace_back(i, [] {});
                b.switch_(b.local_id(), cases);
              }),
              HasSubstr("a switch of 1024 cases exceeds WGSL's 1023"));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
