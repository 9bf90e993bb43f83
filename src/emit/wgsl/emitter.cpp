#include "wavegate/emit/wgsl/emitter.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/context.h"
#include "wavegate/emit/wgsl/control_flow.h"
#include "wavegate/emit/wgsl/requirements.h"
#include "wavegate/emit/wgsl/uniform_flow.h"
#include "wavegate/emit/wgsl/variables.h"
#include "wavegate/kir/passes/emulate_fma.h"
#include "wavegate/kir/passes/simplify.h"
#include "wavegate/kir/passes/split_i64.h"

namespace wavegate::emit::wgsl {
namespace {

bool uses_f16(const kir::Kernel& kernel) {
  return std::ranges::find(kernel.value_types, kir::Type::f16) != kernel.value_types.end() ||
         std::ranges::any_of(kernel.memories, [](const auto& m) { return m.element == kir::Type::f16; }) ||
         std::ranges::any_of(kernel.interface.parameters, [](const auto& p) { return p.type == kir::Type::f16; });
}

bool uses_subgroups(const kir::Kernel& kernel) {
  bool found = false;
  kir::walk(kernel.body, [&](const kir::Instruction& i) {
    found |= i.op >= kir::Op::subgroup_any && i.op <= kir::Op::subgroup_exclusive_add;
    found |= i.op == kir::Op::builtin && i.builtin >= kir::Builtin::subgroup_lane;
  });
  return found;
}

std::string directives(const kir::Kernel& kernel) {
  std::string text;
  if (uses_f16(kernel)) text += "enable f16;\n";
  // kir has proved more of the flow around them than WGSL's rules can.
  if (uses_subgroups(kernel)) text += "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";
  return text.empty() ? text : text + "\n";
}

std::string entry_head(const Context& context) {
  std::string parameters;
  for (int i = 0; i < kir::kBuiltinCount; ++i) {
    if (!context.builtins[static_cast<size_t>(i)]) continue;
    const auto builtin = static_cast<kir::Builtin>(i);
    const BuiltinName& name = name_of(builtin);
    if (!parameters.empty()) parameters += ", ";
    parameters += wavegate::format("@builtin({}) {}: {}", name.attribute, name.name,
                                   kir::has_dimension(builtin) ? "vec3<u32>" : "u32");
  }
  const auto& size = context.kernel.interface.workgroup_size;
  return wavegate::format("\n@compute @workgroup_size({}, {}, {})\nfn main({}) {{\n", size[0], size[1], size[2],
                          parameters);
}

Module write(const kir::Kernel& kernel, const target::Profile& profile, std::vector<bool> writable) {
  Names names;
  Context context{.kernel = kernel, .profile = profile, .barriers = barriers_of(kernel)};
  context.variables = name_variables(kernel, names);
  context.values.resize(kernel.value_types.size());
  context.known.resize(kernel.value_types.size());
  context.parameters_used.resize(kernel.interface.parameters.size());
  context.slots_used.resize(kernel.interface.bindings.size());
  emit_body(context);

  std::string text = wavegate::format("// {}\n", kernel.interface.name) + directives(kernel) +
                     module_variables(kernel, context.variables, writable);
  for (int i = 0; i < kHelperCount; ++i)
    if (context.helpers.has(static_cast<Helper>(i))) text += text_of(static_cast<Helper>(i));
  text += entry_head(context) + function_variables(context) + context.body.text() + "}\n";
  return {.text = std::move(text), .writable = std::move(writable)};
}

/// Replaces what WGSL has not.
Result<void> legalise(kir::Kernel& kernel, const target::Profile& profile) {
  WAVEGATE_TRY(const auto fused, kir::emulate_fma(kernel, {.fused_f32 = profile.floats.fused_fma_f32}));
  static_cast<void>(fused);
  WAVEGATE_TRY(const auto split, kir::split_i64(kernel));
  if (!split.any()) return {};
  WAVEGATE_TRY(const auto simple, kir::simplify(kernel));
  static_cast<void>(simple);
  return check_requirements(kernel, profile);  // divisions nest blocks
}

}  // namespace

Result<Module> emit(const kir::Kernel& kernel, const target::Profile& profile, const Options& options) {
  WAVEGATE_CHECK(check_requirements(kernel, profile));
  kir::Kernel legal = kernel;
  WAVEGATE_CHECK(legalise(legal, profile));
  std::vector<bool> writable = writable_bindings(legal.interface, options.writable);
  WAVEGATE_CHECK(make_flow_uniform(legal, writable));
  WAVEGATE_CHECK(check_workgroup_memory(legal, profile));
  return write(legal, profile, std::move(writable));
}

}  // namespace wavegate::emit::wgsl
