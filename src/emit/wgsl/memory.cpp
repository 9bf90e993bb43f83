#include "wavegate/emit/wgsl/memory.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/literal.h"
#include "wavegate/emit/wgsl/variables.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::MemorySpace;
using kir::Op;
using kir::Type;

/// The k-th element counted from where the instruction's first operand points. WGSL keeps accesses inside their memory,
/// and refuses literal indices that are not.
std::string element(const Context& context, const kir::Instruction& instruction, uint32_t k) {
  const kir::Memory& memory = context.kernel.memories[instruction.memory];
  const kir::Value base = instruction.operands[0];
  std::string index = context.value(base);
  if (const auto known = context.bits(base)) {
    const uint64_t at = (*known + k) & 0xffffffff;
    const bool is_fixed = memory.space != MemorySpace::buffer;
    index = *literal(Type::i32, is_fixed ? std::min<uint64_t>(at, memory.length - 1) : at);
  } else if (k > 0) {
    index = format("{} + {}u", index, k);
  }
  return format("{}[{}]", context.variables.memories[instruction.memory], index);
}

ElementKind kind_of(const Context& context, const kir::Instruction& instruction) {
  return context.variables.element_kinds[instruction.memory];
}

void emit_load(Context& context, const kir::Instruction& instruction) {
  const ElementKind kind = kind_of(context, instruction);
  for (uint32_t k = 0; k < instruction.results.size(); ++k) {
    const std::string place = element(context, instruction, k);
    context.define(instruction.results[k], kind == ElementKind::plain ? place
                                           : kind == ElementKind::atomic_unsigned
                                               ? format("atomicLoad(&{})", place)
                                               : format("u32(atomicLoad(&{}))", place));
  }
}

void emit_store(Context& context, const kir::Instruction& instruction) {
  const ElementKind kind = kind_of(context, instruction);
  for (uint32_t k = 0; k + 1 < instruction.operands.size(); ++k) {
    const std::string place = element(context, instruction, k);
    const std::string& value = context.value(instruction.operands[k + 1]);
    context.body.line(kind == ElementKind::plain             ? format("{} = {};", place, value)
                      : kind == ElementKind::atomic_unsigned ? format("atomicStore(&{}, {});", place, value)
                                                             : format("atomicStore(&{}, i32({}));", place, value));
  }
}

std::string scalar_place(Context& context, uint32_t binding) {
  context.slots_used[binding] = true;
  return format("{}[{}]", kArena, context.variables.slots[binding]);
}

struct AtomicName {
  Op op;
  std::string_view function;
  std::string_view combine;  ///< of signed values, where the memory's elements are unsigned
};
constexpr AtomicName kAtomics[] = {
    {Op::atomic_add, "atomicAdd", {}},
    {Op::atomic_and, "atomicAnd", {}},
    {Op::atomic_or, "atomicOr", {}},
    {Op::atomic_xor, "atomicXor", {}},
    {Op::atomic_min_u, "atomicMin", {}},
    {Op::atomic_min_s, "atomicMin", "min"},
    {Op::atomic_max_u, "atomicMax", {}},
    {Op::atomic_max_s, "atomicMax", "max"},
    {Op::atomic_exchange, "atomicExchange", {}},
    {Op::atomic_compare_exchange, "atomicCompareExchangeWeak", {}},
};

/// WGSL's compare and exchange may fail for no reason.
void emit_compare_exchange(Context& context, const kir::Instruction& instruction, const std::string& place,
                           bool is_signed) {
  const auto operand = [&](size_t i) {
    const std::string& value = context.value(instruction.operands[i]);
    return is_signed ? format("i32({})", value) : value;
  };
  const std::string result = Context::name(instruction.result());
  context.declare(instruction.result());
  context.body.open("loop");
  context.body.line(
      format("let {}_try = atomicCompareExchangeWeak(&{}, {}, {});", result, place, operand(1), operand(2)));
  const std::string old_value = format("{}_try.old_value", result);
  context.body.line(format("{} = {};", result, is_signed ? format("u32({})", old_value) : old_value));
  context.body.open(format("if ({0}_try.exchanged || {0} != {1})", result, context.value(instruction.operands[1])));
  context.body.line("break;");
  context.body.close();
  context.body.close();
}

/// A signed least or greatest value in a memory that has unsigned ones too.
void emit_combine(Context& context, const kir::Instruction& instruction, const std::string& place,
                  std::string_view combine) {
  const std::string result = Context::name(instruction.result());
  context.declare(instruction.result(), format("atomicLoad(&{})", place));
  context.body.open("loop");
  context.body.line(format("let {0}_try = atomicCompareExchangeWeak(&{1}, {0}, u32({2}(i32({0}), i32({3}))));", result,
                           place, combine, context.value(instruction.operands[1])));
  context.body.open(format("if ({}_try.exchanged)", result));
  context.body.line("break;");
  context.body.close();
  context.body.line(format("{0} = {0}_try.old_value;", result));
  context.body.close();
}

void emit_atomic(Context& context, const kir::Instruction& instruction) {
  const AtomicName& row = kAtomics[static_cast<size_t>(instruction.op) - static_cast<size_t>(Op::atomic_add)];
  const bool is_signed = kind_of(context, instruction) == ElementKind::atomic_signed;
  const std::string place = element(context, instruction, 0);
  if (instruction.op == Op::atomic_compare_exchange)
    return emit_compare_exchange(context, instruction, place, is_signed);
  if (!row.combine.empty() && !is_signed) return emit_combine(context, instruction, place, row.combine);
  const std::string& value = context.value(instruction.operands[1]);
  context.define(instruction.result(), is_signed ? format("u32({}(&{}, i32({})))", row.function, place, value)
                                                 : format("{}(&{}, {})", row.function, place, value));
}

}  // namespace

std::string to_word(const Context& context, kir::Value value) {
  const Type type = context.type_of(value);
  const std::string& text = context.value(value);
  if (const auto known = context.bits(value)) return *literal(Type::i32, *known);
  switch (type) {
    case Type::boolean: return format("select(0u, 1u, {})", text);
    case Type::f16: return format("pack2x16float(vec2<f32>(f32({}), 0.0f))", text);
    case Type::f32: return format("bitcast<u32>({})", text);
    default: return text;
  }
}

std::string from_word(kir::Type type, std::string_view word) {
  switch (type) {
    case Type::boolean: return format("{} != 0u", word);
    case Type::f16: return format("f16(unpack2x16float({}).x)", word);
    case Type::f32: return format("bitcast<f32>({})", word);
    default: return std::string(word);
  }
}

void emit_memory(Context& context, const kir::Instruction& instruction) {
  switch (instruction.op) {
    case Op::load: return emit_load(context, instruction);
    case Op::store: return emit_store(context, instruction);
    case Op::array_length:
      return context.define(instruction.result(),
                            format("arrayLength(&{})", context.variables.memories[instruction.memory]));
    case Op::load_scalar:
      return context.define(instruction.result(),
                            from_word(instruction.type, scalar_place(context, instruction.index)));
    case Op::store_scalar:
      return context.body.line(
          format("{} = {};", scalar_place(context, instruction.index), to_word(context, instruction.operands[0])));
    case Op::barrier:
      if (context.barriers.storage) context.body.line("storageBarrier();");
      if (context.barriers.workgroup) context.body.line("workgroupBarrier();");
      return;
    case Op::fence: return;  // of one invocation: it orders its own accesses anyway
    default: return emit_atomic(context, instruction);
  }
}

}  // namespace wavegate::emit::wgsl
