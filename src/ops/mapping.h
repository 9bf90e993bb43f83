#pragma once

#include <cstdint>

#include "wavegate/target/profile.h"

namespace wavegate::ops {

/// Places of a block, each with a running sum of its own. Part of the meaning: with kSumRadix it fixes the tree of
/// every reduction, and so the bytes.
inline constexpr uint32_t kSlots = 256;
inline constexpr uint32_t kSumRadix = 16;
static_assert(kSumRadix * kSumRadix == kSlots);

/// How the slots are spread over invocations. Both give the same bytes.
enum class Mapping : uint8_t {
  wide,   ///< an invocation a slot: for devices with thousands of lanes, where latency is hidden by their number
  narrow  ///< an invocation takes sixteen slots in turn: for software devices, where a barrier and a lane that idles
          ///< cost as much as one that works
};

inline Mapping choose_mapping(const target::Profile& profile) {
  return profile.is_cpu ? Mapping::narrow : Mapping::wide;
}

/// Invocations in a workgroup.
inline uint32_t width_of(Mapping mapping) {
  return mapping == Mapping::wide ? kSlots : kSumRadix;
}

}  // namespace wavegate::ops
