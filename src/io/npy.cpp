#include "wavegate/io/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "wavegate/base/format.h"
#include "wavegate/io/file.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are little-endian in memory as in files");

constexpr std::string_view kMagic = "\x93NUMPY";
/// What NumPy itself allows at most.
constexpr std::size_t kMaximumRank = 64;
/// NumPy starts the data at a multiple of this.
constexpr std::size_t kAlignment = 64;

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::string_view code;  ///< NumPy's kind and size, after the byte order.
  std::uint64_t size;
};

constexpr std::array kTypes = {
    TypeRow{ElementType::boolean, "bool", "b1", 1}, TypeRow{ElementType::i8, "i8", "i1", 1},
    TypeRow{ElementType::i16, "i16", "i2", 2},      TypeRow{ElementType::i32, "i32", "i4", 4},
    TypeRow{ElementType::i64, "i64", "i8", 8},      TypeRow{ElementType::u8, "u8", "u1", 1},
    TypeRow{ElementType::u16, "u16", "u2", 2},      TypeRow{ElementType::u32, "u32", "u4", 4},
    TypeRow{ElementType::u64, "u64", "u8", 8},      TypeRow{ElementType::f16, "f16", "f2", 2},
    TypeRow{ElementType::f32, "f32", "f4", 4},      TypeRow{ElementType::f64, "f64", "f8", 8},
};

const TypeRow& row_of(ElementType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

struct Header {
  ElementType type = ElementType::f32;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Parses the header: a Python dictionary literal of exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  Result<Header> parse() {
    Header header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    WAVEGATE_CHECK(expect('{'));
    while (!accept('}')) {
      WAVEGATE_TRY(const std::string_view key, parse_string());
      WAVEGATE_CHECK(expect(':'));
      bool* seen = nullptr;
      if (key == "descr") {
        seen = &has_descr;
        WAVEGATE_TRY(header.type, parse_type());
      } else if (key == "fortran_order") {
        seen = &has_order;
        WAVEGATE_TRY(header.fortran_order, parse_boolean());
      } else if (key == "shape") {
        seen = &has_shape;
        WAVEGATE_TRY(header.shape, parse_shape());
      } else {
        return fault(format("the key {} is unknown", quote(key)));
      }
      if (*seen) return fault(format("the key {} occurs twice", quote(key)));
      *seen = true;
      if (!accept(',')) {
        WAVEGATE_CHECK(expect('}'));
        break;
      }
    }
    skip_blanks();
    if (position_ != text_.size()) return fault(format("{} follows the closing brace", quote(text_.substr(position_))));
    if (!has_descr) return fault("the key \"descr\" is missing");
    if (!has_order) return fault("the key \"fortran_order\" is missing");
    if (!has_shape) return fault("the key \"shape\" is missing");
    return header;
  }

 private:
  Error fault(std::string_view what) const {
    return invalid_input(format("header, character {}: {}", position_, what), std::string(where_));
  }

  void skip_blanks() { position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size()); }

  bool accept(char c) {
    skip_blanks();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  Result<void> expect(char c) {
    if (accept(c)) return {};
    return fault(format("expected \"{}\", found {}", c, quote(text_.substr(position_, 1))));
  }

  /// A string without escapes: neither keys nor the types that we know have any.
  Result<std::string_view> parse_string() {
    const char mark = accept('\'') ? '\'' : '"';
    if (mark == '"' && !accept('"')) {
      return fault(format("expected a string, found {}", quote(text_.substr(position_, 1))));
    }
    const std::size_t end = text_.find(mark, position_);
    if (end == std::string_view::npos) return fault("a string has no end");
    const std::string_view content = text_.substr(position_, end - position_);
    if (content.find('\\') != std::string_view::npos) return fault(format("{} holds an escape", quote(content)));
    position_ = end + 1;
    return content;
  }

  Result<ElementType> parse_type() {
    skip_blanks();
    if (position_ < text_.size() && (text_[position_] == '[' || text_[position_] == '(')) {
      return unsupported("the elements are structured; save each field as an array of its own", std::string(where_));
    }
    WAVEGATE_TRY(const std::string_view descr, parse_string());
    const std::string_view code = descr.empty() ? descr : descr.substr(1);
    const auto row = std::ranges::find(kTypes, code, &TypeRow::code);
    const char order = descr.empty() ? '\0' : descr.front();
    if (row == kTypes.end() || (order != '<' && order != '>' && order != '|')) {
      return unsupported(format("elements of type {} are none of bool, i8 to i64, u8 to u64, f16, f32, f64; convert "
                                "the array with astype",
                                quote(descr)),
                         std::string(where_));
    }
    if (row->size > 1 && order == '>') {
      return unsupported(
          format("elements of type {} are big-endian; convert the array with astype('<{}')", quote(descr), code),
          std::string(where_));
    }
    if (row->size > 1 && order == '|') return fault(format("the type {} lacks its byte order", quote(descr)));
    return row->type;
  }

  Result<bool> parse_boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    return fault("fortran_order must be True or False");
  }

  Result<std::vector<std::uint64_t>> parse_shape() {
    std::vector<std::uint64_t> shape;
    WAVEGATE_CHECK(expect('('));
    while (!accept(')')) {
      WAVEGATE_TRY(const std::uint64_t extent, parse_extent());
      if (shape.size() == kMaximumRank) return fault(format("the shape has more than {} dimensions", kMaximumRank));
      shape.push_back(extent);
      if (!accept(',')) {
        WAVEGATE_CHECK(expect(')'));
        // (3) is a number in Python; the tuple is (3,).
        if (shape.size() == 1) return fault("the shape is no tuple: a single extent needs a comma after it");
        break;
      }
    }
    return shape;
  }

  Result<std::uint64_t> parse_extent() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", position_), text_.size());
    const std::string_view digits = text_.substr(position_, end - position_);
    const auto extent = parse_unsigned(digits);
    if (!extent || (digits.size() > 1 && digits.front() == '0')) {
      const std::size_t token_end = std::max(text_.find_first_of(",) \t\r\n", position_), position_ + 1);
      return fault(format("the extent {} is not a whole number from 0 to 2^64 - 1",
                          quote(text_.substr(position_, token_end - position_))));
    }
    position_ = end;
    accept_word("L");  // Python 2 wrote long integers so.
    return *extent;
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t position_ = 0;
};

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The f32 of an IEEE half, which every half has exactly.
float half_to_float(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int fraction = half & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
  }
  return std::copysign(magnitude, (half & 0x8000) != 0 ? -1.0f : 1.0f);
}

template <typename T>
float nearest_f32(T value) {
  return static_cast<float>(value);
}

/// Copies elements of type T out, each through `convert`.
template <typename T, typename Convert>
std::vector<float> convert_all(std::span<const std::byte> bytes, Convert convert) {
  std::vector<float> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(element);
  }
  return values;
}

Result<std::vector<float>> round_f64(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(double));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double element = 0;
    std::memcpy(&element, bytes.data() + i * sizeof(double), sizeof(double));
    values[i] = static_cast<float>(element);
    if (std::isinf(values[i]) && std::isfinite(element)) {
      return invalid_input(format("element {} is {}, beyond f32's range of 3.4e38; scale the array", i, element));
    }
  }
  return values;
}

Result<void> check_sizes(const Array& array) {
  const auto count = element_count(array.type, array.shape);
  if (!count || *count * size_of(array.type) != array.bytes.size()) {
    return invalid_input(format("an {} array of shape {} does not hold {} bytes", to_string(array.type),
                                shape_text(array.shape), array.bytes.size()));
  }
  return {};
}

}  // namespace

std::string_view to_string(ElementType type) {
  return row_of(type).name;
}

std::uint64_t size_of(ElementType type) {
  return row_of(type).size;
}

std::optional<std::uint64_t> element_count(ElementType type, std::span<const std::uint64_t> shape) {
  // A zero hides no overflow of the rest: whoever multiplies other extents of the shape must be safe too.
  const std::uint64_t limit = std::numeric_limits<std::int64_t>::max() / size_of(type);
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::uint64_t extent : shape) {
    empty |= extent == 0;
    if (extent == 0) continue;
    if (count > limit / extent) return std::nullopt;
    count *= extent;
  }
  return empty ? 0 : count;
}

Result<Array> read_npy(std::span<const std::byte> bytes, std::string_view where) {
  const std::string_view text = as_text(bytes);
  const auto fault = [&](std::string message) { return invalid_input(std::move(message), std::string(where)); };
  if (!text.starts_with(kMagic)) return fault("is no .npy file: it does not start with NumPy's magic string");
  const std::size_t version_end = kMagic.size() + 2;
  if (text.size() < version_end) return fault("is cut off in its version");
  const int major = std::to_integer<int>(bytes[kMagic.size()]);
  const int minor = std::to_integer<int>(bytes[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    return unsupported(format(".npy version {}.{} is none of 1.0, 2.0, 3.0", major, minor), std::string(where));
  }

  const std::size_t length_size = major == 1 ? 2 : 4;
  if (text.size() < version_end + length_size) return fault("is cut off in the length of its header");
  std::uint32_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + version_end, length_size);
  const std::string_view after_length = text.substr(version_end + length_size);
  if (header_size > after_length.size()) {
    return fault(
        format("is cut off in its header, which claims {} bytes where {} are left", header_size, after_length.size()));
  }
  WAVEGATE_TRY(const Header header, HeaderParser(after_length.substr(0, header_size), where).parse());
  if (header.fortran_order && header.shape.size() > 1) {
    return unsupported(
        format("an array of shape {} in Fortran order; save numpy.ascontiguousarray of it", shape_text(header.shape)),
        std::string(where));
  }

  const auto count = element_count(header.type, header.shape);
  if (!count) return fault(format("an array of shape {} exceeds 2^63 bytes", shape_text(header.shape)));
  const std::span<const std::byte> data = bytes.subspan(version_end + length_size + header_size);
  const std::uint64_t needed = *count * size_of(header.type);
  if (data.size() != needed) {
    return fault(format("an {} array of shape {} takes {} bytes, but {} follow the header", to_string(header.type),
                        shape_text(header.shape), needed, data.size()));
  }
  if (header.type == ElementType::boolean) {
    const auto odd = std::ranges::find_if(data, [](std::byte b) { return b > std::byte{1}; });
    if (odd != data.end()) {
      return fault(
          format("element {} of a bool array is {}, neither 0 nor 1", odd - data.begin(), std::to_integer<int>(*odd)));
    }
  }
  return Array{header.type, header.shape, {data.begin(), data.end()}};
}

Result<std::vector<std::byte>> write_npy(const Array& array) {
  WAVEGATE_CHECK(check_sizes(array));
  if (array.shape.size() > kMaximumRank) {
    return invalid_input(format("a shape of {} dimensions exceeds {}", array.shape.size(), kMaximumRank));
  }
  const TypeRow& row = row_of(array.type);
  std::string header = format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", row.size == 1 ? '|' : '<',
                              row.code, shape_text(array.shape));
  // Version 1.0 holds 65535 bytes of header, more than 64 extents of 20 digits take.
  const std::size_t prefix = kMagic.size() + 2 + 2;
  const std::size_t padded = (prefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.append(padded - prefix - header.size() - 1, ' ');
  header += '\n';

  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  std::vector<std::byte> bytes(file.size() + array.bytes.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  std::ranges::copy(array.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(file.size()));
  return bytes;
}

Result<std::vector<float>> to_f32(const Array& array) {
  WAVEGATE_CHECK(check_sizes(array));
  const std::span<const std::byte> bytes = array.bytes;
  switch (array.type) {
    case ElementType::boolean: return convert_all<std::uint8_t>(bytes, [](auto b) { return b != 0 ? 1.0f : 0.0f; });
    case ElementType::i8: return convert_all<std::int8_t>(bytes, nearest_f32<std::int8_t>);
    case ElementType::i16: return convert_all<std::int16_t>(bytes, nearest_f32<std::int16_t>);
    case ElementType::i32: return convert_all<std::int32_t>(bytes, nearest_f32<std::int32_t>);
    case ElementType::i64: return convert_all<std::int64_t>(bytes, nearest_f32<std::int64_t>);
    case ElementType::u8: return convert_all<std::uint8_t>(bytes, nearest_f32<std::uint8_t>);
    case ElementType::u16: return convert_all<std::uint16_t>(bytes, nearest_f32<std::uint16_t>);
    case ElementType::u32: return convert_all<std::uint32_t>(bytes, nearest_f32<std::uint32_t>);
    case ElementType::u64: return convert_all<std::uint64_t>(bytes, nearest_f32<std::uint64_t>);
    case ElementType::f16: return convert_all<std::uint16_t>(bytes, half_to_float);
    case ElementType::f32: return convert_all<float>(bytes, nearest_f32<float>);
    case ElementType::f64: return round_f64(bytes);
  }
  return internal_error("an array of no element type");
}

}  // namespace wavegate::io
