#include "wavegate/kir/passes/promote_variables.h"

#include <algorithm>
#include <utility>

namespace wavegate::kir {
namespace {

/// One if_, switch_ or loop, by its place in program order.
struct Construct {
  uint32_t end = 0;              ///< position after its last instruction
  std::vector<uint32_t> stored;  ///< variables written inside, ascending
};

/// What the first reading of a kernel finds out. Positions count instructions, outer before inner.
struct Survey {
  std::vector<bool> candidate;        ///< by memory id
  std::vector<uint32_t> last_access;  ///< by memory id, a position
  std::vector<Construct> constructs;
};

class Surveyor {
 public:
  explicit Surveyor(const Kernel& kernel) : zero_(kernel.value_types.size(), false) {
    for (const Memory& memory : kernel.memories) {
      survey_.candidate.push_back(memory.space == MemorySpace::local && memory.length == 1);
    }
    survey_.last_access.assign(kernel.memories.size(), 0);
    std::vector<uint32_t> stored;
    read(kernel.body, stored);
  }

  Survey take() && { return std::move(survey_); }

 private:
  void read(const Block& block, std::vector<uint32_t>& stored) {
    for (const Instruction& instruction : block.instructions) {
      const uint32_t position = position_++;
      if (instruction.op == Op::constant) {
        zero_[instruction.result().id] = instruction.bits == 0;
      } else if (accesses_memory(instruction.op) && instruction.memory != kPointer) {
        access(instruction, position, stored);
      } else if (!instruction.blocks.empty()) {
        read_construct(instruction, stored);
      }
    }
  }

  void access(const Instruction& instruction, uint32_t position, std::vector<uint32_t>& stored) {
    const uint32_t variable = instruction.memory;
    const bool whole_load = instruction.op == Op::load && instruction.results.size() == 1;
    const bool whole_store = instruction.op == Op::store && instruction.operands.size() == 2;
    if ((!whole_load && !whole_store) || !zero_[instruction.operands[0].id]) survey_.candidate[variable] = false;
    survey_.last_access[variable] = position;
    if (whole_store) stored.push_back(variable);
  }

  void read_construct(const Instruction& instruction, std::vector<uint32_t>& stored) {
    const size_t number = survey_.constructs.size();
    survey_.constructs.emplace_back();
    std::vector<uint32_t> inside;
    for (const Block& block : instruction.blocks) read(block, inside);
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    stored.insert(stored.end(), inside.begin(), inside.end());
    survey_.constructs[number] = {position_, std::move(inside)};
  }

  Survey survey_;
  std::vector<bool> zero_;  ///< by value id: a constant zero
  uint32_t position_ = 0;
};

/// Walks a kernel in program order with the current value of each variable. Structured control flow needs no
/// dominance frontiers: variables meet where an if_ or switch_ yields, at a loop's head and at its breaks.
///
/// The same walk first only looks (no instruction is touched, values are placeholders) to find the variables that
/// are read where no write is certain, and then, without those, rewrites.
class Promoter {
 public:
  Promoter(Kernel& kernel, const Survey& survey) : kernel_(kernel), survey_(survey), promoted_(survey.candidate) {}

  PassStats run() {
    walk_kernel();
    rewrite_ = true;
    replacement_.resize(kernel_.value_types.size());
    walk_kernel();
    erase_memories();
    return stats_;
  }

 private:
  /// A construct whose end the walk has not reached: where its exits (yields, or breaks of a loop) meet.
  struct Open {
    std::vector<uint32_t> variables;  ///< the ones that may become results
    std::vector<bool> defined;        ///< by index into variables: written on the way to every exit so far
    std::vector<Instruction*> exits;
    std::vector<uint32_t> carried;  ///< of a loop: the variables that its head takes
  };

  void walk_kernel() {
    current_.assign(kernel_.memories.size(), Value{});
    carried_depth_.assign(kernel_.memories.size(), 0);
    next_construct_ = 0;
    walk_block(kernel_.body);
  }

  void set(uint32_t variable, Value value) {
    trail_.emplace_back(variable, current_[variable]);
    current_[variable] = value;
  }

  void roll_back(size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) current_[trail_.back().first] = trail_.back().second;
  }

  Value fresh(uint32_t variable) { return rewrite_ ? kernel_.new_value(kernel_.memories[variable].element) : Value{0}; }

  void walk_block(Block& block) {
    size_t kept = 0;
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      // An instruction moves to its final place first: exits are remembered by address.
      if (kept != i) block.instructions[kept] = std::move(block.instructions[i]);
      if (walk_instruction(block.instructions[kept])) ++kept;
    }
    block.instructions.erase(block.instructions.begin() + static_cast<std::ptrdiff_t>(kept), block.instructions.end());
  }

  /// False if the instruction is to be removed.
  bool walk_instruction(Instruction& instruction) {
    if (rewrite_) {
      for (Value& operand : instruction.operands) {
        if (operand.id < replacement_.size() && replacement_[operand.id].valid()) operand = replacement_[operand.id];
      }
    }
    switch (instruction.op) {
      case Op::load: return !is_promoted(instruction) || load(instruction);
      case Op::store: return !is_promoted(instruction) || store(instruction);
      case Op::if_:
      case Op::switch_: branch(instruction); break;
      case Op::loop: loop(instruction); break;
      case Op::yield: exit_to(branches_.back(), instruction); break;
      case Op::break_: exit_to(loops_.back(), instruction); break;
      case Op::continue_:
        if (rewrite_) append_current(instruction, loops_.back().carried);
        break;
      default: break;
    }
    return true;
  }

  bool is_promoted(const Instruction& instruction) const {
    return instruction.memory != kPointer && promoted_[instruction.memory];
  }

  bool load(Instruction& instruction) {
    const Value value = current_[instruction.memory];
    if (!rewrite_) {
      if (!value.valid()) promoted_[instruction.memory] = false;
      return true;
    }
    replacement_[instruction.result().id] = value;
    ++stats_.removed;
    return false;
  }

  bool store(const Instruction& instruction) {
    set(instruction.memory, instruction.operands[1]);
    if (rewrite_) ++stats_.removed;
    return !rewrite_;
  }

  void append_current(Instruction& instruction, const std::vector<uint32_t>& variables) {
    for (const uint32_t variable : variables) instruction.operands.push_back(current_[variable]);
  }

  void exit_to(Open& construct, Instruction& exit) {
    for (size_t i = 0; i < construct.variables.size(); ++i) {
      if (!current_[construct.variables[i]].valid()) construct.defined[i] = false;
    }
    if (rewrite_) append_current(exit, construct.variables);
    construct.exits.push_back(&exit);
  }

  Open open(const Construct& construct) const {
    Open result;
    for (const uint32_t variable : construct.stored) {
      const bool read_later = survey_.last_access[variable] >= construct.end || carried_depth_[variable] != 0;
      if (promoted_[variable] && read_later) result.variables.push_back(variable);
    }
    result.defined.assign(result.variables.size(), true);
    return result;
  }

  void branch(Instruction& instruction) {
    branches_.push_back(open(survey_.constructs[next_construct_++]));
    for (Block& block : instruction.blocks) {
      const size_t mark = trail_.size();
      walk_block(block);
      roll_back(mark);
    }
    close(instruction, branches_);
  }

  void loop(Instruction& instruction) {
    const Construct& construct = survey_.constructs[next_construct_++];
    Open loop = open(construct);
    for (const uint32_t variable : construct.stored) {
      if (promoted_[variable] && current_[variable].valid()) loop.carried.push_back(variable);
    }
    if (rewrite_) append_current(instruction, loop.carried);
    const size_t mark = trail_.size();
    for (const uint32_t variable : loop.carried) {
      const Value parameter = fresh(variable);
      if (rewrite_) instruction.blocks[0].parameters.push_back(parameter);
      set(variable, parameter);
      ++carried_depth_[variable];
    }
    loops_.push_back(std::move(loop));
    walk_block(instruction.blocks[0]);
    roll_back(mark);
    for (const uint32_t variable : loops_.back().carried) --carried_depth_[variable];
    close(instruction, loops_);
  }

  /// Lets the exits meet: what all of them have written becomes a result, what some have not is unknown from here.
  /// After a construct without exits nothing runs, and the state before it is as good as any.
  void close(Instruction& instruction, std::vector<Open>& stack) {
    const Open construct = std::move(stack.back());
    stack.pop_back();
    if (construct.exits.empty()) return;
    const bool all_defined =
        std::find(construct.defined.begin(), construct.defined.end(), false) == construct.defined.end();
    if (rewrite_ && !all_defined) {
      for (Instruction* exit : construct.exits) drop_undefined(*exit, construct);
    }
    for (size_t i = 0; i < construct.variables.size(); ++i) {
      const uint32_t variable = construct.variables[i];
      const Value value = construct.defined[i] ? fresh(variable) : Value{};
      if (rewrite_ && construct.defined[i]) instruction.results.push_back(value);
      set(variable, value);
    }
    if (!instruction.results.empty()) instruction.type = kernel_.type_of(instruction.result());
  }

  static void drop_undefined(Instruction& exit, const Open& construct) {
    const size_t first = exit.operands.size() - construct.variables.size();
    size_t kept = first;
    for (size_t i = 0; i < construct.variables.size(); ++i) {
      if (construct.defined[i]) exit.operands[kept++] = exit.operands[first + i];
    }
    exit.operands.resize(kept);
  }

  void erase_memories() {
    std::vector<uint32_t> new_id(kernel_.memories.size(), 0);
    std::vector<Memory> kept;
    for (size_t i = 0; i < kernel_.memories.size(); ++i) {
      new_id[i] = static_cast<uint32_t>(kept.size());
      if (!promoted_[i]) kept.push_back(std::move(kernel_.memories[i]));
    }
    stats_.changed = static_cast<uint32_t>(kernel_.memories.size() - kept.size());
    kernel_.memories = std::move(kept);
    walk(kernel_.body, [&](Instruction& instruction) {
      if (accesses_memory(instruction.op) && instruction.memory != kPointer) {
        instruction.memory = new_id[instruction.memory];
      }
    });
  }

  Kernel& kernel_;
  const Survey& survey_;
  std::vector<bool> promoted_;  ///< by memory id
  bool rewrite_ = false;
  PassStats stats_;

  std::vector<Value> current_;                     ///< by memory id; invalid where a write is not certain
  std::vector<std::pair<uint32_t, Value>> trail_;  ///< the values that current_ had, to go back to
  std::vector<uint32_t> carried_depth_;            ///< by memory id: loops around here that carry the variable
  std::vector<Value> replacement_;                 ///< by value id of a removed load
  std::vector<Open> branches_;                     ///< innermost last
  std::vector<Open> loops_;
  size_t next_construct_ = 0;
};

}  // namespace

Result<PassStats> promote_variables(Kernel& kernel) {
  const Survey survey = Surveyor(kernel).take();
  return Promoter(kernel, survey).run();
}

}  // namespace wavegate::kir
