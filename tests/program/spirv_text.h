#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <spirv-tools/libspirv.hpp>
#include <string>
#include <vector>

namespace wavegate::program {

/// Assembles a module from SPIR-V assembly, for what GLSL cannot say. A mistake in the text fails the test.
inline std::vector<uint32_t> assemble(const std::string& text, spv_target_env environment = SPV_ENV_VULKAN_1_2) {
  spvtools::SpirvTools tools(environment);
  std::string log;
  tools.SetMessageConsumer([&log](spv_message_level_t, const char*, const spv_position_t& position,
                                  const char* message) { log = std::to_string(position.line) + ": " + message; });
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words, SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS)) << log << "\n" << text;
  return words;
}

}  // namespace wavegate::program
