#include "wavegate/device/webgpu/host_copies.h"

#include <cstring>
#include <utility>

namespace wavegate::device::webgpu {
namespace {

constexpr uint64_t kTimesBytes = 16;

}  // namespace

bool read_bytes(gpu::Buffer mapped, uint64_t offset, std::span<std::byte> bytes) {
  const uint64_t begin = offset / 8 * 8;
  const uint64_t end = (offset + bytes.size() + 3) / 4 * 4;
  if (begin == offset && end == offset + bytes.size()) return gpu::read_mapped(mapped, offset, bytes);
  std::vector<std::byte> around(static_cast<size_t>(end - begin));
  if (!gpu::read_mapped(mapped, begin, around)) return false;
  std::memcpy(bytes.data(), around.data() + (offset - begin), bytes.size());
  return true;
}

void HostCopies::allocate(const Context& context, const graph::Graph& graph) {
  outputs_.resize(graph.buffers.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const graph::Buffer& buffer = graph.buffers[i];
    if (!buffer.output) continue;
    outputs_[i].host = OwnedBuffer(gpu::create_buffer(context.device, buffer.name, buffer.bytes, kHostUses));
    outputs_[i].bytes = buffer.bytes;
  }
  if (!context.profile.features.timestamps) return;
  timestamps_ = Owned(gpu::create_timestamps(context.device, 2));
  resolved_times_ = OwnedBuffer(
      gpu::create_buffer(context.device, "wavegate times", kTimesBytes, gpu::kQueryResolve | gpu::kCopySource));
  times_.host = OwnedBuffer(gpu::create_buffer(context.device, "wavegate times", kTimesBytes, kHostUses));
  times_.bytes = kTimesBytes;
}

void HostCopies::unmap_outputs() {
  for (Copy& output : outputs_)
    if (std::exchange(output.is_mapped, false)) gpu::unmap(output.host.get());
}

/// An empty pass that only takes the time.
void HostCopies::take_time(Player& player, uint32_t index) const {
  if (!timestamps_) return;
  player.end_pass();
  gpu::PassTimes times;
  times.queries = timestamps_.get();
  (index == 0 ? times.begin : times.end) = index;
  gpu::end_pass(gpu::begin_pass(player.encoder(), times));
}

void HostCopies::copy_outputs(gpu::Encoder encoder, std::span<const gpu::Buffer> handles) const {
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].host) gpu::copy_buffer(encoder, handles[i], 0, outputs_[i].host.get(), 0, outputs_[i].bytes);
}

void HostCopies::copy_times(gpu::Encoder encoder) const {
  if (!timestamps_) return;
  gpu::resolve_timestamps(encoder, timestamps_.get(), 2, resolved_times_.get());
  gpu::copy_buffer(encoder, resolved_times_.get(), 0, times_.host.get(), 0, kTimesBytes);
}

std::vector<HostCopies::Copy*> HostCopies::copies() {
  std::vector<Copy*> all;
  for (Copy& output : outputs_)
    if (output.host) all.push_back(&output);
  if (times_.host) all.push_back(&times_);
  return all;
}

std::optional<double> HostCopies::read_times() {
  if (!std::exchange(times_.is_mapped, false)) return std::nullopt;
  uint64_t nanoseconds[2] = {};
  const bool is_there = gpu::read_mapped(times_.host.get(), 0, std::as_writable_bytes(std::span(nanoseconds)));
  gpu::unmap(times_.host.get());
  if (!is_there) return std::nullopt;
  // A browser rounds them, which may move the end before the begin.
  const uint64_t elapsed = nanoseconds[1] > nanoseconds[0] ? nanoseconds[1] - nanoseconds[0] : 0;
  return static_cast<double>(elapsed) * 1e-9;
}

}  // namespace wavegate::device::webgpu
