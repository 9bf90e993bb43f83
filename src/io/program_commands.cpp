#include "wavegate/io/program_commands.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "wavegate/io/json_number.h"
#include "wavegate/program/expression_type.h"

namespace wavegate::io {
namespace {

using program::Buffer;
using program::Literal;
using program::Operand;
using program::Program;
using program::Scalar;
using program::ScalarExpr;

constexpr std::uint64_t kMaximumWord = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaximumCount = std::uint64_t{1} << 48;

class CommandReader {
 public:
  CommandReader(Program& program, const ProgramNames& names) : program_(program), names_(names) {}

  Result<void> list(const JsonView& view) {
    WAVEGATE_TRY(const auto items, view.items());
    for (const JsonView& item : items) WAVEGATE_CHECK(command(item));
    return {};
  }

 private:
  struct Kind {
    std::string_view key;  ///< what tells the command from others
    std::vector<std::string_view> other_keys;
    Result<void> (CommandReader::*append)(const JsonView&);
  };
  static const std::vector<Kind>& kinds();

  Result<void> command(const JsonView& view) {
    std::vector<std::string_view> known;
    const Kind* kind = nullptr;
    for (const Kind& candidate : kinds()) {
      known.push_back(candidate.key);
      if (!view.has(candidate.key)) continue;
      if (kind != nullptr)
        return view.error(format("is both \"{}\" and \"{}\"; a command is one of them", kind->key, candidate.key));
      kind = &candidate;
    }
    if (kind == nullptr) {
      WAVEGATE_CHECK(view.check_keys(known));
      std::string text;
      for (const std::string_view key : known) text += format("{}\"{}\"", text.empty() ? "" : ", ", key);
      return view.error(format("is no command; one has one of {}", text));
    }
    std::vector<std::string_view> keys = kind->other_keys;
    keys.push_back(kind->key);
    WAVEGATE_CHECK(view.check_keys(keys));
    return (this->*kind->append)(view);
  }

  // ---- arguments

  Result<Buffer> buffer(const JsonView& view) const {
    WAVEGATE_TRY(const auto value, look_up(view, names_.values, "buffer"));
    if (const auto* handle = std::get_if<Buffer>(&value->second)) return *handle;
    return view.error(format("expected a buffer; {}", described(value->second)));
  }

  Result<Scalar> scalar(const JsonView& view) const {
    WAVEGATE_TRY(const auto value, look_up(view, names_.values, "scalar"));
    if (const auto* handle = std::get_if<Scalar>(&value->second)) return *handle;
    return view.error(format("expected a scalar; {}", described(value->second)));
  }

  /// A scalar that the program may write.
  Result<Scalar> written_scalar(const JsonView& view) const {
    WAVEGATE_TRY(const Scalar handle, scalar(view));
    if (!program_.info(handle).parameter) return handle;
    return view.error(format("\"{}\" is a launch parameter, which only the host sets; copy it to a scalar first",
                             program_.info(handle).name));
  }

  Result<Scalar> predicate(const JsonView& view) const {
    WAVEGATE_TRY(const Scalar handle, scalar(view));
    const program::ScalarInfo& info = program_.info(handle);
    if (info.type == program::ScalarType::uint32) return handle;
    return view.error(format("predicate \"{}\" is {}; a predicate is a uint32 that is zero for false", info.name,
                             program::to_string(info.type)));
  }

  /// A number for something that kernels see as `type`.
  Result<Literal> literal(const JsonView& view, kir::Type type) const {
    if (type != kir::Type::i32 && type != kir::Type::f32)
      return unsupported(format("numbers are given to i32 and f32 only, not to {}", kir::to_string(type)), view.path());
    const auto bits = element_bits(view.value(), type);
    if (!bits) return view.error(bits.error());
    const auto word = static_cast<std::uint32_t>(*bits);
    return Literal{type == kir::Type::f32 ? program::ScalarType::float32 : program::ScalarType::uint32, word};
  }

  std::string described(const Operand& operand) const {
    if (const auto* handle = std::get_if<Buffer>(&operand)) {
      const program::BufferInfo& info = program_.info(*handle);
      return format("\"{}\" is a buffer of {}", info.name, kir::to_string(info.element));
    }
    if (const auto* handle = std::get_if<Scalar>(&operand)) {
      const program::ScalarInfo& info = program_.info(*handle);
      return format("\"{}\" is a scalar of {}", info.name, program::to_string(info.type));
    }
    return "it is a matrix";
  }

  /// Whether as many arguments are given as there are formals.
  template <typename Formals>
  static Result<void> check_count(const JsonView& view, std::string_view subject, std::string_view noun,
                                  std::size_t given, const Formals& formals) {
    if (given == formals.size()) return {};
    std::string text;
    for (const auto& formal : formals) text += format("{}{}", text.empty() ? "" : ", ", formal.name);
    return view.error(format("{} takes {} {}{}, not {}", subject, formals.size(), noun,
                             text.empty() ? "" : format(" ({})", text), given));
  }

  // ---- dispatch

  Result<Operand> binding(const JsonView& view, const kir::BindingInfo& formal) const {
    const std::string_view kind = formal.kind == kir::BindingKind::buffer ? "buffer" : "scalar";
    WAVEGATE_TRY(const auto value, look_up(view, names_.values, kind));
    if (const auto* handle = std::get_if<Buffer>(&value->second)) {
      if (formal.kind == kir::BindingKind::buffer && program_.info(*handle).element == formal.type)
        return value->second;
    } else if (const auto* word = std::get_if<Scalar>(&value->second)) {
      if (formal.kind == kir::BindingKind::scalar && program::kernel_type(program_.info(*word).type) == formal.type) {
        if (kir::writes(formal.access)) WAVEGATE_CHECK(written_scalar(view));
        return value->second;
      }
    }
    return view.error(format("binding \"{}\" is a {} of {}, but {}", formal.name, kind, kir::to_string(formal.type),
                             described(value->second)));
  }

  Result<std::variant<Literal, Scalar>> parameter(const JsonView& view, const kir::ParameterInfo& formal) const {
    if (view.value().as<std::string>() == nullptr) {
      WAVEGATE_TRY(const Literal number, literal(view, formal.type));
      return std::variant<Literal, Scalar>(number);
    }
    WAVEGATE_TRY(const Scalar handle, scalar(view));
    if (program::kernel_type(program_.info(handle).type) == formal.type) return std::variant<Literal, Scalar>(handle);
    return view.error(
        format("parameter \"{}\" is {}, but {}", formal.name, kir::to_string(formal.type), described(Operand(handle))));
  }

  Result<program::Grid> grid(const JsonView& view, const kir::Interface& interface) const {
    const auto threads = view.find("threads");
    const auto workgroups = view.find("grid");
    if (threads && workgroups) return view.error("has both \"threads\" and \"grid\"; give one of them");
    if (!threads && !workgroups)
      return view.error(
          format("kernel \"{}\" has no exact geometry; give \"threads\" (invocations) or \"grid\" "
                 "(workgroups){}",
                 interface.name,
                 view.has("maximum_workgroups") ? "; \"maximum_workgroups\" is an estimate, never geometry" : ""));
    if (workgroups) return three_sizes(*workgroups);
    WAVEGATE_TRY(const auto invocations, three_sizes(*threads));
    return program::grid_for(invocations, interface.workgroup_size);
  }

  Result<void> dispatch(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("dispatch"));
    WAVEGATE_TRY(const auto kernel, look_up(name, names_.kernels, "kernel"));
    const kir::Interface& interface = kernel->second->interface();
    program::Dispatch command;
    command.kernel = kernel->second;
    WAVEGATE_TRY(command.label, label(view, interface.name));
    WAVEGATE_TRY(const auto bindings, optional_items(view, "bindings"));
    const std::string subject = format("kernel \"{}\"", interface.name);
    WAVEGATE_CHECK(check_count(view, subject, "bindings", bindings.size(), interface.bindings));
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      WAVEGATE_TRY(Operand operand, binding(bindings[i], interface.bindings[i]));
      command.bindings.push_back(std::move(operand));
    }
    WAVEGATE_TRY(const auto parameters, optional_items(view, "parameters"));
    WAVEGATE_CHECK(check_count(view, subject, "parameters", parameters.size(), interface.parameters));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      WAVEGATE_TRY(auto argument, parameter(parameters[i], interface.parameters[i]));
      command.parameters.push_back(argument);
    }
    WAVEGATE_TRY(command.grid, grid(view, interface));
    if (const auto estimate = view.find("maximum_workgroups")) {
      WAVEGATE_TRY(const std::uint64_t workgroups, estimate->whole("an estimate", 1, kMaximumWord));
      command.maximum_workgroups = static_cast<std::uint32_t>(workgroups);
    }
    program_.dispatch(std::move(command));
    return {};
  }

  // ---- operation

  Result<Operand> operand(const JsonView& view, const program::OperandInfo& formal) const {
    using program::OperandKind;
    if (view.value().is_number() && formal.kind == OperandKind::number) {
      WAVEGATE_TRY(const Literal number, literal(view, formal.type));
      return Operand(number);
    }
    if (view.value().is_number())
      return view.error(format("operand \"{}\" is a {}, not a number", formal.name, program::to_string(formal.kind)));
    WAVEGATE_TRY(const auto value, look_up(view, names_.values, program::to_string(formal.kind)));
    const Operand& given = value->second;
    if (const auto* handle = std::get_if<Buffer>(&given)) {
      if (formal.kind == OperandKind::buffer && program_.info(*handle).element == formal.type) return given;
    } else if (const auto* word = std::get_if<Scalar>(&given)) {
      const bool kind_fits = formal.kind == OperandKind::scalar || formal.kind == OperandKind::number;
      if (kind_fits && program::kernel_type(program_.info(*word).type) == formal.type) {
        if (kir::writes(formal.access)) WAVEGATE_CHECK(written_scalar(view));
        return given;
      }
    } else if (formal.kind == OperandKind::matrix) {
      return given;
    }
    return view.error(format("operand \"{}\" is a {} of {}, but {}", formal.name, program::to_string(formal.kind),
                             kir::to_string(formal.type), described(given)));
  }

  Result<void> operation(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("operation"));
    WAVEGATE_TRY(const auto found, look_up(name, *names_.operations, "operation"));
    const program::Operation& called = *found->second;
    WAVEGATE_TRY(const JsonView list, view.at("operands"));
    WAVEGATE_TRY(const auto items, list.items());
    WAVEGATE_CHECK(
        check_count(list, format("operation \"{}\"", called.name()), "operands", items.size(), called.operands()));
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < items.size(); ++i) {
      WAVEGATE_TRY(Operand given, operand(items[i], called.operands()[i]));
      operands.push_back(std::move(given));
    }
    if (const auto fits = called.check(program_, operands); !fits) return view.error(fits.error());
    program_.call(found->second, std::move(operands));
    return {};
  }

  // ---- fill, copy, assign

  static Result<std::uint64_t> number_or(const JsonView& view, std::string_view key, std::uint64_t otherwise) {
    const auto number = view.find(key);
    return number ? number->whole("a number of elements", 0, kMaximumCount) : otherwise;
  }

  /// Checks a range and gives its length, by default all that follows the offset.
  Result<std::uint64_t> count(const JsonView& view, Buffer buffer, std::uint64_t offset) const {
    const program::BufferInfo& info = program_.info(buffer);
    WAVEGATE_TRY(const std::uint64_t elements, number_or(view, "count", info.count - std::min(offset, info.count)));
    WAVEGATE_CHECK(check_range(view, buffer, offset, elements));
    return elements;
  }

  Result<void> check_range(const JsonView& view, Buffer buffer, std::uint64_t offset, std::uint64_t elements) const {
    const program::BufferInfo& info = program_.info(buffer);
    if (elements > 0 && offset <= info.count && elements <= info.count - offset) return {};
    return view.error(format("{} elements from {} on do not lie within buffer \"{}\" of {}", elements, offset,
                             info.name, info.count));
  }

  Result<void> fill(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("fill"));
    program::Fill command;
    WAVEGATE_TRY(command.destination, buffer(name));
    const program::BufferInfo& info = program_.info(command.destination);
    WAVEGATE_TRY(command.label, label(view, "fill " + info.name));
    WAVEGATE_TRY(const JsonView value, view.at("value"));
    WAVEGATE_TRY(command.value, literal(value, info.element));
    WAVEGATE_TRY(command.offset, number_or(view, "offset", 0));
    WAVEGATE_TRY(command.count, count(view, command.destination, command.offset));
    program_.fill(std::move(command));
    return {};
  }

  Result<void> copy(const JsonView& view) {
    WAVEGATE_TRY(const JsonView what, view.at("copy"));
    WAVEGATE_CHECK(what.check_keys({"from", "to", "from_offset", "to_offset", "count"}));
    WAVEGATE_TRY(const JsonView from, what.at("from"));
    WAVEGATE_TRY(const JsonView to, what.at("to"));
    program::Copy command;
    WAVEGATE_TRY(command.source, buffer(from));
    WAVEGATE_TRY(command.destination, buffer(to));
    const program::BufferInfo& source = program_.info(command.source);
    const program::BufferInfo& destination = program_.info(command.destination);
    if (source.element != destination.element)
      return what.error(format("{} and {}; a copy converts nothing", described(Operand(command.source)),
                               described(Operand(command.destination))));
    WAVEGATE_TRY(command.label, label(view, format("copy {} to {}", source.name, destination.name)));
    WAVEGATE_TRY(command.source_offset, number_or(what, "from_offset", 0));
    WAVEGATE_TRY(command.destination_offset, number_or(what, "to_offset", 0));
    WAVEGATE_TRY(command.count, count(what, command.source, command.source_offset));
    WAVEGATE_CHECK(check_range(what, command.destination, command.destination_offset, command.count));
    program_.copy(std::move(command));
    return {};
  }

  Result<void> assign(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("assign"));
    WAVEGATE_TRY(const Scalar destination, written_scalar(name));
    WAVEGATE_TRY(const JsonView value, view.at("value"));
    WAVEGATE_TRY(const ScalarExpr tree, expression(value));
    const auto type = program::type_of(program_, tree.root());
    if (!type) return value.error(type.error());
    const program::ScalarType wanted = program_.info(destination).type;
    const auto common = program::unify(*type, {wanted, false});
    if (!common || common->type != wanted)
      return value.error(format("the value is {}, but scalar \"{}\" is {}", program::to_string(type->type),
                                program_.info(destination).name, program::to_string(wanted)));
    program_.assign(destination, tree);
    return {};
  }

  /// A number, the name of a scalar, or a list of an operator and its operands.
  Result<ScalarExpr> expression(const JsonView& view) const {
    if (view.value().is_number()) {
      const auto number = weak_literal(view.value());
      if (!number) return view.error(number.error());
      return ScalarExpr(*number);
    }
    if (view.value().as<std::string>() != nullptr) {
      WAVEGATE_TRY(const Scalar leaf, scalar(view));
      return ScalarExpr(leaf);
    }
    const auto* list = view.value().as<JsonValue::Items>();
    if (list == nullptr || list->empty())
      return view.error("expected a number, the name of a scalar, or a list of an operator and its operands");
    WAVEGATE_TRY(const auto items, view.items());
    WAVEGATE_TRY(std::string name, items[0].text());
    // The two that the table has not: the same with their operands exchanged.
    const bool exchanged = name == ">" || name == ">=";
    if (exchanged) name[0] = '<';
    const auto op = program::parse_scalar_op(name);
    if (!op) return items[0].error(format("there is no operator {}", quote(name)));
    const std::size_t taken = program::info(*op).operand_count;
    if (items.size() - 1 != taken)
      return view.error(format("\"{}\" takes {} operand{}, not {}", *items[0].value().as<std::string>(), taken,
                               taken == 1 ? "" : "s", items.size() - 1));
    std::vector<ScalarExpr> operands;
    for (std::size_t i = 1; i < items.size(); ++i) {
      WAVEGATE_TRY(ScalarExpr operand, expression(items[i]));
      operands.push_back(std::move(operand));
    }
    if (taken == 1) return ScalarExpr(*op, {operands[0]});
    if (taken == 3) return ScalarExpr(*op, {operands[0], operands[1], operands[2]});
    return exchanged ? ScalarExpr(*op, {operands[1], operands[0]}) : ScalarExpr(*op, {operands[0], operands[1]});
  }

  // ---- control flow

  Result<void> if_(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("if"));
    WAVEGATE_TRY(const Scalar condition, predicate(name));
    WAVEGATE_TRY(const JsonView then_list, view.at("then"));
    const auto else_list = view.find("else");
    WAVEGATE_TRY(std::string text, label(view, program_.info(condition).name));
    Result<void> status;
    const auto append = [&](const JsonView& body) {
      if (status.ok()) status = list(body);
    };
    program_.if_(
        condition, [&] { append(then_list); },
        [&] {
          if (else_list) append(*else_list);
        },
        std::move(text));
    return status;
  }

  Result<void> while_(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("while"));
    WAVEGATE_TRY(const Scalar condition, predicate(name));
    WAVEGATE_TRY(const JsonView body, view.at("body"));
    WAVEGATE_TRY(std::string text, label(view, program_.info(condition).name));
    program::Bounds bounds;
    if (const auto min = view.find("min")) {
      WAVEGATE_TRY(const std::uint64_t iterations, min->whole("a number of iterations", 0, kMaximumWord));
      bounds.min = static_cast<std::uint32_t>(iterations);
    }
    if (const auto max = view.find("max")) {
      WAVEGATE_TRY(const std::uint64_t iterations, max->whole("a number of iterations", 0, kMaximumWord));
      if (iterations < bounds.min)
        return max->error(format("\"max\" {} is less than \"min\" {}", iterations, bounds.min));
      bounds.max = static_cast<std::uint32_t>(iterations);
    }
    Result<void> status;
    program_.while_(
        condition, bounds, [&] { status = list(body); }, std::move(text));
    return status;
  }

  // ---- small things

  static Result<std::vector<JsonView>> optional_items(const JsonView& view, std::string_view key) {
    const auto list = view.find(key);
    return list ? list->items() : std::vector<JsonView>();
  }

  static Result<std::string> label(const JsonView& view, std::string otherwise) {
    const auto text = view.find("label");
    return text ? text->text() : std::move(otherwise);
  }

  Program& program_;
  const ProgramNames& names_;
};

const std::vector<CommandReader::Kind>& CommandReader::kinds() {
  static const std::vector<Kind> table = {
      {"dispatch",
       {"bindings", "parameters", "threads", "grid", "maximum_workgroups", "label"},
       &CommandReader::dispatch},
      {"operation", {"operands"}, &CommandReader::operation},
      {"fill", {"value", "offset", "count", "label"}, &CommandReader::fill},
      {"copy", {"label"}, &CommandReader::copy},
      {"assign", {"value"}, &CommandReader::assign},
      {"if", {"then", "else", "label"}, &CommandReader::if_},
      {"while", {"min", "max", "body", "label"}, &CommandReader::while_},
  };
  return table;
}

}  // namespace

Result<void> append_commands(Program& program, const ProgramNames& names, const JsonView& list) {
  return CommandReader(program, names).list(list);
}

}  // namespace wavegate::io
