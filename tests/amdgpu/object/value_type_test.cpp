#include "wavegate/amdgpu/object/value_type.h"

#include <gmock/gmock.h>

namespace wavegate::amdgpu::object {
namespace {

Argument by_value(std::string type, std::uint32_t size) {
  Argument argument;
  argument.type_name = std::move(type);
  argument.size = size;
  return argument;
}

Argument pointer(std::string type) {
  Argument argument = by_value(std::move(type), 8);
  argument.kind = ValueKind::global_buffer;
  return argument;
}

std::string text(const Argument& argument) {
  const auto type = value_type(argument);
  return type ? to_string(*type) : "none";
}

TEST(ValueType, NumbersAreToldByTheirNames) {
  EXPECT_EQ(text(by_value("int", 4)), "i32");
  EXPECT_EQ(text(by_value("uint", 4)), "u32");
  EXPECT_EQ(text(by_value("unsigned char", 1)), "u8");
  EXPECT_EQ(text(by_value("half", 2)), "f16");
  EXPECT_EQ(text(by_value("long", 8)), "i64");
  EXPECT_EQ(text(by_value("double", 8)), "f64");
}

TEST(ValueType, AVectorHasLanesAndThoseOfThreeTakeTheRoomOfFour) {
  EXPECT_EQ(text(by_value("float4", 16)), "f32[4]");
  EXPECT_EQ(text(by_value("ushort16", 32)), "u16[16]");
  EXPECT_EQ(text(by_value("float3", 16)), "f32[3]");
  EXPECT_EQ(text(by_value("float3", 12)), "none");
}

TEST(ValueType, ADigitThatIsPartOfANameMakesNoVector) {
  EXPECT_EQ(text(by_value("_Float16", 2)), "f16");
  EXPECT_EQ(text(by_value("float5", 20)), "none");
  EXPECT_EQ(text(by_value("4", 16)), "none");
}

TEST(ValueType, ANameWhoseSizeIsNotTheArgumentsIsNotWhatItSeems) {
  EXPECT_EQ(text(by_value("int", 8)), "none");
}

TEST(ValueType, OwnNamesAndStructuresTellNothing) {
  EXPECT_EQ(text(by_value("struct S", 4)), "none");
  EXPECT_EQ(text(by_value("", 4)), "none");
}

TEST(ValueType, APointerTellsWhatItLeadsTo) {
  EXPECT_EQ(text(pointer("float*")), "f32");
  EXPECT_EQ(text(pointer("int4*")), "i32[4]");
  EXPECT_EQ(text(pointer("char *")), "i8");
  EXPECT_EQ(text(pointer("void*")), "none");
  EXPECT_EQ(text(pointer("float**")), "none");
  EXPECT_EQ(text(pointer("float")), "none");
}

}  // namespace
}  // namespace wavegate::amdgpu::object
