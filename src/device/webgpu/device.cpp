#include "wavegate/device/webgpu/device.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/device/check.h"
#include "wavegate/device/hash.h"
#include "wavegate/device/probe.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/executable.h"
#include "wavegate/device/webgpu/profile.h"

namespace wavegate::device::webgpu {
namespace {

class WebGpuDevice final : public Device {
 public:
  const target::Profile& profile() const override { return context_.profile; }
  const Counters& counters() const override { return context_.counters; }

  Result<std::unique_ptr<Executable>> load(std::shared_ptr<const graph::Graph> graph) override {
    if (!graph) return invalid_input("there is no graph to load");
    WAVEGATE_CHECK(graph::verify(*graph));
    WAVEGATE_CHECK(check_graph(*graph, context_.profile));
    WAVEGATE_TRY(std::unique_ptr<Executable> executable, WebGpuExecutable::load(context_, std::move(graph)));
    return executable;
  }

  Result<std::shared_ptr<Buffer>> allocate(uint64_t bytes) override {
    const uint64_t largest = context_.profile.limits.buffer_bytes;
    if (bytes == 0) return invalid_input("allocate: a buffer of no bytes");
    if (bytes > largest)
      return unsupported(
          format("allocate: {} bytes exceed the device's largest buffer of {} bytes; split it", bytes, largest));
    if (is_lost(context_)) return lost_error(context_, "allocate");
    ErrorScope scope(context_.device);
    auto memory = std::make_shared<MemoryBuffer>(
        context_,
        OwnedBuffer(gpu::create_buffer(context_.device, "external memory", (bytes + 3) / 4 * 4,
                                       gpu::kStorage | gpu::kIndirect | gpu::kCopySource | gpu::kCopyDestination)),
        bytes);
    // Where nobody can wait, what uses the memory hears that there is none.
    if (!gpu::can_wait()) return memory;
    WAVEGATE_CHECK(scope.end_and_wait(context_, "allocate", Invalid::is_our_mistake));
    return memory;
  }

  Context& context() { return context_; }

 private:
  Context context_;
};

/// What memory of an application must be made for.
constexpr std::array<std::pair<uint32_t, std::string_view>, 3> kBorrowedUses = {
    {{gpu::kStorage, "STORAGE"}, {gpu::kCopySource, "COPY_SRC"}, {gpu::kCopyDestination, "COPY_DST"}}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool validation_wanted(const Options& options) {
  if (options.validation) return *options.validation;
  const char* variable = std::getenv("WAVEGATE_WEBGPU_VALIDATION");
  return variable != nullptr && std::string_view(variable) == "1";
}

/// Opening as a sequence of callbacks: the device is asked for, and then a few questions are asked of it.
struct Opening : std::enable_shared_from_this<Opening> {
  using Done = std::function<void(Result<std::unique_ptr<Device>>)>;

  std::unique_ptr<WebGpuDevice> device = std::make_unique<WebGpuDevice>();
  Kept kept;
  Done done;
  std::vector<FloatQuestion> questions = {};
  std::vector<std::unique_ptr<Executable>> asked = {};
  target::FloatBehaviour floats = {};
  bool is_to_be_asked = false;  ///< by whoever waits: a callback does not wait for others

  Context& context() { return device->context(); }

  std::function<void(std::string)> lost_listener() {
    return [lost = context().lost](std::string reason) { *lost = std::move(reason); };
  }

  void end(Error error) {
    asked.clear();
    std::exchange(done, {})(std::move(error));
  }

  void opened(const gpu::DeviceInfo& info, const std::string& wanted) {
    Context& ours = context();
    ours.profile = make_profile(info);
    ours.uniform_alignment = std::max(info.limits.uniform_alignment, 16u);
    ours.pipelines = std::make_unique<PipelineStore>(ours.device);
    const std::string name = lower(wanted);
    if (!name.empty() && name != "webgpu" && lower(ours.profile.name).find(name) == std::string::npos)
      return end(device_error(
          format("the WebGPU adapter's name, \"{}\", does not contain \"{}\"", ours.profile.name, wanted)));
    if (const auto known = kept.read ? kept.read(kept_name()) : std::nullopt)
      if (const auto believed = parse_floats(*known)) return finish(*believed);
    ours.profile.floats = native_floats();
    is_to_be_asked = gpu::can_wait();
    if (is_to_be_asked) return;
    auto all = float_questions(ours.profile);
    if (!all) return end(std::move(all).error());
    questions = std::move(all).value();
    ask();
  }

  std::string kept_name() {
    const target::Profile& profile = context().profile;
    const std::string who = format("webgpu;{};{}", profile.name, profile.driver);
    return format("floats-{:016x}", hash_bytes(std::as_bytes(std::span(who))));
  }

  Error failed(const Error& error) {
    return device_error(format("finding out what floats do on \"{}\": {}", context().profile.name, error.to_string()));
  }

  void ask() {
    const FloatQuestion& question = questions[asked.size()];
    auto executable = device->load(question.graph);
    if (!executable) return end(failed(executable.error()));
    asked.push_back(std::move(executable).value());
    Executable& running = *asked.back();
    if (auto submitted = running.submit(); !submitted) return end(failed(submitted.error()));
    const auto heard = [self = shared_from_this()](const Result<void>& result) { self->answered(result); };
    if (auto expected = webgpu::when_done(running, heard); !expected) end(failed(expected.error()));
  }

  void answered(const Result<void>& result) {
    if (!result) return end(failed(result.error()));
    const FloatQuestion& question = questions[asked.size() - 1];
    std::vector<std::byte> results(static_cast<size_t>(question.result_bytes));
    if (auto read = asked.back()->read(question.results, 0, results); !read) return end(failed(read.error()));
    floats.*question.about = question.answer(results);
    if (asked.size() < questions.size()) return ask();
    found_out(floats);
  }

  void ask_and_wait() {
    const auto result = probe_floats(*device);
    if (!result) return end(failed(result.error()));
    found_out(*result);
  }

  void found_out(const target::FloatBehaviour& result) {
    if (kept.keep) kept.keep(kept_name(), serialise(result));
    finish(result);
  }

  void finish(const target::FloatBehaviour& found) {
    asked.clear();
    context().profile.floats = found;
    context().counters = {};
    std::exchange(done, {})(std::unique_ptr<Device>(std::move(device)));
  }
};

/// Runs an opening to its end. `start` begins it.
Result<std::unique_ptr<Device>> wait_for(const std::function<std::shared_ptr<Opening>(Opening::Done)>& start) {
  if (!gpu::can_wait()) return unsupported("a page cannot wait for a device; ask to be called when it is open");
  std::optional<Result<std::unique_ptr<Device>>> result;
  const auto opening = start([&](Result<std::unique_ptr<Device>> opened) { result.emplace(std::move(opened)); });
  if (!result) wait_until(opening->context(), [&] { return result.has_value() || opening->is_to_be_asked; });
  if (!result) opening->ask_and_wait();
  return std::move(*result);
}

std::shared_ptr<Opening> start_opening(const Options& options, Opening::Done done) {
  auto opening = std::make_shared<Opening>();
  opening->kept = options.kept;
  opening->done = std::move(done);
  if (auto there = gpu::available(); !there) {
    opening->end(std::move(there).error());
    return opening;
  }
  gpu::DeviceRequest request;
  request.validates = validation_wanted(options);
  request.lost = opening->lost_listener();
  // Held by the callback until it has come, and by what it asks for after that.
  opening->context().device =
      gpu::request_device(std::move(request), [opening, name = options.name](Result<gpu::DeviceInfo> info) {
        if (!info) return opening->end(std::move(info).error());
        opening->opened(*info, name);
      });
  return opening;
}

std::shared_ptr<Opening> start_adopting(const AdoptedDevice& adopted, Opening::Done done) {
  auto opening = std::make_shared<Opening>();
  opening->kept = adopted.kept;
  opening->done = std::move(done);
  auto device = gpu::adopt_device(adopted.instance, adopted.device, opening->lost_listener());
  if (!device) {
    opening->end(std::move(device).error());
    return opening;
  }
  opening->context().device = device->device;
  opening->opened(device->info, {});
  return opening;
}

}  // namespace

Result<std::unique_ptr<Device>> open(const Options& options) {
  return wait_for([&](Opening::Done done) { return start_opening(options, std::move(done)); });
}
void open_later(const Options& options, std::function<void(Result<std::unique_ptr<Device>>)> done) {
  if (gpu::can_wait()) return done(open(options));
  start_opening(options, std::move(done));
}

Result<std::unique_ptr<Device>> adopt(const AdoptedDevice& adopted) {
  return wait_for([&](Opening::Done done) { return start_adopting(adopted, std::move(done)); });
}
void adopt_later(const AdoptedDevice& adopted, std::function<void(Result<std::unique_ptr<Device>>)> done) {
  if (gpu::can_wait()) return done(adopt(adopted));
  start_adopting(adopted, std::move(done));
}

Result<std::shared_ptr<Buffer>> borrow(Device& device, uintptr_t buffer, uint64_t bytes) {
  auto* ours = dynamic_cast<WebGpuDevice*>(&device);
  if (!ours) return invalid_input("a WGPUBuffer can be borrowed by a WebGPU device only");
  if (buffer == 0 || bytes == 0) return invalid_input("a borrowed buffer needs a handle and a size");
  Owned borrowed(gpu::adopt_buffer(buffer));
  const uint64_t there = gpu::size_of(borrowed.get());
  if (bytes > there)
    return invalid_input(format("{} bytes of a WGPUBuffer cannot be borrowed, since it has {}", bytes, there));
  const uint32_t uses = gpu::uses_of(borrowed.get());
  for (const auto& [use, name] : kBorrowedUses)
    if ((uses & use) == 0)
      return invalid_input(
          format("a WGPUBuffer that was made without the usage {} cannot be borrowed; make it with STORAGE, COPY_SRC "
                 "and COPY_DST",
                 name));
  return std::make_shared<MemoryBuffer>(ours->context(), std::move(borrowed), bytes);
}

Result<std::shared_ptr<void>> encode(Executable& executable, uintptr_t encoder) {
  auto* ours = dynamic_cast<WebGpuExecutable*>(&executable);
  if (!ours) return invalid_input("a WGPUCommandEncoder can take an executable of a WebGPU device only");
  if (encoder == 0) return invalid_input("there is no command encoder to encode into");
  return ours->encode(encoder);
}

Result<void> when_done(Executable& executable, std::function<void(Result<void>)> done) {
  auto* ours = dynamic_cast<WebGpuExecutable*>(&executable);
  if (!ours) return invalid_input("an executable of a WebGPU device only calls when a run is done");
  return ours->when_done(std::move(done));
}

Result<BufferPlace> buffer_of(Executable& executable, graph::BufferId buffer) {
  const auto* ours = dynamic_cast<const WebGpuExecutable*>(&executable);
  if (!ours) return invalid_input("an executable of a WebGPU device only keeps its buffers in WGPUBuffers");
  return ours->place(buffer);
}

}  // namespace wavegate::device::webgpu
