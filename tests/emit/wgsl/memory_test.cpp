#include "wavegate/emit/wgsl/memory.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string module_of(const std::function<void(Builder&)>& body) {
  return emit_text(value_of(built("kernel", body)));
}

TEST(Memory, SeveralElementsAreAccessedOneByOne) {
  const std::string text = module_of([](Builder& b) {
    auto x = b.buffer("x", Type::f32, Access::read_write);
    b.store(x, b.global_id(), b.load(x, b.u32(2), 3));
  });
  EXPECT_THAT(text, HasSubstr(" = x[4u];"));
  EXPECT_THAT(text, HasSubstr("x[global_id.x + 2u] = "));
}

TEST(Memory, LiteralIndicesStayInsideArrays) {
  const std::string text = module_of([](Builder& b) {
    auto tile = b.workgroup_array("tile", Type::i32, 8);
    auto x = b.buffer("x", Type::i32, Access::write);
    tile[1000u] = 1;
    x[1000u] = tile[0u];
  });
  EXPECT_THAT(text, HasSubstr("tile[7u] = 1u;"));
  EXPECT_THAT(text, HasSubstr("x[1000u] = "));
}

TEST(Memory, ScalarsAreWordsOfTheArenaAtTheirSlots) {
  const std::string text = module_of([](Builder& b) {
    auto s = b.scalar("s", Type::f32, Access::read);
    b.scalar("unused", Type::i32, Access::read);
    auto t = b.scalar("t", Type::f32, Access::write);
    t = Expr(s);
  });
  EXPECT_THAT(text, HasSubstr("let s_slot = launch[0].x;"));
  EXPECT_THAT(text, HasSubstr("let t_slot = launch[0].z;"));
  EXPECT_THAT(text, HasSubstr("= bitcast<f32>(arena[s_slot]);"));
  EXPECT_THAT(text, HasSubstr("arena[t_slot] = bitcast<u32>("));
  EXPECT_THAT(text, Not(HasSubstr("unused")));
}

TEST(Memory, WhatAtomicsReachIsAtomicInEveryAccess) {
  const std::string text = module_of([](Builder& b) {
    auto x = b.buffer("x", Type::i32, Access::read_write);
    b.atomic(Op::atomic_add, x, b.u32(0), b.u32(1));
    x[1u] = x[2u];
  });
  EXPECT_THAT(text, HasSubstr("x: array<atomic<u32>>;"));
  EXPECT_THAT(text, HasSubstr("= atomicAdd(&x[0u], 1u);"));
  EXPECT_THAT(text, HasSubstr("= atomicLoad(&x[2u]);"));
  EXPECT_THAT(text, HasSubstr("atomicStore(&x[1u], "));
}

TEST(Memory, ElementsAreSignedWhereOnlySignedExtremesAreAskedFor) {
  const std::string text = module_of([](Builder& b) {
    auto x = b.buffer("x", Type::i32, Access::read_write);
    b.atomic(Op::atomic_min_s, x, b.u32(0), b.u32(7));
    x[1u] = x[0u];
  });
  EXPECT_THAT(text, HasSubstr("x: array<atomic<i32>>;"));
  EXPECT_THAT(text, HasSubstr("= u32(atomicMin(&x[0u], i32(7u)));"));
  const std::string both = module_of([](Builder& b) {
    auto x = b.buffer("x", Type::i32, Access::read_write);
    b.atomic(Op::atomic_min_s, x, b.u32(0), b.u32(7));
    b.atomic(Op::atomic_max_u, x, b.u32(0), b.u32(7));
  });
  EXPECT_THAT(both, HasSubstr("x: array<atomic<u32>>;"));
  EXPECT_THAT(both, HasSubstr("u32(min(i32("));
}

TEST(Memory, ACompareExchangeThatFailsForNoReasonIsTriedAgain) {
  const std::string text = module_of([](Builder& b) {
    auto x = b.buffer("x", Type::i32, Access::read_write);
    b.atomic_compare_exchange(x, b.u32(0), b.u32(5), b.u32(6));
  });
  EXPECT_THAT(text, testing::ContainsRegex("if \\(v[0-9]+_try.exchanged || v[0-9]+ != 5u\\)"));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
