#pragma once

#include <functional>
#include <optional>
#include <string>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/gpu.h"

namespace wavegate::device::webgpu {

/// Whose fault it is if WebGPU finds something invalid.
enum class Invalid : uint8_t {
  is_our_mistake,
  is_the_users,    ///< a module is wrong
  is_the_lenders,  ///< what an application lends cannot be used: a buffer, a command encoder
};

/// An error of WebGPU in our terms. `what` was attempted: `graph "cg": running it`.
Error to_error(const gpu::GpuError& error, const std::string& what, Invalid invalid);

/// Hears of all errors of what is called between its construction and end().
class ErrorScope {
 public:
  explicit ErrorScope(gpu::Device device);
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
  /// Ends the scope, if it was not, and forgets what it heard.
  ~ErrorScope();

  /// `done` hears the first error, or that there was none.
  void end(std::string what, Invalid invalid, std::function<void(std::optional<Error>)> done);
  /// The same for those who can wait, of which WebGPU needs little: what it heard. Precondition: gpu::can_wait().
  Result<void> end_and_wait(Context& context, std::string what, Invalid invalid);

 private:
  gpu::Device device_;
  bool is_open_ = true;
};

}  // namespace wavegate::device::webgpu
