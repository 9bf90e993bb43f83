#include "wavegate/io/program_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "wavegate/base/format.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

constexpr std::array<std::string_view, 7> kElementTypes = {"i8", "i16", "i32", "i64", "f16", "f32", "f64"};
// In the order of their enumerations.
constexpr std::array<std::string_view, 3> kScalarTypes = {"uint32", "sint32", "float32"};
constexpr std::array<std::string_view, 3> kAccesses = {"read", "write", "read_write"};
constexpr std::array<std::string_view, 2> kBindingKinds = {"buffer", "scalar"};

/// The index of a word in a table; the error lists the table.
template <std::size_t n>
Result<std::size_t> choice(const JsonView& view, const std::array<std::string_view, n>& table) {
  WAVEGATE_TRY(const std::string word, view.text());
  const auto found = std::ranges::find(table, word);
  if (found != table.end()) return static_cast<std::size_t>(found - table.begin());
  std::string text;
  for (const std::string_view entry : table) text += format("{}{}", text.empty() ? "" : ", ", entry);
  return view.error(format("{} is none of {}{}", quote(word), text, suggestion(word, {table.begin(), table.end()})));
}

}  // namespace

Result<kir::Type> element_type(const JsonView& view) {
  WAVEGATE_TRY(const std::size_t index, choice(view, kElementTypes));
  return kir::parse_type(kElementTypes[index]).value_or(kir::Type::none);
}

Result<program::ScalarType> scalar_type(const JsonView& view) {
  WAVEGATE_TRY(const std::size_t index, choice(view, kScalarTypes));
  return static_cast<program::ScalarType>(index);
}

Result<kir::Access> access(const JsonView& view) {
  WAVEGATE_TRY(const std::size_t index, choice(view, kAccesses));
  return static_cast<kir::Access>(index);
}

Result<kir::BindingKind> binding_kind(const JsonView& view) {
  WAVEGATE_TRY(const std::size_t index, choice(view, kBindingKinds));
  return static_cast<kir::BindingKind>(index);
}

}  // namespace wavegate::io
