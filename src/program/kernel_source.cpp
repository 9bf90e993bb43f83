#include "wavegate/program/kernel_source.h"

#include "wavegate/program/spirv_interface.h"

namespace wavegate::program {
namespace {

class CodeSource final : public KernelSource {
 public:
  explicit CodeSource(kir::KernelCode code) : code_(std::move(code)) {}
  const kir::Interface& interface() const override { return kir::interface_of(code_); }
  bool is_opaque() const override { return code_.index() == 1; }
  Result<kir::KernelCode> specialise(const target::Profile&) const override { return code_; }

 private:
  kir::KernelCode code_;
};

}  // namespace

std::shared_ptr<const KernelSource> make_kernel_source(kir::Kernel kernel) {
  return std::make_shared<CodeSource>(std::make_shared<const kir::Kernel>(std::move(kernel)));
}

Result<std::shared_ptr<const KernelSource>> make_kernel_source(kir::OpaqueKernel kernel) {
  WAVEGATE_CHECK(check_spirv_interface(kernel));
  return std::shared_ptr<const KernelSource>(
      std::make_shared<CodeSource>(std::make_shared<const kir::OpaqueKernel>(std::move(kernel))));
}

}  // namespace wavegate::program
