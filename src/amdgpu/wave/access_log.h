#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "wavegate/amdgpu/wave/finding.h"

/// Who accessed what, so that races are found: two accesses of the same byte, by different waves of a group with no
/// barrier between, or, in global memory, by different groups, at least one of them a write, and not both atomic.
///
/// This is the memory model of HSA and OpenCL: what orders accesses within a group is its barrier alone, and nothing
/// orders those of different groups of a launch. What machine code does not tell is decided so:
/// - A load of global memory is atomic if it bypasses what is not coherent (glc, sc0, sc1, a scope), as compilers have
///   atomic loads do. Any other may be given an old value, and so it races with an atomic, too. But where its wave then
///   compares and swaps that word it was a first guess, which the atomic itself proves.
/// - Atomic stores are plain instructions: one races with whatever is not atomic itself.
namespace wavegate::amdgpu::wave {

struct Step;
struct Wave;

/// Not for several threads.
class AccessLog {
 public:
  struct Access {
    std::uint64_t group = 0;
    const Step* step = nullptr;  ///< nullptr: there was none
    std::uint32_t phase = 0;     ///< of the group's barrier
    std::uint16_t wave = 0;
    AccessKind kind = AccessKind::read;

    bool of_same_wave(const Access& other) const { return group == other.group && wave == other.wave; }
  };
  /// The last accesses of each kind. Of atomics and reads there are those of two waves, so that whoever is in conflict
  /// with them meets another's.
  struct Entry {
    Access written, atomic, other_atomic, read, other_read;
  };

  /// Watches so many words of global memory.
  explicit AccessLog(std::size_t maximum_entries) : maximum_entries_(maximum_entries) {}

  /// What a group leaves behind: its LDS and its scratch memory are the next group's.
  void start_group() {
    lds_.clear();
    undefined_.clear();
  }
  /// Calls `visit(entry)` for each entry that bytes within one word have; false if there is no room for them.
  template <typename Visit>
  bool visit(bool in_lds, std::uint64_t address, unsigned bytes, const Visit& visit);

  void leave_unwatched(const Wave& wave, const Step& step, std::uint64_t address, unsigned lane, AccessKind kind);
  /// The first access for which there was no room; its occurrences are those of all.
  const std::optional<Finding>& unwatched() const { return unwatched_; }

  /// A read in conflict with an atomic, which may turn out to be a guess.
  struct Doubt {
    Wave* wave = nullptr;
    Access access, before;
    std::uint64_t address = 0;
    unsigned lane = 0;
    bool in_lds = false;
  };
  /// The doubt about a word; `wave` is nullptr where there is none.
  Doubt& doubt(bool in_lds, std::uint64_t address) { return doubts_[address / 4 * 2 + (in_lds ? 1 : 0)]; }
  /// No guess: reports what has remained in doubt. The group is at its end.
  void end_group();

  // Words of scratch memory that hold copies of registers that nothing had written.
  void set_undefined(std::uint64_t address, bool undefined) {
    if (undefined)
      undefined_.insert(address / 4);
    else
      undefined_.erase(address / 4);
  }
  bool is_undefined(std::uint64_t address) const { return undefined_.contains(address / 4); }

 private:
  /// Bytes of a word are told apart from when one is accessed by itself.
  struct Word {
    Entry whole;
    std::unique_ptr<std::array<Entry, 4>> bytes;
  };
  std::unordered_map<std::uint64_t, Word> lds_, global_;
  std::size_t maximum_entries_;
  std::size_t entries_ = 0;  ///< of global memory; LDS is small
  std::optional<Finding> unwatched_;
  std::unordered_map<std::uint64_t, Doubt> doubts_;
  std::unordered_set<std::uint64_t> undefined_;
};

/// Records an access of a lane and reports those that are in conflict with it. Where more words are accessed than there
/// is room for, the others go unwatched and are counted. Precondition: the group has a shadow.
void note_access(Wave& wave, const Step& step, bool in_lds, std::uint64_t address, unsigned bytes, AccessKind kind,
                 unsigned lane);

}  // namespace wavegate::amdgpu::wave
