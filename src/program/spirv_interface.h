#pragma once

#include "wavegate/base/result.h"
#include "wavegate/kir/opaque_kernel.h"

namespace wavegate::program {

/// Holds the declared interface of an opaque kernel against its module. The module has
///  - a GLCompute entry point of the declared name, with the declared LocalSize (a specialised size is `unsupported`);
///  - one storage buffer at set 0, binding i for the i-th declared binding, buffer or scalar, and no other resource
///    that the entry point uses (where the module has but one entry point: that it declares);
///  - elements that fit the declared type: arrays of scalars have its size as their stride, arrays of anything else a
///    multiple of it; a scalar binding is a block of one 32-bit member, or an unsized array of such;
///  - access within the declared: a binding declared `read` is not stored to, one declared `write` is not loaded from
///    and is stored to, by following access chains. An atomic, or a pointer that is passed, selected or stored, counts
///    as both; NonWritable and NonReadable prove nothing;
///  - push constants no larger than the launch words. Those of an opaque kernel are its parameters alone, from offset
///    0, low word first.
/// Reads hostile modules in time linear in their words (up to a logarithm) without trusting any count or id; it is no
/// validator, and a module that passes may still be refused by a driver.
Result<void> check_spirv_interface(const kir::OpaqueKernel& kernel);

}  // namespace wavegate::program
