#include "differential/print.h"

#include <bit>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/program/operation.h"

namespace wavegate::differential {
namespace {

using program::Literal;
using program::Operand;
using program::Program;
using program::ScalarExpr;
using program::ScalarOp;
using program::ScalarType;

std::string number(ScalarType type, uint32_t bits) {
  switch (type) {
    case ScalarType::uint32: return format("{}", bits);
    case ScalarType::sint32: return format("{}", static_cast<int32_t>(bits));
    default: return format("{}f", std::bit_cast<float>(bits));
  }
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    body(program_.body(), 1);  // first, to see which values it uses
    const std::string commands = std::exchange(out_, {});
    line(0, "program \"{}\"", program_.name());
    for (const program::BufferInfo& buffer : program_.buffers()) {
      if (!used_.contains(buffer.name)) continue;
      line(1, "buffer {} {}[{}]{}{}", buffer.name, kir::to_string(buffer.element), buffer.count,
           buffer.external ? " external" : "", buffer.output ? " output" : "");
      if (buffer.initial) line(2, "= {}", contents(buffer));
    }
    for (const program::ScalarInfo& scalar : program_.scalars())
      if (used_.contains(scalar.name))
        line(1, "{} {} {}{}",
             scalar.parameter    ? "parameter"
             : scalar.loop_index ? "index"
                                 : "scalar",
             to_string(scalar.type), scalar.name,
             scalar.initial ? format(" = {}", number(scalar.type, *scalar.initial)) : std::string());
    return out_ + commands;
  }

 private:
  template <typename... Arguments>
  void line(size_t depth, fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    out_.append(2 * depth, ' ');
    fmt::format_to(std::back_inserter(out_), pattern, std::forward<Arguments>(arguments)...);
    out_ += '\n';
  }

  static std::string contents(const program::BufferInfo& buffer) {
    const ScalarType type = buffer.element == kir::Type::f32 ? ScalarType::float32 : ScalarType::uint32;
    if (!buffer.initial->bytes) return format("{} throughout", number(type, buffer.initial->word));
    constexpr size_t most = 16;
    std::string text;
    const std::vector<std::byte>& bytes = *buffer.initial->bytes;
    for (size_t i = 0; i < bytes.size() / 4 && i < most; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * 4, 4);
      text += number(type, bits) + " ";
    }
    return text + (buffer.count > most ? "..." : "");
  }

  /// The name of a value, which is thereby used.
  const std::string& name(auto value) { return *used_.insert(program_.info(value).name).first; }

  std::string text(const Literal& literal) { return number(literal.type, literal.bits); }
  std::string text(program::Scalar scalar) { return name(scalar); }
  std::string text(program::Buffer buffer) { return name(buffer); }
  std::string text(const program::CsrMatrix& matrix) { return format("matrix of {}", name(matrix.values)); }
  std::string text(const ScalarExpr& expression) { return text(expression.root()); }

  std::string text(const ScalarExpr::Node& node) {
    if (node.op == ScalarOp::literal) return text(node.literal);
    if (node.op == ScalarOp::scalar) return name(node.scalar);
    const program::ScalarOpInfo& row = program::info(node.op);
    if (row.operand_count == 2 && node.op != ScalarOp::minimum && node.op != ScalarOp::maximum)
      return format("({} {} {})", text(*node.operands[0]), row.name, text(*node.operands[1]));
    std::string operands;
    for (uint32_t i = 0; i < row.operand_count; ++i)
      operands += format("{}{}", i == 0 ? "" : ", ", text(*node.operands[i]));
    return format("{}({})", row.name, operands);
  }

  template <typename List>
  std::string list(const List& items) {
    std::string out;
    for (const auto& item : items) {
      if (!out.empty()) out += ", ";
      out += std::visit([&](const auto& one) { return text(one); }, item);
    }
    return out;
  }

  void body(const program::Body& nodes, size_t depth) {
    for (const program::Node& node : nodes) std::visit([&](const auto& what) { print(what, depth); }, node.what);
  }

  void print(const program::Dispatch& dispatch, size_t depth) {
    std::string grid = "no grid";
    if (dispatch.grid) grid = format("{}x{}x{}", (*dispatch.grid)[0], (*dispatch.grid)[1], (*dispatch.grid)[2]);
    if (const auto& computed = dispatch.computed_grid)
      grid = format("{} x {} x {}, at most {}x{}x{}", text(computed->workgroups[0]), text(computed->workgroups[1]),
                    text(computed->workgroups[2]), computed->maximum[0], computed->maximum[1], computed->maximum[2]);
    line(depth, "dispatch \"{}\" {}({}){} grid {}", dispatch.label, dispatch.kernel->interface().name,
         list(dispatch.bindings), dispatch.parameters.empty() ? "" : format(" with {}", list(dispatch.parameters)),
         grid);
  }
  void print(const program::Copy& copy, size_t depth) {
    line(depth, "copy \"{}\" {}[{}..] -> {}[{}..], {} elements", copy.label, name(copy.source), copy.source_offset,
         name(copy.destination), copy.destination_offset, copy.count);
  }
  void print(const program::Fill& fill, size_t depth) {
    line(depth, "fill \"{}\" {}[{}..] with {}, {} elements", fill.label, name(fill.destination), fill.offset,
         text(fill.value), fill.count);
  }
  void print(const program::Assign& assign, size_t depth) {
    line(depth, "{} = {}", name(assign.destination), text(assign.value));
  }
  void print(const program::Record& record, size_t depth) {
    line(depth, "record {}[{}] = {}", name(record.history), name(record.index), name(record.value));
  }
  void print(const program::Call& call, size_t depth) {
    line(depth, "call {}({})", call.operation->name(), list(call.operands));
  }
  void print(const program::If& branch, size_t depth) {
    line(depth, "if \"{}\" {} {{", branch.label, text(branch.predicate));
    body(branch.then_body, depth + 1);
    if (!branch.else_body.empty()) {
      line(depth, "}} else {{");
      body(branch.else_body, depth + 1);
    }
    line(depth, "}}");
  }
  void print(const program::Switch& choice, size_t depth) {
    line(depth, "switch \"{}\" {} {{", choice.label, text(choice.selector));
    for (const program::Case& one : choice.cases) {
      line(depth, "case {}:", one.value);
      body(one.body, depth + 1);
    }
    line(depth, "default:");
    body(choice.default_body, depth + 1);
    line(depth, "}}");
  }
  void print(const program::While& loop, size_t depth) {
    line(depth, "while \"{}\" {} min {} max {}{} {{", loop.label, text(loop.predicate), loop.bounds.min,
         loop.bounds.max ? format("{}", *loop.bounds.max) : "none",
         loop.index ? format(" index {}", name(*loop.index)) : std::string());
    body(loop.body, depth + 1);
    line(depth, "}}");
  }
  void print(const program::Break&, size_t depth) { line(depth, "break"); }
  void print(const program::Continue&, size_t depth) { line(depth, "continue"); }

  const Program& program_;
  std::set<std::string> used_;
  std::string out_;
};

}  // namespace

std::string print(const Program& program) {
  return Printer(program).run();
}

}  // namespace wavegate::differential
