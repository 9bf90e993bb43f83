#include "wavegate/web/report.h"

#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "wavegate/graph/graph.h"
#include "wavegate/lowering/plan.h"

namespace wavegate::web {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view name_of(ErrorKind kind) {
  constexpr std::array<std::string_view, 4> names = {"invalid-input", "unsupported", "device", "internal"};
  return names[static_cast<size_t>(kind)];
}

std::string_view name_of(ExitReason reason) {
  return reason == ExitReason::converged ? "converged" : "bound";
}

Json number(program::ScalarType type, uint32_t bits) {
  switch (type) {
    case program::ScalarType::float32: return static_cast<double>(std::bit_cast<float>(bits));
    case program::ScalarType::sint32: return std::bit_cast<int32_t>(bits);
    case program::ScalarType::uint32: break;
  }
  return bits;
}

Json buffers_of(const program::Program& program) {
  Json buffers = Json::array();
  for (const program::BufferInfo& info : program.buffers())
    buffers.push_back(Json{{"name", info.name},
                           {"type", kir::to_string(info.element)},
                           {"bytesPerElement", kir::byte_size(info.element)},
                           {"count", info.count},
                           {"output", info.output},
                           {"external", info.external}});
  return buffers;
}

Json regions_of(const lowering::Plan& plan) {
  Json regions = Json::array();
  for (const lowering::RegionReport& region : plan.regions)
    regions.push_back(Json{{"depth", region.depth},
                           {"label", region.label},
                           {"strategy", lowering::to_string(region.strategy)},
                           {"reason", region.reason},
                           {"microseconds", region.microseconds},
                           {"deadMicroseconds", region.dead_microseconds}});
  return regions;
}

}  // namespace

std::string to_json(const Error& error) {
  return text_of(Json{{"kind", name_of(error.kind)}, {"message", error.message}, {"where", error.where}});
}

std::string to_json(const target::Profile& profile) {
  return text_of(Json{{"name", profile.name},
                      {"backend", profile.backend},
                      {"driver", profile.driver},
                      {"isCpu", profile.is_cpu},
                      {"subgroupSize", profile.subgroup_size},
                      {"features", target::feature_names(profile)},
                      {"limits",
                       {{"workgroups", profile.limits.grid[0]},
                        {"workgroupInvocations", profile.limits.workgroup_invocations},
                        {"workgroupMemory", profile.limits.workgroup_memory},
                        {"storageBuffers", profile.limits.storage_buffers},
                        {"bindingBytes", profile.limits.binding_bytes},
                        {"bufferBytes", profile.limits.buffer_bytes}}}});
}

std::string to_json(const target::Costs& costs) {
  Json document = Json::object();
  for (const target::CostInfo& info : target::cost_table()) document[std::string(info.key)] = costs.*info.cost;
  return text_of(document);
}

std::string to_json(const SolveReport& report) {
  return text_of(Json{{"iterations", report.iterations},
                      {"exitReason", to_string(report.exit_reason)},
                      {"relativeResidual", report.relative_residual}});
}

std::string describe(const program::Program& program) {
  return text_of(Json{{"program", program.name()}, {"buffers", buffers_of(program)}});
}

std::string describe(const program::Program& program, const Executable& executable) {
  Json scalars = Json::array();
  for (const program::ScalarInfo& info : program.scalars())
    scalars.push_back(
        Json{{"name", info.name}, {"type", program::to_string(info.type)}, {"parameter", info.parameter}});
  Json loops = Json::array();
  for (const lowering::LoopPlaces& loop : executable.plan().loops) loops.push_back(loop.label);
  return text_of(Json{{"program", program.name()},
                      {"buffers", buffers_of(program)},
                      {"scalars", scalars},
                      {"loops", loops},
                      {"regions", regions_of(executable.plan())},
                      {"commands", graph::encoded_size(executable.plan().graph->commands)},
                      {"hostFree", graph::find_loop(*executable.plan().graph) == nullptr}});
}

Result<std::string> report(const program::Program& program, Executable& executable, const device::Counters& before) {
  Json loops = Json::array();
  for (uint32_t id = 0; id < executable.plan().loops.size(); ++id) {
    WAVEGATE_TRY(const LoopReport loop, executable.loop(program::Loop{id}));
    loops.push_back(Json{
        {"label", executable.plan().loops[id].label}, {"trips", loop.trips}, {"exitReason", name_of(loop.reason)}});
  }
  Json scalars = Json::object();
  for (uint32_t id = 0; id < program.scalars().size(); ++id) {
    WAVEGATE_TRY(const uint32_t bits, executable.read_bits(program::Scalar{id}));
    scalars[program.scalars()[id].name] = number(program.scalars()[id].type, bits);
  }
  const device::Counters counters = executable.device().counters() - before;
  Json device_seconds;
  if (executable.device_seconds() >= 0) device_seconds = executable.device_seconds();
  return text_of(Json{{"loops", loops},
                      {"scalars", scalars},
                      {"deviceSeconds", device_seconds},
                      {"counters",
                       {{"submissions", counters.submissions},
                        {"hostWaits", counters.host_waits},
                        {"readbacks", counters.readbacks},
                        {"observations", counters.observations}}}});
}

}  // namespace wavegate::web
