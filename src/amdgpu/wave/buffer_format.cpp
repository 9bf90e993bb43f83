#include "wavegate/amdgpu/wave/buffer_format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>

#include "wavegate/amdgpu/isa/buffer_formats.h"
#include "wavegate/amdgpu/wave/numeric.h"

namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Formats = std::array<std::optional<BufferFormat>, 128>;

struct NamedNumber {
  std::string_view name;
  NumberFormat number;
};
constexpr NamedNumber kNumbers[] = {
    {"UNORM", NumberFormat::unorm},     {"SNORM", NumberFormat::snorm}, {"USCALED", NumberFormat::uscaled},
    {"SSCALED", NumberFormat::sscaled}, {"UINT", NumberFormat::uint},   {"SINT", NumberFormat::sint},
    {"FLOAT", NumberFormat::real},
};

Formats formats_by_name(auto names) {
  Formats formats;
  for (std::size_t i = 0; i < std::size(names) && i < formats.size(); ++i) formats[i] = parse_buffer_format(names[i]);
  return formats;
}
Formats formats_of_gfx9() {
  Formats formats;
  for (unsigned i = 0; i < formats.size(); ++i)
    formats[i] =
        parse_buffer_format(std::string(isa::kDataFormats[i & 15]) + "_" + std::string(isa::kNumberFormats[i >> 4]));
  return formats;
}

/// So many bits from a bit of an element on.
u32 field(const std::byte* element, unsigned first, unsigned width) {
  u64 bits = 0;
  std::memcpy(&bits, element + first / 8, (first % 8 + width + 7) / 8);
  return static_cast<u32>(bits >> first % 8) & (width == 32 ? ~0u : (1u << width) - 1);
}
void set_field(std::byte* element, unsigned first, unsigned width, u32 value) {
  const unsigned bytes = (first % 8 + width + 7) / 8;
  u64 bits = 0;
  std::memcpy(&bits, element + first / 8, bytes);
  const u64 mask = ((u64{1} << width) - 1) << first % 8;
  bits = (bits & ~mask) | (static_cast<u64>(value) << first % 8 & mask);
  std::memcpy(element + first / 8, &bits, bytes);
}

std::int32_t extended(u32 value, unsigned width) {
  return static_cast<std::int32_t>(value << (32 - width)) >> (32 - width);
}
double largest(unsigned width) {
  return std::ldexp(1.0, static_cast<int>(width)) - 1;
}

u32 unpacked(u32 value, unsigned width, NumberFormat number) {
  switch (number) {
    case NumberFormat::unorm: return bits(static_cast<float>(value / largest(width)));
    case NumberFormat::snorm:
      return bits(static_cast<float>(std::max(extended(value, width) / largest(width - 1), -1.0)));
    case NumberFormat::uscaled: return bits(static_cast<float>(value));
    case NumberFormat::sscaled: return bits(static_cast<float>(extended(value, width)));
    case NumberFormat::uint: return value;
    case NumberFormat::sint: return static_cast<u32>(extended(value, width));
    // Floats of 10 and 11 bits are an f16 without its sign and last digits.
    case NumberFormat::real: return width == 32 ? value : bits(of_half(value << (width == 16 ? 0 : 15 - width)));
  }
  return 0;
}

u32 packed(u32 component, unsigned width, NumberFormat number) {
  const float value = is_nan(real(component)) ? 0.0f : real(component);
  const double whole = largest(width), half = largest(width - 1);
  const auto nearest = [](double scaled) { return static_cast<u32>(static_cast<std::int64_t>(nearest_even(scaled))); };
  switch (number) {
    case NumberFormat::unorm: return nearest(std::clamp<double>(value, 0, 1) * whole);
    case NumberFormat::snorm: return nearest(std::clamp<double>(value, -1, 1) * half);
    case NumberFormat::uscaled: return nearest(std::clamp<double>(std::trunc(value), 0, whole));
    case NumberFormat::sscaled: return nearest(std::clamp<double>(std::trunc(value), -half - 1, half));
    case NumberFormat::uint:
    case NumberFormat::sint: return component;
    case NumberFormat::real: break;
  }
  if (width == 32) return component;
  if (width == 16) return half_bits(real(component), Rounding::nearest_even);
  return real(component) > 0 || is_nan(real(component)) ? half_bits(real(component), Rounding::to_zero) >> (15 - width)
                                                        : 0;
}

}  // namespace

std::optional<BufferFormat> parse_buffer_format(std::string_view name) {
  BufferFormat format;
  unsigned bits = 0;
  while (!name.empty() && name[0] >= '0' && name[0] <= '9') {
    unsigned width = 0;
    for (; !name.empty() && name[0] >= '0' && name[0] <= '9'; name.remove_prefix(1))
      width = width * 10 + static_cast<unsigned>(name[0] - '0');
    if (!name.empty() && name[0] == '_') name.remove_prefix(1);
    if (format.count >= 4 || width == 0 || width > 32) return std::nullopt;
    format.widths[format.count++] = static_cast<std::uint8_t>(width);
    bits += width;
  }
  const auto* const number = std::ranges::find(kNumbers, name, &NamedNumber::name);
  if (format.count == 0 || bits % 8 != 0 || number == std::end(kNumbers)) return std::nullopt;
  std::reverse(format.widths.begin(), format.widths.begin() + format.count);
  // There are no floats of 2 or 8 bits.
  if (number->number == NumberFormat::real && std::any_of(format.widths.begin(), format.widths.begin() + format.count,
                                                          [](unsigned width) { return width < 10; }))
    return std::nullopt;
  format.bytes = static_cast<std::uint8_t>(bits / 8);
  format.number = number->number;
  return format;
}

const BufferFormat* find_buffer_format(isa::Generation generation, unsigned number) {
  static const Formats kFormats[] = {formats_of_gfx9(), formats_by_name(std::to_array(isa::kBufferFormatsGfx10)),
                                     formats_by_name(std::to_array(isa::kBufferFormatsGfx11))};
  const Formats& formats = kFormats[std::min(static_cast<unsigned>(generation), 2u)];
  return number < formats.size() && formats[number] ? &*formats[number] : nullptr;
}

std::array<u32, 4> unpack_element(const BufferFormat& format, const std::byte* element) {
  std::array<u32, 4> components{0, 0, 0, format.is_integer() ? 1u : bits(1.0f)};
  unsigned first = 0;
  for (unsigned i = 0; i < format.count; ++i) {
    components[i] = unpacked(field(element, first, format.widths[i]), format.widths[i], format.number);
    first += format.widths[i];
  }
  return components;
}

void pack_element(const BufferFormat& format, const std::array<u32, 4>& components, std::byte* element) {
  unsigned first = 0;
  for (unsigned i = 0; i < format.count; ++i) {
    set_field(element, first, format.widths[i], packed(components[i], format.widths[i], format.number));
    first += format.widths[i];
  }
}

}  // namespace wavegate::amdgpu::wave
