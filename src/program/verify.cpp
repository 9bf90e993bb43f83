#include "wavegate/program/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/program/defined_values.h"
#include "wavegate/program/expression_type.h"
#include "wavegate/program/operation.h"

namespace wavegate::program {
namespace {

/// How control leaves an iteration of a loop before its end.
struct OpenLoop {
  std::string label;
  DefinedValues next = {};  ///< where `continue_` leads
  DefinedValues exit = {};  ///< where `break_` leads
};

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  Result<void> run() {
    std::set<std::string_view> names;
    const auto unique = [&](std::string_view name) -> Result<void> {
      if (name.empty()) return invalid_input("a value has no name");
      if (!names.insert(name).second) return invalid_input(format("two values are named \"{}\"", name));
      return {};
    };
    DefinedValues defined(program_.buffers().size(), program_.scalars().size());
    for (uint32_t id = 0; id < program_.buffers().size(); ++id) {
      const BufferInfo& buffer = program_.buffers()[id];
      WAVEGATE_CHECK(unique(buffer.name));
      if (buffer.initial || buffer.external) defined.add(Buffer{id});
    }
    for (uint32_t id = 0; id < program_.scalars().size(); ++id) {
      const ScalarInfo& scalar = program_.scalars()[id];
      WAVEGATE_CHECK(unique(scalar.name));
      // An iteration index holds something in the body of its loop.
      if (scalar.initial && !scalar.loop_index) defined.add(Scalar{id});
    }
    WAVEGATE_CHECK(body(program_.body(), defined, 0));
    for (uint32_t id = 0; id < program_.buffers().size(); ++id)
      if (program_.buffers()[id].output && !defined.has(Buffer{id}))
        return invalid_input(
            format("buffer \"{}\" is an output, but it has no initial value and nothing that surely "
                   "runs writes all of it{}; give it an initial value",
                   program_.buffers()[id].name, unsure_write(Buffer{id})));
    return {};
  }

 private:
  Result<void> body(const Body& nodes, DefinedValues& defined, uint32_t depth) {
    if (depth > kMaximumNesting)
      return invalid_input(format("control flow nests deeper than {} levels", kMaximumNesting));
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0) WAVEGATE_CHECK(follows(nodes[i - 1]));
      WAVEGATE_CHECK(std::visit([&](const auto& what) { return check(what, defined, depth); }, nodes[i].what));
    }
    return {};
  }

  /// Whether a command may stand after this one.
  Result<void> follows(const Node& node) const {
    const bool is_break = std::holds_alternative<Break>(node.what);
    if (!is_break && !std::holds_alternative<Continue>(node.what)) return {};
    const std::string_view name = is_break ? "break_" : "continue_";
    return invalid_input(
        format("a command after {} in the same body never runs; put {} last, or in the body of an if", name, name),
        format("while \"{}\"", loops_.back().label));
  }

  Result<void> known(Buffer buffer, std::string_view where) const {
    if (buffer.id < program_.buffers().size()) return {};
    return invalid_input("names a buffer of another program", std::string(where));
  }
  Result<void> known(Scalar scalar, std::string_view where) const {
    if (scalar.id < program_.scalars().size()) return {};
    return invalid_input("names a scalar of another program", std::string(where));
  }

  Result<void> read(Buffer buffer, const DefinedValues& defined, const std::string& where) const {
    WAVEGATE_CHECK(known(buffer, where));
    if (defined.has(buffer)) return {};
    return invalid_input(format("buffer \"{}\" is read here, but it has no initial value and nothing that surely runs "
                                "before writes all of it{}; give it an initial value or write it first",
                                program_.info(buffer).name, unsure_write(buffer)),
                         where);
  }
  Result<void> read(Scalar scalar, const DefinedValues& defined, const std::string& where) const {
    WAVEGATE_CHECK(known(scalar, where));
    if (defined.has(scalar)) return {};
    if (program_.info(scalar).loop_index)
      return invalid_input(format("\"{}\" is the iteration index of a loop, which is read in the body of that loop "
                                  "alone; assign it to a scalar there",
                                  program_.info(scalar).name),
                           where);
    return invalid_input(format("scalar \"{}\" is read here, but it has no initial value and nothing that surely runs "
                                "before writes it{}; give it an initial value or write it first",
                                program_.info(scalar).name, unsure_write(scalar)),
                         where);
  }
  Result<void> write(Scalar scalar, const std::string& where) const {
    WAVEGATE_CHECK(known(scalar, where));
    const ScalarInfo& info = program_.info(scalar);
    if (!info.parameter && !info.loop_index) return {};
    return invalid_input(format("\"{}\" is {}; copy it to a scalar first", info.name,
                                info.parameter ? "a launch parameter, which only the host sets"
                                               : "the iteration index of a loop, which only the loop sets"),
                         where);
  }

  /// What is to say of a value that a dispatch writes under a grid that may be zero.
  template <typename Handle>
  std::string unsure_write(Handle value) const {
    const auto found = unsure_writes_.find({std::is_same_v<Handle, Scalar>, value.id});
    return found == unsure_writes_.end()
               ? std::string()
               : format(" (dispatch \"{}\" does, but its computed grid may be zero)", found->second);
  }

  Result<void> check(const Dispatch& dispatch, DefinedValues& defined, uint32_t depth) {
    const std::string where = format("dispatch \"{}\"", dispatch.label);
    if (dispatch.kernel == nullptr) return invalid_input("has no kernel", where);
    const kir::Interface& interface = dispatch.kernel->interface();
    if (dispatch.bindings.size() != interface.bindings.size())
      return invalid_input(format("kernel \"{}\" takes {} bindings, not {}", interface.name, interface.bindings.size(),
                                  dispatch.bindings.size()),
                           where);
    if (dispatch.parameters.size() != interface.parameters.size())
      return invalid_input(format("kernel \"{}\" takes {} parameters, not {}", interface.name,
                                  interface.parameters.size(), dispatch.parameters.size()),
                           where);
    WAVEGATE_CHECK(check_grid(dispatch, interface, defined, where, depth));
    for (size_t i = 0; i < interface.bindings.size(); ++i)
      WAVEGATE_CHECK(check_binding(dispatch.bindings[i], interface.bindings[i], defined, where));
    for (size_t i = 0; i < interface.parameters.size(); ++i)
      WAVEGATE_CHECK(check_parameter(dispatch.parameters[i], interface.parameters[i], defined, where));
    for (size_t i = 0; i < interface.bindings.size(); ++i) {
      if (!kir::writes(interface.bindings[i].access)) continue;
      const auto* buffer = std::get_if<Buffer>(&dispatch.bindings[i]);
      const auto* scalar = std::get_if<Scalar>(&dispatch.bindings[i]);
      if (scalar != nullptr) WAVEGATE_CHECK(check_is_no_parameter(*scalar, dispatch, interface, where));
      if (dispatch.computed_grid) {  // it may be zero, and then nothing is written
        const std::pair<bool, uint32_t> value(scalar != nullptr, scalar ? scalar->id : buffer->id);
        unsure_writes_.emplace(value, dispatch.label);
      } else {
        if (buffer) defined.add(*buffer);
        if (scalar) defined.add(*scalar);
      }
    }
    return {};
  }

  /// A parameter is the same for every invocation, whenever each of them reads it.
  Result<void> check_is_no_parameter(Scalar written, const Dispatch& dispatch, const kir::Interface& interface,
                                     const std::string& where) const {
    for (size_t i = 0; i < interface.parameters.size(); ++i) {
      const auto* scalar = std::get_if<Scalar>(&dispatch.parameters[i]);
      if (scalar == nullptr || scalar->id != written.id) continue;
      return invalid_input(format("parameter \"{}\" is given scalar \"{}\", which the dispatch writes; assign it to "
                                  "another scalar before, and give that",
                                  interface.parameters[i].name, program_.info(written).name),
                           where);
    }
    return {};
  }

  Result<void> check_grid(const Dispatch& dispatch, const kir::Interface& interface, const DefinedValues& defined,
                          const std::string& where, uint32_t depth) const {
    if (!dispatch.grid && !dispatch.computed_grid) {
      return invalid_input(format("kernel \"{}\" has no exact grid; a dispatch {} needs one ({}), for example .grid = "
                                  "grid_for({{threads, 1, 1}}, workgroup_size)",
                                  interface.name, depth > 0 ? "under a predicate" : "anywhere",
                                  dispatch.maximum_workgroups ? "maximum_workgroups is an estimate, never geometry"
                                                              : "the launch is derived from it"),
                           where);
    }
    if (dispatch.grid && dispatch.computed_grid)
      return invalid_input(
          format("kernel \"{}\" is given both a grid and a computed grid; give one of them", interface.name), where);
    if (dispatch.grid) {
      if (std::ranges::find(*dispatch.grid, 0u) == dispatch.grid->end()) return {};
      return invalid_input(format("kernel \"{}\" is given an empty grid", interface.name), where);
    }
    for (size_t d = 0; d < 3; ++d) {
      if (dispatch.computed_grid->maximum[d] == 0)
        return invalid_input(format("the computed grid of kernel \"{}\" has a maximum of 0 workgroups in {}; declare "
                                    "the most that it may become",
                                    interface.name, "xyz"[d]),
                             where);
      WAVEGATE_CHECK(check_word(dispatch.computed_grid->workgroups[d], format("grid in {}", "xyz"[d]),
                                "a number of workgroups is a uint32", defined, where));
    }
    return {};
  }

  Result<void> check_binding(const Operand& operand, const kir::BindingInfo& binding, const DefinedValues& defined,
                             const std::string& where) const {
    const auto mismatch = [&](std::string_view given) {
      return invalid_input(
          format("binding \"{}\" is a {} of {}, not {}", binding.name,
                 binding.kind == kir::BindingKind::buffer ? "buffer" : "scalar", kir::to_string(binding.type), given),
          where);
    };
    if (const auto* buffer = std::get_if<Buffer>(&operand)) {
      WAVEGATE_CHECK(known(*buffer, where));
      if (binding.kind != kir::BindingKind::buffer) return mismatch("a buffer");
      if (program_.info(*buffer).element != binding.type)
        return mismatch(format("of {}", kir::to_string(program_.info(*buffer).element)));
      return kir::reads(binding.access) ? read(*buffer, defined, where) : Result<void>();
    }
    if (const auto* scalar = std::get_if<Scalar>(&operand)) {
      WAVEGATE_CHECK(known(*scalar, where));
      if (binding.kind != kir::BindingKind::scalar) return mismatch("a scalar");
      if (kernel_type(program_.info(*scalar).type) != binding.type)
        return mismatch(to_string(program_.info(*scalar).type));
      if (kir::writes(binding.access)) WAVEGATE_CHECK(write(*scalar, where));
      return kir::reads(binding.access) ? read(*scalar, defined, where) : Result<void>();
    }
    return mismatch("a number or a matrix");
  }

  Result<void> check_parameter(const std::variant<Literal, Scalar>& argument, const kir::ParameterInfo& parameter,
                               const DefinedValues& defined, const std::string& where) const {
    const bool fits_word = parameter.type == kir::Type::i32 || parameter.type == kir::Type::f32;
    if (const auto* scalar = std::get_if<Scalar>(&argument)) {
      WAVEGATE_CHECK(read(*scalar, defined, where));
      if (fits_word && kernel_type(program_.info(*scalar).type) == parameter.type) return {};
      return invalid_input(
          format("parameter \"{}\" is {}, but scalar \"{}\" is {}", parameter.name, kir::to_string(parameter.type),
                 program_.info(*scalar).name, to_string(program_.info(*scalar).type)),
          where);
    }
    if (!fits_word)
      return unsupported(format("parameter \"{}\" is {}; a program gives i32 and f32 parameters only", parameter.name,
                                kir::to_string(parameter.type)),
                         where);
    const Literal value = std::get<Literal>(argument);
    if (kernel_type(value.type) != parameter.type)
      return invalid_input(format("parameter \"{}\" is {}, not {}", parameter.name, kir::to_string(parameter.type),
                                  to_string(value.type)),
                           where);
    return {};
  }

  Result<void> inside(Buffer buffer, uint64_t offset, uint64_t count, const std::string& where) const {
    WAVEGATE_CHECK(known(buffer, where));
    const BufferInfo& info = program_.info(buffer);
    if (count == 0) return invalid_input("covers no elements", where);
    if (offset > info.count || count > info.count - offset)
      return invalid_input(format("elements {} to {} lie outside buffer \"{}\" of {} elements", offset, offset + count,
                                  info.name, info.count),
                           where);
    return {};
  }

  Result<void> check(const Copy& copy, DefinedValues& defined, uint32_t) {
    const std::string where = format("copy \"{}\"", copy.label);
    WAVEGATE_CHECK(inside(copy.source, copy.source_offset, copy.count, where));
    WAVEGATE_CHECK(inside(copy.destination, copy.destination_offset, copy.count, where));
    const BufferInfo& from = program_.info(copy.source);
    const BufferInfo& to = program_.info(copy.destination);
    if (from.element != to.element)
      return invalid_input(format("buffer \"{}\" holds {} and \"{}\" {}", from.name, kir::to_string(from.element),
                                  to.name, kir::to_string(to.element)),
                           where);
    if (copy.source == copy.destination && copy.source_offset < copy.destination_offset + copy.count &&
        copy.destination_offset < copy.source_offset + copy.count)
      return invalid_input("source and destination overlap", where);
    WAVEGATE_CHECK(word_aligned(copy.source, copy.source_offset, copy.count, where));
    WAVEGATE_CHECK(word_aligned(copy.destination, copy.destination_offset, copy.count, where));
    WAVEGATE_CHECK(read(copy.source, defined, where));
    if (copy.count == to.count) defined.add(copy.destination);
    return {};
  }

  /// Commands move whole words on every device; a copy that cannot be gated as a kernel is refused by name.
  Result<void> word_aligned(Buffer buffer, uint64_t offset, uint64_t count, const std::string& where) const {
    const uint64_t size = kir::byte_size(program_.info(buffer).element);
    if ((offset * size) % 4 == 0 && (count * size) % 4 == 0) return {};
    const BufferInfo& info = program_.info(buffer);
    return unsupported(
        format("elements {} to {} of buffer \"{}\" ({}) begin or end inside a word of 4 bytes, and commands move whole "
               "words; copy ranges whose offset and count are multiples of {}, or use a kernel",
               offset, offset + count, info.name, kir::to_string(info.element), 4 / size),
        where);
  }

  Result<void> check(const Fill& fill, DefinedValues& defined, uint32_t) {
    const std::string where = format("fill \"{}\"", fill.label);
    WAVEGATE_CHECK(inside(fill.destination, fill.offset, fill.count, where));
    const BufferInfo& info = program_.info(fill.destination);
    if (info.element != kernel_type(fill.value.type))
      return invalid_input(
          format("buffer \"{}\" holds {}, not {}", info.name, kir::to_string(info.element), to_string(fill.value.type)),
          where);
    if (fill.count == info.count) defined.add(fill.destination);
    return {};
  }

  Result<void> check(const Assign& assign, DefinedValues& defined, uint32_t) {
    WAVEGATE_CHECK(known(assign.destination, "assign"));
    const ScalarInfo& info = program_.info(assign.destination);
    const std::string where = format("assign \"{}\"", info.name);
    WAVEGATE_CHECK(write(assign.destination, where));
    auto type = type_of(program_, assign.value.root());
    if (!type) return Error{type.error().kind, type.error().message, where};
    if (!unify(*type, {info.type, false}) || unify(*type, {info.type, false})->type != info.type)
      return invalid_input(format("the value is {}, but the scalar is {}", to_string(type->type), to_string(info.type)),
                           where);
    WAVEGATE_CHECK(read_leaves(assign.value.root(), defined, where));
    defined.add(assign.destination);
    return {};
  }

  Result<void> read_leaves(const ScalarExpr::Node& node, const DefinedValues& defined, const std::string& where) const {
    if (node.op == ScalarOp::scalar) return read(node.scalar, defined, where);
    for (const auto& operand : node.operands)
      if (operand) WAVEGATE_CHECK(read_leaves(*operand, defined, where));
    return {};
  }

  Result<void> check(const Call& call, DefinedValues&, uint32_t) {
    return internal_error("a call is left in an expanded program", call.operation ? call.operation->name() : "call");
  }

  /// An expression that is read as a uint32. `what` names it, `rule` says what it has to be.
  Result<void> check_word(const ScalarExpr& expression, std::string_view what, std::string_view rule,
                          const DefinedValues& defined, const std::string& where) const {
    const ScalarExpr::Node& root = expression.root();
    const auto type = type_of(program_, root);
    if (!type) return Error{type.error().kind, type.error().message, where};
    if (type->type != ScalarType::uint32)
      return invalid_input(
          root.op == ScalarOp::scalar
              ? format("{} \"{}\" is {}; {}", what, program_.info(root.scalar).name, to_string(type->type), rule)
              : format("the {} is {}; {}", what, to_string(type->type), rule),
          where);
    return read_leaves(root, defined, where);
  }

  Result<void> predicate(const ScalarExpr& expression, const DefinedValues& defined, const std::string& where) const {
    return check_word(expression, "predicate", "a predicate is a uint32 that is zero for false", defined, where);
  }

  Result<void> check(const Record& record, DefinedValues& defined, uint32_t) {
    WAVEGATE_CHECK(known(record.value, "record"));
    const ScalarInfo& value = program_.info(record.value);
    const std::string where = format("record \"{}\"", value.name);
    WAVEGATE_CHECK(read(record.value, defined, where));
    WAVEGATE_CHECK(known(record.history, where));
    const BufferInfo& history = program_.info(record.history);
    if (history.element != kernel_type(value.type))
      return invalid_input(format("the value is {}, but history \"{}\" holds {}", to_string(value.type), history.name,
                                  kir::to_string(history.element)),
                           where);
    if (history.external)
      return invalid_input(
          format("history \"{}\" is external; record into a buffer of the program and copy it", history.name), where);
    WAVEGATE_CHECK(known(record.index, where));
    if (!program_.info(record.index).loop_index)
      return invalid_input(format("\"{}\" is no iteration index; give the iteration() of a loop that encloses it",
                                  program_.info(record.index).name),
                           where);
    return read(record.index, defined, where);
  }

  Result<void> check(const If& node, DefinedValues& defined, uint32_t depth) {
    WAVEGATE_CHECK(predicate(node.predicate, defined, format("if \"{}\"", node.label)));
    DefinedValues otherwise = defined;
    WAVEGATE_CHECK(body(node.then_body, defined, depth + 1));
    WAVEGATE_CHECK(body(node.else_body, otherwise, depth + 1));
    defined.meet(otherwise);
    return {};
  }

  Result<void> check(const Switch& node, DefinedValues& defined, uint32_t depth) {
    const std::string where = format("switch \"{}\"", node.label);
    WAVEGATE_CHECK(check_word(node.selector, "selector", "a switch chooses by a uint32", defined, where));
    std::set<uint32_t> values;
    DefinedValues after;
    for (const Case& one : node.cases) {
      if (!values.insert(one.value).second)
        return invalid_input(format("has two cases of {}; only one of them can run", one.value), where);
      DefinedValues inside = defined;
      WAVEGATE_CHECK(body(one.body, inside, depth + 1));
      after.meet(inside);
    }
    WAVEGATE_CHECK(body(node.default_body, defined, depth + 1));
    defined.meet(after);
    return {};
  }

  Result<void> check(const While& node, DefinedValues& defined, uint32_t depth) {
    const std::string where = format("while \"{}\"", node.label);
    if (node.bounds.max && *node.bounds.max < node.bounds.min)
      return invalid_input(format("min {} is greater than max {}", node.bounds.min, *node.bounds.max), where);
    // Read before the body, or only after the first iteration; and after the last one, however it ended, for the
    // report.
    const bool surely_runs = node.bounds.min > 0;
    if (!surely_runs) WAVEGATE_CHECK(predicate(node.predicate, defined, where));
    DefinedValues inside = defined;
    if (node.index) {
      WAVEGATE_CHECK(check_index(*node.index, defined, where));
      inside.add(*node.index);
    }
    loops_.push_back({node.label});
    WAVEGATE_CHECK(body(node.body, inside, depth + 1));
    inside.meet(loops_.back().next);
    inside.meet(loops_.back().exit);
    loops_.pop_back();
    if (!surely_runs) return {};
    if (node.index) inside.remove(*node.index);
    WAVEGATE_CHECK(predicate(node.predicate, inside, where));
    defined = std::move(inside);
    return {};
  }

  Result<void> check_index(Scalar index, const DefinedValues& defined, const std::string& where) const {
    WAVEGATE_CHECK(known(index, where));
    const ScalarInfo& info = program_.info(index);
    if (!info.loop_index || info.type != ScalarType::uint32)
      return invalid_input(format("\"{}\" is no iteration index; iteration() makes one", info.name), where);
    if (defined.reachable() && defined.has(index))
      return invalid_input(format("\"{}\" is the iteration index of an enclosing loop; each has its own", info.name),
                           where);
    return {};
  }

  Result<void> check(const Break&, DefinedValues& defined, uint32_t) {
    if (loops_.empty()) return invalid_input("break_ stands outside of every loop; only a loop can be ended");
    loops_.back().exit.meet(defined);
    defined.leave();
    return {};
  }

  Result<void> check(const Continue&, DefinedValues& defined, uint32_t) {
    if (loops_.empty()) return invalid_input("continue_ stands outside of every loop; only an iteration can be ended");
    loops_.back().next.meet(defined);
    defined.leave();
    return {};
  }

  const Program& program_;
  std::vector<OpenLoop> loops_;  ///< innermost last
  /// By whether it is a scalar, and handle: a dispatch that writes the value unless its grid is zero.
  std::map<std::pair<bool, uint32_t>, std::string> unsure_writes_;
};

}  // namespace

Result<void> verify(const Program& program) {
  if (program.mistake()) return *program.mistake();
  return Verifier(program).run();
}

}  // namespace wavegate::program
