#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wavegate/kir/interface.h"

namespace wavegate::kir {

/// A kernel that arrives as a finished module. Its interface is declared by the user and checked against the
/// module; scalar bindings are storage buffers of one word to it.
struct OpaqueKernel {
  Interface interface;
  std::string entry_point = "main";
  std::vector<uint32_t> spirv;
};

}  // namespace wavegate::kir
