#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "wavegate/amdgpu/object/functions.h"
#include "wavegate/amdgpu/object/launch.h"
#include "wavegate/amdgpu/object/registers.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/amd_files.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/json_text.h"

namespace wavegate::cli {
namespace {

using namespace amdgpu::object;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> files;
  std::string target;
  std::string kernel;
  bool json = false;
};

/// How many a caller gives; "?" where nothing is known of them.
std::string arguments_text(const Kernel& kernel) {
  if (!kernel.has_metadata) return "?";
  return std::to_string(
      std::ranges::count_if(kernel.arguments, [](const Argument& each) { return !is_hidden(each.kind); }));
}

/// "64x1x1" where the kernel demands a size, else what it allows; "?" where nothing is known.
std::string workgroup_text(const Kernel& kernel) {
  const auto& size = kernel.required_workgroup;
  if (size[0] != 0) return format("{}x{}x{}", size[0], size[1], size[2]);
  return kernel.max_workgroup == 0 ? "?" : format("<={}", kernel.max_workgroup);
}

Row row_of(const OpenObject& open, const Kernel& kernel) {
  const std::string vgprs =
      kernel.agprs == 0 ? std::to_string(kernel.vgprs) : format("{}+{}", kernel.vgprs, kernel.agprs);
  return {open.object.target.to_string(),
          std::to_string(kernel.wave_width),
          std::to_string(kernel.sgprs),
          vgprs,
          std::to_string(kernel.lds_bytes),
          std::to_string(kernel.scratch_bytes),
          workgroup_text(kernel),
          arguments_text(kernel),
          std::to_string(kernel.code.size()),
          kernel.name};
}

Json json_of(const Argument& argument) {
  return {{"name", argument.name},
          {"type", argument.type_name},
          {"offset", argument.offset},
          {"size", argument.size},
          {"kind", argument.kind == ValueKind::unknown ? argument.kind_name : std::string(to_string(argument.kind))}};
}

std::string range_text(const SgprRange& range) {
  return range.count == 1 ? format("s{}", range.first) : format("s[{}:{}]", range.first, range.first + range.count - 1);
}

Json json_of(const LaunchState& state) {
  Json user = Json::object();
  for (std::size_t i = 0; i < kUserSgprKinds; ++i)
    if (const auto& range = state.user[i]) user[std::string(to_string(static_cast<UserSgpr>(i)))] = range_text(*range);
  if (state.preloaded.count > 0) user["preloaded_arguments"] = range_text(state.preloaded);
  const auto sgpr = [](const std::optional<std::uint32_t>& number) {
    return number ? Json(format("s{}", *number)) : Json();
  };
  Json workgroup_id = {"ttmp9", "ttmp7[15:0]", "ttmp7[31:16]"};
  if (state.workgroup_ids == amdgpu::isa::WorkgroupIds::user_sgprs)
    for (std::size_t i = 0; i < 3; ++i) workgroup_id[i] = sgpr(state.workgroup_id[i]);
  return {{"user_sgprs", state.user_sgprs},
          {"user", std::move(user)},
          {"entry_skip", state.entry_skip},
          {"workgroup_id", std::move(workgroup_id)},
          {"scratch_offset", sgpr(state.scratch_offset)},
          {"work_item_ids", state.packed_work_item_ids ? "packed" : "separate"},
          {"work_item_dimensions", state.work_item_dimensions}};
}

Json json_of(const FloatMode& mode) {
  const auto known = [](const std::optional<bool>& bit) { return bit ? Json(*bit) : Json(); };
  return {{"round_f32", to_string(mode.round_f32)},   {"round_f16_f64", to_string(mode.round_f16_f64)},
          {"denorm_f32", to_string(mode.denorm_f32)}, {"denorm_f16_f64", to_string(mode.denorm_f16_f64)},
          {"dx10_clamp", known(mode.dx10_clamp)},     {"ieee", known(mode.ieee)},
          {"fp16_overflow", mode.fp16_overflow}};
}

/// What the descriptor's words say; null for a target that they are not known of.
std::pair<Json, Json> launch_of(const OpenObject& open, const Kernel& kernel) {
  const auto target = open.object.target.decoder();
  if (!target.ok()) return {};
  const auto wave = kernel.wave_width == 32 ? amdgpu::isa::WaveWidth::wave32 : amdgpu::isa::WaveWidth::wave64;
  const auto state = launch_state(kernel.descriptor, *target, wave);
  const Registers registers = decode_registers(kernel.descriptor, *target, wave);
  return {state.ok() ? json_of(*state) : Json(), json_of(registers.float_mode)};
}

Json json_of(const OpenObject& open, const Kernel& kernel) {
  auto [launch, float_mode] = launch_of(open, kernel);
  Json arguments = kernel.has_metadata ? Json::array() : Json();
  for (const Argument& argument : kernel.arguments) arguments.push_back(json_of(argument));
  Json required = nullptr;
  if (kernel.required_workgroup[0] != 0) required = kernel.required_workgroup;
  return {{"file", open.file},
          {"place", open.found.place},
          {"version", open.object.version},
          {"target", open.object.target.to_string()},
          {"name", kernel.name},
          {"wave", kernel.wave_width},
          {"sgprs", kernel.sgprs},
          {"vgprs", kernel.vgprs},
          {"agprs", kernel.agprs},
          {"lds_bytes", kernel.lds_bytes},
          {"scratch_bytes", kernel.scratch_bytes},
          {"max_workgroup", kernel.max_workgroup},
          {"required_workgroup", std::move(required)},
          {"code_bytes", kernel.code.size()},
          {"kernarg_bytes", kernel.kernarg_bytes},
          {"kernarg_alignment", kernel.kernarg_alignment},
          {"launch", std::move(launch)},
          {"float_mode", std::move(float_mode)},
          {"arguments", std::move(arguments)}};
}

/// One object a line, so that a library's thousands need not be one document in memory.
void append_json(std::string& text, const Json& kernel) {
  text += text.empty() ? "[\n" : ",\n";
  text += kernel.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What is listed, and what was left out.
struct Listing {
  std::vector<Row> rows = {
      {"target", "wave", "sgprs", "vgprs", "lds", "scratch", "workgroup", "arguments", "code", "kernel"}};
  std::string json;
  std::size_t listed = 0;
  std::size_t others = 0;
};

Result<Outcome> list(const Arguments& arguments) {
  const auto target = parse_target_option(arguments.target);
  if (!target.ok()) {
    print_error(target.error().to_string());
    return Outcome{{}, kUsageError};
  }
  Listing listing;
  Progress progress;
  const auto visit = [&](const OpenObject& open) -> Result<void> {
    const auto kernels = select_kernels(open.object, arguments.kernel);
    for (const Kernel* kernel : kernels) {
      if (arguments.json) {
        append_json(listing.json, json_of(open, *kernel));
      } else {
        listing.rows.push_back(row_of(open, *kernel));
      }
    }
    listing.listed += kernels.size();
    listing.others += open.object.kernels.size() - kernels.size();
    progress.show(format("{}: {} kernels...", open.file, listing.listed));
    return {};
  };
  WAVEGATE_TRY(const std::size_t faults, visit_objects({arguments.files, *target}, visit));
  progress.clear();
  if (listing.listed == 0 && listing.others > 0)
    return invalid_input(format("none of {} kernels has a name with \"{}\" in it", listing.others, arguments.kernel));
  const int exit_code = faults == 0 ? 0 : kFailed;
  if (arguments.json) return Outcome{listing.json.empty() ? "[]\n" : listing.json + "\n]\n", exit_code};
  constexpr Align kAlignment[] = {Align::left,  Align::right, Align::right, Align::right, Align::right,
                                  Align::right, Align::right, Align::right, Align::right, Align::left};
  return Outcome{table(listing.rows, kAlignment), exit_code};
}

}  // namespace

void add_objects(CLI::App& application, Action& action) {
  CLI::App* command =
      application.add_subcommand("objects", "List the kernels of AMD code objects, and what each needs.");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option(
          "files", arguments->files,
          "Code objects, offload bundles, programs and libraries that hold bundles (.hip_fatbin), or raw shaders")
      ->required()
      ->option_text("FILE...");
  command->add_option("--target", arguments->target, "Only what was made for this target, as gfx1030 or gfx90a:xnack-")
      ->option_text("TARGET");
  command->add_option("-k,--kernel", arguments->kernel, "Only the kernel of this name, or those whose names hold it")
      ->option_text("NAME");
  command->add_flag("--json", arguments->json, "Print a list of objects, one a line, instead of a table");
  command->footer(
      "A line a kernel: the lanes of its wave; the registers that it was given (vector registers and, after a plus,\n"
      "accumulation registers); bytes of LDS of a workgroup and of scratch of a work-item; the workgroup that it "
      "demands\n"
      "or the work-items that it allows; arguments that a caller gives; bytes of code. The JSON has more, the "
      "arguments'\nnames, kinds and sizes above all; docs/amd-objects.md describes it.\n\n"
      "Examples:\n"
      "  wavegate objects k.hsaco\n"
      "  wavegate objects librocsparse.so.0.1 --target gfx1030\n"
      "  wavegate objects librocsparse.so.0.1 --target gfx1030 --kernel bsrxmvn --json");
  command->callback([arguments, &action] { action = [arguments] { return list(*arguments); }; });
}

}  // namespace wavegate::cli
