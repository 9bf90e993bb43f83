#include "wavegate/kir/passes/remove_dead_code.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace wavegate::kir {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

/// Operations that change something although nobody reads their result. A subgroup operation and a claim of
/// uniformity only feed their users.
bool has_own_effect(Op op) {
  return info(op).effect == Effect::write || op == Op::barrier;
}

/// One instruction, numbered in program order, outer before inner.
struct Node {
  const Instruction* instruction = nullptr;
  uint32_t parent = kNone;  ///< the construct that it stands in
  uint32_t end = 0;         ///< the number after its last inner instruction
  uint32_t depth = 0;       ///< constructs around it
  /// What is this deep or deeper, here or around here, must stay where control reaches it: 0 for an effect or a
  /// return_, one more than the target's depth for a jump.
  uint32_t reach = kNone;
  bool completes = false;  ///< of a construct: control can reach what follows it
  bool live = false;
  std::vector<uint32_t> exits = {};      ///< of a construct: its yields, or the breaks of a loop
  std::vector<uint32_t> continues = {};  ///< of a loop

  bool must_stay() const { return reach <= depth; }
};

/// Marks backwards from effects what they need. A result of a construct needs its operand of each exit, and a
/// loop-carried value needs its operand of the loop and of each continue_. Time is linear in the kernel's size.
class Marker {
 public:
  explicit Marker(const Kernel& kernel) : origins_(kernel.value_types.size()), live_(kernel.value_types.size(), false) {
    read_block(kernel.body, {});
    mark_effects(0, static_cast<uint32_t>(nodes_.size()));
    while (!pending_.empty()) {
      const Value value = pending_.back();
      pending_.pop_back();
      follow(value);
    }
  }

  const Node& node(uint32_t number) const { return nodes_[number]; }
  bool is_live(Value value) const { return live_[value.id]; }

 private:
  /// What surrounds a block.
  struct Place {
    uint32_t parent = kNone;
    uint32_t branch = kNone;  ///< the construct that a yield ends
    uint32_t loop = kNone;    ///< the one that break_ and continue_ are about
    uint32_t depth = 0;
    bool reachable = true;
  };

  struct Origin {
    uint32_t node = kNone;
    uint32_t place = 0;  ///< among the results, or among the loop's parameters
    bool parameter = false;
  };

  void read_block(const Block& block, Place place) {
    for (const Instruction& instruction : block.instructions) {
      const auto number = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({.instruction = &instruction, .parent = place.parent, .depth = place.depth});
      note_origins(instruction.results, number, false);
      if (is_terminator(instruction.op)) {
        read_terminator(instruction.op, number, place);
      } else if (!instruction.blocks.empty()) {
        read_construct(instruction, number, place);
        place.reachable = place.reachable && nodes_[number].completes;
      } else if (place.reachable && has_own_effect(instruction.op)) {
        nodes_[number].reach = 0;
      }
      Node& node = nodes_[number];
      node.end = static_cast<uint32_t>(nodes_.size());
      if (place.parent != kNone) nodes_[place.parent].reach = std::min(nodes_[place.parent].reach, node.reach);
    }
  }

  void note_origins(const std::vector<Value>& values, uint32_t node, bool parameter) {
    for (uint32_t i = 0; i < values.size(); ++i) origins_[values[i].id] = {node, i, parameter};
  }

  void read_construct(const Instruction& instruction, uint32_t number, Place place) {
    (instruction.op == Op::loop ? place.loop : place.branch) = number;
    place.parent = number;
    ++place.depth;
    for (const Block& block : instruction.blocks) {
      note_origins(block.parameters, number, true);
      read_block(block, place);
    }
  }

  void read_terminator(Op op, uint32_t number, const Place& place) {
    // An exit of a loop stays although control never reaches it: every loop must have one.
    if (op == Op::return_) {
      nodes_[number].reach = 0;
      return;
    }
    Node& target = nodes_[op == Op::yield ? place.branch : place.loop];
    (op == Op::continue_ ? target.continues : target.exits).push_back(number);
    if (place.reachable && op != Op::continue_) target.completes = true;
    // The target holds what jumps inside it; only the constructs in between cannot go.
    if (place.reachable || op == Op::break_) nodes_[number].reach = target.depth + 1;
  }

  void mark(Value value) {
    if (live_[value.id]) return;
    live_[value.id] = true;
    pending_.push_back(value);
  }

  void mark_effects(uint32_t begin, uint32_t end) {
    for (uint32_t number = begin; number < end; number = nodes_[number].end) {
      if (nodes_[number].must_stay() && !is_terminator(nodes_[number].instruction->op)) mark_node(number);
    }
  }

  void mark_node(uint32_t number) {
    if (std::exchange(nodes_[number].live, true)) return;
    const Instruction& instruction = *nodes_[number].instruction;
    if (instruction.op != Op::loop) {
      for (const Value operand : instruction.operands) mark(operand);
    }
    mark_effects(number + 1, nodes_[number].end);
  }

  void mark_operand(uint32_t number, uint32_t place) { mark(nodes_[number].instruction->operands[place]); }

  void follow(Value value) {
    const Origin origin = origins_[value.id];
    const Node& node = nodes_[origin.node];
    if (origin.parameter) {
      mark_operand(origin.node, origin.place);
      for (const uint32_t number : node.continues) mark_operand(number, origin.place);
      return;
    }
    mark_node(origin.node);
    for (const uint32_t number : node.exits) mark_operand(number, origin.place);
  }

  std::vector<Node> nodes_;
  std::vector<Origin> origins_;  ///< by value id
  std::vector<bool> live_;       ///< by value id
  std::vector<Value> pending_;
};

/// Walks in the order of the marker's numbers and deletes what is not live.
class Sweeper {
 public:
  explicit Sweeper(const Kernel& kernel, const Marker& marker) : kernel_(kernel), marker_(marker) {}

  PassStats run(Block& body) {
    sweep_block(body, {});
    return stats_;
  }

 private:
  using Mask = std::vector<bool>;
  /// Which operands of each terminator stay.
  struct Masks {
    const Mask* yield = nullptr;
    const Mask* break_ = nullptr;
    const Mask* continue_ = nullptr;
  };

  Mask mask_of(const std::vector<Value>& values) const {
    Mask mask;
    for (const Value value : values) mask.push_back(marker_.is_live(value));
    return mask;
  }

  static void keep(std::vector<Value>& values, const Mask& mask) {
    size_t kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (mask[i]) values[kept++] = values[i];
    }
    values.resize(kept);
  }

  void sweep_block(Block& block, const Masks& masks) {
    size_t kept = 0;
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      if (kept != i) block.instructions[kept] = std::move(block.instructions[i]);
      if (sweep(block.instructions[kept], masks)) ++kept;
    }
    block.instructions.resize(kept);
  }

  /// False if the instruction is to be removed.
  bool sweep(Instruction& instruction, const Masks& masks) {
    const Node& node = marker_.node(next_);
    if (is_terminator(instruction.op)) {
      ++next_;
      if (instruction.op == Op::yield) keep(instruction.operands, *masks.yield);
      if (instruction.op == Op::break_) keep(instruction.operands, *masks.break_);
      if (instruction.op == Op::continue_) keep(instruction.operands, *masks.continue_);
      return true;
    }
    if (!node.live) {
      stats_.removed += node.end - next_;
      next_ = node.end;
      return false;
    }
    ++next_;
    if (!instruction.blocks.empty()) sweep_construct(instruction, masks);
    return true;
  }

  void sweep_construct(Instruction& instruction, Masks masks) {
    const bool is_loop = instruction.op == Op::loop;
    const Mask results = mask_of(instruction.results);
    const Mask parameters = mask_of(instruction.blocks[0].parameters);
    const size_t values = instruction.results.size() + parameters.size();
    (is_loop ? masks.break_ : masks.yield) = &results;
    if (is_loop) {
      masks.continue_ = &parameters;
      keep(instruction.operands, parameters);
      keep(instruction.blocks[0].parameters, parameters);
    }
    for (Block& block : instruction.blocks) sweep_block(block, masks);
    keep(instruction.results, results);
    if (instruction.results.size() + instruction.blocks[0].parameters.size() == values) return;
    ++stats_.changed;
    instruction.type = instruction.results.empty() ? Type::none : kernel_.type_of(instruction.result());
  }

  const Kernel& kernel_;
  const Marker& marker_;
  uint32_t next_ = 0;
  PassStats stats_;
};

}  // namespace

Result<PassStats> remove_dead_code(Kernel& kernel) {
  const Marker marker(kernel);
  return Sweeper(kernel, marker).run(kernel.body);
}

}  // namespace wavegate::kir
