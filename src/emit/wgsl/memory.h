#pragma once

#include "wavegate/emit/wgsl/context.h"

namespace wavegate::emit::wgsl {

/// Writes loads, stores, array lengths, scalars, atomics and barriers, and defines their results.
void emit_memory(Context& context, const kir::Instruction& instruction);

/// A value as one u32, bit for bit, and back. Precondition: a type that WGSL has.
std::string to_word(const Context& context, kir::Value value);
std::string from_word(kir::Type type, std::string_view word);

}  // namespace wavegate::emit::wgsl
