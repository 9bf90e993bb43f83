#include "wavegate/io/file.h"

/// A page has no file system: what a program names comes with it, through ProgramFileOptions::read.
namespace wavegate::io {

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t) {
  return unsupported("there are no files in a browser; give the content along with the program", path.string());
}

Result<std::vector<std::byte>> read_regular_file(const std::filesystem::path& path, std::uint64_t maximum_bytes) {
  return read_file(path, maximum_bytes);
}

}  // namespace wavegate::io
