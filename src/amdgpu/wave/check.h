#pragma once

#include <cstdint>

#include "wavegate/amdgpu/wave/access_log.h"
#include "wavegate/amdgpu/wave/step.h"

/// What is watched of registers, if asked for: that none is used which nothing has written. To copy one is no use of
/// it: compilers move undefined values about, and functions save registers that their callers never wrote. Its copies,
/// also in scratch memory, are as undefined as it is.
namespace wavegate::amdgpu::wave {

/// A finding at a step of a wave, which has nothing besides.
Finding finding_at(const Wave& wave, const Step& step, FindingKind kind);
void report(Wave& wave, const Step& step, FindingKind kind, unsigned lane, std::uint64_t address);
void report_undefined(Wave& wave, const Step& step, unsigned row, unsigned lane);

/// Before a step: reports registers that it is about to use and nothing has written; what copies do is done here.
/// Precondition: the wave has `written`.
void check_sources(Wave& wave, const Step& step);
/// After it: records what it has written for lanes that were active before it.
void note_results(Wave& wave, const Step& step, LaneMask exec);

}  // namespace wavegate::amdgpu::wave
