#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wavegate::device {

/// FNV-1a over eight bytes at a time: quick, and good enough where equality is checked afterwards or where only
/// accidents are to be noticed.
inline uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t hash = 0xcbf29ce484222325) {
  constexpr uint64_t kPrime = 0x100000001b3;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = 0;
    for (size_t k = 0; k < 8; ++k) word |= uint64_t{std::to_integer<uint8_t>(bytes[i + k])} << (8 * k);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  for (; i < bytes.size(); ++i) hash = (hash ^ std::to_integer<uint8_t>(bytes[i])) * kPrime;
  return hash;
}

}  // namespace wavegate::device
