#include "wavegate/kir/passes/structure_returns.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/appender.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

/// Blocks outside loops are structured by structure(): what follows a construct moves into the branch that goes on.
/// Inside a loop a return_ becomes a break_ that says so.
class Structurer {
 public:
  explicit Structurer(Kernel& kernel) : kernel_(kernel), replacement_(kernel.value_types.size()) {}

  PassStats run() {
    structure(kernel_.body, 0, 1, true);
    walk(kernel_.body, [&](Instruction& instruction) {
      for (Value& operand : instruction.operands) operand = resolved(operand);
    });
    return stats_;
  }

  bool too_deep() const { return too_deep_; }

 private:
  /// Whether invocations that come to a block leave the kernel in it.
  enum class Leaves : uint8_t { never, some, always };
  struct Outcome {
    Leaves leaves = Leaves::never;
    Value left = {};  ///< of `some`: the bool that says it, visible where the block yields
  };
  struct Exits {
    std::vector<Block*> breaks;
    std::vector<Block*> returns;
  };

  Value resolved(Value value) const {
    const bool replaced = value.id < replacement_.size() && replacement_[value.id].valid();
    return replaced ? replacement_[value.id] : value;
  }

  /// Ends the block with `op` instead, whose operands are any values of the targets' types, then `flag` if given.
  void leave(Block& block, Op op, std::span<const Value> targets, const bool* flag) {
    Instruction end{.op = op};
    if (block.terminator().op == Op::return_) ++stats_.changed;
    block.instructions.pop_back();
    Appender code(kernel_, block.instructions);
    for (const Value target : targets) end.operands.push_back(code.constant(kernel_.type_of(target), 0));
    if (flag != nullptr) end.operands.push_back(code.constant(Type::boolean, *flag ? 1 : 0));
    code.put(std::move(end));
  }

  /// Adds an operand to the block's terminator: the flag, or a constant false.
  void pass_on(Block& block, Value flag) {
    if (!flag.valid()) {
      Instruction end = std::move(block.instructions.back());
      block.instructions.pop_back();
      flag = Appender(kernel_, block.instructions).constant(Type::boolean, 0);
      block.instructions.push_back(std::move(end));
    }
    block.instructions.back().operands.push_back(flag);
  }

  /// Puts `if left { return }` at a place of the block, to be structured like any other.
  void insert_return(Block& block, size_t place, Value left) {
    std::vector<Instruction> test;
    Appender(kernel_, test).if_(left, {{.op = Op::return_}}, {{.op = Op::yield}});
    block.instructions.insert(block.instructions.begin() + static_cast<ptrdiff_t>(place), std::move(test.front()));
  }

  /// Drops what follows an instruction that nobody comes out of.
  static void cut(Block& block, size_t place) {
    block.instructions.resize(place + 1);
    block.instructions.push_back({.op = Op::return_});
  }

  void set_results(Instruction& construct, std::vector<Value> results) {
    construct.results = std::move(results);
    construct.type = construct.results.empty() ? Type::none : kernel_.type_of(construct.result());
  }

  /// Structures a block outside loops, from an instruction on. After one in tail position the kernel ends, so that it
  /// does not matter who left in it.
  Outcome structure(Block& block, size_t first, uint32_t depth, bool tail) {
    for (size_t i = first; i < block.instructions.size(); ++i) {
      Instruction& instruction = block.instructions[i];
      if (instruction.op == Op::return_) return {Leaves::always};
      if (instruction.blocks.empty()) continue;
      const Op next = block.instructions[i + 1].op;
      const bool is_last = next == Op::return_ || (tail && next == Op::yield);
      if (instruction.op == Op::loop) {
        const Exits exits = structure_loop(instruction, !is_last);
        if (exits.returns.empty() || is_last) continue;
        if (exits.breaks.empty()) {
          cut(block, i);
        } else {
          insert_return(block, i + 1, instruction.results.back());
        }
        continue;
      }
      std::vector<Outcome> outcomes;
      for (Block& inner : instruction.blocks) outcomes.push_back(structure(inner, 0, depth + 1, is_last));
      if (too_deep_) return {};
      const auto leaves = [&](Leaves what) { return std::ranges::count(outcomes, what, &Outcome::leaves); };
      const auto count = static_cast<ptrdiff_t>(outcomes.size());
      if (leaves(Leaves::never) == count) continue;
      if (is_last) {  // all have come to the end
        for (Block& inner : instruction.blocks)
          if (inner.terminator().op == Op::return_) leave(inner, Op::yield, instruction.results, nullptr);
        if (drop_if_empty(block, i)) --i;
      } else if (leaves(Leaves::always) == count) {
        for (Block& inner : instruction.blocks) leave(inner, Op::yield, {}, nullptr);
        cut(block, i);
      } else if (leaves(Leaves::always) == count - 1 && leaves(Leaves::never) == 1) {
        const auto goes_on = std::ranges::find(outcomes, Leaves::never, &Outcome::leaves) - outcomes.begin();
        return move_rest(block, i, static_cast<size_t>(goes_on), depth, tail);
      } else {
        insert_return(block, i + 1, add_flag(instruction, outcomes));
      }
    }
    return {};
  }

  /// A result of an if_ or switch_ that says whether the invocation left in it.
  Value add_flag(Instruction& construct, const std::vector<Outcome>& outcomes) {
    constexpr bool kLeft = true;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      Block& inner = construct.blocks[i];
      if (outcomes[i].leaves == Leaves::always) {
        leave(inner, Op::yield, construct.results, &kLeft);
      } else {
        pass_on(inner, outcomes[i].left);
      }
    }
    std::vector<Value> results = std::move(construct.results);
    results.push_back(kernel_.new_value(Type::boolean));
    set_results(construct, std::move(results));
    return construct.results.back();
  }

  /// Moves what follows a construct into the one branch of it that goes on.
  Outcome move_rest(Block& block, size_t place, size_t branch, uint32_t depth, bool tail) {
    constexpr bool kLeft = true;
    if (depth == kMaximumDepth) {
      too_deep_ = true;
      return {};
    }
    Instruction& construct = block.instructions[place];
    Block& inner = construct.blocks[branch];
    for (size_t i = 0; i < construct.results.size(); ++i)
      replacement_[construct.results[i].id] = resolved(inner.terminator().operands[i]);
    construct.results.clear();

    inner.instructions.pop_back();
    const size_t first = inner.instructions.size();
    const auto rest = block.instructions.begin() + static_cast<ptrdiff_t>(place) + 1;
    inner.instructions.insert(inner.instructions.end(), std::make_move_iterator(rest),
                              std::make_move_iterator(block.instructions.end()));
    block.instructions.erase(rest, block.instructions.end());
    const Outcome outcome = structure(inner, first, depth + 1, tail);
    if (too_deep_) return {};

    const std::vector<Value> yielded = inner.terminator().operands;
    if (tail || outcome.leaves == Leaves::always) {
      const Op end = inner.terminator().op;
      for (Block& other : construct.blocks) leave(other, Op::yield, {}, nullptr);
      set_results(construct, {});
      block.instructions.push_back({.op = end});
      if (end == Op::return_) return {Leaves::always};
      leave(block, Op::yield, yielded, nullptr);
      return {};
    }
    std::vector<Value> results;
    for (const Value value : yielded) results.push_back(kernel_.new_value(kernel_.type_of(value)));
    for (Block& other : construct.blocks) {
      if (&other != &inner) leave(other, Op::yield, results, &kLeft);
    }
    pass_on(inner, outcome.left);
    Instruction end{.op = Op::yield, .operands = results};
    results.push_back(kernel_.new_value(Type::boolean));
    set_results(construct, std::move(results));
    const Value left = construct.results.back();
    block.instructions.push_back(std::move(end));
    return {Leaves::some, left};
  }

  static bool drop_if_empty(Block& block, size_t place) {
    const Instruction& construct = block.instructions[place];
    const bool empty = construct.results.empty() &&
                       std::ranges::all_of(construct.blocks, [](const Block& b) { return b.instructions.size() == 1; });
    if (empty) block.instructions.erase(block.instructions.begin() + static_cast<ptrdiff_t>(place));
    return empty;
  }

  /// Turns the returns in a loop into breaks. If it has both and a flag is wanted, its last result says which it was.
  Exits structure_loop(Instruction& loop, bool wants_flag) {
    Exits exits;
    structure_in_loop(loop.blocks[0], exits);
    if (exits.returns.empty()) return exits;
    constexpr bool kLeft = true;
    const bool has_flag = wants_flag && !exits.breaks.empty();
    for (Block* block : exits.returns) leave(*block, Op::break_, loop.results, has_flag ? &kLeft : nullptr);
    if (!has_flag) return exits;
    for (Block* block : exits.breaks) pass_on(*block, {});
    std::vector<Value> results = std::move(loop.results);
    results.push_back(kernel_.new_value(Type::boolean));
    set_results(loop, std::move(results));
    return exits;
  }

  /// Structures the loops in a block of a loop, and collects the blocks that leave it.
  void structure_in_loop(Block& block, Exits& exits) {
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      Instruction& instruction = block.instructions[i];
      if (instruction.op == Op::break_) exits.breaks.push_back(&block);
      if (instruction.op == Op::return_) exits.returns.push_back(&block);
      if (instruction.op == Op::loop) {
        const Exits inner = structure_loop(instruction, true);
        if (inner.returns.empty()) continue;
        if (inner.breaks.empty()) {
          cut(block, i);
        } else {
          insert_return(block, i + 1, instruction.results.back());
        }
        continue;
      }
      for (Block& inner : instruction.blocks) structure_in_loop(inner, exits);
    }
  }

  Kernel& kernel_;
  std::vector<Value> replacement_;  ///< by value id: what stands for a result whose uses moved into a branch
  PassStats stats_;
  bool too_deep_ = false;
};

uint32_t depth_of(const Block& block) {
  uint32_t inner_depth = 0;
  for (const Instruction& instruction : block.instructions)
    for (const Block& inner : instruction.blocks) inner_depth = std::max(inner_depth, depth_of(inner));
  return inner_depth + 1;
}

}  // namespace

Result<PassStats> structure_returns(Kernel& kernel) {
  Kernel structured = kernel;
  Structurer structurer(structured);
  const PassStats stats = structurer.run();
  if (structurer.too_deep() || depth_of(structured.body) > kMaximumDepth)
    return unsupported(
        format("kernel \"{}\": its returns, as branches, nest blocks deeper than {}; return from fewer places",
               kernel.interface.name, kMaximumDepth));
  if (stats.any()) kernel = std::move(structured);
  return stats;
}

}  // namespace wavegate::kir
