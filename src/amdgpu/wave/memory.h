#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::amdgpu::wave {

/// Upper halves of the addresses that lead flat instructions to LDS and to scratch memory instead.
inline constexpr std::uint32_t kSharedAperture = 0x10000;
inline constexpr std::uint32_t kPrivateAperture = 0x20000;

/// A piece of the guest's memory. The bytes may be the memory's own or its user's, who then keeps them alive.
struct MemoryRange {
  std::uint64_t address = 0;
  std::span<std::byte> bytes;
  bool writable = true;
  std::string name;
};

/// The guest's 64-bit address space: pieces with unmapped space around each, so that an access beyond the end of one
/// meets no other. What lies in none reads as 0, and writes to it are dropped; interpreters report it.
class GuestMemory {
 public:
  /// Zeroed memory of so many bytes; an error if all together exceed the limit.
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::string name);
  /// Memory that stays the caller's. Returns its address, a multiple of 4096.
  std::uint64_t map(std::span<std::byte> bytes, std::string name, bool writable = true);
  /// The same at a given address, which must be free.
  Result<void> map_at(std::uint64_t address, std::span<std::byte> bytes, std::string name, bool writable = true);
  /// Where the next piece of `bytes` would begin.
  std::uint64_t next_address() const { return next_; }

  /// The range that holds the byte at an address, or nullptr.
  const MemoryRange* find(std::uint64_t address) const;
  /// So many bytes at an address, or an empty span if they do not all lie in one range.
  std::span<std::byte> at(std::uint64_t address, std::uint64_t bytes) const;
  const std::vector<MemoryRange>& ranges() const { return ranges_; }

  static constexpr std::uint64_t kMaximumBytes = std::uint64_t{4} << 30;

 private:
  std::vector<MemoryRange> ranges_;  ///< by address
  std::vector<std::unique_ptr<std::byte[]>> owned_;
  std::uint64_t next_ = std::uint64_t{1} << 36;
  std::uint64_t allocated_ = 0;
};

}  // namespace wavegate::amdgpu::wave
