#pragma once

#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::emit::wgsl {

/// The storage bindings of a kernel that its module declares read_write: by binding of group 0, the arena last.
std::vector<bool> writable_bindings(const kir::Interface& interface, const std::vector<bool>& also_writable);

/// Whether the operation holds the workgroup up: a barrier, or a claim that is to be a workgroupUniformLoad.
bool needs_uniform_flow(const kir::Instruction& instruction);

/// Makes a verified kernel's barriers stand in control flow that is uniform by WGSL's rules, which know less than
/// kir::analyse_uniformity: a workgroup of one invocation is like any other there, and loads of what the module
/// declares read_write are never uniform. A condition that decides who comes to a barrier, and that kir alone proves
/// uniform, is claimed by an assume_uniform. Of all such claims those over a workgroup are left that must be emitted as
/// workgroupUniformLoad; the others become claims over a subgroup, which are not.
/// WGSL has no barrier over a subgroup and no fence: where the workgroup comes to one together it becomes a barrier of
/// the workgroup. Elsewhere, and between workgroups, they are `unsupported`, the kernel then being half changed.
/// In time linear in the kernel's size.
Result<void> make_flow_uniform(kir::Kernel& kernel, const std::vector<bool>& writable);

}  // namespace wavegate::emit::wgsl
