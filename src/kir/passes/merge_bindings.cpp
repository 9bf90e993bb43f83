#include "wavegate/kir/passes/merge_bindings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/uniformity.h"

namespace wavegate::kir {
namespace {

/// The new index of each old one, after those that are the same as another are gone; or an error.
/// `difference(i, j)` says what keeps i and j apart, or is empty.
template <typename Difference>
Result<std::vector<uint32_t>> renumbered(std::string_view kernel, std::string_view what, size_t count,
                                         std::span<const uint32_t> same_as, Difference&& difference) {
  if (same_as.size() != count)
    return invalid_input(format("kernel \"{}\" has {} {}s to merge, not {}", kernel, count, what, same_as.size()));
  std::vector<uint32_t> indices;
  uint32_t next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t target = same_as[i];
    if (target > i || same_as[target] != target)
      return invalid_input(format("kernel \"{}\": {} {} cannot be the same as {}, which does not stay before it",
                                  kernel, what, i, target));
    if (const auto apart = difference(i, target); !apart.empty())
      return invalid_input(format("kernel \"{}\": {} {} cannot be the same as {}: {}", kernel, what, i, target, apart));
    indices.push_back(target == i ? next++ : indices[target]);
  }
  return indices;
}

Access joined(Access a, Access b) {
  return a == b ? a : Access::read_write;
}

class BindingMerger {
 public:
  BindingMerger(Kernel& kernel, std::vector<uint32_t> indices) : kernel_(kernel), indices_(std::move(indices)) {}

  PassStats run() {
    const Uniformity uniformity = analyse_uniformity(kernel_);
    merge_interface();
    merge_memories();
    size_t position = 0;
    rewrite(kernel_.body, uniformity, position);
    for (Memory& memory : kernel_.memories)
      if (memory.space == MemorySpace::buffer) memory.binding = indices_[memory.binding];
    return stats_;
  }

 private:
  void merge_interface() {
    std::vector<BindingInfo>& bindings = kernel_.interface.bindings;
    std::vector<BindingInfo> merged;
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (indices_[i] == merged.size()) {
        merged.push_back(bindings[i]);
      } else {
        Access& access = merged[indices_[i]].access;
        access = joined(access, bindings[i].access);
      }
    }
    for (size_t i = 0; i < bindings.size(); ++i)
      newly_written_.push_back(!writes(bindings[i].access) && writes(merged[indices_[i]].access));
    stats_.removed = static_cast<uint32_t>(bindings.size() - merged.size());
    bindings = std::move(merged);
  }

  void merge_memories() {
    constexpr uint32_t kNone = kPointer;
    std::vector<uint32_t> of_binding(kernel_.interface.bindings.size(), kNone);
    std::vector<Memory> kept;
    for (const Memory& memory : kernel_.memories) {
      binding_.push_back(memory.space == MemorySpace::buffer ? std::optional(memory.binding) : std::nullopt);
      uint32_t id = kNone;
      if (memory.space == MemorySpace::buffer) id = of_binding[indices_[memory.binding]];
      if (id == kNone) {
        id = static_cast<uint32_t>(kept.size());
        kept.push_back(memory);
        if (memory.space == MemorySpace::buffer) {
          of_binding[indices_[memory.binding]] = id;
          kept.back().name = kernel_.interface.bindings[indices_[memory.binding]].name;
        }
      }
      memory_.push_back(id);
    }
    kernel_.memories = std::move(kept);
  }

  /// The binding that an instruction reads or writes, by its old index.
  std::optional<uint32_t> binding_of(const Instruction& instruction) const {
    if (instruction.op == Op::load_scalar || instruction.op == Op::store_scalar) return instruction.index;
    if (!accesses_memory(instruction.op) || instruction.memory == kPointer) return std::nullopt;
    return binding_[instruction.memory];
  }

  void rewrite(Block& block, const Uniformity& uniformity, size_t& position) {
    std::vector<Instruction> rewritten;
    rewritten.reserve(block.instructions.size());
    for (Instruction& instruction : block.instructions) {
      const Scope flow = uniformity.flow_scopes[position++];
      for (Block& inner : instruction.blocks) rewrite(inner, uniformity, position);
      const std::optional<uint32_t> binding = binding_of(instruction);
      const bool is_load = instruction.op == Op::load || instruction.op == Op::load_scalar;
      std::vector<Instruction> claims;
      if (binding && is_load && newly_written_[*binding]) claims = claim(instruction, uniformity, flow);
      if (instruction.op == Op::load_scalar || instruction.op == Op::store_scalar) {
        instruction.index = indices_[instruction.index];
      } else if (accesses_memory(instruction.op) && instruction.memory != kPointer) {
        instruction.memory = memory_[instruction.memory];
      }
      rewritten.push_back(std::move(instruction));
      for (Instruction& one : claims) rewritten.push_back(std::move(one));
    }
    block.instructions = std::move(rewritten);
  }

  /// What follows a load to say that its results are as uniform as they were.
  std::vector<Instruction> claim(Instruction& load, const Uniformity& uniformity, Scope flow) {
    std::vector<Instruction> claims;
    const bool is_alone = kernel_.interface.workgroup_size == std::array<uint32_t, 3>{1, 1, 1};
    for (Value& result : load.results) {
      const Scope scope = std::min({uniformity.of(result), flow, Scope::workgroup});
      if (scope == Scope::invocation || is_alone) continue;
      const Value loaded = kernel_.new_value(load.type);
      claims.push_back(
          {.op = Op::assume_uniform, .type = load.type, .scope = scope, .results = {result}, .operands = {loaded}});
      result = loaded;
    }
    if (!claims.empty()) ++stats_.changed;
    return claims;
  }

  Kernel& kernel_;
  std::vector<uint32_t> indices_;                 ///< new index of a binding by old
  std::vector<bool> newly_written_;               ///< by old binding: only read before, written now
  std::vector<uint32_t> memory_;                  ///< new id of a memory by old
  std::vector<std::optional<uint32_t>> binding_;  ///< old binding of a memory by its old id
  PassStats stats_;
};

}  // namespace

Result<PassStats> merge_bindings(Kernel& kernel, std::span<const uint32_t> same_as) {
  const std::vector<BindingInfo>& bindings = kernel.interface.bindings;
  WAVEGATE_TRY(std::vector<uint32_t> indices,
               renumbered(kernel.interface.name, "binding", bindings.size(), same_as, [&](uint32_t i, uint32_t j) {
                 const BindingInfo& a = bindings[i];
                 const BindingInfo& b = bindings[j];
                 if (a.kind != b.kind) return format("\"{}\" and \"{}\" are a buffer and a scalar", a.name, b.name);
                 if (a.type == b.type) return std::string();
                 return format("\"{}\" is {} and \"{}\" is {}", a.name, to_string(a.type), b.name, to_string(b.type));
               }));
  return BindingMerger(kernel, std::move(indices)).run();
}

Result<PassStats> merge_parameters(Kernel& kernel, std::span<const uint32_t> same_as) {
  std::vector<ParameterInfo>& parameters = kernel.interface.parameters;
  WAVEGATE_TRY(const std::vector<uint32_t> indices,
               renumbered(kernel.interface.name, "parameter", parameters.size(), same_as, [&](uint32_t i, uint32_t j) {
                 const ParameterInfo& a = parameters[i];
                 const ParameterInfo& b = parameters[j];
                 if (a.type == b.type) return std::string();
                 return format("\"{}\" is {} and \"{}\" is {}", a.name, to_string(a.type), b.name, to_string(b.type));
               }));
  std::vector<ParameterInfo> kept;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (indices[i] == kept.size()) kept.push_back(parameters[i]);
  PassStats stats;
  stats.removed = static_cast<uint32_t>(parameters.size() - kept.size());
  parameters = std::move(kept);
  walk(kernel.body, [&](Instruction& instruction) {
    if (instruction.op == Op::parameter) instruction.index = indices[instruction.index];
  });
  return stats;
}

}  // namespace wavegate::kir
