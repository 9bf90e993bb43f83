#pragma once

/// Wavegate: iterative GPU work with its loops and branches on the GPU. This is all that an application includes:
///
///   program::Program   values, operations and control flow, as plain data       (wavegate/program/program.h)
///   kir::Builder       kernels of your own                                      (wavegate/kir/builder.h)
///   ops::...           the operation library                                    (wavegate/ops/ops.h)
///   open_device, compile, Executable                                            (wavegate/api/engine.h)
///
/// Everything that can fail returns a Result (wavegate/base/result.h); nothing throws.

#include "wavegate/api/engine.h"       // IWYU pragma: export
#include "wavegate/base/result.h"      // IWYU pragma: export
#include "wavegate/kir/builder.h"      // IWYU pragma: export
#include "wavegate/ops/ops.h"          // IWYU pragma: export
#include "wavegate/program/program.h"  // IWYU pragma: export
