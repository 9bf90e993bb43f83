#include "wavegate/cli/emulate_job.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "wavegate/amdgpu/wave/numeric.h"
#include "wavegate/base/format.h"
#include "wavegate/io/file.h"
#include "wavegate/io/mapped_file.h"

namespace wavegate::cli {
namespace {

using io::ElementType;

constexpr ElementType kTypes[] = {ElementType::boolean, ElementType::i8,  ElementType::i16, ElementType::i32,
                                  ElementType::i64,     ElementType::u8,  ElementType::u16, ElementType::u32,
                                  ElementType::u64,     ElementType::f16, ElementType::f32, ElementType::f64};

std::optional<ElementType> type_of(std::string_view name) {
  const auto* const found = std::ranges::find_if(kTypes, [&](ElementType type) { return io::to_string(type) == name; });
  return found == std::end(kTypes) ? std::nullopt : std::optional(*found);
}

std::vector<std::byte> bytes_of(const void* value, std::size_t size) {
  const auto* const first = static_cast<const std::byte*>(value);
  return {first, first + size};
}

/// A number as the bytes of a type; nothing where it is none or does not fit.
std::optional<std::vector<std::byte>> number_bytes(ElementType type, std::string_view text) {
  const std::size_t size = io::size_of(type);
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  if (type == ElementType::f16 || type == ElementType::f32 || type == ElementType::f64) {
    const double wide = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != '\0') return std::nullopt;
    if (type == ElementType::f64) return bytes_of(&wide, size);
    const float single = static_cast<float>(wide);
    if (type == ElementType::f32) return bytes_of(&single, size);
    const std::uint32_t half = amdgpu::wave::half_bits(single, amdgpu::wave::Rounding::nearest_even);
    return bytes_of(&half, size);
  }
  const bool negative = text.starts_with('-');
  const unsigned long long wide = std::strtoull(copy.c_str() + (negative ? 1 : 0), &end, 0);
  if (copy.size() == (negative ? 1u : 0u) || *end != '\0' || errno != 0) return std::nullopt;
  const bool is_signed = type >= ElementType::i8 && type <= ElementType::i64;
  const std::uint64_t bits = size * 8;
  const std::uint64_t most = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t limit = is_signed ? most / 2 + (negative ? 1 : 0) : negative ? 0 : most;
  if (wide > limit) return std::nullopt;
  const std::uint64_t value = negative ? 0 - std::uint64_t{wide} : wide;
  return bytes_of(&value, size);
}

/// "f32[1024]" or "f32[4,5]": an array of zeros.
Result<io::Array> parse_shape(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto fault = [&] {
    return invalid_input(format("\"{}\" is no type and shape, such as f32[1024] or i32[16,16]", text));
  };
  if (bracket == std::string_view::npos || !text.ends_with(']')) return fault();
  const auto type = type_of(text.substr(0, bracket));
  if (!type) return fault();
  io::Array array;
  array.type = *type;
  std::string_view sizes = text.substr(bracket + 1, text.size() - bracket - 2);
  while (!sizes.empty()) {
    const std::size_t comma = std::min(sizes.find(','), sizes.size());
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(sizes.data(), sizes.data() + comma, size);
    if (error != std::errc() || end != sizes.data() + comma) return fault();
    array.shape.push_back(size);
    sizes.remove_prefix(std::min(comma + 1, sizes.size()));
  }
  const auto count = io::element_count(*type, array.shape);
  if (!count || *count * io::size_of(*type) > amdgpu::wave::GuestMemory::kMaximumBytes)
    return invalid_input(format("\"{}\" has more than {} bytes", text, amdgpu::wave::GuestMemory::kMaximumBytes));
  array.bytes.resize(*count * io::size_of(*type));
  return array;
}

Result<io::Array> read_array(const std::string& path, bool of_file = false) {
  constexpr std::uint64_t kMaximumBytes = amdgpu::wave::GuestMemory::kMaximumBytes;
  WAVEGATE_TRY(const std::vector<std::byte> bytes,
               of_file ? io::read_regular_file(path, kMaximumBytes) : io::read_file(path, kMaximumBytes));
  return io::read_npy(bytes, path);
}

/// The two parts of "in:x.npy"; the second is empty where there is no colon.
std::pair<std::string_view, std::string_view> at_colon(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<RawBytes> parse_hex(std::string_view text) {
  RawBytes raw;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const std::string_view pair = text.substr(i, 2);
    const auto [end, fault] = std::from_chars(pair.data(), pair.data() + pair.size(), value, 16);
    if (pair.size() != 2 || fault != std::errc() || end != pair.data() + 2)
      return invalid_input(format("\"{}\" is no list of bytes of two hexadecimal digits each", text));
    raw.bytes.push_back(static_cast<std::byte>(value));
  }
  return raw;
}

Result<RawBytes> read_raw(const std::string& path) {
  constexpr std::uint64_t kMaximumBytes = 1 << 16;  // more than arguments have
  WAVEGATE_TRY(const io::MappedFile file, io::MappedFile::open(path));
  if (file.bytes().size() > kMaximumBytes)
    return invalid_input(format("has {} bytes, more than an argument by value", file.bytes().size()), path);
  return RawBytes{{file.bytes().begin(), file.bytes().end()}};
}

Result<LdsRoom> parse_lds(std::string_view text) {
  LdsRoom room;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), room.bytes);
  if (fault != std::errc() || end != text.data() + text.size())
    return invalid_input(format("\"{}\" is no number of bytes", text));
  return room;
}

/// An element as a number; integers beyond 2^53 are compared by their bytes, see difference().
double element(const io::Array& array, std::size_t index) {
  const std::byte* const at = array.bytes.data() + index * io::size_of(array.type);
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  };
  switch (array.type) {
    case ElementType::boolean:
    case ElementType::u8: return as(std::uint8_t{});
    case ElementType::i8: return as(std::int8_t{});
    case ElementType::i16: return as(std::int16_t{});
    case ElementType::u16: return as(std::uint16_t{});
    case ElementType::i32: return as(std::int32_t{});
    case ElementType::u32: return as(std::uint32_t{});
    case ElementType::i64: return as(std::int64_t{});
    case ElementType::u64: return as(std::uint64_t{});
    case ElementType::f32: return as(float{});
    case ElementType::f64: return as(double{});
    case ElementType::f16: {
      std::uint16_t half;
      std::memcpy(&half, at, sizeof(half));
      return static_cast<double>(amdgpu::wave::of_half(half));
    }
  }
  return 0;
}

}  // namespace

Result<Numbers> parse_numbers(ElementType type, std::string_view text) {
  Numbers numbers{type, 0, {}};
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto bytes = number_bytes(type, text.substr(0, comma));
    if (!bytes)
      return invalid_input(format("\"{}\" is no number of type {}", text.substr(0, comma), io::to_string(type)));
    numbers.bytes.insert(numbers.bytes.end(), bytes->begin(), bytes->end());
    ++numbers.count;
    if (comma == text.size()) return numbers;
    text.remove_prefix(comma + 1);
  }
}

Result<std::array<std::uint32_t, 3>> parse_sizes(std::string_view option, const std::string& text) {
  std::array<std::uint32_t, 3> sizes{1, 1, 1};
  std::string_view rest = text;
  for (std::size_t i = 0; i < 3 && !rest.empty(); ++i) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + comma, sizes[i]);
    if (error != std::errc() || end != rest.data() + comma || sizes[i] == 0) break;
    if (comma == rest.size()) return sizes;
    rest.remove_prefix(comma + 1);
  }
  return invalid_input(format("{} takes X, X,Y or X,Y,Z, each at least 1, but got \"{}\"", option, text));
}

Result<std::size_t> add_buffer(EmulationJob& job, std::string_view name, std::string_view value, const Paths& paths) {
  EmulatedBuffer buffer;
  buffer.name = name;
  const auto [kind, rest] = at_colon(value);
  const auto path_of = [&](std::string_view text) { return (paths.folder / text).string(); };
  if ((kind == "in" || kind == "inout") && !rest.empty()) {
    buffer.input = path_of(rest);
    WAVEGATE_TRY(buffer.array, read_array(buffer.input, paths.of_file));
    buffer.writable = kind == "inout";
    if (kind == "inout") buffer.output = buffer.input;
  } else if (kind == "out" && !rest.empty()) {
    const std::size_t last = rest.rfind(':');
    if (last == std::string_view::npos)
      return invalid_input(format("\"{}\" lacks a type and shape: out:{}:f32[1024]", value, rest));
    WAVEGATE_TRY(buffer.array, parse_shape(rest.substr(last + 1)));
    buffer.output = path_of(rest.substr(0, last));
  } else {
    return invalid_input(format("\"{}\" is none of in:FILE.npy, inout:FILE.npy, out:FILE.npy:TYPE[SIZE]", value));
  }
  job.buffers.push_back(std::move(buffer));
  return job.buffers.size() - 1;
}

namespace {

Result<BufferIndex> find_buffer(const EmulationJob& job, std::string_view name) {
  const auto found = std::ranges::find(job.buffers, name, &EmulatedBuffer::name);
  if (found == job.buffers.end()) return invalid_input(format("there is no buffer \"{}\"", name));
  return BufferIndex{static_cast<std::size_t>(found - job.buffers.begin())};
}

Result<void> parse_argument(EmulationJob& job, EmulatedArgument& argument, const Paths& paths) {
  const auto [kind, rest] = at_colon(argument.text);
  if (argument.text == "null") {
    argument.value = NullPointer{};
  } else if (argument.text.find_first_of("0123456789") <= 2 && kind.size() == argument.text.size()) {  // "-.5" at most
    argument.value = PlainNumbers{argument.text};
  } else if (const auto type = type_of(kind); type && !rest.empty()) {
    WAVEGATE_TRY(argument.value, parse_numbers(*type, rest));
  } else if (kind == "bytes") {
    WAVEGATE_TRY(argument.value, parse_hex(rest));
  } else if (kind == "file") {
    WAVEGATE_TRY(argument.value, read_raw((paths.folder / rest).string()));
  } else if (kind == "lds") {
    WAVEGATE_TRY(argument.value, parse_lds(rest));
  } else if (kind == "buffer") {
    WAVEGATE_TRY(argument.value, find_buffer(job, rest));
  } else if (kind != "in" && kind != "inout" && kind != "out") {
    return invalid_input(
        format("\"{}\" is none of 7, i32:7, f32:1.5, bytes:HEX, file:FILE, in:FILE.npy, inout:FILE.npy, "
               "out:FILE.npy:TYPE[SIZE], buffer:NAME, null, lds:BYTES",
               argument.text));
  } else if (paths.of_file) {
    return invalid_input(format("\"{}\" belongs under \"buffers\"; here it is buffer:NAME", argument.text));
  } else {
    WAVEGATE_TRY(const std::size_t index, add_buffer(job, argument.name, argument.text, paths));
    argument.value = BufferIndex{index};
  }
  return {};
}

}  // namespace

Result<void> add_argument(EmulationJob& job, EmulatedLaunch& launch, std::string_view name, std::string_view value,
                          const Paths& paths) {
  const std::string place = format("argument \"{}\"", name);
  if (std::ranges::find(launch.arguments, name, &EmulatedArgument::name) != launch.arguments.end())
    return invalid_input(format("{} is given twice", place));
  EmulatedArgument argument{std::string(name), std::string(value), {}};
  WAVEGATE_CHECK(within(place, parse_argument(job, argument, paths)));
  launch.arguments.push_back(std::move(argument));
  return {};
}

namespace {

/// Whether two paths lead to one file, which need not be there yet. What is no regular file, such as /dev/null, keeps
/// nothing that could be lost.
bool same_file(const std::string& one, const std::string& other) {
  std::error_code fault;
  if (std::filesystem::exists(one, fault) && !std::filesystem::is_regular_file(one, fault)) return false;
  if (std::filesystem::equivalent(one, other, fault) && !fault) return true;
  const auto a = std::filesystem::weakly_canonical(one, fault);
  if (fault) return one == other;
  const auto b = std::filesystem::weakly_canonical(other, fault);
  return fault ? one == other : a == b;
}

}  // namespace

Result<void> check_files(const EmulationJob& job, const std::vector<std::string>& sources) {
  const auto refuse = [](const EmulatedBuffer& buffer, std::string_view what) {
    return invalid_input(format("buffer \"{}\" would be written over {}", buffer.name, what), buffer.output);
  };
  for (const EmulatedBuffer& buffer : job.buffers) {
    if (buffer.output.empty()) continue;
    for (const std::string& source : sources)
      if (same_file(buffer.output, source)) return refuse(buffer, format("{}, which is read", source));
    for (const EmulatedBuffer& other : job.buffers) {
      if (!other.expected.empty() && same_file(buffer.output, other.expected))
        return refuse(buffer, format("what is expected of \"{}\"", other.name));
      if (&other == &buffer) continue;
      if (!other.output.empty() && same_file(buffer.output, other.output))
        return refuse(buffer, format("what \"{}\" is written to", other.name));
      if (!other.input.empty() && same_file(buffer.output, other.input))
        return refuse(buffer, format("what \"{}\" is read from; copy the file, or give both one buffer", other.name));
    }
  }
  return {};
}

Result<std::optional<std::string>> difference(const EmulatedBuffer& buffer, double relative, double absolute) {
  WAVEGATE_TRY(const io::Array wanted, read_array(buffer.expected));
  const io::Array& got = buffer.array;
  if (wanted.type != got.type || wanted.shape != got.shape)
    return std::optional(format("\"{}\" and {} differ in type or shape", buffer.name, buffer.expected));
  const std::size_t size = io::size_of(got.type);
  std::size_t count = 0, first = 0;
  double largest = 0;
  for (std::size_t i = 0; i < got.bytes.size() / size; ++i) {
    if (std::memcmp(got.bytes.data() + i * size, wanted.bytes.data() + i * size, size) == 0) continue;
    const double a = element(got, i), b = element(wanted, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    const double distance = std::fabs(a - b);
    // Integers that doubles cannot tell apart differ by their bytes.
    if (distance != 0 && std::isfinite(b) && distance <= absolute + relative * std::fabs(b)) continue;
    if (a == b && size < 8) continue;
    if (count++ == 0) first = i;
    largest = std::max(largest, distance);
  }
  if (count == 0) return std::optional<std::string>();
  return std::optional(format(
      "\"{}\" differs from {} in {} of {} elements, first in element {}: {} instead of {}; by {} at most", buffer.name,
      buffer.expected, count, got.bytes.size() / size, first, element(got, first), element(wanted, first), largest));
}

}  // namespace wavegate::cli
