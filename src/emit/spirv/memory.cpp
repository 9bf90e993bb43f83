#include "wavegate/emit/spirv/memory.h"

#include <algorithm>

namespace wavegate::emit::spirv {
namespace {

using enum spv::Op;
using kir::MemorySpace;
using kir::Type;

template <typename Enum>
constexpr uint32_t word(Enum value) {
  return static_cast<uint32_t>(value);
}

/// A pointer to an element, and the memory operands that its loads and stores need.
struct Place {
  Id pointer = 0;
  uint32_t access = 0;     ///< spv::MemoryAccessMask
  uint32_t alignment = 0;  ///< bytes, if Aligned is in `access`
};

spv::StorageClass storage_class(MemorySpace space) {
  constexpr spv::StorageClass classes[] = {spv::StorageClass::StorageBuffer, spv::StorageClass::Workgroup,
                                           spv::StorageClass::Function};
  return classes[static_cast<size_t>(space)];
}

/// Base + offset, folded where the base is a constant.
Id offset(Context& context, Type type, kir::Value base, uint64_t bytes_or_elements) {
  if (bytes_or_elements == 0) return context.value(base);
  if (const auto known = context.bits(base)) return context.constant(type, *known + bytes_or_elements);
  return context.op(OpIAdd, type, {context.value(base), context.constant(type, bytes_or_elements)});
}

/// An index that cannot leave an array of `length` elements: an access outside one is the program's error, but it must
/// do no harm, and robust buffer access guards buffers alone.
Id clamp(Context& context, kir::Value base, uint64_t k, uint32_t length) {
  if (const auto known = context.bits(base))
    return context.module.constant_u32(static_cast<uint32_t>(std::min<uint64_t>(*known + k, length - 1)));
  return context.extended(GLSLstd450UMin, Type::i32,
                          {offset(context, Type::i32, base, k), context.module.constant_u32(length - 1)});
}

/// The k-th element counted from where the instruction's first operand points.
Place place(Context& context, const kir::Instruction& instruction, uint32_t k) {
  ModuleBuilder& module = context.module;
  const kir::Value base = instruction.operands[0];
  if (is_pointer_access(instruction)) {
    const uint32_t size = kir::byte_size(instruction.type);
    const Id address = offset(context, Type::i64, base, uint64_t{k} * size);
    const Id type = module.pointer_type(spv::StorageClass::PhysicalStorageBuffer, module.type(instruction.type));
    // A pointer has no variable to be decorated Coherent; volatile accesses go as far.
    const auto coherent =
        context.variables.coherent_pointers ? spv::MemoryAccessMask::Volatile : spv::MemoryAccessMask::MaskNone;
    return {.pointer = module.put(OpConvertUToPtr, type, {address}),
            .access = word(spv::MemoryAccessMask::Aligned) | word(coherent),
            .alignment = size};
  }
  const kir::Memory& memory = context.kernel.memories[instruction.memory];
  const Id variable = context.variables.memories[instruction.memory];
  const Id type = module.pointer_type(storage_class(memory.space), module.type(memory.element));
  if (memory.space != MemorySpace::buffer)
    return {.pointer = module.put(OpAccessChain, type, {variable, clamp(context, base, k, memory.length)})};
  const Id index = offset(context, Type::i32, base, k);
  return {.pointer = module.put(OpAccessChain, type, {variable, module.constant_u32(0), index})};
}

Id load(Context& context, Type type, const Place& place) {
  if (place.access == 0) return context.op(OpLoad, type, {place.pointer});
  return context.op(OpLoad, type, {place.pointer, place.access, place.alignment});
}

void store(Context& context, const Place& place, Id value) {
  if (place.access == 0) return context.module.body().put(OpStore, {place.pointer, value});
  context.module.body().put(OpStore, {place.pointer, value, place.access, place.alignment});
}

void emit_load(Context& context, const kir::Instruction& instruction) {
  for (uint32_t k = 0; k < instruction.results.size(); ++k)
    context.define(instruction.results[k], load(context, instruction.type, place(context, instruction, k)));
}

void emit_store(Context& context, const kir::Instruction& instruction) {
  for (uint32_t k = 0; k + 1 < instruction.operands.size(); ++k)
    store(context, place(context, instruction, k), context.value(instruction.operands[k + 1]));
}

void emit_array_length(Context& context, const kir::Instruction& instruction) {
  const kir::Memory& memory = context.kernel.memories[instruction.memory];
  const Id length = memory.space == MemorySpace::buffer
                        ? context.op(OpArrayLength, Type::i32, {context.variables.memories[instruction.memory], 0})
                        : context.module.constant_u32(memory.length);
  context.define(instruction.result(), length);
}

/// A scalar's word of the arena; its slot is the launch word of its place among the scalars.
Id scalar_pointer(Context& context, uint32_t binding) {
  ModuleBuilder& module = context.module;
  const auto& bindings = context.kernel.interface.bindings;
  uint32_t ordinal = 0;
  for (uint32_t i = 0; i < binding; ++i) ordinal += bindings[i].kind == kir::BindingKind::scalar ? 1 : 0;
  const Id slot = load_launch_word(context, ordinal);
  const Id type = module.pointer_type(spv::StorageClass::StorageBuffer, module.type(Type::i32));
  return module.put(OpAccessChain, type, {context.variables.arena, module.constant_u32(0), slot});
}

void emit_load_scalar(Context& context, const kir::Instruction& instruction) {
  const Id word_value = context.op(OpLoad, Type::i32, {scalar_pointer(context, instruction.index)});
  const bool is_word = instruction.type == Type::i32;
  context.define(instruction.result(), is_word ? word_value : context.op(OpBitcast, instruction.type, {word_value}));
}

void emit_store_scalar(Context& context, const kir::Instruction& instruction) {
  const kir::Value value = instruction.operands[0];
  const Id pointer = scalar_pointer(context, instruction.index);
  const bool is_word = context.kernel.type_of(value) == Type::i32;
  const Id bits = is_word ? context.value(value) : context.op(OpBitcast, Type::i32, {context.value(value)});
  context.module.body().put(OpStore, {pointer, bits});
}

Id scope_id(Context& context, kir::Scope scope) {
  constexpr spv::Scope scopes[] = {spv::Scope::Invocation, spv::Scope::Subgroup, spv::Scope::Workgroup,
                                   spv::Scope::Device};
  return context.module.constant_u32(word(scopes[static_cast<size_t>(scope)]));
}

/// The memory semantics of an order, over buffers and workgroup memory alike. Nothing is ordered within one
/// invocation that it does not order itself.
uint32_t semantics(kir::Scope scope, kir::Order order) {
  using enum spv::MemorySemanticsMask;
  if (order == kir::Order::relaxed || scope == kir::Scope::invocation) return 0;
  constexpr spv::MemorySemanticsMask orders[] = {MaskNone, Acquire, Release, AcquireRelease};
  return word(orders[static_cast<size_t>(order)]) | word(UniformMemory) | word(WorkgroupMemory);
}

spv::Op atomic_code(kir::Op op) {
  switch (op) {
    case kir::Op::atomic_add: return OpAtomicIAdd;
    case kir::Op::atomic_and: return OpAtomicAnd;
    case kir::Op::atomic_or: return OpAtomicOr;
    case kir::Op::atomic_xor: return OpAtomicXor;
    case kir::Op::atomic_min_u: return OpAtomicUMin;
    case kir::Op::atomic_min_s: return OpAtomicSMin;
    case kir::Op::atomic_max_u: return OpAtomicUMax;
    case kir::Op::atomic_max_s: return OpAtomicSMax;
    case kir::Op::atomic_exchange: return OpAtomicExchange;
    default: return OpAtomicCompareExchange;
  }
}

void emit_atomic(Context& context, const kir::Instruction& instruction) {
  ModuleBuilder& module = context.module;
  if (instruction.type == Type::i64) module.require(spv::Capability::Int64Atomics);
  const Id pointer = place(context, instruction, 0).pointer;
  const Id scope = scope_id(context, instruction.scope);
  const Id equal = module.constant_u32(semantics(instruction.scope, instruction.order));
  const Id value = context.value(instruction.operands[1]);
  const spv::Op code = atomic_code(instruction.op);
  if (code != OpAtomicCompareExchange) {
    context.define(instruction.result(), context.op(code, instruction.type, {pointer, scope, equal, value}));
    return;
  }
  // A failed exchange writes nothing, hence releases nothing.
  const bool acquires = instruction.order == kir::Order::acquire || instruction.order == kir::Order::acquire_release;
  const kir::Order failed = acquires ? kir::Order::acquire : kir::Order::relaxed;
  const Id unequal = module.constant_u32(semantics(instruction.scope, failed));
  const Id desired = context.value(instruction.operands[2]);
  context.define(instruction.result(),
                 context.op(code, instruction.type, {pointer, scope, equal, unequal, desired, value}));
}

void emit_barrier(Context& context, const kir::Instruction& instruction) {
  const Id scope = scope_id(context, instruction.scope);
  const Id order = context.module.constant_u32(semantics(instruction.scope, kir::Order::acquire_release));
  context.module.body().put(OpControlBarrier, {scope, scope, order});
}

void emit_fence(Context& context, const kir::Instruction& instruction) {
  const uint32_t order = semantics(instruction.scope, instruction.order);
  if (order == 0) return;
  const Id scope = scope_id(context, instruction.scope);
  context.module.body().put(OpMemoryBarrier, {scope, context.module.constant_u32(order)});
}

}  // namespace

bool is_pointer_access(const kir::Instruction& instruction) {
  const kir::Op op = instruction.op;
  const bool accesses = op == kir::Op::load || op == kir::Op::store || kir::is_atomic(op);
  return accesses && instruction.memory == kir::kPointer;
}

Id load_launch_word(Context& context, uint32_t index) {
  ModuleBuilder& module = context.module;
  const Id type = module.pointer_type(spv::StorageClass::PushConstant, module.type(Type::i32));
  const Id pointer =
      module.put(OpAccessChain, type, {context.variables.launch, module.constant_u32(0), module.constant_u32(index)});
  return context.op(OpLoad, Type::i32, {pointer});
}

void emit_memory(Context& context, const kir::Instruction& instruction) {
  switch (instruction.op) {
    case kir::Op::load: return emit_load(context, instruction);
    case kir::Op::store: return emit_store(context, instruction);
    case kir::Op::array_length: return emit_array_length(context, instruction);
    case kir::Op::load_scalar: return emit_load_scalar(context, instruction);
    case kir::Op::store_scalar: return emit_store_scalar(context, instruction);
    case kir::Op::barrier: return emit_barrier(context, instruction);
    case kir::Op::fence: return emit_fence(context, instruction);
    default: return emit_atomic(context, instruction);
  }
}

}  // namespace wavegate::emit::spirv
