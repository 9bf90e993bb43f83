#include "wavegate/emit/spirv/subgroup.h"

namespace wavegate::emit::spirv {
namespace {

using enum spv::Op;
using kir::Type;

Id subgroup_scope(Context& context) {
  return context.module.constant_u32(static_cast<uint32_t>(spv::Scope::Subgroup));
}

/// The bits of a value as one or two 32-bit words.
std::vector<Id> to_words(Context& context, Type type, Id value) {
  ModuleBuilder& module = context.module;
  switch (type) {
    case Type::boolean: {
      const Id one = module.constant_u32(1), zero = module.constant_u32(0);
      return {context.select(Type::i32, value, one, zero)};
    }
    case Type::i8:
    case Type::i16: return {context.op(OpUConvert, Type::i32, {value})};
    case Type::f16: {
      const Id zero = context.constant(Type::f16, 0);
      const Id pair = module.put(OpCompositeConstruct, module.vector_type(Type::f16, 2), {value, zero});
      return {context.op(OpBitcast, Type::i32, {pair})};
    }
    case Type::f32: return {context.op(OpBitcast, Type::i32, {value})};
    case Type::i64:
    case Type::f64: {
      const Halves halves = split(context, value);
      return {halves.low, halves.high};
    }
    default: return {value};
  }
}

Id from_words(Context& context, Type type, const std::vector<Id>& words) {
  ModuleBuilder& module = context.module;
  switch (type) {
    case Type::boolean: return context.op(OpINotEqual, type, {words[0], module.constant_u32(0)});
    case Type::i8:
    case Type::i16: return context.op(OpUConvert, type, {words[0]});
    case Type::f16: {
      const Id pair = module.put(OpBitcast, module.vector_type(Type::f16, 2), {words[0]});
      return context.op(OpCompositeExtract, type, {pair, 0});
    }
    case Type::f32: return context.op(OpBitcast, type, {words[0]});
    case Type::i64:
    case Type::f64: return join(context, type, {.low = words[0], .high = words[1]});
    default: return words[0];
  }
}

/// Moves values between lanes: broadcast_first, shuffle, shuffle_xor.
Id move(Context& context, const kir::Instruction& instruction) {
  const bool is_broadcast = instruction.op == kir::Op::subgroup_broadcast_first;
  context.module.require(is_broadcast ? spv::Capability::GroupNonUniformBallot
                                      : spv::Capability::GroupNonUniformShuffle);
  const Id scope = subgroup_scope(context);
  std::vector<Id> words = to_words(context, instruction.type, context.value(instruction.operands[0]));
  for (Id& word : words) {
    if (is_broadcast) {
      word = context.op(OpGroupNonUniformBroadcastFirst, Type::i32, {scope, word});
    } else {
      const spv::Op code =
          instruction.op == kir::Op::subgroup_shuffle ? OpGroupNonUniformShuffle : OpGroupNonUniformShuffleXor;
      word = context.op(code, Type::i32, {scope, word, context.value(instruction.operands[1])});
    }
  }
  return from_words(context, instruction.type, words);
}

Id group(Context& context, spv::Op code, Type type, spv::GroupOperation operation, Id value) {
  return context.op(code, type, {subgroup_scope(context), static_cast<uint32_t>(operation), value});
}

/// Sums of 64-bit integers by sums of their 16-bit pieces, none of which overflows with at most 128 lanes.
Id add_64(Context& context, spv::GroupOperation operation, Id value) {
  const Halves halves = split(context, value);
  Id sum = 0;
  for (uint32_t piece = 0; piece < 4; ++piece) {
    const Id half = piece < 2 ? halves.low : halves.high;
    const Id bits = piece % 2 == 0
                        ? context.op(OpBitwiseAnd, Type::i32, {half, context.module.constant_u32(0xffff)})
                        : context.op(OpShiftRightLogical, Type::i32, {half, context.module.constant_u32(16)});
    const Id total = group(context, OpGroupNonUniformIAdd, Type::i32, operation, bits);
    const Id wide = context.op(OpUConvert, Type::i64, {total});
    const Id placed = context.op(OpShiftLeftLogical, Type::i64, {wide, context.constant(Type::i64, 16 * piece)});
    sum = piece == 0 ? placed : context.op(OpIAdd, Type::i64, {sum, placed});
  }
  return sum;
}

Id add(Context& context, Type type, spv::GroupOperation operation, Id value) {
  if (type == Type::i64) return add_64(context, operation, value);
  const Id word = to_words(context, type, value)[0];
  return from_words(context, type, {group(context, OpGroupNonUniformIAdd, Type::i32, operation, word)});
}

Id add_float(Context& context, Type type, Id value) {
  const Type wide = type == Type::f16 ? Type::f32 : type;
  const Id operand = type == wide ? value : context.op(OpFConvert, wide, {value});
  const Id sum = group(context, OpGroupNonUniformFAdd, wide, spv::GroupOperation::Reduce, operand);
  return type == wide ? sum : context.op(OpFConvert, type, {sum});
}

Id least_or_greatest(Context& context, Type type, bool least, Id value) {
  const spv::Op code = least ? OpGroupNonUniformUMin : OpGroupNonUniformUMax;
  const auto reduce = [&](Id word) { return group(context, code, Type::i32, spv::GroupOperation::Reduce, word); };
  if (type != Type::i64) return from_words(context, type, {reduce(to_words(context, type, value)[0])});
  // The high halves decide; among the lanes that have the deciding one, the low halves do.
  const Halves halves = split(context, value);
  const Id high = reduce(halves.high);
  const Id takes_part = context.op(OpIEqual, Type::boolean, {halves.high, high});
  const Id neutral = context.module.constant_u32(least ? 0xffffffff : 0);
  const Id low = reduce(context.select(Type::i32, takes_part, halves.low, neutral));
  return join(context, type, {.low = low, .high = high});
}

void emit_ballot(Context& context, const kir::Instruction& instruction) {
  ModuleBuilder& module = context.module;
  module.require(spv::Capability::GroupNonUniformBallot);
  const Id scope = subgroup_scope(context);
  const Id ballot = module.put(OpGroupNonUniformBallot, module.vector_type(Type::i32, 4),
                               {scope, context.value(instruction.operands[0])});
  for (uint32_t i = 0; i < instruction.results.size(); ++i)
    context.define(instruction.results[i], context.op(OpCompositeExtract, Type::i32, {ballot, i}));
}

Id vote(Context& context, const kir::Instruction& instruction) {
  context.module.require(spv::Capability::GroupNonUniformVote);
  const spv::Op code = instruction.op == kir::Op::subgroup_any ? OpGroupNonUniformAny : OpGroupNonUniformAll;
  return context.op(code, Type::boolean, {subgroup_scope(context), context.value(instruction.operands[0])});
}

Id reduce(Context& context, const kir::Instruction& instruction) {
  context.module.require(spv::Capability::GroupNonUniformArithmetic);
  const Type type = instruction.type;
  const Id value = context.value(instruction.operands[0]);
  switch (instruction.op) {
    case kir::Op::subgroup_add: return add(context, type, spv::GroupOperation::Reduce, value);
    case kir::Op::subgroup_exclusive_add: return add(context, type, spv::GroupOperation::ExclusiveScan, value);
    case kir::Op::subgroup_add_f: return add_float(context, type, value);
    case kir::Op::subgroup_min_u: return least_or_greatest(context, type, true, value);
    default: return least_or_greatest(context, type, false, value);
  }
}

}  // namespace

void emit_subgroup(Context& context, const kir::Instruction& instruction) {
  switch (instruction.op) {
    case kir::Op::subgroup_ballot: return emit_ballot(context, instruction);
    case kir::Op::subgroup_any:
    case kir::Op::subgroup_all: return context.define(instruction.result(), vote(context, instruction));
    case kir::Op::subgroup_broadcast_first:
    case kir::Op::subgroup_shuffle:
    case kir::Op::subgroup_shuffle_xor: return context.define(instruction.result(), move(context, instruction));
    default: return context.define(instruction.result(), reduce(context, instruction));
  }
}

}  // namespace wavegate::emit::spirv
