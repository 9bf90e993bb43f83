#include "wavegate/amdgpu/object/metadata.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wavegate/amdgpu/object/yaml_metadata.h"

/// What is made of a note stays near its size, and its arguments are in order. Text is YAML, as version 2 has it; what
/// starts as a map of MessagePack does is no text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::amdgpu::object;
  const auto note = std::as_bytes(std::span(data, size));
  const bool is_text = size != 0 && data[0] < 0x80;
  const auto metadata = is_text ? parse_yaml_metadata(note) : parse_metadata(note);
  if (!metadata.ok()) {
    if (metadata.error().kind != wavegate::ErrorKind::invalid_input) std::abort();
    return 0;
  }
  std::size_t items = 0;
  for (const KernelMetadata& kernel : metadata->kernels) {
    if (kernel.name.empty()) std::abort();
    items += 1 + kernel.arguments.size();
    for (std::size_t i = 1; i < kernel.arguments.size(); ++i)
      if (kernel.arguments[i - 1].offset > kernel.arguments[i].offset) std::abort();
  }
  if (items > size) std::abort();
  return 0;
}
