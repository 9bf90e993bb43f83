#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/graph/graph.h"
#include "wavegate/target/profile.h"

namespace wavegate::device {

/// What the host did, counted where the device's API is called.
struct Counters {
  uint64_t submissions = 0;   ///< command submissions
  uint64_t host_waits = 0;    ///< times that the host waited for the device
  uint64_t readbacks = 0;     ///< copies of device data for the host, one a buffer
  uint64_t observations = 0;  ///< looks at device-written memory during a run
  friend Counters operator-(const Counters& a, const Counters& b) {
    return {a.submissions - b.submissions, a.host_waits - b.host_waits, a.readbacks - b.readbacks,
            a.observations - b.observations};
  }
};

/// Device memory that outlives one executable: allocated with Device::allocate, or lent by the application.
/// Shared ownership; memory lent by an application is never freed here.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual uint64_t bytes() const = 0;
};

/// A graph loaded on a device: pipelines built, memory allocated, commands ready. Not thread-safe.
///
/// Buffers hold their initial contents at first; what a run leaves in them persists to the next. One without initial
/// contents holds zeroes, never what another process left in the memory; yet a kernel that reads it before anything
/// was written is a mistake, which the reference device reports.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Binds the memory of an external buffer; needed before the first run. At least as large as declared.
  virtual Result<void> bind(graph::BufferId buffer, std::shared_ptr<Buffer> memory) = 0;

  /// Sets bytes of a buffer before the next run. Copies `bytes`; neither submits nor waits.
  virtual Result<void> write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) = 0;

  /// Starts a run: one submission, pending writes first. The previous run must have been waited for. A graph with loops
  /// (graph::Loop) starts with its first chunks, and wait() submits what follows.
  virtual Result<void> submit() = 0;

  /// Waits for the run that submit() started: one host wait. Then the outputs can be read. When the wait itself fails
  /// (for want of memory) the run goes on and can be waited for again.
  ///
  /// With loops in the graph: keeps two chunks in flight, and looks at what tells that a loop is done (observations)
  /// only after a query that does not wait.
  ///
  /// A run that fails, since it exceeds its time limit say, ends in an error once all that was submitted has ended. The
  /// outputs remain those of the last run that did not fail. The executable stays usable: the next run starts from
  /// what the failed one left in the buffers, or after reset() from initial contents.
  virtual Result<void> wait() = 0;

  /// How long the loops of a run may take, in seconds from submit(); none at first. Looked at while a loop is not done,
  /// between runs of its body; it ends no single command, and nothing of a graph without loops.
  virtual void set_time_limit(std::optional<double> seconds) = 0;

  /// Reads bytes of a buffer as the last waited-for run left them. An output costs no wait; another buffer
  /// costs one submission, one wait and one readback. Before the first run, every buffer can be read at that cost and
  /// holds what the run would start from: initial contents and what was written since. External buffers must be bound.
  /// After a run that failed, an output can be read if an earlier run did not fail, and holds what that one left;
  /// reading anything else is `invalid-input`.
  virtual Result<void> read(graph::BufferId buffer, uint64_t offset, std::span<std::byte> bytes) = 0;

  /// Puts every buffer that has initial contents back to them, before the next run.
  virtual Result<void> reset() = 0;

  /// Device time of the last run in seconds, from its first command to its last. A negative number where there are no
  /// timestamps, before the first run and after one that failed.
  virtual double device_seconds() const = 0;

  /// submit() and wait().
  Result<void> run() {
    WAVEGATE_CHECK(submit());
    return wait();
  }
};

/// The error of a run whose loop is not done when its time limit has passed.
Error time_limit_error(const graph::Graph& graph, const graph::Loop& loop, double seconds);

/// A device of one backend. Outlives its executables and buffers. Thread-compatible.
class Device {
 public:
  virtual ~Device() = default;
  virtual const target::Profile& profile() const = 0;
  virtual const Counters& counters() const = 0;

  /// Checks limits and features first, so that an error names the limit before anything is allocated.
  virtual Result<std::unique_ptr<Executable>> load(std::shared_ptr<const graph::Graph> graph) = 0;

  /// Zeroed device memory for external buffers.
  virtual Result<std::shared_ptr<Buffer>> allocate(uint64_t bytes) = 0;
};

}  // namespace wavegate::device
