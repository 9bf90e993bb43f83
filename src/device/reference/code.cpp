#include "wavegate/device/reference/code.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "wavegate/base/format.h"

namespace wavegate::device::reference {
namespace {

using kir::Op;

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kWholeBlock = kNone;  ///< last use of a loop-carried value: the end of its block

bool is_given(Op op) {
  return op == Op::constant || op == Op::builtin || op == Op::parameter || op == Op::array_length;
}

bool changes_by_workgroup(const kir::Instruction& instruction) {
  return instruction.op == Op::builtin &&
         (instruction.builtin == kir::Builtin::global_id || instruction.builtin == kir::Builtin::workgroup_id);
}

/// The pure operation that an atomic applies to (old value, operand); exchanges have none.
Op atomic_operation(Op op) {
  switch (op) {
    case Op::atomic_add: return Op::add;
    case Op::atomic_and: return Op::and_;
    case Op::atomic_or: return Op::or_;
    case Op::atomic_xor: return Op::xor_;
    case Op::atomic_min_u: return Op::min_u;
    case Op::atomic_min_s: return Op::min_s;
    case Op::atomic_max_u: return Op::max_u;
    case Op::atomic_max_s: return Op::max_s;
    default: return Op::constant;
  }
}

/// The operation that combines the lanes of a subgroup; Op::constant if none does.
Op subgroup_operation(Op op) {
  switch (op) {
    case Op::subgroup_add:
    case Op::subgroup_exclusive_add: return Op::add;
    case Op::subgroup_add_f: return Op::add_f;
    case Op::subgroup_min_u: return Op::min_u;
    case Op::subgroup_max_u: return Op::max_u;
    default: return Op::constant;
  }
}

/// Where each value is defined and how long it lives, in positions of the block that defines it.
class Lifetimes {
 public:
  explicit Lifetimes(const kir::Kernel& kernel)
      : definition_(kernel.value_types.size(), kNone), last_use_(kernel.value_types.size(), 0) {
    visit(kernel.body, kNone, 0);
    dying_.resize(places_.size());
    for (uint32_t value = 0; value < definition_.size(); ++value) {
      if (definition_[value] != kNone) dying_[definition_[value]].emplace_back(last_use_[value], value);
    }
    for (auto& values : dying_) std::ranges::sort(values);
  }

  /// (last use, value) of the values that a block defines, in order; blocks are numbered outer before inner.
  const std::vector<std::pair<uint32_t, uint32_t>>& dying(uint32_t block) const { return dying_[block]; }

 private:
  struct Place {
    uint32_t parent = kNone;
    uint32_t position = 0;  ///< of the construct in the parent
  };

  void define(kir::Value value, uint32_t block, uint32_t position) {
    definition_[value.id] = block;
    last_use_[value.id] = position;
  }

  void use(kir::Value value, uint32_t block, uint32_t position) {
    const uint32_t home = definition_[value.id];
    if (home == kNone) return;  // given at the start
    while (block != home) {
      position = places_[block].position;
      block = places_[block].parent;
    }
    last_use_[value.id] = std::max(last_use_[value.id], position);
  }

  void visit(const kir::Block& block, uint32_t parent, uint32_t parent_position) {
    const auto index = static_cast<uint32_t>(places_.size());
    places_.push_back({parent, parent_position});
    for (kir::Value value : block.parameters) define(value, index, kWholeBlock);
    for (uint32_t position = 0; position < block.instructions.size(); ++position) {
      const kir::Instruction& instruction = block.instructions[position];
      if (is_given(instruction.op)) continue;
      for (kir::Value value : instruction.operands) use(value, index, position);
      for (const kir::Block& inner : instruction.blocks) visit(inner, index, position);
      for (kir::Value value : instruction.results) define(value, index, position);
    }
  }

  std::vector<Place> places_;
  std::vector<uint32_t> definition_;
  std::vector<uint32_t> last_use_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> dying_;
};

class Compiler {
 public:
  explicit Compiler(const kir::Kernel& kernel) : lifetimes_(kernel), slot_of_(kernel.value_types.size(), kNoSlot) {
    code_.kernel = &kernel;
  }

  Code compile() {
    kir::walk(code_.kernel->body, [&](const kir::Instruction& instruction) {
      if (is_given(instruction.op)) give(instruction);
    });
    code_.blocks.emplace_back();
    compile_block(code_.kernel->body, 0, {}, {});
    code_.mask_count = static_cast<uint32_t>(code_.blocks.size() + 2 * code_.loops.size());
    for (uint32_t i = 0; i < code_.loops.size(); ++i) {
      code_.loops[i].broke = static_cast<uint32_t>(code_.blocks.size() + 2 * i);
      code_.loops[i].next = code_.loops[i].broke + 1;
    }
    return std::move(code_);
  }

 private:
  /// Where the operands of a terminator go: slots of a construct, in Code::slots.
  struct Target {
    uint32_t slots = 0;
    uint32_t count = 0;
  };
  struct LoopTarget {
    uint32_t loop = kNone;
    Target parameters;
    Target results;
  };

  /// Equal given values share a slot that lives as long as the code.
  void give(const kir::Instruction& instruction) {
    const uint64_t what = instruction.op == Op::constant       ? instruction.bits
                          : instruction.op == Op::builtin      ? static_cast<uint64_t>(instruction.builtin)
                          : instruction.op == Op::array_length ? instruction.memory
                                                               : 0;
    const uint32_t index = instruction.op == Op::builtin || instruction.op == Op::parameter ? instruction.index : 0;
    auto [entry, is_new] = given_.try_emplace({instruction.op, what, index}, code_.slot_count);
    slot_of_[instruction.result().id] = entry->second;
    if (!is_new) return;
    ++code_.slot_count;
    (changes_by_workgroup(instruction) ? code_.workgroup_values : code_.launch_values)
        .push_back({entry->second, &instruction});
  }

  Slot allocate() {
    if (free_.empty()) return code_.slot_count++;
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }

  Target append_slots(const std::vector<kir::Value>& values) {
    const Target target = {static_cast<uint32_t>(code_.slots.size()), static_cast<uint32_t>(values.size())};
    for (kir::Value value : values) code_.slots.push_back(slot_of_[value.id]);
    return target;
  }

  Target allocate_slots(const std::vector<kir::Value>& values) {
    for (kir::Value value : values) slot_of_[value.id] = allocate();
    return append_slots(values);
  }

  void compile_block(const kir::Block& block, uint32_t index, Target yield_target, const LoopTarget& loop) {
    const auto& dying = lifetimes_.dying(next_lifetime_++);
    size_t dead = 0;
    std::vector<Step> steps;
    for (uint32_t position = 0; position < block.instructions.size(); ++position) {
      const kir::Instruction& instruction = block.instructions[position];
      if (!is_given(instruction.op)) {
        Step step = make_step(instruction, yield_target, loop);
        compile_inner_blocks(instruction, step, loop);
        steps.push_back(step);
      }
      for (; dead < dying.size() && dying[dead].first == position; ++dead) free_slot(dying[dead].second);
    }
    for (; dead < dying.size(); ++dead) free_slot(dying[dead].second);
    code_.blocks[index].steps = std::move(steps);
  }

  void free_slot(uint32_t value) {
    if (slot_of_[value] != kNoSlot) free_.push_back(slot_of_[value]);
  }

  Step make_step(const kir::Instruction& instruction, Target yield_target, const LoopTarget& loop) {
    Step step;
    step.op = instruction.op;
    step.type = instruction.type;
    step.source = &instruction;
    if (!instruction.operands.empty()) step.operand_type = code_.kernel->type_of(instruction.operands.back());
    const Target operands = append_slots(instruction.operands);
    step.operands = operands.slots;
    step.operand_count = operands.count;

    Target results;
    switch (instruction.op) {
      case Op::yield: results = yield_target; break;
      case Op::break_: results = loop.results; break;
      case Op::continue_: results = loop.parameters; break;
      default: results = allocate_slots(instruction.results); break;
    }
    step.results = results.slots;
    step.result_count = results.count;
    step.loop = loop.loop;
    if (instruction.op == Op::continue_) step.staged = overlaps(operands, results);

    const bool is_pure = kir::info(instruction.op).effect == kir::Effect::pure;
    const Op combines = is_pure                          ? instruction.op
                        : kir::is_atomic(instruction.op) ? atomic_operation(instruction.op)
                                                         : subgroup_operation(instruction.op);
    if (combines != Op::constant) step.function = lane_function(combines, step.type, step.operand_type);
    return step;
  }

  /// Does copying in order read a slot after writing it?
  bool overlaps(Target sources, Target destinations) const {
    for (uint32_t i = 0; i < destinations.count; ++i)
      for (uint32_t j = i + 1; j < sources.count; ++j)
        if (code_.slots[destinations.slots + i] == code_.slots[sources.slots + j]) return true;
    return false;
  }

  void compile_inner_blocks(const kir::Instruction& instruction, Step& step, const LoopTarget& enclosing) {
    if (instruction.blocks.empty()) return;
    step.blocks = static_cast<uint32_t>(code_.blocks.size());
    code_.blocks.resize(code_.blocks.size() + instruction.blocks.size());
    const Target results = {step.results, step.result_count};
    if (instruction.op != Op::loop) {
      for (uint32_t i = 0; i < instruction.blocks.size(); ++i)
        compile_block(instruction.blocks[i], step.blocks + i, results, enclosing);
      return;
    }
    step.loop = static_cast<uint32_t>(code_.loops.size());
    const LoopTarget loop = {step.loop, allocate_slots(instruction.blocks[0].parameters), results};
    code_.loops.push_back({step.blocks, loop.parameters.slots, 0, 0});
    compile_block(instruction.blocks[0], step.blocks, {}, loop);
  }

  Code code_;
  Lifetimes lifetimes_;
  std::vector<Slot> slot_of_;  ///< by value id
  std::vector<Slot> free_;
  std::map<std::tuple<Op, uint64_t, uint32_t>, Slot> given_;
  uint32_t next_lifetime_ = 0;
};

}  // namespace

Result<Code> compile(const kir::Kernel& kernel) {
  bool uses_pointers = false;
  kir::walk(kernel.body, [&](const kir::Instruction& instruction) {
    const bool accesses = instruction.op == Op::load || instruction.op == Op::store || kir::is_atomic(instruction.op);
    uses_pointers = uses_pointers || (accesses && instruction.memory == kir::kPointer);
  });
  if (uses_pointers) {
    return unsupported(
        format("kernel \"{}\": the reference device has no device pointers; use a buffer binding instead",
               kernel.interface.name));
  }
  return Compiler(kernel).compile();
}

}  // namespace wavegate::device::reference
