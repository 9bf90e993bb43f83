#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::io {

enum class ElementType : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 };

/// "f32"; a boolean is "bool".
std::string_view to_string(ElementType type);
std::uint64_t size_of(ElementType type);

/// A dense array: elements in row-major order, little-endian, without gaps.
struct Array {
  ElementType type = ElementType::f32;
  std::vector<std::uint64_t> shape;  ///< Empty for a single element.
  std::vector<std::byte> bytes;

  bool operator==(const Array&) const = default;
};

/// The product of a shape, or nothing if the array would exceed 2^63 - 1 bytes. A zero makes it 0.
std::optional<std::uint64_t> element_count(ElementType type, std::span<const std::uint64_t> shape);

/// Reads NumPy's .npy, versions 1 to 3. `where` names the source in errors. Big-endian arrays, Fortran order beyond one
/// dimension and types that ElementType has not are unsupported, each by name. Nothing is allocated before the sizes
/// that the header claims are found to be exactly those of the data.
Result<Array> read_npy(std::span<const std::byte> bytes, std::string_view where);

/// The .npy file of an array, as NumPy writes it. An error if `bytes` and `shape` disagree.
Result<std::vector<std::byte>> write_npy(const Array& array);

/// Every element as the nearest f32; a boolean is 0 or 1. A finite number beyond f32's range is an error that names it.
Result<std::vector<float>> to_f32(const Array& array);

/// The element type of a C++ type, for make_array.
template <typename T>
consteval ElementType element_type_of() {
  if constexpr (std::same_as<T, bool>) return ElementType::boolean;
  if constexpr (std::same_as<T, std::int8_t>) return ElementType::i8;
  if constexpr (std::same_as<T, std::int16_t>) return ElementType::i16;
  if constexpr (std::same_as<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::same_as<T, std::int64_t>) return ElementType::i64;
  if constexpr (std::same_as<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::same_as<T, std::uint16_t>) return ElementType::u16;
  if constexpr (std::same_as<T, std::uint32_t>) return ElementType::u32;
  if constexpr (std::same_as<T, std::uint64_t>) return ElementType::u64;
  if constexpr (std::same_as<T, float>) return ElementType::f32;
  if constexpr (std::same_as<T, double>) return ElementType::f64;
}

/// A one-dimensional array of copies of the values.
template <typename T>
Array make_array(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {element_type_of<T>(), {values.size()}, {bytes.begin(), bytes.end()}};
}

}  // namespace wavegate::io
