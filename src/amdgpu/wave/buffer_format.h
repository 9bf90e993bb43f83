#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wavegate/amdgpu/isa/target.h"

/// Formats of typed buffers: what elements in memory mean as values in registers.
namespace wavegate::amdgpu::wave {

enum class NumberFormat : std::uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, real };

struct BufferFormat {
  std::uint8_t bytes = 0;                ///< of an element
  std::uint8_t count = 0;                ///< components
  std::array<std::uint8_t, 4> widths{};  ///< of x, y, z and w, x in the lowest bits
  NumberFormat number{};

  bool is_integer() const { return number == NumberFormat::uint || number == NumberFormat::sint; }
};

/// By AMD's name, whose first width is that of the highest bits: "2_10_10_10_UNORM".
std::optional<BufferFormat> parse_buffer_format(std::string_view name);
/// By the number that instructions and descriptors have; of gfx9 the data format and, from bit 4 on, the number format.
/// nullptr for one that there is not.
const BufferFormat* find_buffer_format(isa::Generation generation, unsigned number);

/// The components of an element: f32, or 32-bit integers. Those that a format has not are 0, but w is 1.
std::array<std::uint32_t, 4> unpack_element(const BufferFormat& format, const std::byte* element);
/// Numbers are rounded to the nearest that the format has, floats of 10 and 11 bits towards zero; of integers the low
/// bits are kept.
void pack_element(const BufferFormat& format, const std::array<std::uint32_t, 4>& components, std::byte* element);

}  // namespace wavegate::amdgpu::wave
