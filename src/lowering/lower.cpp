#include "wavegate/lowering/lower.h"

#include "wavegate/base/format.h"
#include "wavegate/lowering/assemble.h"
#include "wavegate/lowering/choose.h"
#include "wavegate/lowering/flow.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/regions.h"
#include "wavegate/lowering/resident.h"
#include "wavegate/lowering/values.h"
#include "wavegate/program/expand.h"
#include "wavegate/program/verify.h"

namespace wavegate::lowering {
namespace {

using program::Body;
using program::Node;
using program::Program;

/// One line a region, outer before inner.
void report(const Body& body, const Decisions& decisions, uint32_t depth, std::vector<RegionReport>& reports) {
  for (const Node& node : body) {
    const Region region = region_of(node);
    if (region.address == nullptr) continue;
    const Decision& decided = decisions.at(region.address);
    reports.push_back({depth, format("{} \"{}\"", region.kind, *region.label), decided.strategy, decided.reason,
                       decided.microseconds, decided.dead_microseconds});
    for (const Body* inner : bodies_of(node)) report(*inner, decisions, depth + 1, reports);
  }
}

/// Specialises every kernel, and notes which scalars an opaque one binds: a descriptor must be aligned.
Result<void> add_kernels(const Body& body, KernelTable& kernels, std::vector<bool>& bound_by_opaque) {
  for (const Node& node : body) {
    for (const Body* inner : bodies_of(node)) WAVEGATE_CHECK(add_kernels(*inner, kernels, bound_by_opaque));
    if (const auto* dispatch = std::get_if<program::Dispatch>(&node.what)) {
      std::vector<bool> from_scalar;
      for (const auto& argument : dispatch->parameters)
        from_scalar.push_back(std::holds_alternative<program::Scalar>(argument));
      WAVEGATE_TRY(const graph::KernelId id, kernels.add(dispatch->kernel, from_scalar));
      if (!std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernels[id])) continue;
      for (const program::Operand& operand : dispatch->bindings)
        if (const auto* scalar = std::get_if<program::Scalar>(&operand)) bound_by_opaque[scalar->id] = true;
    }
  }
  return {};
}

Plan make_plan(const Program& program, const Values& values, const Flow& flow, const Decisions& decisions) {
  Plan plan;
  plan.arena = values.arena;
  for (uint32_t id = 0; id < program.buffers().size(); ++id) plan.buffers.push_back({graph::BufferId{id}, 0});
  const auto place = [&](program::Scalar scalar) { return uint64_t{values.word(scalar)} * 4; };
  for (uint32_t id = 0; id < program.scalars().size(); ++id)
    plan.scalars.push_back({values.arena, place(program::Scalar{id})});
  for (const LoopWords& loop : flow.loops) plan.loops.push_back({loop.label, place(loop.trips), place(loop.converged)});
  plan.fault = place(flow.fault);
  plan.computed_grids = flow.computed_grids;
  plan.notes.assign(flow.notes.begin(), flow.notes.end());
  report(program.body(), decisions, 0, plan.regions);
  return plan;
}

}  // namespace

Result<Plan> lower(const Program& program, const target::Profile& profile, const Options& options) {
  WAVEGATE_TRY(const Program expanded, program::expand(program, profile));
  WAVEGATE_CHECK(program::verify(expanded));
  KernelTable kernels(profile);
  std::vector<bool> bound_by_opaque(expanded.scalars().size());
  WAVEGATE_CHECK(add_kernels(expanded.body(), kernels, bound_by_opaque));
  Values values(expanded, bound_by_opaque, profile.limits.binding_alignment);

  WAVEGATE_TRY(const Decisions decisions, choose(expanded, profile, options, [&](const program::While& loop) {
                 return resident_fit(loop, values, kernels, profile);
               }));
  WAVEGATE_TRY(const Flow flow, make_flow(expanded, decisions, profile, options.mutation, values, kernels));
  Plan plan = make_plan(expanded, values, flow, decisions);
  WAVEGATE_TRY(plan.graph, assemble(flow, values, kernels, profile));
  if (const uint64_t count = graph::encoded_size(plan.graph->commands); count > kMaximumCommands)
    return unsupported(
        format("program \"{}\": {} commands would be encoded, more than {}; lower the max of its loops "
               "or let them be chunked",
               expanded.name(), count, kMaximumCommands));
  return plan;
}

}  // namespace wavegate::lowering
