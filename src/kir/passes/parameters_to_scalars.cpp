#include "wavegate/kir/passes/parameters_to_scalars.h"

#include "wavegate/base/format.h"

namespace wavegate::kir {

Result<PassStats> parameters_to_scalars(Kernel& kernel, const std::vector<bool>& chosen) {
  std::vector<ParameterInfo> kept;
  std::vector<uint32_t> new_index(kernel.interface.parameters.size());
  for (size_t i = 0; i < kernel.interface.parameters.size(); ++i) {
    const ParameterInfo& parameter = kernel.interface.parameters[i];
    if (i >= chosen.size() || !chosen[i]) {
      new_index[i] = static_cast<uint32_t>(kept.size());
      kept.push_back(parameter);
      continue;
    }
    if (parameter.type != Type::i32 && parameter.type != Type::f32)
      return invalid_input(format("kernel \"{}\": parameter \"{}\" is {} and cannot be read from a scalar",
                                  kernel.interface.name, parameter.name, to_string(parameter.type)));
    new_index[i] = static_cast<uint32_t>(kernel.interface.bindings.size());
    kernel.interface.bindings.push_back({parameter.name, BindingKind::scalar, parameter.type, Access::read});
  }

  PassStats stats;
  walk(kernel.body, [&](Instruction& instruction) {
    if (instruction.op != Op::parameter) return;
    if (instruction.index < chosen.size() && chosen[instruction.index]) {
      instruction.op = Op::load_scalar;
      ++stats.changed;
    }
    instruction.index = new_index[instruction.index];
  });
  kernel.interface.parameters = std::move(kept);
  return stats;
}

}  // namespace wavegate::kir
