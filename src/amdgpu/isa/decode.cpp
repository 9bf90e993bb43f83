#include "wavegate/amdgpu/isa/decode.h"

#include "wavegate/amdgpu/isa/decoder.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::isa {

namespace {

/// Which format the highest 9 bits of the first word say, and where its opcode is in that word.
struct Prefix {
  Format format = Format::none;
  std::uint8_t shift = 0;
  std::uint16_t mask = 0;
};
using Prefixes = std::array<Prefix, 512>;

/// For each prefix that starts with the highest `bits` bits of `word`.
constexpr void fill(Prefixes& prefixes, std::uint32_t word, unsigned bits, Prefix prefix) {
  const std::uint32_t first = word >> 23;
  for (std::uint32_t i = 0; i < 1u << (9 - bits); ++i) prefixes[first + i] = prefix;
}

constexpr Prefixes make_prefixes(Generation generation) {
  Prefixes prefixes = {};
  fill(prefixes, 0x00000000, 1, {Format::vop2, 25, 0x3f});
  fill(prefixes, 0x7c000000, 7, {Format::vopc, 17, 0xff});
  fill(prefixes, 0x7e000000, 7, {Format::vop1, 9, 0xff});
  fill(prefixes, 0x80000000, 2, {Format::sop2, 23, 0x7f});
  fill(prefixes, 0xb0000000, 4, {Format::sopk, 23, 0x1f});
  fill(prefixes, 0xbe800000, 9, {Format::sop1, 8, 0xff});
  fill(prefixes, 0xbf000000, 9, {Format::sopc, 16, 0x7f});
  fill(prefixes, 0xbf800000, 9, {Format::sopp, 16, 0x7f});
  fill(prefixes, 0xd8000000, 6,
       {Format::ds, generation == Generation::gfx9 ? std::uint8_t{17} : std::uint8_t{18}, 0xff});
  if (generation == Generation::gfx9) {
    fill(prefixes, 0xc0000000, 6, {Format::smem, 18, 0xff});
    fill(prefixes, 0xc4000000, 6, {Format::exp, 0, 0});
    fill(prefixes, 0xd0000000, 6, {Format::vop3, 16, 0x3ff});
    fill(prefixes, 0xd3800000, 9, {Format::vop3p, 16, 0x7f});
    fill(prefixes, 0xd4000000, 6, {Format::vintrp, 16, 0x3});
  } else {
    fill(prefixes, 0xcc000000, 9, {Format::vop3p, 16, 0x7f});
    fill(prefixes, 0xd4000000, 6, {Format::vop3, 16, 0x3ff});
    fill(prefixes, 0xf8000000, 6, {Format::exp, 0, 0});
  }
  if (generation == Generation::gfx10) fill(prefixes, 0xc8000000, 6, {Format::vintrp, 16, 0x3});
  if (generation == Generation::gfx10 || generation == Generation::gfx11)
    fill(prefixes, 0xf4000000, 6, {Format::smem, 18, 0xff});
  if (generation == Generation::gfx12) fill(prefixes, 0xf4000000, 6, {Format::smem, 13, 0x3f});
  if (generation >= Generation::gfx11) {
    fill(prefixes, 0xc8000000, 6, {Format::vopdx, 22, 0xf});
    fill(prefixes, 0xcd000000, 8, {Format::vinterp, 16, 0x7f});
    fill(prefixes, 0xce000000, 8, {Format::lds_direct, 20, 0x3});
  }
  if (generation <= Generation::gfx11) {
    const bool narrow = generation == Generation::gfx9;
    fill(prefixes, 0xdc000000, 6, {Format::flat, 18, 0x7f});
    fill(prefixes, 0xe0000000, 6, {Format::mubuf, 18, narrow ? std::uint16_t{0x7f} : std::uint16_t{0xff}});
    fill(prefixes, 0xe8000000, 6,
         {Format::mtbuf, generation == Generation::gfx10 ? std::uint8_t{16} : std::uint8_t{15}, 0xf});
    fill(prefixes, 0xf0000000, 6, {Format::mimg, 18, 0xff});
  } else {
    fill(prefixes, 0xc4000000, 6, {Format::mubuf, 14, 0xff});
    fill(prefixes, 0xd0000000, 6, {Format::mimg, 14, 0xff});
    fill(prefixes, 0xe4000000, 6, {Format::vsample, 14, 0xff});
    fill(prefixes, 0xec000000, 6, {Format::flat, 14, 0xff});
  }
  return prefixes;
}

constexpr Prefixes kPrefixes[] = {make_prefixes(Generation::gfx9), make_prefixes(Generation::gfx10),
                                  make_prefixes(Generation::gfx11), make_prefixes(Generation::gfx12)};

bool decode_scalar(Decoder& d, Format format, unsigned opcode) {
  return d.begin(format, opcode) && d.read_operands();
}

bool decode_format(Decoder& d, Format format, unsigned opcode) {
  switch (format) {
    case Format::sop2:
    case Format::sopk:
    case Format::sop1:
    case Format::sopc:
    case Format::sopp: return decode_scalar(d, format, opcode);
    case Format::vop1:
    case Format::vop2:
    case Format::vopc: return decode_vector(d, format, opcode);
    case Format::vop3:
    case Format::vop3p: return decode_vop3(d, format, opcode);
    case Format::vopdx: return decode_vopd(d);
    case Format::vintrp:
    case Format::vinterp:
    case Format::lds_direct: return decode_interpolation(d, format, opcode);
    case Format::none: return false;
    case Format::mimg:
    case Format::vsample: return decode_image(d, opcode);
    default: return decode_memory(d, format, opcode);
  }
}

}  // namespace

bool Decoder::begin(Format format, unsigned opcode) {
  const FormatInfo& layout = info(format);
  // gfx12 has a third word where vector memory has two before.
  const bool wider = generation == Generation::gfx12 && format >= Format::mubuf && format <= Format::global;
  const unsigned length = layout.words + (wider && layout.words == 2 ? 1u : 0u);
  if (opcode >= layout.opcodes || words.size() < length) return false;
  const std::uint16_t number = table.lookup[layout.first + opcode];
  const Row& row = table.rows[number];
  const std::uint16_t shape_number = row.shape[out.wave == WaveWidth::wave64];
  if (shape_number == 0) return false;
  shape = &isa::shape(shape_number);
  for (unsigned i = 0; i < length; ++i) {
    if ((words[i] & shape->fixed[i]) != shape->value[i]) return false;
    w[i] = words[i] & ~shape->ignored[i];
  }
  literal_at = length;
  out.opcode = out.second_opcode = row.opcode;
  out.row = number;
  out.encoding = layout.encoding;
  out.words = static_cast<std::uint8_t>(length);
  out.operand_count = out.second_operands = shape->operand_count;
  out.destination_count = shape->destination_count;
  return true;
}

bool Decoder::is_accumulator(const OperandRule& rule) const {
  constexpr std::uint32_t kVgpr = 1u << static_cast<unsigned>(OperandKind::vgpr);
  return rule.accumulator_bit == 255 ? (rule.kinds & kVgpr) == 0 : bit(rule.accumulator_bit);
}

bool Decoder::read_source(const OperandRule& rule, unsigned bits, Operand& operand) {
  operand = source(generation, bits);
  if (operand.kind == OperandKind::vgpr && is_accumulator(rule)) operand.kind = OperandKind::agpr;
  if (!fit(rule, sgprs, operand)) return false;
  if (operand.kind == OperandKind::literal) {
    if (words.size() <= literal_at) return false;
    operand.value = words[literal_at];
    out.words = static_cast<std::uint8_t>(literal_at + 1);
  }
  return true;
}

bool Decoder::read(const OperandRule& rule, Operand& operand) {
  const std::uint32_t bits = rule.bits == 0 ? 0 : field(rule.position, rule.bits);
  switch (rule.how) {
    case How::source:
    case How::scalar: return read_source(rule, bits, operand);
    case How::vector: return read_source(rule, bits | 0x100, operand);
    case How::source_low:
    case How::vector_low:
      return read_source(rule, rule.how == How::vector_low ? bits | 0x100 : bits, operand) &&
             !(operand.kind == OperandKind::vgpr && operand.value >= 128);
    case How::accumulator: operand = {OperandKind::agpr, 1, ValueType::bits, 0, bits}; return fit(rule, sgprs, operand);
    case How::quad: return read_source(rule, bits * 4, operand);
    case How::pair: return read_source(rule, bits * 2, operand);
    case How::literal: return read_source(rule, 255, operand);
    case How::immediate: operand = {OperandKind::immediate, 0, ValueType::bits, 0, bits}; return true;
    case How::label:
      operand = {OperandKind::label, 0, ValueType::bits, 0,
                 static_cast<std::uint32_t>(static_cast<std::int16_t>(bits))};
      return true;
    case How::attribute:
      if (rule.bits == 9 && (bits & 0x100) != 0 && to_string(out.opcode).find("f16") == std::string_view::npos)
        return false;
      // VOP3 has the channel above the attribute, the others below it.
      operand = {OperandKind::attribute, 0, ValueType::bits, 0,
                 rule.bits == 8 ? bits : (bits & 0x3f) << 2 | (bits >> 6 & 3)};
      return true;
    case How::offset: return true;
    case How::implied:
      operand = {static_cast<OperandKind>(__builtin_ctz(rule.kinds)), rule.words, rule.type, 0, 0};
      return true;
  }
  return false;
}

bool Decoder::read_operands() {
  for (unsigned i = 0; i < shape->operand_count; ++i)
    if (!read(shape->operands[i], out.operands[i])) return false;
  return true;
}

Operand* Decoder::operand_of(Role role) {
  for (unsigned i = 0; i < shape->operand_count; ++i)
    if (shape->operands[i].role == role) return &out.operands[i];
  return nullptr;
}

bool try_decode(std::span<const std::uint32_t> words, Target target, WaveWidth wave, Instruction& instruction) {
  if (words.empty()) return false;
  const TargetInfo& about = info(target);
  instruction = Instruction{};
  instruction.target = target;
  instruction.wave = wave;
  Decoder decoder{words, target, about.generation, about.sgprs, table(target), instruction};
  const Prefix& prefix = kPrefixes[static_cast<std::size_t>(about.generation)][words[0] >> 23];
  return decode_format(decoder, prefix.format, words[0] >> prefix.shift & prefix.mask);
}

Result<Instruction> decode(std::span<const std::uint32_t> words, Target target, WaveWidth wave) {
  Instruction instruction;
  if (try_decode(words, target, wave, instruction)) return instruction;
  std::string shown;
  for (std::size_t i = 0; i < words.size() && i < 2; ++i) shown += format("{}{:08x}", i == 0 ? "" : " ", words[i]);
  return invalid_input(
      format("words \"{}\" are no instruction of {} in wave{}", shown, to_string(target), lanes(wave)));
}

std::uint64_t constant_bits(const Operand& operand) {
  const auto is = [&](ValueType first, ValueType second) { return operand.type == first || operand.type == second; };
  const std::uint64_t value = operand.value;
  if (operand.kind == OperandKind::real) {
    const std::uint32_t exponent = operand.value >> 23 & 0xff;
    const std::uint32_t sign = operand.value >> 31;
    if (operand.words == 2 && operand.type != ValueType::packed_f32) {
      // 1 / (2 pi) is rounded for each format on its own; the others are powers of two.
      if (operand.value == 0x3e22f983) return 0x3fc45f306dc9c882;
      return std::uint64_t{sign} << 63 | std::uint64_t{exponent - 127 + 1023} << 52;
    }
    if (is(ValueType::b16, ValueType::u16) || is(ValueType::i16, ValueType::f16) ||
        operand.type == ValueType::packed_f16) {
      if (operand.value == 0x3e22f983) return 0x3118;
      return sign << 15 | (exponent - 127 + 15) << 10;
    }
    if (is(ValueType::bf16, ValueType::packed_bf16)) return operand.value >> 16;
    return value;
  }
  if (operand.kind == OperandKind::literal) {
    if (operand.type == ValueType::f64) return value << 32;
    if (operand.type == ValueType::i64) return static_cast<std::uint64_t>(static_cast<std::int32_t>(operand.value));
    return value;
  }
  const auto extended = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(operand.value)));
  return operand.words == 2 ? extended : extended & 0xffffffff;
}

}  // namespace wavegate::amdgpu::isa
