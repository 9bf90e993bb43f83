#include "wavegate/emit/spirv/module_builder.h"

#include "emit/spirv/support.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Type;
using testing::HasSubstr;

TEST(ModuleBuilder, a_type_is_declared_once) {
  ModuleBuilder module;
  EXPECT_EQ(module.type(Type::f32), module.type(Type::f32));
  EXPECT_NE(module.type(Type::f32), module.type(Type::i32));
}

TEST(ModuleBuilder, a_constant_is_declared_once_for_its_type_and_bits) {
  ModuleBuilder module;
  EXPECT_EQ(module.constant(Type::i64, 1), module.constant(Type::i64, 1));
  EXPECT_NE(module.constant(Type::i64, 1), module.constant(Type::i64, uint64_t{1} << 32 | 1));
  EXPECT_NE(module.constant(Type::i32, 1), module.constant(Type::f32, 1));
}

TEST(ModuleBuilder, arrays_that_differ_in_their_stride_are_two_types) {
  ModuleBuilder module;
  const Id element = module.type(Type::i32);
  EXPECT_NE(module.array_type(element, 4), module.block_type(element, 4, 4));
  EXPECT_EQ(module.block_type(element, 4, 4), module.block_type(element, 4, 4));
}

TEST(ModuleBuilder, a_type_brings_its_capability) {
  ModuleBuilder module;
  module.type(Type::f64);
  EXPECT_THAT(disassemble(module.assemble(1, {1, 1, 1})), HasSubstr("OpCapability Float64"));
}

}  // namespace
}  // namespace wavegate::emit::spirv
