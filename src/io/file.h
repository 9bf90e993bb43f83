#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"

namespace wavegate::io {

/// 8 GiB: more than any matrix that 31-bit indices hold in practice, and an end to a decompression bomb.
inline constexpr std::uint64_t kDefaultMaximumBytes = std::uint64_t{8} << 30;

/// The content of a file, decompressed if it starts as gzip does, whatever the file is called. Neither the file nor
/// what it decompresses to may exceed `maximum_bytes`; memory stays within a small multiple of that.
/// Pipes and devices are read to their end. A missing file, a directory or a file that may not be read is invalid
/// input.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path,
                                         std::uint64_t maximum_bytes = kDefaultMaximumBytes);

/// The same of a regular file alone. For paths that a file names rather than a user: a pipe or a device may never end.
Result<std::vector<std::byte>> read_regular_file(const std::filesystem::path& path,
                                                 std::uint64_t maximum_bytes = kDefaultMaximumBytes);

/// True if the bytes start with gzip's magic number.
bool is_gzip(std::span<const std::byte> bytes);

/// Decompresses one or more gzip members. `where` names the source in errors. Refuses a damaged or cut stream, bytes
/// after the last member, and a stream that exceeds `maximum_bytes`, which it stops at.
Result<std::vector<std::byte>> decompress_gzip(std::span<const std::byte> bytes, std::string_view where,
                                               std::uint64_t maximum_bytes = kDefaultMaximumBytes);

/// Writes a file so that a reader sees the old content or the new one, never a part: into a new file beside it, flushed
/// to the disk, then renamed. On an error the old file is as it was and nothing is left beside it. Symbolic links
/// are followed and an existing file's permissions kept. What is no regular file (a pipe, a device) is written
/// directly.
Result<void> write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The bytes as text, for the parsers of text formats. The view lives as long as the bytes.
std::string_view as_text(std::span<const std::byte> bytes);

}  // namespace wavegate::io
