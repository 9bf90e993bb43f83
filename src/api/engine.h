#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/lowering/lower.h"
#include "wavegate/lowering/plan.h"
#include "wavegate/program/program.h"

namespace wavegate {

/// Profiles of the devices of this machine: Vulkan's, WebGPU's, then the reference device. A missing driver or library
/// is not an error here; `why_not`, if given, receives why a device is left out.
std::vector<target::Profile> list_devices(std::string* why_not = nullptr);

/// Opens a device. `name` is "reference", "vulkan", "webgpu", or part of a Vulkan device's name; empty: the environment
/// variable WAVEGATE_DEVICE, else the best Vulkan device (a real GPU before a software one).
Result<std::shared_ptr<device::Device>> open_device(const std::string& name = {});

/// How a loop ended.
enum class ExitReason {
  converged,  ///< the predicate is false after the last iteration
  bound,      ///< the predicate still holds: `max` iterations ran, or break_ ended them; or the loop was never entered
};

struct LoopReport {
  uint32_t trips = 0;  ///< iterations begun, of its last entry
  ExitReason reason = ExitReason::bound;
};

/// A program compiled for a device. Holds the device alive. Not thread-safe; movable.
///
///     Result<Executable> executable = compile(program, device);
///     executable->run();                       // one wait
///     std::vector<float> x = executable->read<float>(x_buffer).value();
class Executable {
 public:
  Executable(std::shared_ptr<device::Device> device, lowering::Plan plan,
             std::unique_ptr<device::Executable> executable)
      : device_(std::move(device)), plan_(std::move(plan)), executable_(std::move(executable)) {}
  Executable(Executable&&) = default;
  /// What was here is destroyed before its device is let go.
  Executable& operator=(Executable&& other) noexcept;

  /// Lends the memory of an external buffer; needed before the first run.
  Result<void> bind(program::Buffer buffer, std::shared_ptr<device::Buffer> memory);

  Result<void> run();
  Result<void> submit();
  /// Waits for the run. A loop that is chunked is driven from here: see device::Executable::wait.
  /// `invalid-input` if a computed grid was larger than its declared maximum: what the run left is then unspecified.
  Result<void> wait();
  /// The `invalid-input` part of wait(), for those who are told when the run has ended instead of waiting for it.
  Result<void> check_computed_grids();

  /// How long a run may take that the host drives (chunked loops); none at first. A loop that is not done by then ends
  /// in an error that names it, and outputs remain those of the run before.
  void set_time_limit(std::optional<double> seconds) { executable_->set_time_limit(seconds); }

  /// Puts every value with an initial value back to it before the next run, launch parameters too.
  Result<void> reset();

  /// Sets a launch parameter or any scalar before the next run; nothing is recompiled. The type must match.
  Result<void> set(program::Scalar scalar, program::Literal value);

  /// Replaces bytes of a buffer before the next run.
  Result<void> write_bytes(program::Buffer buffer, uint64_t offset, std::span<const std::byte> bytes);
  /// Replaces elements, which have the size of the buffer's, from element `first` on.
  template <typename T>
  Result<void> write(program::Buffer buffer, std::span<const T> elements, uint64_t first = 0);

  /// Reads as the last run left it. Outputs, scalars and loop reports cost no further wait.
  Result<void> read_bytes(program::Buffer buffer, uint64_t offset, std::span<std::byte> bytes);
  template <typename T>
  Result<std::vector<T>> read(program::Buffer buffer);
  Result<uint32_t> read_bits(program::Scalar scalar);
  Result<float> read_f32(program::Scalar scalar);
  Result<LoopReport> loop(program::Loop loop);

  double device_seconds() const { return executable_->device_seconds(); }
  const lowering::Plan& plan() const { return plan_; }
  device::Device& device() const { return *device_; }
  /// The device's part, for what only one backend can do (vulkan::encode, webgpu::encode).
  device::Executable& device_executable() { return *executable_; }

 private:
  friend Result<Executable> compile(const program::Program&, std::shared_ptr<device::Device>, const lowering::Options&);

  Result<uint32_t> arena_word(uint64_t offset);
  Result<uint64_t> byte_count(program::Buffer buffer, uint64_t element_bytes) const;

  std::shared_ptr<device::Device> device_;
  lowering::Plan plan_;
  std::unique_ptr<device::Executable> executable_;
  std::vector<program::BufferInfo> buffers_;
  std::vector<program::ScalarInfo> scalars_;
};

/// How a program is compiled: strategies, host-free, costs. By default every region gets the cheapest strategy by the
/// costs that `wavegate calibrate` measured, or by typical ones.
using CompileOptions = lowering::Options;

/// Lowers a program for the device and loads it there.
Result<Executable> compile(const program::Program& program, std::shared_ptr<device::Device> device,
                           const CompileOptions& options = {});

template <typename T>
Result<void> Executable::write(program::Buffer buffer, std::span<const T> elements, uint64_t first) {
  WAVEGATE_TRY(const uint64_t bytes, byte_count(buffer, sizeof(T)));
  if (first > bytes / sizeof(T)) return invalid_input("a write begins past the end of its buffer");
  return write_bytes(buffer, first * sizeof(T), std::as_bytes(elements));
}

template <typename T>
Result<std::vector<T>> Executable::read(program::Buffer buffer) {
  WAVEGATE_TRY(const uint64_t bytes, byte_count(buffer, sizeof(T)));
  std::vector<T> elements(static_cast<size_t>(bytes / sizeof(T)));
  WAVEGATE_CHECK(read_bytes(buffer, 0, std::as_writable_bytes(std::span(elements))));
  return elements;
}

}  // namespace wavegate
