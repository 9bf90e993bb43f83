#include "wavegate/amdgpu/object/registers.h"

#include <algorithm>
#include <array>

namespace wavegate::amdgpu::object {
namespace {

using isa::Generation;

/// Bits `first` to `last` of a word, as AMD's documents write them: [last:first].
constexpr std::uint32_t bits(std::uint32_t word, unsigned last, unsigned first) {
  return (word >> first) & ((1u << (last - first + 1)) - 1);
}
constexpr bool bit(std::uint32_t word, unsigned place) {
  return bits(word, place, place) != 0;
}

FloatMode float_mode(std::uint32_t rsrc1, Generation generation) {
  FloatMode mode;
  mode.round_f32 = static_cast<RoundMode>(bits(rsrc1, 13, 12));
  mode.round_f16_f64 = static_cast<RoundMode>(bits(rsrc1, 15, 14));
  mode.denorm_f32 = static_cast<DenormMode>(bits(rsrc1, 17, 16));
  mode.denorm_f16_f64 = static_cast<DenormMode>(bits(rsrc1, 19, 18));
  if (generation < Generation::gfx12) {
    mode.dx10_clamp = bit(rsrc1, 21);
    mode.ieee = bit(rsrc1, 23);
  }
  mode.fp16_overflow = bit(rsrc1, 26);
  return mode;
}

/// Registers of a lane in one unit of GRANULATED_WORKITEM_VGPR_COUNT.
std::uint32_t vgpr_granule(const isa::TargetInfo& target, isa::WaveWidth wave) {
  if (target.unified_vgprs) return 8;
  return target.generation >= Generation::gfx10 && wave == isa::WaveWidth::wave32 ? 8 : 4;
}

/// gfx9 counts in eights and hands out sixteens; gfx10 and later hand out all, whatever the word says.
std::uint32_t sgprs(std::uint32_t rsrc1, Generation generation) {
  if (generation >= Generation::gfx10) return 128;
  return (bits(rsrc1, 9, 6) / 2 + 1) * 16;
}

void read_rsrc3(Registers& registers, std::uint32_t rsrc3, const isa::TargetInfo& target, isa::WaveWidth wave) {
  if (target.unified_vgprs) {
    registers.accumulation_offset = (bits(rsrc3, 5, 0) + 1) * 4;
    registers.split_workgroups = bit(rsrc3, 16);
  }
  const bool shares = target.generation == Generation::gfx10 || target.generation == Generation::gfx11;
  if (shares && wave == isa::WaveWidth::wave64) registers.shared_vgprs = bits(rsrc3, 3, 0) * 8;
}

}  // namespace

std::string_view to_string(RoundMode mode) {
  constexpr std::array<std::string_view, 4> kNames = {"nearest even", "toward plus infinity", "toward minus infinity",
                                                      "toward zero"};
  return kNames[static_cast<std::size_t>(mode)];
}

std::string_view to_string(DenormMode mode) {
  constexpr std::array<std::string_view, 4> kNames = {"flush", "flush results", "flush sources", "keep"};
  return kNames[static_cast<std::size_t>(mode)];
}

Registers decode_registers(const Descriptor& descriptor, isa::Target target, isa::WaveWidth wave) {
  const isa::TargetInfo& info = isa::info(target);
  const std::uint32_t rsrc1 = descriptor.rsrc1;
  const std::uint32_t rsrc2 = descriptor.rsrc2;
  Registers registers;
  registers.float_mode = float_mode(rsrc1, info.generation);
  registers.vgprs = (bits(rsrc1, 5, 0) + 1) * vgpr_granule(info, wave);
  registers.sgprs = sgprs(rsrc1, info.generation);
  registers.priority = bits(rsrc1, 11, 10);
  registers.privileged = bit(rsrc1, 20);
  if (info.generation >= Generation::gfx10) {
    registers.wgp_mode = bit(rsrc1, 29);
    registers.ordered_memory = bit(rsrc1, 30);
    registers.forward_progress = bit(rsrc1, 31);
  }
  registers.scratch = bit(rsrc2, 0);
  registers.user_sgprs = bits(rsrc2, 5, 1);
  registers.trap_handler = bit(rsrc2, 6);
  registers.workgroup_id_x = bit(rsrc2, 7);
  registers.workgroup_id_y = bit(rsrc2, 8);
  registers.workgroup_id_z = bit(rsrc2, 9);
  registers.workgroup_info = bit(rsrc2, 10);
  // 3 is undefined; hardware that is given it fills all three.
  registers.work_item_dimensions = std::min(bits(rsrc2, 12, 11) + 1, 3u);
  // 128 words of four bytes, from the third generation on.
  registers.lds_bytes = bits(rsrc2, 23, 15) * 512;
  registers.exceptions = bits(rsrc2, 30, 24) | bits(rsrc2, 14, 13) << 7;
  read_rsrc3(registers, descriptor.rsrc3, info, wave);
  return registers;
}

}  // namespace wavegate::amdgpu::object
