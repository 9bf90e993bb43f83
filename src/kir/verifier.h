#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// Checks everything that the emitters and the reference device rely on: each value defined once and before its
/// use, in a block that encloses the use; operand and result types against the operation table; every block
/// ends with the right terminator and nowhere else; accesses agree with the interface; memories and workgroup
/// within sane bounds; and every convergent operation stands in control flow that is provably uniform in its
/// scope (see uniformity.h). Hostile kernels are refused in time and memory linear in their size.
Result<void> verify(const Kernel& kernel);

/// All of verify() but the last check: uniform control flow around a convergent operation can often be proved
/// only after local variables have become SSA values.
Result<void> verify_structure(const Kernel& kernel);

/// A broken rule: what verify() reports, with its place.
struct Violation {
  std::string message;                ///< without the kernel's name
  std::optional<size_t> instruction;  ///< in the order of walk(); nothing if it is about the interface
};

/// The first violation that verify() finds, or nothing.
std::optional<Violation> find_violation(const Kernel& kernel);

/// Whether bindings, parameters, arrays and kernels may be called this: a letter or _, then letters, digits, _ . or -.
bool is_name(std::string_view name);

/// Blocks may be nested this deep, the kernel's body counting as 1, so that recursion over a kernel is bounded.
inline constexpr uint32_t kMaximumDepth = 256;

}  // namespace wavegate::kir
