#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "wavegate/program/kernel_source.h"

namespace wavegate::differential {

/// The kernels of random programs: each has something that a lowering could get wrong. All are free of races: an
/// invocation writes its own elements only, or adds atomically, or it alone writes a scalar.
enum class KernelName : uint8_t {
  affine,         ///< data[i] = data[i] * factor + addend
  combine,        ///< out[i] from out[i], x and y, by one of four rules; a switch inside
  add_scalar,     ///< data[i] += amount * (i + 1), amount a scalar binding
  reverse,        ///< reverses each workgroup's elements, through workgroup memory and a barrier
  scan,           ///< prefix sum in each workgroup; a loop with barriers
  rotate_some,    ///< odd workgroups return at once; the others rotate their elements behind a barrier
  halve_even,     ///< invocations with an odd element return early
  collatz,        ///< a loop of its own that breaks
  histogram,      ///< atomic additions to bins
  largest_bins,   ///< atomic maxima into bins
  volume,         ///< a grid of three dimensions, which the kernel reads
  mark_grid,      ///< writes what it sees of its grid; strides over all elements
  touch_groups,   ///< as above, without the stride: how far it reaches is the grid
  overwrite,      ///< out[i] = seed * i + amount; a promised full overwrite
  gather,         ///< out[i] = x[(7 i + shift) mod length]; a promised full overwrite
  float_step,     ///< f[i] += step, wrapped at 512: whole numbers, exact in f32
  sum,            ///< one workgroup: a scalar becomes the sum of a buffer
  tick,           ///< one invocation: ++count, active = count < limit
  step_and_test,  ///< several workgroups change data; one invocation of them does what tick does
  any_reaches,    ///< one workgroup: active = some element of x, modulo 64, is at least limit + count; ++count
};
inline constexpr uint32_t kKernelCount = static_cast<uint32_t>(KernelName::any_reaches) + 1;

/// The kernel, made once in the life of the process. Its interface says what it binds.
const std::shared_ptr<const program::KernelSource>& kernel(KernelName name);

}  // namespace wavegate::differential
