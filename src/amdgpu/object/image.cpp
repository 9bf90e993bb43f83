#include "wavegate/amdgpu/object/image.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::size_t kRelocationSize = 24;
/// Linkers make two: for data and for calls between objects. Each is read once.
constexpr int kMostTables = 16;
constexpr std::uint16_t kAbsoluteSection = 0xfff1;
constexpr std::uint8_t kWeak = 2;

/// R_AMDGPU_*: what is stored, of S + A (the symbol's address and the addend), B (the base) and P (the place).
enum class Value : std::uint8_t { absolute, relative_to_place, relative_to_base };
struct RelocationRow {
  std::uint32_t type;
  Value value;
  unsigned shift;  ///< The half that is stored of a value of which only 32 bits are.
  std::size_t size;
};
constexpr RelocationRow kRelocations[] = {
    {1, Value::absolute, 0, 4},             // ABS32_LO
    {2, Value::absolute, 32, 4},            // ABS32_HI
    {3, Value::absolute, 0, 8},             // ABS64
    {4, Value::relative_to_place, 0, 4},    // REL32
    {5, Value::relative_to_place, 0, 8},    // REL64
    {6, Value::absolute, 0, 4},             // ABS32
    {10, Value::relative_to_place, 0, 4},   // REL32_LO
    {11, Value::relative_to_place, 32, 4},  // REL32_HI
    {13, Value::relative_to_base, 0, 8},    // RELATIVE64
};

Result<Image> lay_out(const Elf& elf, std::uint64_t base, std::uint64_t maximum_bytes) {
  Image image;
  image.base = base;
  std::uint64_t total = 0;
  for (const Segment& segment : elf.segments) {
    if (segment.type != elf::kLoadSegment || segment.memory_size == 0) continue;
    if (segment.memory_size > maximum_bytes - total)
      return invalid_input(format("takes more memory than the limit of {} bytes", maximum_bytes));
    total += segment.memory_size;
    if (base + segment.address < base || base + segment.address + segment.memory_size < base + segment.address)
      return invalid_input(format("reaches beyond the last address when loaded at {:#x}", base));
    ImageSegment part;
    part.address = base + segment.address;
    part.bytes.resize(static_cast<std::size_t>(segment.memory_size));
    std::ranges::copy(segment.content, part.bytes.begin());
    part.writable = (segment.flags & elf::kSegmentWritable) != 0;
    part.executable = (segment.flags & elf::kSegmentExecutable) != 0;
    image.segments.push_back(std::move(part));
  }
  std::ranges::sort(image.segments, {}, &ImageSegment::address);
  for (std::size_t i = 1; i < image.segments.size(); ++i)
    if (image.segments[i].address - image.segments[i - 1].address < image.segments[i - 1].bytes.size())
      return invalid_input("has segments that overlap");
  return image;
}

class Relocator {
 public:
  Relocator(const Elf& elf, Image& image, const LoadOptions& options) : elf_(elf), image_(image), options_(options) {}

  Result<void> apply(const Section& table) {
    if (table.type == elf::kRelocations)
      return unsupported("has relocations without addends, which AMD's linkers do not make");
    if (table.entry_size != kRelocationSize || table.content.size() % kRelocationSize != 0)
      return invalid_input(format("has relocations that do not have {} bytes each", kRelocationSize));
    std::vector<Symbol> symbols;
    if (table.link != 0) {
      if (table.link >= elf_.sections.size())
        return invalid_input(format("has relocations with symbols of section {}, which there is not", table.link));
      WAVEGATE_TRY(symbols, read_symbols(elf_, elf_.sections[table.link]));
    }
    for (std::size_t at = 0; at < table.content.size(); at += kRelocationSize)
      WAVEGATE_CHECK(apply(table.content.subspan(at, kRelocationSize), symbols));
    return {};
  }

 private:
  Result<void> apply(Bytes entry, const std::vector<Symbol>& symbols) {
    const auto place = image_.base + read_known<std::uint64_t>(entry, 0);
    const auto type = read_known<std::uint32_t>(entry, 8);
    const auto symbol = read_known<std::uint32_t>(entry, 12);
    const auto addend = read_known<std::uint64_t>(entry, 16);  // two's complement, and all sums are modulo 2^64
    if (type == 0) return {};
    const auto row = std::ranges::find(kRelocations, type, &RelocationRow::type);
    if (row == std::end(kRelocations))
      return unsupported(
          format("has a relocation of type {} at {:#x}, which the linker should have resolved", type, place));
    std::uint64_t value = image_.base + addend;
    if (row->value != Value::relative_to_base) {
      if (symbol >= symbols.size())
        return invalid_input(format("has a relocation at {:#x} with symbol {} of {}", place, symbol, symbols.size()));
      WAVEGATE_TRY(const std::uint64_t address, address_of(symbols[symbol]));
      value = address + addend - (row->value == Value::relative_to_place ? place : 0);
    }
    value >>= row->shift;
    const std::span<std::byte> bytes = image_.at(place, row->size);
    if (bytes.empty()) return invalid_input(format("has a relocation at {:#x}, which lies in no segment", place));
    std::memcpy(bytes.data(), &value, row->size);
    return {};
  }

  Result<std::uint64_t> address_of(const Symbol& symbol) const {
    if (symbol.section == kAbsoluteSection) return symbol.value;
    if (symbol.section != 0) return image_.base + symbol.value;
    if (options_.resolve)
      if (const auto address = options_.resolve(symbol.name)) return *address;
    if (symbol.name.empty() || symbol.binding == kWeak) return std::uint64_t{0};
    return unsupported(
        format("uses \"{}\", which it does not define; the launcher must give its address", symbol.name));
  }

  const Elf& elf_;
  Image& image_;
  const LoadOptions& options_;
};

}  // namespace

std::span<std::byte> Image::at(std::uint64_t address, std::uint64_t size) {
  for (ImageSegment& segment : segments) {
    if (address < segment.address) continue;
    const std::uint64_t offset = address - segment.address;
    if (offset <= segment.bytes.size() && size <= segment.bytes.size() - offset)
      return std::span(segment.bytes).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }
  return {};
}

Result<Image> load(const CodeObject& object, std::uint64_t base, const LoadOptions& options) {
  if (base % 4096 != 0) return internal_error(format("the base address {:#x} is no multiple of 4096", base));
  try {
    WAVEGATE_TRY(Image image, lay_out(object.elf, base, options.maximum_bytes));
    Relocator relocator(object.elf, image, options);
    int tables = 0;
    for (const Section& section : object.elf.sections) {
      const bool relocates = section.type == elf::kRelocationsWithAddend || section.type == elf::kRelocations;
      // Those that are not loaded are a linker's notes on what it resolved.
      if (!relocates || (section.flags & elf::kSectionAllocated) == 0) continue;
      if (++tables > kMostTables) return unsupported(format("has more than {} tables of relocations", kMostTables));
      WAVEGATE_CHECK(relocator.apply(section));
    }
    return image;
  } catch (const std::bad_alloc&) {
    return device_error("the object does not fit into this machine's memory");
  }
}

}  // namespace wavegate::amdgpu::object
