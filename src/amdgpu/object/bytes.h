#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

/// Reading of bytes that nobody vouches for: every access is checked, none is aligned.
namespace wavegate::amdgpu::object {

using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "AMD's objects are little-endian, and are read as they lie");

/// `size` bytes from `offset`; nothing where they do not all exist.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

/// The number at `offset`; nothing where it does not lie within the bytes.
template <typename T>
std::optional<T> read(Bytes bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto part = slice(bytes, offset, sizeof(T));
  if (!part) return std::nullopt;
  T value;
  std::memcpy(&value, part->data(), sizeof(T));
  return value;
}

/// The same, of bytes that are known to be there: a header whose size was checked.
template <typename T>
T read_known(Bytes bytes, std::size_t offset) {
  return read<T>(bytes, offset).value_or(T{});
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace wavegate::amdgpu::object
