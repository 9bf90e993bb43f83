#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/api/calibrate.h"
#include "wavegate/api/engine.h"
#include "wavegate/api/kept.h"
#include "wavegate/api/solve_program.h"
#include "wavegate/base/format.h"
#include "wavegate/device/reference/device.h"
#include "wavegate/device/webgpu/device.h"
#include "wavegate/io/json.h"
#include "wavegate/io/load_matrix.h"
#include "wavegate/io/program_file.h"
#include "wavegate/io/program_inputs.h"
#include "wavegate/web/calibration.h"
#include "wavegate/web/compile_options.h"
#include "wavegate/web/handles.h"
#include "wavegate/web/report.h"

// What web/lib/engine.js calls. Every function that can fail returns 0 where it did, and leaves the error as JSON text;
// others that have something to tell leave that. The text stays until the next call. Objects are numbers, and bytes lie
// in memory that the page took with malloc().

#define WAVEGATE_EXPORT(name) extern "C" __attribute__((export_name(#name)))
#define WAVEGATE_IMPORT(name) extern "C" __attribute__((import_module("host"), import_name(#name)))

/// The size of a file that the page gives along with a program, or -1; and its content.
WAVEGATE_IMPORT(file_size) double import_file_size(const char* path, uint32_t path_bytes);
WAVEGATE_IMPORT(file_content) void import_file_content(const char* path, uint32_t path_bytes, std::byte* into);

/// Tells the page that what it started with this id has ended: with a status other than 0, or 0 and an error as answer.
WAVEGATE_IMPORT(done) void import_done(uint32_t id, uint32_t status);

namespace wavegate::web {
namespace {

/// A linear system, and the program that solves it.
struct System {
  io::CsrMatrix matrix;
  std::unique_ptr<SolveProgram> solve;
};

struct Source {
  std::shared_ptr<program::Program> program;
  std::shared_ptr<const System> system = {};  ///< null: a program of the page's own
};

struct Compiled {
  Source source;
  Executable executable;
  device::Counters before = {};  ///< as the last run was submitted
};

Handles<std::shared_ptr<device::Device>> devices;
Handles<Source> programs;
Handles<std::unique_ptr<Compiled>> executables;
Handles<std::shared_ptr<void>> encodings;  ///< what recorded commands refer to
std::string answer;

uint32_t failed(const Error& error) {
  answer = to_json(error);
  return 0;
}

uint32_t result(const Result<void>& done) {
  if (!done) return failed(done.error());
  return 1;
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, uint64_t maximum_bytes) {
  const std::string name = path.string();
  const auto name_bytes = static_cast<uint32_t>(name.size());
  const double size = import_file_size(name.data(), name_bytes);
  if (size < 0) return invalid_input("is not among the files that were given with the program", name);
  if (size > static_cast<double>(maximum_bytes))
    return invalid_input(format("the file holds {} bytes, more than the limit of {}", size, maximum_bytes), name);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  import_file_content(name.data(), name_bytes, bytes.data());
  return bytes;
}

Result<program::Buffer> buffer_named(const program::Program& program, std::string_view name) {
  if (const auto buffer = program.find_buffer(name)) return *buffer;
  std::vector<std::string_view> names;
  for (const program::BufferInfo& info : program.buffers()) names.push_back(info.name);
  return invalid_input(format("the program has no buffer \"{}\"{}", name, io::suggestion(name, names)));
}

Result<void> set_input(program::Program& program, std::string_view name, std::span<const std::byte> bytes) {
  WAVEGATE_TRY(const program::Buffer buffer, buffer_named(program, name));
  const program::BufferInfo& info = program.info(buffer);
  if (info.external) return invalid_input(format("buffer \"{}\" is bound by the application", name));
  if (bytes.size() != info.bytes())
    return invalid_input(
        format("buffer \"{}\" has {} bytes, but its contents have {}", name, info.bytes(), bytes.size()));
  program.set_initial(buffer, program::Initial::copy_of(bytes));
  return {};
}

Result<uint32_t> make_executable(uint32_t program, uint32_t device, std::string_view options_json) {
  WAVEGATE_TRY(const CompileOptions options, parse_compile_options(options_json));
  const Source& source = *programs.find(program);
  WAVEGATE_TRY(Executable executable, compile(*source.program, *devices.find(device), options));
  return executables.add(std::make_unique<Compiled>(Compiled{source, std::move(executable)}));
}

Result<void> set_parameter(Compiled& compiled, std::string_view name, std::string_view text) {
  WAVEGATE_TRY(const io::ParameterValue value, io::parse_parameter(*compiled.source.program, name, text));
  return compiled.executable.set(value.parameter, value.value);
}

/// The program that solves a system with the matrix of a file, and with a right-hand side or the default one.
Result<Source> make_system(const std::string& name, std::span<const std::byte> file, std::span<const std::byte> b,
                           const SolveOptions& options, const target::Profile& profile) {
  auto system = std::make_shared<System>();
  WAVEGATE_TRY(system->matrix, io::parse_matrix(name, file));
  std::vector<float> rhs = default_right_hand_side(system->matrix.rows);
  if (!b.empty()) {
    rhs.resize(b.size() / sizeof(float));
    std::memcpy(rhs.data(), b.data(), rhs.size() * sizeof(float));
  }
  WAVEGATE_TRY(system->solve, SolveProgram::make(system->matrix, rhs, options, profile));
  WAVEGATE_CHECK(system->solve->solve());
  return Source{std::shared_ptr<program::Program>(system, &system->solve->program()), system};
}

bool is_webgpu(const device::Device& device) {
  return device.profile().backend == "webgpu";
}

device::webgpu::Kept kept_by_the_page() {
  return {read_kept, keep};
}

/// Tells the page of a device that was asked for.
std::function<void(Result<std::unique_ptr<device::Device>>)> tell_of_device(uint32_t id) {
  return [id](Result<std::unique_ptr<device::Device>> opened) {
    import_done(id, opened ? devices.add(std::move(*opened)) : failed(opened.error()));
  };
}

/// Starts a run, and tells the page when it has ended.
Result<void> start(uint32_t id, Compiled& compiled) {
  Executable& executable = compiled.executable;
  compiled.before = executable.device().counters();
  WAVEGATE_CHECK(executable.submit());
  if (is_webgpu(executable.device()))
    return device::webgpu::when_done(executable.device_executable(),
                                     [id](Result<void> ended) { import_done(id, result(ended)); });
  import_done(id, result(executable.wait()));
  return {};
}

Result<std::string> finished(Compiled& compiled) {
  WAVEGATE_CHECK(compiled.executable.check_computed_grids());
  return report(*compiled.source.program, compiled.executable, compiled.before);
}

Result<void> lend(Compiled& compiled, std::string_view name, uint32_t buffer, double bytes) {
  WAVEGATE_TRY(const program::Buffer external, buffer_named(*compiled.source.program, name));
  WAVEGATE_TRY(std::shared_ptr<device::Buffer> memory,
               device::webgpu::borrow(compiled.executable.device(), buffer, static_cast<uint64_t>(bytes)));
  return compiled.executable.bind(external, std::move(memory));
}

Result<uint32_t> buffer_object(Compiled& compiled, std::string_view name) {
  WAVEGATE_TRY(const program::Buffer buffer, buffer_named(*compiled.source.program, name));
  WAVEGATE_TRY(const device::webgpu::BufferPlace place,
               device::webgpu::buffer_of(compiled.executable.device_executable(),
                                         compiled.executable.plan().buffers[buffer.id].buffer));
  answer = format("{{\"offset\":{},\"size\":{}}}", place.offset, place.bytes);
  return static_cast<uint32_t>(place.buffer);
}

Compiled& compiled(uint32_t executable) {
  return **executables.find(executable);
}

}  // namespace

WAVEGATE_EXPORT(answer) const char* answer_text() {
  return answer.data();
}
WAVEGATE_EXPORT(answer_bytes) uint32_t answer_bytes() {
  return static_cast<uint32_t>(answer.size());
}

// ---- devices

WAVEGATE_EXPORT(open_reference) uint32_t open_reference() {
  device::reference::Options options;
  options.memory_bytes =
      uint64_t{1} << 30;  // of the 4 GiB that a wasm can address, twice over: it keeps what was written
  return devices.add(std::shared_ptr<device::Device>(device::reference::make_device(options)));
}
/// Asks the browser for a device; the page is told its number.
WAVEGATE_EXPORT(open_webgpu) uint32_t open_webgpu(uint32_t id) {
  device::webgpu::Options options;
  options.kept = kept_by_the_page();
  device::webgpu::open_later(options, tell_of_device(id));
  return 1;
}
/// The same with a GPUDevice of the page's own.
WAVEGATE_EXPORT(adopt_webgpu) uint32_t adopt_webgpu(uint32_t id, uint32_t device) {
  device::webgpu::AdoptedDevice adopted;
  adopted.device = device;
  adopted.kept = kept_by_the_page();
  device::webgpu::adopt_later(adopted, tell_of_device(id));
  return 1;
}
/// Measures what commands cost on a WebGPU device, and keeps it; the page is told when that is done.
WAVEGATE_EXPORT(calibrate) uint32_t calibrate_device(uint32_t id, uint32_t device) {
  calibrate_later(*devices.find(device),
                  [id](Result<target::Costs> costs) { import_done(id, costs ? 1 : failed(costs.error())); });
  return 1;
}
/// The costs that were measured; 0 if none were.
WAVEGATE_EXPORT(measured_costs) uint32_t measured_costs(uint32_t device) {
  const auto costs = calibrated_costs((*devices.find(device))->profile());
  if (!costs) return 0;
  answer = to_json(*costs);
  return 1;
}
WAVEGATE_EXPORT(describe_device) void describe_device(uint32_t device) {
  answer = to_json((*devices.find(device))->profile());
}
WAVEGATE_EXPORT(release_device) void release_device(uint32_t device) {
  devices.remove(device);
}

// ---- programs

WAVEGATE_EXPORT(parse_program)
uint32_t parse_program(const char* name, uint32_t name_bytes, const char* json, uint32_t json_bytes) {
  io::ProgramFileOptions options;
  options.name = std::string(name, name_bytes);
  options.read = read_file;
  Result<program::Program> program = io::parse_program({json, json_bytes}, options);
  if (!program) return failed(program.error());
  return programs.add(Source{std::make_shared<program::Program>(std::move(*program))});
}
/// The program that solves a system; the file is .mtx or .graph by its name, and `b` may be empty.
WAVEGATE_EXPORT(parse_system)
uint32_t parse_system(uint32_t device, const char* name, uint32_t name_bytes, const std::byte* file,
                      uint32_t file_bytes, const std::byte* b, uint32_t b_bytes, double tolerance,
                      double max_iterations, uint32_t jacobi) {
  SolveOptions options;
  options.tolerance = tolerance;
  options.max_iterations = static_cast<uint32_t>(max_iterations);
  options.jacobi = jacobi != 0;
  Result<Source> source = make_system(std::string(name, name_bytes), {file, file_bytes}, {b, b_bytes}, options,
                                      (*devices.find(device))->profile());
  if (!source) return failed(source.error());
  return programs.add(std::move(*source));
}
/// The address of what a buffer holds at first, and its size as answer; 0 if it is one word repeated or nothing.
WAVEGATE_EXPORT(initial_contents)
const std::byte* initial_contents(uint32_t program, const char* name, uint32_t name_bytes) {
  const program::Program& source = *programs.find(program)->program;
  const auto buffer = source.find_buffer({name, name_bytes});
  if (!buffer || !source.info(*buffer).initial || !source.info(*buffer).initial->bytes) return nullptr;
  const std::vector<std::byte>& bytes = *source.info(*buffer).initial->bytes;
  answer = format("{}", bytes.size());
  return bytes.data();
}
WAVEGATE_EXPORT(describe_program) void describe_program(uint32_t program) {
  answer = describe(*programs.find(program)->program);
}
/// What a buffer holds at creation and after reset.
WAVEGATE_EXPORT(set_input)
uint32_t set_input(uint32_t program, const char* name, uint32_t name_bytes, const std::byte* data, uint32_t bytes) {
  return result(set_input(*programs.find(program)->program, {name, name_bytes}, {data, bytes}));
}
/// Makes a buffer readable after a run.
WAVEGATE_EXPORT(add_output) uint32_t add_output(uint32_t program, const char* name, uint32_t name_bytes) {
  const Result<program::Buffer> buffer = buffer_named(*programs.find(program)->program, {name, name_bytes});
  if (!buffer) return failed(buffer.error());
  programs.find(program)->program->output(*buffer);
  return 1;
}
WAVEGATE_EXPORT(release_program) void release_program(uint32_t program) {
  programs.remove(program);
}

// ---- executables

WAVEGATE_EXPORT(compile)
uint32_t compile_program(uint32_t program, uint32_t device, const char* options, uint32_t options_bytes) {
  const Result<uint32_t> executable = make_executable(program, device, {options, options_bytes});
  if (!executable) return failed(executable.error());
  return *executable;
}
WAVEGATE_EXPORT(describe) void describe_executable(uint32_t executable) {
  answer = describe(*compiled(executable).source.program, compiled(executable).executable);
}
/// Sets a launch parameter from the text of a number.
WAVEGATE_EXPORT(set_parameter)
uint32_t set_parameter(uint32_t executable, const char* name, uint32_t name_bytes, const char* value,
                       uint32_t value_bytes) {
  return result(set_parameter(compiled(executable), {name, name_bytes}, {value, value_bytes}));
}
WAVEGATE_EXPORT(write)
uint32_t write(uint32_t executable, const char* name, uint32_t name_bytes, double offset, const std::byte* data,
               uint32_t bytes) {
  Compiled& to = compiled(executable);
  const Result<program::Buffer> buffer = buffer_named(*to.source.program, {name, name_bytes});
  if (!buffer) return failed(buffer.error());
  return result(to.executable.write_bytes(*buffer, static_cast<uint64_t>(offset), {data, bytes}));
}
WAVEGATE_EXPORT(read)
uint32_t read(uint32_t executable, const char* name, uint32_t name_bytes, std::byte* into, uint32_t bytes) {
  Compiled& from = compiled(executable);
  const Result<program::Buffer> buffer = buffer_named(*from.source.program, {name, name_bytes});
  if (!buffer) return failed(buffer.error());
  return result(from.executable.read_bytes(*buffer, 0, {into, bytes}));
}
WAVEGATE_EXPORT(reset) uint32_t reset(uint32_t executable) {
  return result(compiled(executable).executable.reset());
}
WAVEGATE_EXPORT(set_time_limit) void set_time_limit(uint32_t executable, double seconds) {
  compiled(executable).executable.set_time_limit(seconds > 0 ? std::optional(seconds) : std::nullopt);
}
/// Starts a run. When the page is told that it is done, finish() says how it went.
WAVEGATE_EXPORT(submit) uint32_t submit(uint32_t id, uint32_t executable) {
  return result(start(id, compiled(executable)));
}
WAVEGATE_EXPORT(finish) uint32_t finish(uint32_t executable) {
  Result<std::string> text = finished(compiled(executable));
  if (!text) return failed(text.error());
  answer = std::move(*text);
  return 1;
}

/// The solution of a system after a run, one double a row: reports how the run went, and writes them.
WAVEGATE_EXPORT(solution) uint32_t solution(uint32_t executable, double* into, uint32_t rows) {
  Compiled& solved = compiled(executable);
  if (solved.source.system == nullptr) return failed(invalid_input("the program is not one that solves a system"));
  SolveReport report;
  if (const Result<void> told = solved.source.system->solve->report(solved.executable, report); !told)
    return failed(told.error());
  std::copy_n(report.x.data(), std::min<size_t>(rows, report.x.size()), into);
  answer = to_json(report);
  return 1;
}

// ---- what only WebGPU has; GPU objects are the page's numbers for them

WAVEGATE_EXPORT(bind)
uint32_t bind(uint32_t executable, const char* name, uint32_t name_bytes, uint32_t buffer, double bytes) {
  return result(lend(compiled(executable), {name, name_bytes}, buffer, bytes));
}
/// The number of the GPUBuffer that holds a buffer; where in it is the answer.
WAVEGATE_EXPORT(place) uint32_t place(uint32_t executable, const char* name, uint32_t name_bytes) {
  const Result<uint32_t> object = buffer_object(compiled(executable), {name, name_bytes});
  if (!object) return failed(object.error());
  return *object;
}
/// Records a run. The number is of what the commands refer to: released when they have been submitted.
WAVEGATE_EXPORT(encode) uint32_t encode(uint32_t executable, uint32_t encoder) {
  auto refers_to = device::webgpu::encode(compiled(executable).executable.device_executable(), encoder);
  if (!refers_to) return failed(refers_to.error());
  return encodings.add(std::move(*refers_to));
}
WAVEGATE_EXPORT(release_encoding) void release_encoding(uint32_t encoding) {
  encodings.remove(encoding);
}
WAVEGATE_EXPORT(release_executable) void release_executable(uint32_t executable) {
  executables.remove(executable);
}

}  // namespace wavegate::web
