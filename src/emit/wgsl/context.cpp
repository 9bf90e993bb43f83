#include "wavegate/emit/wgsl/context.h"

#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/literal.h"

namespace wavegate::emit::wgsl {
namespace {

constexpr std::array<BuiltinName, kir::kBuiltinCount> kBuiltins = {{
    {kir::Builtin::global_id, "global_id", "global_invocation_id"},
    {kir::Builtin::local_id, "local_id", "local_invocation_id"},
    {kir::Builtin::workgroup_id, "workgroup_id", "workgroup_id"},
    {kir::Builtin::grid, "grid", "num_workgroups"},
    {kir::Builtin::local_index, "local_index", "local_invocation_index"},
    {kir::Builtin::subgroup_lane, "subgroup_lane", "subgroup_invocation_id"},
    {kir::Builtin::subgroup_size, "subgroup_size", "subgroup_size"},
}};

constexpr bool table_is_in_order() {
  for (size_t i = 0; i < kBuiltins.size(); ++i)
    if (kBuiltins[i].builtin != static_cast<kir::Builtin>(i)) return false;
  return true;
}
static_assert(table_is_in_order());

}  // namespace

void Context::define(kir::Value value, std::string_view expression) {
  body.line(format("let {} = {};", name(value), expression));
  alias(value, name(value));
}

void Context::declare(kir::Value value, std::string_view initial) {
  const std::string_view type = type_name(type_of(value));
  body.line(initial.empty() ? format("var {}: {};", name(value), type)
                            : format("var {}: {} = {};", name(value), type, initial));
  alias(value, name(value));
}

void Context::define_constant(kir::Value value, uint64_t bits) {
  known[value.id] = bits;
  const kir::Type type = type_of(value);
  if (auto text = literal(type, bits)) return alias(value, *std::move(text));
  define(value, unknown_float(type, bits));
}

std::string Context::unknown_float(kir::Type type, uint64_t bits) {
  static_cast<void>(builtin(kir::Builtin::grid));
  uses_zero_bits = true;
  const std::string word = bits == 0 ? std::string(kZeroBits) : format("{:#x}u | {}", bits, kZeroBits);
  return type == kir::Type::f16 ? format("f16(unpack2x16float({}).x)", word) : format("bitcast<f32>({})", word);
}

std::string Context::runtime_value(kir::Value operand, kir::Value result, char letter) {
  if (!bits(operand)) return value(operand);
  std::string named = format("{}_{}", name(result), letter);
  body.line(format("let {} = {};", named, value(operand)));
  return named;
}

std::string_view Context::builtin(kir::Builtin builtin) {
  builtins[static_cast<size_t>(builtin)] = true;
  return name_of(builtin).name;
}

const BuiltinName& name_of(kir::Builtin builtin) {
  return kBuiltins[static_cast<size_t>(builtin)];
}

}  // namespace wavegate::emit::wgsl
