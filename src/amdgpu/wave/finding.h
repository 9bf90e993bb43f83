#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace wavegate::amdgpu::wave {

/// What a program did that it should not have. Bounds are always watched, the rest if asked for.
enum class FindingKind : std::uint8_t {
  out_of_bounds_read,
  out_of_bounds_write,
  misaligned_atomic,
  uninitialised_register,
  lds_race,
  global_race,
};
std::string_view to_string(FindingKind kind);

struct Finding {
  FindingKind kind{};
  std::uint64_t offset = 0;  ///< of the instruction, in the kernel's code
  std::string instruction;
  std::array<std::uint32_t, 3> workgroup{};
  std::uint32_t wave = 0;
  unsigned lane = 0;
  std::uint64_t address = 0;      ///< what was accessed, or the register's number
  std::string detail;             ///< the other side of a race, the register's name
  std::uint64_t occurrences = 1;  ///< of this kind at this instruction
};

/// Collects findings of all threads: one an instruction and kind, the first of them, and how many there were. Which one
/// is the first may depend on the order in which workgroups run.
class Findings {
 public:
  void add(Finding finding);
  std::vector<Finding> sorted() const;

 private:
  static constexpr std::size_t kMaximum = 1000;
  mutable std::mutex mutex_;
  std::vector<Finding> findings_;
};

}  // namespace wavegate::amdgpu::wave
