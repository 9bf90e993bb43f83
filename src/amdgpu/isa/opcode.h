#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wavegate::amdgpu::isa {

/// What an instruction does, whatever its encoding: `v_add_f32` is its e32, e64, DPP and SDWA forms and half of a VOPD.
/// An enumerator has the name of gfx10, or the oldest that has one; what gfx11 and gfx12 only renamed is the same
/// enumerator (`global_load_b32` is global_load_dword). tables/opcodes.inc lists them, tables/renamed.inc the other
/// names. Where a meaning changed with the name, there are two: ds_cmpstore takes its data in the other order than
/// ds_cmpst, v_fma rounds once where v_mad rounds twice.
enum class Opcode : std::uint16_t {
#define WAVEGATE_OPCODE(name, flags) name,
#include "wavegate/amdgpu/isa/tables/opcodes.inc"
#undef WAVEGATE_OPCODE
};

inline constexpr int kOpcodeCount = 0
#define WAVEGATE_OPCODE(name, flags) +1
#include "wavegate/amdgpu/isa/tables/opcodes.inc"
#undef WAVEGATE_OPCODE
    ;

/// What an opcode does besides its operands. An operand that the syntax shows is an operand, also where the encoding
/// implies it: v_cndmask_b32_e32 has four, the last of them vcc, and v_cmp_eq_u32_e32 has vcc as its destination.
struct OpcodeFlags {
  enum Flag : std::uint32_t {
    none = 0,
    writes_scc = 1u << 0,
    reads_scc = 1u << 1,
    writes_vcc = 1u << 2,   ///< implicitly
    reads_vcc = 1u << 3,    ///< implicitly: v_div_fmas, s_cbranch_vccz
    writes_exec = 1u << 4,  ///< implicitly: s_and_saveexec, v_cmpx
    reads_exec = 1u << 5,   ///< as data: s_and_saveexec, s_cbranch_execz. Every vector instruction is masked by it
    writes_m0 = 1u << 6,
    reads_m0 = 1u << 7,
    writes_mode = 1u << 8,        ///< s_setreg, s_round_mode, s_denorm_mode; s_setreg may write other registers, too
    reads_destination = 1u << 9,  ///< the first destination is an input as well: v_fmac, v_writelane, s_cmov, d16 loads
    branch = 1u << 10,            ///< may go on elsewhere than behind itself
    terminator = 1u << 11,        ///< never goes on behind itself: s_branch, s_setpc, s_endpgm
    barrier = 1u << 12,           ///< waits for other waves of the group
    load = 1u << 13,              ///< reads memory, LDS included
    store = 1u << 14,             ///< writes memory
    atomic = 1u << 15,
    cross_lane = 1u << 16,  ///< reads or writes registers of other lanes
    matrix = 1u << 17,      ///< MFMA, WMMA
    export_ = 1u << 18,
    image = 1u << 19,
    packed = 1u << 20,  ///< two 16-bit operations, or two 32-bit ones
    wait = 1u << 21,    ///< no effect but on time and order: s_waitcnt, s_nop, s_delay_alu
    scalar = 1u << 22,  ///< once a wave: SALU and scalar memory
    swaps = 1u << 23,   ///< the first source is a destination as well: v_swap_b32
  };
};

struct OpcodeInfo {
  std::string_view name;
  std::uint32_t flags;  ///< OpcodeFlags

  constexpr bool has(OpcodeFlags::Flag flag) const { return (flags & flag) != 0; }
};

const OpcodeInfo& info(Opcode opcode);
inline std::string_view to_string(Opcode opcode) {
  return info(opcode).name;
}

/// By a name of any generation without its suffix: "global_load_b32" finds global_load_dword.
std::optional<Opcode> parse_opcode(std::string_view name);

}  // namespace wavegate::amdgpu::isa
