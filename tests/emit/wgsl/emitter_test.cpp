#include "wavegate/emit/wgsl/emitter.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Emitter, AKernelIsTextToRead) {
  Builder b("saxpy", {64});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::read_write);
  auto n = b.parameter("n", Type::i32);
  auto a = b.parameter("a", Type::f32);
  auto i = b.global_id();
  b.if_(i < n, [&] { y[i] = a * x[i]; });
  EXPECT_EQ(emit_text(b), R"(// saxpy
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> launch: array<vec4<u32>, 1>;

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) global_id: vec3<u32>) {
  let n = launch[0].x;
  let a = bitcast<f32>(launch[0].y);
  let v3 = global_id.x < n;
  if (v3) {
    let v4 = x[global_id.x];
    let v5 = a * v4;
    y[global_id.x] = v5;
  }
}
)");
}

TEST(Emitter, BindingsAreDeclaredAsTheyAreUsedOrAsAsked) {
  Builder b("bindings", {1});
  auto s = b.scalar("s", Type::i32, Access::read);
  b.buffer("in", Type::i32, Access::read);
  auto out = b.buffer("out", Type::i32, Access::write);
  out[0u] = s;
  const kir::Kernel kernel = value_of(b.finish());
  const auto plain = emit(kernel, full_profile());
  ASSERT_TRUE(plain.ok());
  EXPECT_THAT(plain->writable, ElementsAre(false, true, false));
  EXPECT_THAT(plain->text, HasSubstr("@binding(2) var<storage, read> arena: array<u32>;"));
  const auto asked = emit(kernel, full_profile(), {.writable = {true, false, true}});
  ASSERT_TRUE(asked.ok());
  EXPECT_THAT(asked->writable, ElementsAre(true, true, true));
  EXPECT_THAT(asked->text, HasSubstr("@binding(0) var<storage, read_write> in: array<u32>;"));
  EXPECT_THAT(asked->text, HasSubstr("@binding(2) var<storage, read_write> arena: array<u32>;"));
}

TEST(Emitter, EqualKernelsGiveEqualText) {
  for (const Result<Kernel>& kernel : memory_kernels()) {
    ASSERT_TRUE(kernel.ok());
    const Kernel copy = *kernel;
    EXPECT_EQ(emit_text(*kernel), emit_text(copy));
  }
}

TEST(Emitter, AnFmaThatTheDeviceDoesNotFuseIsEmulated) {
  const Kernel kernel = value_of(operation_kernel(Op::fma, Type::f32, Type::f32));
  EXPECT_THAT(emit_text(kernel), HasSubstr("fma("));
  target::Profile profile = full_profile();
  profile.floats.fused_fma_f32 = false;
  EXPECT_THAT(emit_text(kernel, profile), Not(HasSubstr("fma(")));
}

TEST(Emitter, I64IsSplitAndItsLaunchWordsStayWhereTheyAre) {
  Builder b("long", {1});
  auto out = b.buffer("out", Type::i64, Access::write);
  b.parameter("first", Type::i32);
  auto p = b.parameter("p", Type::i64);
  out[0u] = p + b.constant(Type::i64, 1);
  const std::string text = emit_text(b);
  EXPECT_THAT(text, HasSubstr("var<storage, read_write> out: array<u32>;"));
  EXPECT_THAT(text, HasSubstr("let p_low = launch[0].y;"));
  EXPECT_THAT(text, HasSubstr("let p_high = launch[0].z;"));
}

TEST(Emitter, OnlyWhatIsUsedIsAskedFor) {
  Builder plain("plain", {1});
  EXPECT_EQ(emit_text(plain), "// plain\n\n@compute @workgroup_size(1, 1, 1)\nfn main() {\n}\n");
  Builder halves("halves", {1});
  halves.buffer("x", Type::f16, Access::read);
  EXPECT_THAT(emit_text(halves), HasSubstr("enable f16;"));
  Builder lanes("lanes", {4});
  auto out = lanes.buffer("out", Type::i32, Access::write);
  out[lanes.local_id()] = lanes.builtin(kir::Builtin::subgroup_lane);
  EXPECT_THAT(emit_text(lanes), HasSubstr("enable subgroups;\ndiagnostic(off, subgroup_uniformity);"));
}

}  // namespace
}  // namespace wavegate::emit::wgsl
