#include "wavegate/lowering/support_kernels.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

TEST(SupportKernels, MoveWordsOfTheTypeThatOtherKernelsTakeTheBufferFor) {
  for (const Type type : {Type::i32, Type::f32}) {
    const kir::Kernel copy = value_of(copy_words_kernel(type));
    const kir::Kernel fill = value_of(fill_words_kernel(type));
    for (const kir::Kernel* kernel : {&copy, &fill}) {
      EXPECT_EQ(kernel->interface.workgroup_size[0], kWordsPerWorkgroup);
      for (const kir::BindingInfo& binding : kernel->interface.bindings) EXPECT_EQ(binding.type, type);
      EXPECT_EQ(kernel->interface.launch_words(), 3u);
    }
  }
}

TEST(SupportKernels, WriteSomeOfTheirDestinationAtMost) {
  EXPECT_EQ(value_of(copy_words_kernel(Type::i32)).interface.bindings[0].access, Access::read);
  EXPECT_EQ(value_of(copy_words_kernel(Type::i32)).interface.bindings[1].access, Access::read_write);
  EXPECT_EQ(value_of(fill_words_kernel(Type::i32)).interface.bindings[0].access, Access::read_write);
}

}  // namespace
}  // namespace wavegate::lowering
