#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string_view>
#include <vector>

namespace wavegate::emit::spirv {

/// A result id of the module; 0 is none.
using Id = uint32_t;

/// Instructions as words: one section of a module.
class Stream {
 public:
  void put(spv::Op op, std::span<const uint32_t> operands) {
    if (operands.size() + 1 > kLongest) {
      overflowed_ = true;
      return;
    }
    words_.push_back(static_cast<uint32_t>(operands.size() + 1) << spv::WordCountShift | static_cast<uint32_t>(op));
    words_.insert(words_.end(), operands.begin(), operands.end());
  }
  void put(spv::Op op, std::initializer_list<uint32_t> operands) {
    put(op, std::span<const uint32_t>(operands.begin(), operands.size()));
  }

  const std::vector<uint32_t>& words() const { return words_; }
  size_t size() const { return words_.size(); }

  /// Sets a word of an instruction already put, for what is known later only.
  void patch(size_t word, uint32_t value) { words_[word] = value; }

  /// True if an instruction was left out since it needs more words than its 16-bit length can say.
  bool overflowed() const { return overflowed_; }

 private:
  static constexpr size_t kLongest = 65535;
  std::vector<uint32_t> words_;
  bool overflowed_ = false;
};

/// Appends a literal string: UTF-8, low byte first, ended by a zero byte and padded to a word.
void append_string(std::vector<uint32_t>& words, std::string_view text);

}  // namespace wavegate::emit::spirv
