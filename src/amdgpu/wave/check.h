#pragma once

#include <cstdint>
#include <unordered_map>

#include "wavegate/amdgpu/wave/step.h"

/// What is watched besides bounds, if asked for.
namespace wavegate::amdgpu::wave {

enum class AccessKind : std::uint8_t { read, write, atomic };

/// Who accessed which word last. Not for several threads.
class AccessLog {
 public:
  struct Access {
    std::uint64_t group = 0;
    std::uint64_t phase = 0;  ///< of the group's barrier
    std::uint32_t wave = 0;
    std::uint32_t offset = 0;  ///< of the instruction in the kernel
    AccessKind kind = AccessKind::read;
    bool valid = false;
  };
  struct Word {
    Access written, read;
  };
  void forget_lds() { lds_.clear(); }
  /// The entry of a word, or nullptr where so many words are watched that memory would not suffice.
  Word* word(bool in_lds, std::uint64_t address);

 private:
  static constexpr std::size_t kMaximum = std::size_t{1} << 23;
  std::unordered_map<std::uint64_t, Word> lds_, global_;
};

/// Records an access of a lane and reports one that is in conflict with it: of another wave of the group with no
/// barrier between, or, in global memory, of another group; at least one of both a write, and not both atomic.
/// Precondition: the group has a shadow.
void note_access(Wave& wave, const Step& step, bool in_lds, std::uint64_t address, unsigned bytes, AccessKind kind,
                 unsigned lane);

/// Reports registers that a step is about to read and nothing has written. Precondition: the wave has `written`.
void check_sources(Wave& wave, const Step& step);
/// Records what it has written for lanes that were active before it.
void note_results(Wave& wave, const Step& step, LaneMask exec);

}  // namespace wavegate::amdgpu::wave
