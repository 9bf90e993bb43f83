#include "wavegate/emit/wgsl/variables.h"

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/literal.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::MemorySpace;
using kir::Op;
using kir::Type;

/// Which memories atomics reach. Elements are signed where all least and greatest values asked for are.
std::vector<ElementKind> element_kinds(const kir::Kernel& kernel) {
  const size_t count = kernel.memories.size();
  std::vector<bool> is_atomic(count), has_signed(count), has_unsigned(count);
  kir::walk(kernel.body, [&](const kir::Instruction& instruction) {
    if (!kir::is_atomic(instruction.op)) return;
    const size_t memory = instruction.memory;
    is_atomic[memory] = true;
    if (instruction.op == Op::atomic_min_s || instruction.op == Op::atomic_max_s) has_signed[memory] = true;
    if (instruction.op == Op::atomic_min_u || instruction.op == Op::atomic_max_u) has_unsigned[memory] = true;
  });
  std::vector<ElementKind> kinds;
  for (size_t i = 0; i < count; ++i)
    kinds.push_back(!is_atomic[i]                       ? ElementKind::plain
                    : has_signed[i] && !has_unsigned[i] ? ElementKind::atomic_signed
                                                        : ElementKind::atomic_unsigned);
  return kinds;
}

std::string element_name(const kir::Memory& memory, ElementKind kind) {
  switch (kind) {
    case ElementKind::atomic_unsigned: return "atomic<u32>";
    case ElementKind::atomic_signed: return "atomic<i32>";
    default: return std::string(type_name(memory.element));
  }
}

std::string storage_variable(size_t binding, bool writable, std::string_view name, std::string_view element) {
  return format("@group(0) @binding({}) var<storage, {}> {}: array<{}>;\n", binding, writable ? "read_write" : "read",
                name, element);
}

std::string launch_word(uint32_t index) {
  return format("{}[{}].{}", kLaunch, index / 4, "xyzw"[index % 4]);
}

std::string parameter_value(Type type, uint32_t word) {
  switch (type) {
    case Type::f32: return format("bitcast<f32>({})", launch_word(word));
    case Type::f16: return format("f16(unpack2x16float({}).x)", launch_word(word));
    default: return launch_word(word);
  }
}

}  // namespace

Variables name_variables(const kir::Kernel& kernel, Names& names) {
  names.take("main");
  names.take(kArena);
  names.take(kLaunch);
  names.take(kUniformSlot);
  names.take(kZeroBits);
  for (int i = 0; i < kHelperCount; ++i) names.take(name_of(static_cast<Helper>(i)));
  for (int i = 0; i < kir::kBuiltinCount; ++i) names.take(name_of(static_cast<kir::Builtin>(i)).name);

  const kir::Interface& interface = kernel.interface;
  Variables variables;
  std::vector<std::string> bindings;
  for (const kir::BindingInfo& binding : interface.bindings) {
    const bool is_scalar = binding.kind == kir::BindingKind::scalar;
    bindings.push_back(is_scalar ? "" : names.claim(binding.name));
    variables.slots.push_back(is_scalar ? names.claim(binding.name + "_slot") : "");
  }
  for (const kir::ParameterInfo& parameter : interface.parameters)
    variables.parameters.push_back(names.claim(parameter.name));
  for (const kir::Memory& memory : kernel.memories)
    variables.memories.push_back(memory.space == MemorySpace::buffer ? bindings[memory.binding]
                                                                     : names.claim(memory.name));
  variables.element_kinds = element_kinds(kernel);
  return variables;
}

std::string module_variables(const kir::Kernel& kernel, const Variables& variables, const std::vector<bool>& writable) {
  const kir::Interface& interface = kernel.interface;
  std::vector<size_t> memory_of(interface.bindings.size());
  for (size_t i = 0; i < kernel.memories.size(); ++i)
    if (kernel.memories[i].space == MemorySpace::buffer) memory_of[kernel.memories[i].binding] = i;

  std::string text;
  const auto element = [&](size_t memory) {
    return element_name(kernel.memories[memory], variables.element_kinds[memory]);
  };
  size_t next = 0;
  for (size_t i = 0; i < interface.bindings.size(); ++i) {
    if (interface.bindings[i].kind == kir::BindingKind::scalar) continue;
    const size_t memory = memory_of[i];
    text += storage_variable(next, writable[next], variables.memories[memory], element(memory));
    ++next;
  }
  if (interface.scalar_count() > 0) text += storage_variable(next, writable[next], kArena, "u32");
  if (interface.launch_words() > 0)
    text += format("@group(1) @binding(0) var<uniform> {}: array<vec4<u32>, {}>;\n", kLaunch,
                   (interface.launch_words() + 3) / 4);
  for (size_t i = 0; i < kernel.memories.size(); ++i) {
    const kir::Memory& memory = kernel.memories[i];
    if (memory.space == MemorySpace::workgroup)
      text += format("var<workgroup> {}: array<{}, {}>;\n", variables.memories[i], element(i), memory.length);
  }
  return text;
}

std::string function_variables(const Context& context) {
  const kir::Interface& interface = context.kernel.interface;
  Writer writer(1);
  if (context.uses_zero_bits)
    writer.line(format("let {} = select(0u, 1u, {}.x == 0u);", kZeroBits, name_of(kir::Builtin::grid).name));
  uint32_t scalar = 0;
  for (size_t i = 0; i < interface.bindings.size(); ++i) {
    if (interface.bindings[i].kind != kir::BindingKind::scalar) continue;
    const uint32_t word = scalar++;
    if (context.slots_used[i]) writer.line(format("let {} = {};", context.variables.slots[i], launch_word(word)));
  }
  for (uint32_t i = 0; i < interface.parameters.size(); ++i)
    if (context.parameters_used[i])
      writer.line(format("let {} = {};", context.variables.parameters[i],
                         parameter_value(interface.parameters[i].type, interface.parameter_word(i))));
  for (size_t i = 0; i < context.kernel.memories.size(); ++i) {
    const kir::Memory& memory = context.kernel.memories[i];
    if (memory.space == MemorySpace::local)
      writer.line(
          format("var {}: array<{}, {}>;", context.variables.memories[i], type_name(memory.element), memory.length));
  }
  return writer.text();
}

void emit_builtin(Context& context, const kir::Instruction& instruction) {
  const kir::Builtin builtin = instruction.builtin;
  if (!kir::has_dimension(builtin)) return context.alias(instruction.result(), std::string(context.builtin(builtin)));
  // WGSL's uniformity rules do not know that there is one invocation only along this dimension.
  const bool flat = context.kernel.interface.workgroup_size[instruction.index] == 1;
  if (flat && builtin == kir::Builtin::local_id) return context.define_constant(instruction.result(), 0);
  const kir::Builtin read = flat && builtin == kir::Builtin::global_id ? kir::Builtin::workgroup_id : builtin;
  context.alias(instruction.result(), format("{}.{}", context.builtin(read), "xyz"[instruction.index]));
}

void emit_parameter(Context& context, const kir::Instruction& instruction) {
  context.parameters_used[instruction.index] = true;
  context.alias(instruction.result(), context.variables.parameters[instruction.index]);
}

}  // namespace wavegate::emit::wgsl
