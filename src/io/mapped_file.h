#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "wavegate/base/result.h"

namespace wavegate::io {

/// A regular file's content as memory, of which the system reads what is looked at: for files of which a small part is
/// needed. Whoever cuts the file meanwhile ends this process (SIGBUS), so what others may write is read by read_file.
class MappedFile {
 public:
  /// A missing file, a folder or a file that may not be read is invalid input.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace wavegate::io
