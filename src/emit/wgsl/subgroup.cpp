#include "wavegate/emit/wgsl/subgroup.h"

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/memory.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::Op;
using kir::Type;

void emit_ballot(Context& context, const kir::Instruction& instruction) {
  const std::string name = Context::name(instruction.result());
  context.body.line(format("let {}_ballot = subgroupBallot({});", name, context.value(instruction.operands[0])));
  for (size_t i = 0; i < instruction.results.size(); ++i)
    context.define(instruction.results[i], format("{}_ballot.{}", name, "xyzw"[i]));
}

/// Moves the bits of a value between lanes: numbers of 32 bits are what all devices move.
std::string move(Context& context, const kir::Instruction& instruction) {
  const std::string word = to_word(context, instruction.operands[0]);
  if (instruction.op == Op::subgroup_broadcast_first)
    return from_word(instruction.type, format("subgroupBroadcastFirst({})", word));
  // WGSL refuses literal lanes beyond its largest subgroup.
  const std::string lane = context.runtime_value(instruction.operands[1], instruction.result(), 'b');
  const auto function = instruction.op == Op::subgroup_shuffle ? "subgroupShuffle" : "subgroupShuffleXor";
  return from_word(instruction.type, format("{}({}, {})", function, word, lane));
}

std::string_view reduction(Op op) {
  switch (op) {
    case Op::subgroup_any: return "subgroupAny";
    case Op::subgroup_all: return "subgroupAll";
    case Op::subgroup_min_u: return "subgroupMin";
    case Op::subgroup_max_u: return "subgroupMax";
    case Op::subgroup_exclusive_add: return "subgroupExclusiveAdd";
    default: return "subgroupAdd";
  }
}

}  // namespace

void emit_subgroup(Context& context, const kir::Instruction& instruction) {
  const std::string& operand = context.value(instruction.operands[0]);
  switch (instruction.op) {
    case Op::subgroup_ballot: return emit_ballot(context, instruction);
    case Op::subgroup_broadcast_first:
    case Op::subgroup_shuffle:
    case Op::subgroup_shuffle_xor: return context.define(instruction.result(), move(context, instruction));
    default: break;
  }
  const std::string_view function = reduction(instruction.op);
  context.define(instruction.result(), instruction.type == Type::f16 ? format("f16({}(f32({})))", function, operand)
                                                                     : format("{}({})", function, operand));
}

}  // namespace wavegate::emit::wgsl
