#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "wavegate/emit/spirv/early_out.h"
#include "wavegate/kir/spirv_module.h"

// The first byte is the number of bindings; the rest is the module. What comes out must be readable again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  wavegate::kir::OpaqueKernel kernel;
  kernel.interface.name = "fuzz";
  for (uint32_t i = 0; i < data[0]; ++i)
    kernel.interface.bindings.push_back(
        {"b", wavegate::kir::BindingKind::buffer, wavegate::kir::Type::f32, wavegate::kir::Access::read_write});
  kernel.spirv.resize((size - 1) / 4);
  if (!kernel.spirv.empty()) std::memcpy(kernel.spirv.data(), data + 1, kernel.spirv.size() * 4);
  const auto words = wavegate::emit::spirv::early_out(kernel);
  if (words.ok() && !wavegate::kir::read_spirv(*words).ok()) std::abort();
  return 0;
}
