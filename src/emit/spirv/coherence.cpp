#include "wavegate/emit/spirv/coherence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace wavegate::emit::spirv {
namespace {

using kir::Instruction;
using kir::Op;

/// Walks a kernel in program order, the blocks of a branch as if one ran after the other.
class Survey {
 public:
  explicit Survey(const kir::Kernel& kernel)
      : kernel_(kernel),
        arena_(kernel.memories.size()),
        pointers_(arena_ + 1),
        shared_(pointers_ + 1),
        first_store_(pointers_ + 1, kNever) {
    block(kernel.body);
  }

  Coherence result() const {
    Coherence coherence;
    for (size_t i = 0; i < kernel_.memories.size(); ++i)
      coherence.memories.push_back(kernel_.memories[i].space == kir::MemorySpace::buffer &&
                                   (shared_[i] || with_device_));
    coherence.arena = shared_[arena_] || with_device_;
    coherence.pointers = shared_[pointers_] || with_device_;
    return coherence;
  }

 private:
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();

  void block(const kir::Block& block) {
    for (const Instruction& instruction : block.instructions) {
      order(instruction);
      access(instruction);
      const size_t orders = orders_;
      for (const kir::Block& inner : instruction.blocks) this->block(inner);
      if (instruction.op == Op::loop && orders_ > orders) next_round(instruction.blocks[0]);
    }
  }

  /// What was stored before a loop that orders, or in one round of it, the next round meets on the other side of the
  /// order, wherever in the body each stands.
  void next_round(const kir::Block& body) {
    kir::walk(body, [&](const Instruction& instruction) {
      if (const auto place = place_of(instruction); place && first_store_[*place] != kNever) shared_[*place] = true;
    });
  }

  void order(const Instruction& instruction) {
    const bool is_barrier = instruction.op == Op::barrier;
    const bool is_fence = instruction.op == Op::fence;
    const bool is_ordered_atomic = kir::is_atomic(instruction.op) && instruction.order != kir::Order::relaxed;
    if (!is_barrier && !is_fence && !is_ordered_atomic) return;
    ++orders_;
    with_device_ |= !is_barrier && instruction.scope == kir::Scope::device;
  }

  /// What an instruction loads from or stores to, if it does.
  std::optional<size_t> place_of(const Instruction& instruction) const {
    const bool is_scalar = instruction.op == Op::load_scalar || instruction.op == Op::store_scalar;
    const bool is_memory = instruction.op == Op::load || instruction.op == Op::store || kir::is_atomic(instruction.op);
    if (!is_scalar && !is_memory) return std::nullopt;
    return is_scalar ? arena_ : instruction.memory == kir::kPointer ? pointers_ : instruction.memory;
  }

  void access(const Instruction& instruction) {
    const std::optional<size_t> place = place_of(instruction);
    if (!place) return;
    size_t& first_store = first_store_[*place];
    if (first_store < orders_) shared_[*place] = true;  // kNever is not below anything
    if (instruction.op != Op::load && instruction.op != Op::load_scalar) first_store = std::min(first_store, orders_);
  }

  const kir::Kernel& kernel_;
  size_t arena_;  ///< the places: memories by index, then the arena, then what pointers reach
  size_t pointers_;
  std::vector<bool> shared_;         ///< by place
  std::vector<size_t> first_store_;  ///< by place: how many barriers, fences and ordered atomics came before it
  size_t orders_ = 0;
  bool with_device_ = false;
};

}  // namespace

Coherence coherence_of(const kir::Kernel& kernel) {
  return Survey(kernel).result();
}

}  // namespace wavegate::emit::spirv
