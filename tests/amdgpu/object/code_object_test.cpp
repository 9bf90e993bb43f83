#include "wavegate/amdgpu/object/code_object.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kEnd = 0xbf810000;  // s_endpgm of gfx9 and gfx10

struct Compiled {
  std::string_view file;    ///< As cmake names it.
  std::string_view target;  ///< As the object does.
  std::uint32_t wave;
  std::uint32_t end;  ///< s_endpgm
};

void PrintTo(const Compiled& compiled, std::ostream* stream) {
  *stream << compiled.file;
}

class CompiledObject : public testing::TestWithParam<Compiled> {};

INSTANTIATE_TEST_SUITE_P(OfEveryTarget, CompiledObject,
                         testing::Values(Compiled{"gfx900.w64", "gfx900", 64, kEnd},
                                         Compiled{"gfx942.w64", "gfx942", 64, kEnd},
                                         Compiled{"gfx1030.w32", "gfx1030", 32, kEnd},
                                         Compiled{"gfx1030.w64", "gfx1030", 64, kEnd},
                                         Compiled{"gfx1100.w32", "gfx1100", 32, 0xbfb00000},
                                         Compiled{"gfx1200.w32", "gfx1200", 32, 0xbfb00000}),
                         [](const auto& each) {
                           std::string name(each.param.file);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST_P(CompiledObject, SaysItsVersionAndTarget) {
  const auto bytes = compiled("saxpy", GetParam().file);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  EXPECT_EQ(object->version, 5);
  EXPECT_EQ(object->target.to_string(), GetParam().target);
  const auto identity = identify(bytes);
  ASSERT_TRUE(identity.ok()) << error_text(identity);
  EXPECT_EQ(identity->target, object->target);
}

TEST_P(CompiledObject, HasTheKernelsOfItsSourceWithTheirLimits) {
  const auto bytes = compiled("group_sum", GetParam().file);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  ASSERT_EQ(object->kernels.size(), 1);
  const Kernel& kernel = object->kernels[0];
  EXPECT_EQ(kernel.name, "group_sum");
  EXPECT_EQ(kernel.wave_width, GetParam().wave);
  EXPECT_EQ(kernel.lds_bytes, 1024);
  EXPECT_EQ(kernel.scratch_bytes, 0);
  EXPECT_EQ(kernel.kernarg_bytes, 16);
  EXPECT_EQ(kernel.max_workgroup, 256);
  EXPECT_THAT(kernel.required_workgroup, ElementsAre(256, 1, 1));
}

TEST_P(CompiledObject, HasArgumentsAtTheirOffsets) {
  const auto bytes = compiled("saxpy", GetParam().file);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const Kernel* kernel = object->find_kernel("saxpy");
  ASSERT_NE(kernel, nullptr);
  std::vector<std::tuple<std::uint32_t, std::uint32_t, ValueKind, std::string>> arguments;
  for (const Argument& each : kernel->arguments)
    arguments.emplace_back(each.offset, each.size, each.kind, each.type_name);
  EXPECT_THAT(arguments, ElementsAre(std::tuple(0, 4, ValueKind::by_value, "float"),
                                     std::tuple(8, 8, ValueKind::global_buffer, "float*"),
                                     std::tuple(16, 8, ValueKind::global_buffer, "float*"),
                                     std::tuple(24, 4, ValueKind::by_value, "uint")));
  EXPECT_TRUE(kernel->arguments[1].is_const);
  EXPECT_FALSE(kernel->arguments[2].is_const);
}

TEST_P(CompiledObject, EndsAKernelAtItsSymbolsEndAndNotAfterThePadding) {
  std::size_t padding = 0;
  for (const std::string_view file : {"saxpy", "group_sum", "ids", "data"}) {
    const auto bytes = compiled(file, GetParam().file);
    const auto object = parse_code_object(bytes);
    ASSERT_TRUE(object.ok()) << error_text(object);
    for (const Kernel& kernel : object->kernels) {
      ASSERT_GE(kernel.code.size(), 4);
      EXPECT_EQ(read<std::uint32_t>(kernel.code, kernel.code.size() - 4), GetParam().end) << kernel.name;
      padding += object->elf.from_address(kernel.entry).size() - kernel.code.size();
    }
  }
  EXPECT_GT(padding, 0) << "there was none to leave out";
}

TEST_P(CompiledObject, TellsWhatScratchAWorkItemNeeds) {
  const auto bytes = compiled("scratch", GetParam().file);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  EXPECT_GE(object->kernels.at(0).scratch_bytes, 1024);  // an array of 256 words
}

TEST_P(CompiledObject, IsRefusedOrReadWhereverItIsCutOff) {
  const auto bytes = compiled("data", GetParam().file);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto object = parse_code_object(cut);  // a copy, so that a sanitizer sees what is read beyond
    if (!object.ok()) {
      EXPECT_NE(object.error().kind, ErrorKind::internal);
    }
  }
}

std::string kernel_map(const std::string& name, const std::vector<std::pair<std::string, std::string>>& more = {}) {
  std::vector<std::pair<std::string, std::string>> members = {{".name", pack::text(name)},
                                                              {".symbol", pack::text(name + ".kd")}};
  members.insert(members.end(), more.begin(), more.end());
  return pack::map(members);
}

std::string document(const std::vector<std::string>& kernels) {
  return pack::map({{"amdhsa.kernels", pack::list(kernels)}});
}

TEST(CodeObject, OfEveryVersionIsRead) {
  for (const int version : {3, 4, 5, 6}) {
    ObjectBuilder builder;
    builder.abi_version = static_cast<std::uint8_t>(version - 2);
    builder.add_kernel("k", {kEnd});
    builder.add_metadata(document({kernel_map("k")}));
    const auto bytes = builder.build();
    const auto object = parse_code_object(bytes);
    ASSERT_TRUE(object.ok()) << error_text(object);
    EXPECT_EQ(object->version, version);
    EXPECT_EQ(object->kernels.at(0).name, "k");
  }
}

TEST(CodeObject, WithoutMetadataHasTheKernelsOfItsDescriptors) {
  ObjectBuilder builder;
  std::vector<std::byte> descriptor(64);
  put(descriptor, 0, std::uint32_t{512});                     // LDS
  put(descriptor, 4, std::uint32_t{48});                      // scratch
  put(descriptor, 56, static_cast<std::uint16_t>(1u << 10));  // wave32
  builder.add_kernel("k", {0xbf800000, kEnd}, descriptor);
  const auto bytes = builder.build();
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  ASSERT_EQ(object->kernels.size(), 1);
  const Kernel& kernel = object->kernels[0];
  EXPECT_FALSE(kernel.has_metadata);
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.wave_width, 32);
  EXPECT_EQ(kernel.lds_bytes, 512);
  EXPECT_EQ(kernel.scratch_bytes, 48);
  EXPECT_EQ(kernel.code.size(), 8);
}

TEST(CodeObject, OfAFunctionWithoutSizeEndsAtTheNextOne) {
  ObjectBuilder builder;
  const std::uint64_t entry = builder.add(std::vector<std::byte>(96));
  std::vector<std::byte> descriptor(64);
  const std::uint64_t place = builder.add(descriptor);
  put(descriptor, 16, entry - place);
  const std::uint64_t second = builder.add(descriptor);
  put(descriptor, 16, entry - second);
  const std::uint64_t third = builder.add(descriptor);
  builder.add_symbol("k", 2, entry, 0);
  builder.add_symbol("next", 2, entry + 32, 4);
  builder.add_symbol("k.kd", 1, third, 64);
  auto bytes = builder.build();
  put(bytes, static_cast<std::size_t>(third - ObjectBuilder::kBase + 16), entry - third);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  EXPECT_EQ(object->kernels.at(0).code.size(), 32);
}

TEST(CodeObject, OfVersion2HasAmdKernelCodeInPlaceOfADescriptor) {
  ObjectBuilder builder;
  builder.abi_version = 0;
  builder.flags = 0;  // so that the note tells the target
  std::vector<std::byte> code(256 + 8);
  put(code, 16, std::int64_t{256});
  put(code, 48, std::uint32_t{0x00af0041});
  put(code, 52, std::uint32_t{0x8c});
  put(code, 56, std::uint32_t{0x9});   // private segment buffer, kernarg pointer
  put(code, 60, std::uint32_t{16});    // scratch
  put(code, 64, std::uint32_t{2048});  // LDS
  put(code, 72, std::uint64_t{20});    // arguments
  put(code, 84, std::uint16_t{9});     // SGPRs
  put(code, 86, std::uint16_t{6});     // VGPRs
  put(code, 100, std::uint8_t{4});     // 2^4
  put(code, 103, std::uint8_t{6});     // 2^6
  put(code, 260, kEnd);
  builder.add_symbol("old", 10, builder.add(code), code.size());
  std::vector<std::byte> isa;
  append(isa, std::uint16_t{4});
  append(isa, std::uint16_t{7});
  for (const std::uint32_t number : {8u, 0u, 3u}) append(isa, number);
  append(isa, std::string_view("AMD\0AMDGPU\0", 11));
  builder.add_note("AMD", 3, as_text(isa));
  const auto bytes = builder.build();

  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  EXPECT_EQ(object->version, 2);
  EXPECT_EQ(object->target.to_string(), "gfx803");
  ASSERT_EQ(object->kernels.size(), 1);
  const Kernel& kernel = object->kernels[0];
  EXPECT_EQ(kernel.name, "old");
  EXPECT_EQ(kernel.code.size(), 8);
  EXPECT_EQ(read<std::uint32_t>(kernel.code, 4), kEnd);
  EXPECT_EQ(kernel.wave_width, 64);
  EXPECT_EQ(kernel.lds_bytes, 2048);
  EXPECT_EQ(kernel.scratch_bytes, 16);
  EXPECT_EQ(kernel.kernarg_bytes, 20);
  EXPECT_EQ(kernel.kernarg_alignment, 16);
  EXPECT_EQ(kernel.sgprs, 9);
  EXPECT_EQ(kernel.vgprs, 6);
  EXPECT_EQ(kernel.descriptor.rsrc1, 0x00af0041);
  EXPECT_TRUE(kernel.descriptor.passes(UserSgpr::private_segment_buffer));
  EXPECT_TRUE(kernel.descriptor.passes(UserSgpr::kernarg_pointer));
  EXPECT_FALSE(kernel.descriptor.passes(UserSgpr::dispatch_pointer));
}

/// What is done to a good object, and what the error must say.
struct Refusal {
  std::string_view name;
  void (*change)(ObjectBuilder&);
  std::string_view says;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) {
  *stream << refusal.name;
}

class Refused : public testing::TestWithParam<Refusal> {};

INSTANTIATE_TEST_SUITE_P(
    CodeObject, Refused,
    testing::Values(
        Refusal{"AnotherMachine", [](ObjectBuilder& object) { object.machine = 62; }, "machine 62"},
        Refusal{"AnotherAbi", [](ObjectBuilder& object) { object.os_abi = 65; },
                "unsupported: is an AMD object for PAL's ABI"},
        Refusal{"ALaterVersion", [](ObjectBuilder& object) { object.abi_version = 5; }, "code object version 7"},
        Refusal{"AnUnknownProcessor", [](ObjectBuilder& object) { object.flags = 0xfe; }, "processor of number 0xfe"},
        Refusal{"WhatIsNotLinked", [](ObjectBuilder& object) { object.type = 1; }, "ld.lld -shared"},
        Refusal{"MetadataOfAKernelThatIsNotThere",
                [](ObjectBuilder& object) { object.add_metadata(document({kernel_map("lost")})); },
                "kernel \"lost\": its descriptor \"lost.kd\" is no symbol"},
        Refusal{"ADescriptorOutsideOfTheFile",
                [](ObjectBuilder& object) {
                  object.add_symbol("far.kd", 1, 0x7fffffff, 64);
                  object.add_metadata(document({kernel_map("far")}));
                },
                "kernel \"far\": its descriptor, address 0x7fffffff, lies in no segment"},
        Refusal{"AnEntryOutsideOfTheFile",
                [](ObjectBuilder& object) {
                  std::vector<std::byte> descriptor(64);
                  put(descriptor, 16, std::int64_t{1} << 62);
                  object.add_symbol("far.kd", 1, object.add(descriptor), 64);
                  object.add_metadata(document({kernel_map("far")}));
                },
                "lies in no segment"},
        Refusal{"CodeBeyondTheFile",
                [](ObjectBuilder& object) {
                  object.add_kernel("long", {kEnd});
                  const std::uint64_t entry = object.add(std::vector<std::byte>(4));
                  std::vector<std::byte> descriptor(64);
                  const std::uint64_t place = object.add(std::vector<std::byte>());
                  put(descriptor, 16, entry - place);
                  object.add_symbol("k", 2, entry, 1 << 20);
                  object.add_symbol("k.kd", 1, object.add(descriptor), 64);
                  object.add_metadata(document({kernel_map("k")}));
                },
                "1048576 bytes of code are claimed"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_P(Refused, ByName) {
  ObjectBuilder builder;
  GetParam().change(builder);
  const auto bytes = builder.build();
  EXPECT_THAT(error_text(parse_code_object(bytes)), HasSubstr(GetParam().says));
}

TEST(CodeObject, WithNamesThatOverlapWithoutEndIsRefusedInLittleTime) {
  // 10,000 symbols, each of which has the same name of a megabyte.
  ObjectBuilder builder;
  builder.add_symbol(std::string(1 << 20, 'n'), 2, 0, 0);
  auto bytes = builder.build();
  auto elf = parse_elf(bytes);
  ASSERT_TRUE(elf.ok()) << error_text(elf);
  Section table = *elf->find_section(elf::kSymbolTable);
  std::vector<std::byte> symbols;
  for (int i = 0; i < 10000; ++i) symbols.insert(symbols.end(), table.content.begin() + 24, table.content.begin() + 48);
  table.content = symbols;
  EXPECT_THAT(error_text(read_symbols(*elf, table)), HasSubstr("overlap"));
}

}  // namespace
}  // namespace wavegate::amdgpu::object
