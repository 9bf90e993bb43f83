#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "wavegate/amdgpu/isa/instruction.h"

namespace wavegate::amdgpu::isa {

/// A layout of fields. Every opcode of every format is a row of a target's table, if the target has it.
/// (format, words without a literal, opcodes, public encoding)
#define WAVEGATE_FORMATS(F)         \
  F(sop2, 1, 0x60, sop2)            \
  F(sopk, 1, 0x20, sopk)            \
  F(sop1, 1, 0x100, sop1)           \
  F(sopc, 1, 0x80, sopc)            \
  F(sopp, 1, 0x80, sopp)            \
  F(vop1, 1, 0x100, vop1)           \
  F(vop1_dpp16, 2, 0x100, vop1)     \
  F(vop1_dpp8, 2, 0x100, vop1)      \
  F(vop1_sdwa, 2, 0x100, vop1)      \
  F(vop2, 1, 0x40, vop2)            \
  F(vop2_dpp16, 2, 0x40, vop2)      \
  F(vop2_dpp8, 2, 0x40, vop2)       \
  F(vop2_sdwa, 2, 0x40, vop2)       \
  F(vopc, 1, 0x100, vopc)           \
  F(vopc_dpp16, 2, 0x100, vopc)     \
  F(vopc_dpp8, 2, 0x100, vopc)      \
  F(vopc_sdwa, 2, 0x100, vopc)      \
  F(vop3, 2, 0x400, vop3)           \
  F(vop3_dpp16, 3, 0x400, vop3)     \
  F(vop3_dpp8, 3, 0x400, vop3)      \
  F(vop3p, 2, 0x80, vop3p)          \
  F(vop3p_dpp16, 3, 0x80, vop3p)    \
  F(vop3p_dpp8, 3, 0x80, vop3p)     \
  F(vopdx, 2, 0x10, vopd)           \
  F(vopdy, 2, 0x20, vopd)           \
  F(vinterp, 2, 0x80, vinterp)      \
  F(vintrp, 1, 0x4, vinterp)        \
  F(lds_direct, 1, 0x4, lds_direct) \
  F(smem, 2, 0x100, smem)           \
  F(ds, 2, 0x100, ds)               \
  F(mubuf, 2, 0x100, mubuf)         \
  F(mtbuf, 2, 0x90, mtbuf)          \
  F(mimg, 2, 0x100, mimg)           \
  F(vsample, 3, 0x100, mimg)        \
  F(flat, 2, 0x100, flat)           \
  F(scratch, 2, 0x100, scratch)     \
  F(global, 2, 0x100, global)       \
  F(exp, 2, 0x1, export_)

enum class Format : std::uint8_t {
#define WAVEGATE_FORMAT(name, words, opcodes, encoding) name,
  WAVEGATE_FORMATS(WAVEGATE_FORMAT)
#undef WAVEGATE_FORMAT
      none,
};
inline constexpr int kFormatCount = static_cast<int>(Format::none);

struct FormatInfo {
  std::uint8_t words;
  std::uint16_t opcodes;
  Encoding encoding;
  std::uint16_t first;  ///< of its opcodes in a target's `lookup`
};
extern const std::array<FormatInfo, kFormatCount> kFormats;
inline const FormatInfo& info(Format format) {
  return kFormats[static_cast<std::size_t>(format)];
}

/// How the bits of an operand's field become one.
enum class How : std::uint8_t {
  source,      ///< 9 bits
  scalar,      ///< the same, below 256
  vector,      ///< the number of a VGPR
  source_low,  ///< like source, but of VGPRs only the first 128
  vector_low,
  accumulator,  ///< of an AGPR
  quad,         ///< of an SGPR, in units of 4
  pair,         ///< in units of 2
  literal,      ///< the word behind the instruction
  immediate,
  label,
  attribute,
  offset,   ///< of SMEM: read by decode_memory
  implied,  ///< no field: the first of `kinds`
};

/// Which operand of its format a rule is about.
// clang-format off
enum class Role : std::uint8_t {
  source0, source1, source2, other, vdst, sdst, vaddr, vdata, vdata1, srsrc, soffset, sbase, sdata,
};

// clang-format on

struct OperandRule {
  How how;
  Role role;
  std::uint8_t position;  ///< of the lowest bit, from that of the first word
  std::uint8_t bits;
  std::uint8_t words;
  ValueType type;
  std::uint8_t accumulator_bit;  ///< position of the bit that makes a VGPR an AGPR; 255: none
  std::uint32_t kinds;           ///< a bit for each OperandKind that the instruction takes
};

inline constexpr int kMaximumRules = 7;

struct Shape {
  std::uint32_t fixed[3];    ///< bits that every such instruction has alike, besides those of its opcode
  std::uint32_t value[3];    ///< what they are
  std::uint32_t ignored[3];  ///< bits without a meaning
  std::uint8_t destination_count;
  std::uint8_t operand_count;
  OperandRule operands[kMaximumRules];
};

struct Row {
  const char* mnemonic;
  Opcode opcode;
  std::uint16_t shape[2];  ///< in wave32 and wave64; 0: not there
};

struct TargetTable {
  std::span<const Row> rows;    ///< row 0 is none
  const std::uint16_t* lookup;  ///< by FormatInfo::first + opcode: a row
};

const TargetTable& table(Target target);
const Shape& shape(std::uint16_t number);

}  // namespace wavegate::amdgpu::isa
