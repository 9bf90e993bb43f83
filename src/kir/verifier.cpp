#include "wavegate/kir/verifier.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <span>
#include <string_view>

#include "wavegate/base/format.h"
#include "wavegate/kir/type_rules.h"
#include "wavegate/kir/uniformity.h"

namespace wavegate::kir {
namespace {

constexpr uint64_t kMaximumInvocations = uint64_t{1} << 20;  ///< far above every device's
constexpr uint64_t kMaximumArrayBytes = uint64_t{1} << 20;   ///< of workgroup memory, and of an invocation's own

/// What is wrong, or nothing.
using Complaint = std::optional<std::string>;

#define WAVEGATE_KIR_CHECK(expression) \
  if (Complaint complaint = (expression)) return complaint

bool is_storable(Type type) {
  return type != Type::none && type != Type::boolean;
}

class Names {
 public:
  Complaint add(std::string_view name) {
    if (!is_name(name))
      return format("\"{}\" is not a name; a name is a letter or _, then letters, digits, _ . or -", name);
    if (!names_.insert(name).second) return format("two things are called \"{}\"", name);
    return std::nullopt;
  }

 private:
  std::set<std::string_view> names_;
};

Complaint check_workgroup_size(const Interface& interface) {
  uint64_t invocations = 1;
  for (const uint32_t size : interface.workgroup_size) {
    if (size == 0) return "a workgroup size of 0; each dimension is at least 1";
    invocations *= std::min<uint64_t>(size, kMaximumInvocations + 1);  // three of these fit 64 bits
    if (invocations > kMaximumInvocations)
      return format("a workgroup of more than {} invocations", kMaximumInvocations);
  }
  return std::nullopt;
}

Complaint check_interface(const Interface& interface, Names& names) {
  if (!is_name(interface.name))
    return format("\"{}\" is not a name; a name is a letter or _, then letters, digits, _ . or -", interface.name);
  WAVEGATE_KIR_CHECK(check_workgroup_size(interface));
  for (const BindingInfo& binding : interface.bindings) {
    WAVEGATE_KIR_CHECK(names.add(binding.name));
    if (binding.kind == BindingKind::buffer && !is_storable(binding.type))
      return format("buffer \"{}\" cannot have elements of {}", binding.name, to_string(binding.type));
    if (binding.kind == BindingKind::scalar && binding.type != Type::i32 && binding.type != Type::f32)
      return format("scalar \"{}\" is {}; a scalar is i32 or f32", binding.name, to_string(binding.type));
  }
  for (const ParameterInfo& parameter : interface.parameters) {
    WAVEGATE_KIR_CHECK(names.add(parameter.name));
    if (!is_storable(parameter.type))
      return format("parameter \"{}\" cannot be {}", parameter.name, to_string(parameter.type));
  }
  return std::nullopt;
}

Complaint check_buffer(const Interface& interface, const Memory& memory, std::vector<bool>& has_memory) {
  if (memory.binding >= interface.bindings.size() || interface.bindings[memory.binding].kind != BindingKind::buffer)
    return format("memory \"{}\" names no buffer binding", memory.name);
  const BindingInfo& binding = interface.bindings[memory.binding];
  if (memory.name != binding.name || memory.element != binding.type || memory.length != 0)
    return format("memory \"{}\" differs from its binding \"{}\" in name, element or length", memory.name,
                  binding.name);
  if (has_memory[memory.binding]) return format("buffer \"{}\" has two memories", binding.name);
  has_memory[memory.binding] = true;
  return std::nullopt;
}

Complaint check_memories(const Kernel& kernel, Names& names) {
  const Interface& interface = kernel.interface;
  std::vector<bool> has_memory(interface.bindings.size());
  uint64_t workgroup_bytes = 0;
  uint64_t local_bytes = 0;
  for (const Memory& memory : kernel.memories) {
    if (memory.space == MemorySpace::buffer) {
      WAVEGATE_KIR_CHECK(check_buffer(interface, memory, has_memory));
      continue;
    }
    WAVEGATE_KIR_CHECK(names.add(memory.name));
    const bool is_variable = memory.space == MemorySpace::local && memory.length == 1;
    if (!is_storable(memory.element) && !(is_variable && memory.element == Type::boolean))
      return format("array \"{}\" cannot have elements of {}", memory.name, to_string(memory.element));
    if (memory.length == 0) return format("array \"{}\" has no elements", memory.name);
    uint64_t& bytes = memory.space == MemorySpace::workgroup ? workgroup_bytes : local_bytes;
    bytes += uint64_t{memory.length} * std::max(byte_size(memory.element), 1u);
    if (bytes > kMaximumArrayBytes)
      return format("array \"{}\" takes the {} memory beyond {} bytes", memory.name,
                    memory.space == MemorySpace::workgroup ? "workgroup" : "local", kMaximumArrayBytes);
  }
  for (size_t i = 0; i < has_memory.size(); ++i)
    if (!has_memory[i] && interface.bindings[i].kind == BindingKind::buffer)
      return format("buffer \"{}\" has no memory", interface.bindings[i].name);
  return std::nullopt;
}

/// One walk over the body. A complaint is about the instruction at position().
class BodyCheck {
 public:
  explicit BodyCheck(const Kernel& kernel) : kernel_(kernel), states_(kernel.value_types.size()) {}

  Complaint run() { return block(kernel_.body, nullptr, 1); }
  size_t position() const { return position_; }

 private:
  enum class State : uint8_t { undefined, visible, hidden };
  struct Loop {
    const Instruction* instruction;
    bool breaks = false;
    bool returns = false;
  };
  struct Rule {
    Op first;
    Op last;
    Complaint (BodyCheck::*check)(const Instruction&);
  };
  static std::span<const Rule> rules();

  /// `owner` is the construct that the block belongs to; null for the kernel's body.
  Complaint block(const Block& block, const Instruction* owner, uint32_t depth) {
    if (depth > kMaximumDepth) return format("blocks are nested deeper than {}", kMaximumDepth);
    if (block.instructions.empty()) return "a block is empty; every block ends with a terminator";
    const size_t first_visible = visible_.size();
    for (const Value parameter : block.parameters) WAVEGATE_KIR_CHECK(define(parameter));
    for (const Instruction& instruction : block.instructions) {
      const bool last = &instruction == &block.instructions.back();
      position_ = next_position_++;
      if (is_terminator(instruction.op) != last)
        return last ? format("a block ends with {}, which is no terminator", info(instruction.op).name)
                    : format("{} ends a block, but instructions follow it", info(instruction.op).name);
      if (last) WAVEGATE_KIR_CHECK(terminator_place(instruction.op, owner));
      owner_ = owner;
      WAVEGATE_KIR_CHECK(check(instruction, depth));
    }
    for (size_t i = first_visible; i < visible_.size(); ++i) states_[visible_[i]] = State::hidden;
    visible_.resize(first_visible);
    return std::nullopt;
  }

  Complaint check(const Instruction& instruction, uint32_t depth) {
    if (static_cast<int>(instruction.op) >= kOpCount) return "an operation that is not in the table";
    for (const Value operand : instruction.operands) WAVEGATE_KIR_CHECK(use(operand));
    std::vector<Type> types;
    for (const Value operand : instruction.operands) types.push_back(kernel_.type_of(operand));
    WAVEGATE_KIR_CHECK(type_mismatch(instruction.op, instruction.type, types));
    WAVEGATE_KIR_CHECK(result_count(instruction));
    for (const Rule& rule : rules())
      if (instruction.op >= rule.first && instruction.op <= rule.last)
        WAVEGATE_KIR_CHECK((this->*rule.check)(instruction));
    WAVEGATE_KIR_CHECK(inner_blocks(instruction, depth));
    for (const Value result : instruction.results) {
      WAVEGATE_KIR_CHECK(define(result));
      if (info(instruction.op).effect != Effect::control && kernel_.type_of(result) != instruction.type)
        return format("a result of {} is {}, but the instruction says {}", name(instruction),
                      to_string(kernel_.type_of(result)), to_string(instruction.type));
    }
    return std::nullopt;
  }

  // Values.

  Complaint define(Value value) {
    if (value.id >= states_.size()) return format("%{} is no value of the kernel", value.id);
    if (kernel_.type_of(value) == Type::none) return format("%{} has no type", value.id);
    if (states_[value.id] != State::undefined) return format("%{} is defined twice", value.id);
    states_[value.id] = State::visible;
    visible_.push_back(value.id);
    return std::nullopt;
  }

  Complaint use(Value value) const {
    if (value.id >= states_.size()) return format("%{} is no value of the kernel", value.id);
    if (states_[value.id] == State::visible) return std::nullopt;
    return states_[value.id] == State::undefined ? format("%{} is used before it is defined", value.id)
                                                 : format("%{} is used outside the block that defines it", value.id);
  }

  /// `values` go where `targets` are declared.
  Complaint match(const std::vector<Value>& values, std::string_view what, const std::vector<Value>& targets,
                  std::string_view target) const {
    if (values.size() != targets.size())
      return format("{} has {} values for {} {}s", what, values.size(), targets.size(), target);
    for (size_t i = 0; i < values.size(); ++i) {
      if (targets[i].id >= states_.size()) return format("%{} is no value of the kernel", targets[i].id);
      if (kernel_.type_of(values[i]) != kernel_.type_of(targets[i]))
        return format("value {} of {} is {}, but the {} is {}", i + 1, what, to_string(kernel_.type_of(values[i])),
                      target, to_string(kernel_.type_of(targets[i])));
    }
    return std::nullopt;
  }

  static std::string_view name(const Instruction& instruction) { return info(instruction.op).name; }

  Complaint result_count(const Instruction& instruction) const {
    const size_t count = instruction.results.size();
    if (instruction.op >= Op::if_ && instruction.op <= Op::loop) return std::nullopt;
    const bool none = info(instruction.op).type == Shape::none;
    const size_t least = none ? 0 : instruction.op == Op::subgroup_ballot ? 4 : 1;
    const size_t most = instruction.op == Op::load ? 4 : least;
    if (count >= least && count <= most) return std::nullopt;
    return least == most ? format("{} has {} results, not {}", name(instruction), least, count)
                         : format("{} has {} to {} results, not {}", name(instruction), least, most, count);
  }

  // Values from outside.

  Complaint constant(const Instruction& instruction) {
    const uint32_t width = bit_width(instruction.type);
    if (width < 64 && instruction.bits >> width != 0)
      return format("constant {:#x} does not fit {}", instruction.bits, to_string(instruction.type));
    return std::nullopt;
  }

  Complaint builtin(const Instruction& instruction) {
    if (static_cast<int>(instruction.builtin) >= kBuiltinCount) return "a builtin that does not exist";
    const uint32_t dimensions = has_dimension(instruction.builtin) ? 3 : 1;
    if (instruction.index < dimensions) return std::nullopt;
    return format("builtin {} has no dimension {}", to_string(instruction.builtin), instruction.index);
  }

  Complaint parameter(const Instruction& instruction) {
    const auto& parameters = kernel_.interface.parameters;
    if (instruction.index >= parameters.size()) return format("there is no parameter {}", instruction.index);
    const ParameterInfo& declared = parameters[instruction.index];
    if (declared.type != instruction.type)
      return format("parameter \"{}\" is {}, not {}", declared.name, to_string(declared.type),
                    to_string(instruction.type));
    return std::nullopt;
  }

  // Memory.

  /// The place of an access: the memory exists, allows the access, and the first operand can address it.
  Complaint place(const Instruction& instruction, bool reads_memory, bool writes_memory) const {
    const bool pointer = instruction.memory == kPointer;
    if (!pointer && instruction.memory >= kernel_.memories.size())
      return format("{} names memory {}, which does not exist", name(instruction), instruction.memory);
    const Type address = kernel_.type_of(instruction.operands[0]);
    const Type needed = pointer ? Type::i64 : Type::i32;
    if (address != needed)
      return format("{} is addressed by {}; {} takes {}", name(instruction), to_string(address),
                    pointer ? "a pointer" : "an index", to_string(needed));
    if (pointer) {
      if (is_storable(instruction.type)) return std::nullopt;
      return format("{} through a pointer cannot be of {}", name(instruction), to_string(instruction.type));
    }
    const Memory& memory = kernel_.memories[instruction.memory];
    if (instruction.type != memory.element)
      return format("{} of {}, but \"{}\" holds {}", name(instruction), to_string(instruction.type), memory.name,
                    to_string(memory.element));
    if (memory.space != MemorySpace::buffer) return std::nullopt;
    return access(instruction, kernel_.interface.bindings[memory.binding], reads_memory, writes_memory);
  }

  static Complaint access(const Instruction& instruction, const BindingInfo& binding, bool reads_memory,
                          bool writes_memory) {
    if ((reads_memory && !reads(binding.access)) || (writes_memory && !writes(binding.access)))
      return format("{} on \"{}\", whose access is {}", name(instruction), binding.name, to_string(binding.access));
    return std::nullopt;
  }

  Complaint load(const Instruction& instruction) { return place(instruction, true, false); }

  Complaint store(const Instruction& instruction) {
    const size_t count = instruction.operands.size();
    if (count < 2 || count > 5) return "store takes an index and 1 to 4 values";
    WAVEGATE_KIR_CHECK(place(instruction, false, true));
    for (size_t i = 1; i < count; ++i)
      if (kernel_.type_of(instruction.operands[i]) != instruction.type)
        return format("store of {} has a value of {}", to_string(instruction.type),
                      to_string(kernel_.type_of(instruction.operands[i])));
    return std::nullopt;
  }

  Complaint array_length(const Instruction& instruction) {
    if (instruction.memory < kernel_.memories.size() &&
        kernel_.memories[instruction.memory].space == MemorySpace::buffer)
      return std::nullopt;
    return "array_length takes a buffer";
  }

  Complaint scalar(const Instruction& instruction) {
    const auto& bindings = kernel_.interface.bindings;
    if (instruction.index >= bindings.size() || bindings[instruction.index].kind != BindingKind::scalar)
      return format("{} takes a scalar binding", name(instruction));
    const BindingInfo& binding = bindings[instruction.index];
    const bool is_load = instruction.op == Op::load_scalar;
    const Type type = is_load ? instruction.type : kernel_.type_of(instruction.operands[0]);
    if (type != binding.type)
      return format("{} of {}, but \"{}\" is {}", name(instruction), to_string(type), binding.name,
                    to_string(binding.type));
    return access(instruction, binding, is_load, !is_load);
  }

  Complaint atomic(const Instruction& instruction) {
    if (instruction.type != Type::i32 && instruction.type != Type::i64)
      return format("{} of {}; atomics are i32 or i64", name(instruction), to_string(instruction.type));
    WAVEGATE_KIR_CHECK(place(instruction, true, true));
    if (instruction.memory != kPointer && kernel_.memories[instruction.memory].space == MemorySpace::local)
      return format("{} on \"{}\", which no other invocation sees", name(instruction),
                    kernel_.memories[instruction.memory].name);
    return std::nullopt;
  }

  // Convergence.

  Complaint barrier(const Instruction& instruction) {
    if (instruction.scope == Scope::subgroup || instruction.scope == Scope::workgroup) return std::nullopt;
    return format("a barrier is over a subgroup or workgroup, not {}", to_string(instruction.scope));
  }

  Complaint fence(const Instruction& instruction) {
    if (instruction.order != Order::relaxed) return std::nullopt;
    return "a relaxed fence orders nothing; use acquire, release or acquire_release";
  }

  Complaint assume_uniform(const Instruction& instruction) {
    if (instruction.scope != Scope::invocation) return std::nullopt;
    return "assume_uniform over an invocation claims nothing; use subgroup, workgroup or device";
  }

  // Control flow.

  Complaint construct(const Instruction& instruction) {
    const size_t blocks = instruction.blocks.size();
    if (instruction.op == Op::if_ && blocks != 2) return format("if has 2 blocks, not {}", blocks);
    if (instruction.op == Op::loop) {
      if (blocks != 1) return format("loop has 1 block, not {}", blocks);
      return match(instruction.operands, "loop", instruction.blocks[0].parameters, "loop-carried value");
    }
    for (const Block& block : instruction.blocks)
      if (!block.parameters.empty()) return "only the block of a loop has parameters";
    if (instruction.op == Op::if_) return std::nullopt;
    if (blocks != instruction.cases.size() + 1)
      return format("switch has {} blocks for {} cases and a default", blocks, instruction.cases.size());
    std::vector<uint32_t> sorted = instruction.cases;
    std::ranges::sort(sorted);
    const auto twin = std::ranges::adjacent_find(sorted);
    if (twin != sorted.end()) return format("switch has case {} twice", *twin);
    return std::nullopt;
  }

  Complaint inner_blocks(const Instruction& instruction, uint32_t depth) {
    if (instruction.blocks.empty()) return std::nullopt;
    if (instruction.op < Op::if_ || instruction.op > Op::loop) return format("{} has no blocks", name(instruction));
    const size_t position = position_;
    if (instruction.op == Op::loop) loops_.push_back({&instruction});
    for (const Block& inner : instruction.blocks) WAVEGATE_KIR_CHECK(block(inner, &instruction, depth + 1));
    position_ = position;
    if (instruction.op == Op::loop) return end_loop();
    const bool yields =
        std::ranges::any_of(instruction.blocks, [](const Block& inner) { return inner.terminator().op == Op::yield; });
    if (!yields && !instruction.results.empty())
      return format("{} has results, but none of its blocks yields them", name(instruction));
    return std::nullopt;
  }

  Complaint end_loop() {
    const Loop loop = loops_.back();
    loops_.pop_back();
    if (!loops_.empty() && loop.returns) loops_.back().returns = true;
    if (!loop.breaks && !loop.returns) return "loop never ends: nothing in it breaks or returns";
    if (!loop.breaks && !loop.instruction->results.empty())
      return "loop has results, but nothing in it breaks with them";
    return std::nullopt;
  }

  Complaint terminator_place(Op op, const Instruction* owner) const {
    const bool in_branch = owner != nullptr && owner->op != Op::loop;
    if (op == Op::yield && !in_branch) return "yield ends a block of an if or switch only";
    if ((op == Op::break_ || op == Op::continue_) && loops_.empty())
      return format("{} stands outside every loop", info(op).name);
    return std::nullopt;
  }

  Complaint leave(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::yield: return match(instruction.operands, "yield", owner_->results, "result");
      case Op::continue_:
        return match(instruction.operands, "continue", loops_.back().instruction->blocks[0].parameters,
                     "loop-carried value");
      case Op::break_:
        loops_.back().breaks = true;
        return match(instruction.operands, "break", loops_.back().instruction->results, "result");
      default:
        if (!loops_.empty()) loops_.back().returns = true;
        return std::nullopt;
    }
  }

  const Kernel& kernel_;
  std::vector<State> states_;      ///< by value id
  std::vector<uint32_t> visible_;  ///< values of the open blocks, in order of definition
  std::vector<Loop> loops_;        ///< the open loops, innermost last
  const Instruction* owner_ = nullptr;
  size_t position_ = 0;
  size_t next_position_ = 0;
};

/// What the operation table leaves open.
std::span<const BodyCheck::Rule> BodyCheck::rules() {
  static constexpr Rule kRules[] = {
      {Op::constant, Op::constant, &BodyCheck::constant},
      {Op::builtin, Op::builtin, &BodyCheck::builtin},
      {Op::parameter, Op::parameter, &BodyCheck::parameter},
      {Op::load, Op::load, &BodyCheck::load},
      {Op::store, Op::store, &BodyCheck::store},
      {Op::array_length, Op::array_length, &BodyCheck::array_length},
      {Op::load_scalar, Op::store_scalar, &BodyCheck::scalar},
      {Op::atomic_add, Op::atomic_compare_exchange, &BodyCheck::atomic},
      {Op::barrier, Op::barrier, &BodyCheck::barrier},
      {Op::fence, Op::fence, &BodyCheck::fence},
      {Op::assume_uniform, Op::assume_uniform, &BodyCheck::assume_uniform},
      {Op::if_, Op::loop, &BodyCheck::construct},
      {Op::yield, Op::return_, &BodyCheck::leave},
  };
  return kRules;
}

std::optional<Violation> find_structure_violation(const Kernel& kernel) {
  Names names;
  if (auto complaint = check_interface(kernel.interface, names)) return Violation{*std::move(complaint), {}};
  if (auto complaint = check_memories(kernel, names)) return Violation{*std::move(complaint), {}};
  BodyCheck body(kernel);
  if (auto complaint = body.run()) return Violation{*std::move(complaint), body.position()};
  return std::nullopt;
}

/// The scope in which control flow must be uniform.
Scope convergence(const Instruction& instruction) {
  if (info(instruction.op).effect != Effect::convergent) return Scope::invocation;
  const bool has_scope = instruction.op == Op::barrier || instruction.op == Op::assume_uniform;
  return has_scope ? instruction.scope : Scope::subgroup;
}

std::optional<Violation> find_convergence_violation(const Kernel& kernel) {
  const Uniformity uniformity = analyse_uniformity(kernel);
  std::optional<Violation> violation;
  size_t position = 0;
  walk(kernel.body, [&](const Instruction& instruction) {
    const Scope flow = uniformity.flow_scopes[position];
    const Scope needed = convergence(instruction);
    if (!violation && flow < needed)
      violation = {format("{} needs control flow that is uniform over the {}, and here it is proved only over the {}; "
                          "move it out, or claim the condition with assume_uniform",
                          info(instruction.op).name, to_string(needed), to_string(flow)),
                   position};
    ++position;
  });
  return violation;
}

Result<void> to_result(const Kernel& kernel, const std::optional<Violation>& violation) {
  if (!violation) return {};
  return invalid_input(format("kernel \"{}\": {}", kernel.interface.name, violation->message));
}

}  // namespace

bool is_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto is_inner = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_inner);
}

std::optional<Violation> find_violation(const Kernel& kernel) {
  if (auto violation = find_structure_violation(kernel)) return violation;
  return find_convergence_violation(kernel);
}

Result<void> verify_structure(const Kernel& kernel) {
  return to_result(kernel, find_structure_violation(kernel));
}

Result<void> verify(const Kernel& kernel) {
  return to_result(kernel, find_violation(kernel));
}

}  // namespace wavegate::kir
