#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "wavegate/amdgpu/wave/operation.h"
#include "wavegate/amdgpu/wave/state.h"

namespace wavegate::amdgpu::wave {

/// Sets the host's rounding and denormals to a wave's for as long as it lives. Costs nothing where they agree.
class FloatScope {
 public:
  FloatScope(const Mode& mode, FloatClass float_class) {
    const bool flushing = float_class == FloatClass::flushing;
    if ((mode.is_plain() && !flushing) || float_class == FloatClass::none) return;
#if defined(__x86_64__)
    const bool single = float_class != FloatClass::wide;
    // AMD numbers up 1, down 2, to zero 3; the host down 1, up 2.
    constexpr unsigned kRounding[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO};
    constexpr unsigned kFlushResults = 1u << 15, kFlushSources = 1u << 6;
    unsigned word = _mm_getcsr();
    before_ = word;
    changed_ = true;
    word = (word & ~(_MM_ROUND_MASK | kFlushResults | kFlushSources)) |
           kRounding[single ? mode.round_single() : mode.round_wide()];
    if (flushing || (single ? mode.flushes_single_results() : mode.flushes_wide_results())) word |= kFlushResults;
    if (flushing || (single ? mode.flushes_single_sources() : mode.flushes_wide_sources())) word |= kFlushSources;
    _mm_setcsr(word);
#endif
  }
  ~FloatScope() {
#if defined(__x86_64__)
    if (changed_) _mm_setcsr(before_);
#endif
  }
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;

 private:
#if defined(__x86_64__)
  unsigned before_ = 0;
  bool changed_ = false;
#endif
};

}  // namespace wavegate::amdgpu::wave
