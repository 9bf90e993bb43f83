#include "wavegate/device/webgpu/pending_writes.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace wavegate::device::webgpu {
namespace {

/// What steps write; later writes through the queue would come too early for it.
class Stepped {
 public:
  void add(const gpu::BoundRange& range) { ranges_.push_back(range); }
  bool overlaps(const gpu::BoundRange& range) const {
    return std::ranges::any_of(ranges_, [&](const gpu::BoundRange& other) {
      return other.buffer == range.buffer && other.offset < range.offset + range.bytes &&
             range.offset < other.offset + other.bytes;
    });
  }

 private:
  std::vector<gpu::BoundRange> ranges_;
};

/// A part of a word: its bytes from `first` on.
struct PartOfWord {
  uint64_t word_offset = 0;  ///< in the buffer, in bytes
  uint32_t keep = 0;
  uint32_t bits = 0;
};

PartOfWord part_of_word(uint64_t offset, std::span<const std::byte> bytes) {
  PartOfWord part{offset / 4 * 4, ~uint32_t{0}, 0};
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t shift = (offset % 4 + i) * 8;
    part.keep &= ~(uint32_t{0xff} << shift);
    part.bits |= std::to_integer<uint32_t>(bytes[i]) << shift;
  }
  return part;
}

}  // namespace

void PendingWrites::write(graph::BufferId buffer, uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  writes_.push_back(
      {buffer, offset, bytes.size(), std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()), 0});
}

void PendingWrites::initialise(const std::shared_ptr<const graph::Graph>& graph) {
  std::erase_if(writes_, [&](const Write& write) {
    return graph->buffers[static_cast<uint32_t>(write.buffer)].initial.has_value();
  });
  for (uint32_t i = 0; i < graph->buffers.size(); ++i) {
    const graph::Buffer& buffer = graph->buffers[i];
    if (buffer.initial)
      writes_.push_back({graph::BufferId{i}, 0, buffer.bytes, buffer.initial->bytes, buffer.initial->word});
  }
}

void PendingWrites::put_before(PendingWrites earlier) {
  earlier.writes_.insert(earlier.writes_.end(), std::make_move_iterator(writes_.begin()),
                         std::make_move_iterator(writes_.end()));
  writes_ = std::move(earlier.writes_);
}

Result<std::vector<Step>> PendingWrites::make_steps(Context& context, std::span<const gpu::Buffer> buffers, When when,
                                                    Steps& steps) const {
  std::vector<Step> out;
  Stepped stepped;
  for (const Write& write : writes_) {
    const gpu::Buffer buffer = buffers[static_cast<uint32_t>(write.buffer)];
    if (!write.data) {
      const gpu::BoundRange range{buffer, write.offset, write.bytes};
      WAVEGATE_CHECK(steps.fill(range, write.word, out));
      stepped.add(range);
      continue;
    }
    const std::span<const std::byte> bytes = *write.data;
    const auto patch = [&](size_t from, size_t count) -> Result<void> {
      const PartOfWord part = part_of_word(write.offset + from, bytes.subspan(from, count));
      stepped.add({buffer, part.word_offset, 4});
      return steps.patch(buffer, part.word_offset, part.keep, part.bits, out);
    };
    const size_t head = std::min(static_cast<size_t>((4 - write.offset % 4) % 4), bytes.size());
    const size_t whole = (bytes.size() - head) / 4 * 4;
    const size_t tail = bytes.size() - head - whole;
    if (head != 0) WAVEGATE_CHECK(patch(0, head));
    const gpu::BoundRange range{buffer, write.offset + head, whole};
    if (whole != 0 && when == When::now && !stepped.overlaps(range)) {
      gpu::write_buffer(context.device, buffer, range.offset, bytes.subspan(head, whole));
    } else if (whole != 0) {
      const gpu::Buffer staging = steps.add_buffer("wavegate staging", whole, gpu::kCopySource | gpu::kCopyDestination);
      gpu::write_buffer(context.device, staging, 0, bytes.subspan(head, whole));
      steps.copy({staging, 0, whole}, range, out);
      stepped.add(range);
    }
    if (tail != 0) WAVEGATE_CHECK(patch(head + whole, tail));
  }
  return out;
}

}  // namespace wavegate::device::webgpu
