#include "wavegate/io/program_commands.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "wavegate/io/json_number.h"
#include "wavegate/io/program_arguments.h"
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
  CommandReader(Program& program, ProgramNames& names) : program_(program), names_(names), arguments_(program, names) {}

  Result<void> list(const JsonView& view) {
    WAVEGATE_TRY(const auto items, view.items());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto* before = i > 0 ? items[i - 1].value().as<std::string>() : nullptr;
      if (before != nullptr)
        return items[i].error(
            format("never runs, since \"{}\" stands before it; put that last, or into an \"if\"", *before));
      WAVEGATE_CHECK(command(items[i]));
    }
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
    if (view.value().as<std::string>() != nullptr) return leave(view);
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
      return view.error(format("is no command; one has one of {}, or is \"break\" or \"continue\"", text));
    }
    std::vector<std::string_view> keys = kind->other_keys;
    keys.push_back(kind->key);
    WAVEGATE_CHECK(view.check_keys(keys));
    return (this->*kind->append)(view);
  }

  // ---- arguments

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
        if (kir::writes(formal.access)) WAVEGATE_CHECK(arguments_.written_scalar(view));
        return value->second;
      }
    }
    return view.error(format("binding \"{}\" is a {} of {}, but {}", formal.name, kind, kir::to_string(formal.type),
                             arguments_.described(value->first, value->second)));
  }

  Result<std::variant<Literal, Scalar>> parameter(const JsonView& view, const kir::ParameterInfo& formal) const {
    if (view.value().as<std::string>() == nullptr) {
      WAVEGATE_TRY(const Literal number, arguments_.literal(view, formal.type));
      return std::variant<Literal, Scalar>(number);
    }
    WAVEGATE_TRY(const Scalar handle, arguments_.scalar(view));
    if (program::kernel_type(program_.info(handle).type) == formal.type) return std::variant<Literal, Scalar>(handle);
    return view.error(format("parameter \"{}\" is {}, but {}", formal.name, kir::to_string(formal.type),
                             arguments_.described(*view.value().as<std::string>(), handle)));
  }

  /// Points those who give an expression to the key that takes it.
  static Result<void> numbers_alone(const JsonView& list, std::string_view key) {
    WAVEGATE_TRY(const auto items, list.items());
    for (const JsonView& item : items)
      if (item.value().as<std::string>() != nullptr || item.value().as<JsonValue::Items>() != nullptr)
        return item.error(format("is {}; what the device computes is \"computed_{}\"", item.value().kind(), key));
    return {};
  }

  /// One of the four ways to give a dispatch its exact geometry.
  Result<void> geometry(const JsonView& view, const kir::Interface& interface, program::Dispatch& command) const {
    std::optional<JsonView> given;
    std::string_view key;
    for (const std::string_view candidate : {"threads", "grid", "computed_threads", "computed_grid"}) {
      const auto found = view.find(candidate);
      if (!found) continue;
      if (given) return view.error(format("has both \"{}\" and \"{}\"; give one of them", key, candidate));
      given = found;
      key = candidate;
    }
    if (!given)
      return view.error(
          format("kernel \"{}\" has no exact geometry; give \"threads\" (invocations) or \"grid\" "
                 "(workgroups){}",
                 interface.name,
                 view.has("maximum_workgroups") ? "; \"maximum_workgroups\" is an estimate, never geometry" : ""));
    const bool is_threads = key.ends_with("threads");
    const bool is_computed = key.starts_with("computed");
    const std::string_view bound = is_threads ? "maximum_threads" : "maximum_grid";
    for (const std::string_view other : {"maximum_threads", "maximum_grid"})
      if (const auto stray = view.find(other); stray && !(is_computed && other == bound))
        return stray->error(format("bounds \"computed{}\", not \"{}\"", other.substr(7), key));
    if (!is_computed) {
      WAVEGATE_CHECK(numbers_alone(*given, key));
      WAVEGATE_TRY(const auto sizes, three_sizes(*given));
      command.grid = is_threads ? program::grid_for(sizes, interface.workgroup_size) : sizes;
      return {};
    }
    const auto maximum = view.find(bound);
    if (!maximum)
      return given->error(format("needs \"{}\" beside it, the most that may be computed: it is enforced", bound));
    WAVEGATE_TRY(const auto sizes, three_sizes(*maximum));
    WAVEGATE_TRY(const auto items, given->items());
    if (items.empty() || items.size() > 3)
      return given->error(format("has {} expressions; expected 1 to 3", items.size()));
    std::array<ScalarExpr, 3> counts = {1u, 1u, 1u};
    for (std::size_t d = 0; d < items.size(); ++d) {
      WAVEGATE_TRY(counts[d], arguments_.word(items[d], "count", "a number of threads or workgroups is a uint32"));
    }
    command.computed_grid = is_threads ? program::computed_grid_for(counts, interface.workgroup_size,
                                                                    program::grid_for(sizes, interface.workgroup_size))
                                       : program::ComputedGrid{counts, sizes};
    return {};
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
    WAVEGATE_CHECK(geometry(view, interface, command));
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
      WAVEGATE_TRY(const Literal number, arguments_.literal(view, formal.type));
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
        if (kir::writes(formal.access)) WAVEGATE_CHECK(arguments_.written_scalar(view));
        return given;
      }
    } else if (formal.kind == OperandKind::matrix) {
      return given;
    }
    return view.error(format("operand \"{}\" is a {} of {}, but {}", formal.name, program::to_string(formal.kind),
                             kir::to_string(formal.type), arguments_.described(value->first, given)));
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

  // ---- fill, copy, assign, record

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
    if (offset >= info.count)
      return view.error(format("element {} is beyond buffer \"{}\" of {}", offset, info.name, info.count));
    return view.error(format("{} elements from {} on do not lie within buffer \"{}\" of {}", elements, offset,
                             info.name, info.count));
  }

  Result<void> fill(const JsonView& view) {
    WAVEGATE_TRY(const JsonView name, view.at("fill"));
    program::Fill command;
    WAVEGATE_TRY(command.destination, arguments_.buffer(name));
    const program::BufferInfo& info = program_.info(command.destination);
    WAVEGATE_TRY(command.label, label(view, "fill " + info.name));
    WAVEGATE_TRY(const JsonView value, view.at("value"));
    WAVEGATE_TRY(command.value, arguments_.literal(value, info.element));
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
    WAVEGATE_TRY(command.source, arguments_.buffer(from));
    WAVEGATE_TRY(command.destination, arguments_.buffer(to));
    const program::BufferInfo& source = program_.info(command.source);
    const program::BufferInfo& destination = program_.info(command.destination);
    if (source.element != destination.element)
      return what.error(format("{} and {}; a copy converts nothing", arguments_.described(source.name, command.source),
                               arguments_.described(destination.name, command.destination)));
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
    WAVEGATE_TRY(const Scalar destination, arguments_.written_scalar(name));
    WAVEGATE_TRY(const JsonView value, view.at("value"));
    WAVEGATE_TRY(const ScalarExpr tree, arguments_.expression(value));
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

  Result<void> record(const JsonView& view) {
    WAVEGATE_TRY(const JsonView value, view.at("record"));
    if (loops_.empty()) return value.error("stands outside of every loop; it keeps one value an iteration");
    WAVEGATE_TRY(const Scalar scalar, arguments_.scalar(value));
    WAVEGATE_TRY(const JsonView as, view.at("as"));
    WAVEGATE_TRY(const std::string name, names_.new_name(as));
    std::optional<std::uint32_t> capacity;
    if (const auto given = view.find("capacity")) {
      WAVEGATE_TRY(const std::uint64_t iterations, given->whole("a number of iterations", 1, program::kMaximumHistory));
      capacity = static_cast<std::uint32_t>(iterations);
    } else if (!loops_.back().max) {
      return view.error("needs \"capacity\", the iterations to keep, since its loop has no \"max\"");
    } else if (*loops_.back().max > program::kMaximumHistory) {
      return view.error(format("would keep {} iterations, the \"max\" of its loop; give a \"capacity\" of at most {}",
                               *loops_.back().max, program::kMaximumHistory));
    }
    return names_.declare(name, as, program_.record(scalar, capacity, name));
  }

  // ---- control flow

  /// "break" or "continue": the commands that are a mere word.
  Result<void> leave(const JsonView& view) {
    WAVEGATE_TRY(const std::string name, view.text());
    if (name != "break" && name != "continue")
      return view.error(format("{} is no command; one is an object, \"break\" or \"continue\"{}", quote(name),
                               suggestion(name, {"break", "continue"})));
    if (loops_.empty()) return view.error(format("\"{}\" stands outside of every loop", name));
    name == "break" ? program_.break_() : program_.continue_();
    return {};
  }

  Result<ScalarExpr> predicate(const JsonView& view) const {
    return arguments_.word(view, "predicate", "a predicate is a uint32 that is zero for false");
  }

  /// The label that is given, else the name of the scalar that decides, else the kind of the command.
  static Result<std::string> label_of(const JsonView& view, std::string_view kind) {
    WAVEGATE_TRY(const JsonView decides, view.at(kind));
    const auto* name = decides.value().as<std::string>();
    return label(view, name != nullptr ? *name : std::string(kind));
  }

  /// A body as the program's functions take it; the first error of several goes into `status`.
  std::function<void()> appending(const std::optional<JsonView>& body, Result<void>& status) {
    return [this, body, &status] {
      if (body && status.ok()) status = list(*body);
    };
  }

  Result<void> if_(const JsonView& view) {
    WAVEGATE_TRY(const JsonView decides, view.at("if"));
    WAVEGATE_TRY(const ScalarExpr condition, predicate(decides));
    WAVEGATE_TRY(const JsonView then_list, view.at("then"));
    WAVEGATE_TRY(std::string text, label_of(view, "if"));
    Result<void> status;
    program_.if_(condition, appending(then_list, status), appending(view.find("else"), status), std::move(text));
    return status;
  }

  Result<void> switch_(const JsonView& view) {
    WAVEGATE_TRY(const JsonView decides, view.at("switch"));
    WAVEGATE_TRY(const ScalarExpr selector, arguments_.word(decides, "selector", "a switch chooses by a uint32"));
    WAVEGATE_TRY(std::string text, label_of(view, "switch"));
    WAVEGATE_TRY(const JsonView cases, view.at("cases"));
    WAVEGATE_TRY(const auto items, cases.items());
    Result<void> status;
    std::set<std::uint64_t> values;
    std::vector<std::pair<std::uint32_t, std::function<void()>>> bodies;
    for (const JsonView& item : items) {
      WAVEGATE_CHECK(item.check_keys({"value", "body"}));
      WAVEGATE_TRY(const JsonView given, item.at("value"));
      WAVEGATE_TRY(const std::uint64_t value, given.whole("a value of the selector", 0, kMaximumWord));
      if (!values.insert(value).second)
        return given.error(format("{} has a case before this one; only one of them can run", value));
      WAVEGATE_TRY(const JsonView body, item.at("body"));
      bodies.emplace_back(static_cast<std::uint32_t>(value), appending(body, status));
    }
    program_.switch_(selector, bodies, appending(view.find("default"), status), std::move(text));
    return status;
  }

  Result<void> while_(const JsonView& view) {
    WAVEGATE_TRY(const JsonView decides, view.at("while"));
    WAVEGATE_TRY(const ScalarExpr condition, predicate(decides));
    WAVEGATE_TRY(const JsonView body, view.at("body"));
    WAVEGATE_TRY(std::string text, label_of(view, "while"));
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
    std::string index;
    if (const auto name = view.find("index")) {
      WAVEGATE_TRY(index, names_.new_name(*name));
    }
    Result<void> status;
    const auto commands = [&] {
      if (!index.empty()) names_.values.emplace(index, program_.iteration());
      status = list(body);
    };
    loops_.push_back(bounds);
    program_.while_(condition, bounds, commands, std::move(text));
    loops_.pop_back();
    if (!index.empty()) names_.values.erase(index);
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
  ProgramNames& names_;
  ArgumentReader arguments_;
  std::vector<program::Bounds> loops_;  ///< those that enclose the command, innermost last
};

const std::vector<CommandReader::Kind>& CommandReader::kinds() {
  static const std::vector<Kind> table = {
      {"dispatch",
       {"bindings", "parameters", "threads", "grid", "computed_threads", "maximum_threads", "computed_grid",
        "maximum_grid", "maximum_workgroups", "label"},
       &CommandReader::dispatch},
      {"operation", {"operands"}, &CommandReader::operation},
      {"fill", {"value", "offset", "count", "label"}, &CommandReader::fill},
      {"copy", {"label"}, &CommandReader::copy},
      {"assign", {"value"}, &CommandReader::assign},
      {"record", {"as", "capacity"}, &CommandReader::record},
      {"if", {"then", "else", "label"}, &CommandReader::if_},
      {"switch", {"cases", "default", "label"}, &CommandReader::switch_},
      {"while", {"index", "min", "max", "body", "label"}, &CommandReader::while_},
  };
  return table;
}

}  // namespace

Result<void> append_commands(Program& program, ProgramNames& names, const JsonView& list) {
  return CommandReader(program, names).list(list);
}

}  // namespace wavegate::io
