#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/result.h"

/// The parts of a 64-bit little-endian ELF file that this project reads, of whatever machine it is. All are views of
/// the file's bytes, which must outlive them; time and memory are linear in its size, whatever it claims.
namespace wavegate::amdgpu::object {

namespace elf {
inline constexpr std::uint16_t kMachineAmdGpu = 224;
inline constexpr std::uint16_t kRelocatable = 1, kExecutable = 2, kSharedObject = 3;  // Elf::type
inline constexpr std::uint32_t kLoadSegment = 1, kNoteSegment = 4;                    // Segment::type
inline constexpr std::uint32_t kSegmentExecutable = 1, kSegmentWritable = 2;          // Segment::flags
inline constexpr std::uint32_t kSymbolTable = 2, kRelocationsWithAddend = 4, kNotes = 7, kNoBits = 8, kRelocations = 9,
                               kDynamicSymbols = 11;                           // Section::type
inline constexpr std::uint64_t kSectionAllocated = 2, kSectionExecutable = 4;  // Section::flags
inline constexpr std::uint8_t kSymbolObject = 1, kSymbolFunction = 2, kSymbolSection = 3,
                              kSymbolHsaKernel = 10;  // Symbol::type
}  // namespace elf

struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< Of a section without bits, in memory alone.
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
  Bytes content;
};

struct Segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t alignment = 0;
  Bytes content;
};

struct Symbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint8_t type = 0;
  std::uint8_t binding = 0;
  std::uint16_t section = 0;  ///< 0: not defined here.
};

struct Note {
  std::string_view owner;
  std::uint32_t type = 0;
  Bytes content;
};

struct Elf {
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0;
  std::vector<Section> sections;
  std::vector<Segment> segments;

  const Section* find_section(std::string_view name) const;
  const Section* find_section(std::uint32_t type) const;
  /// What the file holds for `size` bytes of memory at an address; nothing where they do not all lie in one loaded
  /// segment's content.
  std::optional<Bytes> at_address(std::uint64_t address, std::uint64_t size) const;
  /// From an address to the end of its segment's content; empty where none holds it.
  Bytes from_address(std::uint64_t address) const;
};

/// True if the bytes begin as an ELF file does.
bool is_elf(Bytes bytes);

/// Reads headers, sections and segments.
Result<Elf> parse_elf(Bytes bytes);

/// The symbols of a symbol table, the first, which is none, among them, so that their places are those that relocations
/// name. The table's `link` must be its string table.
Result<std::vector<Symbol>> read_symbols(const Elf& elf, const Section& table);

/// The notes of all note segments, or of all note sections where there is no segment.
Result<std::vector<Note>> read_notes(const Elf& elf);

}  // namespace wavegate::amdgpu::object
