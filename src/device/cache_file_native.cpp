#include "wavegate/device/cache_file.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "wavegate/base/format.h"
#include "wavegate/device/hash.h"

namespace wavegate::device {
namespace {

namespace fs = std::filesystem;

struct Header {
  uint64_t magic = 0x3165746167766177;  // "wavgate1"
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

constexpr uint64_t kLargest = uint64_t{256} << 20;

}  // namespace

CacheDirectory CacheDirectory::standard() {
  // The XDG base directory specification: a relative path there is to be ignored.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && fs::path(xdg).is_absolute())
    return CacheDirectory(fs::path(xdg) / "wavegate");
  if (const char* home = std::getenv("HOME"); home && fs::path(home).is_absolute())
    return CacheDirectory(fs::path(home) / ".cache" / "wavegate");
  return {};
}

std::optional<std::vector<std::byte>> CacheDirectory::read(const std::string& name) const {
  if (path_.empty()) return std::nullopt;
  std::ifstream file(path_ / name, std::ios::binary);
  Header header;
  const Header expected;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (header.magic != expected.magic || header.bytes > kLargest) return std::nullopt;
  std::error_code error;
  if (fs::file_size(path_ / name, error) != sizeof header + header.bytes || error) return std::nullopt;
  std::vector<std::byte> contents(header.bytes);
  if (!file.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(contents.size())))
    return std::nullopt;
  if (hash_bytes(contents) != header.checksum) return std::nullopt;
  return contents;
}

void CacheDirectory::write(const std::string& name, std::span<const std::byte> contents) const {
  if (path_.empty() || contents.size() > kLargest) return;
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return;
  const fs::path temporary = path_ / format("{}.{}.{}", name, getpid(), static_cast<const void*>(contents.data()));
  {
    Header header;
    header.bytes = contents.size();
    header.checksum = hash_bytes(contents);
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
    file.close();
    if (!file) {
      fs::remove(temporary, error);
      return;
    }
  }
  fs::rename(temporary, path_ / name, error);
  if (error) fs::remove(temporary, error);
}

}  // namespace wavegate::device
