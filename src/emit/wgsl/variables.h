#pragma once

#include <string>
#include <vector>

#include "wavegate/emit/wgsl/context.h"
#include "wavegate/emit/wgsl/names.h"

namespace wavegate::emit::wgsl {

/// Gives identifiers to all that a kernel addresses, and finds out which memories are atomic.
Variables name_variables(const kir::Kernel& kernel, Names& names);

/// The declarations at the module's scope: buffers, the scalar arena, the launch words and workgroup memory.
std::string module_variables(const kir::Kernel& kernel, const Variables& variables, const std::vector<bool>& writable);

/// The first lines of the entry function: the zero of unknown floats, the arena slots and parameters that its body
/// reads, and the local arrays.
std::string function_variables(const Context& context);

/// Defines the results of `builtin` and `parameter`.
void emit_builtin(Context& context, const kir::Instruction& instruction);
void emit_parameter(Context& context, const kir::Instruction& instruction);

/// What the scalar arena and the launch words are called.
inline constexpr std::string_view kArena = "arena";
inline constexpr std::string_view kLaunch = "launch";

}  // namespace wavegate::emit::wgsl
