#include "wavegate/emit/spirv/memory.h"

#include "emit/spirv/support.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Order;
using kir::Scope;
using kir::Type;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Memory, buffers_take_the_bindings_in_order_and_the_arena_follows) {
  Builder b("k", {1});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto s = b.scalar("s", Type::f32, Access::read_write);
  auto y = b.buffer("y", Type::f32, Access::write);
  y[0u] = Expr(x[0u]) + s;
  s = b.f32(1);
  const std::string text = emit_text(b);
  for (const char* binding : {"Binding 0", "Binding 1", "Binding 2"}) EXPECT_EQ(count(text, binding), 1u) << binding;
  EXPECT_EQ(count(text, "DescriptorSet 0"), 3u);
  EXPECT_EQ(count(text, "NonWritable"), 1u);
  EXPECT_EQ(count(text, "NonReadable"), 1u);
  EXPECT_EQ(count(text, "Aliased"), 3u);
}

TEST(Memory, a_single_buffer_has_no_other_name) {
  Builder b("k", {1});
  b.buffer("x", Type::f32, Access::read);
  EXPECT_THAT(emit_text(b), Not(HasSubstr("Aliased")));
}

TEST(Memory, a_buffer_beside_a_device_pointer_may_be_aliased) {
  Builder b("k", {1});
  b.buffer("x", Type::f32, Access::read);
  b.load_pointer(Type::i32, b.parameter("address", Type::i64));
  EXPECT_THAT(emit_text(b), HasSubstr("Aliased"));
}

TEST(Memory, an_access_through_a_pointer_is_aligned_to_its_element) {
  Builder b("k", {1});
  b.load_pointer(Type::i16, b.parameter("address", Type::i64));
  const std::string text = emit_text(b);
  EXPECT_THAT(text, HasSubstr("OpMemoryModel PhysicalStorageBuffer64 GLSL450"));
  EXPECT_THAT(text, HasSubstr("Aligned 2\n"));
}

TEST(Memory, a_kernel_without_pointers_uses_logical_addressing) {
  Builder b("k", {1});
  EXPECT_THAT(emit_text(b), HasSubstr("OpMemoryModel Logical GLSL450"));
}

TEST(Memory, a_64_bit_parameter_takes_two_launch_words) {
  Builder b("k", {1});
  auto out = b.buffer("out", Type::f64, Access::write);
  out[0u] = b.parameter("p", Type::f64);
  target::Profile profile = full_profile();
  profile.features.int64 = false;  // nor does it need 64-bit integers
  EXPECT_EQ(count(emit_text(b, profile), "OpLoad"), 2u);
}

TEST(Memory, consecutive_elements_of_a_constant_index_have_constant_indices) {
  Builder b("k", {1});
  auto x = b.buffer("x", Type::i32, Access::read_write);
  b.store(x, b.u32(8), b.load(x, b.u32(4), 4));
  EXPECT_THAT(emit_text(b), Not(HasSubstr("OpIAdd")));
}

TEST(Memory, buffers_ordered_against_other_workgroups_are_coherent) {
  Builder b("k", {1});
  b.buffer("x", Type::f32, Access::read);
  b.fence(Scope::device, Order::acquire);
  EXPECT_THAT(emit_text(b), HasSubstr("Coherent"));
}

TEST(Memory, a_fence_over_one_invocation_is_nothing) {
  Builder b("k", {1});
  b.fence(Scope::invocation, Order::acquire_release);
  EXPECT_THAT(emit_text(b), Not(HasSubstr("Barrier")));
}

TEST(Memory, a_barrier_orders_buffers_and_workgroup_memory) {
  Builder b("k", {1});
  b.barrier();
  // AcquireRelease 0x8, UniformMemory 0x40, WorkgroupMemory 0x100
  EXPECT_THAT(emit_text(b), ContainsRegex("OpConstant %[0-9]+ 328\n"));
}

TEST(Memory, a_failed_compare_exchange_does_not_release) {
  Builder b("k", {1});
  auto x = b.buffer("x", Type::i32, Access::read_write);
  b.atomic_compare_exchange(x, b.u32(5), b.u32(6), b.u32(7), Scope::device, Order::release);
  const std::string text = emit_text(b);
  EXPECT_THAT(text, HasSubstr(" 324\n"));  // Release 0x4, UniformMemory, WorkgroupMemory
  EXPECT_THAT(text, Not(HasSubstr(" 322\n")));
}

}  // namespace
}  // namespace wavegate::emit::spirv
