#include "wavegate/kir/wgsl_layout.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace wavegate::kir {
namespace {

constexpr uint32_t kDeepest = 16;          ///< of types in types
constexpr uint32_t kMostTypes = 1u << 12;  ///< looked at for one layout: a hostile module names them over and over
constexpr uint64_t kLargest = std::numeric_limits<uint32_t>::max();

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Bytes of a scalar by its name, or by the letter that ends short names like vec4f; 0 if it is none.
uint64_t scalar_size(std::string_view name) {
  if (name == "f16" || name == "h") return 2;
  const bool is_word = name == "u32" || name == "i32" || name == "f32" || name == "u" || name == "i" || name == "f";
  return is_word ? 4 : 0;
}

class Layouts {
 public:
  explicit Layouts(const WgslModule& module) : module_(module) {}

  std::optional<WgslLayout> of(WgslRange type, uint32_t depth) {
    if (type.empty() || depth > kDeepest || ++looked_at_ > kMostTypes) return std::nullopt;
    const std::string_view name = module_.tokens[type.first].text;
    const std::vector<WgslRange> arguments = arguments_of(type);
    if (type.end - type.first > 1 && arguments.empty()) return std::nullopt;
    if (const auto alias = module_.aliases.find(name); alias != module_.aliases.end())
      return of(alias->second, depth + 1);
    if (const auto found = module_.structures.find(name); found != module_.structures.end())
      return structure(found->second, depth);
    if (name == "array") return array(arguments, depth);
    if (name == "atomic") return arguments.size() == 1 ? of(arguments[0], depth + 1) : std::nullopt;
    if (name.starts_with("vec") && name.size() > 3) return vector(name.substr(3), arguments, depth);
    if (name.starts_with("mat") && name.size() > 5) return matrix(name.substr(3), arguments, depth);
    const uint64_t size = name.size() > 1 ? scalar_size(name) : 0;
    if (size == 0) return std::nullopt;
    return WgslLayout{.size = size, .least = size, .alignment = size, .is_scalar = true};
  }

 private:
  /// What stands in the angle brackets of a type, taken apart at its commas.
  std::vector<WgslRange> arguments_of(WgslRange type) const {
    const auto text = [&](uint32_t i) { return module_.tokens[i].text; };
    if (type.end - type.first < 4 || text(type.first + 1) != "<" || text(type.end - 1) != ">") return {};
    std::vector<WgslRange> arguments;
    WgslRange next{type.first + 2, type.first + 2};
    uint32_t depth = 0;
    for (uint32_t i = type.first + 2; i + 1 < type.end; ++i) {
      if (text(i) == "<" || text(i) == "(") ++depth;
      if (text(i) == ">" || text(i) == ")") --depth;
      if (text(i) == "," && depth == 0) {
        arguments.push_back(next);
        next = {i + 1, i + 1};
      } else {
        next.end = i + 1;
      }
    }
    if (!next.empty()) arguments.push_back(next);
    return arguments;
  }

  /// The scalar of a vector or matrix: its one argument, or the letter that ends its name.
  uint64_t element_size(std::string_view letter, const std::vector<WgslRange>& arguments, uint32_t depth) {
    if (!letter.empty()) return arguments.empty() && letter.size() == 1 ? scalar_size(letter) : 0;
    if (arguments.size() != 1) return 0;
    const auto element = of(arguments[0], depth + 1);
    return element && element->is_scalar ? element->size : 0;
  }

  static uint64_t digit(char c) { return c >= '2' && c <= '4' ? static_cast<uint64_t>(c - '0') : 0; }

  static WgslLayout vector_of(uint64_t count, uint64_t size) {
    return {.size = count * size, .least = count * size, .alignment = (count == 2 ? 2 : 4) * size};
  }

  std::optional<WgslLayout> vector(std::string_view rest, const std::vector<WgslRange>& arguments, uint32_t depth) {
    const uint64_t count = digit(rest[0]);
    const uint64_t size = element_size(rest.substr(1), arguments, depth);
    if (count == 0 || size == 0) return std::nullopt;
    return vector_of(count, size);
  }

  std::optional<WgslLayout> matrix(std::string_view rest, const std::vector<WgslRange>& arguments, uint32_t depth) {
    if (rest.size() < 3 || rest[1] != 'x') return std::nullopt;
    const uint64_t columns = digit(rest[0]);
    const uint64_t rows = digit(rest[2]);
    const uint64_t size = element_size(rest.substr(3), arguments, depth);
    if (columns == 0 || rows == 0 || size == 0) return std::nullopt;
    const WgslLayout column = vector_of(rows, size);
    const uint64_t size_of_all = columns * round_up(column.size, column.alignment);
    return WgslLayout{.size = size_of_all, .least = size_of_all, .alignment = column.alignment};
  }

  std::optional<WgslLayout> array(const std::vector<WgslRange>& arguments, uint32_t depth) {
    if (arguments.empty() || arguments.size() > 2) return std::nullopt;
    const auto element = of(arguments[0], depth + 1);
    if (!element || element->size == 0) return std::nullopt;
    const uint64_t stride = round_up(element->size, element->alignment);
    WgslLayout layout{
        .least = stride, .alignment = element->alignment, .stride = stride, .has_scalar_elements = element->is_scalar};
    if (arguments.size() == 1) return layout;
    const auto count = module_.integer(arguments[1]);
    if (!count || stride > kLargest || *count * stride > kLargest) return std::nullopt;
    layout.size = layout.least = *count * stride;
    return layout;
  }

  std::optional<WgslLayout> structure(const std::vector<WgslVariable>& members, uint32_t depth) {
    WgslLayout layout;
    uint64_t end = 0, least = 0;
    for (const WgslVariable& member : members) {
      const auto inner = of(member.type, depth + 1);
      if (!inner) return std::nullopt;
      const auto alignment = attribute(member, "align", inner->alignment);
      const auto size = attribute(member, "size", inner->size);
      if (!alignment || *alignment == 0 || !size || end > kLargest) return std::nullopt;
      const uint64_t begin = round_up(end, *alignment);
      end = begin + *size;
      least = std::max(end, begin + inner->least);
      layout.alignment = std::max(layout.alignment, *alignment);
    }
    layout.size = round_up(end, layout.alignment);
    layout.least = round_up(least, layout.alignment);
    return layout;
  }

  std::optional<uint64_t> attribute(const WgslVariable& member, std::string_view name, uint64_t otherwise) const {
    const WgslAttribute* found = find_attribute(member.attributes, name);
    if (found == nullptr) return otherwise;
    if (found->arguments.size() != 1) return std::nullopt;
    return module_.integer(found->arguments[0]);
  }

  const WgslModule& module_;
  uint32_t looked_at_ = 0;
};

}  // namespace

std::optional<WgslLayout> wgsl_layout(const WgslModule& module, WgslRange type) {
  return Layouts(module).of(type, 0);
}

}  // namespace wavegate::kir
