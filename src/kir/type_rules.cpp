#include "wavegate/kir/type_rules.h"

#include <array>

#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

bool is_any(Type type) {
  return type != Type::none;
}
bool is_boolean(Type type) {
  return type == Type::boolean;
}
bool is_i32(Type type) {
  return type == Type::i32;
}

struct ShapeRule {
  bool (*admits)(Type);
  std::string_view name;
};

/// By Shape. `none` and `same` are not classes of types and admit all.
constexpr std::array<ShapeRule, 7> kShapes = {{
    {[](Type) { return true; }, "nothing"},
    {[](Type) { return true; }, "the type of the operation"},
    {is_boolean, "bool"},
    {is_i32, "i32"},
    {is_integer, "an integer"},
    {is_float, "a float"},
    {is_any, "a value"},
}};

const ShapeRule& rule(Shape shape) {
  return kShapes[static_cast<size_t>(shape)];
}

/// What a row of the operation table cannot say. `from` is the type of the last operand.
struct PairRule {
  Op first;
  Op last;
  bool (*admits)(Type type, Type from);
  std::string_view rule;
};

constexpr PairRule kPairs[] = {
    {Op::and_, Op::not_, [](Type type, Type) { return !is_float(type); }, "an integer or bool"},
    {Op::equal, Op::not_equal, [](Type, Type from) { return !is_float(from); },
     "integers or bools; equal_f and not_equal_f compare floats"},
    {Op::bitcast, Op::bitcast,
     [](Type type, Type from) { return bit_width(type) == bit_width(from) && type != Type::boolean; },
     "two types of equal width, not bool"},
    {Op::extend_u, Op::extend_s, [](Type type, Type from) { return bit_width(type) > bit_width(from); },
     "a result wider than its operand"},
    {Op::truncate, Op::truncate, [](Type type, Type from) { return bit_width(type) < bit_width(from); },
     "a result narrower than its operand"},
    {Op::convert_f, Op::convert_f, [](Type type, Type from) { return type != from; }, "two different floats"},
};

}  // namespace

std::optional<std::string> type_mismatch(Op op, Type type, std::span<const Type> operands) {
  const OpInfo& row = info(op);
  if (row.operand_count >= 0 && operands.size() != static_cast<size_t>(row.operand_count))
    return format("{} takes {} operands, not {}", row.name, row.operand_count, operands.size());
  if (!rule(row.type).admits(type))
    return format("{} gives {}, not {}", row.name, rule(row.type).name, to_string(type));
  if (row.operand_count < 0) return std::nullopt;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape shape = row.operands[i];
    if (shape == Shape::same && operands[i] != type)
      return format("{} of {} has operand {} of {}; convert one of them", row.name, to_string(type), i + 1,
                    to_string(operands[i]));
    if (!rule(shape).admits(operands[i]))
      return format("{} takes {} as operand {}, not {}", row.name, rule(shape).name, i + 1, to_string(operands[i]));
  }
  if (op >= Op::equal && op <= Op::less_equal_f && operands[0] != operands[1])
    return format("{} compares {} with {}; convert one of them", row.name, to_string(operands[0]),
                  to_string(operands[1]));
  for (const PairRule& pair : kPairs)
    if (op >= pair.first && op <= pair.last && !pair.admits(type, operands.back()))
      return format("{} takes {}, not {} from {}", row.name, pair.rule, to_string(type), to_string(operands.back()));
  return std::nullopt;
}

}  // namespace wavegate::kir
