#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "amdgpu/wave/values/registers.h"
#include "wavegate/amdgpu/object/image.h"
#include "wavegate/amdgpu/wave/memory.h"
#include "wavegate/amdgpu/wave/state.h"

namespace wavegate::amdgpu::wave::testing {

/// A wave of the interpreter that is given registers, runs some code, and whose registers are then looked at.
class Interpreter {
 public:
  Interpreter(isa::Target target, isa::WaveWidth width);
  ~Interpreter();

  /// Runs the words from the first on until they end. An error's message, or nothing.
  std::optional<std::string> run(std::span<const u32> words, const Registers& before);
  /// What the last run left, as far as it differs from what it was given: empty if it is as expected.
  Registers registers() const;
  const Wave& wave() const { return *wave_; }

  GuestMemory memory;
  u64 scratch_base = 0, scratch_bytes = 0;  ///< in that memory; bytes of a lane
  std::vector<std::byte> lds;

 private:
  isa::Target target_;
  isa::WaveWidth width_;
  std::unique_ptr<Wave> wave_;
  object::Image image_;
};

/// Instructions of a target, as words that LLVM accepts.
struct Sample {
  isa::WaveWidth width{};
  std::vector<u32> words;
  isa::Instruction instruction;
};
/// Those of tests/amdgpu/isa/expected: some of every opcode in every encoding.
std::vector<Sample> samples(isa::Target target);
/// The same instruction with other operands and modifiers; the same one if none was found.
Sample varied(const Sample& sample, isa::Target target, u64& random);

/// A generator of random words that is the same everywhere.
inline u64 next_random(u64& state) {
  state += 0x9e3779b97f4a7c15u;
  u64 z = state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

}  // namespace wavegate::amdgpu::wave::testing
