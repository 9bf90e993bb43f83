#include "wavegate/io/program_arguments.h"

#include <cstddef>
#include <variant>
#include <vector>

#include "wavegate/io/json_number.h"
#include "wavegate/program/expression_type.h"

namespace wavegate::io {

using program::Buffer;
using program::Literal;
using program::Operand;
using program::Scalar;
using program::ScalarExpr;

Result<Buffer> ArgumentReader::buffer(const JsonView& view) const {
  WAVEGATE_TRY(const auto value, look_up(view, names_.values, "buffer"));
  if (const auto* handle = std::get_if<Buffer>(&value->second)) return *handle;
  return view.error(format("expected a buffer; {}", described(value->first, value->second)));
}

Result<Scalar> ArgumentReader::scalar(const JsonView& view) const {
  WAVEGATE_TRY(const auto value, look_up(view, names_.values, "scalar"));
  if (const auto* handle = std::get_if<Scalar>(&value->second)) return *handle;
  return view.error(format("expected a scalar; {}", described(value->first, value->second)));
}

Result<Scalar> ArgumentReader::written_scalar(const JsonView& view) const {
  WAVEGATE_TRY(const Scalar handle, scalar(view));
  const program::ScalarInfo& info = program_.info(handle);
  if (!info.parameter && !info.loop_index) return handle;
  return view.error(format("{} is {}; copy it to a scalar first", quote(*view.value().as<std::string>()),
                           info.parameter ? "a launch parameter, which only the host sets"
                                          : "the iteration index of a loop, which only the loop sets"));
}

Result<Literal> ArgumentReader::literal(const JsonView& view, kir::Type type) const {
  if (type != kir::Type::i32 && type != kir::Type::f32)
    return unsupported(format("numbers are given to i32 and f32 only, not to {}", kir::to_string(type)), view.path());
  const auto bits = element_bits(view.value(), type);
  if (!bits) return view.error(bits.error());
  const auto word = static_cast<std::uint32_t>(*bits);
  return Literal{type == kir::Type::f32 ? program::ScalarType::float32 : program::ScalarType::uint32, word};
}

Result<ScalarExpr> ArgumentReader::expression(const JsonView& view) const {
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

Result<ScalarExpr> ArgumentReader::word(const JsonView& view, std::string_view what, std::string_view rule) const {
  WAVEGATE_TRY(ScalarExpr tree, expression(view));
  const auto type = program::type_of(program_, tree.root());
  if (!type) return view.error(type.error());
  if (type->type == program::ScalarType::uint32) return tree;
  const auto* name = view.value().as<std::string>();
  return view.error(format("{} is {}; {}", name ? format("{} {}", what, quote(*name)) : format("the {}", what),
                           program::to_string(type->type), rule));
}

std::string ArgumentReader::described(std::string_view name, const Operand& operand) const {
  if (const auto* handle = std::get_if<Buffer>(&operand))
    return format("\"{}\" is a buffer of {}", name, kir::to_string(program_.info(*handle).element));
  if (const auto* handle = std::get_if<Scalar>(&operand))
    return format("\"{}\" is a scalar of {}", name, program::to_string(program_.info(*handle).type));
  return format("\"{}\" is a matrix of the buffers \"{}.row_offsets\", \"{}.column_indices\" and \"{}.values\"", name,
                name, name, name);
}

}  // namespace wavegate::io
