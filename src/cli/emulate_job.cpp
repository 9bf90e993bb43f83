#include "wavegate/cli/emulate_job.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "wavegate/amdgpu/wave/numeric.h"
#include "wavegate/base/format.h"
#include "wavegate/base/from_chars.h"
#include "wavegate/io/file.h"

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

Result<io::Array> read_array(const std::string& path) {
  WAVEGATE_TRY(const std::vector<std::byte> bytes, io::read_file(path, amdgpu::wave::GuestMemory::kMaximumBytes));
  return io::read_npy(bytes, path);
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

Result<std::size_t> add_buffer(EmulationJob& job, std::string_view name, std::string_view value) {
  EmulatedBuffer buffer;
  buffer.name = name;
  const std::size_t colon = value.find(':');
  const std::string_view kind = value.substr(0, std::min(colon, value.size()));
  const std::string rest(colon == std::string_view::npos ? std::string_view() : value.substr(colon + 1));
  if (kind == "in" || kind == "inout") {
    WAVEGATE_TRY(buffer.array, read_array(rest));
    buffer.writable = kind == "inout";
    if (kind == "inout") buffer.output = rest;
  } else if (kind == "out") {
    const std::size_t last = rest.rfind(':');
    if (last == std::string::npos)
      return invalid_input(format("\"{}\" lacks a type and shape: out:{}:f32[1024]", value, rest));
    WAVEGATE_TRY(buffer.array, parse_shape(std::string_view(rest).substr(last + 1)));
    buffer.output = rest.substr(0, last);
  } else {
    return invalid_input(format("\"{}\" is none of in:FILE.npy, inout:FILE.npy, out:FILE.npy:TYPE[SIZE]", value));
  }
  job.buffers.push_back(std::move(buffer));
  return job.buffers.size() - 1;
}

Result<void> add_argument(EmulationJob& job, EmulatedLaunch& launch, std::string_view name, std::string_view value) {
  if (std::ranges::find(launch.arguments, name, &EmulatedArgument::name) != launch.arguments.end())
    return invalid_input(format("argument \"{}\" is given twice", name));
  EmulatedArgument argument;
  argument.name = name;
  const std::size_t colon = value.find(':');
  const std::string_view kind = value.substr(0, std::min(colon, value.size()));
  if (const auto type = type_of(kind); type && colon != std::string_view::npos) {
    const auto bytes = number_bytes(*type, value.substr(colon + 1));
    if (!bytes)
      return invalid_input(
          format("argument \"{}\": \"{}\" is no number of type {}", name, value.substr(colon + 1), kind));
    argument.value = *bytes;
  } else if (kind == "buffer" && colon != std::string_view::npos) {
    const auto found = std::ranges::find(job.buffers, value.substr(colon + 1), &EmulatedBuffer::name);
    if (found == job.buffers.end())
      return invalid_input(format("argument \"{}\": there is no buffer \"{}\"", name, value.substr(colon + 1)));
    argument.buffer = static_cast<std::size_t>(found - job.buffers.begin());
  } else {
    auto buffer = add_buffer(job, name, value);
    if (!buffer.ok() && buffer.error().message.find(" is none of ") != std::string::npos)
      return invalid_input(format(
          "argument \"{}\": \"{}\" is none of i32:7, f32:1.5, in:FILE.npy, inout:FILE.npy, out:FILE.npy:TYPE[SIZE]",
          name, value));
    WAVEGATE_CHECK(buffer);
    argument.buffer = *buffer;
  }
  launch.arguments.push_back(std::move(argument));
  return {};
}

namespace {

using Json = nlohmann::json;

/// An object has no other keys than these, as docs/launch.schema.json says.
Result<void> check_keys(const Json& object, std::string_view what, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      return invalid_input(format("{} has a key \"{}\", which is none of {}", what, key, fmt::join(known, ", ")));
  return {};
}

Result<std::array<std::uint32_t, 3>> sizes_of(const Json& launch, const char* key) {
  const auto found = launch.find(key);
  if (found == launch.end()) return invalid_input(format("a launch lacks \"{}\"", key));
  std::string text;
  if (found->is_number_unsigned()) text = found->dump();
  if (found->is_array())
    for (const Json& size : *found) text += (text.empty() ? "" : ",") + size.dump();
  return parse_sizes(key, text);
}

/// The path of "in:x.npy" taken from the file's folder.
std::string relocated(const std::string& value, const std::filesystem::path& folder) {
  const std::size_t colon = value.find(':');
  return colon == std::string::npos ? value : value.substr(0, colon + 1) + (folder / value.substr(colon + 1)).string();
}

Result<void> add_launch(EmulationJob& job, const Json& json) {
  if (!json.is_object()) return invalid_input("a launch is no object");
  WAVEGATE_CHECK(check_keys(json, "a launch", {"kernel", "threads", "group", "lds", "args"}));
  EmulatedLaunch launch;
  const auto kernel = json.find("kernel");
  if (kernel == json.end() || !kernel->is_string()) return invalid_input("a launch lacks its \"kernel\"");
  launch.launch.kernel = kernel->get<std::string>();
  WAVEGATE_TRY(launch.launch.threads, sizes_of(json, "threads"));
  WAVEGATE_TRY(launch.launch.group, sizes_of(json, "group"));
  if (const auto lds = json.find("lds"); lds != json.end()) {
    if (!lds->is_number_unsigned() || lds->get<std::uint64_t>() > 1 << 20)
      return invalid_input("\"lds\" is no number of bytes");
    launch.launch.dynamic_lds = lds->get<std::uint32_t>();
  }
  if (const auto arguments = json.find("args"); arguments != json.end()) {
    if (!arguments->is_object()) return invalid_input("\"args\" is no object");
    for (const auto& [name, value] : arguments->items()) {
      if (!value.is_string())
        return invalid_input(format("argument \"{}\" is no text, such as \"i32:7\" or \"buffer:x\"", name));
      WAVEGATE_CHECK(add_argument(job, launch, name, value.get<std::string>()));
    }
  }
  job.launches.push_back(std::move(launch));
  return {};
}

Result<EmulationJob> parse_launch_file(const Json& json, const std::filesystem::path& folder) {
  EmulationJob job;
  if (!json.is_object()) return invalid_input("the file is no JSON object");
  WAVEGATE_CHECK(check_keys(json, "the file", {"buffers", "launches"}));
  if (const auto buffers = json.find("buffers"); buffers != json.end() && buffers->is_object())
    for (const auto& [name, value] : buffers->items()) {
      if (!value.is_string()) return invalid_input(format("buffer \"{}\" is no text, such as \"in:x.npy\"", name));
      WAVEGATE_CHECK(add_buffer(job, name, relocated(value.get<std::string>(), folder)));
    }
  const auto launches = json.find("launches");
  if (launches == json.end() || !launches->is_array()) return invalid_input("the file lacks an array \"launches\"");
  for (const Json& launch : *launches) WAVEGATE_CHECK(add_launch(job, launch));
  return job;
}

}  // namespace

Result<EmulationJob> load_launch_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kMaximumBytes = 1 << 24;
  WAVEGATE_TRY(const std::vector<std::byte> bytes, io::read_file(path, kMaximumBytes));
  const Json json = Json::parse(io::as_text(bytes), nullptr, false);
  if (json.is_discarded()) return invalid_input("the file is no JSON", path.string());
  return within(path.string(), parse_launch_file(json, path.parent_path()));
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
