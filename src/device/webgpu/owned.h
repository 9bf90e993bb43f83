#pragma once

#include <utility>

#include "wavegate/device/webgpu/gpu.h"

namespace wavegate::device::webgpu {

/// Owns one object of WebGPU and releases it.
template <typename Handle>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle::none)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != Handle::none) gpu::release(handle_);
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle::none; }

 private:
  Handle handle_ = Handle::none;
};

/// Owns a buffer and its memory, which goes at once and not when the last bind group has gone.
class OwnedBuffer {
 public:
  OwnedBuffer() = default;
  explicit OwnedBuffer(gpu::Buffer buffer) : buffer_(buffer) {}
  OwnedBuffer(OwnedBuffer&&) noexcept = default;
  OwnedBuffer& operator=(OwnedBuffer&&) noexcept = default;
  ~OwnedBuffer() {
    if (buffer_) gpu::destroy(buffer_.get());
  }

  gpu::Buffer get() const { return buffer_.get(); }
  explicit operator bool() const { return static_cast<bool>(buffer_); }

 private:
  Owned<gpu::Buffer> buffer_;
};

}  // namespace wavegate::device::webgpu
