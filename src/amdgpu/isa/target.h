#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wavegate/base/result.h"

namespace wavegate::amdgpu::isa {

/// Processors with a decoder table of their own. Others are aliases: gfx1031 runs gfx1030's instructions.
enum class Target : std::uint8_t {
  gfx900,
  gfx906,
  gfx908,
  gfx90a,
  gfx942,
  gfx1010,
  gfx1013,
  gfx1030,
  gfx1100,
  gfx1150,
  gfx1200,
};
inline constexpr int kTargetCount = static_cast<int>(Target::gfx1200) + 1;

/// What the layout of encodings depends on. Ordered: a later one compares greater.
enum class Generation : std::uint8_t { gfx9, gfx10, gfx11, gfx12 };

/// Lanes of a wave; the value is their number.
enum class WaveWidth : std::uint8_t { wave32 = 32, wave64 = 64 };
constexpr unsigned lanes(WaveWidth width) {
  return static_cast<unsigned>(width);
}

/// Where a workgroup's id is when its waves start.
enum class WorkgroupIds : std::uint8_t {
  user_sgprs,  ///< in SGPRs behind the user SGPRs
  ttmp,        ///< x in ttmp9, y in the low half of ttmp7, z in its high half
};

/// One row of the target table.
struct TargetInfo {
  Target target;
  std::string_view name;
  Generation generation;
  std::uint8_t elf_machine;   ///< EF_AMDGPU_MACH, the low byte of e_flags
  bool wave32;                ///< has wave32; wave64 they all have
  bool packed_work_item_ids;  ///< v0 holds x | y << 10 | z << 20 at the start, not x alone
  bool accumulation_vgprs;    ///< a0 to a255 exist
  bool unified_vgprs;         ///< they are the upper part of one file, from accum_offset of the kernel descriptor on
  bool architected_flat_scratch;  ///< the scratch base is no SGPR pair that the program sets up
  WorkgroupIds workgroup_ids;
  std::uint16_t sgprs;      ///< addressable SGPRs: s0 to s(sgprs - 1)
  std::uint32_t lds_bytes;  ///< of a workgroup, at most
};

const TargetInfo& info(Target target);
inline std::string_view to_string(Target target) {
  return info(target).name;
}

/// A setting of a target id: "gfx90a:xnack-" is off, "gfx90a" any.
enum class Setting : std::uint8_t { any, off, on };

/// A target as compilers and code objects name it.
struct TargetId {
  Target target = Target::gfx900;  ///< of an alias, the one whose table it shares
  std::string_view processor;      ///< as in the table of processors: "gfx1031"
  Setting xnack = Setting::any;
  Setting sramecc = Setting::any;
};

/// Parses "gfx1031", "gfx90a:sramecc+:xnack-", with or without a leading "amdgcn-amd-amdhsa--".
Result<TargetId> parse_target(std::string_view text);

/// The processor of an ELF's e_flags, by their low byte; its settings are not among the answer.
std::optional<TargetId> find_target(std::uint8_t elf_machine);

/// Whether waves of that width run on the target.
inline bool has_wave_width(Target target, WaveWidth width) {
  return width == WaveWidth::wave64 || info(target).wave32;
}

}  // namespace wavegate::amdgpu::isa
