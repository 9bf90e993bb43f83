#include "wavegate/device/reference/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "wavegate/base/format.h"

namespace wavegate::device::reference {
namespace {

uint32_t index_of(graph::BufferId buffer) {
  return static_cast<uint32_t>(buffer);
}

void fill_words(std::byte* bytes, uint64_t count, uint32_t word) {
  for (uint64_t i = 0; i + 4 <= count; i += 4) std::memcpy(bytes + i, &word, 4);
}

}  // namespace

ReferenceExecutable::ReferenceExecutable(std::shared_ptr<const graph::Graph> graph, const Options& options,
                                         Counters& counters)
    : graph_(std::move(graph)), options_(options), counters_(&counters) {}

Result<std::unique_ptr<Executable>> ReferenceExecutable::make(std::shared_ptr<const graph::Graph> graph,
                                                              const Options& options, Counters& counters) {
  std::unique_ptr<ReferenceExecutable> self(new ReferenceExecutable(std::move(graph), options, counters));
  for (const graph::Kernel& kernel : self->graph_->kernels) {
    WAVEGATE_TRY(PreparedKernel prepared, PreparedKernel::make(*std::get<std::shared_ptr<const kir::Kernel>>(kernel)));
    self->kernels_.push_back(std::move(prepared));
  }
  const auto& buffers = self->graph_->buffers;
  self->storages_.resize(buffers.size());
  self->externals_.resize(buffers.size());
  self->outputs_.resize(buffers.size());
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].external) continue;
    try {
      self->storages_[i].bytes.resize(static_cast<size_t>(buffers[i].bytes));
      self->storages_[i].written.resize(static_cast<size_t>(buffers[i].bytes));
    } catch (const std::bad_alloc&) {
      return device_error(format("buffer \"{}\": the host has no memory for {} bytes; use smaller values",
                                 buffers[i].name, buffers[i].bytes),
                          format("graph \"{}\"", self->graph_->name));
    }
    self->initialise(i);
  }
  return std::unique_ptr<Executable>(std::move(self));
}

Error ReferenceExecutable::mistake(const std::string& what) const {
  return invalid_input(what, format("graph \"{}\"", graph_->name));
}

Result<void> ReferenceExecutable::check_not_submitted(const char* what) const {
  if (state_ != State::submitted) return {};
  return mistake(format("{} while a run is in flight; wait() for it first", what));
}

Result<void> ReferenceExecutable::check_buffer(graph::BufferId buffer, const char* what) const {
  if (index_of(buffer) < graph_->buffers.size()) return {};
  return mistake(format("{} of buffer {}; the graph has {}", what, index_of(buffer), graph_->buffers.size()));
}

Result<void> ReferenceExecutable::check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes,
                                              const char* what) const {
  WAVEGATE_CHECK(check_buffer(buffer, what));
  const graph::Buffer& declared = graph_->buffers[index_of(buffer)];
  if (bytes <= declared.bytes && offset <= declared.bytes - bytes) return {};
  return mistake(format("{} of {} bytes at offset {} of buffer \"{}\" goes beyond its {} bytes", what, bytes, offset,
                        declared.name, declared.bytes));
}

Result<void> ReferenceExecutable::check_bound() const {
  for (uint32_t i = 0; i < graph_->buffers.size(); ++i) {
    if (graph_->buffers[i].external && !externals_[i]) {
      return mistake(format("external buffer \"{}\" has no memory; bind it before the run", graph_->buffers[i].name));
    }
  }
  return {};
}

Storage& ReferenceExecutable::storage(graph::BufferId buffer) {
  const auto& external = externals_[index_of(buffer)];
  return external ? external->storage() : storages_[index_of(buffer)];
}

void ReferenceExecutable::initialise(uint32_t buffer) {
  const auto& initial = graph_->buffers[buffer].initial;
  if (!initial) return;
  Storage& target = storages_[buffer];
  if (initial->bytes) {
    std::ranges::copy(*initial->bytes, target.bytes.begin());
  } else {
    fill_words(target.bytes.data(), target.bytes.size(), initial->word);
  }
  std::ranges::fill(target.written, uint8_t{1});
}

Result<void> ReferenceExecutable::bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) {
  WAVEGATE_CHECK(check_not_submitted("bind"));
  WAVEGATE_CHECK(check_buffer(buffer, "bind"));
  const graph::Buffer& declared = graph_->buffers[index_of(buffer)];
  if (!declared.external) {
    return mistake(format("buffer \"{}\" is not external, so that no memory can be bound to it", declared.name));
  }
  auto own = std::dynamic_pointer_cast<ReferenceBuffer>(std::move(memory));
  if (!own) {
    return mistake(
        format("the memory for buffer \"{}\" is not of a reference device; allocate it there", declared.name));
  }
  if (own->bytes() < declared.bytes) {
    return mistake(
        format("the memory for buffer \"{}\" has {} bytes; it needs {}", declared.name, own->bytes(), declared.bytes));
  }
  externals_[index_of(buffer)] = std::move(own);
  return {};
}

Result<void> ReferenceExecutable::write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) {
  WAVEGATE_CHECK(check_not_submitted("write"));
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "write"));
  pending_writes_.push_back({index_of(buffer), offset, {bytes.begin(), bytes.end()}});
  return {};
}

Result<void> ReferenceExecutable::reset() {
  WAVEGATE_CHECK(check_not_submitted("reset"));
  pending_reset_ = true;
  std::erase_if(pending_writes_, [&](const Write& w) { return graph_->buffers[w.buffer].initial.has_value(); });
  return {};
}

void ReferenceExecutable::apply_pending() {
  if (pending_reset_) {
    for (uint32_t i = 0; i < storages_.size(); ++i) initialise(i);
    pending_reset_ = false;
  }
  for (const Write& write : pending_writes_) {
    Storage& target = storage(graph::BufferId{write.buffer});
    std::ranges::copy(write.bytes, target.bytes.begin() + static_cast<ptrdiff_t>(write.offset));
    std::fill_n(target.written.begin() + static_cast<ptrdiff_t>(write.offset), write.bytes.size(), uint8_t{1});
  }
  pending_writes_.clear();
}

Result<void> ReferenceExecutable::submit() {
  WAVEGATE_CHECK(check_not_submitted("submit"));
  WAVEGATE_CHECK(check_bound());
  ++counters_->submissions;
  submitted_at_ = std::chrono::steady_clock::now();
  apply_pending();
  run_result_ = run_commands(graph_->commands);
  if (run_result_) {
    for (uint32_t i = 0; i < outputs_.size(); ++i) {
      if (!graph_->buffers[i].output) continue;
      const Storage& source = storage(graph::BufferId{i});
      outputs_[i].assign(source.bytes.begin(), source.bytes.begin() + static_cast<ptrdiff_t>(graph_->buffers[i].bytes));
      ++counters_->readbacks;
    }
    has_outputs_ = true;
  }
  device_seconds_ = run_result_ ? seconds_since_submit() : -1;
  state_ = State::submitted;
  return {};
}

double ReferenceExecutable::seconds_since_submit() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - submitted_at_).count();
}

Result<void> ReferenceExecutable::wait() {
  if (state_ != State::submitted) return mistake("wait without a run in flight; submit() first");
  ++counters_->host_waits;
  state_ = run_result_ ? State::waited : State::failed;
  return run_result_;
}

Result<void> ReferenceExecutable::read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) {
  WAVEGATE_CHECK(check_not_submitted("read"));
  WAVEGATE_CHECK(check_range(buffer, offset, bytes.size(), "read"));
  const graph::Buffer& declared = graph_->buffers[index_of(buffer)];
  if (bytes.empty()) return {};
  const bool before_first_run = state_ == State::idle;
  const bool kept_for_host = declared.output && has_outputs_;
  if (state_ == State::failed && !kept_for_host) {
    return mistake(
        format("read of buffer \"{}\" after a run that failed; run again first, after reset() from initial "
               "contents",
               declared.name));
  }
  if (!kept_for_host) {
    WAVEGATE_CHECK(check_bound());
    ++counters_->submissions;
    ++counters_->host_waits;
    ++counters_->readbacks;
  }
  if (before_first_run) apply_pending();
  const auto& source = kept_for_host ? outputs_[index_of(buffer)] : storage(buffer).bytes;
  std::copy_n(source.begin() + static_cast<ptrdiff_t>(offset), bytes.size(), bytes.begin());
  return {};
}

Result<void> ReferenceExecutable::run_commands(const std::vector<graph::Command>& commands) {
  for (const graph::Command& command : commands)
    WAVEGATE_CHECK(std::visit([&](const auto& c) { return run_command(c); }, command));
  return {};
}

Result<void> ReferenceExecutable::run_command(const std::shared_ptr<const graph::Repeat>& repeat) {
  for (uint32_t i = 0; i < repeat->count; ++i) WAVEGATE_CHECK(run_commands(repeat->body));
  return {};
}

/// Is a word not zero? `what` names it for an error.
Result<bool> ReferenceExecutable::is_set(const graph::Range& word, const std::string& what) {
  const Storage& source = storage(word.buffer);
  const uint8_t* written = source.written.data() + word.offset;
  if (std::find(written, written + 4, 0) != written + 4) {
    return invalid_input(format("{} in buffer \"{}\" at byte {} was never written; write it first", what,
                                graph_->buffers[index_of(word.buffer)].name, word.offset),
                         format("graph \"{}\"", graph_->name));
  }
  uint32_t value = 0;
  std::memcpy(&value, source.bytes.data() + word.offset, 4);
  return value != 0;
}

Result<void> ReferenceExecutable::run_command(const std::shared_ptr<const graph::Conditional>& conditional) {
  WAVEGATE_TRY(const bool is_true,
               is_set(conditional->predicate, format("the predicate of conditional \"{}\"", conditional->label)));
  return is_true ? run_commands(conditional->body) : Result<void>();
}

Result<void> ReferenceExecutable::run_command(const std::shared_ptr<const graph::Loop>& loop) {
  for (uint64_t runs = 0; !loop->maximum || runs < *loop->maximum; ++runs) {
    if (runs != 0 && time_limit_ && seconds_since_submit() > *time_limit_)
      return time_limit_error(*graph_, *loop, *time_limit_);
    WAVEGATE_CHECK(run_commands(loop->body));
    ++counters_->observations;
    WAVEGATE_TRY(const bool done, is_set(loop->done, format("the done word of loop \"{}\"", loop->label)));
    if (done) return {};
  }
  return {};
}

Result<void> ReferenceExecutable::run_command(const graph::Copy& copy) {
  Storage& source = storage(copy.source.buffer);
  Storage& destination = storage(copy.destination.buffer);
  const auto bytes = static_cast<ptrdiff_t>(copy.source.bytes);
  const auto from = static_cast<ptrdiff_t>(copy.source.offset);
  const auto to = static_cast<ptrdiff_t>(copy.destination.offset);
  // What was never written stays so: copying it is harmless as long as nobody reads the copy.
  std::copy_n(source.bytes.begin() + from, bytes, destination.bytes.begin() + to);
  std::copy_n(source.written.begin() + from, bytes, destination.written.begin() + to);
  return {};
}

Result<void> ReferenceExecutable::run_command(const graph::Fill& fill) {
  Storage& destination = storage(fill.destination.buffer);
  fill_words(destination.bytes.data() + fill.destination.offset, fill.destination.bytes, fill.word);
  std::fill_n(destination.written.begin() + static_cast<ptrdiff_t>(fill.destination.offset), fill.destination.bytes,
              uint8_t{1});
  return {};
}

Result<graph::Grid> ReferenceExecutable::indirect_grid(const graph::Dispatch& dispatch) {
  const Storage& source = storage(dispatch.indirect->buffer);
  const std::string where = format("graph \"{}\", dispatch \"{}\"", graph_->name, dispatch.label);
  const std::string& buffer = graph_->buffers[index_of(dispatch.indirect->buffer)].name;
  const uint64_t offset = dispatch.indirect->offset;
  if (std::find(source.written.data() + offset, source.written.data() + offset + 12, 0) !=
      source.written.data() + offset + 12) {
    return invalid_input(
        format("the grid in buffer \"{}\" at byte {} was never written; write all three numbers first", buffer, offset),
        where);
  }
  graph::Grid grid;
  std::memcpy(grid.data(), source.bytes.data() + offset, 12);
  for (size_t d = 0; d < 3; ++d) {
    if (grid[d] <= dispatch.grid[d]) continue;
    return invalid_input(
        format("the grid {}x{}x{} in buffer \"{}\" at byte {} exceeds the declared bound {}x{}x{}; "
               "declare a larger bound or compute a smaller grid",
               grid[0], grid[1], grid[2], buffer, offset, dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]),
        where);
  }
  return grid;
}

Result<void> ReferenceExecutable::run_command(const graph::Dispatch& dispatch) {
  graph::Grid grid = dispatch.grid;
  if (dispatch.indirect) {
    WAVEGATE_TRY(grid, indirect_grid(dispatch));
  }
  if (std::ranges::find(grid, 0u) != grid.end()) return {};
  ranges_.clear();
  for (const graph::Range& range : dispatch.bindings)
    ranges_.push_back({&storage(range.buffer), range.offset, range.bytes});
  const Launch launch = {
      ranges_, dispatch.words, grid, options_.subgroup_size, options_.max_steps, options_.kernel_loop_iterations};
  Result<void> result = kernels_[static_cast<uint32_t>(dispatch.kernel)].run(launch);
  if (result) return {};
  Error error = std::move(result).error();
  error.where = format("graph \"{}\", dispatch \"{}\"", graph_->name, dispatch.label);
  return error;
}

}  // namespace wavegate::device::reference
