#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wavegate/program/value.h"

namespace wavegate::program {

/// Which values surely hold something where control stands: one bit a value, so that a branch copies little. Where
/// control never gets, every value does.
class DefinedValues {
 public:
  /// Where control never gets.
  DefinedValues() = default;
  /// Where control begins: nothing is defined.
  DefinedValues(size_t buffers, size_t scalars)
      : words_((buffers + scalars + kBits - 1) / kBits), first_scalar_(buffers), reachable_(true) {}

  bool reachable() const { return reachable_; }
  bool has(Buffer buffer) const { return bit(buffer.id); }
  bool has(Scalar scalar) const { return bit(first_scalar_ + scalar.id); }
  void add(Buffer buffer) { set(buffer.id, true); }
  void add(Scalar scalar) { set(first_scalar_ + scalar.id, true); }
  void remove(Scalar scalar) { set(first_scalar_ + scalar.id, false); }

  /// Control goes elsewhere: what follows is not reached from here.
  void leave() { *this = {}; }
  /// Control comes from here or from there.
  void meet(const DefinedValues& other) {
    if (!other.reachable_) return;
    if (!reachable_) {
      *this = other;
      return;
    }
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }

 private:
  static constexpr size_t kBits = 64;

  bool bit(size_t index) const { return !reachable_ || ((words_[index / kBits] >> (index % kBits)) & 1) != 0; }
  void set(size_t index, bool value) {
    if (!reachable_) return;
    const uint64_t mask = uint64_t{1} << (index % kBits);
    words_[index / kBits] = value ? words_[index / kBits] | mask : words_[index / kBits] & ~mask;
  }

  std::vector<uint64_t> words_;
  size_t first_scalar_ = 0;
  bool reachable_ = false;
};

}  // namespace wavegate::program
