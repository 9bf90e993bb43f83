#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/kir/passes/pass.h"

namespace wavegate::kir {

/// Which fma instructions the device rounds once, and what the emulation may use.
struct FmaSupport {
  bool fused_f32 = false;
  bool fused_f64 = false;
  bool has_f64 = false;
  bool has_i64 = false;
};

/// Replaces each fma that the device does not fuse by operations with the same bits: f32 through f64 with the
/// sum rounded to odd (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008) where there are
/// f64 and i64, else in 32-bit integers; f64 in 64-bit integers; f16, which no device is asked about, always through
/// f32. The integer forms rely on no float behaviour of the device, denormals included. `unsupported`, with the
/// kernel untouched, for f64 without i64.
/// Preserves: interface, memories, control flow, the order of effects.
Result<PassStats> emulate_fma(Kernel& kernel, const FmaSupport& support);

}  // namespace wavegate::kir
