#pragma once

#include <vector>

#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// How far a value is proved equal: Scope::invocation (not at all), subgroup, workgroup or device (the dispatch).
/// Constants, parameters and the grid are uniform over the dispatch; workgroup ids over a workgroup; a load of a
/// read-only binding is as uniform as its index; results of control flow are no more uniform than its condition;
/// `assume_uniform` is believed.
struct Uniformity {
  std::vector<Scope> value_scopes;  ///< by value id
  Scope of(Value value) const { return value_scopes[value.id]; }
};

/// Forward dataflow to a fixed point over loops. Precondition: values are defined before use.
Uniformity analyse_uniformity(const Kernel& kernel);

}  // namespace wavegate::kir
