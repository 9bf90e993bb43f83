#include "wavegate/cli/emulate_job.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <unordered_map>

#include <sys/stat.h>

#include "wavegate/amdgpu/wave/numeric.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/number_text.h"
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

constexpr std::uint64_t kMaximumBytes = amdgpu::wave::GuestMemory::kMaximumBytes;

/// Counts what is about to be kept; an error if that is too much.
Result<void> count_bytes(EmulationJob& job, std::string_view name, std::uint64_t bytes) {
  if (bytes > kMaximumBytes - job.bytes)
    return invalid_input(
        format("\"{}\" has {} bytes, but of the {} that all buffers of a job may have together only {} "
               "are left; run its launches one by one",
               name, bytes, kMaximumBytes, kMaximumBytes - job.bytes));
  job.bytes += bytes;
  return {};
}

/// "f32[1024]" or "f32[4,5]": an array of zeros, for which there is no memory yet.
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
  if (const auto count = io::element_count(*type, array.shape); !count || *count > kMaximumBytes / io::size_of(*type))
    return invalid_input(format("\"{}\" has more than {} bytes", text, kMaximumBytes));
  return array;
}

Result<io::Array> read_array(const std::string& path, std::uint64_t most, bool of_file = false) {
  constexpr std::uint64_t kHeader = 1 << 16;
  WAVEGATE_TRY(const std::vector<std::byte> bytes,
               of_file ? io::read_regular_file(path, most + kHeader) : io::read_file(path, most + kHeader));
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
  constexpr std::uint64_t kMost = 1 << 16;  // more than arguments have
  WAVEGATE_TRY(const io::MappedFile file, io::MappedFile::open(path));
  if (file.bytes().size() > kMost)
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

/// Calls a function with an element: an integer or a float of its type, a half as the float that it is.
template <typename Visit>
auto visit_element(const io::Array& array, std::size_t index, const Visit& visit) {
  const std::byte* const at = array.bytes.data() + index * io::size_of(array.type);
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return visit(value);
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
    case ElementType::f64: break;
    case ElementType::f16: {
      std::uint16_t half;
      std::memcpy(&half, at, sizeof(half));
      return visit(amdgpu::wave::of_half(half));
    }
  }
  return as(double{});
}

double real_element(const io::Array& array, std::size_t index) {
  return visit_element(array, index, [](auto value) { return static_cast<double>(value); });
}
std::string element_text(const io::Array& array, std::size_t index) {
  return visit_element(array, index, [](auto value) { return format("{}", +value); });
}

/// Between two elements of one type. That of integers is found among integers, since doubles do not tell all apart.
double distance(const io::Array& one, const io::Array& other, std::size_t index) {
  return visit_element(one, index, [&]<typename T>(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(static_cast<double>(a) - real_element(other, index));
    } else {
      T b;
      std::memcpy(&b, other.bytes.data() + index * sizeof(T), sizeof(T));
      const auto larger = static_cast<std::uint64_t>(+std::max(a, b));
      return static_cast<double>(larger - static_cast<std::uint64_t>(+std::min(a, b)));
    }
  });
}

bool is_close(const io::Array& got, const io::Array& wanted, std::size_t index, double relative, double absolute) {
  const double a = real_element(got, index), b = real_element(wanted, index);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  const double apart = distance(got, wanted, index);
  return apart == 0 || apart <= absolute + relative * std::fabs(b);
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
  io::Array& array = buffer.array;
  const auto [kind, rest] = at_colon(value);
  const auto path_of = [&](std::string_view text) { return (paths.folder / text).string(); };
  if ((kind == "in" || kind == "inout") && !rest.empty()) {
    buffer.input = path_of(rest);
    WAVEGATE_TRY(array, read_array(buffer.input, kMaximumBytes - job.bytes, paths.of_file));
    WAVEGATE_CHECK(count_bytes(job, name, array.bytes.size()));
    buffer.writable = kind == "inout";
    if (kind == "inout") buffer.output = buffer.input;
  } else if (kind == "out" && !rest.empty()) {
    const std::size_t last = rest.rfind(':');
    if (last == std::string_view::npos)
      return invalid_input(format("\"{}\" lacks a type and shape: out:{}:f32[1024]", value, rest));
    WAVEGATE_TRY(array, parse_shape(rest.substr(last + 1)));
    const std::uint64_t bytes = io::element_count(array.type, array.shape).value_or(0) * io::size_of(array.type);
    WAVEGATE_CHECK(count_bytes(job, name, bytes));
    array.bytes.resize(static_cast<std::size_t>(bytes));
    buffer.output = path_of(rest.substr(0, last));
  } else {
    return invalid_input(format("\"{}\" is none of in:FILE.npy, inout:FILE.npy, out:FILE.npy:TYPE[SIZE]", value));
  }
  job.buffer_of_name.emplace(name, job.buffers.size());
  job.buffers.push_back(std::move(buffer));
  return job.buffers.size() - 1;
}

namespace {

Result<BufferIndex> find_buffer(const EmulationJob& job, std::string_view name) {
  const auto found = job.buffer_of_name.find(name);
  if (found == job.buffer_of_name.end()) return invalid_input(format("there is no buffer \"{}\"", name));
  return BufferIndex{found->second};
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
    WAVEGATE_TRY(RawBytes raw, read_raw((paths.folder / rest).string()));
    WAVEGATE_CHECK(count_bytes(job, argument.name, raw.bytes.size()));
    argument.value = std::move(raw);
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
  if (!launch.names.emplace(name).second) return invalid_input(format("{} is given twice", place));
  EmulatedArgument argument{std::string(name), std::string(value), {}};
  WAVEGATE_CHECK(within(place, parse_argument(job, argument, paths)));
  launch.arguments.push_back(std::move(argument));
  return {};
}

namespace {

/// What is the same of all paths that lead to one file, which need not be there yet. Empty for what is no regular file,
/// such as /dev/null: it keeps nothing that could be lost.
std::string identity(const std::string& path) {
  if (path.empty()) return {};
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0)
    return S_ISREG(status.st_mode) ? format("{}:{}", status.st_dev, status.st_ino) : std::string();
  std::error_code fault;
  const auto canonical = std::filesystem::weakly_canonical(path, fault);
  return fault ? path : canonical.string();
}

/// The buffers that use a file in one way; of more than two any is as good.
struct Users {
  std::size_t first = 0, last = 0;
};
class Uses {
 public:
  void add(std::string file, std::size_t buffer) {
    if (file.empty()) return;
    users_.try_emplace(std::move(file), Users{buffer, buffer}).first->second.last = buffer;
  }
  /// A buffer other than this that uses the file.
  std::optional<std::size_t> other(const std::string& file, std::size_t buffer) const {
    const auto found = users_.find(file);
    if (found == users_.end()) return std::nullopt;
    const auto [first, last] = found->second;
    return first != buffer ? std::optional(first) : last != buffer ? std::optional(last) : std::nullopt;
  }

 private:
  std::unordered_map<std::string, Users> users_;
};

}  // namespace

Result<void> check_files(const EmulationJob& job, const std::vector<std::string>& sources) {
  std::unordered_map<std::string, const std::string*> read;
  for (const std::string& source : sources) read.try_emplace(identity(source), &source);
  std::vector<std::string> outputs;  // of each buffer
  std::unordered_map<std::string, std::size_t> expected;
  Uses written, inputs;
  for (std::size_t i = 0; i < job.buffers.size(); ++i) {
    const EmulatedBuffer& buffer = job.buffers[i];
    outputs.push_back(identity(buffer.output));
    written.add(outputs.back(), i);
    inputs.add(identity(buffer.input), i);
    expected.try_emplace(identity(buffer.expected), i);
  }
  for (std::size_t i = 0; i < job.buffers.size(); ++i) {
    if (outputs[i].empty()) continue;
    const auto refuse = [&](std::string_view what) {
      return invalid_input(format("buffer \"{}\" would be written over {}", job.buffers[i].name, what),
                           job.buffers[i].output);
    };
    if (const auto source = read.find(outputs[i]); source != read.end())
      return refuse(format("{}, which is read", *source->second));
    if (const auto other = expected.find(outputs[i]); other != expected.end())
      return refuse(format("what is expected of \"{}\"", job.buffers[other->second].name));
    if (const auto other = written.other(outputs[i], i))
      return refuse(format("what \"{}\" is written to", job.buffers[*other].name));
    if (const auto other = inputs.other(outputs[i], i))
      return refuse(
          format("what \"{}\" is read from; copy the file, or give both one buffer", job.buffers[*other].name));
  }
  return {};
}

Result<std::optional<std::string>> difference(const EmulatedBuffer& buffer, double relative, double absolute) {
  WAVEGATE_TRY(const io::Array wanted, read_array(buffer.expected, kMaximumBytes));
  const io::Array& got = buffer.array;
  if (wanted.type != got.type || wanted.shape != got.shape)
    return std::optional(format("\"{}\" and {} differ in type or shape", buffer.name, buffer.expected));
  const std::size_t size = io::size_of(got.type);
  std::size_t count = 0, first = 0;
  double largest = 0;
  for (std::size_t i = 0; i < got.bytes.size() / size; ++i) {
    if (is_close(got, wanted, i, relative, absolute)) continue;
    if (count++ == 0) first = i;
    largest = std::max(largest, distance(got, wanted, i));
  }
  if (count == 0) return std::optional<std::string>();
  return std::optional(
      format("\"{}\" differs from {} in {} of {} elements, first in element {}: {} instead of {}; by {} at most",
             buffer.name, buffer.expected, count, got.bytes.size() / size, first, element_text(got, first),
             element_text(wanted, first), largest));
}

}  // namespace wavegate::cli
