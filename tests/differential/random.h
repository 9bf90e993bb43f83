#pragma once

#include <cstddef>
#include <cstdint>

namespace wavegate::differential {

/// SplitMix64: the same numbers for the same seed on every machine, which the distributions of the standard library do
/// not promise. A draw has a statement of its own wherever the order of two draws would be the compiler's choice.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t word() { return static_cast<uint32_t>(next() >> 32); }
  /// From 0 to n - 1; n is not 0.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((uint64_t{word()} * n) >> 32); }
  /// From first to last, both included.
  uint32_t between(uint32_t first, uint32_t last) { return first + below(last - first + 1); }
  /// True in `percent` of a hundred draws.
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <typename Elements>
  auto& pick(Elements& elements) {
    return elements[below(static_cast<uint32_t>(elements.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace wavegate::differential
