#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/device/reference/device.h"
#include "wavegate/device/reference/interpreter.h"

namespace wavegate::device::reference {

/// Memory of Device::allocate.
class ReferenceBuffer : public Buffer {
 public:
  explicit ReferenceBuffer(uint64_t bytes)
      : storage_{std::vector<std::byte>(static_cast<size_t>(bytes)),
                 std::vector<uint8_t>(static_cast<size_t>(bytes), 1)} {}
  uint64_t bytes() const override { return storage_.bytes.size(); }
  Storage& storage() { return storage_; }

 private:
  Storage storage_;
};

class ReferenceExecutable : public Executable {
 public:
  /// Precondition: the graph is verified, fits the device and has no opaque kernels. `counters` outlives the result.
  static Result<std::unique_ptr<Executable>> make(std::shared_ptr<const graph::Graph> graph, const Options& options,
                                                  Counters& counters);

  Result<void> bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) override;
  Result<void> write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) override;
  Result<void> submit() override;
  Result<void> wait() override;
  void set_time_limit(std::optional<double> seconds) override { time_limit_ = seconds; }
  Result<void> read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) override;
  Result<void> reset() override;
  double device_seconds() const override { return device_seconds_; }

 private:
  /// What write() asked for before the next run.
  struct Write {
    uint32_t buffer = 0;
    uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  enum class State { idle, submitted, waited, failed };

  ReferenceExecutable(std::shared_ptr<const graph::Graph> graph, const Options& options, Counters& counters);

  Error mistake(const std::string& what) const;
  Result<void> check_not_submitted(const char* what) const;
  Result<void> check_buffer(graph::BufferId buffer, const char* what) const;
  Result<void> check_range(graph::BufferId buffer, uint64_t offset, uint64_t bytes, const char* what) const;
  Result<void> check_bound() const;
  Storage& storage(graph::BufferId buffer);
  void initialise(uint32_t buffer);
  void apply_pending();

  Result<void> run_commands(const std::vector<graph::Command>& commands);
  Result<void> run_command(const graph::Dispatch& dispatch);
  Result<void> run_command(const graph::Copy& copy);
  Result<void> run_command(const graph::Fill& fill);
  Result<void> run_command(const std::shared_ptr<const graph::Repeat>& repeat);
  Result<void> run_command(const std::shared_ptr<const graph::Conditional>& conditional);
  Result<void> run_command(const std::shared_ptr<const graph::Loop>& loop);
  Result<bool> is_set(const graph::Range& word, const std::string& what);
  double seconds_since_submit() const;
  Result<graph::Grid> indirect_grid(const graph::Dispatch& dispatch);

  std::shared_ptr<const graph::Graph> graph_;
  Options options_;
  Counters* counters_;
  std::vector<PreparedKernel> kernels_;
  std::vector<Storage> storages_;                            ///< by buffer; empty for an external one
  std::vector<std::shared_ptr<ReferenceBuffer>> externals_;  ///< by buffer; null if not bound
  std::vector<std::vector<std::byte>> outputs_;              ///< by buffer; what the last good run left, for the host
  std::vector<Write> pending_writes_;
  bool pending_reset_ = false;  ///< comes before the pending writes
  std::vector<BoundRange> ranges_;
  State state_ = State::idle;
  bool has_outputs_ = false;  ///< a run did not fail
  Result<void> run_result_;
  std::optional<double> time_limit_;
  std::chrono::steady_clock::time_point submitted_at_;
  double device_seconds_ = -1;
};

}  // namespace wavegate::device::reference
