#include <CLI/App.hpp>
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "wavegate/amdgpu/isa/decode.h"
#include "wavegate/amdgpu/wave/program.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/amd_files.h"
#include "wavegate/cli/commands.h"

namespace wavegate::cli {
namespace {

using namespace amdgpu;

struct Arguments {
  std::vector<std::string> files;
  std::string target;
  bool json = false;
};

/// What the interpreter lacks, by mnemonic: in how many kernels, and how often.
struct Missing {
  std::uint64_t kernels = 0;
  std::uint64_t instructions = 0;
};

struct Coverage {
  std::uint64_t kernels = 0, whole = 0, instructions = 0;
  std::map<std::string, Missing> missing;
};

void count(Coverage& coverage, const object::Kernel& kernel, isa::Target target) {
  std::vector<std::uint32_t> words(kernel.code.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), kernel.code.data(), words.size() * 4);
  const auto width = kernel.wave_width == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  std::map<std::string, std::uint64_t> lacking;
  for (std::size_t at = 0; at < words.size();) {
    isa::Instruction instruction;
    ++coverage.instructions;
    if (!isa::try_decode(std::span(words).subspan(at), target, width, instruction)) {
      ++lacking["(no instruction)"];
      ++at;
      continue;
    }
    if (!wave::is_implemented(instruction)) ++lacking[std::string(isa::to_string(instruction.opcode))];
    at += instruction.words;
  }
  ++coverage.kernels;
  coverage.whole += lacking.empty() ? 1 : 0;
  for (const auto& [name, times] : lacking) {
    ++coverage.missing[name].kernels;
    coverage.missing[name].instructions += times;
  }
}

std::string text_of(const std::map<std::string, Coverage>& targets) {
  std::string text;
  for (const auto& [target, coverage] : targets) {
    text += format("{}: {} of {} kernels whole, {} instructions\n", target, coverage.whole, coverage.kernels,
                   coverage.instructions);
    std::vector<std::pair<std::string, Missing>> rows(coverage.missing.begin(), coverage.missing.end());
    std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.kernels > b.second.kernels; });
    for (const auto& [name, missing] : rows)
      text += format("  {:<28} {:>8} kernels {:>10} times\n", name, missing.kernels, missing.instructions);
  }
  return text;
}

std::string json_of(const std::map<std::string, Coverage>& targets) {
  nlohmann::ordered_json all;
  for (const auto& [target, coverage] : targets) {
    nlohmann::ordered_json missing = nlohmann::ordered_json::object();
    for (const auto& [name, one] : coverage.missing)
      missing[name] = {{"kernels", one.kernels}, {"instructions", one.instructions}};
    all[target] = {{"kernels", coverage.kernels},
                   {"whole", coverage.whole},
                   {"instructions", coverage.instructions},
                   {"missing", missing}};
  }
  return all.dump(2) + "\n";
}

Result<Outcome> cover(const Arguments& arguments) {
  WAVEGATE_TRY(const auto wanted, parse_target_option(arguments.target));
  std::map<std::string, Coverage> targets;
  const auto faults = visit_objects({arguments.files, wanted}, [&](const OpenObject& open) -> Result<void> {
    const auto target = open.object.target.decoder();
    if (!target.ok()) return {};
    for (const object::Kernel& kernel : open.object.kernels)
      count(targets[open.object.target.processor], kernel, *target);
    return {};
  });
  if (!faults.ok()) return faults.error();
  return Outcome{arguments.json ? json_of(targets) : text_of(targets), *faults > 0 ? kFailed : 0};
}

}  // namespace

void add_coverage(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand(
      "coverage",
      "Count the kernels whose instructions the interpreter all has. A test holds each of these to "
      "values that come from AMD's documents or from the host.");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("files", arguments->files,
                   "Code objects, offload bundles, and programs or libraries that hold bundles")
      ->required()
      ->option_text("FILE...");
  command->add_option("--target", arguments->target, "Only what was made for this target, as gfx1030 or gfx90a:xnack-")
      ->option_text("TARGET");
  command->add_flag("--json", arguments->json, "Print one object instead of text");
  command->footer(
      "For each target: how many kernels \"wavegate emulate\" can run whole, and what the others hold that it lacks, "
      "by how\n"
      "many kernels that is.\n\n"
      "Examples:\n"
      "  wavegate coverage k.hsaco\n"
      "  wavegate coverage librocsparse.so.0.1 --target gfx1030 --json");
  command->callback([arguments, &action] { action = [arguments] { return cover(*arguments); }; });
}

}  // namespace wavegate::cli
