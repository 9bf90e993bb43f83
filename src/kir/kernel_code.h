#pragma once

#include <memory>
#include <variant>

#include "wavegate/kir/kernel.h"
#include "wavegate/kir/opaque_kernel.h"

namespace wavegate::kir {

/// A kernel as a device receives it: ours, or a finished module.
using KernelCode = std::variant<std::shared_ptr<const Kernel>, std::shared_ptr<const OpaqueKernel>>;

inline const Interface& interface_of(const KernelCode& code) {
  return std::visit([](const auto& kernel) -> const Interface& { return kernel->interface; }, code);
}

}  // namespace wavegate::kir
