#pragma once

#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

/// Writes a pure operation on values (select, integers, floats, comparisons, conversions) and gives its result.
/// Results are total, as kir/op.h says; guards are left out where a constant operand makes them idle.
Id emit_arithmetic(Context& context, const kir::Instruction& instruction);

// What has no single SPIR-V instruction of the same meaning.
namespace integers {
Id divide(Context& context, const kir::Instruction& instruction);     ///< div_u, div_s
Id remainder(Context& context, const kir::Instruction& instruction);  ///< rem_u, rem_s
Id shift(Context& context, const kir::Instruction& instruction);      ///< shift_left, shift_right_u, shift_right_s
Id multiply_high(Context& context, const kir::Instruction& instruction);
Id minimum_or_maximum(Context& context, const kir::Instruction& instruction);  ///< min_u, min_s, max_u, max_s
Id count_bits(Context& context, const kir::Instruction& instruction);
Id count_leading_zeros(Context& context, const kir::Instruction& instruction);
Id count_trailing_zeros(Context& context, const kir::Instruction& instruction);
Id reverse_bits(Context& context, const kir::Instruction& instruction);
Id resize(Context& context, const kir::Instruction& instruction);  ///< extend_u, extend_s, truncate
}  // namespace integers

namespace floats {
Id minimum_or_maximum(Context& context, const kir::Instruction& instruction);  ///< min_f, max_f
Id to_integer(Context& context, const kir::Instruction& instruction);          ///< convert_f_to_u, convert_f_to_s
Id from_integer(Context& context, const kir::Instruction& instruction);        ///< convert_u_to_f, convert_s_to_f
Id resize(Context& context, const kir::Instruction& instruction);              ///< convert_f
Id divide(Context& context, const kir::Instruction& instruction);
Id square_root(Context& context, const kir::Instruction& instruction);
Id truncate(Context& context, const kir::Instruction& instruction);
Id round_even(Context& context, const kir::Instruction& instruction);
Id bitcast(Context& context, const kir::Instruction& instruction);
}  // namespace floats

}  // namespace wavegate::emit::spirv
