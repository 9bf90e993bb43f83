#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wavegate::kir {

/// Every operation of the kernel IR. Suffixes say how bits are read: `_u` unsigned, `_s` two's complement,
/// `_f` float. The table in op.cpp holds what the verifier and the passes need to know of each.
///
/// Results are total, so that every device agrees: division by zero gives the dividend and remainder zero,
/// the smallest integer divided by -1 gives itself; shift amounts are taken modulo the width; float to
/// integer saturates and maps NaN to zero. Floats are never contracted. An access outside a memory is an
/// error of the program: the reference device reports it, others may return anything but do no harm.
// clang-format off
enum class Op : uint8_t {
  // values
  constant,   ///< bits in Instruction::bits
  builtin,    ///< which one in Instruction::builtin
  parameter,  ///< index in Instruction::index
  select,     ///< (bool, T, T) -> T; both sides are evaluated

  // integers (add ... not also: and/or/xor/not on bool)
  add, sub, mul, mul_high_u, mul_high_s,
  div_u, div_s, rem_u, rem_s,
  min_u, min_s, max_u, max_s,
  and_, or_, xor_, not_,
  shift_left, shift_right_u, shift_right_s,  ///< the amount has the type of the value
  count_bits, count_leading_zeros, count_trailing_zeros, reverse_bits,  ///< of zero: the width

  // floats
  add_f, sub_f, mul_f, div_f, fma, neg_f, abs_f,
  min_f, max_f,  ///< if one side is NaN, the other side
  sqrt, floor, ceil, trunc, round_even,
  exp2, log2, sin, cos,  ///< approximate: the device's precision, and outside the identical-bytes promise

  // comparisons -> bool
  equal, not_equal, less_u, less_s, less_equal_u, less_equal_s,  ///< equal, not_equal also on bool
  equal_f, not_equal_f, less_f, less_equal_f,                    ///< NaN: only not_equal_f is true
  is_nan,

  // conversions to Instruction::type
  bitcast,         ///< between types of equal width, not bool
  extend_u, extend_s, truncate,            ///< integers
  convert_u_to_f, convert_s_to_f, convert_f_to_u, convert_f_to_s,
  convert_f,       ///< float to float

  // memory; Instruction::memory says which
  load,          ///< (index i32) -> 1 to 4 consecutive elements; with memory == kPointer: (address i64)
  store,         ///< (index i32, 1 to 4 values); with kPointer: (address i64, values)
  array_length,  ///< () -> i32, elements of a buffer
  load_scalar,   ///< () -> i32 or f32; Instruction::index is the binding
  store_scalar,  ///< (value)
  atomic_add, atomic_and, atomic_or, atomic_xor,
  atomic_min_u, atomic_min_s, atomic_max_u, atomic_max_s,
  atomic_exchange,          ///< (index, value) -> old value; order and scope in the instruction
  atomic_compare_exchange,  ///< (index, expected, desired) -> old value

  // convergent operations: control flow must be uniform in the operation's scope
  barrier,  ///< execution and memory; scope workgroup or subgroup
  fence,    ///< memory only, scope and order; needs no convergence
  assume_uniform,             ///< T -> T, a claim: equal in every active invocation of the scope
  subgroup_any, subgroup_all,  ///< bool -> bool
  subgroup_ballot,            ///< bool -> four i32, bit k of word j is lane 32j+k
  subgroup_broadcast_first,   ///< T -> T
  subgroup_shuffle,           ///< (T, lane i32) -> T; undefined if the lane is inactive
  subgroup_shuffle_xor,       ///< (T, mask i32) -> T
  subgroup_add, subgroup_add_f, subgroup_min_u, subgroup_max_u,  ///< T -> T; add_f in no promised order
  subgroup_exclusive_add,     ///< integer T -> T

  // structured control flow
  if_,      ///< (bool), blocks: then, else
  switch_,  ///< (i32), blocks: one a case in Instruction::cases, then the default
  loop,     ///< (initial values), one block whose parameters are the loop-carried values

  // terminators: the last instruction of every block and only there
  yield,      ///< (values) ends an if_ or switch_ block: the results of the construct
  continue_,  ///< (values) ends a block inside a loop: the next loop-carried values
  break_,     ///< (values) ends a block inside a loop: the results of the loop
  return_,    ///< ends the invocation
};
// clang-format on
inline constexpr int kOpCount = static_cast<int>(Op::return_) + 1;

/// Which values an operand or a result may be.
enum class Shape : uint8_t {
  none,
  same,  ///< the instruction's type
  boolean,
  i32,
  integer,  ///< any integer type
  real,     ///< any float type
  any,      ///< any type
};

/// What the passes may assume.
enum class Effect : uint8_t {
  pure,        ///< same operands, same result; may be removed, merged and moved
  read,        ///< reads memory; may be removed
  write,       ///< changes memory
  convergent,  ///< depends on which invocations run it
  control,     ///< holds blocks or ends one
};

/// One row of the operation table.
struct OpInfo {
  Op op;
  std::string_view name;  ///< as in the text form
  int8_t operand_count;   ///< -1: varies, checked by the verifier's own rule
  Shape type;             ///< class of Instruction::type, the type of the first result
  Shape operands[3];      ///< class of each operand; `same` is Instruction::type
  Effect effect;
};

const OpInfo& info(Op op);
std::optional<Op> parse_op(std::string_view name);

constexpr bool is_terminator(Op op) {
  return op >= Op::yield;
}
constexpr bool is_atomic(Op op) {
  return op >= Op::atomic_add && op <= Op::atomic_compare_exchange;
}

/// Whether Instruction::memory says what the operation is about.
constexpr bool accesses_memory(Op op) {
  return op == Op::load || op == Op::store || op == Op::array_length || is_atomic(op);
}

/// Values that the launch gives to an invocation. The three-dimensional ones take Instruction::index = 0, 1, 2.
enum class Builtin : uint8_t {
  global_id,  ///< workgroup_id * workgroup size + local_id
  local_id,
  workgroup_id,
  grid,           ///< workgroups in the dispatch
  local_index,    ///< linear local id, x fastest
  subgroup_lane,  ///< index within the host subgroup
  subgroup_size,
};
inline constexpr int kBuiltinCount = static_cast<int>(Builtin::subgroup_size) + 1;

constexpr bool has_dimension(Builtin builtin) {
  return builtin <= Builtin::grid;
}
std::string_view to_string(Builtin builtin);
std::optional<Builtin> parse_builtin(std::string_view name);

/// Which invocations an effect or a claim is about.
enum class Scope : uint8_t { invocation, subgroup, workgroup, device };
std::string_view to_string(Scope scope);
std::optional<Scope> parse_scope(std::string_view name);

enum class Order : uint8_t { relaxed, acquire, release, acquire_release };
std::string_view to_string(Order order);
std::optional<Order> parse_order(std::string_view name);

}  // namespace wavegate::kir
