#pragma once

#include <vector>

#include "wavegate/kir/kernel.h"

namespace wavegate::emit::spirv {

/// What invocations tell each other by. Without the Vulkan memory model, accesses are ordered between invocations only
/// where their variable is Coherent (in that model's words: others are private).
struct Coherence {
  std::vector<bool> memories;  ///< by memory index: the buffers that are Coherent
  bool arena = false;
  bool pointers = false;  ///< device pointers
};

/// A kernel that orders its accesses against other workgroups (a fence or an ordered atomic of device scope) has all
/// of its memory coherent. Else a buffer is, if a barrier, fence or ordered atomic may stand between a store to it and
/// another access, in this round of the loops around them or a later one; so that a kernel whose barriers are about
/// workgroup memory alone pays nothing. In time linear in the kernel's size, times the depth of its loops.
Coherence coherence_of(const kir::Kernel& kernel);

}  // namespace wavegate::emit::spirv
