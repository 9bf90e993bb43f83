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
/// sum rounded to odd (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008), or in
/// 32-bit integers where there is no f64; f64 in 64-bit integers. `unsupported` where neither is there.
/// Preserves: interface, memories, the order of effects.
Result<PassStats> emulate_fma(Kernel& kernel, const FmaSupport& support);

}  // namespace wavegate::kir
