#include "wavegate/amdgpu/object/source_lines.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

/// The input is a section .debug_line, and its own strings. Files that are found lie within it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::amdgpu::object;
  Elf elf;
  for (const char* name : {".debug_line", ".debug_line_str", ".debug_str"}) {
    Section section;
    section.name = name;
    section.content = std::as_bytes(std::span(data, size));
    elf.sections.push_back(section);
  }
  const auto lines = SourceLines::parse(elf);
  if (!lines.ok()) {
    if (lines.error().kind == wavegate::ErrorKind::internal) std::abort();
    return 0;
  }
  for (std::uint64_t address = 0; address < 1 << 16; address += 4)
    if (const auto position = lines->find(address);
        position && (position->line == 0 || position->file.size() > 2 * size + 1))
      std::abort();
  return 0;
}
