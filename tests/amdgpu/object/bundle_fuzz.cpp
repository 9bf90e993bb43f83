#include "wavegate/amdgpu/object/bundle.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wavegate/amdgpu/object/container.h"

/// Objects that are found hold no more bytes together than the file, or than its bundles were unpacked to.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::amdgpu::object;
  constexpr std::uint64_t kLimit = 1 << 20;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  std::uint64_t plain = 0;
  const auto result =
      visit_code_objects(bytes,
                         [&](const FoundObject& found) -> wavegate::Result<void> {
                           if (found.storage == nullptr) {
                             plain += found.bytes.size();
                           } else if (found.bytes.size() > found.storage->size() || found.storage->size() > kLimit) {
                             std::abort();
                           }
                           return {};
                         },
                         {kLimit, 4 * kLimit});
  if (!result.ok() && result.error().kind == wavegate::ErrorKind::internal) std::abort();
  if (plain > size) std::abort();
  return 0;
}
