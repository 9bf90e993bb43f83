#include "wavegate/emit/wgsl/requirements.h"

#include <algorithm>
#include <optional>
#include <string>

#include "wavegate/base/format.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::Op;
using kir::Type;

// What every WGSL compiler takes (section "Limits" of the specification). Of 127 statements inside each other, of which
// a construct is one and its block another, some are left for what an operation is written as.
constexpr uint32_t kMaximumNesting = 120;
constexpr uint32_t kMaximumCases = 1023;       // of a switch, the default included
constexpr uint64_t kMaximumLocalBytes = 8192;  // of the variables of a function

bool is_subgroup(Op op) {
  return op >= Op::subgroup_any && op <= Op::subgroup_exclusive_add;
}

class Checker {
 public:
  Checker(const kir::Kernel& kernel, const target::Profile& profile) : kernel_(kernel), profile_(profile) {}

  Result<void> check() {
    WAVEGATE_CHECK(check_workgroup());
    WAVEGATE_CHECK(check_bindings());
    WAVEGATE_CHECK(check_memories());
    return check_block(kernel_.body, 1);
  }

  /// WGSL counts variables in multiples of 16 bytes.
  Result<void> check_workgroup_bytes(uint64_t slot_bytes) const {
    uint64_t bytes = slot_bytes;
    for (const kir::Memory& memory : kernel_.memories)
      if (memory.space == kir::MemorySpace::workgroup) bytes += (bytes_of(memory) + 15) / 16 * 16;
    if (bytes <= profile_.limits.workgroup_memory) return {};
    return refuse(wavegate::format("{} bytes of workgroup memory{} exceed the device's {}; use smaller arrays", bytes,
                                   slot_bytes != 0 ? " (16 of them for a workgroupUniformLoad)" : "",
                                   profile_.limits.workgroup_memory));
  }

 private:
  Error refuse(std::string_view what) const {
    return unsupported(wavegate::format("kernel \"{}\": {}", kernel_.interface.name, what));
  }

  Result<void> need(bool offered, std::string_view who, std::string_view what) const {
    if (offered) return {};
    return refuse(wavegate::format("{} needs {}, which \"{}\" does not offer", who, what, profile_.name));
  }

  Result<void> need_type(Type type, std::string_view who) const {
    if (type == Type::f16) return need(profile_.features.float16, who, "f16");
    const bool is_missing = type == Type::i8 || type == Type::i16 || type == Type::f64;
    if (!is_missing) return {};
    return refuse(wavegate::format("{} needs {}, which WGSL does not have; use {}", who, kir::to_string(type),
                                   type == Type::f64 ? "f32" : "i32"));
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
      return refuse(wavegate::format("{} storage buffers{} exceed the device's {}; bind fewer", buffers,
                                     arenas ? " (the scalar arena is one)" : "", profile_.limits.storage_buffers));
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
    uint64_t local_bytes = 0;
    for (const kir::Memory& memory : kernel_.memories) {
      WAVEGATE_CHECK(need_type(memory.element, wavegate::format("memory \"{}\"", memory.name)));
      if (memory.space == kir::MemorySpace::local) local_bytes += bytes_of(memory);
    }
    WAVEGATE_CHECK(check_workgroup_bytes(0));
    if (local_bytes > kMaximumLocalBytes)
      return refuse(wavegate::format("{} bytes of local arrays exceed WGSL's {}; use smaller arrays", local_bytes,
                                     kMaximumLocalBytes));
    return {};
  }

  static uint64_t bytes_of(const kir::Memory& memory) {
    return (memory.element == Type::boolean ? 4 : kir::byte_size(memory.element)) * uint64_t{memory.length};
  }

  Result<void> check_block(const kir::Block& block, uint32_t depth) const {
    if (depth > kMaximumNesting)
      return refuse(wavegate::format("blocks are nested deeper than the {} that WGSL compilers take; nest them less",
                                     kMaximumNesting / 2));
    for (const kir::Instruction& instruction : block.instructions) {
      WAVEGATE_CHECK(check_instruction(instruction));
      for (const kir::Block& inner : instruction.blocks)
        WAVEGATE_CHECK(check_block(inner, depth + (instruction.op == Op::switch_ ? 3 : 2)));
    }
    return {};
  }

  Result<void> check_instruction(const kir::Instruction& instruction) const {
    const std::string_view name = kir::info(instruction.op).name;
    for (const kir::Value result : instruction.results) WAVEGATE_CHECK(need_type(kernel_.type_of(result), name));
    const bool has_subgroups = profile_.features.subgroup_operations;
    if (is_subgroup(instruction.op)) WAVEGATE_CHECK(need(has_subgroups, name, "subgroup operations"));
    if (instruction.op == Op::builtin && instruction.builtin >= kir::Builtin::subgroup_lane)
      WAVEGATE_CHECK(need(has_subgroups, kir::to_string(instruction.builtin), "subgroup operations"));
    const bool is_access = instruction.op == Op::load || instruction.op == Op::store || kir::is_atomic(instruction.op);
    if (is_access && instruction.memory == kir::kPointer)
      return refuse(wavegate::format("{} through a device pointer has no WGSL form; bind a buffer", name));
    if (kir::is_atomic(instruction.op)) WAVEGATE_CHECK(check_atomic(instruction, name));
    if (instruction.op == Op::switch_ && instruction.blocks.size() > kMaximumCases)
      return refuse(wavegate::format("a switch of {} cases exceeds WGSL's {}; split it", instruction.blocks.size(),
                                     kMaximumCases));
    return {};
  }

  Result<void> check_atomic(const kir::Instruction& instruction, std::string_view name) const {
    if (instruction.type != Type::i32)
      return refuse(wavegate::format("{} of {} has no WGSL form; use i32", name, kir::to_string(instruction.type)));
    if (instruction.order == kir::Order::relaxed || instruction.scope == kir::Scope::invocation) return {};
    return refuse(
        wavegate::format("{} with order {} has no WGSL form: its atomics are relaxed; end the dispatch, or "
                         "the phase by a barrier",
                         name, kir::to_string(instruction.order)));
  }

  const kir::Kernel& kernel_;
  const target::Profile& profile_;
};

}  // namespace

Result<void> check_requirements(const kir::Kernel& kernel, const target::Profile& profile) {
  return Checker(kernel, profile).check();
}

Result<void> check_workgroup_memory(const kir::Kernel& kernel, const target::Profile& profile) {
  bool has_load = false;
  kir::walk(kernel.body, [&](const kir::Instruction& instruction) {
    has_load |= instruction.op == Op::assume_uniform && instruction.scope >= kir::Scope::workgroup;
  });
  return Checker(kernel, profile).check_workgroup_bytes(has_load ? 16 : 0);
}

}  // namespace wavegate::emit::wgsl
