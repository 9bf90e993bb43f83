#include "wavegate/io/program_names.h"

#include <algorithm>
#include <utility>

namespace wavegate::io {
namespace {

Error taken(std::string_view name, const JsonView& view) {
  return view.error(
      format("the name \"{}\" is taken; buffers, scalars, parameters and matrices share one space of names", name));
}

}  // namespace

Result<void> check_name(std::string_view name, const JsonView& view) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!name.empty() && letter(name[0]) &&
      std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); }))
    return {};
  return view.error(format("{} is no name; a name has letters, digits and _, and no digit first", quote(name)));
}

Result<std::string> ProgramNames::new_name(const JsonView& view) const {
  WAVEGATE_TRY(std::string name, view.text());
  WAVEGATE_CHECK(check_name(name, view));
  if (values.contains(name)) return taken(name, view);
  return name;
}

Result<void> ProgramNames::declare(std::string_view name, const JsonView& view, program::Operand value) {
  WAVEGATE_CHECK(check_name(name, view));
  if (!values.emplace(name, std::move(value)).second) return taken(name, view);
  return {};
}

}  // namespace wavegate::io
