#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wavegate/kir/type.h"

namespace wavegate::emit::wgsl {

/// The WGSL type of values: i32 is u32. Precondition: bool, i32, f16 or f32, which is all that WGSL has.
std::string_view type_name(kir::Type type);

/// A constant as a literal of exactly its value. Nothing for the floats that WGSL has no literal for, or may read
/// otherwise: NaNs, infinities, denormals and -0.
std::optional<std::string> literal(kir::Type type, uint64_t bits);

/// An i32 constant as a literal of WGSL's signed type.
std::string signed_literal(uint64_t bits);

}  // namespace wavegate::emit::wgsl
