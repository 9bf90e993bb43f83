#include <cstdint>

#include "wavegate/api/kept.h"

#define WAVEGATE_IMPORT(name) extern "C" __attribute__((import_module("host"), import_name(#name)))

/// The size of what is kept, or -1, and its content.
WAVEGATE_IMPORT(kept_size) double import_kept_size(const char* name, uint32_t name_bytes);
WAVEGATE_IMPORT(kept_content) void import_kept_content(const char* name, uint32_t name_bytes, std::byte* into);
WAVEGATE_IMPORT(keep)
void import_keep(const char* name, uint32_t name_bytes, const std::byte* data, uint32_t bytes);

namespace wavegate {

void keep(const std::string& name, std::span<const std::byte> bytes) {
  import_keep(name.data(), static_cast<uint32_t>(name.size()), bytes.data(), static_cast<uint32_t>(bytes.size()));
}

std::optional<std::vector<std::byte>> read_kept(const std::string& name) {
  const auto name_bytes = static_cast<uint32_t>(name.size());
  const double size = import_kept_size(name.data(), name_bytes);
  if (size < 0) return std::nullopt;
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  import_kept_content(name.data(), name_bytes, bytes.data());
  return bytes;
}

}  // namespace wavegate
