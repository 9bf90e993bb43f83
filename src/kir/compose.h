#pragma once

#include <cstdint>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

/// Kernels made out of kernels. A kernel goes in verified and comes out verified; the result has the (first) kernel's
/// name, which is a plain field to change.
///
/// sequence, only_if and repeat_while compose kernels that are dispatched as one workgroup (in_one_workgroup makes them
/// so) into another such kernel. A barrier of the workgroup stands between them, so that what one writes to buffers and
/// scalars the next one sees. Bindings and parameters of the parts are put one after the other, each part's in their
/// order; names that are taken get a number behind them. Workgroup arrays of the parts share their memory. Claims of
/// uniformity over the device become claims over the workgroup. Two bindings of the result that a dispatch gives the
/// same buffer must be made one before it is emitted, where one of them is written: see merge_bindings.
/// `invalid-input` if the parts have different workgroup sizes. `unsupported` if the result is more than a kernel may
/// be: blocks nested too deep, or too much workgroup or local memory.
namespace wavegate::kir {

/// The kernel behind a latch: each invocation first reads the i32 scalar and ends if it is zero. The scalar is a `read`
/// binding at the end of the interface, so that its slot is the last of the slots in the launch words; it is called
/// `latch`, with a number behind where that name is taken. A dispatch must not write the slot by another binding. The
/// latch is the same for all invocations, so that barriers stay legal. What other bindings promise by their access
/// holds for a dispatch whose latch is not zero. `invalid-input` if `latch` is not a name.
///
/// As a `buffer` the latch is the last buffer instead, of one i32: no launch word stands between a device and its load.
Result<Kernel> guard(Kernel kernel, std::string_view latch, BindingKind kind = BindingKind::scalar);

/// `first`, then `second`.
Result<Kernel> sequence(const Kernel& first, const Kernel& second);

/// `body` if the i32 scalar `latch`, a `read` binding at the end of the interface as guard() makes it, is not zero.
/// What runs before it in the same kernel may write the scalar; `body` may not. Bindings that `body` promises to
/// overwrite become `read_write`. `invalid-input` if `latch` is not a name.
Result<Kernel> only_if(const Kernel& body, std::string_view latch);

/// `test`, and while the i32 scalar that is binding `latch` of `test` is then not zero: `body`, `test`. Bindings that
/// `body` promises to overwrite become `read_write`, and so does the latch.
/// `invalid-input` if `latch` is no i32 scalar of `test`.
Result<Kernel> repeat_while(const Kernel& test, uint32_t latch, const Kernel& body);

}  // namespace wavegate::kir
