#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"
#include "wavegate/device/reference/device.h"
#include "wavegate/io/program_file.h"
#include "wavegate/io/program_inputs.h"
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

struct Compiled {
  std::shared_ptr<const program::Program> program;
  Executable executable;
  device::Counters before;  ///< as the last run was submitted
};

Handles<std::shared_ptr<device::Device>> devices;
Handles<std::shared_ptr<program::Program>> programs;
Handles<std::unique_ptr<Compiled>> executables;
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
  const std::shared_ptr<const program::Program> source = *programs.find(program);
  WAVEGATE_TRY(Executable executable, compile(*source, *devices.find(device), options));
  return executables.add(std::make_unique<Compiled>(Compiled{source, std::move(executable), {}}));
}

Result<void> set_parameter(Compiled& compiled, std::string_view name, std::string_view text) {
  WAVEGATE_TRY(const io::ParameterValue value, io::parse_parameter(*compiled.program, name, text));
  return compiled.executable.set(value.parameter, value.value);
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
  return devices.add(std::shared_ptr<device::Device>(device::reference::make_device()));
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
  return programs.add(std::make_shared<program::Program>(std::move(*program)));
}
WAVEGATE_EXPORT(describe_program) void describe_program(uint32_t program) {
  answer = describe(**programs.find(program));
}
/// What a buffer holds at creation and after reset.
WAVEGATE_EXPORT(set_input)
uint32_t set_input(uint32_t program, const char* name, uint32_t name_bytes, const std::byte* data, uint32_t bytes) {
  return result(set_input(**programs.find(program), {name, name_bytes}, {data, bytes}));
}
/// Makes a buffer readable after a run.
WAVEGATE_EXPORT(add_output) uint32_t add_output(uint32_t program, const char* name, uint32_t name_bytes) {
  const Result<program::Buffer> buffer = buffer_named(**programs.find(program), {name, name_bytes});
  if (!buffer) return failed(buffer.error());
  (*programs.find(program))->output(*buffer);
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
  answer = describe(*compiled(executable).program, compiled(executable).executable);
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
  const Result<program::Buffer> buffer = buffer_named(*to.program, {name, name_bytes});
  if (!buffer) return failed(buffer.error());
  return result(to.executable.write_bytes(*buffer, static_cast<uint64_t>(offset), {data, bytes}));
}
WAVEGATE_EXPORT(read)
uint32_t read(uint32_t executable, const char* name, uint32_t name_bytes, std::byte* into, uint32_t bytes) {
  Compiled& from = compiled(executable);
  const Result<program::Buffer> buffer = buffer_named(*from.program, {name, name_bytes});
  if (!buffer) return failed(buffer.error());
  return result(from.executable.read_bytes(*buffer, 0, {into, bytes}));
}
WAVEGATE_EXPORT(reset) uint32_t reset(uint32_t executable) {
  return result(compiled(executable).executable.reset());
}
WAVEGATE_EXPORT(set_time_limit) void set_time_limit(uint32_t executable, double seconds) {
  compiled(executable).executable.set_time_limit(seconds > 0 ? std::optional(seconds) : std::nullopt);
}
/// Starts a run. It is done when the page is told so; then finish() says how it went.
WAVEGATE_EXPORT(submit) uint32_t submit(uint32_t id, uint32_t executable) {
  Compiled& started = compiled(executable);
  started.before = started.executable.device().counters();
  if (const Result<void> submitted = started.executable.submit(); !submitted) return failed(submitted.error());
  import_done(id, 1);
  return 1;
}
/// Ends a run that is done, and tells how it went.
WAVEGATE_EXPORT(finish) uint32_t finish(uint32_t executable) {
  Compiled& ended = compiled(executable);
  if (const Result<void> waited = ended.executable.wait(); !waited) return failed(waited.error());
  Result<std::string> text = report(*ended.program, ended.executable, ended.before);
  if (!text) return failed(text.error());
  answer = std::move(*text);
  return 1;
}
WAVEGATE_EXPORT(release_executable) void release_executable(uint32_t executable) {
  executables.remove(executable);
}

}  // namespace wavegate::web
