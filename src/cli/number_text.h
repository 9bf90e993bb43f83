#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/value_type.h"
#include "wavegate/io/npy.h"

namespace wavegate::cli {

/// How AMD's objects would call numbers of the type.
amdgpu::object::NumberKind kind_of(io::ElementType type);

/// A number as the bytes of a type; nothing where it is none or does not fit. Integers are decimal, or hexadecimal
/// after 0x; 010 is ten. Floats are decimal, or inf and nan. What a float would only hold as infinity does not fit;
/// what is too small becomes zero or denormal. No signs but one '-', no spaces. The Python module refuses the same.
std::optional<std::vector<std::byte>> number_bytes(io::ElementType type, std::string_view text);

}  // namespace wavegate::cli
