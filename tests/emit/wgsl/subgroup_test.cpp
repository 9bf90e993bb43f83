#include "wavegate/emit/wgsl/subgroup.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::HasSubstr;

std::string module_of(Type type, const std::function<Expr(Builder&, Expr)>& value) {
  return emit_text(value_of(built("kernel", [&](Builder& b) {
    auto x = b.buffer("x", type, Access::read_write);
    x[b.global_id()] = value(b, x[b.global_id()]);
  })));
}

TEST(Subgroup, ValuesMoveAsWords) {
  EXPECT_THAT(module_of(Type::f32, [](Builder& b, Expr x) { return b.apply(Op::subgroup_broadcast_first, {x}); }),
              HasSubstr("= bitcast<f32>(subgroupBroadcastFirst(bitcast<u32>("));
  EXPECT_THAT(module_of(Type::i32,
                        [](Builder& b, Expr x) {
                          const Expr moved = b.apply(Op::subgroup_broadcast_first, {x == 3});
                          return b.select(moved, x, b.u32(0));
                        }),
              HasSubstr("= subgroupBroadcastFirst(select(0u, 1u, "));
}

TEST(Subgroup, ALiteralLaneIsNamed) {
  EXPECT_THAT(module_of(Type::i32,
                        [](Builder& b, Expr x) {
                          return b.apply(Op::subgroup_shuffle, {x, b.u32(200)});
                        }),
              testing::ContainsRegex("subgroupShuffle\\(v[0-9]+, v[0-9]+_b\\);"));
}

TEST(Subgroup, HalvesAreSummedAsF32) {
  EXPECT_THAT(module_of(Type::f16, [](Builder& b, Expr x) { return b.apply(Op::subgroup_add_f, {x}); }),
              HasSubstr("= f16(subgroupAdd(f32("));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
