#include "wavegate/amdgpu/object/source_lines.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"
#include "wavegate/amdgpu/object/code_object.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::HasSubstr;

using Position = SourceLines::Position;

/// The number of the line of a kernel's source that holds this text.
std::uint32_t line_with(std::string_view kernel, std::string_view text) {
  std::ifstream file(format("{}/tests/amdgpu/kernels/{}.cl", WAVEGATE_SOURCE_DIR, kernel));
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number)
    if (line.find(text) != std::string::npos) return number;
  ADD_FAILURE() << "no line of " << kernel << " holds " << text;
  return 0;
}

struct Compiled {
  std::string_view file;
  std::uint32_t barrier;  ///< s_barrier
  std::uint32_t end;      ///< s_endpgm
};

class CompiledLines : public testing::TestWithParam<Compiled> {};

INSTANTIATE_TEST_SUITE_P(OfBothVersions, CompiledLines,
                         testing::Values(Compiled{"gfx900.w64_dwarf4", 0xbf8a0000, 0xbf810000},
                                         Compiled{"gfx900.w64_dwarf5", 0xbf8a0000, 0xbf810000},
                                         Compiled{"gfx1030.w32_dwarf4", 0xbf8a0000, 0xbf810000},
                                         Compiled{"gfx1030.w32_dwarf5", 0xbf8a0000, 0xbf810000}),
                         [](const auto& each) {
                           std::string name(each.param.file);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

void PrintTo(const Compiled& compiled, std::ostream* stream) {
  *stream << compiled.file;
}

TEST_P(CompiledLines, LeadFromAnInstructionToTheLineThatItCameFrom) {
  const auto bytes = compiled("group_sum", GetParam().file);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const auto lines = SourceLines::parse(object->elf);
  ASSERT_TRUE(lines.ok()) << error_text(lines);
  const Kernel& kernel = object->kernels.at(0);
  std::size_t barriers = 0;
  for (std::size_t offset = 0; offset < kernel.code.size(); offset += 4) {
    if (read<std::uint32_t>(kernel.code, offset) != GetParam().barrier) continue;
    ++barriers;
    const auto position = lines->find(kernel.entry + offset);
    ASSERT_TRUE(position.has_value());
    EXPECT_EQ(position->line, line_with("group_sum", "s_barrier"));
    EXPECT_TRUE(position->file.ends_with("tests/amdgpu/kernels/group_sum.cl")) << position->file;
  }
  EXPECT_GT(barriers, 0);
}

TEST_P(CompiledLines, CoverEveryFunctionAndNothingElse) {
  const auto bytes = compiled("data", GetParam().file);
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const auto lines = SourceLines::parse(object->elf);
  ASSERT_TRUE(lines.ok()) << error_text(lines);
  for (const auto& [name, text] :
       {std::pair("data", "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void data"),
        std::pair("primes_only", "void primes_only")}) {
    const Kernel* kernel = object->find_kernel(name);
    ASSERT_NE(kernel, nullptr);
    const auto first = lines->find(kernel->entry);
    ASSERT_TRUE(first.has_value());
    const std::uint32_t start = line_with("data", text);
    EXPECT_TRUE(first->line >= start && first->line <= start + 4) << first->line;
  }
  EXPECT_EQ(lines->find(0), std::nullopt);
  EXPECT_EQ(lines->find(~std::uint64_t{0}), std::nullopt);
}

TEST(SourceLines, OfAnObjectWithoutDebugInformationAreNone) {
  const auto bytes = compiled("saxpy", "gfx1030.w32");
  const auto object = parse_code_object(bytes);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const auto lines = SourceLines::parse(object->elf);
  ASSERT_TRUE(lines.ok()) << error_text(lines);
  EXPECT_TRUE(lines->empty());
}

/// A unit of version 4, whose header and program are written byte by byte.
class LineProgram : public testing::Test {
 protected:
  static constexpr std::string_view kHeader = {
      "\x04"                                              // bytes of an instruction
      "\x01\x01"                                          // operations; rows are statements
      "\xfb\x0e\x0d"                                      // lines from -5, 14 of them, opcodes up to 12 are standard
      "\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"  // their operands
      "include\0\0"                                       // folders
      "main.cl\0\x00\x00\x00"                             // files: folder 0
      "part.h\0\x01\x00\x00"                              // folder 1
      "\0",
      6 + 12 + 9 + 11 + 10 + 1};

  static std::vector<std::byte> unit(std::string_view program, std::string_view header = kHeader) {
    std::vector<std::byte> bytes;
    append(bytes, static_cast<std::uint32_t>(2 + 4 + header.size() + program.size()));
    append(bytes, std::uint16_t{4});
    append(bytes, static_cast<std::uint32_t>(header.size()));
    append(bytes, header);
    append(bytes, program);
    return bytes;
  }
  static Result<SourceLines> parse(Bytes section) {
    Elf elf;
    Section lines;
    lines.name = ".debug_line";
    lines.content = section;
    elf.sections.push_back(lines);
    return SourceLines::parse(elf);
  }
};

constexpr std::string_view kSetAddress = {"\x00\x09\x02\x00\x10\x00\x00\x00\x00\x00\x00", 11};  // 0x1000
constexpr std::string_view kEnd = {"\x00\x01\x01", 3};

TEST_F(LineProgram, StepsThroughAddressesAndLines) {
  std::string program(kSetAddress);
  program += "\x03\x09\x01";  // line += 9, row: 0x1000 is line 10
  program += "\x02\x02";      // address += 2 instructions
  program += "\x0d";          // special 0: line -= 5, row: 0x1008 is line 5
  program += "\x04\x02";      // file 2
  program += "\x20";          // special 19: address += 1 instruction, line += 0, row: 0x100c is line 5 of part.h
  program += "\x08";          // address += (255 - 13) / 14 = 17 instructions
  program += "\x03\x7b\x01";  // line -= 5, row: 0x1050 is line 0
  program += "\x09";
  program += std::string("\x10\x00", 2);  // address += 16
  program += kEnd;                        // 0x1060
  const auto section = unit(program);
  const auto lines = parse(section);
  ASSERT_TRUE(lines.ok()) << error_text(lines);
  EXPECT_EQ(lines->find(0xfff), std::nullopt);
  EXPECT_EQ(lines->find(0x1000), (Position{"main.cl", 10}));
  EXPECT_EQ(lines->find(0x1007), (Position{"main.cl", 10}));
  EXPECT_EQ(lines->find(0x1008), (Position{"main.cl", 5}));
  EXPECT_EQ(lines->find(0x100c), (Position{"include/part.h", 5}));
  EXPECT_EQ(lines->find(0x104f), (Position{"include/part.h", 5}));
  EXPECT_EQ(lines->find(0x1050), std::nullopt) << "line 0 is the compiler's own";
  EXPECT_EQ(lines->find(0x1060), std::nullopt);
}

TEST_F(LineProgram, OfAnotherUnitThatStartsWhereOneEndsIsFound) {
  std::string first(kSetAddress);
  first += "\x01\x02\x04";
  first += kEnd;
  std::string second("\x00\x09\x02\x10\x10\x00\x00\x00\x00\x00\x00", 11);
  second += "\x03\x01\x01\x02\x01";
  second += kEnd;
  for (const bool swapped : {false, true}) {
    auto section = unit(swapped ? second : first);
    const auto other = unit(swapped ? first : second);
    section.insert(section.end(), other.begin(), other.end());
    const auto lines = parse(section);
    ASSERT_TRUE(lines.ok()) << error_text(lines);
    EXPECT_EQ(lines->find(0x100f), (Position{"main.cl", 1}));
    EXPECT_EQ(lines->find(0x1010), (Position{"main.cl", 2}));
    EXPECT_EQ(lines->find(0x1014), std::nullopt);
  }
}

TEST_F(LineProgram, ThatIsDamagedIsRefused) {
  const auto good = unit(std::string(kSetAddress) + std::string(kEnd));
  for (std::size_t size = 1; size < good.size(); ++size) EXPECT_FALSE(parse(Bytes(good).first(size)).ok()) << size;
  auto bad = good;
  put(bad, 4, std::uint16_t{6});
  EXPECT_THAT(error_text(parse(bad)), HasSubstr("unsupported: .debug_line: version 6"));
  bad = good;
  put(bad, 10 + 4, std::uint8_t{0});  // line_range
  EXPECT_THAT(error_text(parse(bad)), HasSubstr("a step is zero"));
  EXPECT_THAT(error_text(parse(unit("\x02\x80"))), HasSubstr("a line program is cut off"));
}

TEST_F(LineProgram, OfVersion5ThatClaimsFilesWithoutBytesIsRefused) {
  // No parts, 2^64 - 1 entries; then 255 parts of no bytes.
  for (const std::string& lists : {std::string("\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
                                   std::string("\xff", 1) + std::string(510, '\x08') + "\xff\xff\x03"}) {
    std::vector<std::byte> bytes;
    const std::string header = std::string(kHeader.substr(0, 6 + 12)) + lists;
    append(bytes, static_cast<std::uint32_t>(4 + 4 + header.size()));
    append(bytes, std::uint16_t{5});
    append(bytes, std::uint16_t{8});
    append(bytes, static_cast<std::uint32_t>(header.size()));
    append(bytes, std::string_view(header));
    EXPECT_THAT(error_text(parse(bytes)), HasSubstr("a list of files is cut off"));
  }
}

}  // namespace
}  // namespace wavegate::amdgpu::object
