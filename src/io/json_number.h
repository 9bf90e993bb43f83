#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/io/json.h"
#include "wavegate/kir/type.h"
#include "wavegate/program/value.h"

namespace wavegate::io {

/// The bits of a number as an element of a buffer or a launch parameter. Integers are signless, so that i32 takes
/// -2147483648 to 4294967295; a number with a fraction or an exponent is none. Floats take every number, rounded to
/// the nearest; one that is finite but beyond the type's range is refused. Errors are fragments without a place.
Result<std::uint64_t> element_bits(const JsonValue& number, kir::Type type);

/// A number as a scalar of exactly this type.
Result<program::Literal> scalar_literal(const JsonValue& number, program::ScalarType type);

/// A number of an expression by its looks: uint32, sint32 if negative, float32 if it has a fraction or an exponent.
Result<program::Literal> weak_literal(const JsonValue& number);

/// A list of one to three whole numbers from 1 to 2^32 - 1; those that are left out are 1.
Result<std::array<std::uint32_t, 3>> three_sizes(const JsonView& list);

/// A number given as text, the whole of it: what parse_json would make of it, and a sign "+".
Result<JsonValue> parse_number(std::string_view text);

}  // namespace wavegate::io
