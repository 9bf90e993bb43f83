#include "wavegate/kir/wgsl_resources.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "wavegate/base/format.h"
#include "wavegate/kir/wgsl_layout.h"

namespace wavegate::kir {
namespace {

/// All names that the entry point can come to, in its own body and in those of the functions that it names.
std::set<std::string_view> names_used(const WgslModule& module, const WgslFunction& entry) {
  std::map<std::string_view, const WgslFunction*> functions;
  for (const WgslFunction& function : module.functions) functions.emplace(function.name, &function);
  std::set<std::string_view> names;
  std::vector<const WgslFunction*> open = {&entry};
  while (!open.empty()) {
    const WgslFunction& function = *open.back();
    open.pop_back();
    for (uint32_t i = function.body.first; i < function.body.end; ++i) {
      const WgslToken& token = module.tokens[i];
      if (token.kind != WgslToken::Kind::identifier || !names.insert(token.text).second) continue;
      const auto called = functions.find(token.text);
      if (called != functions.end() && called->second != &entry) open.push_back(called->second);
    }
  }
  return names;
}

std::optional<uint32_t> number_of(const WgslModule& module, const WgslVariable& variable, std::string_view name) {
  const WgslAttribute* attribute = find_attribute(variable.attributes, name);
  if (attribute == nullptr || attribute->arguments.size() != 1) return std::nullopt;
  return module.integer(attribute->arguments[0]);
}

}  // namespace

std::vector<WgslResource> find_resources(const WgslModule& module, const WgslFunction& entry) {
  const bool has_one_entry = std::ranges::count_if(module.functions, &WgslFunction::is_compute) == 1;
  const std::set<std::string_view> used = has_one_entry ? std::set<std::string_view>() : names_used(module, entry);
  std::vector<WgslResource> resources;
  for (const WgslVariable& variable : module.variables) {
    if (variable.address_space == "workgroup" || variable.address_space == "private") continue;
    if (!has_one_entry && !used.contains(variable.name)) continue;
    resources.push_back({&variable, number_of(module, variable, "group"), number_of(module, variable, "binding")});
  }
  return resources;
}

Result<std::vector<uint64_t>> least_binding_bytes(const OpaqueKernel& kernel) {
  WAVEGATE_TRY(const WgslModule module, read_wgsl(kernel.wgsl));
  const auto entry = std::ranges::find_if(module.functions, [&](const WgslFunction& function) {
    return function.is_compute() && function.name == kernel.entry_point;
  });
  if (entry == module.functions.end())
    return invalid_input(format("the module has no compute entry point \"{}\"", kernel.entry_point));
  std::vector<uint64_t> least(kernel.interface.bindings.size());
  for (const WgslResource& resource : find_resources(module, *entry)) {
    if (resource.group != 0u || !resource.binding || *resource.binding >= least.size()) continue;
    if (const auto layout = wgsl_layout(module, resource.variable->type)) least[*resource.binding] = layout->least;
  }
  return least;
}

}  // namespace wavegate::kir
