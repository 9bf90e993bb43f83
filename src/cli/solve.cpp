#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "wavegate/api/solve.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/commands.h"
#include "wavegate/cli/json_text.h"
#include "wavegate/cli/strategy_options.h"
#include "wavegate/io/file.h"
#include "wavegate/io/load_matrix.h"
#include "wavegate/io/npy.h"

namespace wavegate::cli {
namespace {

/// Beyond this nobody waits for conjugate gradients, and strategies that spell iterations out refuse it sooner.
constexpr uint32_t kMaximumIterations = 1'000'000;

struct Arguments {
  std::string matrix;
  std::string right_hand_side;
  std::string out;
  std::string device;
  std::string preconditioner = "none";
  SolveOptions options;
  StrategyArguments strategy;
  bool json = false;
  bool compare = false;
};

/// What was solved and what came out.
struct Job {
  std::string device;
  std::string matrix_name;
  uint32_t rows = 0;
  size_t nonzeros = 0;
  SolveReport resident;
  std::optional<SolveReport> host_loop;
  bool same_bytes = true;
};

Result<std::vector<float>> load_right_hand_side(const std::string& path, uint32_t rows) {
  WAVEGATE_TRY(const std::vector<std::byte> bytes, io::read_file(path));
  WAVEGATE_TRY(const io::Array array, io::read_npy(bytes, path));
  if (std::ranges::count_if(array.shape, [](uint64_t extent) { return extent != 1; }) > 1)
    return invalid_input(format("has {} dimensions; the right-hand side has one", array.shape.size()), path);
  WAVEGATE_TRY(std::vector<float> values, io::to_f32(array));
  if (values.size() == rows) return values;
  return invalid_input(format("holds {} values, but the matrix has {} rows", values.size(), rows), path);
}

/// A first run also pays for fresh memory and cold caches, so that of two runs the second is reported.
template <typename Solve>
Result<SolveReport> second_of_two(const Solve& solve_once) {
  WAVEGATE_CHECK(solve_once());
  return solve_once();
}

bool same_bytes(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<uint64_t, double>, std::bit_cast<uint64_t, double>);
}

Result<Job> solve_job(const Arguments& arguments) {
  if (!arguments.out.empty()) WAVEGATE_CHECK(check_output_path(arguments.out));
  Progress progress;
  progress.show(format("loading {}", arguments.matrix));
  WAVEGATE_TRY(const io::CsrMatrix matrix, io::load_matrix(arguments.matrix));
  std::vector<float> b = default_right_hand_side(matrix.rows);
  if (!arguments.right_hand_side.empty()) {
    WAVEGATE_TRY(b, load_right_hand_side(arguments.right_hand_side, matrix.rows));
  }
  WAVEGATE_TRY(const std::shared_ptr<device::Device> device, open_device_or_advise(arguments.device));

  progress.show(format("solving {} on {}...", arguments.matrix, device->profile().name));
  const auto resident = [&] { return solve(matrix, b, arguments.options, device); };
  const auto host_loop = [&] {
    return solve_with_host_loop(matrix, b, arguments.options, device, [&](uint32_t iteration) {
      if (iteration % 16 == 0) progress.show(format("host loop: iteration {}", iteration));
    });
  };
  Job job{device->profile().name, arguments.matrix, matrix.rows, matrix.column_indices.size(), {}, {}};
  if (!arguments.compare) {
    WAVEGATE_TRY(job.resident, resident());
    return job;
  }
  WAVEGATE_TRY(job.resident, second_of_two(resident));
  progress.show("host loop...");
  WAVEGATE_TRY(job.host_loop, second_of_two(host_loop));
  job.same_bytes = same_bytes(job.resident.x, job.host_loop->x);
  return job;
}

/// The figures of one way of solving, which JSON and the table share.
nlohmann::ordered_json figures(const SolveReport& report) {
  return {{"iterations", report.iterations},
          {"relative_residual", report.relative_residual},
          {"exit_reason", to_string(report.exit_reason)},
          {"seconds", report.seconds},
          {"submissions", report.counters.submissions},
          {"host_waits", report.counters.host_waits},
          {"readbacks", report.counters.readbacks},
          {"observations", report.counters.observations}};
}

std::string json_of(const Job& job) {
  nlohmann::ordered_json document = {{"device", job.device}, {"rows", job.rows}, {"nonzeros", job.nonzeros}};
  document.update(figures(job.resident));
  if (job.host_loop) {
    document["host_loop"] = figures(*job.host_loop);
    document["host_loop"]["same_bytes"] = job.same_bytes;
  }
  return json_text(document);
}

std::string text_of(const Job& job) {
  const struct {
    const char* label;
    std::string (*cell)(const SolveReport&);
  } lines[] = {
      {"iterations", [](const SolveReport& report) { return std::to_string(report.iterations); }},
      {"relative residual", [](const SolveReport& report) { return format("{:.3e}", report.relative_residual); }},
      {"exit reason", [](const SolveReport& report) { return std::string(to_string(report.exit_reason)); }},
      {"time", [](const SolveReport& report) { return seconds_text(report.seconds); }},
      {"submissions", [](const SolveReport& report) { return std::to_string(report.counters.submissions); }},
      {"host waits", [](const SolveReport& report) { return std::to_string(report.counters.host_waits); }},
      {"readbacks", [](const SolveReport& report) { return std::to_string(report.counters.readbacks); }},
      {"observations", [](const SolveReport& report) { return std::to_string(report.counters.observations); }},
  };
  const std::vector<Row> head = {{"device", job.device},
                                 {"matrix", job.matrix_name},
                                 {"rows", std::to_string(job.rows)},
                                 {"nonzeros", std::to_string(job.nonzeros)}};
  std::vector<Row> rows;
  if (job.host_loop) rows.push_back({"", "on the device", "host loop"});
  for (const auto& line : lines) {
    rows.push_back({line.label, line.cell(job.resident)});
    if (job.host_loop) rows.back().push_back(line.cell(*job.host_loop));
  }
  if (!job.host_loop) {
    rows.insert(rows.begin(), head.begin(), head.end());
    return table(rows);
  }
  constexpr Align kAlignment[] = {Align::left, Align::right, Align::right};
  return format("{}\n{}\nx has {} from both.\n", table(head), table(rows, kAlignment),
                job.same_bytes ? "the same bytes" : "DIFFERENT bytes");
}

Result<Outcome> run_solve(const Arguments& arguments) {
  WAVEGATE_TRY(const Job job, solve_job(arguments));
  const SolveExit reason = job.resident.exit_reason;
  if (!arguments.out.empty() && reason != SolveExit::breakdown) {
    WAVEGATE_TRY(const std::vector<std::byte> bytes, io::write_npy(io::make_array<double>(job.resident.x)));
    WAVEGATE_CHECK(io::write_file_atomically(arguments.out, bytes));
  }
  if (reason == SolveExit::breakdown)
    print_note(
        format("conjugate gradients broke down, as they do where the matrix is not symmetric positive definite{}",
               arguments.out.empty() ? "" : "; --out is not written"));
  return Outcome{arguments.json ? json_of(job) : text_of(job),
                 reason == SolveExit::converged && job.same_bytes ? 0 : kFailed};
}

}  // namespace

void add_solve(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand("solve",
                                                 "Solve A x = b by conjugate gradients, the loop and its convergence "
                                                 "test on the device: one wait.");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("matrix", arguments->matrix,
                   "A, symmetric positive definite: .mtx, or .graph for Laplacian + I; also .gz")
      ->required()
      ->option_text("MATRIX");
  command->add_option("--rhs", arguments->right_hand_side, "b, one number a row (default: fixed values in [-1, 1))")
      ->option_text("FILE.npy");
  command->add_option("--tolerance", arguments->options.tolerance, "Bound on |b - A x| / |b| (1e-6)")
      ->check(CLI::Range(1e-12, 1.0))
      ->option_text("NUMBER");
  command
      ->add_option("--max-iterations", arguments->options.max_iterations,
                   format("Iterations after which to stop, at most {} (1000)", kMaximumIterations))
      ->check(CLI::Range(0u, kMaximumIterations))
      ->option_text("N");
  command->add_option("--preconditioner", arguments->preconditioner, "none or jacobi (none)")
      ->check(CLI::IsMember({"none", "jacobi"}))
      ->option_text("NAME");
  command->add_option("--out", arguments->out, "Write x as float64; not after a breakdown")->option_text("FILE.npy");
  command->add_option("--device", arguments->device, "Part of a device's name (default: the best Vulkan device)")
      ->option_text("NAME");
  add_strategy_options(*command, arguments->strategy);
  command->add_flag("--json", arguments->json, "Print one object instead of a table");
  command->add_flag("--compare-host-loop", arguments->compare,
                    "Also solve with the loop on the host, and compare; each runs twice, the second is reported");
  command->footer(
      "Exits with 0 if it converged, 1 if not or if something failed, 2 if the arguments are wrong. A run that stops "
      "at\n"
      "the bound still writes --out. With --compare-host-loop each way runs twice and its second run is reported, "
      "since\n"
      "the first pays for fresh memory.\n\n"
      "The matrix and b are rounded to float32 when they are read, whatever their files hold. x and the residual are\n"
      "those of the rounded system.\n\n"
      "Examples:\n"
      "  wavegate solve poisson.mtx\n"
      "  wavegate solve 4elt.graph --preconditioner jacobi --tolerance 1e-8 --out x.npy\n"
      "  wavegate solve 4elt.graph --compare-host-loop --json\n"
      "  wavegate solve 4elt.graph --strategy early-out --host-free");
  command->callback([arguments, &action] {
    action = [arguments] {
      arguments->options.jacobi = arguments->preconditioner == "jacobi";
      const Result<CompileOptions> compile = lowering_options(arguments->strategy);
      if (!compile.ok()) {
        print_error(compile.error().to_string());
        return Result<Outcome>(Outcome{{}, kUsageError});
      }
      arguments->options.compile = *compile;
      return run_solve(*arguments);
    };
  });
}

}  // namespace wavegate::cli
