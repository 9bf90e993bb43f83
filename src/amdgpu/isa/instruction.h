#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "wavegate/amdgpu/isa/opcode.h"
#include "wavegate/amdgpu/isa/target.h"

namespace wavegate::amdgpu::isa {

/// How an instruction is encoded. What one generation calls VIMAGE, VBUFFER or VFLAT is mimg, mubuf or flat here.
enum class Encoding : std::uint8_t {
  sop1,
  sop2,
  sopc,
  sopk,
  sopp,
  smem,  //
  vop1,
  vop2,
  vopc,
  vop3,
  vop3p,
  vopd,
  vinterp,
  lds_direct,  //
  ds,
  mubuf,
  mtbuf,
  mimg,
  flat,
  global,
  scratch,
  export_,  //
};

enum class OperandKind : std::uint8_t {
  none,
  off,   ///< an address that is not there: `global_load_dword v0, v[0:1], off`
  null,  ///< reads 0, writes are dropped
  sgpr,  ///< value is the number of the first register, as for all registers
  vgpr,
  agpr,
  ttmp,
  vcc,   ///< value: 0 for vcc and vcc_lo, 1 for vcc_hi
  exec,  ///< likewise
  m0,
  flat_scratch,  ///< gfx9: value 0 or 1, as for vcc
  xnack_mask,    ///< likewise
  scc,           ///< as a source: src_scc
  vccz,
  execz,
  shared_base,
  shared_limit,
  private_base,
  private_limit,
  pops_exiting_wave_id,
  lds_direct,
  integer,    ///< inline: value is it, in two's complement
  real,       ///< inline: value is it as f32; see constant_bits
  literal,    ///< value is the word behind the instruction
  immediate,  ///< a field: value is it as the instruction has it, sign-extended where it is signed
  label,      ///< value is a branch's displacement in words from the next instruction, in two's complement
  attribute,  ///< interpolation: value is attribute * 4 + channel
};

/// How an operand's bits are read. Its width is Operand::words; of a packed one, the whole.
enum class ValueType : std::uint8_t {
  bits,  ///< as many words as there are, without an interpretation
  b16,
  u16,
  i16,
  f16,
  bf16,  //
  u32,
  i32,
  f32,  //
  u64,
  i64,
  f64,  //
  packed_i16,
  packed_f16,
  packed_bf16,
  packed_f32,  //
  lane_mask,   ///< a bit a lane: one word in wave32, two in wave64
};

/// What is done to an operand when it is read.
struct OperandFlags {
  enum Flag : std::uint8_t {
    none = 0,
    negate = 1,       ///< -x, after abs
    absolute = 2,     ///< |x|
    sign_extend = 4,  ///< SDWA: of the selected part
    high_half = 8,    ///< gfx11's true 16-bit operands: v0.h
  };
};

struct Operand {
  OperandKind kind = OperandKind::none;
  std::uint8_t words = 0;  ///< 32-bit registers or words of a value; 0 for one that is none
  ValueType type = ValueType::bits;
  std::uint8_t flags = 0;   ///< OperandFlags
  std::uint32_t value = 0;  ///< what `kind` says

  constexpr bool has(OperandFlags::Flag flag) const { return (flags & flag) != 0; }
  constexpr bool is_constant() const { return kind >= OperandKind::integer && kind <= OperandKind::immediate; }
  bool operator==(const Operand&) const = default;
};
static_assert(sizeof(Operand) == 8);

/// What a source that is constant reads as: an inline integer extended to the operand's width, an inline float in the
/// operand's format, a literal extended as its type is (of an f64, the high word). Packed 16-bit operands have a float
/// in the low half. Precondition: is_constant().
std::uint64_t constant_bits(const Operand& operand);

enum class DppKind : std::uint8_t { none, dpp16, dpp8 };

/// Which part of a register SDWA reads or writes.
enum class SdwaSelect : std::uint8_t { byte_0, byte_1, byte_2, byte_3, word_0, word_1, dword };
/// What SDWA does with the rest of its destination.
enum class SdwaUnused : std::uint8_t { pad, sign_extend, preserve };

/// Bits of memory instructions that an address or an order depends on.
struct MemoryFlags {
  enum Flag : std::uint32_t {
    none = 0,
    glc = 1u << 0,  ///< of an atomic: returns the value before. On gfx942 this is sc0
    slc = 1u << 1,  ///< on gfx942 nt
    dlc = 1u << 2,
    scc = 1u << 3,  ///< gfx90a; on gfx942 sc1
    offen = 1u << 4,
    idxen = 1u << 5,
    lds = 1u << 6,  ///< what is loaded goes to LDS at m0
    tfe = 1u << 7,
    gds = 1u << 8,
    unorm = 1u << 9,
    lwe = 1u << 10,
    r128 = 1u << 11,
    a16 = 1u << 12,
    d16 = 1u << 13,
    da = 1u << 14,
    nv = 1u << 15,
    has_immediate_offset = 1u << 16,  ///< SMEM of gfx9: `offset` counts besides a register
    done = 1u << 17,                  ///< export
    compressed = 1u << 18,            ///< export
    valid_mask = 1u << 19,            ///< export
    row_enable = 1u << 20,            ///< export
  };
};

/// One instruction, decoded. A value of plain bytes: it points to nothing and may be copied with memcpy.
struct Instruction {
  Opcode opcode{};
  Opcode second_opcode{};  ///< of a VOPD, the second operation; else the same as opcode
  std::uint16_t row = 0;   ///< in the target's table; for the printer
  std::uint16_t second_row = 0;
  Target target{};
  WaveWidth wave = WaveWidth::wave64;
  Encoding encoding{};
  std::uint8_t words = 0;  ///< length in words, 1 to 5; literals, DPP and SDWA words included

  std::uint8_t operand_count = 0;
  std::uint8_t destination_count = 0;  ///< the first so many operands are written (in a VOPD: of each operation, one)
  /// Where a VOPD's second operation has its operands; else operand_count. Both read all before either writes.
  std::uint8_t second_operands = 0;

  // of vector instructions
  bool clamp : 1 = false;
  bool sdwa : 1 = false;            ///< the selects below count
  bool bound_control : 1 = false;   ///< DPP: lanes out of bounds read 0, not the old destination
  bool fetch_inactive : 1 = false;  ///< DPP: reads lanes that exec has off
  DppKind dpp = DppKind::none;      ///< the first source goes through it
  std::uint8_t row_mask : 4 = 0;
  std::uint8_t bank_mask : 4 = 0;
  std::uint8_t output_modifier = 0;  ///< 1: times 2, 2: times 4, 3: half
  std::uint8_t op_sel = 0;           ///< bit i: source i is read from the high half; bit 3: the result goes there
  std::uint8_t op_sel_hi = 0;        ///< packed: bit i: the high operation reads source i's high half
  std::uint8_t neg_lo = 0;           ///< packed: bit i: the low operation negates source i
  std::uint8_t neg_hi = 0;
  SdwaSelect sdwa_destination = SdwaSelect::dword;
  SdwaUnused sdwa_unused = SdwaUnused::pad;
  SdwaSelect sdwa_source0 = SdwaSelect::dword;
  SdwaSelect sdwa_source1 = SdwaSelect::dword;
  std::uint8_t cbsz = 0;  ///< MFMA
  std::uint8_t abid = 0;
  std::uint8_t blgp = 0;

  // of memory instructions
  std::uint8_t offset1 = 0;       ///< of DS with two addresses: the second, in elements
  std::uint8_t format = 0;        ///< of tbuffer: the field, 7 bits; of exports: the target
  std::uint8_t dmask = 0;         ///< of images; of exports, the enabled channels
  std::uint8_t dim = 0;           ///< of images
  std::uint8_t cache_policy = 0;  ///< gfx12: scope in bits 0 and 1, temporal hint in bits 2 to 4
  /// Of images whose address registers are not one range: their numbers; the address operand's `value` is the first.
  std::uint8_t address_count = 0;
  std::array<std::uint8_t, 12> addresses{};

  std::uint16_t dpp_control = 0;     ///< DPP16: the field of 9 bits
  std::uint32_t dpp8_selectors = 0;  ///< 8 times 3 bits, lane 0 lowest
  /// In bytes; of DS with two addresses: the first, in elements. Of interpolation: what it waits for.
  std::int32_t offset = 0;
  std::uint32_t memory_flags = 0;  ///< MemoryFlags

  std::array<Operand, 8> operands{};  ///< in the order of the syntax, destinations first

  std::span<const Operand> sources() const {
    return {operands.data() + destination_count, static_cast<std::size_t>(operand_count - destination_count)};
  }
  unsigned bytes() const { return words * 4u; }
  constexpr bool has(MemoryFlags::Flag flag) const { return (memory_flags & flag) != 0; }
};
static_assert(sizeof(Instruction) <= 128 && std::is_trivially_copyable_v<Instruction>);

}  // namespace wavegate::amdgpu::isa
