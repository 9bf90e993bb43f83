#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wavegate/kir/interface.h"

namespace wavegate::kir {

/// A kernel that arrives as a finished module, in one of two languages. Its interface is declared by the user; scalar
/// bindings are storage buffers of one word to it.
struct OpaqueKernel {
  Interface interface;
  std::string entry_point = "main";
  std::vector<uint32_t> spirv = {};  ///< the words of a SPIR-V module; its interface is checked against them
  std::string wgsl = {};             ///< the text of a WGSL module, where there is no SPIR-V
};

}  // namespace wavegate::kir
