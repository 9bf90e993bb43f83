#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wavegate/kir/opaque_kernel.h"
#include "wavegate/kir/wgsl_module.h"

namespace wavegate::kir {

/// A variable of a module that a bind group fills.
struct WgslResource {
  const WgslVariable* variable = nullptr;  ///< the module's
  std::optional<uint32_t> group, binding;  ///< nothing where WgslModule::integer() reads none
};

/// The resources that an entry point can come to: whose names stand in its body or in those of the functions that it
/// names. Where the module has but one entry point, all that it declares.
std::vector<WgslResource> find_resources(const WgslModule& module, const WgslFunction& entry);

/// By binding of group 0: the bytes that must be bound to it at least, as the kernel's WGSL module declares; 0 where
/// that cannot be read, or nothing is declared. `invalid-input` as read_wgsl(), and without the entry point.
Result<std::vector<uint64_t>> least_binding_bytes(const OpaqueKernel& kernel);

}  // namespace wavegate::kir
