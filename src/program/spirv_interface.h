#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/opaque_kernel.h"

namespace wavegate::program {

/// Holds the declared interface of an opaque kernel against its module: a SPIR-V header, the GLCompute entry
/// point of that name, its LocalSize (a specialised size is `unsupported`), one storage buffer of set 0 for every
/// declared binding and no other resource, an element stride that fits the declared type, access (a binding
/// declared `read` must not be stored to, one declared `write` must not be loaded from, by following access chains;
/// a pointer that reaches a function call counts as both), and push constants no larger than the launch words.
/// Reads hostile modules in linear time without trusting any word count or id.
Result<void> check_spirv_interface(const kir::OpaqueKernel& kernel);

}  // namespace wavegate::program
