#include "wavegate/program/verify.h"

#include <algorithm>
#include <set>

#include "wavegate/base/format.h"
#include "wavegate/program/expression_type.h"
#include "wavegate/program/operation.h"

namespace wavegate::program {
namespace {

/// Which values are known to hold something, by handle.
struct Defined {
  std::vector<bool> buffers, scalars;

  void meet(const Defined& other) {
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i] = buffers[i] && other.buffers[i];
    for (size_t i = 0; i < scalars.size(); ++i) scalars[i] = scalars[i] && other.scalars[i];
  }
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
    Defined defined;
    for (const BufferInfo& buffer : program_.buffers()) {
      WAVEGATE_CHECK(unique(buffer.name));
      defined.buffers.push_back(buffer.initial.has_value() || buffer.external);
    }
    for (const ScalarInfo& scalar : program_.scalars()) {
      WAVEGATE_CHECK(unique(scalar.name));
      defined.scalars.push_back(scalar.initial.has_value());
    }
    WAVEGATE_CHECK(body(program_.body(), defined, 0));
    for (uint32_t id = 0; id < program_.buffers().size(); ++id)
      if (program_.buffers()[id].output && !defined.buffers[id])
        return invalid_input(
            format("buffer \"{}\" is an output, but it has no initial value and nothing that surely "
                   "runs writes all of it; give it an initial value",
                   program_.buffers()[id].name));
    return {};
  }

 private:
  // Deep enough for any hand-written program, shallow enough for any stack.
  static constexpr uint32_t kMaximumDepth = 64;

  Result<void> body(const Body& nodes, Defined& defined, uint32_t depth) {
    if (depth > kMaximumDepth) return invalid_input(format("control flow nests deeper than {} levels", kMaximumDepth));
    for (const Node& node : nodes)
      WAVEGATE_CHECK(std::visit([&](const auto& what) { return check(what, defined, depth); }, node.what));
    return {};
  }

  Result<void> known(Buffer buffer, std::string_view where) const {
    if (buffer.id < program_.buffers().size()) return {};
    return invalid_input("names a buffer of another program", std::string(where));
  }
  Result<void> known(Scalar scalar, std::string_view where) const {
    if (scalar.id < program_.scalars().size()) return {};
    return invalid_input("names a scalar of another program", std::string(where));
  }

  Result<void> read(Buffer buffer, const Defined& defined, const std::string& where) const {
    WAVEGATE_CHECK(known(buffer, where));
    if (defined.buffers[buffer.id]) return {};
    return invalid_input(format("buffer \"{}\" is read here, but it has no initial value and nothing that surely runs "
                                "before writes all of it; give it an initial value or write it first",
                                program_.info(buffer).name),
                         where);
  }
  Result<void> read(Scalar scalar, const Defined& defined, const std::string& where) const {
    WAVEGATE_CHECK(known(scalar, where));
    if (defined.scalars[scalar.id]) return {};
    return invalid_input(format("scalar \"{}\" is read here, but it has no initial value and nothing that surely runs "
                                "before writes it; give it an initial value or write it first",
                                program_.info(scalar).name),
                         where);
  }
  Result<void> write(Scalar scalar, const std::string& where) const {
    WAVEGATE_CHECK(known(scalar, where));
    if (!program_.info(scalar).parameter) return {};
    return invalid_input(format("\"{}\" is a launch parameter, which only the host sets; copy it to a scalar first",
                                program_.info(scalar).name),
                         where);
  }

  Result<void> check(const Dispatch& dispatch, Defined& defined, uint32_t depth) {
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
    WAVEGATE_CHECK(check_grid(dispatch, interface, where, depth));
    for (size_t i = 0; i < interface.bindings.size(); ++i)
      WAVEGATE_CHECK(check_binding(dispatch.bindings[i], interface.bindings[i], defined, where));
    for (size_t i = 0; i < interface.parameters.size(); ++i)
      WAVEGATE_CHECK(check_parameter(dispatch.parameters[i], interface.parameters[i], defined, where));
    for (size_t i = 0; i < interface.bindings.size(); ++i) {
      if (!kir::writes(interface.bindings[i].access)) continue;
      if (const auto* buffer = std::get_if<Buffer>(&dispatch.bindings[i])) defined.buffers[buffer->id] = true;
      if (const auto* scalar = std::get_if<Scalar>(&dispatch.bindings[i])) defined.scalars[scalar->id] = true;
    }
    return {};
  }

  Result<void> check_grid(const Dispatch& dispatch, const kir::Interface& interface, const std::string& where,
                          uint32_t depth) const {
    if (!dispatch.grid) {
      return invalid_input(format("kernel \"{}\" has no exact grid; a dispatch {} needs one ({}), for example .grid = "
                                  "grid_for({{threads, 1, 1}}, workgroup_size)",
                                  interface.name, depth > 0 ? "under a predicate" : "anywhere",
                                  dispatch.maximum_workgroups ? "maximum_workgroups is an estimate, never geometry"
                                                              : "the launch is derived from it"),
                           where);
    }
    if (std::ranges::find(*dispatch.grid, 0u) != dispatch.grid->end())
      return invalid_input(format("kernel \"{}\" is given an empty grid", interface.name), where);
    return {};
  }

  Result<void> check_binding(const Operand& operand, const kir::BindingInfo& binding, const Defined& defined,
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
                               const Defined& defined, const std::string& where) const {
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

  Result<void> check(const Copy& copy, Defined& defined, uint32_t) {
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
    if (copy.count == to.count) defined.buffers[copy.destination.id] = true;
    return {};
  }

  /// Commands move whole words on every device; a copy that cannot be gated as a kernel is refused by name.
  Result<void> word_aligned(Buffer buffer, uint64_t offset, uint64_t count, const std::string& where) const {
    const uint64_t size = kir::byte_size(program_.info(buffer).element);
    if ((offset * size) % 4 == 0 && (count * size) % 4 == 0) return {};
    return unsupported(format("a range of buffer \"{}\" does not begin and end on 4 bytes, so it can be neither filled "
                              "nor gated",
                              program_.info(buffer).name),
                       where);
  }

  Result<void> check(const Fill& fill, Defined& defined, uint32_t) {
    const std::string where = format("fill \"{}\"", fill.label);
    WAVEGATE_CHECK(inside(fill.destination, fill.offset, fill.count, where));
    const BufferInfo& info = program_.info(fill.destination);
    if (info.element != kernel_type(fill.value.type))
      return invalid_input(
          format("buffer \"{}\" holds {}, not {}", info.name, kir::to_string(info.element), to_string(fill.value.type)),
          where);
    if (fill.count == info.count) defined.buffers[fill.destination.id] = true;
    return {};
  }

  Result<void> check(const Assign& assign, Defined& defined, uint32_t) {
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
    defined.scalars[assign.destination.id] = true;
    return {};
  }

  Result<void> read_leaves(const ScalarExpr::Node& node, const Defined& defined, const std::string& where) const {
    if (node.op == ScalarOp::scalar) return read(node.scalar, defined, where);
    for (const auto& operand : node.operands)
      if (operand) WAVEGATE_CHECK(read_leaves(*operand, defined, where));
    return {};
  }

  Result<void> check(const Call& call, Defined&, uint32_t) {
    return internal_error("a call is left in an expanded program", call.operation ? call.operation->name() : "call");
  }

  Result<void> predicate(Scalar scalar, const Defined& defined, const std::string& where) const {
    WAVEGATE_CHECK(read(scalar, defined, where));
    if (program_.info(scalar).type == ScalarType::uint32) return {};
    return invalid_input(format("predicate \"{}\" is {}; a predicate is a uint32 that is zero for false",
                                program_.info(scalar).name, to_string(program_.info(scalar).type)),
                         where);
  }

  Result<void> check(const If& node, Defined& defined, uint32_t depth) {
    WAVEGATE_CHECK(predicate(node.predicate, defined, format("if \"{}\"", node.label)));
    Defined otherwise = defined;
    WAVEGATE_CHECK(body(node.then_body, defined, depth + 1));
    WAVEGATE_CHECK(body(node.else_body, otherwise, depth + 1));
    defined.meet(otherwise);
    return {};
  }

  Result<void> check(const While& node, Defined& defined, uint32_t depth) {
    const std::string where = format("while \"{}\"", node.label);
    if (node.bounds.max && *node.bounds.max < node.bounds.min)
      return invalid_input(format("min {} is greater than max {}", node.bounds.min, *node.bounds.max), where);
    if (node.bounds.min > 0) {
      WAVEGATE_CHECK(body(node.body, defined, depth + 1));
      return predicate(node.predicate, defined, where);
    }
    WAVEGATE_CHECK(predicate(node.predicate, defined, where));
    Defined inside_body = defined;
    return body(node.body, inside_body, depth + 1);
  }

  const Program& program_;
};

/// A matrix is a plain value that a user can fill in by hand, so that its buffers are checked against its sizes.
Result<void> check_matrix(const Program& program, const CsrMatrix& matrix, const std::string& operand,
                          const std::string& where) {
  const uint64_t offsets = uint64_t{matrix.rows} + 1;
  const uint64_t entries = std::max(matrix.nonzeros, 1u);  // a buffer cannot be empty
  const struct {
    std::string_view name;
    Buffer buffer;
    kir::Type type;
    uint64_t least, most;
  } parts[] = {{"row_offsets", matrix.row_offsets, kir::Type::i32, offsets, offsets},
               {"column_indices", matrix.column_indices, kir::Type::i32, entries, UINT64_MAX},
               {"values", matrix.values, kir::Type::f32, entries, UINT64_MAX}};
  for (const auto& part : parts) {
    if (part.buffer.id >= program.buffers().size())
      return invalid_input(format("{} of matrix \"{}\" names a buffer of another program", part.name, operand), where);
    const BufferInfo& info = program.info(part.buffer);
    if (info.element == part.type && info.count >= part.least && info.count <= part.most) continue;
    return invalid_input(
        format("{} of matrix \"{}\", of {} rows and {} nonzeros, holds {} {} of {}, but buffer \"{}\" "
               "has {} of {}",
               part.name, operand, matrix.rows, matrix.nonzeros, part.least == part.most ? "exactly" : "at least",
               part.least, kir::to_string(part.type), info.name, info.count, kir::to_string(info.element)),
        where);
  }
  return {};
}

Result<void> check_operands(const Program& program, const Call& call) {
  const std::vector<OperandInfo>& formal = call.operation->operands();
  const std::string& where = call.operation->name();
  if (call.operands.size() != formal.size())
    return invalid_input(format("takes {} operands, not {}", formal.size(), call.operands.size()), where);
  for (size_t i = 0; i < formal.size(); ++i) {
    const Operand& given = call.operands[i];
    const auto mismatch = [&](std::string_view what) {
      return invalid_input(format("operand \"{}\" is a {} of {}, not {}", formal[i].name, to_string(formal[i].kind),
                                  kir::to_string(formal[i].type), what),
                           where);
    };
    if (const auto* buffer = std::get_if<Buffer>(&given)) {
      if (buffer->id >= program.buffers().size()) return invalid_input("names a buffer of another program", where);
      if (formal[i].kind != OperandKind::buffer || formal[i].type != program.info(*buffer).element)
        return mismatch(
            format("buffer \"{}\" of {}", program.info(*buffer).name, kir::to_string(program.info(*buffer).element)));
    } else if (const auto* scalar = std::get_if<Scalar>(&given)) {
      if (scalar->id >= program.scalars().size()) return invalid_input("names a scalar of another program", where);
      const bool kind_fits = formal[i].kind == OperandKind::scalar || formal[i].kind == OperandKind::number;
      if (!kind_fits || formal[i].type != kernel_type(program.info(*scalar).type))
        return mismatch(
            format("scalar \"{}\" of {}", program.info(*scalar).name, to_string(program.info(*scalar).type)));
    } else if (const auto* number = std::get_if<Literal>(&given)) {
      if (formal[i].kind != OperandKind::number || formal[i].type != kernel_type(number->type))
        return mismatch(format("a {} number", to_string(number->type)));
    } else if (const auto* matrix = std::get_if<CsrMatrix>(&given)) {
      if (formal[i].kind != OperandKind::matrix) return mismatch("a matrix");
      WAVEGATE_CHECK(check_matrix(program, *matrix, formal[i].name, where));
    }
  }
  return {};
}

/// Operations may be made of operations; one that is made of itself would never end.
constexpr uint32_t kMaximumExpansion = 16;

Result<Body> expand_body(Program& program, const Body& nodes, const target::Profile& profile, uint32_t calls) {
  Body expanded;
  for (const Node& node : nodes) {
    if (const auto* call = std::get_if<Call>(&node.what)) {
      if (call->operation == nullptr) return invalid_input("a call names no operation");
      if (calls == kMaximumExpansion)
        return invalid_input(format("is made of operations nested deeper than {}", kMaximumExpansion),
                             call->operation->name());
      WAVEGATE_CHECK(check_operands(program, *call));
      WAVEGATE_CHECK(call->operation->check(program, call->operands));
      Result<void> status;
      const Body made = program.collect([&] { status = call->operation->expand(program, call->operands, profile); });
      WAVEGATE_CHECK(status);
      WAVEGATE_TRY(Body inner, expand_body(program, made, profile, calls + 1));
      std::ranges::move(inner, std::back_inserter(expanded));
      continue;
    }
    Node copy = node;
    if (auto* branch = std::get_if<If>(&copy.what)) {
      WAVEGATE_TRY(branch->then_body, expand_body(program, branch->then_body, profile, calls));
      WAVEGATE_TRY(branch->else_body, expand_body(program, branch->else_body, profile, calls));
    } else if (auto* loop = std::get_if<While>(&copy.what)) {
      WAVEGATE_TRY(loop->body, expand_body(program, loop->body, profile, calls));
    }
    expanded.push_back(std::move(copy));
  }
  return expanded;
}

}  // namespace

Result<Program> expand(const Program& program, const target::Profile& profile) {
  if (program.mistake()) return *program.mistake();
  Program expanded = program;
  WAVEGATE_TRY(Body body, expand_body(expanded, program.body(), profile, 0));
  if (expanded.mistake()) return *expanded.mistake();
  expanded.set_body(std::move(body));
  return expanded;
}

Result<void> verify(const Program& program) {
  if (program.mistake()) return *program.mistake();
  return Verifier(program).run();
}

}  // namespace wavegate::program
