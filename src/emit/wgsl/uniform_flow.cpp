#include "wavegate/emit/wgsl/uniform_flow.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/kir/uniformity.h"

namespace wavegate::emit::wgsl {
namespace {

using kir::Instruction;
using kir::Op;
using kir::Scope;

bool claims_workgroup(const Instruction& instruction) {
  return instruction.op == Op::assume_uniform && instruction.scope >= Scope::workgroup;
}

/// What WGSL's static rules prove, by kir's analysis of a kernel that looks as a WGSL compiler sees it.
kir::Uniformity analyse_as_wgsl(const kir::Kernel& kernel, const std::vector<bool>& writable) {
  kir::Kernel seen = kernel;
  auto& size = seen.interface.workgroup_size;
  if (size == std::array<uint32_t, 3>{1, 1, 1}) size[0] = 2;
  uint32_t next = 0;
  for (kir::BindingInfo& binding : seen.interface.bindings) {
    const bool is_writable = binding.kind == kir::BindingKind::scalar ? writable.back() : writable[next++];
    if (is_writable) binding.access = kir::Access::read_write;
  }
  kir::walk(seen.body, [](Instruction& instruction) {  // rules differ on whether the size is uniform
    if (instruction.op == Op::builtin && instruction.builtin == kir::Builtin::subgroup_size)
      instruction.builtin = kir::Builtin::subgroup_lane;
  });
  return kir::analyse_uniformity(seen);
}

/// Turns fences and barriers over a subgroup into barriers of the workgroup.
std::optional<std::string> replace_fences(kir::Kernel& kernel) {
  const kir::Uniformity proved = kir::analyse_uniformity(kernel);
  std::optional<std::string> complaint;
  size_t position = 0;
  kir::walk(kernel.body, [&](Instruction& instruction) {
    const bool together = proved.flow_scopes[position++] >= Scope::workgroup;
    const bool is_barrier = instruction.op == Op::barrier && instruction.scope == Scope::subgroup;
    const bool is_fence = instruction.op == Op::fence && instruction.scope != Scope::invocation;
    if (complaint || (!is_barrier && !is_fence)) return;
    if (together && instruction.scope <= Scope::workgroup) {
      instruction = {.op = Op::barrier, .scope = Scope::workgroup};
      return;
    }
    complaint =
        format("{} over a {} has no WGSL form{}", kir::info(instruction.op).name, kir::to_string(instruction.scope),
               instruction.scope == Scope::device ? "; end the dispatch there"
                                                  : " where the workgroup does not come to it together");
  });
  return complaint;
}

/// What may happen in a construct, besides its results.
struct Contents {
  bool barrier = false;  ///< something that needs uniform flow
  bool leaves = false;   ///< break_ or continue_ out of the construct
  bool returns = false;
};

class Claims {
 public:
  Claims(kir::Kernel& kernel, const std::vector<bool>& writable)
      : kernel_(kernel), proved_(kir::analyse_uniformity(kernel)), known_(analyse_as_wgsl(kernel, writable)) {
    contents_.resize(proved_.flow_scopes.size());
    size_t position = 0;
    whole_ = survey(kernel.body, position);
  }

  void run() {
    size_t position = 0;
    rewrite(kernel_.body, position, false);
  }

 private:
  Contents survey(const kir::Block& block, size_t& position) {
    Contents all;
    for (const Instruction& instruction : block.instructions) {
      const size_t place = position++;
      Contents here;
      here.barrier = needs_uniform_flow(instruction);
      here.leaves = instruction.op == Op::break_ || instruction.op == Op::continue_;
      here.returns = instruction.op == Op::return_;
      for (const kir::Block& inner : instruction.blocks) {
        const Contents inside = survey(inner, position);
        here.barrier |= inside.barrier;
        here.leaves |= inside.leaves && instruction.op != Op::loop;
        here.returns |= inside.returns;
      }
      contents_[place] = here;
      all.barrier |= here.barrier;
      all.leaves |= here.leaves;
      all.returns |= here.returns;
    }
    return all;
  }

  /// Whether who comes to a barrier depends on the condition of this construct.
  bool matters(const Contents& contents, bool loop_has_barrier) const {
    return contents.barrier || (contents.leaves && loop_has_barrier) || (contents.returns && whole_.barrier);
  }

  void rewrite(kir::Block& block, size_t& position, bool loop_has_barrier) {
    std::vector<Instruction> instructions;
    instructions.reserve(block.instructions.size());
    for (Instruction& instruction : block.instructions) {
      const size_t place = position++;
      const bool is_branch = instruction.op == Op::if_ || instruction.op == Op::switch_;
      if (is_branch && matters(contents_[place], loop_has_barrier)) claim(instruction, place, instructions);
      if (claims_workgroup(instruction) && known_.of(instruction.operands[0]) >= Scope::workgroup)
        instruction.scope = Scope::subgroup;
      const bool inner_has_barrier = instruction.op == Op::loop ? contents_[place].barrier : loop_has_barrier;
      for (kir::Block& inner : instruction.blocks) rewrite(inner, position, inner_has_barrier);
      instructions.push_back(std::move(instruction));
    }
    block.instructions = std::move(instructions);
  }

  void claim(Instruction& construct, size_t place, std::vector<Instruction>& before) {
    kir::Value& condition = construct.operands[0];
    if (known_.of(condition) >= Scope::workgroup || proved_.of(condition) < Scope::workgroup ||
        proved_.flow_scopes[place] < Scope::workgroup)
      return;
    const kir::Type type = kernel_.type_of(condition);
    const kir::Value claimed = kernel_.new_value(type);
    before.push_back({.op = Op::assume_uniform,
                      .type = type,
                      .scope = Scope::workgroup,
                      .results = {claimed},
                      .operands = {condition}});
    condition = claimed;
  }

  kir::Kernel& kernel_;
  kir::Uniformity proved_;          ///< by kir's rules
  kir::Uniformity known_;           ///< by WGSL's
  std::vector<Contents> contents_;  ///< by position in walk()
  Contents whole_;
};

/// A kernel without barriers makes no claims, whatever it says.
void drop_claims_without_barriers(kir::Kernel& kernel) {
  bool has_barrier = false;
  kir::walk(kernel.body, [&](const Instruction& instruction) { has_barrier |= instruction.op == Op::barrier; });
  if (has_barrier) return;
  kir::walk(kernel.body, [](Instruction& instruction) {
    if (claims_workgroup(instruction)) instruction.scope = Scope::subgroup;
  });
}

}  // namespace

std::vector<bool> writable_bindings(const kir::Interface& interface, const std::vector<bool>& also_writable) {
  std::vector<bool> writable;
  bool arena = false;
  for (const kir::BindingInfo& binding : interface.bindings) {
    if (binding.kind == kir::BindingKind::scalar)
      arena |= kir::writes(binding.access);
    else
      writable.push_back(kir::writes(binding.access));
  }
  if (interface.scalar_count() > 0) writable.push_back(arena);
  for (size_t i = 0; i < writable.size() && i < also_writable.size(); ++i)
    if (also_writable[i]) writable[i] = true;
  return writable;
}

bool needs_uniform_flow(const Instruction& instruction) {
  return instruction.op == Op::barrier || claims_workgroup(instruction);
}

Result<void> make_flow_uniform(kir::Kernel& kernel, const std::vector<bool>& writable) {
  const auto refuse = [&](std::string_view what) { return format("kernel \"{}\": {}", kernel.interface.name, what); };
  if (auto complaint = replace_fences(kernel)) return unsupported(refuse(*complaint));
  drop_claims_without_barriers(kernel);
  Claims(kernel, writable).run();

  const kir::Uniformity known = analyse_as_wgsl(kernel, writable);
  bool uniform = true;
  size_t position = 0;
  kir::walk(kernel.body, [&](const Instruction& instruction) {
    const bool together = known.flow_scopes[position++] >= Scope::workgroup;
    uniform &= together || !needs_uniform_flow(instruction);
  });
  if (!uniform) return internal_error(refuse("a barrier stands in control flow that WGSL cannot know to be uniform"));
  return {};
}

}  // namespace wavegate::emit::wgsl
