#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/opaque_kernel.h"

namespace wavegate::program {

/// Holds the declared interface of an opaque kernel against its WGSL module. The module has
///  - a compute entry point of the declared name, with the declared workgroup size, in numbers or constants (one that
///    can be overridden is `unsupported`);
///  - one storage buffer at group 0, binding i for the i-th declared binding, buffer or scalar, and no other resource
///    that the entry point names (where the module has but one entry point: that it declares);
///  - elements that fit the declared type: arrays of numbers have its size as their stride, arrays of anything else a
///    multiple of it; a scalar binding is one number of 32 bits, or a runtime-sized array of such;
///  - the access that is declared: `read` for a binding declared read, which WebGPU binds read-only, `read_write` for
///    others;
///  - launch words no larger than declared: those of an opaque kernel are its parameters alone, a uniform buffer at
///  group
///    1, binding 0, low word first, which ends at a multiple of 16 bytes.
/// Reads hostile text in time linear in its length (up to a logarithm and what kir::WgslModule says); it is no
/// validator, and a module that passes may still be refused by a device.
Result<void> check_wgsl_interface(const kir::OpaqueKernel& kernel);

}  // namespace wavegate::program
