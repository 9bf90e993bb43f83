#include "wavegate/kir/wgsl_module.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  // Whatever is not ASCII belongs to an identifier here; the WGSL compiler knows better.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_inner(char c) {
  return is_letter(c) || is_digit(c);
}

/// Characters outside ASCII that end a line, and others that are blank.
constexpr std::string_view kLineBreaks[] = {"\n", "\v", "\f", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
constexpr std::string_view kBlanks[] = {" ", "\t", "\xe2\x80\x8e", "\xe2\x80\x8f"};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : rest_(text), size_(text.size()) {}

  Result<std::vector<WgslToken>> run() {
    std::vector<WgslToken> tokens;
    while (true) {
      if (!skip_blank()) return invalid_input(format("the module's comment at byte {} does not end", comment_));
      if (rest_.empty()) return tokens;
      tokens.push_back(next());
    }
  }

 private:
  template <typename List>
  bool skip_any(const List& list) {
    for (const std::string_view each : list) {
      if (!rest_.starts_with(each)) continue;
      rest_.remove_prefix(each.size());
      return true;
    }
    return false;
  }

  /// False if a comment does not end.
  bool skip_blank() {
    while (!rest_.empty()) {
      if (rest_.starts_with("//")) {
        while (!rest_.empty() && !skip_any(kLineBreaks)) rest_.remove_prefix(1);
      } else if (rest_.starts_with("/*")) {
        if (!skip_comment()) return false;
      } else if (!skip_any(kLineBreaks) && !skip_any(kBlanks)) {
        return true;
      }
    }
    return true;
  }

  bool skip_comment() {
    comment_ = size_ - rest_.size();
    uint32_t depth = 0;
    while (!rest_.empty()) {
      const bool opens = rest_.starts_with("/*");
      const bool closes = rest_.starts_with("*/");
      rest_.remove_prefix(opens || closes ? 2 : 1);
      if (opens) ++depth;
      if (closes && --depth == 0) return true;
    }
    return false;
  }

  WgslToken next() {
    const char first = rest_.front();
    const bool is_fraction = first == '.' && rest_.size() > 1 && is_digit(rest_[1]);
    if (is_digit(first) || is_fraction) return take(WgslToken::Kind::number, number_length());
    if (is_letter(first)) {
      const auto end = std::ranges::find_if_not(rest_, is_inner);
      return take(WgslToken::Kind::identifier, static_cast<size_t>(end - rest_.begin()));
    }
    return take(WgslToken::Kind::symbol, 1);
  }

  size_t number_length() const {
    const bool is_hexadecimal = rest_.starts_with("0x") || rest_.starts_with("0X");
    size_t length = 1;
    for (; length < rest_.size(); ++length) {
      const char c = rest_[length];
      const char before = rest_[length - 1];
      const bool after_exponent = is_hexadecimal ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
      if (!is_inner(c) && c != '.' && !((c == '+' || c == '-') && after_exponent)) break;
    }
    return length;
  }

  WgslToken take(WgslToken::Kind kind, size_t length) {
    const WgslToken token{kind, rest_.substr(0, length)};
    rest_.remove_prefix(length);
    return token;
  }

  std::string_view rest_;
  size_t size_;
  size_t comment_ = 0;
};

/// Reads declarations one after the other. What is wrong is remembered, and ends the reading.
class Reader {
 public:
  explicit Reader(WgslModule& module) : module_(module), end_(static_cast<uint32_t>(module.tokens.size())) {}

  Result<void> run() {
    while (at_ < end_ && wrong_.empty()) declaration();
    if (!wrong_.empty()) return invalid_input(wrong_);
    return {};
  }

 private:
  std::string_view text(uint32_t place) const { return place < end_ ? module_.tokens[place].text : std::string_view(); }
  bool is(std::string_view word) const { return text(at_) == word; }
  bool take(std::string_view word) {
    if (!is(word)) return false;
    ++at_;
    return true;
  }
  void fail(std::string_view expected) {
    if (!wrong_.empty()) return;
    wrong_ = at_ < end_
                 ? format("the module has {} expected at byte {}", expected, module_.offset_of(module_.tokens[at_]))
                 : format("the module ends where {} is expected", expected);
    at_ = end_;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail(format("\"{}\"", word));
  }
  std::string_view name() {
    if (at_ >= end_ || module_.tokens[at_].kind != WgslToken::Kind::identifier) {
      fail("a name");
      return {};
    }
    return text(at_++);
  }

  /// All tokens up to one of `ends` outside brackets, which stays. Angle brackets count where types stand.
  WgslRange until(std::string_view ends, bool with_angles) {
    const uint32_t first = at_;
    uint32_t depth = 0;
    for (; at_ < end_; ++at_) {
      const std::string_view token = text(at_);
      if (token.size() != 1) continue;
      const char c = token[0];
      if (depth == 0 && ends.find(c) != std::string_view::npos) return {first, at_};
      const bool opens = c == '(' || c == '[' || c == '{' || (with_angles && c == '<');
      const bool closes = c == ')' || c == ']' || c == '}' || (with_angles && c == '>');
      if (opens) ++depth;
      if (closes && depth == 0) break;
      if (closes) --depth;
    }
    fail(format("one of \"{}\"", ends));
    return {first, first};
  }

  WgslAttributes attributes() {
    WgslAttributes list;
    while (take("@")) {
      WgslAttribute attribute{.name = name()};
      if (take("(")) {
        while (wrong_.empty() && !is(")")) {
          attribute.arguments.push_back(until(",)", false));
          if (!take(",")) break;
        }
        expect(")");
      }
      list.push_back(std::move(attribute));
    }
    return list;
  }

  void declaration() {
    if (take(";")) return;
    WgslAttributes attached = attributes();
    if (take("fn")) return function(std::move(attached));
    if (take("var")) return variable(std::move(attached));
    if (take("struct")) return structure();
    if (take("alias")) return named(module_.aliases);
    if (take("const")) return named(module_.constants);
    for (const std::string_view word : {"override", "const_assert", "enable", "requires", "diagnostic"}) {
      if (!take(word)) continue;
      until(";", false);
      return expect(";");
    }
    fail("a declaration");
  }

  void function(WgslAttributes attached) {
    WgslFunction function{.name = name(), .attributes = std::move(attached)};
    expect("(");
    until(")", false);
    expect(")");
    until("{", false);  // what it returns
    expect("{");
    function.body = until("}", false);
    expect("}");
    module_.functions.push_back(std::move(function));
  }

  void variable(WgslAttributes attached) {
    WgslVariable variable{.attributes = std::move(attached)};
    if (take("<")) {
      variable.address_space = name();
      if (take(",") && !is(">")) variable.access = name();
      take(",");
      expect(">");
    }
    variable.name = name();
    if (take(":")) variable.type = until("=;", true);
    if (take("=")) until(";", false);
    expect(";");
    module_.variables.push_back(std::move(variable));
  }

  void structure() {
    const std::string_view structure_name = name();
    std::vector<WgslVariable> members;
    expect("{");
    while (wrong_.empty() && !is("}")) {
      WgslVariable member{.attributes = attributes()};
      member.name = name();
      expect(":");
      member.type = until(",}", true);
      members.push_back(std::move(member));
      if (!take(",")) break;
    }
    expect("}");
    module_.structures.emplace(structure_name, std::move(members));
  }

  void named(std::map<std::string_view, WgslRange>& table) {
    const std::string_view declared = name();
    if (take(":")) until("=", true);
    expect("=");
    const WgslRange value = until(";", false);
    expect(";");
    table.emplace(declared, value);
  }

  WgslModule& module_;
  uint32_t end_;
  uint32_t at_ = 0;
  std::string wrong_;
};

std::optional<uint32_t> number(std::string_view text) {
  if (text.ends_with('u') || text.ends_with('i')) text.remove_suffix(1);
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr uint32_t kLongestChain = 16;  ///< of constants that name each other

std::optional<uint32_t> evaluate(const WgslModule& module, WgslRange expression, uint32_t depth) {
  if (depth > kLongestChain || expression.empty() || expression.end - expression.first > 2 * kLongestChain)
    return std::nullopt;
  uint64_t product = 1;
  for (uint32_t i = expression.first; i < expression.end; ++i) {
    const WgslToken& token = module.tokens[i];
    const bool is_factor = (i - expression.first) % 2 == 0;
    if (!is_factor) {
      if (token.text != "*" || i + 1 == expression.end) return std::nullopt;
      continue;
    }
    std::optional<uint32_t> factor;
    if (token.kind == WgslToken::Kind::number) factor = number(token.text);
    if (token.kind == WgslToken::Kind::identifier)
      if (const auto found = module.constants.find(token.text); found != module.constants.end())
        factor = expression.end - expression.first == 1 || depth == 0 ? evaluate(module, found->second, depth + 1)
                                                                      : std::nullopt;
    if (!factor) return std::nullopt;
    product *= *factor;
    if (product > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  }
  return static_cast<uint32_t>(product);
}

}  // namespace

const WgslAttribute* find_attribute(const WgslAttributes& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &WgslAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::optional<uint32_t> WgslModule::integer(WgslRange expression) const {
  return evaluate(*this, expression, 0);
}

Result<WgslModule> read_wgsl(std::string_view text) {
  WgslModule module{.text = text};
  if (text.size() > std::numeric_limits<uint32_t>::max() - 1)
    return unsupported("the module is longer than 4 GiB; split it");
  WAVEGATE_TRY(module.tokens, Tokenizer(text).run());
  WAVEGATE_CHECK(Reader(module).run());
  return module;
}

}  // namespace wavegate::kir
