#include "wavegate/emit/spirv/variables.h"

#include <algorithm>
#include <array>

#include "wavegate/emit/spirv/coherence.h"
#include "wavegate/emit/spirv/memory.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Type;

struct BuiltinRow {
  kir::Builtin builtin;
  spv::BuiltIn code;
};
constexpr std::array<BuiltinRow, kir::kBuiltinCount> kBuiltins = {{
    {kir::Builtin::global_id, spv::BuiltIn::GlobalInvocationId},
    {kir::Builtin::local_id, spv::BuiltIn::LocalInvocationId},
    {kir::Builtin::workgroup_id, spv::BuiltIn::WorkgroupId},
    {kir::Builtin::grid, spv::BuiltIn::NumWorkgroups},
    {kir::Builtin::local_index, spv::BuiltIn::LocalInvocationIndex},
    {kir::Builtin::subgroup_lane, spv::BuiltIn::SubgroupLocalInvocationId},
    {kir::Builtin::subgroup_size, spv::BuiltIn::SubgroupSize},
}};

void require_storage(ModuleBuilder& module, Type element) {
  if (kir::bit_width(element) == 16) module.require(spv::Capability::StorageBuffer16BitAccess);
  if (kir::bit_width(element) == 8) {
    module.require(spv::Capability::StorageBuffer8BitAccess);
    module.require_extension("SPV_KHR_8bit_storage");
  }
}

bool uses_pointers(const kir::Kernel& kernel) {
  bool found = false;
  kir::walk(kernel.body, [&](const kir::Instruction& i) { found |= is_pointer_access(i); });
  return found;
}

/// `aliased`: the memory may be reachable by another name too.
struct StorageTraits {
  bool aliased = false;
  bool coherent = false;
};

Id storage_buffer(ModuleBuilder& module, Type element, uint32_t binding, bool is_read, bool is_written,
                  StorageTraits traits) {
  require_storage(module, element);
  const Id block = module.block_type(module.type(element), kir::byte_size(element), 0);
  const Id variable = module.global_variable(spv::StorageClass::StorageBuffer, block);
  module.decorate(variable, spv::Decoration::DescriptorSet, {0});
  module.decorate(variable, spv::Decoration::Binding, {binding});
  if (!is_written) module.decorate(variable, spv::Decoration::NonWritable);
  if (!is_read) module.decorate(variable, spv::Decoration::NonReadable);
  if (traits.aliased) module.decorate(variable, spv::Decoration::Aliased);
  if (traits.coherent) module.decorate(variable, spv::Decoration::Coherent);
  return variable;
}

}  // namespace

void declare_variables(Context& context) {
  const kir::Kernel& kernel = context.kernel;
  const kir::Interface& interface = kernel.interface;
  ModuleBuilder& module = context.module;
  Variables& variables = context.variables;

  const Coherence coherence = coherence_of(kernel);
  variables.coherent_pointers = coherence.pointers;
  const bool pointers = uses_pointers(kernel);
  if (pointers) {
    module.use_physical_addressing();
    kir::walk(kernel.body, [&](const kir::Instruction& i) {
      if (is_pointer_access(i)) require_storage(module, i.type);
    });
  }
  const uint32_t buffers = interface.buffer_count();
  const uint32_t storage_buffers = buffers + (interface.scalar_count() > 0 ? 1 : 0);
  const bool aliased = storage_buffers > 1 || pointers;
  std::vector<bool> coherent_bindings(interface.bindings.size());
  for (size_t i = 0; i < kernel.memories.size(); ++i)
    if (coherence.memories[i]) coherent_bindings[kernel.memories[i].binding] = true;

  std::vector<Id> by_binding;
  uint32_t next = 0;
  bool arena_read = false, arena_written = false;
  for (size_t i = 0; i < interface.bindings.size(); ++i) {
    const kir::BindingInfo& info = interface.bindings[i];
    if (info.kind == kir::BindingKind::scalar) {
      arena_read |= kir::reads(info.access);
      arena_written |= kir::writes(info.access);
      by_binding.push_back(0);
    } else {
      by_binding.push_back(storage_buffer(module, info.type, next++, kir::reads(info.access), kir::writes(info.access),
                                          {.aliased = aliased, .coherent = coherent_bindings[i]}));
    }
  }
  if (interface.scalar_count() > 0)
    variables.arena = storage_buffer(module, Type::i32, buffers, arena_read, arena_written,
                                     {.aliased = aliased, .coherent = coherence.arena});
  if (interface.launch_words() > 0) {
    const Id block = module.block_type(module.type(Type::i32), 4, interface.launch_words());
    variables.launch = module.global_variable(spv::StorageClass::PushConstant, block);
  }
  for (const kir::Memory& memory : kernel.memories) {
    Id variable = 0;
    if (memory.space == kir::MemorySpace::buffer) variable = by_binding[memory.binding];
    if (memory.space == kir::MemorySpace::workgroup)
      variable = module.global_variable(spv::StorageClass::Workgroup,
                                        module.array_type(module.type(memory.element), memory.length));
    variables.memories.push_back(variable);
  }
}

void declare_local_arrays(Context& context) {
  ModuleBuilder& module = context.module;
  constexpr auto storage = spv::StorageClass::Function;
  for (size_t i = 0; i < context.kernel.memories.size(); ++i) {
    const kir::Memory& memory = context.kernel.memories[i];
    if (memory.space != kir::MemorySpace::local) continue;
    const Id array = module.array_type(module.type(memory.element), memory.length);
    context.variables.memories[i] =
        module.put(spv::Op::OpVariable, module.pointer_type(storage, array), {static_cast<uint32_t>(storage)});
  }
}

Id emit_builtin(Context& context, const kir::Instruction& instruction) {
  ModuleBuilder& module = context.module;
  const kir::Builtin builtin = instruction.builtin;
  const spv::BuiltIn code = kBuiltins[static_cast<size_t>(builtin)].code;
  const bool is_subgroup = builtin == kir::Builtin::subgroup_lane || builtin == kir::Builtin::subgroup_size;
  if (is_subgroup) module.require(spv::Capability::GroupNonUniform);

  if (!kir::has_dimension(builtin))
    return context.op(spv::Op::OpLoad, Type::i32, {module.input(code, module.type(Type::i32))});
  const Id vector = module.vector_type(Type::i32, 3);
  const Id loaded = module.put(spv::Op::OpLoad, vector, {module.input(code, vector)});
  return context.op(spv::Op::OpCompositeExtract, Type::i32, {loaded, instruction.index});
}

Id emit_parameter(Context& context, const kir::Instruction& instruction) {
  ModuleBuilder& module = context.module;
  const kir::Interface& interface = context.kernel.interface;
  const Type type = interface.parameters[instruction.index].type;
  const uint32_t first = interface.parameter_word(instruction.index);
  const Id low = load_launch_word(context, first);
  switch (type) {
    case Type::i8:
    case Type::i16: return context.op(spv::Op::OpUConvert, type, {low});
    case Type::f32: return context.op(spv::Op::OpBitcast, type, {low});
    case Type::boolean: return context.op(spv::Op::OpINotEqual, type, {low, module.constant_u32(0)});
    case Type::f16: {
      const Id pair = module.put(spv::Op::OpBitcast, module.vector_type(Type::f16, 2), {low});
      return context.op(spv::Op::OpCompositeExtract, type, {pair, 0});
    }
    case Type::i64:
    case Type::f64: return join(context, type, {.low = low, .high = load_launch_word(context, first + 1)});
    default: return low;
  }
}

}  // namespace wavegate::emit::spirv
