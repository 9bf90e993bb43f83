// wavegate-bench-solve: conjugate gradients against the device's memory.
//
// For each matrix: the bytes that an iteration must move, the time that it takes, and their quotient as a share of the
// bandwidth at which the same device copies large buffers in the same run.
//   bytes      what the dispatches of an iteration read and write at least: the matrix once (8 bytes a nonzero, 4 a
//   row),
//              and every vector once in each dispatch that needs it, however often the dispatch comes back to an
//              element
//   direct     device time of an iteration, spelled out in one submission with no control flow: the difference between
//              a long and a short chain
//   solve      the same with the loop of solve() and its tests on the device: from submission to the end of the wait
//   Eigen      the same iterations on one core of the host, in f32
//   cuSPARSE   the same iterations by cuSPARSE and cuBLAS, where these libraries are, in a CUDA graph and without
// Every figure is a median.

#include <CLI/CLI.hpp>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "solve_cuda.h"
#include "wavegate/api/solve.h"
#include "wavegate/base/format.h"
#include "wavegate/io/load_matrix.h"
#include "wavegate/ops/conjugate_gradient.h"
#include "wavegate/wavegate.h"

namespace wavegate {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::Program;
using DevicePointer = std::shared_ptr<device::Device>;

struct Settings {
  bool quick = false, json = false, skip_eigen = false, skip_solve = false, skip_cuda = false;
  uint32_t chain = 48;  ///< iterations of the long chain
  uint32_t runs = 5;
  uint32_t iterations = 100;  ///< bound of solve()
  uint32_t points = 7;        ///< of the grids' stencil
  std::optional<ops::Mapping> mapping;
};

struct Problem {
  std::string name;
  io::CsrMatrix matrix;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The Laplacian on a grid with Dirichlet boundary, by the 6 neighbours of a point, or by all 26.
Result<io::CsrMatrix> poisson(const std::array<uint32_t, 3>& side, uint32_t points) {
  const uint64_t rows = uint64_t{side[0]} * side[1] * side[2];
  if (rows == 0 || points * rows > io::kMaximumIndex) return invalid_input(format("a grid of {} points", rows));
  io::CsrMatrix made{static_cast<uint32_t>(rows), static_cast<uint32_t>(rows), {0}, {}, {}};
  made.row_offsets.reserve(rows + 1);
  made.column_indices.reserve(points * rows);
  made.values.reserve(points * rows);
  const auto end = [&](size_t k, uint32_t at) { return std::min(at + 1, side[k] - 1); };
  const auto begin = [](uint32_t at) { return at == 0 ? 0 : at - 1; };
  for (uint32_t z = 0; z < side[2]; ++z)
    for (uint32_t y = 0; y < side[1]; ++y)
      for (uint32_t x = 0; x < side[0]; ++x) {
        for (uint32_t k = begin(z); k <= end(2, z); ++k)
          for (uint32_t j = begin(y); j <= end(1, y); ++j)
            for (uint32_t i = begin(x); i <= end(0, x); ++i) {
              const int apart = (i != x ? 1 : 0) + (j != y ? 1 : 0) + (k != z ? 1 : 0);
              if (points == 7 && apart > 1) continue;
              made.column_indices.push_back((k * side[1] + j) * side[0] + i);
              made.values.push_back(apart == 0 ? static_cast<float>(points - 1) : -1.0f);
            }
        made.row_offsets.push_back(static_cast<uint32_t>(made.values.size()));
      }
  return made;
}

struct RunTime {
  double device = 0;  ///< seconds by the device's timestamps, or the host's where it has none
  double host = 0;    ///< seconds from submission to the end of the wait
};

/// Medians, after a warm-up: one run, and on a GPU as many as bring its clocks up from rest.
Result<RunTime> time_of(Executable& executable, uint32_t runs) {
  const Clock warm_up;
  const double least = executable.device().profile().is_cpu ? 0.0 : 0.25;
  do WAVEGATE_CHECK(executable.run());
  while (warm_up.seconds() < least);
  std::vector<double> device, host;
  for (uint32_t run = 0; run < runs; ++run) {
    const Clock clock;
    WAVEGATE_CHECK(executable.run());
    host.push_back(clock.seconds());
    device.push_back(executable.device_seconds() >= 0 ? executable.device_seconds() : host.back());
  }
  return RunTime{median(device), median(host)};
}

// ---- the device's copy bandwidth ----

Result<kir::Kernel> copy_kernel() {
  constexpr uint32_t width = 256, each = 4;
  Builder b("copy", {width});
  auto from = b.buffer("from", Type::f32, Access::read);
  auto to = b.buffer("to", Type::f32, Access::write);
  const Expr blocks = b.parameter("blocks", Type::i32);
  b.for_(b.workgroup_id(), blocks, b.grid(), [&](Expr block) {
    const Expr first = block * (width * each) + b.local_id();
    std::vector<Expr> values;
    for (uint32_t k = 0; k < each; ++k) values.push_back(from[first + k * width]);
    for (uint32_t k = 0; k < each; ++k) to[first + k * width] = values[k];
  });
  return b.finish();
}

struct CopyBandwidth {
  double command = 0, kernel = 0;  ///< bytes read and written a second
  double best() const { return std::max(command, kernel); }
};

Result<CopyBandwidth> copy_bandwidth(const Settings& settings, const DevicePointer& device) {
  const target::Profile& profile = device->profile();
  const uint64_t wanted = profile.is_cpu ? uint64_t{64} << 20 : uint64_t{1} << 30;
  const uint64_t count = std::min(wanted, profile.limits.binding_bytes) / 4 / 1024 * 1024;
  const auto blocks = static_cast<uint32_t>(count / 1024);
  WAVEGATE_TRY(kir::Kernel kernel, copy_kernel());
  const auto source = program::make_kernel_source(std::move(kernel));
  const auto bandwidth = [&](bool by_command) -> Result<double> {
    Program program("copy");
    const Buffer a = program.buffer("a", Type::f32, count, Initial::repeated(1.0f));
    const Buffer b = program.buffer("b", Type::f32, count, Initial::repeated(2.0f));
    constexpr uint32_t copies = 8;
    for (uint32_t k = 0; k < copies; ++k) {
      const Buffer from = k % 2 == 0 ? a : b, to = k % 2 == 0 ? b : a;
      if (by_command)
        program.copy({"copy", from, to, 0, 0, count});
      else
        program.dispatch({"copy",
                          source,
                          {from, to},
                          {program::literal(blocks)},
                          program::Grid{std::min(blocks, profile.limits.grid[0]), 1, 1},
                          {}});
    }
    WAVEGATE_TRY(Executable executable, compile(program, device));
    WAVEGATE_TRY(const RunTime time, time_of(executable, settings.runs));
    return 2.0 * 4.0 * static_cast<double>(count) * copies / time.device;
  };
  CopyBandwidth result;
  WAVEGATE_TRY(result.command, bandwidth(true));
  WAVEGATE_TRY(result.kernel, bandwidth(false));
  return result;
}

// ---- an iteration of ours ----

/// A matrix in memory that outlives the programs that use it.
class DeviceMatrix {
 public:
  static Result<DeviceMatrix> upload(const io::CsrMatrix& matrix, const DevicePointer& device) {
    DeviceMatrix made(matrix, device);
    WAVEGATE_TRY(made.offsets_, made.copy(matrix.row_offsets, Type::i32));
    WAVEGATE_TRY(made.columns_, made.copy(matrix.column_indices, Type::i32));
    WAVEGATE_TRY(made.values_, made.copy(matrix.values, Type::f32));
    return made;
  }

  program::CsrMatrix declare(Program& program) const {
    const uint64_t nonzeros = matrix_.values.size();
    return {program.external_buffer("A.row_offsets", Type::i32, matrix_.row_offsets.size()),
            program.external_buffer("A.column_indices", Type::i32, nonzeros),
            program.external_buffer("A.values", Type::f32, nonzeros),
            matrix_.rows,
            matrix_.columns,
            static_cast<uint32_t>(nonzeros)};
  }
  Result<void> bind(Executable& executable, const program::CsrMatrix& declared) const {
    WAVEGATE_CHECK(executable.bind(declared.row_offsets, offsets_));
    WAVEGATE_CHECK(executable.bind(declared.column_indices, columns_));
    return executable.bind(declared.values, values_);
  }
  const io::CsrMatrix& host() const { return matrix_; }
  const DevicePointer& device() const { return device_; }

 private:
  using Memory = std::shared_ptr<device::Buffer>;
  DeviceMatrix(const io::CsrMatrix& matrix, DevicePointer device) : matrix_(matrix), device_(std::move(device)) {}

  template <typename T>
  Result<Memory> copy(const std::vector<T>& elements, Type type) const {
    WAVEGATE_TRY(Memory memory, device_->allocate(sizeof(T) * elements.size()));
    Program program("upload");
    const Buffer from = program.buffer("from", type, elements.size(), Initial::copy_of(elements));
    const Buffer to = program.external_buffer("to", type, elements.size());
    program.copy({"upload", from, to, 0, 0, elements.size()});
    WAVEGATE_TRY(Executable executable, compile(program, device_));
    WAVEGATE_CHECK(executable.bind(to, memory));
    WAVEGATE_CHECK(executable.run());
    return memory;
  }

  const io::CsrMatrix& matrix_;
  DevicePointer device_;
  Memory offsets_, columns_, values_;
};

struct KernelTime {
  ops::Traffic traffic;
  double microseconds = 0;
};

struct Direct {
  uint64_t bytes = 0;  ///< an iteration
  double microseconds = 0;
  std::vector<KernelTime> kernels;        ///< of an iteration
  std::vector<KernelTime> true_residual;  ///< of what an iteration does besides when the true residual is due
};

/// Appends the dispatches with the label, or all if it is empty, out of branches too.
void append(const std::string& label, program::Node node, program::Body& body) {
  if (auto* branch = std::get_if<program::If>(&node.what)) {
    for (program::Node& inner : branch->then_body) append(label, std::move(inner), body);
    return;
  }
  const auto* dispatch = std::get_if<program::Dispatch>(&node.what);
  if (label.empty() || (dispatch != nullptr && dispatch->label == label)) body.push_back(std::move(node));
}

/// Device time of one more pass over the step's dispatches, or over the one with the given label.
Result<double> microseconds_of_step(const DeviceMatrix& matrix, std::span<const float> b, const std::string& label,
                                    const Settings& settings) {
  const auto chain_seconds = [&](uint32_t length) -> Result<double> {
    Program program("chain");
    const program::CsrMatrix declared = matrix.declare(program);
    const Buffer rhs = program.buffer("b", Type::f32, b.size(), Initial::copy_of(b));
    // With no tolerance and no drop the true residual is never due, so that every step does its work.
    ops::ConjugateGradientOptions options;
    options.tolerance = 0.0f;
    options.reliable_drop = 0.0f;
    options.mapping = settings.mapping;
    ops::ConjugateGradient solver(program, declared, rhs, {}, options, matrix.device()->profile());
    Result<void> status;
    const auto nodes_of = [&](auto&& build) { return program.collect([&] { status = build(); }); };
    program::Body body = nodes_of([&] { return solver.start(); });
    WAVEGATE_CHECK(status);
    for (uint32_t k = 0; k < length; ++k)
      for (program::Node& node : nodes_of([&] { return label.empty() ? solver.step() : solver.iteration(); }))
        append(label, std::move(node), body);
    WAVEGATE_CHECK(status);
    program.set_body(std::move(body));
    WAVEGATE_TRY(Executable executable, compile(program, matrix.device()));
    WAVEGATE_CHECK(matrix.bind(executable, declared));
    WAVEGATE_TRY(const RunTime time, time_of(executable, settings.runs));
    return time.device;
  };
  const uint32_t longer = settings.chain, shorter = std::max(1u, settings.chain / 4);
  WAVEGATE_TRY(const double all, chain_seconds(longer));
  WAVEGATE_TRY(const double few, chain_seconds(shorter));
  return (all - few) / (longer - shorter) * 1e6;
}

Result<Direct> measure_direct(const DeviceMatrix& matrix, std::span<const float> b, const Settings& settings) {
  Direct result;
  WAVEGATE_TRY(result.microseconds, microseconds_of_step(matrix, b, {}, settings));
  Program program("traffic");
  const Buffer rhs = program.buffer("b", Type::f32, b.size(), Initial::zero());
  const ops::ConjugateGradient solver(program, matrix.declare(program), rhs, {}, {}, matrix.device()->profile());
  const auto measure_kernels = [&](const std::vector<ops::Traffic>& list,
                                   std::vector<KernelTime>& times) -> Result<void> {
    for (const ops::Traffic& traffic : list) {
      KernelTime time{traffic};
      WAVEGATE_TRY(time.microseconds, microseconds_of_step(matrix, b, traffic.label, settings));
      times.push_back(time);
    }
    return {};
  };
  WAVEGATE_CHECK(measure_kernels(solver.traffic(), result.kernels));
  WAVEGATE_CHECK(measure_kernels(solver.true_residual_traffic(), result.true_residual));
  for (const KernelTime& kernel : result.kernels) result.bytes += kernel.traffic.bytes;
  return result;
}

// ---- what stands beside it ----

/// Eigen's conjugate gradients on one core, in f32 and without a preconditioner: microseconds an iteration.
double eigen_microseconds(const io::CsrMatrix& matrix, std::span<const float> b, const Settings& settings) {
  using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor, int>;
  const auto as_int = [](const std::vector<uint32_t>& indices) { return reinterpret_cast<const int*>(indices.data()); };
  const Matrix a =
      Eigen::Map<const Matrix>(matrix.rows, matrix.columns, static_cast<Eigen::Index>(matrix.values.size()),
                               as_int(matrix.row_offsets), as_int(matrix.column_indices), matrix.values.data());
  const Eigen::VectorXf rhs = Eigen::Map<const Eigen::VectorXf>(b.data(), static_cast<Eigen::Index>(b.size()));
  Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> solver(a);
  solver.setTolerance(0);
  const bool large = matrix.rows > 1u << 20;
  solver.setMaxIterations(large ? 5 : 20);
  std::vector<double> times;
  for (uint32_t run = 0; run <= (large ? 1 : settings.runs); ++run) {
    const Clock clock;
    const Eigen::VectorXf x = solver.solve(rhs);
    const double seconds = clock.seconds();
    if (run > 0 && x.allFinite()) times.push_back(seconds * 1e6 / static_cast<double>(solver.iterations()));
  }
  return times.empty() ? 0.0 : median(times);
}

struct Solved {
  double microseconds = 0;         ///< an iteration, from submission to the end of the wait
  double device_microseconds = 0;  ///< an iteration, by the device's timestamps
  uint32_t iterations = 0;
  bool converged = false;
};

/// The program of solve(), run again and again.
Result<Solved> measure_solve(const DeviceMatrix& matrix, std::span<const float> b, const Settings& settings) {
  Program program("solve");
  const program::CsrMatrix declared = matrix.declare(program);
  const Buffer rhs = program.buffer("b", Type::f32, b.size(), Initial::copy_of(b));
  ops::ConjugateGradientOptions options;
  options.max_iterations = settings.iterations;
  options.mapping = settings.mapping;
  ops::ConjugateGradient solver(program, declared, rhs, {}, options, matrix.device()->profile());
  WAVEGATE_CHECK(solver.solve());
  WAVEGATE_TRY(Executable executable, compile(program, matrix.device()));
  WAVEGATE_CHECK(matrix.bind(executable, declared));
  WAVEGATE_TRY(const RunTime time, time_of(executable, settings.runs));
  WAVEGATE_TRY(const LoopReport report, executable.loop(solver.loop));
  WAVEGATE_TRY(const uint32_t active, executable.read_bits(solver.active));
  const double each = 1e6 / std::max(1u, report.trips);
  return Solved{time.host * each, time.device * each, report.trips, active == 0};
}

// ---- the table ----

struct Row {
  const Problem* problem = nullptr;
  Direct direct;
  std::optional<Solved> solved;
  std::optional<double> eigen_microseconds;
  std::optional<bench::CudaTimes> cuda;
  std::string why_no_cuda;
};

double gigabytes_a_second(uint64_t bytes, double microseconds) {
  return static_cast<double>(bytes) / microseconds * 1e-3;
}

Result<Row> measure(const Problem& problem, const Settings& settings, const DevicePointer& device) {
  const std::vector<float> b = default_right_hand_side(problem.matrix.rows);
  Row row;
  row.problem = &problem;
  {
    WAVEGATE_TRY(const DeviceMatrix matrix, DeviceMatrix::upload(problem.matrix, device));
    WAVEGATE_TRY(row.direct, measure_direct(matrix, b, settings));
    if (!settings.skip_solve) {
      WAVEGATE_TRY(row.solved, measure_solve(matrix, b, settings));
    }
  }
  if (!settings.skip_eigen) row.eigen_microseconds = eigen_microseconds(problem.matrix, b, settings);
  if (settings.skip_cuda) {
    row.why_no_cuda = "left out";
    return row;
  }
  auto cuda = bench::CudaConjugateGradient::measure(problem.matrix, b, settings.chain, settings.runs);
  if (cuda)
    row.cuda = *cuda;
  else
    row.why_no_cuda = cuda.error().to_string();
  return row;
}

nlohmann::ordered_json to_json(const Row& row, const CopyBandwidth& copy, const target::Profile& profile) {
  const io::CsrMatrix& matrix = row.problem->matrix;
  const double rate = gigabytes_a_second(row.direct.bytes, row.direct.microseconds);
  nlohmann::ordered_json made = {{"device", profile.name},
                                 {"matrix", row.problem->name},
                                 {"rows", matrix.rows},
                                 {"nonzeros", matrix.values.size()},
                                 {"bytes_per_iteration", row.direct.bytes},
                                 {"microseconds_per_iteration", row.direct.microseconds},
                                 {"gigabytes_per_second", rate},
                                 {"copy_command_gigabytes_per_second", copy.command * 1e-9},
                                 {"copy_kernel_gigabytes_per_second", copy.kernel * 1e-9},
                                 {"share_of_copy", rate * 1e9 / copy.best()}};
  for (const KernelTime& kernel : row.direct.kernels)
    made["kernels"].push_back(
        {{"label", kernel.traffic.label},
         {"bytes", kernel.traffic.bytes},
         {"microseconds", kernel.microseconds},
         {"share_of_copy", static_cast<double>(kernel.traffic.bytes) / kernel.microseconds * 1e6 / copy.best()}});
  if (row.solved)
    made["solve"] = {{"microseconds_per_iteration", row.solved->microseconds},
                     {"device_microseconds_per_iteration", row.solved->device_microseconds},
                     {"iterations", row.solved->iterations},
                     {"converged", row.solved->converged}};
  if (row.eigen_microseconds) made["eigen_microseconds_per_iteration"] = *row.eigen_microseconds;
  if (row.cuda)
    made["cuda"] = {{"device", row.cuda->device},
                    {"graph_microseconds_per_iteration", row.cuda->graph_microseconds},
                    {"stream_microseconds_per_iteration", row.cuda->stream_microseconds},
                    {"product_microseconds", row.cuda->product_microseconds},
                    {"relative_residual", row.cuda->relative_residual}};
  else
    made["cuda"] = row.why_no_cuda;
  return made;
}

void print(const Row& row, const CopyBandwidth& copy) {
  const io::CsrMatrix& matrix = row.problem->matrix;
  const auto line = [&](const std::string& what, double microseconds, uint64_t bytes) {
    std::string text = format("  {:<34} {:>12.2f} us", what, microseconds);
    if (bytes > 0)
      text += format(" {:>12} bytes {:>8.1f} GB/s {:>6.1f} % of copy", bytes, gigabytes_a_second(bytes, microseconds),
                     static_cast<double>(bytes) / microseconds * 1e8 / copy.best());
    else
      text += format(" {:>8.2f} x direct", microseconds / row.direct.microseconds);
    std::puts(text.c_str());
  };
  std::puts(format("{}: {} rows, {} nonzeros", row.problem->name, matrix.rows, matrix.values.size()).c_str());
  line("direct", row.direct.microseconds, row.direct.bytes);
  for (const KernelTime& kernel : row.direct.kernels)
    line("  " + kernel.traffic.label, kernel.microseconds, kernel.traffic.bytes);
  std::puts("  when the true residual is due, also");
  for (const KernelTime& kernel : row.direct.true_residual)
    line("  " + kernel.traffic.label, kernel.microseconds, kernel.traffic.bytes);
  if (row.solved) {
    line("solve", row.solved->microseconds, 0);
    line("solve, device time", row.solved->device_microseconds, 0);
    std::puts(
        format("    {} after {} iterations", row.solved->converged ? "converged" : "stopped", row.solved->iterations)
            .c_str());
  }
  if (row.eigen_microseconds) line("Eigen, one core", *row.eigen_microseconds, 0);
  if (row.cuda) {
    line("cuSPARSE, CUDA graph", row.cuda->graph_microseconds, 0);
    line("cuSPARSE, stream", row.cuda->stream_microseconds, 0);
    line("cuSPARSE product alone", row.cuda->product_microseconds, 0);
    std::puts(format("    on {}; its residual fell to {:.2e}", row.cuda->device, row.cuda->relative_residual).c_str());
  } else {
    std::puts(format("  cuSPARSE: {}", row.why_no_cuda).c_str());
  }
  std::fflush(stdout);
}

Result<Problem> grid_problem(const std::string& text, uint32_t points) {
  std::array<uint32_t, 3> side{};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ux%ux%u%c", &side[0], &side[1], &side[2], &rest) != 3)
    return invalid_input(format("--poisson {}: give three sides, such as 256x256x256", text));
  WAVEGATE_TRY(io::CsrMatrix matrix, poisson(side, points));
  return Problem{format("poisson {} of {} points", text, points), std::move(matrix)};
}

Result<int> run(const std::string& name, const std::vector<std::string>& meshes, const std::vector<std::string>& grids,
                const Settings& settings) {
  WAVEGATE_TRY(const DevicePointer device, open_device(name));
  WAVEGATE_TRY(const CopyBandwidth copy, copy_bandwidth(settings, device));
  if (!settings.json)
    std::puts(format("{}: copies at {:.1f} GB/s by command, {:.1f} GB/s by kernel, bytes read and written",
                     device->profile().name, copy.command * 1e-9, copy.kernel * 1e-9)
                  .c_str());
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto report = [&](const Problem& problem) -> Result<void> {
    WAVEGATE_TRY(const Row row, measure(problem, settings, device));
    if (settings.json)
      list.push_back(to_json(row, copy, device->profile()));
    else
      print(row, copy);
    return {};
  };
  for (const std::string& mesh : meshes) {
    WAVEGATE_TRY(io::CsrMatrix matrix, io::load_matrix(mesh));
    WAVEGATE_CHECK(report({std::filesystem::path(mesh).stem(), std::move(matrix)}));
  }
  for (const std::string& grid : grids) {
    WAVEGATE_TRY(const Problem problem, grid_problem(grid, settings.points));
    WAVEGATE_CHECK(report(problem));
  }
  if (settings.json) std::puts(list.dump(2).c_str());
  return 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Conjugate gradients against the device's copy bandwidth, Eigen, and cuSPARSE with cuBLAS.");
  std::string name;
  std::vector<std::string> meshes, grids;
  Settings settings;
  app.add_option("--device", name, "Device, as for wavegate solve");
  app.add_option("--mesh", meshes, "A matrix or graph file, as for wavegate solve; may be repeated");
  app.add_option("--poisson", grids, "Sides of a grid, such as 256x256x256; may be repeated");
  app.add_option("--points", settings.points, "Entries of a row of --poisson")->check(CLI::IsMember({7, 27}));
  app.add_option("--iterations", settings.iterations, "Bound of solve()");
  std::string mapping;
  app.add_option("--mapping", mapping, "How the kernels lie over invocations, instead of the device's own")
      ->check(CLI::IsMember({"wide", "narrow"}));
  app.add_flag("--quick", settings.quick, "Shorter chains, fewer runs");
  app.add_flag("--json", settings.json, "One JSON list, one object a matrix");
  app.add_flag("--no-eigen", settings.skip_eigen, "Without Eigen");
  app.add_flag("--no-cuda", settings.skip_cuda, "Without cuSPARSE and cuBLAS");
  app.add_flag("--no-solve", settings.skip_solve, "Without solve()");
  CLI11_PARSE(app, argc, argv);
  if (meshes.empty() && grids.empty()) grids = {"64x64x64"};
  if (!mapping.empty()) settings.mapping = mapping == "wide" ? ops::Mapping::wide : ops::Mapping::narrow;
  if (settings.quick) {
    settings.chain = 8;
    settings.runs = 1;
    settings.iterations = std::min(settings.iterations, 20u);
  }
  auto status = run(name, meshes, grids, settings);
  if (status) return *status;
  std::fprintf(stderr, "wavegate-bench-solve: %s\n", status.error().to_string().c_str());
  return 1;
}

}  // namespace
}  // namespace wavegate

int main(int argc, char** argv) {
  return wavegate::main_of(argc, argv);
}
