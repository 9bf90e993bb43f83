#pragma once

#include <cstdint>
#include <map>

#include "wavegate/base/result.h"
#include "wavegate/kir/spirv_module.h"

namespace wavegate::program {

/// What the functions that an entry point reaches do to a variable. A variable that only has its length taken, or
/// whose pointer is only compared, is neither read nor written.
struct SpirvAccess {
  bool reads = false;
  bool writes = false;
};

/// Follows access chains from each variable outside functions to the instructions that use it, over all functions
/// that `function` reaches by calls. A pointer that leaves what is followed (a call, a return, a phi, a select, a
/// cast, an atomic, a store of the pointer itself, an instruction that is not known) counts as read and written.
/// Returns the variables that are used at all, by id. Errors: `invalid_input` for a pointer used before its definition.
Result<std::map<uint32_t, SpirvAccess>> spirv_accesses(const kir::SpirvModule& module, uint32_t function);

}  // namespace wavegate::program
