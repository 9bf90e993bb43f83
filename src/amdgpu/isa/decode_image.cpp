#include <algorithm>
#include <bit>
#include <string_view>

#include "wavegate/amdgpu/isa/decoder.h"

namespace wavegate::amdgpu::isa {

namespace {

/// What an opcode's addresses are made of, besides the coordinates that the dimension says.
struct ImageKind {
  std::uint8_t extra;  ///< offset, bias and compared value: a word each
  bool coordinates;
  bool level;  ///< level of detail, its clamp, or the mip: packed with the coordinates
  bool gradients;
  bool half_gradients;
  bool gather;
  bool sampler;
  std::uint8_t most_words;  ///< of the longest addresses, in a range of registers or scattered
};

constexpr bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

constexpr ImageKind parse_kind(std::string_view name) {
  const bool gather = name.starts_with("image_gather4");
  const bool sample = name.starts_with("image_sample");
  const bool sampler = gather || sample || name.starts_with("image_get_lod");
  ImageKind kind = {
      0, name != "image_get_resinfo", name == "image_get_resinfo" || has(name, "_mip"), false, false, gather, sampler,
      4};
  if (!gather && !sample) return kind;
  // Between underscores, so that _c is not found in _cl.
  for (std::size_t at = name.find('_', 6); at != std::string_view::npos;) {
    const std::size_t end = name.find('_', at + 1);
    const std::string_view part = name.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    if (part == "o" || part == "c" || part == "b") ++kind.extra;
    if (part == "l" || part == "cl") kind.level = true;
    if (part == "d" || part == "cd") kind.gradients = true;
    if (part == "g16") kind.half_gradients = true;
    at = end;
  }
  return kind;
}

struct Dimension {
  std::uint8_t coordinates, gradients;
};
constexpr Dimension kDimensions[] = {{1, 2}, {2, 4}, {3, 6}, {3, 4}, {2, 2}, {3, 4}, {3, 4}, {4, 4}};

constexpr unsigned address_words(const ImageKind& kind, Dimension dimension, bool a16) {
  const unsigned components = (kind.coordinates ? dimension.coordinates : 0u) + (kind.level ? 1u : 0u);
  unsigned words = kind.extra + (a16 ? (components + 1) / 2 : components);
  if (kind.gradients) {
    // Of 16 bits, those of either direction begin a word. a16 does not make them so.
    words += kind.half_gradients ? (dimension.gradients / 2u + 1) / 2 * 2 : dimension.gradients;
  }
  return words;
}

constexpr ImageKind kind_of(std::string_view name) {
  if (!name.starts_with("image_")) return {};
  ImageKind kind = parse_kind(name);
  if (!kind.sampler) return kind;
  kind.most_words = 0;
  // Multisampled images, the last two, have no sampler.
  for (unsigned i = 0; i < 6; ++i)
    kind.most_words = std::max(kind.most_words, static_cast<std::uint8_t>(address_words(kind, kDimensions[i], false)));
  return kind;
}

constexpr ImageKind kKinds[] = {
#define WAVEGATE_OPCODE(name, flags) kind_of(#name),
#include "wavegate/amdgpu/isa/tables/opcodes.inc"
#undef WAVEGATE_OPCODE
};

bool set_words(Operand& operand, unsigned words) {
  operand.words = static_cast<std::uint8_t>(words);
  return operand.value + words <= 256;
}

/// Whether a range of registers can have so many words: a form of four or eight may be one of three or seven.
bool has_range(unsigned words, unsigned most) {
  return words <= most || (words == most + 1 && (words == 4 || words == 8));
}

/// How many registers an instruction has for its data and for its addresses.
struct Lengths {
  unsigned data, addresses;
};

/// LLVM prints what no form of an opcode is (a dimension without a sampler, a gather4 with tfe and d16, an atomic of
/// three words) as its first form; so is it here.
Lengths lengths_of(const Decoder& d, const ImageKind& kind, unsigned extra_words) {
  const Instruction& out = d.out;
  const unsigned most = kind.most_words;
  const unsigned addresses = address_words(kind, kDimensions[out.dim], out.has(MemoryFlags::a16));
  unsigned data = kind.gather ? 4u : std::max(1u, static_cast<unsigned>(std::popcount(out.dmask)));
  if (out.has(MemoryFlags::d16)) data = (data + 1) / 2;
  if (out.has(MemoryFlags::tfe)) ++data;
  const unsigned there = std::min(most, 1 + 4 * extra_words);
  bool fits = extra_words == 0 ? has_range(addresses, most) : addresses >= 2 && addresses <= there;
  const bool atomic = info(out.opcode).has(OpcodeFlags::atomic);
  // A comparison has what it compares with besides.
  const bool compares = atomic && has(to_string(out.opcode), "cmpswap");
  if (atomic) fits = fits && (data == 2 || data == 4 || (data == 1 && !compares));
  if (kind.gather) fits = fits && data != 3;
  if (!fits) return {kind.gather ? 4u : compares ? 2u : 1u, extra_words == 0 ? kind.extra + 1u : there};
  if (atomic && !compares && data == 4) data = 5;  // LLVM's form of four words has five
  return {data, extra_words == 0 && addresses > 12 ? 16 : addresses};
}

/// Addresses in registers that do not follow each other: four in each further word.
bool read_scattered_addresses(Decoder& d, const ImageKind& kind, unsigned extra_words, unsigned count) {
  Instruction& out = d.out;
  // There is no form with more words than the longest addresses need.
  if (kind.most_words <= 1 + 4 * (extra_words - 1) || d.words.size() < 2 + extra_words) return false;
  out.address_count = static_cast<std::uint8_t>(count);
  out.addresses[0] = static_cast<std::uint8_t>(out.operands[1].value);
  for (unsigned i = 1; i < count; ++i)
    out.addresses[i] = static_cast<std::uint8_t>(d.words[2 + (i - 1) / 4] >> (i - 1) % 4 * 8);
  out.words = static_cast<std::uint8_t>(2 + extra_words);
  out.operands[1].words = out.address_count;
  return true;
}

void read_flags(Decoder& d) {
  d.set(MemoryFlags::unorm, d.bit(12));
  d.set(MemoryFlags::glc, d.bit(13));
  d.set(MemoryFlags::dlc, d.bit(7));
  d.set(MemoryFlags::slc, d.bit(25));
  d.set(MemoryFlags::r128, d.bit(15));
  d.set(MemoryFlags::tfe, d.bit(16));
  d.set(MemoryFlags::lwe, d.bit(17));
  d.set(MemoryFlags::a16, d.bit(62));
  d.set(MemoryFlags::d16, d.bit(63));
}

}  // namespace

bool decode_image(Decoder& d, unsigned opcode) {
  // Of the other generations the tables have no rows yet.
  if (d.generation != Generation::gfx10) return false;
  Instruction& out = d.out;
  if (!d.begin(Format::mimg, (opcode & 0x7f) | (d.words[0] & 1) << 7) || !d.read_operands()) return false;
  const ImageKind& kind = kKinds[static_cast<std::size_t>(out.opcode)];
  read_flags(d);
  out.dmask = static_cast<std::uint8_t>(d.words[0] >> 8 & 15);
  out.dim = static_cast<std::uint8_t>(d.words[0] >> 3 & 7);
  const unsigned extra_words = d.words[0] >> 1 & 3;
  const Lengths lengths = lengths_of(d, kind, extra_words);
  if (info(out.opcode).has(OpcodeFlags::atomic)) out.destination_count = out.has(MemoryFlags::glc) ? 1 : 0;
  return (extra_words == 0 ? set_words(out.operands[1], lengths.addresses)
                           : read_scattered_addresses(d, kind, extra_words, lengths.addresses)) &&
         set_words(out.operands[0], lengths.data);
}

}  // namespace wavegate::amdgpu::isa
