#include "wavegate/lowering/kernel_table.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

const kir::Kernel& ours(const KernelTable& table, graph::KernelId id) {
  return *std::get<std::shared_ptr<const kir::Kernel>>(table[id]);
}

TEST(KernelTable, KernelsThatReadAlikeAreOne) {
  const target::Profile device = profile();
  KernelTable table(device);
  const auto first = value_of(table.add(touch_kernel(), {}));
  EXPECT_EQ(value_of(table.add(touch_kernel(), {})), first);
  EXPECT_NE(value_of(table.add(touch_kernel({32, 1, 1}), {})), first);
}

TEST(KernelTable, KernelsAreSimplified) {
  Builder b("wasteful", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  static_cast<void>(data[b.u32(3)] + 5);
  data[b.global_id()] = b.u32(2) + b.u32(3);
  const target::Profile device = profile();
  KernelTable table(device);
  const auto id = value_of(table.add(program::make_kernel_source(value_of(b.finish())), {}));
  EXPECT_EQ(count(ours(table, id), kir::Op::load), 0);
  EXPECT_EQ(count(ours(table, id), kir::Op::add), 0);
  EXPECT_EQ(count(ours(table, id), kir::Op::store), 1);
}

TEST(KernelTable, AGuardIsALastBindingAndMadeOnce) {
  for (const target::Profile& device : {profile(), gpu_profile()}) {
    KernelTable table(device);
    const auto plain = value_of(table.add(touch_kernel(), {}));
    const auto guarded = value_of(table.guarded(plain));
    EXPECT_EQ(value_of(table.guarded(plain)), guarded);
    EXPECT_NE(guarded, plain);
    const kir::Interface& interface = ours(table, guarded).interface;
    ASSERT_EQ(interface.bindings.size(), 2u);
    EXPECT_EQ(interface.bindings[1].access, Access::read);
    // A GPU reads it without a launch word, which would have to be loaded first.
    EXPECT_EQ(interface.bindings[1].kind, device.is_cpu ? kir::BindingKind::scalar : kir::BindingKind::buffer);
  }
}

TEST(KernelTable, WithoutRoomForABufferMoreTheLatchIsAWordOfTheArenaThatIsThere) {
  target::Profile device = gpu_profile();
  device.limits.storage_buffers = 2;
  Builder b("count", {1});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto word = b.scalar("word", Type::i32, Access::read_write);
  data[0] = word;
  KernelTable table(device);
  const auto plain = value_of(table.add(program::make_kernel_source(value_of(b.finish())), {}));
  const auto guarded = value_of(table.guarded(plain));
  EXPECT_EQ(ours(table, guarded).interface.bindings.back().kind, kir::BindingKind::scalar);
}

TEST(KernelTable, WithoutRoomForALatchAtAllThereIsNoGuard) {
  target::Profile device = gpu_profile();
  device.limits.storage_buffers = 1;
  KernelTable table(device);
  const auto result = table.guarded(value_of(table.add(touch_kernel(), {})));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, testing::HasSubstr("kernel \"touch\""));
}

TEST(KernelTable, ParametersFromScalarsBecomeBindingsAndEachChoiceIsAKernel) {
  Builder b("scale", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  const auto factor = b.parameter("factor", Type::i32);
  const auto offset = b.parameter("offset", Type::i32);
  data[b.global_id()] = data[b.global_id()] * factor + offset;
  const auto source = program::make_kernel_source(value_of(b.finish()));
  const target::Profile device = profile();
  KernelTable table(device);
  const auto numbers = value_of(table.add(source, {false, false}));
  const auto one = value_of(table.add(source, {true, false}));
  EXPECT_NE(numbers, one);
  EXPECT_EQ(value_of(table.add(source, {true, false})), one);
  EXPECT_EQ(ours(table, one).interface.parameters.size(), 1u);
  EXPECT_EQ(ours(table, one).interface.scalar_count(), 1u);
}

TEST(KernelTable, AnOpaqueModuleTakesNoScalarForAParameter) {
  kir::Interface interface;
  interface.name = "opaque";
  interface.parameters = {{"count", Type::i32}};
  const target::Profile device = profile();
  KernelTable table(device);
  EXPECT_FALSE(table.has_opaque());
  const auto result = table.add(std::make_shared<OpaqueSource>(interface), {true});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().message, testing::HasSubstr("kernel \"opaque\""));
  EXPECT_THAT(result.error().message, testing::HasSubstr("buffer of one word"));
  ASSERT_TRUE(table.add(std::make_shared<OpaqueSource>(interface), {false}).ok());
  EXPECT_TRUE(table.has_opaque());
}

TEST(KernelTable, AModuleThatCannotBeChangedIsRefusedWithItsReasonEachTime) {
  const target::Profile device = profile();
  KernelTable table(device);
  const auto id = value_of(table.add(opaque_kernel(), {}));
  for (int i = 0; i < 2; ++i) {
    const auto result = table.guarded(id);
    ASSERT_FALSE(result.ok());
    EXPECT_FALSE(result.error().message.empty());
  }
}

TEST(KernelTable, AModuleOfWgslTestsTheLatchInItsEntryFunction) {
  target::Profile device = gpu_profile();
  device.backend = "webgpu";
  KernelTable table(device);
  kir::OpaqueKernel module;
  module.interface = {"own", {1, 1, 1}, {{"x", kir::BindingKind::buffer, Type::i32, Access::read_write}}, {}};
  module.wgsl =
      "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
      "@compute @workgroup_size(1) fn main() { x[0] = 1u; }\n";
  const auto plain = value_of(table.add(value_of(program::make_kernel_source(module)), {}));
  const auto guarded = value_of(table.guarded(plain));
  const auto& changed = *std::get<std::shared_ptr<const kir::OpaqueKernel>>(table[guarded]);
  EXPECT_THAT(changed.wgsl, testing::HasSubstr("fn main() {\n  if (latch == 0u)"));
  EXPECT_THAT(changed.wgsl, testing::HasSubstr("@group(0) @binding(1) var<storage, read> latch: u32;"));
  ASSERT_EQ(changed.interface.bindings.size(), 2u);
  EXPECT_EQ(changed.interface.bindings[1].access, Access::read);
}

}  // namespace
}  // namespace wavegate::lowering
