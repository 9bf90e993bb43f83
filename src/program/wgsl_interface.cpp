#include "wavegate/program/wgsl_interface.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/wgsl_layout.h"
#include "wavegate/kir/wgsl_module.h"
#include "wavegate/kir/wgsl_resources.h"

namespace wavegate::program {
namespace {

using kir::WgslAttribute;
using kir::WgslFunction;
using kir::WgslModule;
using kir::WgslResource;

/// A module's name made fit for a message: a hostile one may hold anything.
std::string printable(std::string_view name) {
  std::string text(name.substr(0, 64));
  for (char& character : text)
    if (character < ' ' || character > '~') character = '?';
  return text;
}

Result<const WgslFunction*> find_entry_point(const WgslModule& module, const std::string& name) {
  std::string others;
  for (const WgslFunction& function : module.functions) {
    if (!function.is_compute()) continue;
    if (function.name == name) return &function;
    if (others.size() < 256) others += format("{}\"{}\"", others.empty() ? "" : ", ", printable(function.name));
  }
  if (others.empty()) return invalid_input("the module has no compute entry point; mark a function @compute");
  return invalid_input(format("the module has no compute entry point \"{}\"; it has {}", printable(name), others));
}

Result<void> check_workgroup_size(const kir::Interface& interface, const WgslModule& module,
                                  const WgslFunction& entry) {
  const WgslAttribute* attribute = kir::find_attribute(entry.attributes, "workgroup_size");
  if (attribute == nullptr || attribute->arguments.empty() || attribute->arguments.size() > 3)
    return invalid_input("the module's entry point has no workgroup size");
  std::array<uint32_t, 3> size = {1, 1, 1};
  for (size_t axis = 0; axis < attribute->arguments.size(); ++axis) {
    const auto value = module.integer(attribute->arguments[axis]);
    if (!value)
      return unsupported(
          format("the module's workgroup size in {} is neither a number nor a constant that is one, nor "
                 "their product; write it as a number",
                 "xyz"[axis]));
    size[axis] = *value;
  }
  const auto& declared = interface.workgroup_size;
  if (size == declared) return {};
  return invalid_input(format("a workgroup of {}x{}x{} is declared, but the module's is {}x{}x{}; declare that",
                              declared[0], declared[1], declared[2], size[0], size[1], size[2]));
}

std::string place(const WgslResource& resource) {
  const auto text = [](const std::optional<uint32_t>& number) { return number ? format("{}", *number) : "none"; };
  return format("\"{}\" at group {}, binding {}", printable(resource.variable->name), text(resource.group),
                text(resource.binding));
}

Result<void> check_type(const WgslModule& module, const kir::BindingInfo& binding, const WgslResource& resource) {
  const auto layout = kir::wgsl_layout(module, resource.variable->type);
  if (!layout)
    return invalid_input(
        format("the type of the module's buffer {} cannot be read; write it with numbers for sizes", place(resource)));
  if (kir::bit_width(binding.type) < 8)
    return invalid_input(format("binding \"{}\" is declared {}, which cannot be stored in memory", binding.name,
                                kir::to_string(binding.type)));
  const uint32_t size = kir::byte_size(binding.type);
  if (binding.kind == kir::BindingKind::scalar) {
    if (size != 4)
      return invalid_input(format("binding \"{}\" is declared a scalar of type {}; a scalar is i32 or f32",
                                  binding.name, kir::to_string(binding.type)));
    const bool is_unsized = layout->has_scalar_elements && layout->size == 0 && layout->stride == size;
    if ((layout->is_scalar && layout->size == size) || is_unsized) return {};
    return invalid_input(
        format("binding \"{}\" is declared a scalar, but the module's buffer {} is not one number of "
               "32 bits",
               binding.name, place(resource)));
  }
  // A structure's elements are where its members are: what holds of the whole holds of them.
  const uint64_t apart = layout->stride.value_or(layout->alignment);
  const bool exact = layout->has_scalar_elements || layout->is_scalar;
  if (exact ? apart == size : apart % size == 0) return {};
  return invalid_input(
      format("binding \"{}\" is declared {} of {} bytes, but the elements of the module's buffer {} are {} bytes "
             "apart; declare "
             "the type that the module has",
             binding.name, kir::to_string(binding.type), size, place(resource), apart));
}

Result<void> check_access(const kir::BindingInfo& binding, const WgslResource& resource) {
  const bool is_written = kir::writes(binding.access);
  const std::string_view access = resource.variable->access.empty() ? "read" : resource.variable->access;
  if ((access == "read_write") == is_written) return {};
  return invalid_input(format(
      "binding \"{}\" is declared {}, but the module's buffer {} is {}; make them agree, since WebGPU binds what is "
      "read alone differently",
      binding.name, kir::to_string(binding.access), place(resource), printable(access)));
}

Result<void> check_launch_words(const kir::Interface& interface, const WgslModule& module,
                                const WgslResource& resource) {
  uint64_t declared = 0;
  for (const kir::ParameterInfo& parameter : interface.parameters)
    declared += kir::bit_width(parameter.type) == 64 ? 8 : 4;
  declared = (declared + 15) / 16 * 16;
  const auto layout = kir::wgsl_layout(module, resource.variable->type);
  if (!layout || layout->size == 0)
    return invalid_input(
        format("the type of the module's uniform buffer {} cannot be read, or has no fixed size", place(resource)));
  if (layout->size <= declared) return {};
  return invalid_input(format(
      "the module's uniform buffer {} has {} bytes, but the declared parameters give {}; declare a parameter for "
      "each of its words, in order",
      place(resource), layout->size, declared));
}

Result<void> check_resources(const kir::Interface& interface, const WgslModule& module,
                             const std::vector<WgslResource>& resources) {
  std::vector<bool> found(interface.bindings.size());
  for (const WgslResource& resource : resources) {
    const std::string_view space = resource.variable->address_space;
    if (space == "uniform" && resource.group == 1u && resource.binding == 0u) {
      WAVEGATE_CHECK(check_launch_words(interface, module, resource));
      continue;
    }
    if (space == "uniform")
      return invalid_input(
          format("the module uses a uniform buffer {}; that of the launch words is at group 1, binding "
                 "0, and others must be storage buffers",
                 place(resource)));
    if (space != "storage")
      return invalid_input(
          format("the module uses {}, which is no storage buffer; bind storage buffers only", place(resource)));
    if (resource.group != 0u || !resource.binding || *resource.binding >= interface.bindings.size())
      return invalid_input(
          format("the module uses a buffer {}, but {} bindings are declared, from group 0, binding 0 on",
                 place(resource), interface.bindings.size()));
    const kir::BindingInfo& binding = interface.bindings[*resource.binding];
    if (found[*resource.binding])
      return invalid_input(format("the module has two buffers for binding \"{}\"; give each its own", binding.name));
    found[*resource.binding] = true;
    WAVEGATE_CHECK(check_type(module, binding, resource));
    WAVEGATE_CHECK(check_access(binding, resource));
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      return invalid_input(
          format("binding \"{}\" is declared, but the module has no storage buffer at group 0, binding {}; remove the "
                 "declaration or use the buffer",
                 interface.bindings[i].name, i));
  return {};
}

Result<void> check_module(const kir::OpaqueKernel& kernel) {
  WAVEGATE_TRY(const WgslModule module, kir::read_wgsl(kernel.wgsl));
  WAVEGATE_TRY(const WgslFunction* entry, find_entry_point(module, kernel.entry_point));
  WAVEGATE_CHECK(check_workgroup_size(kernel.interface, module, *entry));
  return check_resources(kernel.interface, module, kir::find_resources(module, *entry));
}

}  // namespace

Result<void> check_wgsl_interface(const kir::OpaqueKernel& kernel) {
  Result<void> result = check_module(kernel);
  if (result.ok()) return result;
  return Error{result.error().kind, format("kernel \"{}\": {}", kernel.interface.name, result.error().message),
               result.error().where};
}

}  // namespace wavegate::program
