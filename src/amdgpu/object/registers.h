#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wavegate/amdgpu/isa/target.h"
#include "wavegate/amdgpu/object/descriptor.h"

/// What the register words of a descriptor say, by name: COMPUTE_PGM_RSRC1, 2 and 3, whose fields differ between
/// generations.
namespace wavegate::amdgpu::object {

/// As in MODE.round.
enum class RoundMode : std::uint8_t { nearest_even, plus_infinity, minus_infinity, toward_zero };
/// As in MODE.denorm: what becomes of denormal numbers.
enum class DenormMode : std::uint8_t { flush_all, flush_results, flush_sources, keep };

std::string_view to_string(RoundMode mode);
std::string_view to_string(DenormMode mode);

/// What a wave's MODE register holds at its start.
struct FloatMode {
  RoundMode round_f32 = RoundMode::nearest_even;
  RoundMode round_f16_f64 = RoundMode::nearest_even;
  DenormMode denorm_f32 = DenormMode::flush_all;
  DenormMode denorm_f16_f64 = DenormMode::keep;
  std::optional<bool> dx10_clamp;  ///< Clamping makes 0 of a NaN. Not there from gfx12 on, where it always does.
  std::optional<bool> ieee;        ///< Signalling NaNs become quiet. Not there from gfx12 on.
  bool fp16_overflow = false;      ///< f16 results that overflow become the largest number, not infinity.

  bool operator==(const FloatMode&) const = default;
};

struct Registers {
  FloatMode float_mode;
  std::uint32_t vgprs = 0;  ///< That a lane is given, accumulation registers included where they are of the same file.
  std::uint32_t sgprs =
      0;  ///< That a wave is given, the special ones at the end included; gfx10 and later: all, always.
  std::uint32_t accumulation_offset = 0;  ///< Of gfx90a and its successors: the VGPR that a0 is.
  std::uint32_t shared_vgprs = 0;         ///< Of gfx10 and gfx11 in wave64: shared by a wave's two halves.
  std::uint32_t priority = 0;             ///< 0 to 3
  std::uint32_t user_sgprs = 0;           ///< Registers before those that the hardware fills.
  bool privileged = false;
  bool scratch = false;  ///< The wave has scratch memory.
  bool trap_handler = false;
  bool wgp_mode = false;          ///< gfx10 and later: a workgroup may use both halves of a processor.
  bool ordered_memory = false;    ///< gfx10 and later
  bool forward_progress = false;  ///< gfx10 and later: the oldest wave first
  bool split_workgroups = false;  ///< gfx90a and its successors: TG_SPLIT, a group's waves may be anywhere.
  bool workgroup_id_x = false, workgroup_id_y = false, workgroup_id_z = false;
  bool workgroup_info = false;
  std::uint32_t work_item_dimensions = 1;  ///< Of the ids that VGPRs start with: 1 to 3.
  std::uint32_t lds_bytes = 0;             ///< Granted by the word itself, as drivers' words do; HSA's say 0.
  std::uint32_t exceptions = 0;            ///< Enabled: EXCP_EN, 9 bits with address watch and memory violation on top.
};

/// Reads the words for a target, and for the wave width that the count of registers depends on.
Registers decode_registers(const Descriptor& descriptor, isa::Target target, isa::WaveWidth wave);

}  // namespace wavegate::amdgpu::object
