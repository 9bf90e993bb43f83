#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/program/program.h"

namespace wavegate::lowering {

/// The kernels that the lowering adds to a program. Each is one pipeline: geometry, slots and offsets are data.
/// Bindings are in the order in which the comment names them.

/// gate: `latch` (scalar), `arguments` (buffer). Parameters word, x, y, z. Writes [x, y, z] or [0, y, z].
Result<kir::Kernel> gate_kernel();

/// latch: `latch` (scalar, written), `enclosing`, `predicate` (scalars). Parameter invert: 1 for an else branch.
/// latch = enclosing and (predicate != 0, or == 0).
Result<kir::Kernel> latch_kernel();

/// loop_enter: `latch` (written), `trips` (read and written), `enclosing` (scalars). Parameter done: iterations that
/// ran already. latch = enclosing; if entered, trips = done. A loop that is not entered keeps its last report.
Result<kir::Kernel> loop_enter_kernel();

/// loop_test: `latch`, `trips` (scalars, read and written), `predicate`. Parameter min.
/// latch = latch and (trips < min or predicate); trips += latch.
Result<kir::Kernel> loop_test_kernel();

/// loop_exit: `converged` (scalar, read and written), `enclosing`, `predicate`.
/// If entered, converged = predicate == 0.
Result<kir::Kernel> loop_exit_kernel();

/// copy_words: `source`, `destination` (buffers of i32). Parameters source offset, destination offset, count in words.
Result<kir::Kernel> copy_words_kernel();

/// fill_words: `destination` (buffer of i32). Parameters offset, count, word.
Result<kir::Kernel> fill_words_kernel();

inline constexpr uint32_t kWordsPerWorkgroup = 256;  ///< of copy_words and fill_words

/// A straight-line run of assignments as one kernel of one invocation. `scalars` receives the program scalar of each
/// of its bindings. Every scalar is loaded at most once, before it is assigned, and stored once.
struct AssignKernel {
  kir::Kernel kernel;
  std::vector<program::Scalar> scalars;
};
/// Adds the scalars that an assignment touches.
void note_scalars(const program::Assign& assign, std::set<uint32_t>& scalars);

Result<AssignKernel> assign_kernel(const program::Program& program, const std::vector<program::Assign>& assigns);

}  // namespace wavegate::lowering
