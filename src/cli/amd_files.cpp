#include "wavegate/cli/amd_files.h"

#include <filesystem>
#include <set>

#include "wavegate/amdgpu/object/sidecar.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/output.h"
#include "wavegate/io/file.h"
#include "wavegate/io/mapped_file.h"

namespace wavegate::cli {
namespace {

using namespace amdgpu::object;
using Visitor = std::function<Result<void>(const FoundObject&, const CodeObject&)>;

std::string join(std::string_view file, std::string_view place) {
  return place.empty() ? std::string(file) : format("{}: {}", file, place);
}

/// Whether the target that a bundle's entry claims can be told to be another one, so that its object need not be read.
bool is_other(const FoundObject& found, const ObjectFilter& filter, std::set<std::string>& others) {
  if (!filter.target || found.id.empty()) return false;
  const auto target = parse_code_target(found.id);
  if (!target || matches(*target, *filter.target)) return false;
  others.insert(target->to_string());
  return true;
}

std::string list_of(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// A raw shader, of which `file` holds the code and a file of the same name but for its ending, .json, the rest.
Result<void> visit_raw_shader(const std::string& file, Bytes code, const Visitor& visit) {
  const std::filesystem::path path = std::filesystem::path(file).replace_extension(".json");
  WAVEGATE_TRY(const std::vector<std::byte> json, io::read_file(path));
  WAVEGATE_TRY(ComputeState state, within(path.string(), parse_sidecar(io::as_text(json))));
  WAVEGATE_TRY(const CodeObject object, within(file, make_code_object(code, state)));
  return visit({}, object);
}

bool has_sidecar(const std::string& file) {
  std::error_code ignored;
  const std::filesystem::path path(file);
  return path.extension() != ".json" &&
         std::filesystem::exists(std::filesystem::path(path).replace_extension(".json"), ignored);
}

}  // namespace

Result<std::optional<CodeTarget>> parse_target_option(const std::string& text) {
  if (text.empty()) return std::optional<CodeTarget>();
  auto target = parse_code_target(text);
  if (!target) return invalid_input(format("\"{}\" is no target, such as gfx1030 or gfx90a:xnack-", text), "--target");
  return std::optional(*std::move(target));
}

std::string OpenObject::place() const {
  return join(file, found.place);
}

Result<std::size_t> visit_objects(const ObjectFilter& filter,
                                  const std::function<Result<void>(const OpenObject&)>& visit) {
  std::size_t faults = 0;
  std::size_t visited = 0;
  std::set<std::string> others;
  for (const std::string& file : filter.files) {
    WAVEGATE_TRY(const io::MappedFile content, io::MappedFile::open(file));
    const auto take = [&](const FoundObject& found, const CodeObject& object) -> Result<void> {
      if (filter.target && !matches(object.target, *filter.target)) {
        others.insert(object.target.to_string());
        return {};
      }
      ++visited;
      return visit({file, found, object});
    };
    if (!is_container(content.bytes()) && has_sidecar(file)) {
      WAVEGATE_CHECK(visit_raw_shader(file, content.bytes(), take));
      continue;
    }
    const auto open = [&](const FoundObject& found) -> Result<void> {
      if (is_other(found, filter, others)) return {};
      const Result<CodeObject> object = within(join(file, found.place), parse_code_object(found.bytes));
      if (object.ok()) return take(found, *object);
      print_error(object.error().to_string());
      ++faults;
      return {};
    };
    WAVEGATE_CHECK(within(file, visit_code_objects(content.bytes(), open)));
  }
  if (visited == 0 && faults == 0)
    return invalid_input(others.empty()
                             ? std::string("holds no code object")
                             : format("holds no code for {}, but for {}", filter.target->to_string(), list_of(others)),
                         filter.files.size() == 1 ? filter.files[0] : "");
  return faults;
}

}  // namespace wavegate::cli
