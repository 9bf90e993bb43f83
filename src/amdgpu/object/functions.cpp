#include "wavegate/amdgpu/object/functions.h"

#include <algorithm>

namespace wavegate::amdgpu::object {

std::vector<Function> find_functions(const CodeObject& object) {
  std::vector<Function> functions;
  for (const Kernel& kernel : object.kernels)
    functions.push_back({kernel.name, kernel.entry, kernel.code, kernel.wave_width, &kernel});
  const std::uint32_t wave_width = object.kernels.empty() ? 64 : object.kernels.front().wave_width;
  for (const Symbol& symbol : object.symbols) {
    if (symbol.section == 0 || symbol.type != elf::kSymbolFunction || symbol.value % 4 != 0) continue;
    const auto code = object.elf.at_address(symbol.value, symbol.size);
    if (code && !code->empty()) functions.push_back({symbol.name, symbol.value, *code, wave_width, nullptr});
  }
  // Kernels stand before the symbols of their own functions, which go.
  std::ranges::stable_sort(functions, {}, &Function::address);
  const auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
  for (std::size_t i = 1; i < functions.size(); ++i) {
    Function& before = functions[i - 1];
    const std::uint64_t room = functions[i].address - before.address;
    if (room < before.code.size()) before.code = before.code.first(static_cast<std::size_t>(room));
  }
  return functions;
}

std::vector<const Kernel*> select_kernels(const CodeObject& object, std::string_view name) {
  std::vector<const Kernel*> exact;
  std::vector<const Kernel*> similar;
  for (const Kernel& kernel : object.kernels) {
    if (kernel.name == name) exact.push_back(&kernel);
    if (kernel.name.find(name) != std::string::npos) similar.push_back(&kernel);
  }
  return exact.empty() ? similar : exact;
}

}  // namespace wavegate::amdgpu::object
