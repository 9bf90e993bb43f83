#pragma once

#include <string>

#include "amdgpu/wave/values/model.h"

namespace wavegate::amdgpu::wave::testing {

/// Whether registers are as expected, up to what AMD does not specify; else the first that is not, in words.
std::string difference(const Registers& expected, const Registers& got, const Loose& loose);

}  // namespace wavegate::amdgpu::wave::testing
