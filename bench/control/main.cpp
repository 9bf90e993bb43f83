// wavegate-bench-control: what control flow costs, in one run and one table.
//
// One dependent chain: a body of 1, 4 or 8 kernels of one workgroup or many, each of which reads and writes what the
// one before wrote, and the scalar work that counts. The chain is run
//   direct       spelled out with no predicate: the floor, in one submission
//   STRATEGY     as a while loop, or nested ones, by each strategy that applies
//   default      by the strategy that is chosen without being asked
//   host-polled  by a loop on the host: submit, wait and read the predicate back, every iteration
// The cases of a group run in turns, so that what disturbs one disturbs all. A figure is the median of the runs, from
// submit to result, an iteration of those needed; ratios are to the direct chain of as many iterations.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "aims.h"
#include "wavegate/base/format.h"

namespace wavegate::bench {
namespace {

constexpr const char* kShaderOfTheBuild = "the build's";

std::string bound_text(const Case& what) {
  return what.bound ? std::to_string(*what.bound) : "none";
}

void print_json(const Bench& bench, const std::vector<Target>& targets) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : bench.rows()) {
    nlohmann::ordered_json line = {
        {"strategy", row.what.strategy}, {"kernels", row.what.kernels},    {"bound", nullptr},
        {"needed", row.what.needed},     {"nesting", row.what.nesting},    {"workgroups", row.what.workgroups},
        {"opaque", row.what.opaque},     {"as_a_page", row.what.as_a_page}};
    if (row.what.bound) line["bound"] = *row.what.bound;
    if (row.refused.empty()) {
      line["chosen"] = row.chosen;
      line["microseconds_per_iteration"] = row.per_iteration();
      line["ratio_to_direct"] = row.ratio_to_direct;
    } else {
      line["refused"] = row.refused;
    }
    rows.push_back(std::move(line));
  }
  nlohmann::ordered_json aims = nlohmann::ordered_json::array();
  for (const Target& target : targets)
    aims.push_back({{"measure", target.measure},
                    {"value", target.value},
                    {target.at_least ? "at_least" : "at_most", target.bound},
                    {"reached", target.reached()}});
  std::puts(
      nlohmann::ordered_json({{"device", bench.settings().device->profile().name}, {"rows", rows}, {"targets", aims}})
          .dump(2)
          .c_str());
}

void print_text(const Bench& bench, const std::vector<Target>& targets) {
  std::puts(format("{}\n\n| strategy | kernels | workgroups | nesting | bound | needed | us an iteration | / direct |\n"
                   "|---|---|---|---|---|---|---|---|",
                   bench.settings().device->profile().name)
                .c_str());
  for (const Row& row : bench.rows()) {
    std::string name = row.what.strategy;
    if (name == kDefault) name += format(" ({})", row.chosen);
    if (row.what.opaque) name += ", own shader";
    if (row.what.as_a_page) name += ", as a page pays";
    const std::string figures =
        row.refused.empty() ? format("{:.2f} | {:.2f}", row.per_iteration(), row.ratio_to_direct) : "does not apply |";
    std::puts(format("| {} | {} | {} | {} | {} | {} | {} |", name, row.what.kernels, row.what.workgroups,
                     row.what.nesting, bound_text(row.what), row.what.needed, figures)
                  .c_str());
  }
  std::puts("\n| measure | value | target | |\n|---|---|---|---|");
  for (const Target& target : targets)
    std::puts(format("| {} | {:.2f} | {} {:.2f} | {} |", target.measure, target.value,
                     target.at_least ? ">=" : "<=", target.bound, target.reached() ? "reached" : "**missed**")
                  .c_str());
}

/// A second device of WebGPU that checks every command. The implementation reads the variable as it opens.
Result<std::shared_ptr<device::Device>> open_as_a_page() {
  setenv("WAVEGATE_WEBGPU_VALIDATION", "1", 1);
  auto device = open_device("webgpu");
  unsetenv("WAVEGATE_WEBGPU_VALIDATION");
  return device;
}

Result<void> run(const std::string& name, Settings settings, bool json) {
  WAVEGATE_TRY(settings.device, open_device(name));
  const bool webgpu = settings.device->profile().backend == "webgpu";
  if (webgpu) {
    WAVEGATE_TRY(settings.as_a_page, open_as_a_page());
  }
  if (settings.shader == kShaderOfTheBuild)
    settings.shader = webgpu ? WAVEGATE_BODY_WGSL : WAVEGATE_SPIRV_DIR "/vulkan1.1/body.spv";
  Bench bench(std::move(settings));
  WAVEGATE_CHECK(measure(bench));
  (json ? print_json : print_text)(bench, targets_of(bench));
  return {};
}

int main_with(int argc, char** argv) {
  CLI::App app("What control flow costs on a device: every strategy, the direct chain and the host-polled loop.");
  std::string name;
  Settings settings;
  settings.shader = kShaderOfTheBuild;
  bool json = false;
  app.add_option("--device", name, "Device, as for wavegate solve");
  app.add_option("--shader", settings.shader, "The body as compiled GLSL, or on webgpu as WGSL; empty: without");
  app.add_flag("--quick", settings.quick, "A fifth of the iterations, fewer runs");
  app.add_flag("--json", json, "One JSON object: rows, and targets");
  CLI11_PARSE(app, argc, argv);
  const Result<void> done = run(name, std::move(settings), json);
  if (done) return 0;
  std::fprintf(stderr, "wavegate-bench-control: %s\n", done.error().to_string().c_str());
  return 1;
}

}  // namespace
}  // namespace wavegate::bench

int main(int argc, char** argv) {
  return wavegate::bench::main_with(argc, argv);
}
