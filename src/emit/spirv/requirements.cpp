#include "wavegate/emit/spirv/requirements.h"

#include <optional>
#include <string>

#include "wavegate/base/format.h"
#include "wavegate/emit/spirv/memory.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Op;
using kir::Type;
using target::Features;

/// The feature that a type needs, or null for what every device has.
bool Features::*feature_of(Type type) {
  switch (type) {
    case Type::i8: return &Features::int8;
    case Type::i16: return &Features::int16;
    case Type::i64: return &Features::int64;
    case Type::f16: return &Features::float16;
    case Type::f64: return &Features::float64;
    default: return nullptr;
  }
}

bool is_subgroup(Op op) {
  return op >= Op::subgroup_any && op <= Op::subgroup_exclusive_add;
}
bool is_approximate(Op op) {
  return op >= Op::exp2 && op <= Op::cos;
}

class Checker {
 public:
  Checker(const kir::Kernel& kernel, const target::Profile& profile) : kernel_(kernel), profile_(profile) {}

  Result<void> check() {
    WAVEGATE_CHECK(check_workgroup());
    WAVEGATE_CHECK(check_bindings());
    WAVEGATE_CHECK(check_memories());
    std::optional<Error> first;
    kir::walk(kernel_.body, [&](const kir::Instruction& instruction) {
      if (first) return;
      if (auto result = check_instruction(instruction); !result.ok()) first = std::move(result).error();
    });
    if (first) return std::move(*first);
    return {};
  }

 private:
  Error refuse(std::string what) const {
    return unsupported(wavegate::format("kernel \"{}\": {}", kernel_.interface.name, what));
  }

  Result<void> need(bool offered, const std::string& who, std::string_view what) const {
    if (offered) return {};
    return refuse(wavegate::format("{} needs {}, which \"{}\" does not offer", who, what, profile_.name));
  }

  Result<void> need_type(Type type, const std::string& who) const {
    const auto feature = feature_of(type);
    return need(!feature || profile_.features.*feature, who, kir::to_string(type));
  }

  Result<void> check_workgroup() const {
    constexpr char axes[] = {'x', 'y', 'z'};
    const auto& size = kernel_.interface.workgroup_size;
    const target::Limits& limits = profile_.limits;
    for (size_t i = 0; i < size.size(); ++i)
      if (size[i] > limits.workgroup_size[i])
        return refuse(
            wavegate::format("workgroup of {}x{}x{} invocations exceeds the device's {} in {}; make it smaller",
                             size[0], size[1], size[2], limits.workgroup_size[i], axes[i]));
    const uint64_t invocations = uint64_t{size[0]} * size[1] * size[2];
    if (invocations > limits.workgroup_invocations)
      return refuse(wavegate::format("workgroup of {} invocations exceeds the device's {}; make it smaller",
                                     invocations, limits.workgroup_invocations));
    return {};
  }

  Result<void> check_bindings() const {
    const kir::Interface& interface = kernel_.interface;
    const uint32_t arenas = interface.scalar_count() > 0 ? 1 : 0;
    const uint32_t buffers = interface.buffer_count() + arenas;
    if (buffers > profile_.limits.storage_buffers)
      return refuse(
          wavegate::format("{} storage buffers{} exceed the device's {}; bind fewer, or reach some by device pointers",
                           buffers, arenas ? " (the scalar arena is one)" : "", profile_.limits.storage_buffers));
    if (interface.launch_words() > profile_.limits.immediate_words)
      return refuse(wavegate::format("{} launch words exceed the device's {}; pass some parameters in a buffer",
                                     interface.launch_words(), profile_.limits.immediate_words));
    for (const kir::BindingInfo& binding : interface.bindings)
      WAVEGATE_CHECK(need_type(binding.type, wavegate::format("binding \"{}\"", binding.name)));
    for (const kir::ParameterInfo& parameter : interface.parameters)
      WAVEGATE_CHECK(need_type(parameter.type, wavegate::format("parameter \"{}\"", parameter.name)));
    return {};
  }

  Result<void> check_memories() const {
    for (const kir::Memory& memory : kernel_.memories)
      WAVEGATE_CHECK(need_type(memory.element, wavegate::format("memory \"{}\"", memory.name)));
    const uint64_t bytes = kir::workgroup_bytes(kernel_);
    if (bytes > profile_.limits.workgroup_memory)
      return refuse(wavegate::format("{} bytes of workgroup memory exceed the device's {}; use smaller arrays", bytes,
                                     profile_.limits.workgroup_memory));
    return {};
  }

  Result<void> check_instruction(const kir::Instruction& instruction) const {
    const std::string name(kir::info(instruction.op).name);
    const Features& features = profile_.features;
    for (kir::Value result : instruction.results) WAVEGATE_CHECK(need_type(kernel_.type_of(result), name));
    if (is_subgroup(instruction.op) || (instruction.op == Op::barrier && instruction.scope == kir::Scope::subgroup))
      WAVEGATE_CHECK(need(features.subgroup_operations, name, "subgroup operations"));
    if (instruction.op == Op::builtin && instruction.builtin >= kir::Builtin::subgroup_lane)
      WAVEGATE_CHECK(
          need(features.subgroup_operations, std::string(kir::to_string(instruction.builtin)), "subgroup operations"));
    if (is_pointer_access(instruction)) WAVEGATE_CHECK(need(features.device_pointers, name, "device pointers"));
    if (kir::is_atomic(instruction.op)) WAVEGATE_CHECK(check_atomic(instruction, name));
    if (is_approximate(instruction.op) && instruction.type == Type::f64)
      return refuse(
          wavegate::format("{} of f64 has no Vulkan form; convert to f32 where its precision is enough", name));
    return {};
  }

  Result<void> check_atomic(const kir::Instruction& instruction, const std::string& name) const {
    if (kir::bit_width(instruction.type) < 32)
      return refuse(wavegate::format("{} of {} has no Vulkan form; use i32", name, kir::to_string(instruction.type)));
    if (instruction.memory != kir::kPointer && kernel_.memories[instruction.memory].space == kir::MemorySpace::local)
      return refuse(wavegate::format("{} on local memory \"{}\" has no Vulkan form; use a load and a store", name,
                                     kernel_.memories[instruction.memory].name));
    return need(instruction.type != Type::i64 || profile_.features.int64_atomics, name, "64-bit atomics");
  }

  const kir::Kernel& kernel_;
  const target::Profile& profile_;
};

}  // namespace

Result<void> check_requirements(const kir::Kernel& kernel, const target::Profile& profile) {
  return Checker(kernel, profile).check();
}

}  // namespace wavegate::emit::spirv
