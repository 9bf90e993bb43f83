#include "wavegate/kir/passes/scalars_to_workgroup.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/kir/appender.h"

namespace wavegate::kir {
namespace {

/// Whether some return_ stands elsewhere than at the end of the body.
bool returns_early(const Block& body) {
  size_t returns = 0;
  walk(body, [&](const Instruction& instruction) { returns += instruction.op == Op::return_; });
  return returns != 1 || body.terminator().op != Op::return_;
}

std::string unused_name(const Kernel& kernel) {
  std::set<std::string> names;
  for (const BindingInfo& binding : kernel.interface.bindings) names.insert(binding.name);
  for (const ParameterInfo& parameter : kernel.interface.parameters) names.insert(parameter.name);
  for (const Memory& memory : kernel.memories) names.insert(memory.name);
  std::string name = "scalars";
  while (names.contains(name)) name += '_';
  return name;
}

class Move {
 public:
  explicit Move(Kernel& kernel) : kernel_(kernel) {}

  PassStats run() {
    const auto& bindings = kernel_.interface.bindings;
    for (uint32_t i = 0; i < bindings.size(); ++i)
      if (bindings[i].kind == BindingKind::scalar && writes(bindings[i].access))
        places_.emplace(i, static_cast<uint32_t>(places_.size()));
    if (places_.empty() || returns_early(kernel_.body)) return {};
    memory_ = static_cast<uint32_t>(kernel_.memories.size());
    kernel_.memories.push_back({.name = unused_name(kernel_),
                                .space = MemorySpace::workgroup,
                                .element = Type::i32,
                                .length = static_cast<uint32_t>(places_.size())});
    replace(kernel_.body);

    std::vector<Instruction> body = std::exchange(kernel_.body.instructions, {});
    const Instruction end = std::move(body.back());
    body.pop_back();
    std::vector<Instruction> whole;
    copy(whole, true);
    Appender(kernel_, whole).barrier();
    whole.insert(whole.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
    Appender(kernel_, whole).barrier();
    copy(whole, false);
    whole.push_back(end);
    kernel_.body.instructions = std::move(whole);
    return stats_;
  }

 private:
  static Instruction load(uint32_t memory, Value index) {
    return {.op = Op::load, .type = Type::i32, .memory = memory, .operands = {index}};
  }

  /// The place of a scalar in workgroup memory; `code` is where the constant goes.
  Value index(Appender& code, uint32_t binding) const { return code.constant(Type::i32, places_.at(binding)); }

  Value cast(Appender& code, Value value, Type to) const {
    return kernel_.type_of(value) == to ? value : code.value(Op::bitcast, to, {value});
  }

  void replace(Block& block) {
    std::vector<Instruction> list;
    Appender code(kernel_, list);
    for (Instruction& instruction : block.instructions) {
      for (Block& inner : instruction.blocks) replace(inner);
      const bool is_load = instruction.op == Op::load_scalar, is_store = instruction.op == Op::store_scalar;
      if ((!is_load && !is_store) || !places_.contains(instruction.index)) {
        list.push_back(std::move(instruction));
        continue;
      }
      ++stats_.changed;
      const Value place = index(code, instruction.index);
      if (is_store) {
        const Value bits = cast(code, instruction.operands[0], Type::i32);
        code.put({.op = Op::store, .type = Type::i32, .memory = memory_, .operands = {place, bits}});
      } else if (instruction.type == Type::i32) {
        Instruction loaded = load(memory_, place);
        loaded.results = instruction.results;
        code.put(std::move(loaded));
      } else {
        const Value bits = code.value(load(memory_, place));
        code.put({.op = Op::bitcast, .type = instruction.type, .results = instruction.results, .operands = {bits}});
      }
    }
    block.instructions = std::move(list);
  }

  /// The first invocation copies all scalars, in or out.
  void copy(std::vector<Instruction>& list, bool in) {
    Appender code(kernel_, list);
    const Value local = code.builtin(Builtin::local_index);
    const Value first = code.value(Op::equal, Type::boolean, {local, code.constant(Type::i32, 0)});
    std::vector<Instruction> then;
    Appender inner(kernel_, then);
    for (const auto& [binding, place] : places_) {
      const BindingInfo& info = kernel_.interface.bindings[binding];
      if (in && !reads(info.access)) continue;
      const Value at = index(inner, binding);
      if (in) {
        const Value value = inner.value({.op = Op::load_scalar, .type = info.type, .index = binding});
        inner.put(
            {.op = Op::store, .type = Type::i32, .memory = memory_, .operands = {at, cast(inner, value, Type::i32)}});
      } else {
        const Value bits = inner.value(load(memory_, at));
        inner.put({.op = Op::store_scalar, .index = binding, .operands = {cast(inner, bits, info.type)}});
      }
    }
    then.push_back({.op = Op::yield});
    code.if_(first, std::move(then), {{.op = Op::yield}});
  }

  Kernel& kernel_;
  std::map<uint32_t, uint32_t> places_;  ///< by binding
  uint32_t memory_ = 0;
  PassStats stats_;
};

}  // namespace

Result<PassStats> scalars_to_workgroup(Kernel& kernel) {
  return Move(kernel).run();
}

}  // namespace wavegate::kir
