#include "wavegate/kir/op.h"

#include <array>

namespace wavegate::kir {
namespace {

using S = Shape;
using E = Effect;

// clang-format off
constexpr std::array<OpInfo, kOpCount> kTable = {{
    {Op::constant, "constant", 0, S::any, {}, E::pure},
    {Op::builtin, "builtin", 0, S::i32, {}, E::pure},
    {Op::parameter, "parameter", 0, S::any, {}, E::pure},
    {Op::select, "select", 3, S::any, {S::boolean, S::same, S::same}, E::pure},

    {Op::add, "add", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::sub, "sub", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::mul, "mul", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::mul_high_u, "mul_high_u", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::mul_high_s, "mul_high_s", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::div_u, "div_u", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::div_s, "div_s", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::rem_u, "rem_u", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::rem_s, "rem_s", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::min_u, "min_u", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::min_s, "min_s", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::max_u, "max_u", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::max_s, "max_s", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::and_, "and", 2, S::any, {S::same, S::same}, E::pure},
    {Op::or_, "or", 2, S::any, {S::same, S::same}, E::pure},
    {Op::xor_, "xor", 2, S::any, {S::same, S::same}, E::pure},
    {Op::not_, "not", 1, S::any, {S::same}, E::pure},
    {Op::shift_left, "shift_left", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::shift_right_u, "shift_right_u", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::shift_right_s, "shift_right_s", 2, S::integer, {S::same, S::same}, E::pure},
    {Op::count_bits, "count_bits", 1, S::integer, {S::same}, E::pure},
    {Op::count_leading_zeros, "count_leading_zeros", 1, S::integer, {S::same}, E::pure},
    {Op::count_trailing_zeros, "count_trailing_zeros", 1, S::integer, {S::same}, E::pure},
    {Op::reverse_bits, "reverse_bits", 1, S::integer, {S::same}, E::pure},

    {Op::add_f, "add_f", 2, S::real, {S::same, S::same}, E::pure},
    {Op::sub_f, "sub_f", 2, S::real, {S::same, S::same}, E::pure},
    {Op::mul_f, "mul_f", 2, S::real, {S::same, S::same}, E::pure},
    {Op::div_f, "div_f", 2, S::real, {S::same, S::same}, E::pure},
    {Op::fma, "fma", 3, S::real, {S::same, S::same, S::same}, E::pure},
    {Op::neg_f, "neg_f", 1, S::real, {S::same}, E::pure},
    {Op::abs_f, "abs_f", 1, S::real, {S::same}, E::pure},
    {Op::min_f, "min_f", 2, S::real, {S::same, S::same}, E::pure},
    {Op::max_f, "max_f", 2, S::real, {S::same, S::same}, E::pure},
    {Op::sqrt, "sqrt", 1, S::real, {S::same}, E::pure},
    {Op::floor, "floor", 1, S::real, {S::same}, E::pure},
    {Op::ceil, "ceil", 1, S::real, {S::same}, E::pure},
    {Op::trunc, "trunc", 1, S::real, {S::same}, E::pure},
    {Op::round_even, "round_even", 1, S::real, {S::same}, E::pure},
    {Op::exp2, "exp2", 1, S::real, {S::same}, E::pure},
    {Op::log2, "log2", 1, S::real, {S::same}, E::pure},
    {Op::sin, "sin", 1, S::real, {S::same}, E::pure},
    {Op::cos, "cos", 1, S::real, {S::same}, E::pure},

    {Op::equal, "equal", 2, S::boolean, {S::any, S::any}, E::pure},
    {Op::not_equal, "not_equal", 2, S::boolean, {S::any, S::any}, E::pure},
    {Op::less_u, "less_u", 2, S::boolean, {S::integer, S::integer}, E::pure},
    {Op::less_s, "less_s", 2, S::boolean, {S::integer, S::integer}, E::pure},
    {Op::less_equal_u, "less_equal_u", 2, S::boolean, {S::integer, S::integer}, E::pure},
    {Op::less_equal_s, "less_equal_s", 2, S::boolean, {S::integer, S::integer}, E::pure},
    {Op::equal_f, "equal_f", 2, S::boolean, {S::real, S::real}, E::pure},
    {Op::not_equal_f, "not_equal_f", 2, S::boolean, {S::real, S::real}, E::pure},
    {Op::less_f, "less_f", 2, S::boolean, {S::real, S::real}, E::pure},
    {Op::less_equal_f, "less_equal_f", 2, S::boolean, {S::real, S::real}, E::pure},
    {Op::is_nan, "is_nan", 1, S::boolean, {S::real}, E::pure},

    {Op::bitcast, "bitcast", 1, S::any, {S::any}, E::pure},
    {Op::extend_u, "extend_u", 1, S::integer, {S::integer}, E::pure},
    {Op::extend_s, "extend_s", 1, S::integer, {S::integer}, E::pure},
    {Op::truncate, "truncate", 1, S::integer, {S::integer}, E::pure},
    {Op::convert_u_to_f, "convert_u_to_f", 1, S::real, {S::integer}, E::pure},
    {Op::convert_s_to_f, "convert_s_to_f", 1, S::real, {S::integer}, E::pure},
    {Op::convert_f_to_u, "convert_f_to_u", 1, S::integer, {S::real}, E::pure},
    {Op::convert_f_to_s, "convert_f_to_s", 1, S::integer, {S::real}, E::pure},
    {Op::convert_f, "convert_f", 1, S::real, {S::real}, E::pure},

    {Op::load, "load", 1, S::any, {S::integer}, E::read},
    {Op::store, "store", -1, S::none, {}, E::write},
    {Op::array_length, "array_length", 0, S::i32, {}, E::pure},
    {Op::load_scalar, "load_scalar", 0, S::any, {}, E::read},
    {Op::store_scalar, "store_scalar", 1, S::none, {S::any}, E::write},
    {Op::atomic_add, "atomic_add", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_and, "atomic_and", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_or, "atomic_or", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_xor, "atomic_xor", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_min_u, "atomic_min_u", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_min_s, "atomic_min_s", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_max_u, "atomic_max_u", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_max_s, "atomic_max_s", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_exchange, "atomic_exchange", 2, S::integer, {S::integer, S::same}, E::write},
    {Op::atomic_compare_exchange, "atomic_compare_exchange", 3, S::integer, {S::integer, S::same, S::same}, E::write},

    {Op::barrier, "barrier", 0, S::none, {}, E::convergent},
    {Op::fence, "fence", 0, S::none, {}, E::write},
    {Op::assume_uniform, "assume_uniform", 1, S::any, {S::same}, E::convergent},
    {Op::subgroup_any, "subgroup_any", 1, S::boolean, {S::boolean}, E::convergent},
    {Op::subgroup_all, "subgroup_all", 1, S::boolean, {S::boolean}, E::convergent},
    {Op::subgroup_ballot, "subgroup_ballot", 1, S::i32, {S::boolean}, E::convergent},
    {Op::subgroup_broadcast_first, "subgroup_broadcast_first", 1, S::any, {S::same}, E::convergent},
    {Op::subgroup_shuffle, "subgroup_shuffle", 2, S::any, {S::same, S::i32}, E::convergent},
    {Op::subgroup_shuffle_xor, "subgroup_shuffle_xor", 2, S::any, {S::same, S::i32}, E::convergent},
    {Op::subgroup_add, "subgroup_add", 1, S::integer, {S::same}, E::convergent},
    {Op::subgroup_add_f, "subgroup_add_f", 1, S::real, {S::same}, E::convergent},
    {Op::subgroup_min_u, "subgroup_min_u", 1, S::integer, {S::same}, E::convergent},
    {Op::subgroup_max_u, "subgroup_max_u", 1, S::integer, {S::same}, E::convergent},
    {Op::subgroup_exclusive_add, "subgroup_exclusive_add", 1, S::integer, {S::same}, E::convergent},

    {Op::if_, "if", 1, S::none, {S::boolean}, E::control},
    {Op::switch_, "switch", 1, S::none, {S::i32}, E::control},
    {Op::loop, "loop", -1, S::none, {}, E::control},
    {Op::yield, "yield", -1, S::none, {}, E::control},
    {Op::continue_, "continue", -1, S::none, {}, E::control},
    {Op::break_, "break", -1, S::none, {}, E::control},
    {Op::return_, "return", 0, S::none, {}, E::control},
}};
// clang-format on

constexpr bool table_is_in_order() {
  for (int i = 0; i < kOpCount; ++i)
    if (kTable[static_cast<size_t>(i)].op != static_cast<Op>(i)) return false;
  return true;
}
static_assert(table_is_in_order(), "a row of the operation table stands in the wrong place");

constexpr std::array<std::string_view, kBuiltinCount> kBuiltins = {
    "global_id", "local_id", "workgroup_id", "grid", "local_index", "subgroup_lane", "subgroup_size"};
constexpr std::array<std::string_view, 4> kScopes = {"invocation", "subgroup", "workgroup", "device"};
constexpr std::array<std::string_view, 4> kOrders = {"relaxed", "acquire", "release", "acquire_release"};

template <typename Enum, size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

const OpInfo& info(Op op) {
  return kTable[static_cast<uint8_t>(op)];
}

std::optional<Op> parse_op(std::string_view name) {
  for (const OpInfo& row : kTable)
    if (row.name == name) return row.op;
  return std::nullopt;
}

std::string_view to_string(Builtin builtin) {
  return kBuiltins[static_cast<uint8_t>(builtin)];
}
std::optional<Builtin> parse_builtin(std::string_view name) {
  return find_name<Builtin>(kBuiltins, name);
}
std::string_view to_string(Scope scope) {
  return kScopes[static_cast<uint8_t>(scope)];
}
std::optional<Scope> parse_scope(std::string_view name) {
  return find_name<Scope>(kScopes, name);
}
std::string_view to_string(Order order) {
  return kOrders[static_cast<uint8_t>(order)];
}
std::optional<Order> parse_order(std::string_view name) {
  return find_name<Order>(kOrders, name);
}

}  // namespace wavegate::kir
