#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::kir {

/// A word of WGSL: an identifier or keyword, a number, or one character of anything else.
struct WgslToken {
  enum class Kind : uint8_t { identifier, number, symbol };
  Kind kind = Kind::symbol;
  std::string_view text;
};

/// Tokens of a module, from `first` up to `end`.
struct WgslRange {
  uint32_t first = 0;
  uint32_t end = 0;
  bool empty() const { return first == end; }
};

/// `@name(arguments)`.
struct WgslAttribute {
  std::string_view name;
  std::vector<WgslRange> arguments = {};
};
using WgslAttributes = std::vector<WgslAttribute>;

/// The attribute of a name; null if there is none.
const WgslAttribute* find_attribute(const WgslAttributes& attributes, std::string_view name);

struct WgslFunction {
  std::string_view name = {};
  WgslAttributes attributes = {};
  WgslRange body = {};  ///< without its braces
  bool is_compute() const { return find_attribute(attributes, "compute") != nullptr; }
};

/// A variable of the module's scope, or a member of a structure.
struct WgslVariable {
  std::string_view name = {};
  WgslAttributes attributes = {};
  std::string_view address_space = {};  ///< empty for textures and samplers, and for members
  std::string_view access = {};         ///< as written; empty if it is not
  WgslRange type = {};                  ///< empty if it is not written
};

/// What a WGSL module declares. Its views are of the text that was read, which must outlive it.
struct WgslModule {
  std::string_view text = {};
  std::vector<WgslToken> tokens = {};
  std::vector<WgslFunction> functions = {};
  std::vector<WgslVariable> variables = {};
  std::map<std::string_view, WgslRange> constants = {};  ///< `const` by name: the value
  std::map<std::string_view, WgslRange> aliases = {};    ///< `alias` by name: the type
  std::map<std::string_view, std::vector<WgslVariable>> structures = {};

  /// The value of an integer expression: a number, the name of a constant, or a product of such. Nothing if it is
  /// another expression, overridable, or no uint32.
  std::optional<uint32_t> integer(WgslRange expression) const;

  /// Where a token begins in the text.
  size_t offset_of(const WgslToken& token) const { return static_cast<size_t>(token.text.data() - text.data()); }
};

/// Reads what a module declares, without judging the rest: comments nest, and function bodies are skipped whole.
/// Hostile text costs time and memory linear in its length. `invalid-input` for what is no sequence of WGSL
/// declarations.
Result<WgslModule> read_wgsl(std::string_view text);

}  // namespace wavegate::kir
