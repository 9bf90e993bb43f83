#pragma once

#include <gmock/gmock.h>

#include <string>

#include "wavegate/emit/wgsl/emitter.h"
#include "wavegate/kir/builder.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::emit::wgsl {

/// A device that offers everything that WebGPU can.
inline target::Profile full_profile() {
  target::Profile profile;
  profile.name = "everything";
  profile.backend = "webgpu";
  profile.limits.storage_buffers = 16;
  profile.limits.immediate_words = 1024;
  profile.features.float16 = true;
  profile.features.int64 = true;
  profile.features.subgroup_operations = true;
  profile.floats.fused_fma_f32 = true;
  return profile;
}

/// A kernel that is known to be right.
inline kir::Kernel value_of(Result<kir::Kernel> kernel) {
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? std::string() : kernel.error().to_string());
  return kernel.ok() ? *std::move(kernel) : kir::Kernel{};
}

/// The text of a module that must be emitted; empty after a failure.
inline std::string emit_text(const kir::Kernel& kernel, const target::Profile& profile = full_profile(),
                             const Options& options = {}) {
  const Result<Module> module = emit(kernel, profile, options);
  if (!module.ok()) {
    ADD_FAILURE() << module.error().to_string();
    return "";
  }
  return module->text;
}

/// The same for a kernel under construction.
inline std::string emit_text(kir::Builder& builder, const target::Profile& profile = full_profile(),
                             const Options& options = {}) {
  const Result<kir::Kernel> kernel = builder.finish();
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.error().to_string();
    return "";
  }
  return emit_text(*kernel, profile, options);
}

/// The message of an emission that must be `unsupported`.
inline std::string refusal(kir::Builder& builder, const target::Profile& profile = full_profile()) {
  const Result<kir::Kernel> kernel = builder.finish();
  if (!kernel.ok()) return "not built: " + kernel.error().to_string();
  const Result<Module> module = emit(*kernel, profile);
  if (module.ok()) return "accepted:\n" + module->text;
  EXPECT_EQ(module.error().kind, ErrorKind::unsupported) << module.error().to_string();
  return module.error().message;
}

/// How often a piece of text occurs.
inline size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

}  // namespace wavegate::emit::wgsl
