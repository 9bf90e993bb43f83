#include "wavegate/amdgpu/object/sidecar.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wavegate/amdgpu/object/launch.h"

/// A state that is read makes an object whose kernel can be launched.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::amdgpu;
  using namespace wavegate::amdgpu::object;
  const auto state = parse_sidecar(as_text(std::as_bytes(std::span(data, size))));
  if (!state.ok()) {
    if (state.error().kind == wavegate::ErrorKind::internal) std::abort();
    return 0;
  }
  constexpr std::array<std::byte, 4> kCode = {};
  const auto object = make_code_object(kCode, *state);
  const auto target = state->target.decoder();
  if (!object.ok() || !target.ok()) std::abort();
  const auto wave = state->wave32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  const auto launch = launch_state(object->kernels.at(0).descriptor, *target, wave);
  if (!launch.ok() || launch->user_sgprs < state->user_sgprs.size()) std::abort();
  return 0;
}
