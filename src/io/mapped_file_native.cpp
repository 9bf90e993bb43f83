#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/io/mapped_file.h"

namespace wavegate::io {
namespace {

Result<std::span<const std::byte>> map(int descriptor, const std::string& where) {
  const auto fault = [&] {
    return invalid_input(format("cannot be read: {}", std::generic_category().message(errno)), where);
  };
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return fault();
  if (S_ISDIR(status.st_mode)) return invalid_input("is a folder; name a file", where);
  if (!S_ISREG(status.st_mode)) return invalid_input("is no regular file; copy it into one", where);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::span<const std::byte>();  // which cannot be mapped
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return fault();
  return std::span(static_cast<const std::byte*>(memory), size);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return invalid_input(format("cannot be opened: {}", std::generic_category().message(errno)), path.string());
  const auto bytes = map(descriptor, path.string());
  ::close(descriptor);  // the mapping stays
  if (!bytes.ok()) return bytes.error();
  return MappedFile(*bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace wavegate::io
