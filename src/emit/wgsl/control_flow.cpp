#include "wavegate/emit/wgsl/control_flow.h"

#include <algorithm>
#include <unordered_set>

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/arithmetic.h"
#include "wavegate/emit/wgsl/literal.h"
#include "wavegate/emit/wgsl/memory.h"
#include "wavegate/emit/wgsl/subgroup.h"
#include "wavegate/emit/wgsl/variables.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::Block;
using kir::Instruction;
using kir::Op;
using kir::Value;

/// The innermost loop around a block.
struct Loop {
  const Instruction& instruction;
  std::string leave = {};  ///< the variable by which a switch says break; empty if none does
  bool is_left = false;    ///< a break_ was written
};

/// Where the terminators of a block lead.
struct Targets {
  const Instruction* yield = nullptr;  ///< the if_ or switch_ that the block ends
  Loop* loop = nullptr;
  bool in_switch = false;    ///< between the block and its loop stands a switch
  bool is_loop_end = false;  ///< behind the block the loop's next iteration begins
};

/// Whether control comes to the end of the block and on from there.
bool emit_block(Context& context, const Block& block, const Targets& targets);

/// variables[k] = values[k], as if all at once.
void assign(Context& context, const std::vector<Value>& variables, const std::vector<Value>& values) {
  std::vector<std::string> texts;
  std::unordered_set<std::string_view> set_before;  // by an earlier assignment
  for (size_t k = 0; k < values.size(); ++k) {
    texts.push_back(context.value(values[k]));
    if (set_before.contains(texts.back())) {
      const std::string copy = format("{}_next", Context::name(variables[k]));
      context.body.line(format("let {} = {};", copy, texts.back()));
      texts.back() = copy;
    }
    set_before.insert(context.value(variables[k]));
  }
  for (size_t k = 0; k < values.size(); ++k)
    if (context.value(variables[k]) != texts[k])
      context.body.line(format("{} = {};", context.value(variables[k]), texts[k]));
}

void declare_results(Context& context, const Instruction& construct) {
  for (const Value result : construct.results) context.declare(result);
}

bool is_bare_yield(const Block& block) {
  return block.instructions.size() == 1 && block.terminator().op == Op::yield && block.terminator().operands.empty();
}

bool emit_if(Context& context, const Instruction& instruction, Targets targets) {
  declare_results(context, instruction);
  targets.yield = &instruction;
  targets.is_loop_end = false;
  context.body.open(format("if ({})", context.value(instruction.operands[0])));
  bool comes_out = emit_block(context, instruction.blocks[0], targets);
  if (is_bare_yield(instruction.blocks[1])) {
    comes_out = true;
  } else {
    context.body.reopen("else");
    comes_out |= emit_block(context, instruction.blocks[1], targets);
  }
  context.body.close();
  return comes_out;
}

/// Whether a block breaks out of the loop that it stands in.
bool breaks(const Block& block) {
  return std::ranges::any_of(block.instructions, [](const Instruction& instruction) {
    if (instruction.op == Op::break_) return true;
    return instruction.op != Op::loop && std::ranges::any_of(instruction.blocks, breaks);
  });
}

/// Whether a switch in the block breaks out of the loop that the block stands in.
bool breaks_from_switch(const Block& block) {
  return std::ranges::any_of(block.instructions, [](const Instruction& instruction) {
    if (instruction.op == Op::loop) return false;
    return std::ranges::any_of(instruction.blocks, instruction.op == Op::switch_ ? breaks : breaks_from_switch);
  });
}

void emit_break_from_switch(Context& context, const Loop& loop) {
  context.body.open(format("if ({})", loop.leave));
  context.body.line("break;");
  context.body.close();
}

bool emit_switch(Context& context, const Instruction& instruction, const Targets& targets) {
  declare_results(context, instruction);
  const Targets inner = {.yield = &instruction, .loop = targets.loop, .in_switch = true};
  context.body.open(format("switch {}", context.value(instruction.operands[0])));
  bool comes_out = false;
  for (size_t i = 0; i < instruction.blocks.size(); ++i) {
    context.body.open(i < instruction.cases.size() ? format("case {}u:", instruction.cases[i]) : "default:");
    comes_out |= emit_block(context, instruction.blocks[i], inner);
    context.body.close();
  }
  context.body.close();
  if (targets.loop != nullptr && std::ranges::any_of(instruction.blocks, breaks))
    emit_break_from_switch(context, *targets.loop);
  return comes_out;
}

bool emit_loop(Context& context, const Instruction& instruction) {
  const Block& block = instruction.blocks[0];
  declare_results(context, instruction);
  for (size_t k = 0; k < block.parameters.size(); ++k)
    context.declare(block.parameters[k], context.value(instruction.operands[k]));
  Loop loop = {.instruction = instruction};
  context.body.open("loop");
  if (breaks_from_switch(block)) {
    loop.leave = format("leave_{}", context.loops++);
    context.body.line(format("var {} = false;", loop.leave));
  }
  emit_block(context, block, {.loop = &loop, .is_loop_end = true});
  context.body.close();
  return loop.is_left;
}

void emit_claim(Context& context, const Instruction& instruction) {
  const Value operand = instruction.operands[0];
  if (instruction.scope < kir::Scope::workgroup) {
    if (const auto bits = context.bits(operand)) context.known[instruction.result().id] = bits;
    return context.alias(instruction.result(), context.value(operand));
  }
  const std::string call = format("{}({}, {})", context.call(Helper::uniform_value), to_word(context, operand),
                                  context.builtin(kir::Builtin::local_index));
  context.define(instruction.result(), from_word(instruction.type, call));
}

/// Writes an instruction that is no terminator. False if control never comes out of it.
bool emit_instruction(Context& context, const Instruction& instruction, const Targets& targets) {
  using enum kir::Op;
  switch (instruction.op) {
    case if_: return emit_if(context, instruction, targets);
    case switch_: return emit_switch(context, instruction, targets);
    case loop: return emit_loop(context, instruction);
    case constant: context.define_constant(instruction.result(), instruction.bits); break;
    case builtin: emit_builtin(context, instruction); break;
    case parameter: emit_parameter(context, instruction); break;
    case assume_uniform: emit_claim(context, instruction); break;
    default:
      if (instruction.op >= subgroup_any && instruction.op <= subgroup_exclusive_add)
        emit_subgroup(context, instruction);
      else if (instruction.op >= load && instruction.op <= fence)
        emit_memory(context, instruction);
      else
        emit_arithmetic(context, instruction);
  }
  return true;
}

bool emit_terminator(Context& context, const Instruction& terminator, const Targets& targets) {
  switch (terminator.op) {
    case Op::yield: assign(context, targets.yield->results, terminator.operands); return true;
    case Op::continue_:
      assign(context, targets.loop->instruction.blocks[0].parameters, terminator.operands);
      if (!targets.is_loop_end) context.body.line("continue;");
      return false;
    case Op::break_:
      targets.loop->is_left = true;
      assign(context, targets.loop->instruction.results, terminator.operands);
      if (targets.in_switch) context.body.line(format("{} = true;", targets.loop->leave));
      context.body.line("break;");
      return false;
    default:
      if (targets.yield != nullptr || targets.loop != nullptr) context.body.line("return;");
      return false;
  }
}

bool emit_block(Context& context, const Block& block, const Targets& targets) {
  for (size_t i = 0; i + 1 < block.instructions.size(); ++i)
    if (!emit_instruction(context, block.instructions[i], targets)) return false;
  return emit_terminator(context, block.terminator(), targets);
}

}  // namespace

void emit_body(Context& context) {
  emit_block(context, context.kernel.body, {});
}

}  // namespace wavegate::emit::wgsl
