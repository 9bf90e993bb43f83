#include <CLI/App.hpp>
#include <bit>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/json_text.h"
#include "wavegate/cli/strategy_options.h"
#include "wavegate/graph/graph.h"
#include "wavegate/io/file.h"
#include "wavegate/io/json.h"
#include "wavegate/io/npy.h"
#include "wavegate/io/program_file.h"
#include "wavegate/io/program_inputs.h"
#include "wavegate/lowering/lower.h"

namespace wavegate::cli {
namespace {

struct Arguments {
  std::string program;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> settings;
  std::string device;
  StrategyArguments strategy;
  std::optional<double> time_limit;
  bool dry_run = false;
  bool json = false;
};

/// "NAME=VALUE" as given to an option.
struct Assignment {
  std::string name;
  std::string value;
};

struct Assignments {
  std::vector<Assignment> inputs, outputs, settings;
};

/// A program with all that the command line says about it, before any device.
struct Job {
  program::Program program;
  std::vector<io::ParameterValue> settings;
  std::vector<std::pair<program::Buffer, std::filesystem::path>> outputs;
};

struct Figures {
  std::string device;
  std::vector<std::pair<std::string, LoopReport>> loops;  ///< by label
  std::vector<uint32_t> scalars;                          ///< bits, by program::Scalar::id
  double seconds = 0;
  double device_seconds = 0;  ///< negative: unknown
  device::Counters counters;
};

Result<Assignment> split(std::string_view option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size())
    return Assignment{text.substr(0, equals), text.substr(equals + 1)};
  return invalid_input(format("{} takes NAME=VALUE, but got \"{}\"", option, text));
}

/// Splits every assignment of an option; none may have the same `key` as another.
Result<std::vector<Assignment>> split_all(std::string_view option, const std::vector<std::string>& texts,
                                          std::string Assignment::*key) {
  std::vector<Assignment> assignments;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    WAVEGATE_TRY(Assignment assignment, split(option, text));
    if (!seen.insert(assignment.*key).second)
      return invalid_input(format("{} names \"{}\" twice", option, assignment.*key));
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

Result<Assignments> parse(const Arguments& arguments) {
  Assignments assignments;
  WAVEGATE_TRY(assignments.inputs, split_all("--in", arguments.inputs, &Assignment::name));
  WAVEGATE_TRY(assignments.outputs, split_all("--out", arguments.outputs, &Assignment::value));
  std::set<std::filesystem::path> files;  // the same file under two spellings
  for (const Assignment& output : assignments.outputs) {
    std::error_code ignored;
    const auto file = std::filesystem::weakly_canonical(output.value, ignored);
    if (!ignored && !files.insert(file).second)
      return invalid_input(format("--out names the file \"{}\" twice", output.value));
  }
  WAVEGATE_TRY(assignments.settings, split_all("--set", arguments.settings, &Assignment::name));
  return assignments;
}

Result<program::Buffer> find_buffer(const program::Program& program, const std::string& name) {
  if (const auto buffer = program.find_buffer(name)) return *buffer;
  std::vector<std::string_view> names;
  for (const program::BufferInfo& info : program.buffers()) names.push_back(info.name);
  return invalid_input(format("the program has no buffer \"{}\"{}", name, io::suggestion(name, names)));
}

/// No file that fits a buffer is larger, also one of a wider type, which is then refused by that name.
uint64_t largest_npy(const program::BufferInfo& info) {
  constexpr uint64_t kHeader = uint64_t{1} << 16;
  constexpr uint64_t kWidest = 8;
  return std::min(info.count, io::kDefaultMaximumBytes / kWidest) * kWidest + kHeader;
}

/// What the options say of a program that is loaded.
Result<Job> prepare(program::Program program, const Assignments& assignments) {
  Job job{std::move(program), {}, {}};
  for (const Assignment& input : assignments.inputs) {
    WAVEGATE_TRY(const program::Buffer buffer, find_buffer(job.program, input.name));
    WAVEGATE_TRY(const std::vector<std::byte> bytes, io::read_file(input.value, largest_npy(job.program.info(buffer))));
    WAVEGATE_TRY(io::Array array, io::read_npy(bytes, input.value));
    WAVEGATE_CHECK(io::set_initial(job.program, input.name, std::move(array)));
  }
  for (const Assignment& setting : assignments.settings) {
    WAVEGATE_TRY(const io::ParameterValue value, io::parse_parameter(job.program, setting.name, setting.value));
    job.settings.push_back(value);
  }
  for (const Assignment& output : assignments.outputs) {
    WAVEGATE_TRY(const program::Buffer buffer, find_buffer(job.program, output.name));
    WAVEGATE_CHECK(check_output_path(output.value));
    job.program.output(buffer);
    job.outputs.emplace_back(buffer, output.value);
  }
  return job;
}

Result<Job> load(const std::string& path, const Assignments& assignments) {
  WAVEGATE_TRY(program::Program program, io::load_program(path));
  return within(path, prepare(std::move(program), assignments));
}

Result<Figures> measure(Executable& executable, const program::Program& program) {
  Figures figures;
  figures.device = executable.device().profile().name;
  const device::Counters before = executable.device().counters();
  const auto start = std::chrono::steady_clock::now();
  WAVEGATE_CHECK(executable.run());
  figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  figures.device_seconds = executable.device_seconds();
  figures.counters = executable.device().counters() - before;
  for (uint32_t id = 0; id < executable.plan().loops.size(); ++id) {
    WAVEGATE_TRY(const LoopReport loop, executable.loop(program::Loop{id}));
    figures.loops.emplace_back(executable.plan().loops[id].label, loop);
  }
  for (uint32_t id = 0; id < program.scalars().size(); ++id) {
    WAVEGATE_TRY(const uint32_t bits, executable.read_bits(program::Scalar{id}));
    figures.scalars.push_back(bits);
  }
  return figures;
}

/// Reads every output before the first is written, so that a failure of the device leaves all files as they were. Where
/// a file cannot be written, those before it are new and whole, it and those after it as they were.
Result<void> write_outputs(Executable& executable, const Job& job) {
  std::vector<std::vector<std::byte>> files;
  for (const auto& [buffer, path] : job.outputs) {
    const program::BufferInfo& info = job.program.info(buffer);
    std::vector<std::byte> bytes(info.bytes());
    WAVEGATE_CHECK(executable.read_bytes(buffer, 0, bytes));
    WAVEGATE_TRY(const io::Array array, io::array_of(info, bytes));
    WAVEGATE_TRY(std::vector<std::byte> file, io::write_npy(array));
    files.push_back(std::move(file));
  }
  for (size_t i = 0; i < files.size(); ++i) WAVEGATE_CHECK(io::write_file_atomically(job.outputs[i].second, files[i]));
  return {};
}

std::string_view to_string(ExitReason reason) {
  return reason == ExitReason::converged ? "converged" : "bound";
}

nlohmann::ordered_json scalar_json(program::ScalarType type, uint32_t bits) {
  switch (type) {
    case program::ScalarType::float32: return static_cast<double>(std::bit_cast<float>(bits));
    case program::ScalarType::sint32: return std::bit_cast<int32_t>(bits);
    case program::ScalarType::uint32: break;
  }
  return bits;
}

std::string scalar_text(program::ScalarType type, uint32_t bits) {
  if (type == program::ScalarType::float32) return format("{}", std::bit_cast<float>(bits));
  return scalar_json(type, bits).dump();
}

std::string json_of(const Job& job, const Figures& figures) {
  using Json = nlohmann::ordered_json;
  Json loops = Json::array();
  for (const auto& [label, report] : figures.loops)
    loops.push_back(Json{{"label", label}, {"trips", report.trips}, {"exit_reason", to_string(report.reason)}});
  Json scalars = Json::object();
  for (size_t i = 0; i < figures.scalars.size(); ++i) {
    const program::ScalarInfo& info = job.program.scalars()[i];
    scalars[info.name] = scalar_json(info.type, figures.scalars[i]);
  }
  Json device_seconds;
  if (figures.device_seconds >= 0) device_seconds = figures.device_seconds;
  return json_text(Json{{"device", figures.device},
                        {"program", job.program.name()},
                        {"loops", loops},
                        {"scalars", scalars},
                        {"seconds", figures.seconds},
                        {"device_seconds", device_seconds},
                        {"submissions", figures.counters.submissions},
                        {"host_waits", figures.counters.host_waits},
                        {"readbacks", figures.counters.readbacks},
                        {"observations", figures.counters.observations}});
}

std::string text_of(const Job& job, const Figures& figures) {
  constexpr Align kAlignment[] = {Align::left, Align::right};
  std::string text = table({{"program", job.program.name()}, {"device", figures.device}});
  if (!figures.loops.empty()) {
    std::vector<Row> rows = {{"loop", "trips", "exit reason"}};
    for (const auto& [label, report] : figures.loops)
      rows.push_back({label, std::to_string(report.trips), std::string(to_string(report.reason))});
    text += '\n' + table(rows, kAlignment);
  }
  if (!figures.scalars.empty()) {
    std::vector<Row> rows = {{"scalar", "value"}};
    for (size_t i = 0; i < figures.scalars.size(); ++i) {
      const program::ScalarInfo& info = job.program.scalars()[i];
      rows.push_back({info.name, scalar_text(info.type, figures.scalars[i])});
    }
    text += '\n' + table(rows, kAlignment);
  }
  std::vector<Row> rows = {{"time", seconds_text(figures.seconds)}};
  if (figures.device_seconds >= 0) rows.push_back({"time on the device", seconds_text(figures.device_seconds)});
  rows.push_back({"submissions", std::to_string(figures.counters.submissions)});
  rows.push_back({"host waits", std::to_string(figures.counters.host_waits)});
  rows.push_back({"readbacks", std::to_string(figures.counters.readbacks)});
  rows.push_back({"observations", std::to_string(figures.counters.observations)});
  return text + '\n' + table(rows);
}

/// Lowers for the reference device, whose profile is there on every machine.
Result<Outcome> check_only(const std::string& file, const Job& job, const CompileOptions& options, bool json) {
  WAVEGATE_TRY(const auto reference, open_device("reference"));
  WAVEGATE_TRY(const lowering::Plan plan, within(file, lowering::lower(job.program, reference->profile(), options)));
  if (json)
    return Outcome{json_text({{"program", job.program.name()},
                              {"dry_run", true},
                              {"profile", reference->profile().name},
                              {"loops", plan.loops.size()},
                              {"commands", graph::encoded_size(plan.graph->commands)}})};
  return Outcome{
      printable(format("program \"{}\" is sound: {} commands for the profile of \"{}\"; nothing was run\n",
                       job.program.name(), graph::encoded_size(plan.graph->commands), reference->profile().name))};
}

Result<Outcome> run_program(const Arguments& arguments) {
  const Result<Assignments> assignments = parse(arguments);
  const Result<CompileOptions> options = lowering_options(arguments.strategy);
  if (!assignments.ok() || !options.ok()) {
    print_error((assignments.ok() ? options.error() : assignments.error()).to_string());
    return Outcome{{}, kUsageError};
  }
  Progress progress;
  progress.show(format("loading {}", arguments.program));
  WAVEGATE_TRY(const Job job, load(arguments.program, *assignments));
  if (arguments.dry_run) return check_only(arguments.program, job, *options, arguments.json);
  WAVEGATE_TRY(std::shared_ptr<device::Device> device, open_device_or_advise(arguments.device));
  progress.show(format("compiling {} for {}...", job.program.name(), device->profile().name));
  WAVEGATE_TRY(Executable executable, within(arguments.program, compile(job.program, std::move(device), *options)));
  executable.set_time_limit(arguments.time_limit);
  for (const io::ParameterValue& setting : job.settings)
    WAVEGATE_CHECK(within(arguments.program, executable.set(setting.parameter, setting.value)));
  progress.show(format("running {}...", job.program.name()));
  WAVEGATE_TRY(const Figures figures, within(arguments.program, measure(executable, job.program)));
  WAVEGATE_CHECK(write_outputs(executable, job));
  return Outcome{arguments.json ? json_of(job, figures) : text_of(job, figures)};
}

}  // namespace

void add_run(CLI::App& application, Action& action) {
  CLI::App* command =
      application.add_subcommand("run", "Run a program file: buffers, kernels, loops and branches, all on the device.");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("program", arguments->program, "The program, described in docs/program-file.md")
      ->required()
      ->option_text("PROGRAM.json");
  const auto add_assignments = [&](const char* name, std::vector<std::string>& into, const char* help,
                                   const char* value) {
    command->add_option(name, into, help)->allow_extra_args(false)->option_text(value);
  };
  add_assignments("--in", arguments->inputs, "What a buffer holds at first; as often as needed", "NAME=FILE.npy");
  add_assignments("--out", arguments->outputs, "Where to write a buffer after the run; as often as needed",
                  "NAME=FILE.npy");
  add_assignments("--set", arguments->settings, "The value of a launch parameter; as often as needed", "NAME=VALUE");
  command->add_option("--device", arguments->device, "Part of a device's name (default: the best Vulkan device)")
      ->option_text("NAME");
  add_strategy_options(*command, arguments->strategy);
  add_time_limit(*command, arguments->time_limit);
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "Check program, inputs and settings for the reference device's profile; open no device, run nothing");
  command->add_flag("--json", arguments->json, "Print one object instead of tables");
  command->footer(
      "Outputs are written after the whole run succeeded and all were read, each to a new file that is then renamed.\n"
      "If one cannot be written, those named before it are.\n\n"
      "Examples:\n"
      "  wavegate run heat.json --set tolerance=0.001 --out u=u.npy\n"
      "  wavegate run saxpy.json --in x=x.npy --in y=y.npy --out y=result.npy --json\n"
      "  wavegate run heat.json --strategy early-out --host-free\n"
      "  wavegate run heat.json --dry-run");
  command->callback([arguments, &action] { action = [arguments] { return run_program(*arguments); }; });
}

}  // namespace wavegate::cli
