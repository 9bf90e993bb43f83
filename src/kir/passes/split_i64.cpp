#include "wavegate/kir/passes/split_i64.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/appender.h"
#include "wavegate/kir/passes/pair_arithmetic.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

/// Blocks that a division nests in the one that it stands in.
constexpr uint32_t kDivisionDepth = 3;

bool divides(Op op) {
  return op >= Op::div_u && op <= Op::rem_s;
}

class Splitter {
 public:
  explicit Splitter(Kernel& kernel) : kernel_(kernel), pairs_(kernel.value_types.size()) {}

  PassStats run() {
    for (BindingInfo& binding : kernel_.interface.bindings)
      if (binding.type == Type::i64) binding.type = Type::i32;
    for (Memory& memory : kernel_.memories) {
      split_memory_.push_back(memory.element == Type::i64);
      if (!split_memory_.back()) continue;
      memory.element = Type::i32;
      memory.length *= 2;
    }
    split_parameters();
    block(kernel_.body);
    return stats_;
  }

 private:
  Type type_of(Value value) const { return kernel_.type_of(value); }
  bool is_pair(Value value) const { return type_of(value) == Type::i64; }
  Pair pair(Value value) const { return pairs_[value.id]; }
  void define(Value value, Pair pair) { pairs_[value.id] = pair; }

  Pair new_pair() {
    const Value low = kernel_.new_value(Type::i32);
    return {low, kernel_.new_value(Type::i32)};
  }

  std::string free_name(std::string name) const {
    const Interface& interface = kernel_.interface;
    const auto is_taken = [&](const auto& list) {
      return std::ranges::any_of(list, [&](const auto& named) { return named.name == name; });
    };
    while (is_taken(interface.parameters) || is_taken(interface.bindings) || is_taken(kernel_.memories)) name += '_';
    return name;
  }

  void split_parameters() {
    std::vector<ParameterInfo>& parameters = kernel_.interface.parameters;
    const size_t count = parameters.size();
    std::vector<ParameterInfo> split;
    for (size_t i = 0; i < count; ++i) {
      new_parameter_.push_back(static_cast<uint32_t>(split.size()));
      if (parameters[i].type != Type::i64) {
        split.push_back(parameters[i]);
        continue;
      }
      for (const char* half : {".low", ".high"}) {
        split.push_back({.name = free_name(parameters[i].name + half), .type = Type::i32});
        parameters.push_back(split.back());  // takes the name
      }
    }
    parameters = std::move(split);
  }

  /// A list of values with each pair as its two words.
  std::vector<Value> flat(const std::vector<Value>& values) const {
    std::vector<Value> all;
    for (const Value value : values) {
      if (!is_pair(value)) {
        all.push_back(value);
        continue;
      }
      all.push_back(pair(value).low);
      all.push_back(pair(value).high);
    }
    return all;
  }

  /// The same of values that are defined here.
  std::vector<Value> flat_definitions(const std::vector<Value>& values) {
    for (const Value value : values)
      if (is_pair(value)) define(value, new_pair());
    return flat(values);
  }

  void block(Block& block) {
    block.parameters = flat_definitions(block.parameters);
    std::vector<Instruction> before = std::move(block.instructions);
    block.instructions = {};
    block.instructions.reserve(before.size());
    for (Instruction& instruction : before) rewrite(std::move(instruction), block.instructions);
  }

  bool concerns(const Instruction& instruction) const {
    const auto any = [&](const std::vector<Value>& values) {
      return std::ranges::any_of(values, [&](Value value) { return is_pair(value); });
    };
    const bool addresses = accesses_memory(instruction.op) && split_memory_[instruction.memory];
    return addresses || any(instruction.operands) || any(instruction.results);
  }

  void rewrite(Instruction instruction, std::vector<Instruction>& list) {
    if (instruction.op == Op::parameter) {
      const bool splits = instruction.type == Type::i64;
      instruction.index = new_parameter_[instruction.index];
      if (splits) {
        ++stats_.changed;
        return define(instruction.result(), two_of(instruction, list, {instruction, instruction}));
      }
      list.push_back(std::move(instruction));
      return;
    }
    const bool is_concerned = concerns(instruction);
    if (is_concerned) ++stats_.changed;
    if (info(instruction.op).effect == Effect::control) return construct(std::move(instruction), list);
    if (!is_concerned) return list.push_back(std::move(instruction));
    switch (instruction.op) {
      case Op::load: return load(instruction, list);
      case Op::store: return store(instruction, list);
      case Op::array_length: return array_length(std::move(instruction), list);
      default: return value(instruction, list);
    }
  }

  void construct(Instruction instruction, std::vector<Instruction>& list) {
    instruction.operands = flat(instruction.operands);
    for (Block& inner : instruction.blocks) block(inner);
    instruction.results = flat_definitions(instruction.results);
    instruction.type = instruction.results.empty() ? Type::none : type_of(instruction.result());
    list.push_back(std::move(instruction));
  }

  /// Two instructions for one, each with one result of i32.
  Pair two_of(const Instruction& instruction, std::vector<Instruction>& list, std::pair<Instruction, Instruction> two) {
    const Pair results = new_pair();
    if (instruction.op == Op::parameter) ++two.second.index;
    two.first.type = two.second.type = Type::i32;
    two.first.results = {results.low};
    two.second.results = {results.high};
    list.push_back(std::move(two.first));
    list.push_back(std::move(two.second));
    return results;
  }

  /// The same operation on either word: the first operand is the pair, others are as they were.
  Pair on_each_word(const Instruction& instruction, std::vector<Instruction>& list) {
    std::pair<Instruction, Instruction> two = {instruction, instruction};
    two.first.operands[0] = pair(instruction.operands[0]).low;
    two.second.operands[0] = pair(instruction.operands[0]).high;
    return two_of(instruction, list, std::move(two));
  }

  /// Index of the first word of the k-th element counted from `index`.
  static Value word_index(Appender& code, Value index, uint32_t k) {
    const Value first = code.value(Op::shift_left, Type::i32, {index, code.constant(Type::i32, 1)});
    return k == 0 ? first : code.value(Op::add, Type::i32, {first, code.constant(Type::i32, 2 * k)});
  }

  void load(const Instruction& instruction, std::vector<Instruction>& list) {
    Appender code(kernel_, list);
    for (uint32_t k = 0; k < instruction.results.size(); ++k) {
      const Pair words = new_pair();
      const Value index = word_index(code, instruction.operands[0], k);
      code.put({.op = Op::load,
                .type = Type::i32,
                .memory = instruction.memory,
                .results = {words.low, words.high},
                .operands = {index}});
      define(instruction.results[k], words);
    }
  }

  void store(const Instruction& instruction, std::vector<Instruction>& list) {
    Appender code(kernel_, list);
    for (uint32_t k = 0; k + 1 < instruction.operands.size(); ++k) {
      const Pair words = pair(instruction.operands[k + 1]);
      const Value index = word_index(code, instruction.operands[0], k);
      code.put({.op = Op::store,
                .type = Type::i32,
                .memory = instruction.memory,
                .operands = {index, words.low, words.high}});
    }
  }

  void array_length(Instruction instruction, std::vector<Instruction>& list) {
    Appender code(kernel_, list);
    const Value words = kernel_.new_value(Type::i32);
    const Value length = std::exchange(instruction.results[0], words);
    code.put(std::move(instruction));
    const Value one = code.constant(Type::i32, 1);
    code.put({.op = Op::shift_right_u, .type = Type::i32, .results = {length}, .operands = {words, one}});
  }

  /// `result` is what the list's last instruction gives.
  static void rename_last(std::vector<Instruction>& list, Value result) { list.back().results = {result}; }

  void value(const Instruction& instruction, std::vector<Instruction>& list) {
    PairArithmetic pairs(kernel_, list);
    Appender code(kernel_, list);
    const Op op = instruction.op;
    const std::vector<Value>& operands = instruction.operands;
    const Value result = instruction.result();
    const auto operand = [&](size_t i) { return pair(operands[i]); };
    if (op >= Op::add && op <= Op::reverse_bits)
      return define(result, pairs.integer(op, operand(0), operand(operands.size() - 1)));
    if (op >= Op::equal && op <= Op::less_equal_s) {
      pairs.compare(op, operand(0), operand(1));
      return rename_last(list, result);
    }
    switch (op) {
      case Op::constant: return define(result, pairs.constant(instruction.bits));
      case Op::select: return define(result, pairs.select(operands[0], operand(1), operand(2)));
      case Op::bitcast: return define(result, operand(0));
      case Op::extend_u:
      case Op::extend_s: return define(result, extend(op, operands[0], code));
      case Op::truncate: return truncate(instruction, code);
      case Op::convert_u_to_f:
      case Op::convert_s_to_f: pairs.to_float(op, instruction.type, operand(0)); return rename_last(list, result);
      case Op::convert_f_to_u:
      case Op::convert_f_to_s: return define(result, pairs.from_float(op, operands[0]));
      case Op::assume_uniform:
      case Op::subgroup_broadcast_first:
      case Op::subgroup_shuffle:
      case Op::subgroup_shuffle_xor: return define(result, on_each_word(instruction, list));
      default: return define(result, pairs.reduce(op, operand(0)));
    }
  }

  Pair extend(Op op, Value narrow, Appender& code) {
    const Value low = type_of(narrow) == Type::i32 ? narrow : code.value(op, Type::i32, {narrow});
    if (op == Op::extend_u) return {low, code.constant(Type::i32, 0)};
    return {low, code.value(Op::shift_right_s, Type::i32, {low, code.constant(Type::i32, 31)})};
  }

  void truncate(const Instruction& instruction, Appender& code) {
    const Value low = pair(instruction.operands[0]).low;
    const Value result = instruction.result();
    if (instruction.type != Type::i32)
      return code.put({.op = Op::truncate, .type = instruction.type, .results = {result}, .operands = {low}});
    // A value has one name only.
    code.put({.op = Op::bitcast, .type = Type::i32, .results = {result}, .operands = {low}});
  }

  Kernel& kernel_;
  std::vector<Pair> pairs_;              ///< by value id, of those that are i64
  std::vector<bool> split_memory_;       ///< by memory: its elements were i64
  std::vector<uint32_t> new_parameter_;  ///< by parameter as it was: where its first word is now
  PassStats stats_;
};

std::string_view name_of(const Instruction& instruction) {
  return info(instruction.op).name;
}

/// Why an instruction cannot be split, or nothing.
std::optional<std::string> obstacle(const Kernel& kernel, const Instruction& instruction) {
  const bool is_access = instruction.op == Op::load || instruction.op == Op::store || is_atomic(instruction.op);
  if (is_access && instruction.memory == kPointer)
    return format("{} through a device pointer cannot be split into words; bind a buffer", name_of(instruction));
  if (is_atomic(instruction.op) && instruction.type == Type::i64)
    return format("{} of i64 cannot be split into words; use i32", name_of(instruction));
  if (instruction.operands.empty()) return std::nullopt;
  const Type from = kernel.type_of(instruction.operands[0]);
  const bool is_between =
      (instruction.type == Type::i64 && from == Type::f64) || (instruction.type == Type::f64 && from == Type::i64);
  if (is_between && instruction.op >= Op::bitcast && instruction.op <= Op::convert_f_to_s)
    return format("{} between i64 and f64 cannot be split into words; use i32 or f32", name_of(instruction));
  return std::nullopt;
}

std::optional<std::string> find_obstacle(const Kernel& kernel, const Block& block, uint32_t depth) {
  for (const Instruction& instruction : block.instructions) {
    if (auto found = obstacle(kernel, instruction)) return found;
    if (instruction.type == Type::i64 && divides(instruction.op) && depth + kDivisionDepth > kMaximumDepth)
      return format("{} of i64 stands so deep that its loop would nest deeper than {} blocks; nest less",
                    name_of(instruction), kMaximumDepth);
    for (const Block& inner : instruction.blocks)
      if (auto found = find_obstacle(kernel, inner, depth + 1)) return found;
  }
  return std::nullopt;
}

}  // namespace

bool has_i64(const Kernel& kernel) {
  const auto is_long = [](const auto& named) { return named.type == Type::i64; };
  if (std::ranges::any_of(kernel.interface.bindings, is_long) ||
      std::ranges::any_of(kernel.interface.parameters, is_long) ||
      std::ranges::any_of(kernel.memories, [](const Memory& memory) { return memory.element == Type::i64; }))
    return true;
  bool found = false;
  walk(kernel.body, [&](const Instruction& instruction) {
    for (const Value result : instruction.results) found |= kernel.type_of(result) == Type::i64;
    for (const Block& inner : instruction.blocks)
      for (const Value parameter : inner.parameters) found |= kernel.type_of(parameter) == Type::i64;
  });
  return found;
}

Result<PassStats> split_i64(Kernel& kernel) {
  if (!has_i64(kernel)) return PassStats{};
  if (auto found = find_obstacle(kernel, kernel.body, 1))
    return unsupported(format("kernel \"{}\": {}", kernel.interface.name, *found));
  PassStats stats = Splitter(kernel).run();
  stats.changed = std::max(stats.changed, 1u);  // an interface alone
  return stats;
}

}  // namespace wavegate::kir
