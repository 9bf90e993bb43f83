#include "wavegate/kir/compose.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/appender.h"
#include "wavegate/kir/passes/structure_returns.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

/// The names of a kernel's bindings, parameters and arrays, which must differ.
class Names {
 public:
  explicit Names(const Kernel& kernel) {
    for (const BindingInfo& binding : kernel.interface.bindings) names_.insert(binding.name);
    for (const ParameterInfo& parameter : kernel.interface.parameters) names_.insert(parameter.name);
    for (const Memory& memory : kernel.memories) names_.insert(memory.name);
  }

  /// `wanted`, or `wanted.<number>` where that is taken.
  std::string add(std::string_view wanted) {
    std::string name(wanted);
    for (uint32_t number = 2; !names_.insert(name).second; ++number) name = format("{}.{}", wanted, number);
    return name;
  }

 private:
  std::set<std::string> names_;
};

/// A composed kernel. Where it is none, it is too large for one.
Result<Kernel> verified(Kernel kernel) {
  if (const Result<void> result = verify(kernel); !result.ok()) return unsupported(result.error().message);
  return kernel;
}

/// Appends a latch to the interface and gives its binding.
Result<uint32_t> append_latch(Kernel& kernel, std::string_view latch) {
  if (!is_name(latch))
    return invalid_input(format(
        "kernel \"{}\": the latch's name \"{}\" is not a name; a name is a letter or _, then letters, digits, _ . "
        "or -",
        kernel.interface.name, latch));
  std::string name = Names(kernel).add(latch);
  kernel.interface.bindings.push_back({std::move(name), BindingKind::scalar, Type::i32, Access::read});
  return static_cast<uint32_t>(kernel.interface.bindings.size() - 1);
}

/// Reads a latch that invocations of the workgroup wrote before its last barrier: `op` with zero.
Value test_latch(Appender& code, uint32_t binding, Op op) {
  const Value read = code.value({.op = Op::load_scalar, .type = Type::i32, .index = binding});
  const Value latch =
      code.value({.op = Op::assume_uniform, .type = Type::i32, .scope = Scope::workgroup, .operands = {read}});
  return code.value(op, Type::boolean, {latch, code.constant(Type::i32, 0)});
}

/// A part that is run at most once in a while overwrites nothing for certain.
void promise_nothing(std::vector<BindingInfo>& bindings, size_t first) {
  for (size_t i = first; i < bindings.size(); ++i)
    if (bindings[i].access == Access::write) bindings[i].access = Access::read_write;
}

/// A kernel without body, and the bodies of kernels that become parts of it, without their returns.
class Composition {
 public:
  /// Starts with the first part's interface and memories.
  static Result<Composition> start(const Kernel& part) {
    Composition composition;
    composition.kernel_ = part;
    WAVEGATE_TRY([[maybe_unused]] const PassStats stats, structure_returns(composition.kernel_));
    composition.first_ = take_body(composition.kernel_);
    return composition;
  }

  Kernel& kernel() { return kernel_; }
  /// The first part's body.
  std::vector<Instruction> first() { return std::move(first_); }

  /// Adds another part's interface and memories, and gives its body with all of its ids as they are in the composition.
  Result<std::vector<Instruction>> add(const Kernel& other) {
    if (other.interface.workgroup_size != kernel_.interface.workgroup_size) return different_sizes(other);
    Kernel part = other;
    WAVEGATE_TRY([[maybe_unused]] const PassStats stats, structure_returns(part));
    Names names(kernel_);
    const auto first_value = static_cast<uint32_t>(kernel_.value_types.size());
    const auto first_binding = static_cast<uint32_t>(kernel_.interface.bindings.size());
    const auto first_parameter = static_cast<uint32_t>(kernel_.interface.parameters.size());
    kernel_.value_types.insert(kernel_.value_types.end(), part.value_types.begin(), part.value_types.end());
    for (BindingInfo& binding : part.interface.bindings) {
      binding.name = names.add(binding.name);
      kernel_.interface.bindings.push_back(binding);
    }
    for (ParameterInfo& parameter : part.interface.parameters) {
      parameter.name = names.add(parameter.name);
      kernel_.interface.parameters.push_back(parameter);
    }
    const std::vector<uint32_t> memories = add_memories(part, first_binding, names);

    Block body{.parameters = {}, .instructions = take_body(part)};
    const auto renumber = [&](std::vector<Value>& values) {
      for (Value& value : values) value.id += first_value;
    };
    walk(body, [&](Instruction& instruction) {
      renumber(instruction.operands);
      renumber(instruction.results);
      for (Block& block : instruction.blocks) renumber(block.parameters);
      const Op op = instruction.op;
      if (op == Op::parameter) instruction.index += first_parameter;
      if (op == Op::load_scalar || op == Op::store_scalar) instruction.index += first_binding;
      if (accesses_memory(op) && instruction.memory != kPointer) instruction.memory = memories[instruction.memory];
    });
    return std::move(body.instructions);
  }

  /// Lets what was written before be seen after. One invocation sees its own writes without; but a driver is known
  /// (NVIDIA 580) that loads a word before it stores it, and not across a barrier.
  static void separate(Appender& code) { code.barrier(); }

  Result<Kernel> finish(std::vector<Instruction> body) {
    body.push_back({.op = Op::return_});
    kernel_.body.instructions = std::move(body);
    return verified(std::move(kernel_));
  }

 private:
  static std::vector<Instruction> take_body(Kernel& kernel) {
    std::vector<Instruction> body = std::exchange(kernel.body.instructions, {});
    body.pop_back();
    for (Instruction& instruction : body) narrow_claims(instruction);
    return body;
  }

  static void narrow_claims(Instruction& instruction) {
    if (instruction.op == Op::assume_uniform) instruction.scope = std::min(instruction.scope, Scope::workgroup);
    for (Block& block : instruction.blocks)
      for (Instruction& inner : block.instructions) narrow_claims(inner);
  }

  Error different_sizes(const Kernel& other) const {
    const auto& a = kernel_.interface.workgroup_size;
    const auto& b = other.interface.workgroup_size;
    return invalid_input(
        format("kernels \"{}\" and \"{}\" have workgroups of {}x{}x{} and {}x{}x{} and cannot be one kernel; give them "
               "the same size",
               kernel_.interface.name, other.interface.name, a[0], a[1], a[2], b[0], b[1], b[2]));
  }

  /// An array of the composition that an array of a new part can use too: both start undefined.
  uint32_t find_array(const Memory& wanted, const std::vector<bool>& taken) const {
    uint32_t i = 0;
    for (; i < taken.size(); ++i) {
      const Memory& memory = kernel_.memories[i];
      const bool fits = memory.space == MemorySpace::workgroup || memory.length == wanted.length;
      if (!taken[i] && memory.space == wanted.space && memory.element == wanted.element && fits) break;
    }
    return i;
  }

  /// The ids that the part's memories have in the composition.
  std::vector<uint32_t> add_memories(const Kernel& part, uint32_t first_binding, Names& names) {
    std::vector<bool> taken(kernel_.memories.size());
    std::vector<uint32_t> ids;
    for (Memory memory : part.memories) {
      auto id = static_cast<uint32_t>(kernel_.memories.size());
      if (memory.space == MemorySpace::buffer) {
        memory.name = part.interface.bindings[memory.binding].name;
        memory.binding += first_binding;
      } else if (const uint32_t array = find_array(memory, taken); array < taken.size()) {
        taken[array] = true;
        kernel_.memories[array].length = std::max(kernel_.memories[array].length, memory.length);
        id = array;
      } else {
        memory.name = names.add(memory.name);
      }
      if (id == kernel_.memories.size()) kernel_.memories.push_back(std::move(memory));
      ids.push_back(id);
    }
    return ids;
  }

  Kernel kernel_;
  std::vector<Instruction> first_;
};

void append(std::vector<Instruction>& list, std::vector<Instruction> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<Kernel> guard(Kernel kernel, std::string_view latch, BindingKind kind) {
  WAVEGATE_TRY(const uint32_t binding, append_latch(kernel, latch));
  std::vector<Instruction> test;
  Appender code(kernel, test);
  Instruction load{.op = Op::load_scalar, .type = Type::i32, .index = binding};
  if (kind == BindingKind::buffer) {
    BindingInfo& info = kernel.interface.bindings[binding];
    info.kind = kind;
    const auto memory = static_cast<uint32_t>(kernel.memories.size());
    kernel.memories.push_back({info.name, MemorySpace::buffer, Type::i32, 0, binding});
    load = {.op = Op::load, .type = Type::i32, .memory = memory, .operands = {code.constant(Type::i32, 0)}};
  }
  const Value read = code.value(std::move(load));
  const Value zero = code.constant(Type::i32, 0);
  const Value is_zero = code.value(Op::equal, Type::boolean, {read, zero});
  code.if_(is_zero, {{.op = Op::return_}}, {{.op = Op::yield}});
  std::vector<Instruction>& body = kernel.body.instructions;
  body.insert(body.begin(), std::make_move_iterator(test.begin()), std::make_move_iterator(test.end()));
  WAVEGATE_CHECK(verify(kernel));
  return kernel;
}

Result<Kernel> sequence(const Kernel& first, const Kernel& second) {
  WAVEGATE_TRY(Composition composition, Composition::start(first));
  WAVEGATE_TRY(std::vector<Instruction> rest, composition.add(second));
  std::vector<Instruction> body = composition.first();
  Appender code(composition.kernel(), body);
  composition.separate(code);
  append(body, std::move(rest));
  return composition.finish(std::move(body));
}

Result<Kernel> only_if(const Kernel& body, std::string_view latch) {
  WAVEGATE_TRY(Composition composition, Composition::start(body));
  promise_nothing(composition.kernel().interface.bindings, 0);
  WAVEGATE_TRY(const uint32_t binding, append_latch(composition.kernel(), latch));
  std::vector<Instruction> then = composition.first();
  then.push_back({.op = Op::yield});
  std::vector<Instruction> list;
  Appender code(composition.kernel(), list);
  const Value runs = test_latch(code, binding, Op::not_equal);
  code.if_(runs, std::move(then), {{.op = Op::yield}});
  return composition.finish(std::move(list));
}

Result<Kernel> repeat_while(const Kernel& test, uint32_t latch, const Kernel& body) {
  const std::vector<BindingInfo>& tested = test.interface.bindings;
  if (latch >= tested.size() || tested[latch].kind != BindingKind::scalar || tested[latch].type != Type::i32)
    return invalid_input(
        format("kernel \"{}\": binding {} is no i32 scalar, which a latch is", test.interface.name, latch));
  WAVEGATE_TRY(Composition composition, Composition::start(test));
  WAVEGATE_TRY(std::vector<Instruction> rest, composition.add(body));
  Kernel& kernel = composition.kernel();
  promise_nothing(kernel.interface.bindings, tested.size());
  BindingInfo& latch_binding = kernel.interface.bindings[latch];
  if (!reads(latch_binding.access)) latch_binding.access = Access::read_write;

  Instruction loop{.op = Op::loop};
  loop.blocks.resize(1);
  std::vector<Instruction>& inside = loop.blocks[0].instructions;
  inside = composition.first();
  Appender code(kernel, inside);
  composition.separate(code);
  const Value ends = test_latch(code, latch, Op::equal);
  code.if_(ends, {{.op = Op::break_}}, {{.op = Op::yield}});
  append(inside, std::move(rest));
  composition.separate(code);
  code.put({.op = Op::continue_});
  std::vector<Instruction> list;
  list.push_back(std::move(loop));
  return composition.finish(std::move(list));
}

}  // namespace wavegate::kir
