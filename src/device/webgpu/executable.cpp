#include "wavegate/device/webgpu/executable.h"

#include <algorithm>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/device/buffer_checks.h"
#include "wavegate/kir/wgsl_resources.h"

namespace wavegate::device::webgpu {
namespace {

uint32_t index_of(graph::BufferId buffer) {
  return static_cast<uint32_t>(buffer);
}

constexpr uint64_t round_down(uint64_t value, uint64_t multiple) {
  return value / multiple * multiple;
}
constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// What is invalid in a run over the application's memory is most likely that: our own is tested.
Invalid whose_mistake(const GraphMemory& memory) {
  return memory.has_borrowed() ? Invalid::is_the_lenders : Invalid::is_our_mistake;
}

/// Calls `visit(dispatch)` for every dispatch in order, until one fails.
template <typename Visit>
Result<void> for_each_dispatch(const std::vector<graph::Command>& commands, const Visit& visit) {
  for (const graph::Command& command : commands) {
    if (const auto* dispatch = std::get_if<graph::Dispatch>(&command)) WAVEGATE_CHECK(visit(*dispatch));
    if (const auto* repeat = std::get_if<std::shared_ptr<const graph::Repeat>>(&command))
      WAVEGATE_CHECK(for_each_dispatch((*repeat)->body, visit));
    if (const auto* loop = std::get_if<std::shared_ptr<const graph::Loop>>(&command))
      WAVEGATE_CHECK(for_each_dispatch((*loop)->body, visit));
  }
  return {};
}

}  // namespace

// ---- loading

WebGpuExecutable::WebGpuExecutable(Context& context, std::shared_ptr<const graph::Graph> graph)
    : context_(context),
      graph_(std::move(graph)),
      variants_(*context.pipelines, context.profile, *graph_),
      schedule_(*graph_) {}

std::string WebGpuExecutable::name() const {
  return format("graph \"{}\"", graph_->name);
}

Result<std::unique_ptr<WebGpuExecutable>> WebGpuExecutable::load(Context& context,
                                                                 std::shared_ptr<const graph::Graph> graph) {
  std::unique_ptr<WebGpuExecutable> executable(new WebGpuExecutable(context, std::move(graph)));
  if (is_lost(context)) return lost_error(context, format("{}: loading it", executable->name()));
  const bool has_modules = std::ranges::any_of(executable->graph_->kernels, [](const graph::Kernel& kernel) {
    return std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel);
  });
  if (has_modules) WAVEGATE_CHECK(executable->check_modules());
  ErrorScope scope(context.device);
  executable->memory_.allocate(context, *executable->graph_);
  executable->host_copies_.allocate(context, *executable->graph_);
  if (Result<void> prepared = executable->prepare_kernels(); !prepared) {
    executable->forget_refused();
    return std::move(prepared).error();
  }
  scope.end(format("{}: loading it", executable->name()), has_modules ? Invalid::is_the_users : Invalid::is_our_mistake,
            [ours = executable.get(), alive = std::weak_ptr(executable->alive_)](std::optional<Error> error) {
              if (!alive.expired()) ours->heard_of_loading(std::move(error));
            });
  executable->pending_.initialise(executable->graph_);
  if (!gpu::can_wait()) return executable;
  wait_until(context, [&] { return executable->is_loaded_; });
  if (executable->load_error_) return std::move(*executable->load_error_);
  return executable;
}

/// A native device that skips validation takes a module that is none, and breaks where a pipeline is made of it. A page
/// cannot wait; its WebGPU checks everything.
Result<void> WebGpuExecutable::check_modules() {
  if (!gpu::can_wait()) return {};
  for (const graph::Kernel& kernel : graph_->kernels) {
    const auto* opaque = std::get_if<std::shared_ptr<const kir::OpaqueKernel>>(&kernel);
    if (opaque == nullptr || (*opaque)->wgsl.empty()) continue;
    const std::string& kernel_name = (*opaque)->interface.name;
    ErrorScope scope(context_.device);
    const Owned<gpu::ShaderModule> module(gpu::create_shader_module(context_.device, kernel_name, (*opaque)->wgsl));
    WAVEGATE_CHECK(scope.end_and_wait(context_, format("{}: loading its kernel \"{}\"", name(), kernel_name),
                                      Invalid::is_the_users));
  }
  return {};
}

void WebGpuExecutable::heard_of_loading(std::optional<Error> error) {
  is_loaded_ = true;
  if (!error) return;
  forget_refused();
  load_error_ = std::move(error);
}

/// After an error nobody knows which pipelines are good.
void WebGpuExecutable::forget_refused() {
  variants_.forget_all();
  recordings_.clear();
  recording_.reset();
}

/// A dispatch shows each variable of a finished module as many bytes as it has, which WebGPU itself checks only where
/// it validates.
Result<void> WebGpuExecutable::check_shown(const graph::Dispatch& dispatch) {
  const auto* opaque =
      std::get_if<std::shared_ptr<const kir::OpaqueKernel>>(&graph_->kernels[static_cast<uint32_t>(dispatch.kernel)]);
  if (opaque == nullptr || (*opaque)->wgsl.empty()) return {};
  const kir::OpaqueKernel& kernel = **opaque;
  const auto [known, is_new] = least_shown_.try_emplace(dispatch.kernel);
  if (is_new) {
    auto least = kir::least_binding_bytes(kernel);
    if (!least)
      return invalid_input(
          format("{}: loading its kernel \"{}\": {}", name(), kernel.interface.name, least.error().message));
    known->second = std::move(least).value();
  }
  for (size_t i = 0; i < std::min(known->second.size(), dispatch.bindings.size()); ++i) {
    const uint64_t least = known->second[i];
    const graph::Range& range = dispatch.bindings[i];
    if (range.bytes >= least) continue;
    return invalid_input(
        format("kernel \"{}\": dispatch \"{}\" gives binding \"{}\" the {} bytes of buffer \"{}\", but the module's "
               "variable has at least {}; bind a larger buffer, or declare a runtime-sized array",
               kernel.interface.name, dispatch.label, kernel.interface.bindings[i].name, range.bytes,
               graph_->buffers[index_of(range.buffer)].name, least));
  }
  return {};
}

/// Whatever can be known without external memory is: errors belong to the loading.
Result<void> WebGpuExecutable::prepare_kernels() {
  std::vector<gpu::Buffer> places;
  // External buffers stand for themselves, as long as nobody binds one twice.
  for (const gpu::Buffer handle : memory_.handles())
    places.push_back(handle == gpu::Buffer::none ? gpu::Buffer{~uintptr_t{places.size()}} : handle);
  if (graph::encoded_size(graph_->commands) > Recording::kMaximumCommands)
    return unsupported(
        format("{}: its repeats spell out more than {} commands; give its loops smaller bounds "
               "or run them in several submissions",
               name(), Recording::kMaximumCommands));
  return for_each_dispatch(graph_->commands, [&](const graph::Dispatch& dispatch) -> Result<void> {
    WAVEGATE_CHECK(check_shown(dispatch));
    std::vector<gpu::BoundRange> ranges;
    for (const graph::Range& range : dispatch.bindings) {
      if (range.bytes % 4 != 0)
        return unsupported(
            format("dispatch \"{}\" binds {} bytes of buffer \"{}\", and WebGPU binds multiples of 4; give it an even "
                   "number of elements",
                   dispatch.label, range.bytes, graph_->buffers[index_of(range.buffer)].name));
      if (dispatch.indirect && range.buffer == dispatch.indirect->buffer)
        return internal_error(format("{}: dispatch \"{}\" reads its grid from buffer \"{}\", which it also binds",
                                     name(), dispatch.label, graph_->buffers[index_of(range.buffer)].name));
      ranges.push_back({places[index_of(range.buffer)], range.offset, range.bytes});
    }
    const graph::Kernel& kernel = graph_->kernels[static_cast<uint32_t>(dispatch.kernel)];
    WAVEGATE_TRY(const BindingShape shape, shape_of(kernel, ranges, dispatch.label));
    WAVEGATE_CHECK(variants_.get(dispatch.kernel, shape));
    return {};
  });
}

/// Errors if no run can begin: of what was found out since the last call, too.
Result<void> WebGpuExecutable::check_usable(std::string_view verb) {
  if (load_error_) return *load_error_;
  if (late_error_) return *std::exchange(late_error_, std::nullopt);
  if (is_lost(context_)) return lost_error(context_, format("{}: {} it", name(), verb));
  return {};
}

Result<void> WebGpuExecutable::check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes,
                                           std::string_view verb) const {
  return device::check_range(*graph_, buffer, offset, bytes, verb, in_flight_);
}

Result<void> WebGpuExecutable::bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) {
  WAVEGATE_CHECK(check_range(buffer, 0, 0, "bound"));
  WAVEGATE_TRY(const bool is_another, memory_.bind(context_, *graph_, buffer, memory));
  if (is_another) recording_.reset();
  return {};
}

Result<void> WebGpuExecutable::write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) {
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "written"));
  pending_.write(buffer, offset, bytes);
  return {};
}

Result<void> WebGpuExecutable::reset() {
  if (in_flight_) return invalid_input(format("{}: it cannot be reset during a run; wait for it first", name()));
  pending_.initialise(graph_);
  return {};
}

Result<void> WebGpuExecutable::prepare_recording() {
  WAVEGATE_CHECK(memory_.check_bound(*graph_));
  if (recording_) return {};
  WAVEGATE_TRY(recording_, recordings_.get(context_, *graph_, variants_, memory_));
  return {};
}

// ---- a run

template <typename... Arguments>
std::function<void(Arguments...)> WebGpuExecutable::awaited(
    std::type_identity_t<std::function<void(Arguments...)>> then) {
  ++awaited_;
  return [this, alive = std::weak_ptr(alive_), then = std::move(then)](Arguments... arguments) {
    if (alive.expired()) return;
    --awaited_;
    then(std::move(arguments)...);
    advance();  // may end what this belongs to
  };
}

Result<void> WebGpuExecutable::submit() {
  if (in_flight_) return invalid_input(format("{}: it is running already; wait for the run first", name()));
  WAVEGATE_CHECK(check_usable("submitting"));
  WAVEGATE_CHECK(memory_.check_bound(*graph_));
  submitted_at_ = std::chrono::steady_clock::now();
  schedule_ = Schedule(*graph_);
  error_.reset();
  is_over_ = false;
  WAVEGATE_CHECK(submit_next());
  in_flight_ = true;
  return {};
}

/// Submits all that can be submitted now.
Result<void> WebGpuExecutable::submit_next() {
  while (const std::optional<Batch> batch = schedule_.next()) WAVEGATE_CHECK(submit_batch(*batch));
  gpu::nudge(context_.device);
  return {};
}

Result<void> WebGpuExecutable::submit_batch(const Batch& batch) {
  ErrorScope scope(context_.device);
  if (Result<void> prepared = prepare_recording(); !prepared) {
    forget_refused();
    return prepared;
  }
  Steps steps(context_);
  WAVEGATE_TRY(const std::vector<Step> writes,
               pending_.make_steps(context_, memory_.handles(), PendingWrites::When::now, steps));
  steps.finish();
  const gpu::Encoder encoder = gpu::create_encoder(context_.device, graph_->name);
  {
    Player player(encoder);
    for (const Step& step : writes) player.play(steps, step);
    for (const Piece& piece : batch.pieces) play(player, piece);
  }
  pending_.clear();
  const bool is_last = schedule_.is_submitted();
  if (is_last) {
    host_copies_.unmap_outputs();
    host_copies_.copy_outputs(encoder, memory_.handles());
    host_copies_.copy_times(encoder);
  }
  std::optional<size_t> looks;
  if (batch.looks_at) {
    looks = free_look();
    const graph::Range& done = schedule_.loop(*batch.looks_at).done;
    gpu::copy_buffer(encoder, memory_.handle(done.buffer), done.offset, looks_[*looks].host.get(), 0, 4);
  }
  gpu::submit(context_.device, encoder);
  ++context_.counters.submissions;
  scope.end(format("{}: running it", name()), whose_mistake(memory_),
            awaited<std::optional<Error>>([this](std::optional<Error> error) {
              if (!error) return;
              forget_refused();
              fail(std::move(*error));
            }));
  if (looks) {
    const auto mapped = [this, which = *looks, loop = *batch.looks_at](const Result<void>& result) {
      look(which, loop, result);
    };
    gpu::map_for_reading(context_.device, looks_[*looks].host.get(), 4, awaited<Result<void>>(mapped));
  }
  if (is_last) map_results();
  return {};
}

void WebGpuExecutable::play(Player& player, const Piece& piece) {
  if (piece.kind == Piece::Kind::chunk) return recording_->play_body(player, piece.index, piece.runs);
  if (piece.index == 0) host_copies_.take_begin(player);
  recording_->play_part(player, piece.index);
  if (piece.index == schedule_.loop_count()) host_copies_.take_end(player);
}

/// Awaits what the last submission copied for the host, and its end.
void WebGpuExecutable::map_results() {
  for (HostCopies::Copy* copy : host_copies_.copies()) {
    const auto mapped = [this, copy](const Result<void>& result) {
      copy->is_mapped = result.ok();
      if (!result) fail(result.error());
    };
    gpu::map_for_reading(context_.device, copy->host.get(), copy->bytes, awaited<Result<void>>(mapped));
  }
  gpu::when_submitted_work_done(context_.device, awaited<>([] {}));
}

size_t WebGpuExecutable::free_look() {
  const auto found = std::ranges::find_if(looks_, &Look::is_free);
  const auto which = static_cast<size_t>(found - looks_.begin());
  if (found == looks_.end())
    looks_.push_back({OwnedBuffer(gpu::create_buffer(context_.device, "wavegate look", 4, kHostUses)), true});
  looks_[which].is_free = false;
  return which;
}

/// A chunk has ended, and the word that tells whether its loop is done can be looked at.
void WebGpuExecutable::look(size_t which, size_t loop, const Result<void>& mapped) {
  looks_[which].is_free = true;
  if (!mapped) return fail(mapped.error());
  uint32_t word = 0;
  bool is_read = false;
  const bool is_of_use = !error_ && schedule_.is_open(loop);
  if (is_of_use) {
    ++context_.counters.observations;
    is_read = gpu::read_mapped(looks_[which].host.get(), 0, std::as_writable_bytes(std::span(&word, 1)));
  }
  gpu::unmap(looks_[which].host.get());
  if (!is_of_use) return;
  if (!is_read) return fail(lost_error(context_, format("{}: running it", name())));
  schedule_.ended(loop, word != 0);
  if (word == 0 && is_overdue()) return fail(time_limit_error(*graph_, schedule_.loop(), *time_limit_));
  if (Result<void> submitted = submit_next(); !submitted) fail(std::move(submitted).error());
}

bool WebGpuExecutable::is_overdue() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - submitted_at_;
  return time_limit_ && elapsed.count() > *time_limit_;
}

/// The run cannot go on: nothing more is submitted, and it is over once all that was submitted has ended.
void WebGpuExecutable::fail(Error error) {
  if (error_) return;
  error_ = std::move(error);
  gpu::when_submitted_work_done(context_.device, awaited<>([] {}));
}

void WebGpuExecutable::advance() {
  if (awaited_ == 0 && !is_over_ && (error_ || schedule_.is_submitted())) finish_run();
}

/// The last thing that happens to a run. Whoever hears of it may end the executable.
void WebGpuExecutable::finish_run() {
  is_over_ = true;
  has_run_ = true;
  if (load_error_) error_ = load_error_;  // of which what the run met is a consequence
  if (is_lost(context_)) error_ = lost_error(context_, format("{}: running it", name()));
  has_failed_ = error_.has_value();
  device_seconds_ = -1;
  if (!has_failed_) {
    has_outputs_ = true;
    is_encoded_ = false;
    context_.counters.readbacks +=
        static_cast<uint64_t>(std::ranges::count_if(graph_->buffers, &graph::Buffer::output));
  } else if (schedule_.is_submitted()) {
    has_outputs_ = false;  // those of the run before were written over
  }
  const std::optional<double> seconds = host_copies_.read_times();
  if (seconds && !has_failed_) device_seconds_ = *seconds;
  tell_when_done();
}

void WebGpuExecutable::tell_when_done() {
  if (!when_done_) return;
  in_flight_ = false;
  const auto done = std::exchange(when_done_, {});
  done(error_ ? Result<void>(*error_) : Result<void>());
}

Result<void> WebGpuExecutable::when_done(std::function<void(Result<void>)> done) {
  if (!in_flight_) return invalid_input(format("{}: there is no run to wait for; submit one first", name()));
  when_done_ = std::move(done);
  if (is_over_) tell_when_done();
  return {};
}

Result<void> WebGpuExecutable::wait() {
  if (!in_flight_) return invalid_input(format("{}: there is no run to wait for; submit one first", name()));
  if (!is_over_ && !gpu::can_wait())
    return unsupported(format("{}: a page cannot wait for a run; ask to be called when it is done", name()));
  ++context_.counters.host_waits;
  wait_until(context_, [&] {
    if (!is_over_ && !error_ && !schedule_.is_submitted() && is_overdue())
      fail(time_limit_error(*graph_, schedule_.loop(), *time_limit_));
    return is_over_;
  });
  in_flight_ = false;
  if (error_) return *error_;
  return {};
}

// ---- reading

Result<void> WebGpuExecutable::read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) {
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "read"));
  if (bytes.empty()) return {};
  const graph::Buffer& info = graph_->buffers[index_of(buffer)];
  const std::string what = format("{}: reading buffer \"{}\"", name(), info.name);
  if (is_lost(context_)) return lost_error(context_, what);
  const bool is_kept = info.output && has_outputs_;
  if (has_failed_ && !is_kept)
    return invalid_input(format(
        "{}: buffer \"{}\" cannot be read after a run that failed; run it again first, after reset() from initial "
        "contents",
        name(), info.name));
  if (!is_kept) return read_from_device(buffer, offset, bytes);
  const gpu::Buffer host = host_copies_.output(buffer);
  if (is_encoded_) {
    // The application may submit its commands again, and then the buffer must not be mapped.
    WAVEGATE_CHECK(map_and_wait(host, info.bytes, what));
    const bool is_read = read_bytes(host, offset, bytes);
    gpu::unmap(host);
    if (!is_read) return lost_error(context_, what);
    return {};
  }
  if (!read_bytes(host, offset, bytes)) return lost_error(context_, what);
  return {};
}

Result<void> WebGpuExecutable::map_and_wait(gpu::Buffer buffer, uint64_t bytes, const std::string& what) {
  if (!gpu::can_wait()) return unsupported(format("{}: a page cannot wait for it; make it an output of a run", what));
  ++context_.counters.host_waits;
  std::optional<Result<void>> mapped;
  gpu::map_for_reading(context_.device, buffer, bytes, [&](Result<void> result) { mapped = std::move(result); });
  wait_until(context_, [&] { return mapped.has_value(); });
  if (is_lost(context_)) return lost_error(context_, what);
  if (!*mapped) return device_error(format("{}: {}", what, mapped->error().message));
  return {};
}

Result<void> WebGpuExecutable::read_from_device(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) {
  WAVEGATE_CHECK(memory_.check_bound(*graph_));
  const std::string what = format("{}: reading buffer \"{}\"", name(), graph_->buffers[index_of(buffer)].name);
  if (!gpu::can_wait()) return unsupported(format("{}: a page cannot wait for it; make it an output of a run", what));
  const uint64_t begin = round_down(offset, 4);
  const uint64_t end = round_up(offset + bytes.size(), 4);
  std::optional<Error> refused;
  bool is_heard = false;
  const OwnedBuffer host(gpu::create_buffer(context_.device, "wavegate readback", end - begin, kHostUses));
  {
    ErrorScope scope(context_.device);
    Steps steps(context_);
    std::vector<Step> writes;
    // Before the first run a buffer holds its initial contents and what was written, which are still pending.
    if (!has_run_) {
      WAVEGATE_TRY(writes, pending_.make_steps(context_, memory_.handles(), PendingWrites::When::now, steps));
      steps.finish();
      pending_.clear();
    }
    const gpu::Encoder encoder = gpu::create_encoder(context_.device, "wavegate readback");
    {
      Player player(encoder);
      for (const Step& step : writes) player.play(steps, step);
    }
    gpu::copy_buffer(encoder, memory_.handle(buffer), begin, host.get(), 0, end - begin);
    gpu::submit(context_.device, encoder);
    ++context_.counters.submissions;
    scope.end(what, whose_mistake(memory_), [&](std::optional<Error> error) {
      refused = std::move(error);
      is_heard = true;
    });
  }
  const Result<void> mapped = map_and_wait(host.get(), end - begin, what);
  wait_until(context_, [&] { return is_heard; });
  if (refused) return std::move(*refused);
  WAVEGATE_CHECK(mapped);
  ++context_.counters.readbacks;
  if (!read_bytes(host.get(), offset - begin, bytes)) return lost_error(context_, what);
  return {};
}

// ---- the application's encoder

/// What the recorded commands refer to and the executable may let go.
struct WebGpuExecutable::Encoded {
  explicit Encoded(Context& context) : writes(context) {}
  std::shared_ptr<const Recording> recording;
  std::vector<std::shared_ptr<MemoryBuffer>> external;
  Steps writes;
};

/// Makes what is recorded, and tells the steps of the pending writes. Inside an error scope.
Result<std::vector<Step>> WebGpuExecutable::prepare_encoding(Encoded& encoded) {
  WAVEGATE_CHECK(prepare_recording());
  encoded.recording = recording_;
  encoded.external = memory_.external();
  WAVEGATE_TRY(
      std::vector<Step> writes,
      pending_.make_steps(context_, memory_.handles(), PendingWrites::When::whenever_the_steps_run, encoded.writes));
  encoded.writes.finish();
  return writes;
}

/// Ends the scope of a part of encode(). After an error, which a page hears too late for the call, nothing is kept but
/// the writes: those that encode() takes out of the pending ones by then.
Result<void> WebGpuExecutable::judge(ErrorScope& scope, std::string what, Invalid invalid,
                                     std::shared_ptr<PendingWrites> writes) {
  if (gpu::can_wait()) {
    Result<void> judged = scope.end_and_wait(context_, std::move(what), invalid);
    if (!judged) forget_refused();
    return judged;
  }
  scope.end(std::move(what), invalid,
            [this, alive = std::weak_ptr(alive_), writes = std::move(writes)](std::optional<Error> error) {
              if (error && !alive.expired()) heard_of_encoding(std::move(*error), std::exchange(*writes, {}));
            });
  return {};
}

/// The encoder took nothing: what it was to write is pending again. A run that began meanwhile lacks it, and fails.
void WebGpuExecutable::heard_of_encoding(Error error, PendingWrites writes) {
  forget_refused();
  pending_.put_before(std::move(writes));
  if (in_flight_ && !is_over_) return fail(std::move(error));
  late_error_ = std::move(error);
}

Result<std::shared_ptr<void>> WebGpuExecutable::encode(uintptr_t into) {
  if (in_flight_) return invalid_input(format("{}: it cannot be encoded during a run; wait for it first", name()));
  WAVEGATE_CHECK(check_usable("encoding"));
  if (const graph::Loop* loop = graph::find_loop(*graph_))
    return unsupported(
        format("{}: loop \"{}\" needs the host while it runs, to submit what follows, and what is encoded "
               "has none; lower the program host-free, with a bound for each loop",
               name(), loop->label));
  auto encoded = std::make_shared<Encoded>(context_);
  const auto taken = std::make_shared<PendingWrites>();
  ErrorScope preparing(context_.device);
  Result<std::vector<Step>> writes = prepare_encoding(*encoded);
  if (!writes) {
    forget_refused();
    return std::move(writes).error();
  }
  host_copies_.unmap_outputs();
  is_encoded_ = true;  // whatever comes of it, outputs must be mapped to be read
  WAVEGATE_CHECK(judge(preparing, format("{}: preparing it", name()), whose_mistake(memory_), taken));

  ErrorScope recording(context_.device);
  const Owned<gpu::Encoder> encoder(gpu::adopt_encoder(into));
  {
    Player player(encoder.get());
    for (const Step& step : *writes) player.play(encoded->writes, step);
    encoded->recording->play_part(player, 0);
  }
  host_copies_.copy_outputs(encoder.get(), memory_.handles());
  WAVEGATE_CHECK(judge(recording, format("{}: recording it", name()), Invalid::is_the_lenders, taken));
  *taken = std::exchange(pending_, {});
  has_run_ = has_outputs_ = true;
  has_failed_ = false;
  return std::shared_ptr<void>(std::move(encoded));
}

}  // namespace wavegate::device::webgpu
