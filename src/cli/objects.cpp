#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "wavegate/amdgpu/object/functions.h"
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

std::size_t visible_arguments(const Kernel& kernel) {
  return static_cast<std::size_t>(
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
          std::to_string(visible_arguments(kernel)),
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

Json json_of(const OpenObject& open, const Kernel& kernel) {
  Json arguments = Json::array();
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
      "or the work-items that it allows; arguments that a caller gives; bytes of code. docs/amd-objects.md describes "
      "the JSON.\n\n"
      "Examples:\n"
      "  wavegate objects k.hsaco\n"
      "  wavegate objects librocsparse.so.0.1 --target gfx1030\n"
      "  wavegate objects librocsparse.so.0.1 --target gfx1030 --kernel bsrxmvn --json");
  command->callback([arguments, &action] { action = [arguments] { return list(*arguments); }; });
}

}  // namespace wavegate::cli
