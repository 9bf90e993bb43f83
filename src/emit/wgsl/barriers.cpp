#include "wavegate/emit/wgsl/barriers.h"

#include <algorithm>
#include <vector>

namespace wavegate::emit::wgsl {
namespace {

using kir::Instruction;
using kir::MemorySpace;
using kir::Op;

/// Counts the accesses to each memory; those in a loop are many.
class Survey {
 public:
  explicit Survey(const kir::Kernel& kernel) : kernel_(kernel), accesses_(kernel.memories.size() + 1) {
    block(kernel.body, 1);
  }

  bool orders_storage() const {
    return std::ranges::any_of(accesses_, [](const Accesses& a) { return a.stores && a.count > 1; });
  }

 private:
  struct Accesses {
    uint32_t count = 0;  ///< 0, 1 or more
    bool stores = false;
  };

  void block(const kir::Block& block, uint32_t times) {
    for (const Instruction& instruction : block.instructions) {
      if (Accesses* accesses = accesses_of(instruction)) {
        accesses->count = std::min(accesses->count + times, 2u);
        accesses->stores |= instruction.op != Op::load && instruction.op != Op::load_scalar;
      }
      for (const kir::Block& inner : instruction.blocks) this->block(inner, instruction.op == Op::loop ? 2 : times);
    }
  }

  Accesses* accesses_of(const Instruction& instruction) {
    if (instruction.op == Op::load_scalar || instruction.op == Op::store_scalar) return &accesses_.back();
    const bool is_access = instruction.op == Op::load || instruction.op == Op::store || kir::is_atomic(instruction.op);
    if (!is_access || kernel_.memories[instruction.memory].space != MemorySpace::buffer) return nullptr;
    return &accesses_[instruction.memory];
  }

  const kir::Kernel& kernel_;
  std::vector<Accesses> accesses_;  ///< by memory, the arena last
};

}  // namespace

Barriers barriers_of(const kir::Kernel& kernel) {
  const bool storage = Survey(kernel).orders_storage();
  const bool has_workgroup_memory = std::ranges::any_of(
      kernel.memories, [](const kir::Memory& memory) { return memory.space == MemorySpace::workgroup; });
  return {.storage = storage, .workgroup = has_workgroup_memory || !storage};
}

}  // namespace wavegate::emit::wgsl
