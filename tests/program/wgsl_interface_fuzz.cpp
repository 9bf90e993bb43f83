#include <cstddef>
#include <cstdint>

#include "wavegate/program/wgsl_interface.h"

// The first byte is the number of bindings, by turns buffers and scalars of all kinds; the rest is the module.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wavegate::kir;
  if (size == 0) return 0;
  OpaqueKernel kernel;
  kernel.interface = {"fuzz", {64, 1, 1}, {}, {{"count", Type::i32}, {"a", Type::i64}}};
  constexpr Type kTypes[] = {Type::f32, Type::i32, Type::i64, Type::f16};
  for (uint32_t i = 0; i < data[0] % 8; ++i)
    kernel.interface.bindings.push_back({"b", i % 3 == 2 ? BindingKind::scalar : BindingKind::buffer, kTypes[i % 4],
                                         i % 2 == 0 ? Access::read_write : Access::read});
  kernel.wgsl.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  static_cast<void>(wavegate::program::check_wgsl_interface(kernel));
  return 0;
}
