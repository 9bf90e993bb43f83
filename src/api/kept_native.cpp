#include "wavegate/api/kept.h"
#include "wavegate/device/cache_file.h"

namespace wavegate {

void keep(const std::string& name, std::span<const std::byte> bytes) {
  device::CacheDirectory::standard().write(name, bytes);
}

std::optional<std::vector<std::byte>> read_kept(const std::string& name) {
  return device::CacheDirectory::standard().read(name);
}

}  // namespace wavegate
