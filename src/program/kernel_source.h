#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel_code.h"
#include "wavegate/target/profile.h"

namespace wavegate::program {

/// How a kernel enters a program: a declared interface now, code for a device later. An AMD kernel is translated in
/// specialise(); kir kernels and finished modules are handed through. Immutable and thread-safe.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  virtual const kir::Interface& interface() const = 0;
  /// Whether specialise() gives a finished module on some device. The scalar bindings of one are storage buffers of one
  /// word, and it cannot be fused with others.
  virtual bool is_opaque() const { return false; }
  /// Whether it does on this device.
  virtual bool is_opaque(const target::Profile& /*profile*/) const { return is_opaque(); }
  /// Code whose interface equals interface(). `unsupported` if there is none for the device.
  virtual Result<kir::KernelCode> specialise(const target::Profile& profile) const = 0;
};

/// The forms of one kernel. Each device takes a finished module in its own language (target::module_language) if there
/// is one, which its author made for it; else the kir kernel.
struct KernelSources {
  std::optional<kir::Kernel> kir = {};          ///< should have been verified (kir::Builder and kir::parse do)
  std::optional<kir::OpaqueKernel> spirv = {};  ///< with OpaqueKernel::spirv
  std::optional<kir::OpaqueKernel> wgsl = {};   ///< with OpaqueKernel::wgsl
};

/// A kernel that is given in several forms, all of one interface. Modules are checked against it here.
/// `invalid-input` if there is no form, a module is empty, or the interfaces differ; the message says in what.
/// specialise() is `unsupported` on a device for which no form is, and says which there are.
Result<std::shared_ptr<const KernelSource>> make_kernel_source(KernelSources sources);

/// A kir kernel. It should have been verified (kir::Builder and kir::parse do).
std::shared_ptr<const KernelSource> make_kernel_source(kir::Kernel kernel);

/// A finished module, SPIR-V or WGSL, with the interface that the user declares. The module is checked against it here
/// (entry point, workgroup size, storage buffers, access, launch words), so that a lie is refused before a device sees
/// it.
Result<std::shared_ptr<const KernelSource>> make_kernel_source(kir::OpaqueKernel kernel);

}  // namespace wavegate::program
