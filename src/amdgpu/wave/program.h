#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "wavegate/amdgpu/object/image.h"
#include "wavegate/amdgpu/wave/step.h"

namespace wavegate::amdgpu::wave {

/// Resolves the operands of an instruction and finds its handler. `make_values` keeps rows of constants.
void translate(Step& step, const std::function<Values*()>& make_values);

/// Whether an instruction has a handler.
bool is_implemented(const isa::Instruction& instruction);

/// The code of an image as steps. Code is followed from where it is entered; what only a register leads to is decoded
/// when a wave gets there. Safe to use by several threads.
class Program {
 public:
  /// The image must outlive the program.
  Program(const object::Image& image, isa::Target target, isa::WaveWidth width)
      : image_(image), target_(target), width_(width) {}

  /// The step at an address; nullptr where no code of the image is.
  const Step* at(std::uint64_t address);

 private:
  Step* find(std::uint64_t address);
  void follow(std::uint64_t address);

  const object::Image& image_;
  isa::Target target_;
  isa::WaveWidth width_;
  std::mutex mutex_;
  std::deque<Step> steps_;
  std::deque<Values> values_;
  std::unordered_map<std::uint64_t, Step*> by_address_;
};

}  // namespace wavegate::amdgpu::wave
