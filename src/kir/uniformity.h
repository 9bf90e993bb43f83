#pragma once

#include <vector>

#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// How far a value is proved equal: Scope::invocation (not at all), subgroup, workgroup or device (the dispatch).
/// Constants, parameters and the grid are uniform over the dispatch; workgroup ids over a workgroup; a load of a
/// read-only binding is as uniform as its index; results of control flow are no more uniform than its condition;
/// `assume_uniform` is believed.
/// In a workgroup of one invocation everything is uniform over the workgroup.
///
/// Control flow has a scope as well: the invocations that reach an instruction together if they entered the kernel
/// together. A condition narrows the flow inside its construct, which then merges again; but what an invocation may
/// leave by break_ or continue_ stays narrow to the end of that loop's body (in all its iterations), and what it may
/// leave by return_ to the end of the kernel.
struct Uniformity {
  std::vector<Scope> value_scopes;  ///< by value id
  std::vector<Scope> flow_scopes;   ///< control flow at each instruction, in the order of walk()
  Scope of(Value value) const { return value_scopes[value.id]; }
};

/// In time and memory linear in the kernel. Precondition: verify_structure() holds.
Uniformity analyse_uniformity(const Kernel& kernel);

}  // namespace wavegate::kir
