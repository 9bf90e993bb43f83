#pragma once

#include <string>

#include "wavegate/base/result.h"
#include "wavegate/kir/opaque_kernel.h"

namespace wavegate::emit::wgsl {

/// The kernel's module behind a latch: what kir::guard is to kernels of ours. The entry function begins with a test of
/// a word that is bound read-only (group 0, the binding after the kernel's last) and returns if it is zero. WGSL knows
/// the word to be uniform, so that barriers stay where they may be. The rest of the text is as it was.
///
/// The kernel should have been checked against its module (program::check_wgsl_interface). Hostile text costs time and
/// memory linear in its length, up to a logarithm; what comes of an invalid module is invalid too. `invalid-input` if
/// kir::read_wgsl does not read it or it has no such compute entry point. The kernel is named.
Result<std::string> early_out(const kir::OpaqueKernel& kernel);

}  // namespace wavegate::emit::wgsl
