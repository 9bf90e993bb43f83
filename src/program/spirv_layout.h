#pragma once

#include <cstdint>
#include <map>

#include "wavegate/kir/spirv_module.h"

namespace wavegate::program {

/// Sizes in bytes of the types with a size that the module fixes: numbers, vectors, and matrices, arrays and structs
/// with explicit layout, without padding at their end. Runtime arrays, arrays whose length can be specialised and
/// what holds them have none.
std::map<uint32_t, uint64_t> spirv_type_sizes(const kir::SpirvModule& module);

/// The size of a scalar number type in bytes; 0 for any other type.
uint32_t spirv_scalar_size(const kir::SpirvModule& module, uint32_t type);

}  // namespace wavegate::program
