#include "wavegate/kir/passes/fold_constants.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "wavegate/kir/evaluate.h"

namespace wavegate::kir {
namespace {

bool is_foldable(Op op) {
  const bool given_at_launch = op == Op::builtin || op == Op::parameter || op == Op::array_length;
  const bool approximate = op >= Op::exp2 && op <= Op::cos;
  return info(op).effect == Effect::pure && op != Op::constant && !given_at_launch && !approximate;
}

/// A number of an integer type or bool, whatever its width.
enum class Number : uint8_t { none, zero, one, ones, smallest_s, largest_s };

bool is_number(Number number, Type type, uint64_t bits) {
  const uint64_t ones = ~uint64_t{0} >> (64 - bit_width(type));
  switch (number) {
    case Number::none: return false;
    case Number::zero: return bits == 0;
    case Number::one: return bits == 1;
    case Number::ones: return bits == ones;
    case Number::smallest_s: return bits == (ones ^ ones >> 1);
    default: return bits == ones >> 1;
  }
}

/// What an operation is when its two operands are the same value.
enum class OfItself : uint8_t { unknown, operand, zero, one };

/// Identities that hold for every input. `unit`: x op unit = x. `absorber`: x op absorber = absorber. Both hold on
/// either side where the operation commutes.
struct Identity {
  Op op;
  bool commutes;
  Number unit;
  Number absorber;
  OfItself of_itself;
};

constexpr Identity kIdentities[] = {
    {Op::add, true, Number::zero, Number::none, OfItself::unknown},
    {Op::sub, false, Number::zero, Number::none, OfItself::zero},
    {Op::mul, true, Number::one, Number::zero, OfItself::unknown},
    {Op::mul_high_u, true, Number::none, Number::zero, OfItself::unknown},
    {Op::mul_high_s, true, Number::none, Number::zero, OfItself::unknown},
    {Op::div_u, false, Number::one, Number::none, OfItself::unknown},
    {Op::div_s, false, Number::one, Number::none, OfItself::unknown},
    {Op::rem_u, false, Number::none, Number::none, OfItself::zero},
    {Op::rem_s, false, Number::none, Number::none, OfItself::zero},
    {Op::min_u, true, Number::ones, Number::zero, OfItself::operand},
    {Op::min_s, true, Number::largest_s, Number::smallest_s, OfItself::operand},
    {Op::max_u, true, Number::zero, Number::ones, OfItself::operand},
    {Op::max_s, true, Number::smallest_s, Number::largest_s, OfItself::operand},
    {Op::and_, true, Number::ones, Number::zero, OfItself::operand},
    {Op::or_, true, Number::zero, Number::ones, OfItself::operand},
    {Op::xor_, true, Number::zero, Number::none, OfItself::zero},
    {Op::shift_left, false, Number::zero, Number::none, OfItself::unknown},
    {Op::shift_right_u, false, Number::zero, Number::none, OfItself::unknown},
    {Op::shift_right_s, false, Number::zero, Number::none, OfItself::unknown},
    {Op::equal, true, Number::none, Number::none, OfItself::one},
    {Op::not_equal, true, Number::none, Number::none, OfItself::zero},
    {Op::less_u, false, Number::none, Number::none, OfItself::zero},
    {Op::less_s, false, Number::none, Number::none, OfItself::zero},
    {Op::less_equal_u, false, Number::none, Number::none, OfItself::one},
    {Op::less_equal_s, false, Number::none, Number::none, OfItself::one},
};

const Identity* find_identity(Op op) {
  const auto* row = std::find_if(std::begin(kIdentities), std::end(kIdentities),
                                 [op](const Identity& identity) { return identity.op == op; });
  return row == std::end(kIdentities) ? nullptr : row;
}

/// The terminators by which a construct passes values on.
struct Exits {
  std::vector<Instruction*> results;    ///< yields, or breaks of a loop
  std::vector<Instruction*> continues;  ///< of a loop
};

void find_loop_exits(Block& block, Exits& exits) {
  for (Instruction& instruction : block.instructions) {
    if (instruction.op == Op::break_) exits.results.push_back(&instruction);
    if (instruction.op == Op::continue_) exits.continues.push_back(&instruction);
    if (instruction.op == Op::loop) continue;
    for (Block& inner : instruction.blocks) find_loop_exits(inner, exits);
  }
}

Exits find_exits(Instruction& construct) {
  Exits exits;
  if (construct.op == Op::loop) {
    find_loop_exits(construct.blocks[0], exits);
    return exits;
  }
  for (Block& block : construct.blocks) {
    if (block.instructions.back().op == Op::yield) exits.results.push_back(&block.instructions.back());
  }
  return exits;
}

/// The ways out of the loops around: a bit each for break_ and return_.
constexpr uint8_t kNoWay = 0;
constexpr uint8_t kBreak = 1;
constexpr uint8_t kReturn = 2;

uint8_t ways_out(const Instruction& instruction) {
  if (instruction.op == Op::break_) return kBreak;
  if (instruction.op == Op::return_) return kReturn;
  uint8_t ways = kNoWay;
  for (const Block& block : instruction.blocks) {
    for (const Instruction& inner : block.instructions) ways |= ways_out(inner);
  }
  return instruction.op == Op::loop ? ways & kReturn : ways;
}

/// By place: the ways out in the instructions from there on, and after them.
std::vector<uint8_t> ways_out_from(std::span<const Instruction> instructions, uint8_t ways_after) {
  std::vector<uint8_t> ways(instructions.size() + 1, ways_after);
  for (size_t i = instructions.size(); i-- > 0;) ways[i] = ways[i + 1] | ways_out(instructions[i]);
  return ways;
}

uint32_t count(const Instruction& instruction) {
  uint32_t instructions = 1;
  for (const Block& block : instruction.blocks) {
    for (const Instruction& inner : block.instructions) instructions += count(inner);
  }
  return instructions;
}

/// Deletes the values whose flag is set.
void drop(std::vector<Value>& values, const std::vector<bool>& dropped) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!dropped[i]) values[kept++] = values[i];
  }
  values.resize(kept);
}

class Folder {
 public:
  explicit Folder(Kernel& kernel)
      : kernel_(kernel),
        constants_(kernel.value_types.size()),
        replacements_(kernel.value_types.size()),
        definitions_(kernel.value_types.size(), 0) {}

  /// Repeats the walk because what a loop's end teaches matters to its body: twice as a rule.
  PassStats run() {
    uint32_t before = 0;
    do {
      before = stats_.changed + stats_.removed;
      next_ = 0;
      fold_block(kernel_.body);
    } while (stats_.changed + stats_.removed != before);
    return stats_;
  }

 private:
  Value resolve(Value value) {
    Value end = value;
    while (replacements_[end.id].valid()) end = replacements_[end.id];
    while (replacements_[value.id].valid()) value = std::exchange(replacements_[value.id], end);
    return end;
  }

  void fold_block(Block& block) {
    std::vector<Instruction> folded;
    folded.reserve(block.instructions.size());
    fold_instructions(block.instructions, kNoWay, folded);
    block.instructions = std::move(folded);
  }

  /// `ways_after` are the ways out in what would be cut off with the rest of these instructions. False if the
  /// block around ends here: a block was spliced in that does not yield.
  bool fold_instructions(std::span<Instruction> instructions, uint8_t ways_after, std::vector<Instruction>& folded) {
    std::vector<uint8_t> ways;
    for (size_t i = 0; i < instructions.size(); ++i) {
      Instruction& instruction = instructions[i];
      for (Value& operand : instruction.operands) operand = resolve(operand);
      const uint32_t number = next_++;
      for (const Value result : instruction.results) definitions_[result.id] = number;
      Block* taken = block_taken(instruction);
      if (taken != nullptr && ways.empty()) ways = ways_out_from(instructions, ways_after);
      if (taken != nullptr && (loop_depth_ == 0 || keeps_ways_out(instruction, *taken, ways[i + 1]))) {
        if (splice(instruction, *taken, ways[i + 1], folded)) continue;
        for (const Instruction& cut : instructions.subspan(i + 1)) stats_.removed += count(cut);
        return false;
      }
      if (instruction.blocks.empty()) {
        fold_plain(instruction, folded);
      } else {
        fold_construct(instruction, number, folded);
      }
    }
    return true;
  }

  void fold_plain(Instruction& instruction, std::vector<Instruction>& folded) {
    if (is_foldable(instruction.op) && fold_operation(instruction)) {
      ++stats_.removed;
      return;
    }
    if (instruction.op == Op::constant) constants_[instruction.result().id] = instruction.bits;
    folded.push_back(std::move(instruction));
  }

  /// The block that an if_ or switch_ on a constant takes.
  Block* block_taken(Instruction& instruction) const {
    if (instruction.op != Op::if_ && instruction.op != Op::switch_) return nullptr;
    const auto selector = constants_[instruction.operands[0].id];
    if (!selector) return nullptr;
    if (instruction.op == Op::if_) return &instruction.blocks[*selector != 0 ? 0 : 1];
    const auto found = std::find(instruction.cases.begin(), instruction.cases.end(), *selector);
    return &instruction.blocks[static_cast<size_t>(found - instruction.cases.begin())];
  }

  /// Whether the loops around can still end: a kernel with a loop that cannot is not valid, although control may
  /// never come to it.
  static bool keeps_ways_out(const Instruction& construct, const Block& taken, uint8_t ways_after) {
    const Op last = taken.terminator().op;
    int lost = last == Op::yield ? kNoWay : ways_after;
    for (const Block& block : construct.blocks) {
      for (const Instruction& instruction : block.instructions) {
        if (&block != &taken) lost |= ways_out(instruction);
      }
    }
    const int kept = last == Op::return_ ? kBreak | kReturn : last == Op::break_ ? kBreak : kNoWay;
    return (lost & ~kept) == 0;
  }

  /// Puts the block in place of its construct. False if it does not yield, so that nothing after it is reached.
  bool splice(const Instruction& construct, Block& taken, uint8_t ways_after, std::vector<Instruction>& folded) {
    stats_.removed += count(construct);
    for (const Instruction& instruction : taken.instructions) stats_.removed -= count(instruction);
    if (!fold_instructions(taken.instructions, ways_after, folded)) return false;
    if (folded.back().op != Op::yield) return false;
    const Instruction yield = std::move(folded.back());
    folded.pop_back();
    ++stats_.removed;
    for (size_t i = 0; i < construct.results.size(); ++i) replacements_[construct.results[i].id] = yield.operands[i];
    return true;
  }

  void fold_construct(Instruction& instruction, uint32_t number, std::vector<Instruction>& folded) {
    const bool is_loop = instruction.op == Op::loop;
    loop_depth_ += is_loop ? 1 : 0;
    for (Block& block : instruction.blocks) {
      for (const Value parameter : block.parameters) definitions_[parameter.id] = number;
      fold_block(block);
    }
    loop_depth_ -= is_loop ? 1 : 0;
    const Exits exits = find_exits(instruction);
    if (is_loop) fold_parameters(instruction, exits.continues);
    std::vector<Value> never_given;
    if (exits.results.empty()) {
      never_given = std::exchange(instruction.results, {});
    } else {
      fold_results(instruction, exits.results, number);
    }
    instruction.type = instruction.results.empty() ? Type::none : kernel_.type_of(instruction.result());
    folded.push_back(std::move(instruction));
    // What follows never runs, but it may still name the results.
    for (const Value value : never_given) {
      folded.push_back({.op = Op::constant, .type = kernel_.type_of(value), .results = {value}});
    }
  }

  /// A loop-carried value that no iteration changes is its initial value.
  void fold_parameters(Instruction& loop, const std::vector<Instruction*>& continues) {
    std::vector<Value>& parameters = loop.blocks[0].parameters;
    std::vector<bool> dropped(parameters.size(), false);
    for (size_t i = 0; i < parameters.size(); ++i) {
      dropped[i] = std::all_of(continues.begin(), continues.end(), [&](const Instruction* exit) {
        const Value next = resolve(exit->operands[i]);
        return next == parameters[i] || next == loop.operands[i];
      });
      if (dropped[i]) replacements_[parameters[i].id] = loop.operands[i];
    }
    if (!any(dropped)) return;
    drop(parameters, dropped);
    drop(loop.operands, dropped);
    for (Instruction* exit : continues) drop(exit->operands, dropped);
  }

  /// A result that is the same value by every exit is that value, if it was there before the construct.
  void fold_results(Instruction& construct, const std::vector<Instruction*>& exits, uint32_t number) {
    if (exits.empty()) return;
    std::vector<bool> dropped(construct.results.size(), false);
    for (size_t i = 0; i < construct.results.size(); ++i) {
      const Value value = resolve(exits.front()->operands[i]);
      dropped[i] = definitions_[value.id] < number &&
                   std::all_of(exits.begin(), exits.end(),
                               [&](const Instruction* exit) { return resolve(exit->operands[i]) == value; });
      if (dropped[i]) replacements_[construct.results[i].id] = value;
    }
    if (!any(dropped)) return;
    drop(construct.results, dropped);
    for (Instruction* exit : exits) drop(exit->operands, dropped);
  }

  bool any(const std::vector<bool>& dropped) {
    const bool found = std::find(dropped.begin(), dropped.end(), true) != dropped.end();
    if (found) ++stats_.changed;
    return found;
  }

  /// Makes a constant of the instruction, or finds the value that it equals and returns true: it can go.
  bool fold_operation(Instruction& instruction) {
    if (const auto bits = evaluate_constants(instruction)) {
      make_constant(instruction, *bits);
      return false;
    }
    const Value same = equal_operand(instruction);
    if (same.valid()) replacements_[instruction.result().id] = same;
    return same.valid();
  }

  std::optional<uint64_t> evaluate_constants(const Instruction& instruction) const {
    std::array<uint64_t, 3> bits{};
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const auto constant = constants_[instruction.operands[i].id];
      if (!constant) return result_of_itself(instruction);
      bits[i] = *constant;
    }
    const Type operand_type = kernel_.type_of(instruction.operands.back());
    return evaluate(instruction.op, instruction.type, operand_type, std::span(bits).first(instruction.operands.size()));
  }

  std::optional<uint64_t> result_of_itself(const Instruction& instruction) const {
    const Identity* identity = find_identity(instruction.op);
    if (identity == nullptr || instruction.operands[0] != instruction.operands[1]) return std::nullopt;
    if (identity->of_itself == OfItself::zero) return 0;
    if (identity->of_itself == OfItself::one) return 1;
    return std::nullopt;
  }

  void make_constant(Instruction& instruction, uint64_t bits) {
    instruction.op = Op::constant;
    instruction.bits = bits;
    instruction.operands.clear();
    ++stats_.changed;
  }

  /// The operand that the instruction's result always equals; invalid if there is none.
  Value equal_operand(const Instruction& instruction) const {
    const auto& operands = instruction.operands;
    if (instruction.op == Op::select) {
      const auto condition = constants_[operands[0].id];
      if (condition) return operands[*condition != 0 ? 1 : 2];
      return operands[1] == operands[2] ? operands[1] : Value{};
    }
    if (instruction.op == Op::bitcast) {
      return kernel_.type_of(operands[0]) == instruction.type ? operands[0] : Value{};
    }
    const Identity* identity = find_identity(instruction.op);
    if (identity == nullptr) return {};
    if (identity->of_itself == OfItself::operand && operands[0] == operands[1]) return operands[0];
    for (const size_t side : {1, 0}) {
      const auto constant = constants_[operands[side].id];
      if (constant && is_number(identity->unit, instruction.type, *constant)) return operands[1 - side];
      if (constant && is_number(identity->absorber, instruction.type, *constant)) return operands[side];
      if (!identity->commutes) break;
    }
    return {};
  }

  Kernel& kernel_;
  std::vector<std::optional<uint64_t>> constants_;  ///< by value id
  std::vector<Value> replacements_;                 ///< by value id; of a value that is gone
  std::vector<uint32_t> definitions_;               ///< by value id; where this walk met it
  uint32_t next_ = 0;
  uint32_t loop_depth_ = 0;
  PassStats stats_;
};

}  // namespace

Result<PassStats> fold_constants(Kernel& kernel) {
  return Folder(kernel).run();
}

}  // namespace wavegate::kir
