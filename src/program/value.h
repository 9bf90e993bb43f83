#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wavegate/kir/interface.h"

namespace wavegate::program {

/// A logical scalar is one 32-bit word of the arena; its type says how arithmetic and comparisons read it.
enum class ScalarType : uint8_t { uint32, sint32, float32 };
std::string_view to_string(ScalarType type);
kir::Type kernel_type(ScalarType type);

/// Handles are indices into the program that made them; they are plain values.
struct Buffer {
  uint32_t id = 0;
  friend bool operator==(Buffer, Buffer) = default;
};
struct Scalar {
  uint32_t id = 0;
  friend bool operator==(Scalar, Scalar) = default;
};

/// What a buffer holds at creation and after reset().
struct Initial {
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< exactly the buffer's size; null: `word` repeated
  uint32_t word = 0;

  static Initial zero() { return {}; }
  static Initial repeated(uint32_t word) { return {nullptr, word}; }
  static Initial repeated(float value) { return {nullptr, std::bit_cast<uint32_t>(value)}; }
  /// Copies the elements of a contiguous range of trivially copyable values.
  template <typename Elements>
  static Initial copy_of(const Elements& elements) {
    const auto* first = reinterpret_cast<const std::byte*>(std::data(elements));
    return {std::make_shared<const std::vector<std::byte>>(first,
                                                           first + std::size(elements) * sizeof(*std::data(elements))),
            0};
  }
};

struct BufferInfo {
  std::string name;
  kir::Type element = kir::Type::f32;
  uint64_t count = 0;  ///< elements
  std::optional<Initial> initial;
  bool external = false;  ///< its memory is bound by the application before the run
  bool output = false;    ///< readable after a run without a further wait
  uint64_t bytes() const { return count * kir::byte_size(element); }
};

struct ScalarInfo {
  std::string name;
  ScalarType type = ScalarType::uint32;
  std::optional<uint32_t> initial;  ///< bits
  bool parameter = false;           ///< a launch parameter: the host sets it between runs, the program only reads it
  bool loop_index = false;          ///< set by its loop; the program only reads it
};

/// A sparse matrix in compressed sparse rows. Row i holds entries [row_offsets[i], row_offsets[i + 1]).
struct CsrMatrix {
  Buffer row_offsets;     ///< i32, rows + 1
  Buffer column_indices;  ///< i32, nonzeros
  Buffer values;          ///< f32, nonzeros
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t nonzeros = 0;
};

/// A number given in the program.
struct Literal {
  ScalarType type = ScalarType::uint32;
  uint32_t bits = 0;
};
inline Literal literal(uint32_t value) {
  return {ScalarType::uint32, value};
}
inline Literal literal(int32_t value) {
  return {ScalarType::sint32, static_cast<uint32_t>(value)};
}
inline Literal literal(float value) {
  return {ScalarType::float32, std::bit_cast<uint32_t>(value)};
}

/// What an operation or a dispatch can be given.
using Operand = std::variant<Buffer, Scalar, Literal, CsrMatrix>;

}  // namespace wavegate::program
