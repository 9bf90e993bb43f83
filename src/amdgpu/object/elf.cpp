#include "wavegate/amdgpu/object/elf.h"

#include <algorithm>

#include "wavegate/amdgpu/object/strings.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::string_view kMagic =
    "\x7f"
    "ELF";
constexpr std::size_t kHeaderSize = 64, kSectionSize = 64, kSegmentSize = 56, kSymbolSize = 24, kNoteHeaderSize = 12;
/// Linkers make about ten. Every look-up of an address walks over them.
constexpr std::size_t kMostSegments = 128;

Error cut_off(std::string_view what) {
  return invalid_input(format("the ELF file is cut off in its {}", what));
}

/// The entries of a table of headers.
Result<Bytes> header_table(Bytes bytes, std::uint64_t offset, std::uint64_t count, std::uint16_t entry_size,
                           std::size_t expected_size, std::string_view what) {
  if (count == 0) return Bytes();
  if (entry_size != expected_size)
    return invalid_input(format("its {} have {} bytes each; expected {}", what, entry_size, expected_size));
  const auto table = slice(bytes, offset, count * expected_size);  // count is of 16 bits
  if (!table) return cut_off(what);
  return *table;
}

Result<Section> read_section(Bytes bytes, Bytes header, std::size_t index) {
  Section section;
  section.type = read_known<std::uint32_t>(header, 4);
  section.flags = read_known<std::uint64_t>(header, 8);
  section.address = read_known<std::uint64_t>(header, 16);
  section.size = read_known<std::uint64_t>(header, 32);
  section.link = read_known<std::uint32_t>(header, 40);
  section.info = read_known<std::uint32_t>(header, 44);
  section.entry_size = read_known<std::uint64_t>(header, 56);
  if (section.type == elf::kNoBits || section.type == 0) return section;
  const auto content = slice(bytes, read_known<std::uint64_t>(header, 24), section.size);
  if (!content) return cut_off(format("section {}", index));
  section.content = *content;
  return section;
}

Result<void> read_sections(Bytes bytes, Elf& elf) {
  const auto count = read_known<std::uint16_t>(bytes, 60);
  WAVEGATE_TRY(const Bytes table, header_table(bytes, read_known<std::uint64_t>(bytes, 40), count,
                                               read_known<std::uint16_t>(bytes, 58), kSectionSize, "section headers"));
  for (std::size_t i = 0; i < count; ++i) {
    WAVEGATE_TRY(Section section, read_section(bytes, table.subspan(i * kSectionSize, kSectionSize), i));
    elf.sections.push_back(section);
  }
  const auto names = read_known<std::uint16_t>(bytes, 62);
  if (names == 0 || count == 0) return {};
  if (names >= count) return invalid_input(format("section {} is to hold the names of {} sections", names, count));
  Strings strings(elf.sections[names].content);
  for (std::size_t i = 0; i < count; ++i) {
    WAVEGATE_TRY(elf.sections[i].name, strings.at(read_known<std::uint32_t>(table, i * kSectionSize)));
  }
  return {};
}

Result<void> read_segments(Bytes bytes, Elf& elf) {
  const auto count = read_known<std::uint16_t>(bytes, 56);
  if (count > kMostSegments)
    return unsupported(format("{} program headers; at most {} are read", count, kMostSegments));
  WAVEGATE_TRY(const Bytes table, header_table(bytes, read_known<std::uint64_t>(bytes, 32), count,
                                               read_known<std::uint16_t>(bytes, 54), kSegmentSize, "program headers"));
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes header = table.subspan(i * kSegmentSize, kSegmentSize);
    Segment segment;
    segment.type = read_known<std::uint32_t>(header, 0);
    segment.flags = read_known<std::uint32_t>(header, 4);
    segment.address = read_known<std::uint64_t>(header, 16);
    segment.memory_size = read_known<std::uint64_t>(header, 40);
    segment.alignment = read_known<std::uint64_t>(header, 48);
    const auto content = slice(bytes, read_known<std::uint64_t>(header, 8), read_known<std::uint64_t>(header, 32));
    if (!content) return cut_off(format("segment {}", i));
    segment.content = *content;
    if (segment.type == elf::kLoadSegment) {
      if (segment.content.size() > segment.memory_size)
        return invalid_input(
            format("segment {} holds {} bytes for {} of memory", i, segment.content.size(), segment.memory_size));
      if (segment.address + segment.memory_size < segment.address)
        return invalid_input(format("segment {} reaches beyond the last address", i));
    }
    elf.segments.push_back(segment);
  }
  return {};
}

/// The notes that follow each other in one segment. Notes are aligned to 4 bytes whatever their segment says: AMD's
/// are.
Result<void> read_notes_of(Bytes bytes, std::vector<Note>& notes) {
  std::uint64_t position = 0;
  const auto aligned = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
  while (bytes.size() - position >= kNoteHeaderSize) {
    const auto owner_size = read_known<std::uint32_t>(bytes, position);
    const auto content_size = read_known<std::uint32_t>(bytes, position + 4);
    const auto type = read_known<std::uint32_t>(bytes, position + 8);
    position += kNoteHeaderSize;
    const auto owner = slice(bytes, position, owner_size);
    const auto content = slice(bytes, position + aligned(owner_size), content_size);
    if (!owner || !content) return cut_off("notes");
    notes.push_back({as_text(*owner).substr(0, as_text(*owner).find('\0')), type, *content});
    // The last note's padding may lack.
    position = std::min<std::uint64_t>(position + aligned(owner_size) + aligned(content_size), bytes.size());
  }
  return {};
}

}  // namespace

const Section* Elf::find_section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

const Section* Elf::find_section(std::uint32_t section_type) const {
  const auto found = std::ranges::find(sections, section_type, &Section::type);
  return found == sections.end() ? nullptr : &*found;
}

std::optional<Bytes> Elf::at_address(std::uint64_t address, std::uint64_t size) const {
  return slice(from_address(address), 0, size);
}

Bytes Elf::from_address(std::uint64_t address) const {
  for (const Segment& segment : segments) {
    if (segment.type != elf::kLoadSegment || address < segment.address) continue;
    const std::uint64_t offset = address - segment.address;
    if (offset < segment.content.size()) return segment.content.subspan(static_cast<std::size_t>(offset));
  }
  return {};
}

bool is_elf(Bytes bytes) {
  return as_text(bytes).starts_with(kMagic);
}

Result<Elf> parse_elf(Bytes bytes) {
  if (!is_elf(bytes)) return invalid_input("is no ELF file: it does not start with ELF's magic number");
  if (bytes.size() < kHeaderSize) return cut_off("header");
  const auto width = read_known<std::uint8_t>(bytes, 4);
  const auto order = read_known<std::uint8_t>(bytes, 5);
  if (width != 2 || order != 1) return unsupported("is an ELF file that is not of 64 bits and little-endian");
  Elf elf;
  elf.os_abi = read_known<std::uint8_t>(bytes, 7);
  elf.abi_version = read_known<std::uint8_t>(bytes, 8);
  elf.type = read_known<std::uint16_t>(bytes, 16);
  elf.machine = read_known<std::uint16_t>(bytes, 18);
  elf.flags = read_known<std::uint32_t>(bytes, 48);
  WAVEGATE_CHECK(read_segments(bytes, elf));
  WAVEGATE_CHECK(read_sections(bytes, elf));
  return elf;
}

Result<std::vector<Symbol>> read_symbols(const Elf& elf, const Section& table) {
  if (table.entry_size != kSymbolSize || table.content.size() % kSymbolSize != 0)
    return invalid_input(format("the symbols of section \"{}\" do not have {} bytes each", table.name, kSymbolSize));
  if (table.link >= elf.sections.size())
    return invalid_input(
        format("section \"{}\" has its names in section {}, which there is not", table.name, table.link));
  Strings strings(elf.sections[table.link].content);
  std::vector<Symbol> symbols;
  symbols.reserve(table.content.size() / kSymbolSize);
  for (std::size_t at = 0; at < table.content.size(); at += kSymbolSize) {
    const auto info = read_known<std::uint8_t>(table.content, at + 4);
    Symbol symbol;
    WAVEGATE_TRY(symbol.name, strings.at(read_known<std::uint32_t>(table.content, at)));
    symbol.type = info & 0xf;
    symbol.binding = info >> 4;
    symbol.section = read_known<std::uint16_t>(table.content, at + 6);
    symbol.value = read_known<std::uint64_t>(table.content, at + 8);
    symbol.size = read_known<std::uint64_t>(table.content, at + 16);
    symbols.push_back(symbol);
  }
  return symbols;
}

Result<std::vector<Note>> read_notes(const Elf& elf) {
  std::vector<Note> notes;
  // Each segment of notes would be read again wherever it overlaps another; no linker makes more than a few.
  constexpr int kMostNoteSegments = 8;
  int read = 0;
  for (const Segment& segment : elf.segments) {
    if (segment.type != elf::kNoteSegment) continue;
    if (++read > kMostNoteSegments) return unsupported(format("more than {} segments of notes", kMostNoteSegments));
    WAVEGATE_CHECK(read_notes_of(segment.content, notes));
  }
  if (read > 0) return notes;
  for (const Section& section : elf.sections) {
    if (section.type != elf::kNotes) continue;
    if (++read > kMostNoteSegments) return unsupported(format("more than {} sections of notes", kMostNoteSegments));
    WAVEGATE_CHECK(read_notes_of(section.content, notes));
  }
  return notes;
}

}  // namespace wavegate::amdgpu::object
