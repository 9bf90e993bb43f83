#include "wavegate/emit/wgsl/uniform_flow.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLoad = "uniform_value(";

TEST(UniformFlow, AConditionThatWgslKnowsUniformIsLeftAlone) {
  Builder b("known", {64});
  auto x = b.buffer("x", Type::i32, Access::read);
  auto go = b.scalar("go", Type::i32, Access::read);
  auto n = b.parameter("n", Type::i32);
  b.if_(n == 3, [&] { b.barrier(); });
  b.if_(Expr(x[b.workgroup_id()]) == 3, [&] { b.barrier(); });
  b.if_(Expr(go) == 3, [&] { b.barrier(); });
  b.for_(b.u32(0), n, b.u32(1), [&](Expr) { b.barrier(); });
  EXPECT_THAT(emit_text(b), Not(HasSubstr(kLoad)));
}

TEST(UniformFlow, AClaimIsALoadOfWorkgroupMemory) {
  Builder b("claim", {64});
  auto x = b.buffer("x", Type::f32, Access::read_write);
  const Expr value = b.assume_uniform(x[0u], Scope::workgroup);
  b.if_(value == 3, [&] { b.barrier(); });
  const std::string text = emit_text(b);
  EXPECT_THAT(text, HasSubstr("bitcast<f32>(uniform_value(bitcast<u32>("));
  EXPECT_THAT(text, HasSubstr("workgroupUniformLoad(&uniform_slot)"));
}

TEST(UniformFlow, AClaimWithoutABarrierIsNoLoad) {
  Builder b("claim", {64});
  auto x = b.buffer("x", Type::i32, Access::read_write);
  const Expr value = b.assume_uniform(x[0u], Scope::workgroup);
  b.if_(value == 3, [&] { x[b.local_id()] = 1; });
  EXPECT_THAT(emit_text(b), Not(HasSubstr(kLoad)));
}

TEST(UniformFlow, AClaimOfWhatWgslKnowsIsNoLoad) {
  Builder b("claim", {64});
  const Expr value = b.assume_uniform(b.workgroup_id(), Scope::workgroup);
  b.if_(value == 3, [&] { b.barrier(); });
  EXPECT_THAT(emit_text(b), Not(HasSubstr(kLoad)));
}

TEST(UniformFlow, AReadThatTheModuleDeclaresReadWriteGoesThroughALoad) {
  Builder b("shared", {64});
  auto x = b.buffer("x", Type::i32, Access::read);
  b.if_(Expr(x[0u]) == 3, [&] { b.barrier(); });
  const kir::Kernel kernel = value_of(b.finish());
  EXPECT_THAT(emit_text(kernel), Not(HasSubstr(kLoad)));
  EXPECT_THAT(emit_text(kernel, full_profile(), {.writable = {true}}), HasSubstr(kLoad));
}

TEST(UniformFlow, OnlyConditionsThatDecideWhoComesToABarrierAreLoaded) {
  Builder b("alone", {1});
  auto x = b.buffer("x", Type::i32, Access::read_write);
  b.if_(Expr(x[0u]) == 1, [&] { x[1u] = 1; });    // holds none
  b.if_(Expr(x[2u]) == 1, [&] { b.return_(); });  // leaves before one
  b.loop([&] {
    b.if_(Expr(x[3u]) == 1, [&] { b.break_(); });  // leaves a loop that has one
    b.barrier();
    b.loop([&] { b.if_(Expr(x[4u]) == 1, [&] { b.break_(); }); });  // leaves one that has none
  });
  b.switch_(x[5u], {{1, [&] { b.barrier(); }}});  // holds one
  b.if_(
      Expr(x[6u]) == 1, [&] { x[1u] = 2; }, [&] { x[1u] = 3; });
  EXPECT_EQ(count(emit_text(b), kLoad), 4u);  // one of them in its definition
}

TEST(UniformFlow, FencesAndSubgroupBarriersAreBarriersOfTheWorkgroupOrRefused) {
  Builder together("together", {64});
  together.barrier(Scope::subgroup);
  together.fence(Scope::workgroup, kir::Order::release);
  together.fence(Scope::invocation, kir::Order::release);
  EXPECT_EQ(count(emit_text(together), "workgroupBarrier();"), 2u);

  Builder apart("apart", {64});
  apart.if_(apart.local_id() == 3, [&] { apart.fence(Scope::workgroup, kir::Order::release); });
  EXPECT_THAT(refusal(apart), HasSubstr("fence over a workgroup has no WGSL form where the workgroup does not"));
  Builder lanes("lanes", {64});
  lanes.if_(lanes.apply(Op::subgroup_any, {lanes.local_id() == 3}), [&] { lanes.barrier(Scope::subgroup); });
  EXPECT_THAT(refusal(lanes), HasSubstr("barrier over a subgroup has no WGSL form"));
}

TEST(UniformFlow, WritableBindingsAreThoseWrittenAndThoseAskedFor) {
  kir::Interface interface;
  interface.bindings = {{"a", kir::BindingKind::buffer, Type::i32, Access::read},
                        {"s", kir::BindingKind::scalar, Type::i32, Access::read},
                        {"b", kir::BindingKind::buffer, Type::i32, Access::write},
                        {"t", kir::BindingKind::scalar, Type::i32, Access::read_write}};
  EXPECT_THAT(writable_bindings(interface, {}), ElementsAre(false, true, true));
  interface.bindings.pop_back();
  EXPECT_THAT(writable_bindings(interface, {}), ElementsAre(false, true, false));
  EXPECT_THAT(writable_bindings(interface, {true, false, true, true}), ElementsAre(true, true, true));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
