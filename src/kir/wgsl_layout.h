#pragma once

#include <cstdint>
#include <optional>

#include "wavegate/kir/wgsl_module.h"

namespace wavegate::kir {

/// How a WGSL type lies in memory, in bytes. A runtime-sized array has size 0.
struct WgslLayout {
  uint64_t size = 0;
  uint64_t least = 0;  ///< that must be bound: of a runtime-sized array one element
  uint64_t alignment = 1;
  std::optional<uint64_t> stride = {};  ///< of an array
  bool is_scalar = false;               ///< a number, atomic or not
  bool has_scalar_elements = false;     ///< an array of numbers
};

/// The layout of a type of the module. Nothing if it is no type that memory shared with the host can hold, or if its
/// sizes are not integers that WgslModule::integer() reads. In time linear in the type, its members and aliases counted
/// each time that they are named; chains of them are followed a bounded way.
std::optional<WgslLayout> wgsl_layout(const WgslModule& module, WgslRange type);

}  // namespace wavegate::kir
