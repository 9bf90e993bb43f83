#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wavegate/emit/wgsl/early_out.h"
#include "wavegate/kir/wgsl_module.h"

// The input is the module. What comes out must be readable again, with one variable more.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wavegate::kir::OpaqueKernel kernel;
  kernel.interface.name = "fuzz";
  kernel.wgsl.assign(reinterpret_cast<const char*>(data), size);
  const auto text = wavegate::emit::wgsl::early_out(kernel);
  if (!text.ok()) return 0;
  const auto before = wavegate::kir::read_wgsl(kernel.wgsl);
  const auto after = wavegate::kir::read_wgsl(*text);
  if (!after.ok() || after->variables.size() != before->variables.size() + 1) std::abort();
  return 0;
}
