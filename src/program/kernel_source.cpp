#include "wavegate/program/kernel_source.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/program/spirv_interface.h"
#include "wavegate/program/wgsl_interface.h"

namespace wavegate::program {
namespace {

using target::ModuleLanguage;
using Modules = std::vector<std::pair<ModuleLanguage, std::shared_ptr<const kir::OpaqueKernel>>>;

/// A kernel in up to three forms, of which there is at least one.
class FormsSource final : public KernelSource {
 public:
  FormsSource(std::shared_ptr<const kir::Kernel> kernel, Modules modules)
      : kernel_(std::move(kernel)), modules_(std::move(modules)) {}

  const kir::Interface& interface() const override {
    return kernel_ ? kernel_->interface : modules_.front().second->interface;
  }
  bool is_opaque() const override { return !modules_.empty(); }
  bool is_opaque(const target::Profile& profile) const override { return module_for(profile) != nullptr; }

  Result<kir::KernelCode> specialise(const target::Profile& profile) const override {
    if (auto module = module_for(profile)) return kir::KernelCode(std::move(module));
    if (kernel_) return kir::KernelCode(kernel_);
    std::string languages;
    for (const auto& [language, module] : modules_)
      languages += format("{}{}", languages.empty() ? "" : " and ", target::to_string(language));
    return unsupported(format("kernel \"{}\" is given as {} only, which a {} device does not take; add a kir source",
                              interface().name, languages, profile.backend.empty() ? "nameless" : profile.backend));
  }

 private:
  std::shared_ptr<const kir::OpaqueKernel> module_for(const target::Profile& profile) const {
    const ModuleLanguage wanted = target::module_language(profile);
    for (const auto& [language, module] : modules_)
      if (language == wanted) return module;
    return nullptr;
  }

  std::shared_ptr<const kir::Kernel> kernel_;  ///< null if there is none
  Modules modules_;
};

std::string text(const kir::BindingInfo& binding) {
  const bool is_scalar = binding.kind == kir::BindingKind::scalar;
  return format("{} \"{}\" {} {}", is_scalar ? "scalar" : "buffer", binding.name, kir::to_string(binding.type),
                kir::to_string(binding.access));
}

std::string text(const kir::ParameterInfo& parameter) {
  return format("parameter \"{}\" {}", parameter.name, kir::to_string(parameter.type));
}

/// What tells two lists apart first, as what one has and what the other has; nothing if they are equal.
template <typename Item>
std::optional<std::pair<std::string, std::string>> difference(const std::vector<Item>& a, const std::vector<Item>& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i] == b[i]) continue;
    const auto shown = [i](const std::vector<Item>& list) { return i < list.size() ? text(list[i]) : "no more"; };
    return std::pair(shown(a), shown(b));
  }
  return std::nullopt;
}

std::optional<std::pair<std::string, std::string>> difference(const kir::Interface& a, const kir::Interface& b) {
  if (a.name != b.name) return std::pair(format("the name \"{}\"", a.name), format("\"{}\"", b.name));
  const auto size = [](const kir::Interface& interface) {
    const auto& sizes = interface.workgroup_size;
    return format("{}x{}x{}", sizes[0], sizes[1], sizes[2]);
  };
  if (a.workgroup_size != b.workgroup_size) return std::pair("a workgroup of " + size(a), size(b));
  if (auto found = difference(a.bindings, b.bindings)) return found;
  return difference(a.parameters, b.parameters);
}

}  // namespace

Result<std::shared_ptr<const KernelSource>> make_kernel_source(KernelSources sources) {
  std::shared_ptr<const kir::Kernel> kernel;
  if (sources.kir) kernel = std::make_shared<const kir::Kernel>(*std::move(sources.kir));
  Modules modules;
  const auto add = [&](ModuleLanguage language, std::optional<kir::OpaqueKernel>& module) {
    if (module) modules.emplace_back(language, std::make_shared<const kir::OpaqueKernel>(*std::move(module)));
  };
  add(ModuleLanguage::spirv, sources.spirv);
  add(ModuleLanguage::wgsl, sources.wgsl);
  if (!kernel && modules.empty()) return invalid_input("a kernel without sources; give it one: kir, spirv or wgsl");

  const kir::Interface& interface = kernel ? kernel->interface : modules.front().second->interface;
  const std::string_view first = kernel ? "kir" : target::to_string(modules.front().first);
  for (const auto& [language, module] : modules) {
    if (const auto found = difference(interface, module->interface))
      return invalid_input(
          format("kernel \"{}\": its {} source has {}, and its {} source has {}; sources of one kernel "
                 "have one interface",
                 interface.name, first, found->first, target::to_string(language), found->second));
    if (language == ModuleLanguage::spirv) WAVEGATE_CHECK(check_spirv_interface(*module));
    if (language == ModuleLanguage::wgsl && module->wgsl.empty())
      return invalid_input(format("kernel \"{}\": its wgsl source is empty", interface.name));
    if (language == ModuleLanguage::wgsl) WAVEGATE_CHECK(check_wgsl_interface(*module));
  }
  return std::shared_ptr<const KernelSource>(std::make_shared<FormsSource>(std::move(kernel), std::move(modules)));
}

std::shared_ptr<const KernelSource> make_kernel_source(kir::Kernel kernel) {
  return std::make_shared<FormsSource>(std::make_shared<const kir::Kernel>(std::move(kernel)), Modules{});
}

Result<std::shared_ptr<const KernelSource>> make_kernel_source(kir::OpaqueKernel kernel) {
  if (kernel.spirv.empty() && !kernel.wgsl.empty()) return make_kernel_source(KernelSources{.wgsl = std::move(kernel)});
  return make_kernel_source(KernelSources{.spirv = std::move(kernel)});
}

}  // namespace wavegate::program
