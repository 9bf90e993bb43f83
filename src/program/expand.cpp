#include "wavegate/program/expand.h"

#include <algorithm>
#include <iterator>

#include "wavegate/base/format.h"
#include "wavegate/program/operation.h"

namespace wavegate::program {
namespace {

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

class Expander {
 public:
  Expander(Program& program, const target::Profile& profile) : program_(program), profile_(profile) {}

  /// `depth` constructs of control flow and `calls` operations enclose the commands.
  Result<Body> body(const Body& nodes, uint32_t depth, uint32_t calls) {
    if (depth > kMaximumNesting)
      return invalid_input(format("control flow nests deeper than {} levels", kMaximumNesting));
    Body expanded;
    for (const Node& node : nodes) {
      if (const auto* call = std::get_if<Call>(&node.what)) {
        WAVEGATE_TRY(Body inner, commands_of(*call, depth, calls));
        std::ranges::move(inner, std::back_inserter(expanded));
      } else if (const auto* branch = std::get_if<If>(&node.what)) {
        If copy{branch->label, branch->predicate, {}, {}};
        WAVEGATE_TRY(copy.then_body, body(branch->then_body, depth + 1, calls));
        WAVEGATE_TRY(copy.else_body, body(branch->else_body, depth + 1, calls));
        expanded.push_back({std::move(copy)});
      } else if (const auto* choice = std::get_if<Switch>(&node.what)) {
        Switch copy{choice->label, choice->selector, {}, {}};
        for (const Case& one : choice->cases) {
          WAVEGATE_TRY(Body inner, body(one.body, depth + 1, calls));
          copy.cases.push_back({one.value, std::move(inner)});
        }
        WAVEGATE_TRY(copy.default_body, body(choice->default_body, depth + 1, calls));
        expanded.push_back({std::move(copy)});
      } else if (const auto* loop = std::get_if<While>(&node.what)) {
        While copy{loop->label, loop->loop, loop->predicate, loop->bounds, {}, loop->index};
        WAVEGATE_TRY(copy.body, body(loop->body, depth + 1, calls));
        expanded.push_back({std::move(copy)});
      } else {
        expanded.push_back(node);
      }
    }
    return expanded;
  }

 private:
  Result<Body> commands_of(const Call& call, uint32_t depth, uint32_t calls) {
    if (call.operation == nullptr) return invalid_input("a call names no operation");
    if (calls == kMaximumExpansion)
      return invalid_input(format("is made of operations nested deeper than {}", kMaximumExpansion),
                           call.operation->name());
    WAVEGATE_CHECK(check_operands(program_, call));
    WAVEGATE_CHECK(call.operation->check(program_, call.operands));
    Result<void> status;
    const Body made = program_.collect([&] { status = call.operation->expand(program_, call.operands, profile_); });
    WAVEGATE_CHECK(status);
    return body(made, depth, calls + 1);
  }

  Program& program_;
  const target::Profile& profile_;
};

}  // namespace

Result<Program> expand(const Program& program, const target::Profile& profile) {
  if (program.mistake()) return *program.mistake();
  Program expanded = program;
  WAVEGATE_TRY(Body body, Expander(expanded, profile).body(program.body(), 0, 0));
  if (expanded.mistake()) return *expanded.mistake();
  expanded.set_body(std::move(body));
  return expanded;
}

}  // namespace wavegate::program
