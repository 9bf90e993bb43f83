#pragma once

#include "wavegate/kir/kernel.h"

namespace wavegate::emit::wgsl {

/// Which of WGSL's barriers a kernel's barriers are. Each holds the workgroup up and orders one kind of memory.
struct Barriers {
  bool storage = false;    ///< storageBarrier
  bool workgroup = false;  ///< workgroupBarrier
};

/// storageBarrier if a buffer or the scalar arena is stored to and may be accessed again behind a barrier;
/// workgroupBarrier if there is workgroup memory, and where there is nothing to order. In time linear in the kernel.
Barriers barriers_of(const kir::Kernel& kernel);

}  // namespace wavegate::emit::wgsl
