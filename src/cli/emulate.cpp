#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "wavegate/amdgpu/isa/print.h"
#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/amdgpu/wave/step.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/amd_files.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/emulate_arguments.h"
#include "wavegate/cli/emulate_job.h"
#include "wavegate/cli/json_text.h"
#include "wavegate/cli/launch_file.h"
#include "wavegate/io/file.h"

namespace wavegate::cli {
namespace {

using namespace amdgpu;

struct Arguments {
  std::string file, target, kernel, threads, group, launch;
  std::vector<std::string> values, expected;
  std::uint32_t lds = 0;
  std::uint64_t maximum_instructions = wave::Options().maximum_instructions;
  unsigned host_threads = 0;
  double relative = 0, absolute = 0;
  bool trace = false, check = false, json = false;
  std::uint64_t trace_group = 0;
  std::uint32_t trace_wave = 0;
};

struct Run {
  std::vector<wave::Report> reports;
  std::vector<std::string> mismatches;
  std::string trace;
};

Result<std::pair<std::string, std::string>> split(std::string_view option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return invalid_input(format("{} takes NAME=VALUE, but got \"{}\"", option, text));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<EmulationJob> job_of(const Arguments& arguments) {
  EmulationJob job;
  if (arguments.launch.empty() && (arguments.kernel.empty() || arguments.threads.empty() || arguments.group.empty()))
    return invalid_input(
        "what to run is missing: -k KERNEL, --threads X,Y,Z and --group X,Y,Z, or --launch FILE.json; \"wavegate "
        "objects\" "
        "lists kernels");
  if (!arguments.launch.empty()) {
    WAVEGATE_TRY(job, load_launch_file(arguments.launch));
  } else {
    EmulatedLaunch launch;
    launch.launch.kernel = arguments.kernel;
    launch.launch.dynamic_lds = arguments.lds;
    WAVEGATE_TRY(launch.launch.threads, parse_sizes("--threads", arguments.threads));
    WAVEGATE_TRY(launch.launch.group, parse_sizes("--group", arguments.group));
    for (const std::string& text : arguments.values) {
      WAVEGATE_TRY(const auto assignment, split("--arg", text));
      WAVEGATE_CHECK(add_argument(job, launch, assignment.first, assignment.second));
    }
    job.launches.push_back(std::move(launch));
  }
  for (const std::string& text : arguments.expected) {
    WAVEGATE_TRY(const auto assignment, split("--expect", text));
    const auto buffer = job.buffer_of_name.find(assignment.first);
    if (buffer == job.buffer_of_name.end())
      return invalid_input(format("--expect: there is no buffer \"{}\"", assignment.first));
    job.buffers[buffer->second].expected = assignment.second;
  }
  for (const EmulatedBuffer& buffer : job.buffers)
    if (!buffer.output.empty()) WAVEGATE_CHECK(check_output_path(buffer.output));
  WAVEGATE_CHECK(check_files(job, {arguments.file, arguments.launch}));
  return job;
}

/// A line for each instruction: where, what, and what it wrote.
void append_trace(std::string& text, const wave::Wave& wave, const wave::Step& step) {
  constexpr std::size_t kMaximumBytes = std::size_t{256} << 20;
  constexpr unsigned kShownLanes = 4;
  if (text.size() > kMaximumBytes) return;
  text += format("{:6} {:06x}  {:<48}", wave.instructions, step.address - wave.machine->code_base,
                 isa::print(step.instruction));
  for (const wave::Destination* destination : {&step.destination, &step.mask_destination})
    for (unsigned word = 0; word < destination->words; ++word) {
      const unsigned index = destination->index + word;
      if (destination->mode == wave::SourceMode::scalar) text += format(" s{}={:08x}", index, wave.scalars[index]);
      if (destination->mode != wave::SourceMode::row) continue;
      text += format(" v{}=", index);
      for (unsigned lane = 0; lane < kShownLanes; ++lane)
        text += format("{}{:08x}", lane == 0 ? "" : ",", wave.vectors[index].lane[lane]);
    }
  text += format(" exec={:x} scc={}\n", wave.exec(), wave.scc);
}

/// The first code object of the file that has all kernels of the job, loaded.
Result<void> run_in(const object::CodeObject& object, const Arguments& arguments, EmulationJob& job, Run& result) {
  wave::GuestMemory memory;
  for (EmulatedBuffer& buffer : job.buffers)
    buffer.address = memory.map(buffer.array.bytes, buffer.name, buffer.writable);
  WAVEGATE_TRY(const auto module, wave::Module::load(object, memory));
  wave::Options options;
  options.maximum_instructions = arguments.maximum_instructions;
  options.host_threads = arguments.host_threads;
  options.check = arguments.check;
  if (arguments.trace)
    options.observe = [&](const wave::Wave& traced, const wave::Step& step) {
      if (traced.group->number == arguments.trace_group && traced.number == arguments.trace_wave)
        append_trace(result.trace, traced, step);
    };
  for (EmulatedLaunch& launch : job.launches) WAVEGATE_CHECK(set_arguments(*module, job, launch));
  for (const EmulatedLaunch& launch : job.launches) {
    auto report = wave::run(*module, memory, launch.launch, options);
    if (!report.ok()) return report.error();
    result.reports.push_back(std::move(*report));
  }
  return {};
}

std::string text_of(const Run& run, const EmulationJob& job) {
  std::string text = run.trace;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const wave::Report& report = run.reports[i];
    text += format("{}: {} groups, {} waves, {} instructions, {} lane-instructions in {}\n",
                   printable(job.launches[i].launch.kernel), report.workgroups, report.waves, report.instructions,
                   report.lane_instructions, seconds_text(report.seconds));
    for (const wave::Finding& finding : report.findings) text += "  " + printable(wave::to_string(finding)) + "\n";
  }
  for (const std::string& mismatch : run.mismatches) text += printable(mismatch) + "\n";
  return text;
}

std::string json_of(const Run& run, const EmulationJob& job) {
  nlohmann::ordered_json launches = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const wave::Report& report = run.reports[i];
    nlohmann::ordered_json findings = nlohmann::ordered_json::array();
    for (const wave::Finding& finding : report.findings)
      findings.push_back({{"kind", wave::to_string(finding.kind)},
                          {"function", finding.function},
                          {"offset", finding.offset},
                          {"file", finding.file},
                          {"line", finding.line},
                          {"instruction", finding.instruction},
                          {"workgroup", finding.workgroup},
                          {"wave", finding.wave},
                          {"lane", finding.lane},
                          {"address", finding.address},
                          {"detail", finding.detail},
                          {"occurrences", finding.occurrences}});
    launches.push_back({{"kernel", job.launches[i].launch.kernel},
                        {"workgroups", report.workgroups},
                        {"waves", report.waves},
                        {"instructions", report.instructions},
                        {"lane_instructions", report.lane_instructions},
                        {"seconds", report.seconds},
                        {"unwatched_accesses", report.unwatched_accesses},
                        {"findings", findings}});
  }
  return nlohmann::ordered_json{{"launches", launches}, {"mismatches", run.mismatches}}.dump(
             2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

Result<Outcome> emulate(const Arguments& arguments) {
  WAVEGATE_TRY(const auto target, parse_target_option(arguments.target));
  WAVEGATE_TRY(EmulationJob job, job_of(arguments));
  Run result;
  bool found = false;
  std::set<std::string_view> kernels;
  for (const EmulatedLaunch& launch : job.launches) kernels.insert(launch.launch.kernel);
  const auto faults = visit_objects({{arguments.file}, target}, [&](const OpenObject& open) -> Result<void> {
    const bool has_all =
        std::ranges::all_of(kernels, [&](std::string_view name) { return open.object.find_kernel(name) != nullptr; });
    if (found || !has_all) return {};
    found = true;
    return run_in(open.object, arguments, job, result);
  });
  if (!faults.ok()) return faults.error();
  if (!found)
    return invalid_input(format("no code object has kernel \"{}\"; \"wavegate objects\" lists them",
                                job.launches.empty() ? "" : job.launches[0].launch.kernel),
                         arguments.file);
  bool failed = *faults > 0;
  for (const EmulatedBuffer& buffer : job.buffers) {
    if (!buffer.expected.empty()) {
      WAVEGATE_TRY(const auto mismatch, difference(buffer, arguments.relative, arguments.absolute));
      if (mismatch) result.mismatches.push_back(*mismatch);
    }
    if (buffer.output.empty()) continue;
    WAVEGATE_TRY(const std::vector<std::byte> bytes, io::write_npy(buffer.array));
    WAVEGATE_CHECK(io::write_file_atomically(buffer.output, bytes));
  }
  failed = failed || !result.mismatches.empty() ||
           std::ranges::any_of(result.reports, [](const wave::Report& report) { return !report.findings.empty(); });
  return Outcome{arguments.json ? json_of(result, job) : text_of(result, job), failed ? kFailed : 0};
}

}  // namespace

void add_emulate(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand("emulate", "Run a kernel of an AMD code object on the CPU, exactly.");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("file", arguments->file, "A code object, offload bundle, or program or library that holds bundles")
      ->required()
      ->option_text("FILE");
  auto* const kernel = command->add_option("-k,--kernel", arguments->kernel, "The kernel's name")->option_text("NAME");
  auto* const threads =
      command->add_option("--threads", arguments->threads, "Work-items of the grid; the last groups may be partial")
          ->option_text("X,Y,Z");
  auto* const group =
      command->add_option("--group", arguments->group, "Work-items of a workgroup")->option_text("X,Y,Z");
  auto* const launch =
      command->add_option("--launch", arguments->launch, "A file of launches that share buffers, instead of -k")
          ->option_text("FILE.json");
  auto* const lds =
      command->add_option("--lds", arguments->lds, "Bytes of LDS besides the kernel's own")->option_text("BYTES");
  auto* const values =
      command->add_option("--arg", arguments->values, "An argument of the kernel, as below; once for each")
          ->allow_extra_args(false)
          ->option_text("NAME=VALUE");
  launch->excludes(kernel)->excludes(threads)->excludes(group)->excludes(lds)->excludes(values);
  command->add_option("--expect", arguments->expected, "What a buffer must hold afterwards; once for each")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE.npy");
  command->add_option("--rtol", arguments->relative, "Relative difference that --expect allows (default 0)");
  command->add_option("--atol", arguments->absolute, "Absolute difference that --expect allows (default 0)");
  command->add_option("--target", arguments->target, "Only what was made for this target, as gfx1030 or gfx90a:xnack-")
      ->option_text("TARGET");
  command->add_flag("--check", arguments->check,
                    "Report uninitialised registers, and races in LDS and global memory; much slower");
  command->add_flag("--trace", arguments->trace, "Print each instruction of one wave with what it wrote");
  command->add_option("--trace-group", arguments->trace_group, "The number of its workgroup (default 0)");
  command->add_option("--trace-wave", arguments->trace_wave, "Its number in the group (default 0)");
  command->add_option("--max-instructions", arguments->maximum_instructions, "Of a wave, at most (default 1000000000)");
  command->add_option("--host-threads", arguments->host_threads,
                      "Host threads that workgroups are run on (default: all)");
  command->add_flag("--json", arguments->json, "Print one object instead of text");
  command->footer(
      "Arguments are named as in the source, if clang was told -cl-kernel-arg-info, or 0, 1, 2 in their order. VALUE "
      "is\n"
      "  7, 1.5, i32:7, f32:1,2      a number of the type that the object tells, or of that type; the lanes of a "
      "vector\n"
      "  in:x.npy                    an array that the kernel only reads\n"
      "  inout:x.npy                 an array that is written back to its file\n"
      "  out:y.npy:f32[4,1024]       zeros that are written to a new file; f16 to f64, i8 to i64, u8 to u64\n"
      "  buffer:NAME                 the buffer of another argument\n"
      "  null, lds:1024              no buffer; so many bytes of LDS, for a local pointer\n"
      "  bytes:00ff07, file:x.bin    a structure's bytes\n\n"
      "Accesses out of bounds read 0 or write nothing, and are reported. Exits with 1 if there is a finding or if a "
      "buffer\n"
      "is not as expected. docs/amd.md goes from source to a checked result.\n\n"
      "Examples:\n"
      "  wavegate emulate k.hsaco -k saxpy --threads 1000 --group 256 --arg n=1000 --arg a=2 \\\n"
      "    --arg x=in:x.npy --arg y=inout:y.npy --expect y=ref.npy\n"
      "  wavegate emulate k.hsaco -k saxpy --threads 64 --group 64 --arg 0=u32:64 --arg 1=f32:2 --arg 2=in:x.npy \\\n"
      "    --arg 3=out:y.npy:f32[64] --trace\n"
      "  wavegate emulate k.hsaco --launch steps.json --check");
  command->callback([arguments, &action] { action = [arguments] { return emulate(*arguments); }; });
}

}  // namespace wavegate::cli
