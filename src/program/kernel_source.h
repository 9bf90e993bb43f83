#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel_code.h"
#include "wavegate/target/profile.h"

namespace wavegate::program {

/// How a kernel enters a program: a declared interface now, code for a device later. An AMD kernel is translated in
/// specialise(); a plain kir kernel or an opaque module is handed through. Immutable and thread-safe.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  virtual const kir::Interface& interface() const = 0;
  /// Whether specialise() gives a finished module, whose scalar bindings are storage buffers of one word.
  virtual bool is_opaque() const { return false; }
  /// Code whose interface equals interface().
  virtual Result<kir::KernelCode> specialise(const target::Profile& profile) const = 0;
};

/// A kir kernel. It should have been verified (kir::Builder and kir::parse do).
std::shared_ptr<const KernelSource> make_kernel_source(kir::Kernel kernel);

/// A finished SPIR-V module with the interface that the user declares: checked here against the module (entry
/// point, workgroup size, storage buffers, access, launch words), so that a lie is refused before a device sees it.
Result<std::shared_ptr<const KernelSource>> make_kernel_source(kir::OpaqueKernel kernel);

}  // namespace wavegate::program
