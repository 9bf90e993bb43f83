#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/device/schedule.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/device.h"
#include "wavegate/device/webgpu/error_scope.h"
#include "wavegate/device/webgpu/graph_memory.h"
#include "wavegate/device/webgpu/host_copies.h"
#include "wavegate/device/webgpu/owned.h"
#include "wavegate/device/webgpu/pending_writes.h"
#include "wavegate/device/webgpu/recordings.h"
#include "wavegate/device/webgpu/variants.h"

namespace wavegate::device::webgpu {

/// A run is a sequence of callbacks: submit() starts it, and each time that a look at a loop or anything else that was
/// awaited comes back, it goes on by itself. Whoever can wait only keeps calling back until it is over.
class WebGpuExecutable final : public Executable {
 public:
  /// Preconditions: the graph is verified and within the limits of the device. Where nobody can wait, what WebGPU finds
  /// wrong is the error of the first run.
  static Result<std::unique_ptr<WebGpuExecutable>> load(Context& context, std::shared_ptr<const graph::Graph> graph);

  Result<void> bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) override;
  Result<void> write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> submit() override;
  Result<void> wait() override;
  void set_time_limit(std::optional<double> seconds) override { time_limit_ = seconds; }
  Result<void> read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) override;
  Result<void> reset() override;
  double device_seconds() const override { return device_seconds_; }

  /// See device.h.
  Result<void> when_done(std::function<void(Result<void>)> done);
  Result<BufferPlace> place(graph::BufferId buffer) const { return memory_.place(*graph_, buffer); }
  Result<std::shared_ptr<void>> encode(uintptr_t encoder);

 private:
  WebGpuExecutable(Context& context, std::shared_ptr<const graph::Graph> graph);

  // Loading.
  Result<void> check_modules();
  Result<void> prepare_kernels();
  Result<void> check_shown(const graph::Dispatch& dispatch);
  void heard_of_loading(std::optional<Error> error);
  void forget_refused();
  Result<void> prepare_recording();
  Result<void> check_usable(std::string_view verb);
  Result<void> check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes, std::string_view verb) const;
  std::string name() const;

  // A run.
  Result<void> submit_next();
  Result<void> submit_batch(const Batch& batch);
  void play(Player& player, const Piece& piece);
  void map_results();
  size_t free_look();
  void look(size_t which, size_t loop, const Result<void>& mapped);
  bool is_overdue() const;
  void fail(Error error);
  void advance();
  void finish_run();
  void tell_when_done();
  /// A callback that does nothing if the executable has gone, and lets the run go on.
  template <typename... Arguments>
  std::function<void(Arguments...)> awaited(std::type_identity_t<std::function<void(Arguments...)>> then);

  // The application's encoder.
  struct Encoded;
  Result<std::vector<Step>> prepare_encoding(Encoded& encoded);
  Result<void> judge(ErrorScope& scope, std::string what, Invalid invalid, std::shared_ptr<PendingWrites> writes);
  void heard_of_encoding(Error error, PendingWrites writes);

  // Reading.
  Result<void> read_from_device(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes);
  Result<void> map_and_wait(gpu::Buffer buffer, uint64_t bytes, const std::string& what);

  Context& context_;
  std::shared_ptr<const graph::Graph> graph_;
  Variants variants_;
  /// Of the finished modules: by binding, the bytes that they must be shown.
  std::map<graph::KernelId, std::vector<uint64_t>> least_shown_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
  bool is_loaded_ = false;
  std::optional<Error> load_error_;
  /// Of encode(), where that could not wait: the next call tells it, or the run in flight.
  std::optional<Error> late_error_;

  GraphMemory memory_;
  PendingWrites pending_;
  Recordings recordings_;
  std::shared_ptr<const Recording> recording_;  ///< over the memory that is bound; null: to be had

  HostCopies host_copies_;
  /// A word for the host, of a loop: whether it is done.
  struct Look {
    OwnedBuffer host;
    bool is_free = true;
  };
  std::vector<Look> looks_;

  // Of the run in flight.
  bool in_flight_ = false;  ///< submitted, and not waited for
  bool is_over_ = false;    ///< it has ended, with error_ or well
  Schedule schedule_;
  uint32_t awaited_ = 0;  ///< callbacks to come
  std::optional<Error> error_;
  std::function<void(Result<void>)> when_done_;
  std::chrono::steady_clock::time_point submitted_at_;
  std::optional<double> time_limit_;

  bool has_outputs_ = false;  ///< a run ended well
  bool is_encoded_ = false;   ///< and that was one of the application's
  bool has_run_ = false;
  bool has_failed_ = false;  ///< the last one did
  double device_seconds_ = -1;
};

}  // namespace wavegate::device::webgpu
