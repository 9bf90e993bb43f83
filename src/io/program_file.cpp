#include "wavegate/io/program_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/io/json.h"
#include "wavegate/io/json_number.h"
#include "wavegate/io/load_matrix.h"
#include "wavegate/io/npy.h"
#include "wavegate/io/program_commands.h"
#include "wavegate/io/program_inputs.h"
#include "wavegate/io/program_kernel.h"
#include "wavegate/io/program_names.h"
#include "wavegate/io/program_types.h"
#include "wavegate/ops/ops.h"

namespace wavegate::io {
namespace {

using program::ScalarType;

constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kMaximumText = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaximumCount = std::uint64_t{1} << 48;
/// What all numbers that fill buffers of 64-bit elements may unfold to, in bytes.
constexpr std::uint64_t kMaximumUnfolded = std::uint64_t{1} << 30;

void append(std::vector<std::byte>& bytes, std::uint64_t bits, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
}

/// One value in every element. Takes the bytes that it unfolds to off `budget`.
Result<program::Initial> repeated(const JsonView& view, kir::Type type, std::uint64_t count, std::uint64_t& budget) {
  const auto bits = element_bits(view.value(), type);
  if (!bits) return view.error(bits.error());
  const std::uint32_t size = kir::byte_size(type);
  if (size <= 4) {
    constexpr std::array<std::uint32_t, 5> copies = {0, 0x01010101u, 0x00010001u, 0, 1};
    return program::Initial::repeated(static_cast<std::uint32_t>(*bits) * copies[size]);
  }
  const auto low = static_cast<std::uint32_t>(*bits);
  if (low == static_cast<std::uint32_t>(*bits >> 32)) return program::Initial::repeated(low);
  if (count > budget / size)
    return unsupported(
        format("{} elements of {} that are not zero; keep them in a .npy file", count, kir::to_string(type)),
        view.path());
  budget -= count * size;
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(count * size));
  for (std::uint64_t i = 0; i < count; ++i) append(bytes, *bits, size);
  return program::Initial{std::make_shared<const std::vector<std::byte>>(std::move(bytes)), 0};
}

Result<program::Initial> initial(const JsonView& view, kir::Type type, std::uint64_t count, std::uint64_t& budget) {
  const auto* items = view.value().as<JsonValue::Items>();
  if (items == nullptr) return repeated(view, type, count, budget);
  if (items->size() != count) return view.error(format("has {} numbers for {} elements", items->size(), count));
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(count * kir::byte_size(type)));
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto bits = element_bits((*items)[i], type);
    if (!bits) return JsonView((*items)[i], format("{}[{}]", view.path(), i)).error(bits.error());
    append(bytes, *bits, kir::byte_size(type));
  }
  return program::Initial{std::make_shared<const std::vector<std::byte>>(std::move(bytes)), 0};
}

class ProgramReader {
 public:
  explicit ProgramReader(const ProgramFileOptions& options) : options_(options) {
    names_.operations = options.operations != nullptr ? options.operations : &ops::library();
  }

  Result<program::Program> read(const JsonView& document) {
    WAVEGATE_CHECK(document.check_keys(
        {"$schema", "wavegate", "name", "buffers", "scalars", "parameters", "matrices", "kernels", "run"}));
    if (const auto schema = document.find("$schema")) WAVEGATE_CHECK(schema->text());
    WAVEGATE_TRY(const JsonView version, document.at("wavegate"));
    const auto* number = version.value().as<std::uint64_t>();
    if (number == nullptr || *number == 0)
      return version.error(format("expected {}, the version of the format", kVersion));
    if (*number != kVersion)
      return unsupported(format("version {} of the program file; this build reads version {}", *number, kVersion),
                         version.path());
    WAVEGATE_TRY(const JsonView name, document.at("name"));
    WAVEGATE_TRY(std::string title, name.text());
    program_ = program::Program(std::move(title));
    WAVEGATE_CHECK(section(document, "buffers", &ProgramReader::buffer));
    WAVEGATE_CHECK(section(document, "scalars", &ProgramReader::scalar));
    WAVEGATE_CHECK(section(document, "parameters", &ProgramReader::parameter));
    WAVEGATE_CHECK(section(document, "matrices", &ProgramReader::matrix));
    WAVEGATE_CHECK(section(document, "kernels", &ProgramReader::kernel));
    WAVEGATE_TRY(const JsonView run, document.at("run"));
    WAVEGATE_CHECK(append_commands(program_, names_, run));
    if (program_.mistake()) return *program_.mistake();
    return std::move(program_);
  }

 private:
  using Declare = Result<void> (ProgramReader::*)(const std::string& name, const JsonView& view);

  Result<void> section(const JsonView& document, std::string_view key, Declare declare) {
    const auto view = document.find(key);
    if (!view) return {};
    WAVEGATE_TRY(const auto members, view->members());
    for (const auto& [name, value] : members) {
      WAVEGATE_CHECK(check_name(name, value));
      WAVEGATE_CHECK((this->*declare)(std::string(name), value));
    }
    return {};
  }

  // ---- files

  Result<NamedFile> file(const JsonView& view, std::uint64_t maximum_bytes) const {
    WAVEGATE_TRY(const std::string text, view.text());
    if (text.empty() || text.find('\0') != std::string::npos) return view.error("is no path of a file");
    std::filesystem::path path = options_.directory / std::filesystem::path(text);
    auto bytes = options_.read(path, maximum_bytes);
    if (!bytes) return view.error(bytes.error());
    return NamedFile{std::move(path), std::move(bytes).value()};
  }

  // ---- values

  Result<void> buffer(const std::string& name, const JsonView& view) {
    WAVEGATE_CHECK(view.check_keys({"type", "count", "initial", "file", "output", "external"}));
    bool external = false;
    if (const auto given = view.find("external")) {
      WAVEGATE_TRY(external, given->boolean());
    }
    for (const std::string_view key : {"initial", "file"})
      if (external && view.has(key))
        return view.error(
            format("is \"external\", memory that the application binds, and has \"{}\"; give one of them", key));
    std::optional<Array> array;
    if (const auto source = view.find("file")) {
      if (view.has("initial")) return view.error("has both \"initial\" and \"file\"; give one of them");
      WAVEGATE_TRY(const NamedFile content, file(*source, kDefaultMaximumBytes));
      auto read = read_npy(content.bytes, content.path.string());
      if (!read) return source->error(read.error());
      array = std::move(read).value();
      if (buffer_type(array->type) == kir::Type::none)
        return source->error(format("an array of {} fits no buffer; store it as uint8", to_string(array->type)));
    }
    kir::Type type = kir::Type::none;
    std::uint64_t count = 0;
    if (!array || view.has("type")) {
      WAVEGATE_TRY(const JsonView given, view.at("type"));
      WAVEGATE_TRY(type, element_type(given));
    } else {
      type = buffer_type(array->type);
    }
    if (!array || view.has("count")) {
      WAVEGATE_TRY(const JsonView given, view.at("count"));
      WAVEGATE_TRY(count, given.whole("a number of elements", 1, kMaximumCount));
    } else {
      count = array->bytes.size() / size_of(array->type);
      if (count == 0) return view.error("the array is empty; a buffer is not");
    }
    std::optional<program::Initial> contents;
    if (array) {
      auto made = initial_contents(name, type, count, *std::move(array));
      if (!made) return view.error(made.error());
      contents = std::move(made).value();
    } else if (const auto given = view.find("initial")) {
      WAVEGATE_TRY(contents, initial(*given, type, count, unfolded_budget_));
    }
    const program::Buffer handle = external ? program_.external_buffer(name, type, count)
                                            : program_.buffer(name, type, count, std::move(contents));
    if (const auto output = view.find("output")) {
      WAVEGATE_TRY(const bool wanted, output->boolean());
      if (wanted) program_.output(handle);
    }
    return names_.declare(name, view, handle);
  }

  Result<void> scalar(const std::string& name, const JsonView& view) {
    WAVEGATE_CHECK(view.check_keys({"type", "initial"}));
    WAVEGATE_TRY(const JsonView given, view.at("type"));
    WAVEGATE_TRY(const ScalarType type, scalar_type(given));
    std::optional<std::uint32_t> bits;
    if (const auto value = view.find("initial")) {
      WAVEGATE_TRY(const program::Literal number, literal(*value, type));
      bits = number.bits;
    }
    return names_.declare(name, view, program_.scalar(name, type, bits));
  }

  Result<void> parameter(const std::string& name, const JsonView& view) {
    WAVEGATE_CHECK(view.check_keys({"type", "value"}));
    WAVEGATE_TRY(const JsonView given, view.at("type"));
    WAVEGATE_TRY(const ScalarType type, scalar_type(given));
    WAVEGATE_TRY(const JsonView value, view.at("value"));
    WAVEGATE_TRY(const program::Literal number, literal(value, type));
    return names_.declare(name, view, program_.parameter(name, number));
  }

  static Result<program::Literal> literal(const JsonView& view, ScalarType type) {
    auto number = scalar_literal(view.value(), type);
    if (!number) return view.error(number.error());
    return number;
  }

  Result<void> matrix(const std::string& name, const JsonView& view) {
    WAVEGATE_CHECK(view.check_keys({"file"}));
    WAVEGATE_TRY(const JsonView source, view.at("file"));
    WAVEGATE_TRY(const NamedFile content, file(source, kDefaultMaximumBytes));
    auto read = parse_matrix(content.path, content.bytes);
    if (!read) return source.error(read.error());
    CsrMatrix& parts = *read;
    const program::CsrMatrix made = program_.csr_matrix(name, parts.rows, parts.columns, std::move(parts.row_offsets),
                                                        std::move(parts.column_indices), std::move(parts.values));
    for (const program::Buffer part : {made.row_offsets, made.column_indices, made.values})
      names_.values.emplace(program_.info(part).name, part);
    return names_.declare(name, view, made);
  }

  Result<void> kernel(const std::string& name, const JsonView& view) {
    const auto read = [this](const JsonView& source) { return file(source, kMaximumText); };
    WAVEGATE_TRY(auto source, read_kernel(name, view, read));
    names_.kernels.emplace(name, std::move(source));
    return {};
  }

  const ProgramFileOptions& options_;
  program::Program program_{""};
  ProgramNames names_;
  std::uint64_t unfolded_budget_ = kMaximumUnfolded;
};

Result<program::Program> read_document(std::string_view text, const ProgramFileOptions& options) {
  if (text.size() > kMaximumText)
    return unsupported(format("{} bytes of text; at most {} are read, so keep large contents in .npy files",
                              text.size(), kMaximumText));
  try {
    WAVEGATE_TRY(const JsonValue document, parse_json(text));
    return ProgramReader(options).read(JsonView(document, ""));
  } catch (const std::bad_alloc&) {
    return device_error("the program does not fit into this machine's memory");
  }
}

}  // namespace

Result<program::Program> parse_program(std::string_view json, const ProgramFileOptions& options) {
  return within(options.name, read_document(json, options));
}

Result<program::Program> load_program(const std::filesystem::path& path) {
  WAVEGATE_TRY(const std::vector<std::byte> bytes, read_file(path, kMaximumText));
  ProgramFileOptions options;
  options.name = path.string();
  options.directory = path.parent_path();
  return parse_program(as_text(bytes), options);
}

}  // namespace wavegate::io
