#include "wavegate/amdgpu/object/image.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kBase = 0x7f0000000000;

class LoadedObject : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(OfEveryTarget, LoadedObject,
                         testing::Values("gfx900.w64", "gfx942.w64", "gfx1030.w32", "gfx1100.w32", "gfx1200.w32"),
                         [](const auto& each) { return std::string(each.param.substr(0, each.param.find('.'))); });

const Symbol* find_symbol(const CodeObject& object, std::string_view name) {
  const auto found = std::ranges::find(object.symbols, name, &Symbol::name);
  return found == object.symbols.end() ? nullptr : &*found;
}

TEST_P(LoadedObject, HasTheAddressesOfItsTablesWhereItRefersToThem) {
  const auto bytes = compiled("data", GetParam());
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  auto image = load(*object, kBase);
  ASSERT_TRUE(image.ok()) << error_text(image);
  const Symbol* tables = find_symbol(*object, "tables");
  ASSERT_NE(tables, nullptr);
  // tables[0] leads to the primes, tables[1] to the squares, each eight words.
  constexpr std::uint32_t kValues[2][8] = {{2, 3, 5, 7, 11, 13, 17, 19}, {0, 1, 4, 9, 16, 25, 36, 49}};
  for (std::uint64_t table = 0; table < 2; ++table) {
    const auto pointer = read<std::uint64_t>(image->at(image->address_of(tables->value) + 8 * table, 8), 0);
    ASSERT_TRUE(pointer.has_value());
    EXPECT_GE(*pointer, kBase);
    const auto values = image->at(*pointer, 32);
    ASSERT_EQ(values.size(), 32);
    EXPECT_EQ(std::memcmp(values.data(), kValues[table], 32), 0);
  }
}

TEST_P(LoadedObject, HasItsCodeToRunAndItsVariablesToWrite) {
  const auto bytes = compiled("data", GetParam());
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  auto image = load(*object, kBase);
  ASSERT_TRUE(image.ok()) << error_text(image);
  const auto segment_of = [&](std::uint64_t address) -> const ImageSegment* {
    for (const ImageSegment& segment : image->segments)
      if (address >= segment.address && address - segment.address < segment.bytes.size()) return &segment;
    return nullptr;
  };
  const Kernel* kernel = object->find_kernel("data");
  const Symbol* calls = find_symbol(*object, "calls");
  ASSERT_TRUE(kernel != nullptr && calls != nullptr);
  const ImageSegment* code = segment_of(image->address_of(kernel->entry));
  ASSERT_NE(code, nullptr);
  EXPECT_TRUE(code->executable && !code->writable);
  const auto loaded = image->at(image->address_of(kernel->entry), kernel->code.size());
  EXPECT_TRUE(std::ranges::equal(loaded, kernel->code));
  const ImageSegment* variables = segment_of(image->address_of(calls->value));
  ASSERT_NE(variables, nullptr);
  EXPECT_TRUE(variables->writable && !variables->executable);
  for (const std::byte byte : image->at(image->address_of(calls->value), 16)) EXPECT_EQ(byte, std::byte{0});
}

TEST(Image, TakesNoMoreMemoryThanItsLimit) {
  ObjectBuilder builder;
  auto bytes = builder.build();
  put(bytes, 64 + 40, std::uint64_t{1} << 40);  // of the loaded segment, in memory
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  EXPECT_THAT(error_text(load(*object, kBase)), HasSubstr("more memory than the limit of 1073741824 bytes"));
}

TEST(Image, ThatReachesBeyondTheLastAddressIsRefused) {
  const auto bytes = ObjectBuilder().build();
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  EXPECT_THAT(error_text(load(*object, ~std::uint64_t{4095})), HasSubstr("beyond the last address"));
}

/// An object of one loaded segment with words to relocate at `word`, symbols "here" and "elsewhere", and one
/// relocation.
class RelocatedWord : public testing::Test {
 protected:
  Result<std::uint64_t> relocate(std::uint32_t type, std::uint32_t symbol, std::int64_t addend,
                                 std::uint64_t place = 0x40, const LoadOptions& options = {}) {
    std::vector<std::byte> entry;
    append(entry, place);
    append(entry, type);
    append(entry, symbol);
    append(entry, addend);
    std::vector<std::byte> symbols(24);
    append_symbol(symbols, 1, 1, 0x5000);
    append_symbol(symbols, 6, 0, 0);
    const auto names = to_bytes(std::string_view("\0here\0elsewhere\0", 16));
    const std::vector<std::byte> memory(0x100);
    CodeObject object;
    object.elf.segments = {{elf::kLoadSegment, 0, 0, 0x100, 0, memory}};
    object.elf.sections.resize(4);
    object.elf.sections[1] = {"", elf::kDynamicSymbols, 0, 0, 0, 2, 0, 24, symbols};
    object.elf.sections[2].content = names;
    object.elf.sections[3] = {"", elf::kRelocationsWithAddend, elf::kSectionAllocated, 0, 0, 1, 0, 24, entry};
    WAVEGATE_TRY(Image image, load(object, kBase, options));
    return read<std::uint64_t>(image.at(kBase + 0x40, 8), 0).value_or(0);
  }

 private:
  static void append_symbol(std::vector<std::byte>& symbols, std::uint32_t name, std::uint16_t section,
                            std::uint64_t value) {
    append(symbols, name);
    append(symbols, std::uint16_t{0x11});  // global, an object
    append(symbols, section);
    append(symbols, value);
    append(symbols, std::uint64_t{0});
  }
};

TEST_F(RelocatedWord, HoldsWhatItsTypeSays) {
  // LLVM's AMDGPUUsage, "Relocation Records", with S = kBase + 0x5000, P = kBase + 0x40.
  EXPECT_EQ(relocate(0, 0, 0).value(), 0);
  EXPECT_EQ(relocate(1, 1, 4).value(), 0x00005004);                // ABS32_LO
  EXPECT_EQ(relocate(2, 1, 4).value(), 0x00007f00);                // ABS32_HI
  EXPECT_EQ(relocate(3, 1, 4).value(), 0x7f0000005004);            // ABS64
  EXPECT_EQ(relocate(4, 1, -4).value(), 0x4fbc);                   // REL32
  EXPECT_EQ(relocate(5, 1, -0x6000).value(), 0xffffffffffffefc0);  // REL64
  EXPECT_EQ(relocate(6, 1, 0).value(), 0x00005000);                // ABS32
  EXPECT_EQ(relocate(10, 1, -0x6000).value(), 0xffffefc0);         // REL32_LO
  EXPECT_EQ(relocate(11, 1, -0x6000).value(), 0xffffffff);         // REL32_HI
  EXPECT_EQ(relocate(13, 0, 0x60).value(), 0x7f0000000060);        // RELATIVE64
}

TEST_F(RelocatedWord, OfASymbolFromElsewhereAsksForItsAddress) {
  EXPECT_THAT(error_text(relocate(3, 2, 0)), HasSubstr("unsupported: uses \"elsewhere\", which it does not define"));
  LoadOptions options;
  options.resolve = [](std::string_view name) {
    return name == "elsewhere" ? std::optional<std::uint64_t>(0x1234) : std::nullopt;
  };
  EXPECT_EQ(relocate(3, 2, 1, 0x40, options).value(), 0x1235);
}

TEST_F(RelocatedWord, ThatCannotBeIsRefused) {
  EXPECT_THAT(error_text(relocate(3, 3, 0)), HasSubstr("symbol 3 of 3"));
  EXPECT_THAT(error_text(relocate(3, 1, 0, 0xfc)), HasSubstr("lies in no segment"));
  EXPECT_THAT(error_text(relocate(3, 1, 0, ~std::uint64_t{0})), HasSubstr("lies in no segment"));
  EXPECT_THAT(error_text(relocate(7, 1, 0)), HasSubstr("type 7"));
}

}  // namespace
}  // namespace wavegate::amdgpu::object
