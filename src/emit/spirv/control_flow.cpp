#include "wavegate/emit/spirv/control_flow.h"

#include <algorithm>

#include "wavegate/emit/spirv/arithmetic.h"
#include "wavegate/emit/spirv/memory.h"
#include "wavegate/emit/spirv/subgroup.h"
#include "wavegate/emit/spirv/variables.h"

namespace wavegate::emit::spirv {
namespace {

using enum spv::Op;

constexpr uint32_t kNoControl = 0;  // no hint in OpSelectionMerge

/// A branch into a join, and the values that it brings.
struct Edge {
  Id from = 0;
  std::vector<Id> values;
};

/// A block where branches meet.
struct Join {
  Id label = 0;
  std::vector<Edge> edges = {};
};

/// Where the terminators of a block lead.
struct Targets {
  Join* yield = nullptr;      ///< end of the enclosing if_ or switch_
  Join* continue_ = nullptr;  ///< of the innermost loop
  Join* break_ = nullptr;
};

void emit_block(Context& context, const kir::Block& block, const Targets& targets);

std::vector<Id> values_of(const Context& context, const std::vector<kir::Value>& values) {
  std::vector<Id> ids;
  ids.reserve(values.size());
  for (kir::Value value : values) ids.push_back(context.value(value));
  return ids;
}

void branch(Context& context, Join& join, std::vector<Id> values) {
  join.edges.push_back({.from = context.block, .values = std::move(values)});
  context.module.body().put(OpBranch, {join.label});
}

/// Value k of a join that has just begun: a phi, or the value itself if all edges bring the same (then it was
/// there before they parted).
Id joined_value(Context& context, const Join& join, size_t k, kir::Type type) {
  const Id first = join.edges.front().values[k];
  if (std::ranges::all_of(join.edges, [&](const Edge& edge) { return edge.values[k] == first; })) return first;
  const Id id = context.module.new_id();
  std::vector<uint32_t> operands = {context.type(type), id};
  for (const Edge& edge : join.edges) operands.insert(operands.end(), {edge.values[k], edge.from});
  context.module.body().put(OpPhi, operands);
  return id;
}

/// Begins the block after a construct and defines the construct's results. False if nothing gets there.
bool finish(Context& context, const kir::Instruction& construct, const Join& merge) {
  context.begin_block(merge.label);
  if (merge.edges.empty()) {
    context.module.body().put(OpUnreachable, {});
    return false;
  }
  for (size_t k = 0; k < construct.results.size(); ++k) {
    const kir::Value result = construct.results[k];
    context.define(result, joined_value(context, merge, k, context.kernel.type_of(result)));
  }
  return true;
}

bool is_bare_yield(const kir::Block& block) {
  return block.instructions.size() == 1 && block.terminator().op == kir::Op::yield;
}

bool emit_if(Context& context, const kir::Instruction& instruction, const Targets& targets) {
  ModuleBuilder& module = context.module;
  const kir::Block& then_block = instruction.blocks[0];
  const kir::Block& else_block = instruction.blocks[1];
  Join merge = {.label = module.new_id()};
  const Id then_label = module.new_id();
  const bool has_else = !is_bare_yield(else_block);
  const Id else_label = has_else ? module.new_id() : merge.label;
  if (!has_else)
    merge.edges.push_back({.from = context.block, .values = values_of(context, else_block.terminator().operands)});

  module.body().put(OpSelectionMerge, {merge.label, kNoControl});
  module.body().put(OpBranchConditional, {context.value(instruction.operands[0]), then_label, else_label});
  const Targets inner = {.yield = &merge, .continue_ = targets.continue_, .break_ = targets.break_};
  context.begin_block(then_label);
  emit_block(context, then_block, inner);
  if (has_else) {
    context.begin_block(else_label);
    emit_block(context, else_block, inner);
  }
  return finish(context, instruction, merge);
}

bool emit_switch(Context& context, const kir::Instruction& instruction, const Targets& targets) {
  ModuleBuilder& module = context.module;
  Join merge = {.label = module.new_id()};
  std::vector<Id> labels;
  for (size_t i = 0; i < instruction.blocks.size(); ++i) labels.push_back(module.new_id());

  std::vector<uint32_t> operands = {context.value(instruction.operands[0]), labels.back()};
  for (size_t i = 0; i < instruction.cases.size(); ++i)
    operands.insert(operands.end(), {instruction.cases[i], labels[i]});
  module.body().put(OpSelectionMerge, {merge.label, kNoControl});
  module.body().put(OpSwitch, operands);
  const Targets inner = {.yield = &merge, .continue_ = targets.continue_, .break_ = targets.break_};
  for (size_t i = 0; i < instruction.blocks.size(); ++i) {
    context.begin_block(labels[i]);
    emit_block(context, instruction.blocks[i], inner);
  }
  return finish(context, instruction, merge);
}

bool emit_loop(Context& context, const kir::Instruction& instruction) {
  ModuleBuilder& module = context.module;
  const kir::Block& block = instruction.blocks[0];
  const Id header = module.new_id();
  const Id body = module.new_id();
  Join next = {.label = module.new_id()};
  Join merge = {.label = module.new_id()};

  const Id before = context.block;
  module.body().put(OpBranch, {header});
  context.begin_block(header);
  std::vector<size_t> open_words;  // where each phi of the header names the value of the next iteration
  for (size_t k = 0; k < block.parameters.size(); ++k) {
    const kir::Value parameter = block.parameters[k];
    const Id initial = context.value(instruction.operands[k]);
    const Id phi = context.op(OpPhi, context.kernel.type_of(parameter), {initial, before, 0, next.label});
    open_words.push_back(module.body().size() - 2);
    context.define(parameter, phi);
  }
  // A loop unrolled by a compiler of the host's CPU has constants where it had carried values, and they are folded as
  // opaque_zero() says; unrolling gains nothing there.
  const auto control = context.profile.is_cpu ? spv::LoopControlMask::DontUnroll : spv::LoopControlMask::MaskNone;
  module.body().put(OpLoopMerge, {merge.label, next.label, static_cast<uint32_t>(control)});
  module.body().put(OpBranch, {body});

  context.begin_block(body);
  emit_block(context, block, {.yield = nullptr, .continue_ = &next, .break_ = &merge});

  context.begin_block(next.label);
  for (size_t k = 0; k < block.parameters.size(); ++k) {
    const kir::Type type = context.kernel.type_of(block.parameters[k]);
    // SPIR-V wants the way back even where no continue_ takes it; any value will do then.
    const Id value = next.edges.empty() ? context.constant(type, 0) : joined_value(context, next, k, type);
    module.body().patch(open_words[k], value);
  }
  module.body().put(OpBranch, {header});
  return finish(context, instruction, merge);
}

void define_constant(Context& context, kir::Value value, uint64_t bits) {
  const kir::Type type = context.kernel.type_of(value);
  const bool is_zero = kir::is_float(type) && (bits & ~(uint64_t{1} << (kir::bit_width(type) - 1))) == 0;
  context.known[value.id] = bits;
  context.define(value, is_zero ? opaque_zero(context, type, bits) : context.constant(type, bits));
}

/// Writes an instruction that is no terminator. False if control never comes out of it.
bool emit_instruction(Context& context, const kir::Instruction& instruction, const Targets& targets) {
  using enum kir::Op;
  switch (instruction.op) {
    case if_: return emit_if(context, instruction, targets);
    case switch_: return emit_switch(context, instruction, targets);
    case loop: return emit_loop(context, instruction);
    case constant: define_constant(context, instruction.result(), instruction.bits); break;
    case bitcast:
      if (const auto bits = context.bits(instruction.operands[0]))
        define_constant(context, instruction.result(), *bits);
      else
        context.define(instruction.result(), emit_arithmetic(context, instruction));
      break;
    case builtin: context.define(instruction.result(), emit_builtin(context, instruction)); break;
    case parameter: context.define(instruction.result(), emit_parameter(context, instruction)); break;
    case assume_uniform: context.define(instruction.result(), context.value(instruction.operands[0])); break;
    default:
      if (instruction.op >= subgroup_any && instruction.op <= subgroup_exclusive_add)
        emit_subgroup(context, instruction);
      else if (instruction.op >= load && instruction.op <= fence)
        emit_memory(context, instruction);
      else
        context.define(instruction.result(), emit_arithmetic(context, instruction));
  }
  return true;
}

void emit_terminator(Context& context, const kir::Instruction& terminator, const Targets& targets) {
  std::vector<Id> values = values_of(context, terminator.operands);
  switch (terminator.op) {
    case kir::Op::yield: return branch(context, *targets.yield, std::move(values));
    case kir::Op::continue_: return branch(context, *targets.continue_, std::move(values));
    case kir::Op::break_: return branch(context, *targets.break_, std::move(values));
    default: return context.module.body().put(OpReturn, {});
  }
}

void emit_block(Context& context, const kir::Block& block, const Targets& targets) {
  for (size_t i = 0; i + 1 < block.instructions.size(); ++i)
    if (!emit_instruction(context, block.instructions[i], targets)) return;
  emit_terminator(context, block.terminator(), targets);
}

}  // namespace

Id emit_function(Context& context) {
  ModuleBuilder& module = context.module;
  const Id type = module.function_type();
  const Id function = module.put(OpFunction, module.type(kir::Type::none), {0, type});
  context.begin_block(module.new_id());
  declare_local_arrays(context);
  emit_block(context, context.kernel.body, {});
  module.body().put(OpFunctionEnd, {});
  return function;
}

}  // namespace wavegate::emit::spirv
