#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <spirv-tools/libspirv.hpp>
#include <string>
#include <vector>

#include "wavegate/emit/spirv/emitter.h"
#include "wavegate/kir/builder.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::emit::spirv {

/// A device that offers everything.
inline target::Profile full_profile() {
  target::Profile profile;
  profile.name = "everything";
  profile.limits.storage_buffers = 16;
  target::Features& features = profile.features;
  for (bool* feature : {&features.int8, &features.int16, &features.int64, &features.float16, &features.float64,
                        &features.int64_atomics, &features.device_pointers, &features.subgroup_operations})
    *feature = true;
  features.preserves_denormals = features.preserves_special_values = {.f16 = true, .f32 = true, .f64 = true};
  profile.floats.exact_division_f32 = true;
  profile.floats.exact_square_root_f32 = true;
  profile.floats.fused_fma_f32 = true;
  profile.floats.fused_fma_f64 = true;
  return profile;
}

/// What SPIRV-Tools' validator says against a module for Vulkan 1.2; empty if it is valid.
inline std::string validation_errors(const std::vector<uint32_t>& words) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  std::string errors;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& position, const char* message) {
    errors += "word " + std::to_string(position.index) + ": " + message + "\n";
  });
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  if (!tools.Validate(words.data(), words.size(), options) && errors.empty()) errors = "invalid";
  return errors;
}

/// The module as text, ids as numbers, without its header.
inline std::string disassemble(const std::vector<uint32_t>& words) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  std::string text;
  tools.Disassemble(words, &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER);
  return text;
}

/// The text of a module that must be emitted and valid; empty after a failure.
inline std::string emit_text(const kir::Kernel& kernel, const target::Profile& profile = full_profile()) {
  const Result<Module> module = emit(kernel, profile);
  if (!module.ok()) {
    ADD_FAILURE() << module.error().to_string();
    return "";
  }
  const std::string text = disassemble(module->words);
  EXPECT_EQ(validation_errors(module->words), "") << text;
  return text;
}

/// The same for a kernel under construction.
inline std::string emit_text(kir::Builder& builder, const target::Profile& profile = full_profile()) {
  const Result<kir::Kernel> kernel = builder.finish();
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.error().to_string();
    return "";
  }
  return emit_text(*kernel, profile);
}

/// How often a piece of text occurs.
inline size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

}  // namespace wavegate::emit::spirv
