#pragma once

#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"
#include "wavegate/target/profile.h"

namespace wavegate::emit::wgsl {

/// A WGSL module with one entry point, "main". Group 0 holds the storage buffers in order and then the scalar arena, as
/// kir::Interface says. The launch words, if there are any, are the uniform buffer at binding 0 of group 1: an
/// `array<vec4<u32>, N>`, so that its size is launch_words() rounded up to a multiple of four words.
struct Module {
  std::string text;
  std::vector<bool> writable;  ///< by binding of group 0: declared read_write, else read
};

struct Options {
  /// By binding of group 0: declare it read_write although the kernel only reads it, because the dispatch writes the
  /// same GPUBuffer through another binding. Those beyond the end are declared as the kernel uses them.
  std::vector<bool> writable = {};
};

/// Emits a verified kernel. i64 is split into pairs of words (kir::split_i64), and fma is emulated where the profile
/// does not say that it is fused. What WGSL or the profile lacks (f64, device pointers, fences between workgroups, ...)
/// is `unsupported` and names the kernel and the operation; a limit exceeded names the limit. Barriers stand in uniform
/// control flow by WGSL's own rules: a condition that only kir can prove uniform goes through workgroupUniformLoad.
/// Deterministic: equal input, equal text.
Result<Module> emit(const kir::Kernel& kernel, const target::Profile& profile, const Options& options = {});

}  // namespace wavegate::emit::wgsl
