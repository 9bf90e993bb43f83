#include <algorithm>
#include <string_view>

#include "wavegate/amdgpu/isa/decoder.h"

namespace wavegate::amdgpu::isa {

namespace {

constexpr std::uint32_t bit_of(OperandKind kind) {
  return 1u << static_cast<unsigned>(kind);
}

std::int32_t sign_extended(std::uint32_t value, unsigned bits) {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

/// The raw bits, also those that the shape ignores: what they mean may depend on others.
std::uint32_t raw(const Decoder& d, unsigned position, unsigned bits) {
  return d.words[position >> 5] >> (position & 31) & ((1u << bits) - 1);
}

bool is_gfx90a(Target target) {
  return target == Target::gfx90a || target == Target::gfx942;
}

/// An address or offset in SGPRs.
bool read_scalar(const Decoder& d, unsigned bits, std::uint8_t words, Operand& operand) {
  operand = source(d.generation, bits);
  const std::uint32_t kinds = bit_of(OperandKind::sgpr) | bit_of(OperandKind::vcc) | bit_of(OperandKind::ttmp) |
                              bit_of(OperandKind::flat_scratch) | bit_of(OperandKind::xnack_mask) |
                              bit_of(OperandKind::exec) | (words == 1 ? bit_of(OperandKind::m0) : 0) |
                              (d.generation == Generation::gfx9 ? bit_of(OperandKind::null) : 0);
  return fit({How::scalar, Role::other, 0, 0, words, ValueType::bits, 255, kinds}, d.sgprs, operand);
}

void remove(Decoder& d, unsigned index) {
  Instruction& out = d.out;
  std::copy(out.operands.begin() + index + 1, out.operands.end(), out.operands.begin() + index);
  out.operands.back() = {};
  out.second_operands = --out.operand_count;
}

void insert_destination(Decoder& d, const Operand& operand) {
  Instruction& out = d.out;
  std::copy_backward(out.operands.begin(), out.operands.end() - 1, out.operands.end());
  out.operands[0] = operand;
  out.second_operands = ++out.operand_count;
  out.destination_count = 1;
}

bool is_atomic(const Decoder& d) {
  return info(d.out.opcode).has(OpcodeFlags::atomic);
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

/// Whether an opcode of DS has two addresses, each with an offset of 8 bits.
constexpr bool kTwoAddresses[] = {
#define WAVEGATE_OPCODE(name, flags)                                                                     \
  std::string_view(#name).starts_with("ds_read2") || std::string_view(#name).starts_with("ds_write2") || \
      std::string_view(#name).starts_with("ds_wrxchg2"),
#include "wavegate/amdgpu/isa/tables/opcodes.inc"
#undef WAVEGATE_OPCODE
};

/// gfx12's scope and temporal hint in place of glc, slc and dlc; `at` is the position of the scope.
void read_policy(Decoder& d, unsigned at) {
  d.out.cache_policy = d.small(at, 5);
  if (is_atomic(d)) d.set(MemoryFlags::glc, (d.out.cache_policy >> 2 & 1) != 0);
}

/// The offset of scalar memory: a number, an SGPR, or both.
bool read_smem_offset(Decoder& d, Operand& operand) {
  Instruction& out = d.out;
  const bool gfx9 = d.generation == Generation::gfx9;
  const unsigned bits = d.generation == Generation::gfx12 ? 24 : 21;
  const std::int32_t number = sign_extended(raw(d, 32, bits), bits);
  operand = {OperandKind::immediate, 0, ValueType::i32, 0, static_cast<std::uint32_t>(number)};
  if (gfx9) {
    const bool immediate = raw(d, 17, 1) != 0;
    const bool both = raw(d, 14, 1) != 0;
    out.offset = immediate ? number : 0;
    d.set(MemoryFlags::has_immediate_offset, immediate && both);
    if (immediate && !both) return true;
    return read_scalar(d, raw(d, immediate || both ? 57 : 32, 7), 1, operand);
  }
  out.offset = number;
  const Operand& scalar = source(d.generation, raw(d, 57, 7));
  if (scalar.kind == OperandKind::null) {
    if (number == 0 && d.generation != Generation::gfx12) operand = scalar;
    return true;
  }
  d.set(MemoryFlags::has_immediate_offset, true);
  return read_scalar(d, raw(d, 57, 7), 1, operand);
}

bool decode_smem(Decoder& d, unsigned opcode) {
  if (!d.begin(Format::smem, opcode)) return false;
  Instruction& out = d.out;
  bool has_offset = false;
  for (unsigned i = 0; i < d.shape->operand_count; ++i) {
    const OperandRule& rule = d.shape->operands[i];
    has_offset = has_offset || rule.how == How::offset;
    if (!(rule.how == How::offset ? read_smem_offset(d, out.operands[i]) : d.read(rule, out.operands[i]))) return false;
  }
  if (!has_offset && d.generation == Generation::gfx9 && raw(d, 17, 1) != 0) return false;
  if (d.generation == Generation::gfx12) {
    read_policy(d, 21);
    return true;
  }
  d.set(MemoryFlags::glc, d.bit(d.generation == Generation::gfx11 ? 14 : 16));
  if (d.generation == Generation::gfx9) d.set(MemoryFlags::nv, d.bit(15));
  if (d.generation == Generation::gfx10) d.set(MemoryFlags::dlc, d.bit(14));
  if (d.generation == Generation::gfx11) d.set(MemoryFlags::dlc, d.bit(13));
  if (is_atomic(d)) out.destination_count = out.has(MemoryFlags::glc) ? 1 : 0;
  return true;
}

bool decode_ds(Decoder& d, unsigned opcode) {
  if (!d.begin(Format::ds, opcode) || !d.read_operands()) return false;
  d.set(MemoryFlags::gds, d.generation != Generation::gfx12 && d.bit(d.generation == Generation::gfx9 ? 16 : 17));
  d.out.offset = static_cast<std::int32_t>(raw(d, 0, 16));
  if (d.out.opcode == Opcode::ds_nop && d.out.offset != 0) return false;
  if (kTwoAddresses[static_cast<std::size_t>(d.out.opcode)]) {
    d.out.offset = static_cast<std::int32_t>(raw(d, 0, 8));
    d.out.offset1 = static_cast<std::uint8_t>(raw(d, 8, 8));
  }
  return true;
}

/// Where a buffer instruction has its flags.
struct BufferFlags {
  std::uint8_t offen, idxen, glc, slc, dlc, scc, lds, tfe;  ///< positions; 255: not there
};
constexpr std::uint8_t kNone = 255;

BufferFlags buffer_flags(const Decoder& d, Format format) {
  const bool typed = format == Format::mtbuf;
  switch (d.generation) {
    case Generation::gfx9:
      if (is_gfx90a(d.target)) {
        if (typed) return {12, 13, 14, 54, kNone, 53, kNone, kNone};
        return {12, 13, 14, 17, kNone, 15, 16, kNone};
      }
      if (typed) return {12, 13, 14, 54, kNone, kNone, kNone, 55};
      return {12, 13, 14, 17, kNone, kNone, 16, 55};
    case Generation::gfx10: return {12, 13, 14, 54, 15, kNone, typed ? kNone : std::uint8_t{16}, 55};
    case Generation::gfx11: return {54, 55, 14, 12, 13, kNone, kNone, 53};
    case Generation::gfx12: return {62, 63, kNone, kNone, kNone, kNone, kNone, 22};
  }
  return {};
}

/// The address of a buffer instruction: none, an index, an offset, or both in two registers.
bool read_buffer_address(Decoder& d, bool offen, bool idxen) {
  Operand* address = d.operand_of(Role::vaddr);
  if (address == nullptr) return true;
  if (!offen && !idxen) {
    *address = {OperandKind::off, 0, ValueType::bits, 0, 0};
    return true;
  }
  address->words = offen && idxen ? 2 : 1;
  return address->value + address->words <= 256;
}

bool decode_buffer(Decoder& d, Format format, unsigned opcode) {
  Instruction& out = d.out;
  if (!d.begin(format, opcode) || !d.read_operands()) return false;
  const BufferFlags flags = buffer_flags(d, format);
  const auto flag = [&](std::uint8_t position) { return position != kNone && d.bit(position); };
  d.set(MemoryFlags::offen, flag(flags.offen));
  d.set(MemoryFlags::idxen, flag(flags.idxen));
  d.set(MemoryFlags::glc, flag(flags.glc));
  d.set(MemoryFlags::slc, flag(flags.slc));
  d.set(MemoryFlags::dlc, flag(flags.dlc));
  d.set(MemoryFlags::scc, flag(flags.scc));
  d.set(MemoryFlags::lds, flag(flags.lds));
  d.set(MemoryFlags::tfe, flag(flags.tfe));
  if (!read_buffer_address(d, out.has(MemoryFlags::offen), out.has(MemoryFlags::idxen))) return false;
  const bool gfx12 = d.generation == Generation::gfx12;
  out.offset = gfx12 ? sign_extended(raw(d, 72, 24), 24) : static_cast<std::int32_t>(raw(d, 0, 12));
  if (gfx12) read_policy(d, 50);
  if (format == Format::mtbuf) out.format = static_cast<std::uint8_t>(raw(d, gfx12 ? 55 : 19, 7));
  if (out.operand_count == 0) {  // buffer_gl0_inv: no address
    if (out.has(MemoryFlags::offen) || out.has(MemoryFlags::idxen)) return false;
    out.offset = 0;
  }
  const bool accumulator = is_gfx90a(d.target) && raw(d, 55, 1) != 0;
  if (out.has(MemoryFlags::lds) && (out.has(MemoryFlags::tfe) || accumulator)) return false;
  if (out.has(MemoryFlags::tfe)) {
    if (Operand* data = d.operand_of(Role::vdata)) {
      ++data->words;
      if (data->value + data->words > 256) return false;
    }
  }
  if (is_atomic(d)) out.destination_count = out.has(MemoryFlags::glc) ? 1 : 0;
  if (out.has(MemoryFlags::lds) && d.operand_of(Role::vdata) == &out.operands[0]) {
    remove(d, 0);
    out.destination_count = 0;
  }
  return true;
}

/// Which of the three: flat instructions share a format, and two bits tell them apart.
Format segment_of(const Decoder& d) {
  constexpr Format kSegments[] = {Format::flat, Format::scratch, Format::global, Format::none};
  const unsigned position = d.generation == Generation::gfx12 ? 24 : d.generation == Generation::gfx11 ? 16 : 14;
  return kSegments[d.words[0] >> position & 3];
}

struct FlatFields {
  std::uint8_t saddr, vdst, sve;  ///< positions; 255: not there
  std::uint8_t glc, slc, dlc, scc, lds;
  std::uint8_t offset, offset_bits;
};

FlatFields flat_fields(const Decoder& d, Format segment) {
  switch (d.generation) {
    case Generation::gfx9: {
      const std::uint8_t bits = 13;
      if (is_gfx90a(d.target))
        return {48,
                56,
                d.target == Target::gfx942 && segment == Format::scratch ? std::uint8_t{13} : kNone,
                16,
                17,
                kNone,
                25,
                d.target == Target::gfx90a ? std::uint8_t{13} : kNone,
                0,
                bits};
      return {48, 56, kNone, 16, 17, kNone, kNone, 13, 0, bits};
    }
    case Generation::gfx10: return {48, 56, kNone, 16, 17, 12, kNone, 13, 0, 12};
    case Generation::gfx11: return {48, 56, 55, 14, 15, 13, kNone, kNone, 0, 13};
    case Generation::gfx12: return {0, 32, 49, kNone, kNone, kNone, kNone, kNone, 72, 24};
  }
  return {};
}

bool is_off(const Decoder& d, unsigned bits) {
  if (d.generation == Generation::gfx9) return bits == 0x7f;
  return bits == (d.generation == Generation::gfx10 ? 0x7d : 0x7c);
}

bool read_scratch_address(Decoder& d, const FlatFields& fields, Operand& vector, Operand& scalar) {
  const unsigned bits = raw(d, fields.saddr, 7);
  const bool scalar_off = is_off(d, bits) || (d.generation == Generation::gfx10 && bits == 0x7f);
  const bool vector_off = fields.sve == kNone ? !is_off(d, bits) : raw(d, fields.sve, 1) == 0;
  if (vector_off) vector = {OperandKind::off, 0, ValueType::bits, 0, 0};
  if (scalar_off) {
    scalar = {OperandKind::off, 0, ValueType::bits, 0, 0};
    return true;
  }
  return read_scalar(d, bits, 1, scalar);
}

bool read_flat_address(Decoder& d, Format segment, const FlatFields& fields) {
  Operand* vector = d.operand_of(Role::vaddr);
  Operand* scalar = nullptr;
  for (unsigned i = 0; i < d.out.operand_count; ++i)
    if (d.out.operands[i].kind == OperandKind::off) scalar = &d.out.operands[i];
  if (segment != Format::scratch && fields.sve != kNone && raw(d, fields.sve, 1) != 0) return false;
  if (segment == Format::flat)
    return d.generation == Generation::gfx9 ? raw(d, fields.saddr, 7) == 0 : is_off(d, raw(d, fields.saddr, 7));
  if (scalar == nullptr) return true;
  if (segment == Format::scratch) return vector != nullptr && read_scratch_address(d, fields, *vector, *scalar);
  const unsigned bits = raw(d, fields.saddr, 7);
  if (is_off(d, bits)) return true;

  if (vector != nullptr) vector->words = 1;  // an offset to the scalar address
  return read_scalar(d, bits, 2, *scalar);
}

bool decode_flat(Decoder& d, unsigned opcode) {
  Instruction& out = d.out;
  const Format segment = segment_of(d);
  if (segment == Format::none || !d.begin(segment, opcode)) return false;
  const FlatFields fields = flat_fields(d, segment);
  for (unsigned i = 0; i < d.shape->operand_count; ++i) {
    OperandRule rule = d.shape->operands[i];
    // Whether a global address is 64 bits of a VGPR pair is known only below.
    if (rule.role == Role::vaddr && segment != Format::flat && !is_off(d, raw(d, fields.saddr, 7))) rule.words = 1;
    if (!d.read(rule, out.operands[i])) return false;
  }
  if (!read_flat_address(d, segment, fields)) return false;
  const auto flag = [&](std::uint8_t position) { return position != kNone && d.bit(position); };
  d.set(MemoryFlags::glc, flag(fields.glc));
  d.set(MemoryFlags::slc, flag(fields.slc));
  d.set(MemoryFlags::dlc, flag(fields.dlc));
  d.set(MemoryFlags::scc, flag(fields.scc));
  d.set(MemoryFlags::lds, flag(fields.lds));
  if (d.generation == Generation::gfx12) read_policy(d, 50);
  const std::uint32_t offset = raw(d, fields.offset, fields.offset_bits);
  const bool has_sign = segment != Format::flat || d.generation == Generation::gfx12;
  out.offset = has_sign ? sign_extended(offset, fields.offset_bits) : static_cast<std::int32_t>(offset);
  if (out.has(MemoryFlags::lds) && d.generation == Generation::gfx9 && raw(d, 55, 1) != 0) return false;
  if (out.has(MemoryFlags::lds) && d.operand_of(Role::vdst) == &out.operands[0]) {
    remove(d, 0);
    out.destination_count = 0;
  }
  if (out.operand_count == 0) {  // global_inv: no address
    if (!is_off(d, raw(d, fields.saddr, 7))) return false;
    out.offset = 0;
  }
  if (is_atomic(d) && out.has(MemoryFlags::glc) && d.operand_of(Role::vdst) == nullptr) {
    const Operand* data = d.operand_of(Role::vdata);
    if (data == nullptr) return false;
    Operand result = *data;
    result.value = raw(d, fields.vdst, 8);
    // A comparison has two values, one behind the other, and returns one.
    if (has(to_string(out.opcode), "cmpswap")) result.words = static_cast<std::uint8_t>(result.words / 2);
    if (result.value + result.words > 256) return false;
    insert_destination(d, result);
  }
  return true;
}

bool decode_export(Decoder& d) {
  Instruction& out = d.out;
  if (!d.begin(Format::exp, 0) || !d.read_operands()) return false;
  out.format = static_cast<std::uint8_t>(raw(d, 4, 6));
  out.dmask = static_cast<std::uint8_t>(raw(d, 0, 4));
  d.set(MemoryFlags::done, raw(d, 11, 1) != 0);
  if (d.generation <= Generation::gfx10) {
    d.set(MemoryFlags::compressed, d.bit(10));
    d.set(MemoryFlags::valid_mask, d.bit(12));
  } else {
    d.set(MemoryFlags::row_enable, d.bit(13));
  }
  // Compressed, two registers hold the four channels.
  if (out.has(MemoryFlags::compressed)) {
    out.operands[3] = out.operands[2] = out.operands[1];
    out.operands[1] = out.operands[0];
  }
  for (unsigned i = 0; i < 4; ++i)
    if ((out.dmask >> i & 1) == 0) out.operands[i] = {OperandKind::off, 0, ValueType::bits, 0, 0};
  return true;
}

}  // namespace

bool decode_memory(Decoder& d, Format format, unsigned opcode) {
  switch (format) {
    case Format::smem: return decode_smem(d, opcode);
    case Format::ds: return decode_ds(d, opcode);
    case Format::mubuf:
      return decode_buffer(d, opcode >= 0x80 && d.generation == Generation::gfx12 ? Format::mtbuf : format, opcode);
    case Format::mtbuf:
      if (d.generation == Generation::gfx10)
        return d.words.size() >= 2 && decode_buffer(d, format, (opcode & 7) | (d.words[1] >> 21 & 1) << 3);
      return decode_buffer(d, format, opcode);
    case Format::flat: return decode_flat(d, opcode);
    case Format::exp: return decode_export(d);
    default: return d.begin(format, opcode) && d.read_operands();
  }
}

}  // namespace wavegate::amdgpu::isa
