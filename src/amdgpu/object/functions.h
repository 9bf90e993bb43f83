#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/code_object.h"

namespace wavegate::amdgpu::object {

/// A kernel, or a function that kernels call.
struct Function {
  std::string_view name;
  std::uint64_t address = 0;
  Bytes code;
  std::uint32_t wave_width =
      64;  ///< Of a called function: that of the object's first kernel, since nothing else tells.
  const Kernel* kernel = nullptr;  ///< nullptr if it is called by kernels.
};

/// All code of the object that has a name, by address. Where symbols overlap each ends where the next one starts, so
/// that no byte is in two. Borrows the object.
std::vector<Function> find_functions(const CodeObject& object);

/// The kernels of this name, or, if there is none, those whose names hold it; all for empty text.
std::vector<const Kernel*> select_kernels(const CodeObject& object, std::string_view name);

}  // namespace wavegate::amdgpu::object
