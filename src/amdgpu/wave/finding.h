#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wavegate::amdgpu::object {
struct CodeObject;
struct Kernel;
}  // namespace wavegate::amdgpu::object

namespace wavegate::amdgpu::wave {

/// What a program did that it should not have. Bounds are always watched, the rest if asked for.
enum class FindingKind : std::uint8_t {
  out_of_bounds_read,
  out_of_bounds_write,
  misaligned_atomic,
  uninitialised_register,
  lds_race,
  global_race,
  unwatched_accesses,  ///< no mistake: races may have been missed
};
std::string_view to_string(FindingKind kind);

enum class AccessKind : std::uint8_t {
  read,
  write,
  atomic,
  atomic_read,  ///< a load that passes by caches that are not coherent, as atomic loads do
};
std::string_view to_string(AccessKind kind);

/// Where an instruction lies.
struct CodePlace {
  std::uint64_t offset = 0;        ///< from the start of the function below, or of the kernel that was launched
  std::string function;            ///< that the kernel called; empty in the kernel's own code
  std::string file;                ///< empty where the object does not tell
  std::uint32_t line = 0;          ///< of `file`
  std::uint64_t code_address = 0;  ///< in the object
};
/// "0x54", or "look_up+0x54".
std::string to_string(const CodePlace& place);

/// Of an address in an object of which a kernel was launched.
CodePlace find_place(const object::CodeObject& object, const object::Kernel& launched, std::uint64_t code_address);

struct Finding : CodePlace {
  FindingKind kind{};
  std::string instruction;
  std::array<std::uint32_t, 3> workgroup{};
  std::uint32_t wave = 0;
  unsigned lane = 0;
  std::uint64_t address = 0;      ///< what was accessed, or the register's number
  std::string detail;             ///< the other side of a race in words, the register's name
  std::uint64_t occurrences = 1;  ///< of this kind at this instruction

  /// The access that came before, of another wave.
  struct OtherAccess : CodePlace {
    AccessKind kind{};
    std::string instruction;
    std::uint64_t group = 0;  ///< its number
    std::uint32_t wave = 0;
  };
  AccessKind access{};  ///< of a race
  std::optional<OtherAccess> other;
};
/// One line: what, where, who, and how often.
std::string to_string(const Finding& finding);

/// Collects findings of all threads: one an instruction and kind, the first of them, and how many there were. Which one
/// is the first may depend on the order in which workgroups run.
class Findings {
 public:
  void add(Finding finding);
  /// By address, with functions, files, lines and details filled in. Their addresses are those of the object.
  std::vector<Finding> located(const object::CodeObject& object, const object::Kernel& launched) const;

 private:
  static constexpr std::size_t kMaximum = 1000;
  mutable std::mutex mutex_;
  std::vector<Finding> findings_;
};

}  // namespace wavegate::amdgpu::wave
