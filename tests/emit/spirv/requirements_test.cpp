#include "wavegate/emit/spirv/requirements.h"

#include "emit/spirv/support.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Access;
using kir::Builder;
using kir::Op;
using kir::Scope;
using kir::Type;

/// Why the device refuses the kernel; empty if it does not.
std::string refusal(Builder& builder, const target::Profile& profile) {
  const Result<kir::Kernel> kernel = builder.finish();
  if (!kernel.ok()) return "not a kernel: " + kernel.error().to_string();
  const Result<void> result = check_requirements(*kernel, profile);
  if (result.ok()) return "";
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  return result.error().message;
}

target::Profile profile_without(bool target::Features::*feature) {
  target::Profile profile = full_profile();
  profile.name = "llvmpipe";
  profile.features.*feature = false;
  return profile;
}

TEST(Requirements, an_operation_of_a_type_that_the_device_lacks_is_named) {
  Builder b("k", {1});
  auto p = b.parameter("p", Type::f32);
  b.convert(Op::convert_f, Type::f64, p);
  EXPECT_EQ(refusal(b, profile_without(&target::Features::float64)),
            "kernel \"k\": convert_f needs f64, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_buffer_of_a_type_that_the_device_lacks_is_named) {
  Builder b("k", {1});
  b.buffer("bytes", Type::i8, Access::read);
  EXPECT_EQ(refusal(b, profile_without(&target::Features::int8)),
            "kernel \"k\": binding \"bytes\" needs i8, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_parameter_of_a_type_that_the_device_lacks_is_named) {
  Builder b("k", {1});
  b.parameter("half", Type::f16);
  EXPECT_EQ(refusal(b, profile_without(&target::Features::float16)),
            "kernel \"k\": parameter \"half\" needs f16, which \"llvmpipe\" does not offer");
}

TEST(Requirements, an_array_of_a_type_that_the_device_lacks_is_named) {
  Builder b("k", {1});
  b.workgroup_array("shorts", Type::i16, 4);
  EXPECT_EQ(refusal(b, profile_without(&target::Features::int16)),
            "kernel \"k\": memory \"shorts\" needs i16, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_subgroup_operation_needs_the_feature) {
  Builder b("k", {1});
  b.apply(Op::subgroup_add, {b.local_id()});
  EXPECT_EQ(refusal(b, profile_without(&target::Features::subgroup_operations)),
            "kernel \"k\": subgroup_add needs subgroup operations, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_subgroup_builtin_needs_the_feature) {
  Builder b("k", {1});
  b.builtin(kir::Builtin::subgroup_size);
  EXPECT_EQ(refusal(b, profile_without(&target::Features::subgroup_operations)),
            "kernel \"k\": subgroup_size needs subgroup operations, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_subgroup_barrier_needs_the_feature) {
  Builder b("k", {1});
  b.barrier(Scope::subgroup);
  EXPECT_EQ(refusal(b, profile_without(&target::Features::subgroup_operations)),
            "kernel \"k\": barrier needs subgroup operations, which \"llvmpipe\" does not offer");
}

TEST(Requirements, an_access_through_a_pointer_needs_device_pointers) {
  Builder b("k", {1});
  b.load_pointer(Type::i32, b.parameter("address", Type::i64));
  EXPECT_EQ(refusal(b, profile_without(&target::Features::device_pointers)),
            "kernel \"k\": load needs device pointers, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_64_bit_atomic_needs_the_feature) {
  Builder b("k", {1});
  auto out = b.buffer("out", Type::i64, Access::read_write);
  b.atomic(Op::atomic_add, out, b.u32(0), b.constant(Type::i64, 1));
  EXPECT_EQ(refusal(b, profile_without(&target::Features::int64_atomics)),
            "kernel \"k\": atomic_add needs 64-bit atomics, which \"llvmpipe\" does not offer");
}

TEST(Requirements, a_transcendental_of_f64_is_refused_with_the_way_out) {
  Builder b("k", {1});
  b.apply(Op::sin, {b.f64(1)});
  EXPECT_EQ(refusal(b, full_profile()),
            "kernel \"k\": sin of f64 has no Vulkan form; convert to f32 where its precision is enough");
}

TEST(Requirements, a_workgroup_too_large_in_a_dimension_is_refused) {
  Builder b("k", {1, 1, 65});
  EXPECT_EQ(refusal(b, full_profile()),
            "kernel \"k\": workgroup of 1x1x65 invocations exceeds the device's 64 in z; make it smaller");
}

TEST(Requirements, a_workgroup_of_too_many_invocations_is_refused) {
  Builder b("k", {64, 64});
  EXPECT_EQ(refusal(b, full_profile()),
            "kernel \"k\": workgroup of 4096 invocations exceeds the device's 1024; make it smaller");
}

TEST(Requirements, too_much_workgroup_memory_is_refused) {
  Builder b("k", {1});
  b.workgroup_array("small", Type::i8, 1);
  b.workgroup_array("large", Type::i32, 8192);
  EXPECT_EQ(refusal(b, full_profile()),
            "kernel \"k\": 32772 bytes of workgroup memory exceed the device's 32768; use smaller arrays");
}

TEST(Requirements, too_many_storage_buffers_are_refused_and_the_arena_counts) {
  Builder b("k", {1});
  b.buffer("a", Type::i32, Access::read);
  b.buffer("b", Type::i32, Access::read);
  b.scalar("s", Type::i32, Access::read);
  target::Profile profile = full_profile();
  profile.limits.storage_buffers = 2;
  EXPECT_EQ(
      refusal(b, profile),
      "kernel \"k\": 3 storage buffers (the scalar arena is one) exceed the device's 2; bind fewer, or reach some "
      "by device pointers");
}

TEST(Requirements, too_many_launch_words_are_refused) {
  Builder b("k", {1});
  b.parameter("a", Type::i64);
  b.parameter("b", Type::i32);
  target::Profile profile = full_profile();
  profile.limits.immediate_words = 2;
  EXPECT_EQ(refusal(b, profile),
            "kernel \"k\": 3 launch words exceed the device's 2; pass some parameters in a buffer");
}

}  // namespace
}  // namespace wavegate::emit::spirv
