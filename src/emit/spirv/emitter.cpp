#include "wavegate/emit/spirv/emitter.h"

#include <algorithm>
#include <optional>

#include "wavegate/base/format.h"
#include "wavegate/emit/spirv/context.h"
#include "wavegate/emit/spirv/control_flow.h"
#include "wavegate/emit/spirv/requirements.h"
#include "wavegate/emit/spirv/variables.h"
#include "wavegate/kir/passes/emulate_fma.h"

namespace wavegate::emit::spirv {
namespace {

// The universal limit on the id bound that every SPIR-V consumer accepts.
constexpr uint32_t kLargestIdBound = 0x3fffff;

bool is_fused(kir::Type type, const target::FloatBehaviour& floats) {
  if (type == kir::Type::f32) return floats.fused_fma_f32;
  return type == kir::Type::f64 && floats.fused_fma_f64;
}

bool has_unfused_fma(const kir::Kernel& kernel, const target::FloatBehaviour& floats) {
  bool found = false;
  kir::walk(kernel.body, [&](const kir::Instruction& instruction) {
    found |= instruction.op == kir::Op::fma && !is_fused(instruction.type, floats);
  });
  return found;
}

/// Asks the device to do with the floats of the kernel what kir says, as far as it offers that (Vulkan's float
/// controls, SPV_KHR_float_controls).
void require_float_modes(ModuleBuilder& module, const kir::Kernel& kernel, const target::Features& features) {
  const auto require = [&](kir::Type type, bool offered, spv::Capability capability, spv::ExecutionMode mode) {
    if (!offered || std::ranges::find(kernel.value_types, type) == kernel.value_types.end()) return;
    module.require_extension("SPV_KHR_float_controls");
    module.require(capability);
    module.require_mode(mode, kir::bit_width(type));
  };
  const auto require_all = [&](const target::FloatWidths& offered, spv::Capability capability,
                               spv::ExecutionMode mode) {
    require(kir::Type::f16, offered.f16, capability, mode);
    require(kir::Type::f32, offered.f32, capability, mode);
    require(kir::Type::f64, offered.f64, capability, mode);
  };
  require_all(features.preserves_denormals, spv::Capability::DenormPreserve, spv::ExecutionMode::DenormPreserve);
  require_all(features.preserves_special_values, spv::Capability::SignedZeroInfNanPreserve,
              spv::ExecutionMode::SignedZeroInfNanPreserve);
}

Result<Module> write(const kir::Kernel& kernel, const target::Profile& profile) {
  ModuleBuilder module;
  require_float_modes(module, kernel, profile.features);
  Context context{.kernel = kernel, .profile = profile, .module = module};
  context.values.resize(kernel.value_types.size(), 0);
  context.known.resize(kernel.value_types.size());
  declare_variables(context);
  const Id entry = emit_function(context);
  if (module.overflowed())
    return unsupported(wavegate::format(
        "kernel \"{}\": a switch_ or a loop has more branches than SPIR-V's 65535 words of one instruction can list; "
        "split it",
        kernel.interface.name));
  if (module.id_bound() > kLargestIdBound)
    return unsupported(
        wavegate::format("kernel \"{}\": {} SPIR-V ids exceed the {} that devices accept; split the kernel",
                         kernel.interface.name, module.id_bound(), kLargestIdBound));
  return Module{.words = module.assemble(entry, kernel.interface.workgroup_size)};
}

}  // namespace

Result<Module> emit(const kir::Kernel& kernel, const target::Profile& profile) {
  WAVEGATE_CHECK(check_requirements(kernel, profile));
  if (!has_unfused_fma(kernel, profile.floats)) return write(kernel, profile);
  kir::Kernel emulated = kernel;
  WAVEGATE_TRY(auto stats, kir::emulate_fma(emulated, {.fused_f32 = profile.floats.fused_fma_f32,
                                                       .fused_f64 = profile.floats.fused_fma_f64,
                                                       .has_f64 = profile.features.float64,
                                                       .has_i64 = profile.features.int64}));
  static_cast<void>(stats);
  return write(emulated, profile);
}

}  // namespace wavegate::emit::spirv
