#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wavegate/program/spirv_interface.h"

// The first byte chooses how many bindings are declared and how; the rest is the module.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  wavegate::kir::OpaqueKernel kernel;
  kernel.interface.name = "fuzz";
  for (uint32_t i = 0; i < (data[0] & 3u); ++i)
    kernel.interface.bindings.push_back(
        {"b", (data[0] >> (2 + i) & 1) != 0 ? wavegate::kir::BindingKind::scalar : wavegate::kir::BindingKind::buffer,
         wavegate::kir::Type::f32, wavegate::kir::Access::read_write});
  kernel.spirv.resize((size - 1) / 4);
  if (!kernel.spirv.empty()) std::memcpy(kernel.spirv.data(), data + 1, kernel.spirv.size() * 4);
  static_cast<void>(wavegate::program::check_spirv_interface(kernel));
  return 0;
}
