#include "wavegate/emit/wgsl/early_out.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/kir/wgsl_module.h"

namespace wavegate::emit::wgsl {
namespace {

/// An identifier that the module does not have.
std::string free_name(const kir::WgslModule& module) {
  std::set<std::string_view> taken;
  for (const kir::WgslToken& token : module.tokens) taken.insert(token.text);
  std::string name = "latch";
  for (uint32_t i = 0; taken.contains(name); ++i) name = format("latch_{}", i);
  return name;
}

}  // namespace

Result<std::string> early_out(const kir::OpaqueKernel& kernel) {
  const auto named = [&](std::string_view what) { return format("kernel \"{}\": {}", kernel.interface.name, what); };
  Result<kir::WgslModule> module = kir::read_wgsl(kernel.wgsl);
  if (!module.ok()) return Error{module.error().kind, named(module.error().message), module.error().where};
  const auto entry = std::ranges::find_if(module->functions, [&](const kir::WgslFunction& function) {
    return function.name == kernel.entry_point && function.is_compute();
  });
  if (entry == module->functions.end())
    return invalid_input(named(format("the module has no compute entry point \"{}\"", kernel.entry_point)));

  const std::string latch = free_name(*module);
  const size_t body = module->offset_of(module->tokens[entry->body.first - 1]) + 1;  // behind the brace
  std::string text = kernel.wgsl.substr(0, body);
  text += format("\n  if ({} == 0u) {{\n    return;\n  }}", latch);
  text += kernel.wgsl.substr(body);
  // On a line of its own, should the text end with a comment.
  text += format("\n@group(0) @binding({}) var<storage, read> {}: u32;\n", kernel.interface.bindings.size(), latch);
  return text;
}

}  // namespace wavegate::emit::wgsl
