#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "wavegate/base/format.h"
#include "wavegate/base/from_chars.h"
#include "wavegate/kir/float16.h"
#include "wavegate/kir/text.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

constexpr size_t kMaximumTextBytes = size_t{64} << 20;

/// 1-based; columns count bytes.
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

Error error_at(Position position, std::string message) {
  return invalid_input(std::move(message), format("{}:{}", position.line, position.column));
}

struct Token {
  enum class Kind : uint8_t { end, name, value, number, symbol };
  Kind kind = Kind::end;
  std::string_view text;
  Position position;
};

std::string quoted(const Token& token) {
  constexpr size_t kShown = 40;
  if (token.kind == Token::Kind::end) return "the end of the text";
  return format("'{}{}'", token.text.substr(0, kShown), token.text.size() > kShown ? "..." : "");
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '-';
}

bool is_value_part(char c) {
  return is_letter(c) || is_digit(c);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    skip_blanks();
    if (at_ == text_.size()) return {Token::Kind::end, {}, position()};
    const char first = text_[at_];
    if (is_letter(first)) return token(Token::Kind::name, run(at_, is_name_part));
    if (first == '%') return token(Token::Kind::value, run(at_ + 1, is_value_part));
    const bool negative = first == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (negative || is_digit(first)) return token(Token::Kind::number, number_end());
    return token(Token::Kind::symbol, at_ + 1);
  }

 private:
  Position position() const { return {line_, static_cast<uint32_t>(at_ - line_begin_ + 1)}; }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size()) return;
      if (text_[at_] == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  size_t run(size_t end, bool (*belongs)(char)) const {
    while (end < text_.size() && belongs(text_[end])) ++end;
    return end;
  }

  /// Takes all that looks like part of the number, so that "1x" is one wrong number and not two tokens.
  size_t number_end() const {
    const bool is_hex = text_.substr(at_, 2) == "0x";
    size_t end = at_ + 1;
    while (end < text_.size()) {
      const char before = text_[end - 1];
      const bool is_sign = !is_hex && (before == 'e' || before == 'E') && (text_[end] == '-' || text_[end] == '+');
      if (!is_letter(text_[end]) && !is_digit(text_[end]) && text_[end] != '.' && !is_sign) break;
      ++end;
    }
    return end;
  }

  Token token(Token::Kind kind, size_t end) {
    const Token made{kind, text_.substr(at_, end - at_), position()};
    at_ = end;
    return made;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
};

// Literals.

template <typename T, typename... Base>
std::optional<T> read_all(std::string_view text, Base... base) {
  T value{};
  const auto [end, code] = from_chars(text.data(), text.data() + text.size(), value, base...);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

uint64_t all_ones(Type type) {
  return ~uint64_t{0} >> (64 - bit_width(type));
}

std::optional<uint64_t> hex_bits(std::string_view text, Type type) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto bits = read_all<uint64_t>(text.substr(2), 16);
  return bits && *bits <= all_ones(type) ? bits : std::nullopt;
}

std::optional<uint64_t> integer_bits(std::string_view text, Type type) {
  if (text.starts_with("0x")) return hex_bits(text, type);
  if (!text.starts_with('-')) {
    const auto value = read_all<uint64_t>(text);
    return value && *value <= all_ones(type) ? value : std::nullopt;
  }
  const auto value = read_all<int64_t>(text);
  const auto smallest = -static_cast<int64_t>(all_ones(type) / 2) - 1;
  if (!value || *value < smallest) return std::nullopt;
  return static_cast<uint64_t>(*value) & all_ones(type);
}

std::optional<uint64_t> float_bits(std::string_view text, Type type) {
  if (text.starts_with("0x")) return hex_bits(text, type);
  if (type == Type::f32) {
    const auto value = read_all<float>(text);
    return value ? std::optional<uint64_t>(std::bit_cast<uint32_t>(*value)) : std::nullopt;
  }
  const auto value = read_all<double>(text);
  if (!value) return std::nullopt;
  if (type == Type::f64) return std::bit_cast<uint64_t>(*value);
  const uint16_t half = double_to_float16(*value);
  return std::isfinite(float16_to_double(half)) ? std::optional<uint64_t>(half) : std::nullopt;
}

std::optional<Access> parse_access(std::string_view name) {
  for (const Access access : {Access::read, Access::write, Access::read_write})
    if (to_string(access) == name) return access;
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  Result<Kernel> run() && {
    WAVEGATE_CHECK(expect("kernel"));
    const Position position = token_.position;
    WAVEGATE_TRY(kernel_.interface.name, name("the kernel's name"));
    WAVEGATE_CHECK(expect("{"));
    WAVEGATE_CHECK(declarations());
    WAVEGATE_CHECK(block_end(kernel_.body, 1, Op::return_));
    if (token_.kind != Token::Kind::end) return expected("the end of the text");
    if (const auto violation = find_violation(kernel_))
      return error_at(violation->instruction ? positions_[*violation->instruction] : position,
                      format("kernel \"{}\": {}", kernel_.interface.name, violation->message));
    return std::move(kernel_);
  }

 private:
  static constexpr std::string_view kValue = "a value (% and a number or word)";

  /// A result that the text names, not visible yet.
  struct Definition {
    Token token;
    Value value;
  };

  void advance() { token_ = lexer_.next(); }
  bool is(std::string_view text) const { return token_.text == text && token_.kind != Token::Kind::end; }
  bool take(std::string_view text) {
    const bool found = is(text);
    if (found) advance();
    return found;
  }

  Error expected(std::string_view what) const {
    return error_at(token_.position, format("expected {}, found {}", what, quoted(token_)));
  }

  Result<void> expect(std::string_view text) {
    if (!take(text)) return expected(format("'{}'", text));
    return {};
  }

  Result<std::string> name(std::string_view what) {
    if (token_.kind != Token::Kind::name) return expected(what);
    std::string text(token_.text);
    advance();
    return text;
  }

  /// One word of a fixed vocabulary.
  template <typename T>
  Result<T> word(std::optional<T> (*find)(std::string_view), std::string_view what) {
    const auto found = token_.kind == Token::Kind::name ? find(token_.text) : std::nullopt;
    if (!found) return expected(what);
    advance();
    return *found;
  }

  Result<Type> type() { return word<Type>(parse_type, "a type (bool, i8, i16, i32, i64, f16, f32 or f64)"); }

  Result<uint32_t> whole_number(std::string_view what) {
    const auto value = token_.kind == Token::Kind::number ? read_all<uint32_t>(token_.text) : std::nullopt;
    if (!value) return expected(what);
    advance();
    return *value;
  }

  Result<uint64_t> literal(Type type) {
    std::optional<uint64_t> bits;
    if (type == Type::boolean && (is("true") || is("false")))
      bits = is("true") ? 1 : 0;
    else if (token_.kind == Token::Kind::number)
      bits = is_float(type) ? float_bits(token_.text, type) : integer_bits(token_.text, type);
    if (!bits) return expected(format("a constant that fits {}", to_string(type)));
    advance();
    return *bits;
  }

  // Interface and memories.

  Result<void> declarations() {
    while (true) {
      if (take("workgroup_size")) {
        for (uint32_t& size : kernel_.interface.workgroup_size) {
          WAVEGATE_TRY(size, whole_number("a workgroup size (three whole numbers)"));
        }
      } else if (take("buffer")) {
        WAVEGATE_CHECK(binding(BindingKind::buffer));
      } else if (take("scalar")) {
        WAVEGATE_CHECK(binding(BindingKind::scalar));
      } else if (take("parameter")) {
        WAVEGATE_CHECK(parameter());
      } else if (take("workgroup")) {
        WAVEGATE_CHECK(array(MemorySpace::workgroup));
      } else if (take("local")) {
        WAVEGATE_CHECK(array(MemorySpace::local));
      } else {
        return {};
      }
    }
  }

  Result<void> binding(BindingKind kind) {
    BindingInfo info;
    info.kind = kind;
    WAVEGATE_TRY(info.name, name("the binding's name"));
    WAVEGATE_TRY(info.type, type());
    WAVEGATE_TRY(info.access, word<Access>(parse_access, "an access (read, write or read_write)"));
    const auto index = static_cast<uint32_t>(kernel_.interface.bindings.size());
    if (kind == BindingKind::scalar)
      scalars_.emplace(info.name, index);
    else
      add_memory({info.name, MemorySpace::buffer, info.type, 0, index});
    kernel_.interface.bindings.push_back(std::move(info));
    return {};
  }

  Result<void> parameter() {
    ParameterInfo info;
    WAVEGATE_TRY(info.name, name("the parameter's name"));
    WAVEGATE_TRY(info.type, type());
    parameters_.emplace(info.name, static_cast<uint32_t>(kernel_.interface.parameters.size()));
    kernel_.interface.parameters.push_back(std::move(info));
    return {};
  }

  Result<void> array(MemorySpace space) {
    Memory memory;
    memory.space = space;
    WAVEGATE_TRY(memory.name, name("the array's name"));
    WAVEGATE_TRY(memory.element, type());
    WAVEGATE_TRY(memory.length, whole_number("the array's number of elements"));
    add_memory(std::move(memory));
    return {};
  }

  void add_memory(Memory memory) {
    memories_.emplace(memory.name, static_cast<uint32_t>(kernel_.memories.size()));
    kernel_.memories.push_back(std::move(memory));
  }

  Result<uint32_t> reference(const std::map<std::string, uint32_t>& things, std::string_view what) {
    const auto found = token_.kind == Token::Kind::name ? things.find(std::string(token_.text)) : things.end();
    if (found == things.end()) return expected(what);
    advance();
    return found->second;
  }

  // Values.

  bool is_value() const { return token_.kind == Token::Kind::value && token_.text.size() > 1; }

  Result<Definition> definition() {
    const Token token = token_;
    if (!is_value()) return expected(kValue);
    advance();
    WAVEGATE_CHECK(expect(":"));
    WAVEGATE_TRY(const Type value_type, type());
    return Definition{token, kernel_.new_value(value_type)};
  }

  Result<void> make_visible(const Definition& definition) {
    if (!values_.emplace(definition.token.text, definition.value).second)
      return error_at(definition.token.position, format("{} is defined twice", definition.token.text));
    return {};
  }

  Result<Value> value() {
    if (!is_value()) return expected(kValue);
    const auto found = values_.find(token_.text);
    if (found == values_.end())
      return error_at(token_.position, format("{} is used before it is defined", token_.text));
    advance();
    return found->second;
  }

  Result<void> values(Instruction& instruction) {
    do {
      WAVEGATE_TRY(const Value operand, value());
      instruction.operands.push_back(operand);
    } while (take(","));
    return {};
  }

  // Blocks.

  Result<void> block(Block& block, uint32_t depth, std::optional<Op> implied) {
    WAVEGATE_CHECK(expect("{"));
    return block_end(block, depth, implied);
  }

  /// What follows the opening brace. `implied` is the terminator that may be left out.
  Result<void> block_end(Block& block, uint32_t depth, std::optional<Op> implied) {
    if (depth > kMaximumDepth)
      return error_at(token_.position, format("blocks are nested deeper than {}", kMaximumDepth));
    bool ended = false;
    while (!is("}")) {
      if (ended) return expected("'}' after the instruction that ends the block");
      Instruction instruction;
      WAVEGATE_CHECK(this->instruction(instruction, depth));
      ended = is_terminator(instruction.op);
      block.instructions.push_back(std::move(instruction));
    }
    if (!ended && !implied) return expected("continue, break or return at the end of a loop's block");
    if (!ended) append_implied(block, *implied);
    advance();
    return {};
  }

  void append_implied(Block& block, Op op) {
    positions_.push_back(token_.position);
    block.instructions.push_back({.op = op});
  }

  Result<void> instruction(Instruction& instruction, uint32_t depth) {
    positions_.push_back(token_.position);
    std::vector<Definition> results;
    if (token_.kind == Token::Kind::value) {
      do {
        WAVEGATE_TRY(Definition result, definition());
        instruction.results.push_back(result.value);
        results.push_back(std::move(result));
      } while (take(","));
      instruction.type = kernel_.type_of(results.front().value);
      WAVEGATE_CHECK(expect("="));
    }
    WAVEGATE_TRY(instruction.op, word<Op>(parse_op, "an operation"));
    WAVEGATE_CHECK(body(instruction, depth));
    for (const Definition& result : results) WAVEGATE_CHECK(make_visible(result));
    return {};
  }

  Result<void> body(Instruction& instruction, uint32_t depth) {
    switch (instruction.op) {
      case Op::constant: {
        if (instruction.type == Type::none) return expected("'%', a number or word, ':' and a type before constant");
        WAVEGATE_TRY(instruction.bits, literal(instruction.type));
        return {};
      }
      case Op::builtin: return builtin(instruction);
      case Op::parameter: {
        WAVEGATE_TRY(instruction.index, reference(parameters_, "the name of a parameter"));
        return {};
      }
      case Op::load: return place(instruction);
      case Op::store: return store(instruction);
      case Op::array_length: {
        WAVEGATE_TRY(instruction.memory, reference(memories_, "the name of a buffer"));
        return {};
      }
      case Op::load_scalar:
      case Op::store_scalar: return scalar(instruction);
      case Op::barrier: return scope(instruction);
      case Op::fence: {
        WAVEGATE_CHECK(scope(instruction));
        return order(instruction);
      }
      case Op::assume_uniform: {
        WAVEGATE_CHECK(values(instruction));
        return scope(instruction);
      }
      case Op::if_: return if_(instruction, depth);
      case Op::switch_: return switch_(instruction, depth);
      case Op::loop: return loop(instruction, depth);
      default: break;
    }
    if (is_atomic(instruction.op)) return atomic(instruction);
    const int8_t count = info(instruction.op).operand_count;
    if (count == 0 || (count < 0 && token_.kind != Token::Kind::value)) return {};
    return values(instruction);
  }

  Result<void> builtin(Instruction& instruction) {
    WAVEGATE_TRY(instruction.builtin, word<Builtin>(parse_builtin, "the name of a builtin"));
    if (has_dimension(instruction.builtin)) {
      WAVEGATE_TRY(instruction.index, whole_number("a dimension (0, 1 or 2)"));
    }
    return {};
  }

  Result<void> place(Instruction& instruction) {
    instruction.memory = kPointer;
    if (!is("[")) {
      WAVEGATE_TRY(instruction.memory, reference(memories_, "the name of a memory, or '[' before a pointer"));
    }
    WAVEGATE_CHECK(expect("["));
    WAVEGATE_TRY(const Value address, value());
    instruction.operands.push_back(address);
    return expect("]");
  }

  Result<void> store(Instruction& instruction) {
    WAVEGATE_CHECK(place(instruction));
    WAVEGATE_CHECK(expect(","));
    WAVEGATE_CHECK(values(instruction));
    instruction.type = kernel_.type_of(instruction.operands[1]);
    return {};
  }

  Result<void> atomic(Instruction& instruction) {
    WAVEGATE_CHECK(place(instruction));
    WAVEGATE_CHECK(expect(","));
    WAVEGATE_CHECK(values(instruction));
    WAVEGATE_CHECK(scope(instruction));
    return order(instruction);
  }

  Result<void> scalar(Instruction& instruction) {
    WAVEGATE_TRY(instruction.index, reference(scalars_, "the name of a scalar"));
    if (instruction.op == Op::load_scalar) return {};
    WAVEGATE_CHECK(expect(","));
    WAVEGATE_CHECK(values(instruction));
    instruction.type = kernel_.type_of(instruction.operands[0]);
    return {};
  }

  Result<void> scope(Instruction& instruction) {
    WAVEGATE_TRY(instruction.scope, word<Scope>(parse_scope, "a scope (invocation, subgroup, workgroup or device)"));
    return {};
  }

  Result<void> order(Instruction& instruction) {
    WAVEGATE_TRY(instruction.order,
                 word<Order>(parse_order, "an order (relaxed, acquire, release or acquire_release)"));
    return {};
  }

  Result<void> if_(Instruction& instruction, uint32_t depth) {
    WAVEGATE_CHECK(values(instruction));
    instruction.blocks.resize(2);
    WAVEGATE_CHECK(block(instruction.blocks[0], depth + 1, Op::yield));
    if (take("else")) return block(instruction.blocks[1], depth + 1, Op::yield);
    append_implied(instruction.blocks[1], Op::yield);
    return {};
  }

  Result<void> switch_(Instruction& instruction, uint32_t depth) {
    WAVEGATE_CHECK(values(instruction));
    WAVEGATE_CHECK(expect("{"));
    while (take("case")) {
      WAVEGATE_TRY(const uint64_t bits, literal(Type::i32));
      instruction.cases.push_back(static_cast<uint32_t>(bits));
      WAVEGATE_CHECK(block(instruction.blocks.emplace_back(), depth + 1, Op::yield));
    }
    if (take("default")) {
      WAVEGATE_CHECK(block(instruction.blocks.emplace_back(), depth + 1, Op::yield));
    } else {
      append_implied(instruction.blocks.emplace_back(), Op::yield);
    }
    if (!take("}")) return expected("'case', 'default' (once, at the end) or '}'");
    return {};
  }

  Result<void> loop(Instruction& instruction, uint32_t depth) {
    Block& inner = instruction.blocks.emplace_back();
    std::vector<Definition> parameters;
    if (take("(")) {
      do {
        WAVEGATE_TRY(Definition parameter, definition());
        WAVEGATE_CHECK(expect("="));
        WAVEGATE_TRY(const Value initial, value());
        inner.parameters.push_back(parameter.value);
        instruction.operands.push_back(initial);
        parameters.push_back(std::move(parameter));
      } while (take(","));
      WAVEGATE_CHECK(expect(")"));
    }
    for (const Definition& parameter : parameters) WAVEGATE_CHECK(make_visible(parameter));
    return block(inner, depth + 1, std::nullopt);
  }

  Lexer lexer_;
  Token token_;
  Kernel kernel_;
  std::vector<Position> positions_;           ///< of each instruction, in the order of walk()
  std::map<std::string_view, Value> values_;  ///< by the word in the text, % included
  std::map<std::string, uint32_t> memories_;
  std::map<std::string, uint32_t> scalars_;
  std::map<std::string, uint32_t> parameters_;
};

}  // namespace

Result<Kernel> parse(std::string_view text) {
  if (text.size() > kMaximumTextBytes)
    return invalid_input(
        format("the text of a kernel has {} bytes; at most {} are read", text.size(), kMaximumTextBytes));
  return Parser(text).run();
}

}  // namespace wavegate::kir
