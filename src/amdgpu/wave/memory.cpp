#include "wavegate/amdgpu/wave/memory.h"

#include <algorithm>

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave {

namespace {

constexpr std::uint64_t kPage = 4096;
/// Of unmapped addresses between two ranges, at least.
constexpr std::uint64_t kGap = 1 << 20;

bool starts_before(const MemoryRange& range, std::uint64_t address) {
  return range.address <= address;
}

}  // namespace

Result<std::uint64_t> GuestMemory::allocate(std::uint64_t bytes, std::string name) {
  if (bytes > kMaximumBytes - allocated_)
    return invalid_input(format("{} bytes for \"{}\" exceed the {} bytes of guest memory", bytes, name, kMaximumBytes));
  owned_.push_back(std::make_unique<std::byte[]>(std::max<std::uint64_t>(bytes, 1)));
  allocated_ += bytes;
  return map({owned_.back().get(), static_cast<std::size_t>(bytes)}, std::move(name));
}

std::uint64_t GuestMemory::map(std::span<std::byte> bytes, std::string name, bool writable) {
  const std::uint64_t address = next_;
  ranges_.push_back({address, bytes, writable, std::move(name)});
  next_ = (address + bytes.size() + kGap + kPage - 1) / kPage * kPage;
  return address;
}

Result<void> GuestMemory::map_at(std::uint64_t address, std::span<std::byte> bytes, std::string name, bool writable) {
  const auto place = std::ranges::lower_bound(ranges_, address, {}, &MemoryRange::address);
  const bool meets_next = place != ranges_.end() && place->address - address < bytes.size();
  const bool meets_last =
      place != ranges_.begin() && address - std::prev(place)->address < std::prev(place)->bytes.size();
  if (meets_next || meets_last)
    return invalid_input(format("\"{}\" overlaps other guest memory at {:#x}", name, address));
  ranges_.insert(place, {address, bytes, writable, std::move(name)});
  next_ = std::max(next_, (address + bytes.size() + kGap + kPage - 1) / kPage * kPage);
  return {};
}

const MemoryRange* GuestMemory::find(std::uint64_t address) const {
  const auto after = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const MemoryRange& range) { return starts_before(range, address); });
  if (after == ranges_.begin()) return nullptr;
  const MemoryRange& range = *std::prev(after);
  return address - range.address < range.bytes.size() ? &range : nullptr;
}

std::span<std::byte> GuestMemory::at(std::uint64_t address, std::uint64_t bytes) const {
  const MemoryRange* const range = find(address);
  if (range == nullptr || bytes > range->bytes.size() - (address - range->address)) return {};
  return range->bytes.subspan(static_cast<std::size_t>(address - range->address), static_cast<std::size_t>(bytes));
}

}  // namespace wavegate::amdgpu::wave
