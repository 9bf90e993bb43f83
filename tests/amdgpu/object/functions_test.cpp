#include "wavegate/amdgpu/object/functions.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kEnd = 0xbf810000;

std::vector<std::string> names_of(const std::vector<Function>& functions) {
  std::vector<std::string> names;
  names.reserve(functions.size());
  for (const Function& function : functions) names.emplace_back(function.name);
  return names;
}

TEST(Functions, AreKernelsAndWhatTheyCallByAddress) {
  const auto bytes = compiled("data", "gfx1030.w32");
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const auto functions = find_functions(*object);
  EXPECT_THAT(names_of(functions), ElementsAre("look_up", "data", "primes_only"));
  EXPECT_EQ(functions[0].kernel, nullptr);
  EXPECT_EQ(functions[0].wave_width, 32);
  EXPECT_EQ(functions[1].kernel, object->find_kernel("data"));
  EXPECT_EQ(functions[1].code.size(), object->find_kernel("data")->code.size());
}

TEST(Functions, ThatOverlapShareNoByte) {
  ObjectBuilder builder;
  const std::uint64_t place = builder.add(std::vector<std::byte>(64));
  builder.add_symbol("whole", 2, place, 64);
  builder.add_symbol("inner", 2, place + 16, 48);
  builder.add_symbol("odd", 2, place + 18, 8);
  builder.add_symbol("again", 2, place, 64);
  builder.add_symbol("far", 2, 1 << 20, 64);
  const auto bytes = builder.build();
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const auto functions = find_functions(*object);
  EXPECT_THAT(names_of(functions), ElementsAre("whole", "inner"));
  EXPECT_EQ(functions[0].code.size(), 16);
  EXPECT_EQ(functions[1].code.size(), 48);
}

TEST(SelectedKernels, AreThoseOfTheNameOrElseThoseThatHoldIt) {
  ObjectBuilder builder;
  for (const char* name : {"sum", "sum_of_squares", "max"}) builder.add_kernel(name, {kEnd});
  const auto bytes = builder.build();
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const auto select = [&](std::string_view name) {
    std::vector<std::string> names;
    for (const Kernel* kernel : select_kernels(*object, name)) names.push_back(kernel->name);
    return names;
  };
  EXPECT_THAT(select("sum"), ElementsAre("sum"));
  EXPECT_THAT(select("sum_"), ElementsAre("sum_of_squares"));
  EXPECT_THAT(select("m"), ElementsAre("sum", "sum_of_squares", "max"));
  EXPECT_THAT(select(""), ElementsAre("sum", "sum_of_squares", "max"));
  EXPECT_THAT(select("min"), IsEmpty());
}

}  // namespace
}  // namespace wavegate::amdgpu::object
