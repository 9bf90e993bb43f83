#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/io/npy.h"
#include "wavegate/kir/type.h"
#include "wavegate/program/program.h"

/// What stands between a program and the files and words that a user gives it: `--in`, `--set` and `--out`.
namespace wavegate::io {

/// The type of a buffer that holds such an array: integers lose their sign. `none` for booleans.
kir::Type buffer_type(ElementType type);

/// An array as the contents of a buffer of this name, type and number of elements; its shape is of no matter.
Result<program::Initial> initial_contents(std::string_view name, kir::Type type, std::uint64_t count, Array array);

/// Replaces the initial contents of the buffer of this name.
Result<void> set_initial(program::Program& program, std::string_view buffer, Array array);

/// A launch parameter and what it is to be: for Executable::set.
struct ParameterValue {
  program::Scalar parameter;
  program::Literal value;
};

/// Reads a value, the whole of the text, by the type of the launch parameter of this name.
Result<ParameterValue> parse_parameter(const program::Program& program, std::string_view name, std::string_view text);

/// The bytes of a buffer as an array of one dimension; integers are signed. An error if they are not of its size.
Result<Array> array_of(const program::BufferInfo& buffer, std::span<const std::byte> bytes);

}  // namespace wavegate::io
