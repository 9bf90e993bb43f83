#include "wavegate/device/webgpu/error_scope.h"

#include <array>
#include <memory>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::device::webgpu {
namespace {

// The innermost last.
constexpr std::array kFilters = {gpu::ErrorFilter::internal, gpu::ErrorFilter::out_of_memory,
                                 gpu::ErrorFilter::validation};

}  // namespace

Error to_error(const gpu::GpuError& error, const std::string& what, Invalid invalid) {
  switch (error.kind) {
    case gpu::ErrorFilter::validation:
      if (invalid == Invalid::is_the_users)
        return invalid_input(format("{}: WebGPU refuses it: {}", what, error.message));
      if (invalid == Invalid::is_the_lenders)
        return invalid_input(format(
            "{}: WebGPU refuses it, most likely for what the application lends: a buffer must be of this device, "
            "and neither destroyed nor mapped, a command encoder of this device and not finished ({})",
            what, error.message));
      return internal_error(format("{}: WebGPU refuses what was made for it: {}", what, error.message));
    case gpu::ErrorFilter::out_of_memory:
      return device_error(
          format("{}: the device is out of memory; make the buffers smaller or free other programs' memory ({})", what,
                 error.message));
    case gpu::ErrorFilter::internal: break;
  }
  return device_error(format("{}: WebGPU failed: {}", what, error.message));
}

ErrorScope::ErrorScope(gpu::Device device) : device_(device) {
  for (const gpu::ErrorFilter filter : kFilters) gpu::push_error_scope(device_, filter);
}

ErrorScope::~ErrorScope() {
  if (is_open_) end({}, Invalid::is_our_mistake, [](const std::optional<Error>&) {});
}

void ErrorScope::end(std::string what, Invalid invalid, std::function<void(std::optional<Error>)> done) {
  struct Heard {
    std::string what;
    Invalid invalid;
    std::function<void(std::optional<Error>)> done;
    size_t waiting = kFilters.size();
    std::optional<Error> first = {};
  };
  is_open_ = false;
  const auto heard = std::make_shared<Heard>(Heard{std::move(what), invalid, std::move(done)});
  for (size_t i = 0; i < kFilters.size(); ++i) {
    gpu::pop_error_scope(device_, [heard](const std::optional<gpu::GpuError>& error) {
      if (error && !heard->first) heard->first = to_error(*error, heard->what, heard->invalid);
      if (--heard->waiting == 0) heard->done(std::move(heard->first));
    });
  }
}

Result<void> ErrorScope::end_and_wait(Context& context, std::string what, Invalid invalid) {
  bool is_heard = false;
  std::optional<Error> found;
  end(std::move(what), invalid, [&](std::optional<Error> error) {
    found = std::move(error);
    is_heard = true;
  });
  wait_until(context, [&] { return is_heard; });
  if (found) return std::move(*found);
  return {};
}

}  // namespace wavegate::device::webgpu
