#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wavegate/amdgpu/isa/target.h"
#include "wavegate/amdgpu/wave/finding.h"
#include "wavegate/amdgpu/wave/lanes.h"
#include "wavegate/amdgpu/wave/memory.h"
#include "wavegate/amdgpu/wave/row.h"
#include "wavegate/base/error.h"
#include "wavegate/base/result.h"

namespace wavegate::amdgpu::wave {

struct Step;
class Program;
struct Wave;

/// Where scalar registers lie in Wave::scalars: by the numbers that encodings give them, as far as those agree.
namespace scalar {
inline constexpr std::uint16_t kFlatScratch = 102, kXnackMask = 104, kVcc = 106, kTtmp = 108, kM0 = 124, kExec = 126;
inline constexpr std::uint16_t kZero = 128;  ///< what `null` reads
inline constexpr std::uint16_t kSink = 144;  ///< where what is written to `null` goes
inline constexpr std::uint16_t kCount = 176;
}  // namespace scalar

/// Rows of Wave::vectors: the VGPRs, the accumulation VGPRs, and one for what a dual instruction holds back.
namespace vector {
inline constexpr std::uint16_t kAccumulation = 256, kHeldBack = 512, kCount = 512 + 48;
}

/// As many rows as a wave has, zero, that take no memory until they are used: most kernels use few.
struct FreeRows {
  void operator()(Row* rows) const;
};
using Rows = std::unique_ptr<Row[], FreeRows>;
/// `device` if the host has no memory.
Result<Rows> allocate_rows();

/// MODE. As in the hardware's register: round in bits 0 to 3, denormals in 4 to 7, DX10_CLAMP 8, IEEE 9.
struct Mode {
  std::uint32_t word = 0xf0 | 1u << 8 | 1u << 9;

  std::uint32_t round_single() const { return word & 3; }
  std::uint32_t round_wide() const { return word >> 2 & 3; }
  bool flushes_single_results() const { return (word >> 4 & 2) == 0; }
  bool flushes_single_sources() const { return (word >> 4 & 1) == 0; }
  bool flushes_wide_results() const { return (word >> 6 & 2) == 0; }
  bool flushes_wide_sources() const { return (word >> 6 & 1) == 0; }
  bool dx10_clamp() const { return (word >> 8 & 1) != 0; }
  bool ieee() const { return (word >> 9 & 1) != 0; }
  /// Rounding to nearest, denormals kept: what the host does anyhow.
  bool is_plain() const { return (word & 0xff) == 0xf0; }
};

/// What waves of a launch share.
struct Machine {
  const GuestMemory* memory = nullptr;
  Program* program = nullptr;
  isa::Target target{};
  isa::Generation generation{};
  std::string kernel;
  /// What addresses are named by, if there is an object.
  const object::CodeObject* object = nullptr;
  const object::Kernel* launched = nullptr;
  std::uint64_t code_base = 0;                   ///< What addresses of code are counted from when they are shown.
  std::uint64_t image_base = 0;                  ///< Where the object lies.
  std::uint64_t scratch = 0, scratch_bytes = 0;  ///< Memory of all waves' lanes, each its own.
  std::uint64_t maximum_instructions = 0;
  Findings* findings = nullptr;
  std::atomic<bool> stop{false};
};

class AccessLog;

struct Workgroup {
  Machine* machine = nullptr;
  std::array<std::uint32_t, 3> id{};
  std::uint64_t number = 0;
  std::vector<std::byte> lds;
  std::uint32_t alive = 0;          ///< waves that have not ended
  std::uint32_t arrived = 0;        ///< at the barrier
  std::uint64_t barrier_phase = 0;  ///< how often the barrier has opened
  AccessLog* shadow = nullptr;      ///< where accesses are recorded, if races are looked for

  void arrive() { ++arrived, open_if_all(); }
  void open_if_all() {
    if (arrived == 0 || arrived < alive) return;
    arrived = 0;
    ++barrier_phase;
  }
};

enum class Status : std::uint8_t {
  running,
  yielded,  ///< lets other waves of its group go first
  waiting,  ///< at a barrier
  ended,
  failed,
};

/// A wave: its registers as rows of lanes, and where it is.
struct Wave {
  std::array<std::uint32_t, scalar::kCount> scalars{};
  std::uint32_t scc = 0;
  Mode mode;
  unsigned lanes = 64;
  LaneMask full = ~LaneMask{0};
  Rows vectors;
  const Step* pc = nullptr;
  Workgroup* group = nullptr;
  Machine* machine = nullptr;
  std::uint32_t number = 0;  ///< in its group
  Status status = Status::ended;
  std::optional<std::uint64_t> awaited_phase;  ///< the barrier's, that this wave has arrived for
  std::uint64_t scratch_base = 0;              ///< this wave's scratch memory; dwords of lanes are interleaved
  std::uint64_t scratch_bytes = 0;             ///< a lane's
  std::uint64_t instructions = 0;
  std::uint64_t lane_instructions = 0;
  std::uint64_t hardware_registers[32] = {};
  std::optional<Error> error;
  /// What was written, if that is watched: lanes of each row, and scalar registers.
  struct Written {
    std::array<LaneMask, vector::kCount> rows{};
    std::array<bool, scalar::kCount> scalars{};
    /// Lanes that the load being run has given an undefined word, for each of its registers.
    std::array<LaneMask, 4> undefined_loads{};
  };
  std::unique_ptr<Written> written;

  // What saves work: `active` is `active_mask` spread over lanes; `range` is where memory was accessed last.
  Row active;
  LaneMask active_mask = 0;
  const MemoryRange* range = nullptr;
  Values operands[4];
  Values result;
  Row flags;
  Values addresses;

  Row* row(unsigned index) { return &vectors[index]; }
  std::uint64_t pair(unsigned index) const {
    return static_cast<std::uint64_t>(scalars[index + 1]) << 32 | scalars[index];
  }
  void set_pair(unsigned index, std::uint64_t value) {
    scalars[index] = static_cast<std::uint32_t>(value);
    scalars[index + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  LaneMask exec() const { return lanes == 32 ? scalars[scalar::kExec] : pair(scalar::kExec); }
  LaneMask vcc() const { return mask(scalar::kVcc); }
  /// A mask in scalar registers: in wave32 one, and the next is another register.
  LaneMask mask(unsigned index) const { return lanes == 32 ? scalars[index] : pair(index); }
  void set_mask(unsigned index, LaneMask value) {
    if (lanes == 32)
      scalars[index] = static_cast<std::uint32_t>(value);
    else
      set_pair(index, value);
  }
  /// The mask spread over lanes.
  const std::uint32_t* spread(LaneMask mask) {
    if (mask != active_mask) {
      expand(active.lane, mask, lanes);
      active_mask = mask;
    }
    return active.lane;
  }
  /// Ends the wave with an error, which ends the launch.
  const Step* fail(Error why) {
    error = std::move(why);
    status = Status::failed;
    return nullptr;
  }
};

}  // namespace wavegate::amdgpu::wave
