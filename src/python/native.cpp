#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "wavegate/amdgpu/object/container.h"
#include "wavegate/amdgpu/object/value_type.h"
#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/base/format.h"

/// The part of the Python module that is C++: files in, launches out. What people call, with its checks of arguments,
/// is in Python (python/wavegate), which alone calls this.
namespace wavegate::python {
namespace {

namespace py = pybind11;
namespace object = amdgpu::object;
namespace wave = amdgpu::wave;

/// How an error leaves a function that Python calls: pybind11 knows no other way. It becomes an exception of
/// wavegate.errors, by its kind.
struct Failure {
  Error error;
};

template <typename T>
T value_of(Result<T> result) {
  if (!result.ok()) throw Failure{std::move(result).error()};
  return std::move(result).value();
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(std::move(thrown));
  } catch (const Failure& failure) {
    const py::object exception =
        py::module_::import("wavegate.errors")
            .attr("of_kind")(std::string(to_string(failure.error.kind)), failure.error.message, failure.error.where);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

// ---------------------------------------------------------------- launches

/// How long nobody looks whether the user wants to end what runs.
constexpr auto kPatience = std::chrono::milliseconds(50);

/// What an argument is given: bytes, or memory of Python's, or room in LDS.
struct Given {
  std::string number;  ///< As Launch::set takes it.
  std::string bytes;
  bool is_buffer = false, is_lds = false;
  std::span<std::byte> memory;
  bool writable = false;
  std::uint32_t lds_bytes = 0;
  std::uint64_t address = 0;  ///< In the guest.
};

/// Arrays that share bytes must do so in the guest, too: those that overlap are one range.
Result<void> map_buffers(wave::GuestMemory& memory, std::vector<Given>& arguments) {
  std::vector<Given*> buffers;
  for (Given& argument : arguments)
    if (argument.is_buffer) buffers.push_back(&argument);
  std::ranges::sort(buffers, std::less<>(), [](const Given* buffer) { return buffer->memory.data(); });
  for (std::size_t i = 0; i < buffers.size();) {
    std::byte* const begin = buffers[i]->memory.data();
    const std::byte* end = begin + buffers[i]->memory.size();
    bool writable = buffers[i]->writable;
    std::string name = "argument " + buffers[i]->number;
    std::size_t next = i + 1;
    for (; next < buffers.size() && std::less<>()(buffers[next]->memory.data(), end); ++next) {
      end = std::max(end, static_cast<const std::byte*>(buffers[next]->memory.data() + buffers[next]->memory.size()),
                     std::less<>());
      writable |= buffers[next]->writable;
      name += ", " + buffers[next]->number;
    }
    // As aligned as it is here, since atomics are done in place.
    const std::uint64_t address = memory.next_address() + reinterpret_cast<std::uintptr_t>(begin) % 64;
    WAVEGATE_CHECK(memory.map_at(address, {begin, static_cast<std::size_t>(end - begin)}, name, writable));
    for (; i < next; ++i) buffers[i]->address = address + static_cast<std::uint64_t>(buffers[i]->memory.data() - begin);
  }
  return {};
}

/// A code object of a file. Its variables keep their values from launch to launch, as they do on a device.
class LoadedObject {
 public:
  LoadedObject(object::CodeObject object, std::shared_ptr<const std::vector<std::byte>> storage)
      : object_(std::move(object)), storage_(std::move(storage)) {}

  const object::CodeObject& object() const { return object_; }

  /// Waits while another thread runs a launch, unless this one is cancelled meanwhile.
  Result<wave::Report> run(wave::Launch launch, std::vector<Given> arguments, const wave::Options& options) {
    std::unique_lock lock(running_, std::defer_lock);
    while (!lock.try_lock_for(kPatience))
      if (options.cancelled->load())
        return invalid_input(format("kernel \"{}\": the launch was cancelled before it began", launch.kernel));
    wave::GuestMemory memory;
    WAVEGATE_TRY(const auto module, wave::Module::load(object_, memory));
    std::vector<std::span<std::byte>> variables;
    for (const object::ImageSegment& segment : module->image().segments)
      if (segment.writable && !segment.bytes.empty())
        variables.push_back(memory.at(segment.address, segment.bytes.size()));
    for (std::size_t i = 0; i < kept_.size(); ++i) std::ranges::copy(kept_[i], variables[i].begin());
    WAVEGATE_CHECK(map_buffers(memory, arguments));
    for (const Given& argument : arguments) {
      if (argument.is_buffer) {
        WAVEGATE_CHECK(launch.set(*module, argument.number, argument.address));
      } else if (argument.is_lds) {
        WAVEGATE_CHECK(launch.set_lds(*module, argument.number, argument.lds_bytes));
      } else {
        WAVEGATE_CHECK(launch.set(*module, argument.number, std::as_bytes(std::span(argument.bytes))));
      }
    }
    WAVEGATE_TRY(wave::Report report, wave::run(*module, memory, launch, options));
    kept_.clear();
    for (const std::span<std::byte> bytes : variables) kept_.emplace_back(bytes.begin(), bytes.end());
    return report;
  }

 private:
  object::CodeObject object_;
  std::shared_ptr<const std::vector<std::byte>> storage_;
  std::timed_mutex running_;
  std::vector<std::vector<std::byte>> kept_;  ///< What is in its variables.
};

/// Runs a launch on a thread of its own, so that Python's signals are looked at meanwhile: Ctrl-C ends it. Called with
/// the GIL held, which others may have until it returns.
template <typename Launch>
Result<wave::Report> run_interruptibly(std::atomic<bool>& cancelled, const Launch& launch) {
  std::future<Result<wave::Report>> report = std::async(std::launch::async, launch);
  const auto is_done = [&] {
    const py::gil_scoped_release release;
    return report.wait_for(kPatience) == std::future_status::ready;
  };
  bool interrupted = false;
  while (!is_done()) {
    if (interrupted || PyErr_CheckSignals() == 0) continue;
    interrupted = cancelled = true;
  }
  Result<wave::Report> result = report.get();
  if (interrupted) throw py::error_already_set();
  return result;
}

// ---------------------------------------------------------------- files

py::dict describe(const object::Argument& argument) {
  const auto type = object::value_type(argument);
  py::dict number = py::dict();
  if (type) {
    number["lanes"] = type->lanes;
    object::ValueType one = *type;
    one.lanes = 1;
    number["dtype"] = object::to_string(one);
  }
  py::dict all;
  all["name"] = argument.name;
  all["kind"] =
      argument.kind == object::ValueKind::unknown ? argument.kind_name : std::string(object::to_string(argument.kind));
  all["type"] = argument.type_name;
  all["offset"] = argument.offset;
  all["size"] = argument.size;
  all["number"] = type ? py::object(std::move(number)) : py::object(py::none());
  return all;
}

py::dict describe(const object::Kernel& kernel) {
  py::list arguments;
  for (const object::Argument& argument : kernel.arguments)
    if (!object::is_hidden(argument.kind)) arguments.append(describe(argument));
  py::dict all;
  all["name"] = kernel.name;
  all["wave"] = kernel.wave_width;
  all["sgprs"] = kernel.sgprs;
  all["vgprs"] = kernel.vgprs;
  all["lds_bytes"] = kernel.lds_bytes;
  all["scratch_bytes"] = kernel.scratch_bytes;
  all["max_workgroup"] = kernel.max_workgroup;
  all["required_workgroup"] = kernel.required_workgroup;
  all["arguments"] = kernel.has_metadata ? py::object(std::move(arguments)) : py::object(py::none());
  return all;
}

py::dict describe(const wave::Finding& finding) {
  py::dict all;
  all["kind"] = std::string(wave::to_string(finding.kind));
  all["offset"] = finding.offset;
  all["function"] = finding.function;
  all["file"] = finding.file;
  all["line"] = finding.line;
  all["instruction"] = finding.instruction;
  all["workgroup"] = py::make_tuple(finding.workgroup[0], finding.workgroup[1], finding.workgroup[2]);
  all["wave"] = finding.wave;
  all["lane"] = finding.lane;
  all["address"] = finding.address;
  all["detail"] = finding.detail;
  all["occurrences"] = finding.occurrences;
  all["text"] = wave::to_string(finding);
  return all;
}

py::dict describe(const wave::Report& report) {
  py::list findings;
  for (const wave::Finding& finding : report.findings) findings.append(describe(finding));
  py::dict all;
  all["workgroups"] = report.workgroups;
  all["waves"] = report.waves;
  all["instructions"] = report.instructions;
  all["lane_instructions"] = report.lane_instructions;
  all["seconds"] = report.seconds;
  all["findings"] = std::move(findings);
  return all;
}

/// The code objects of a file's bytes, of one target or of all.
class File {
 public:
  File(py::bytes content, const std::string& target) : content_(std::move(content)) {
    std::optional<object::CodeTarget> wanted;
    if (!target.empty()) {
      wanted = object::parse_code_target(target);
      if (!wanted)
        throw Failure{invalid_input(format("\"{}\" is no target, such as gfx1030 or gfx90a:xnack-", target))};
    }
    const std::string_view text = content_;
    std::string others;
    const auto visited = object::visit_code_objects(
        std::as_bytes(std::span(text)),
        [&](const object::FoundObject& found) -> Result<void> {
          WAVEGATE_TRY(object::CodeObject parsed, within(found.place, object::parse_code_object(found.bytes)));
          if (wanted && !object::matches(parsed.target, *wanted)) {
            const std::string name = parsed.target.to_string();
            if (others.find(name) == std::string::npos) others += (others.empty() ? "" : ", ") + name;
            return {};
          }
          objects_.push_back(std::make_unique<LoadedObject>(std::move(parsed), found.storage));
          return {};
        },
        {object::kDefaultMaximumBundle, kMaximumUnpacked});
    if (!visited.ok()) throw Failure{visited.error()};
    if (objects_.empty() && !others.empty())
      throw Failure{invalid_input(format("holds no code for {}, but for {}", target, others))};
  }

  py::list describe_objects() const {
    py::list objects;
    for (const auto& loaded : objects_) {
      py::list kernels;
      for (const object::Kernel& kernel : loaded->object().kernels) kernels.append(describe(kernel));
      objects.append(py::make_tuple(loaded->object().target.to_string(), std::move(kernels)));
    }
    return objects;
  }

  /// Each argument is bytes, a buffer (an object whose memory the kernel uses, or None), or an int, bytes of LDS.
  py::dict run(std::size_t index, const std::string& kernel, const std::array<std::uint32_t, 3>& threads,
               const std::array<std::uint32_t, 3>& group, std::uint32_t lds, const py::list& arguments, bool check,
               std::uint64_t maximum_instructions, unsigned host_threads) {
    std::vector<Given> given;
    std::vector<py::buffer_info> held;  // while they are, Python neither frees nor resizes what they show
    for (const py::handle argument : arguments) {
      Given one;
      one.number = std::to_string(given.size());
      if (py::isinstance<py::bytes>(argument)) {
        one.bytes = argument.cast<std::string>();
      } else if (py::isinstance<py::int_>(argument)) {
        one.is_lds = true;
        one.lds_bytes = argument.cast<std::uint32_t>();
      } else {
        held.push_back(argument.cast<py::buffer>().request());
        const py::buffer_info& info = held.back();
        one.is_buffer = true;
        one.memory = {static_cast<std::byte*>(info.ptr), static_cast<std::size_t>(info.size * info.itemsize)};
        one.writable = !info.readonly;
      }
      given.push_back(std::move(one));
    }
    wave::Options options;
    options.check = check;
    options.host_threads = host_threads;
    if (maximum_instructions != 0) options.maximum_instructions = maximum_instructions;
    std::atomic<bool> cancelled = false;
    options.cancelled = &cancelled;
    LoadedObject& loaded = *objects_.at(index);
    auto report = run_interruptibly(cancelled, [&] {
      return loaded.run({kernel, threads, group, lds}, std::move(given), options);
    });
    return describe(value_of(std::move(report)));
  }

 private:
  /// 8 GiB: what is unpacked is kept.
  static constexpr std::uint64_t kMaximumUnpacked = std::uint64_t{8} << 30;

  py::bytes content_;  ///< The objects' names and code are views of it.
  std::vector<std::unique_ptr<LoadedObject>> objects_;
};

}  // namespace

PYBIND11_MODULE(_native, module) {
  py::register_exception_translator(translate);
  py::class_<File>(module, "File")
      .def(py::init<py::bytes, const std::string&>(), py::arg("content"), py::arg("target"))
      .def("objects", &File::describe_objects)
      .def("run", &File::run, py::arg("object"), py::arg("kernel"), py::arg("threads"), py::arg("group"),
           py::arg("lds"), py::arg("arguments"), py::arg("check"), py::arg("max_instructions"),
           py::arg("host_threads"));
}

}  // namespace wavegate::python
