#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wavegate/amdgpu/object/metadata.h"

/// What the values of an argument are, as far as the name of its type tells: compilers of OpenCL C and C++ write it.
namespace wavegate::amdgpu::object {

enum class NumberKind : std::uint8_t { signed_integer, unsigned_integer, floating };

/// Of an argument by value, what it holds; of a pointer, what it leads to.
struct ValueType {
  NumberKind kind = NumberKind::signed_integer;
  std::uint32_t bytes = 0;      ///< Of one number.
  std::uint32_t lanes = 1;      ///< Numbers of a vector, such as 4 of float4.
  std::uint32_t all_bytes = 0;  ///< Those of a vector of three are four numbers'.

  bool operator==(const ValueType&) const = default;
};

/// "f32", "u8"; of a vector "f32[4]".
std::string to_string(const ValueType& type);

/// Nothing where the name is left out or is none that every program has: a structure, a name of its own. Nothing, too,
/// where the name's size is not the argument's, since then it is not what it seems.
std::optional<ValueType> value_type(const Argument& argument);

}  // namespace wavegate::amdgpu::object
