#pragma once

#include <cstdint>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/target/profile.h"

namespace wavegate::emit::spirv {

/// A SPIR-V 1.3 module for Vulkan 1.2 with one entry point, "main". Bindings and launch words lie as
/// kir::Interface says: set 0, buffers first, then the scalar arena; launch words are push constants.
struct Module {
  std::vector<uint32_t> words;
};

/// Emits a verified kernel. What the profile lacks (f64, i64, subgroup operations, ...) is `unsupported` and names
/// the kernel and the operation; a limit exceeded (workgroup size, storage buffers, launch words) names the limit.
/// fma is emitted fused where the profile says so and emulated otherwise. Deterministic: equal input, equal words.
Result<Module> emit(const kir::Kernel& kernel, const target::Profile& profile);

}  // namespace wavegate::emit::spirv
