#include "wavegate/amdgpu/object/code_object.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wavegate/amdgpu/object/image.h"
#include "wavegate/amdgpu/object/launch.h"

/// Whatever is read as a code object has its code within its bytes, and can be loaded or is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::amdgpu;
  using namespace wavegate::amdgpu::object;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const auto object = parse_code_object(bytes);
  if (!object.ok()) {
    if (object.error().kind == wavegate::ErrorKind::internal) std::abort();
    return 0;
  }
  for (const Kernel& kernel : object->kernels) {
    if (kernel.code.data() < bytes.data() || kernel.code.data() + kernel.code.size() > bytes.data() + bytes.size())
      std::abort();
    const auto target = object->target.decoder();
    if (!target.ok()) continue;
    const auto state = launch_state(kernel.descriptor, *target, isa::WaveWidth::wave64);
    if (state.ok() && state->user_sgprs > 31) std::abort();
  }
  LoadOptions options;
  options.maximum_bytes = 1 << 20;
  auto image = load(*object, 0x10000, options);
  if (!image.ok() && image.error().kind == wavegate::ErrorKind::internal) std::abort();
  return 0;
}
