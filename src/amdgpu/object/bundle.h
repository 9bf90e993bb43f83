#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/result.h"

/// Clang's offload bundles: one file that holds a code object for each of several targets, plain or compressed.
namespace wavegate::amdgpu::object {

/// 2 GiB, more than the largest bundle of AMD's libraries and an end to a decompression bomb.
inline constexpr std::uint64_t kDefaultMaximumBundle = std::uint64_t{2} << 30;
/// 16 GiB for all bundles of one file, which bounds the time that a small file may cost.
inline constexpr std::uint64_t kDefaultMaximumUnpacked = std::uint64_t{16} << 30;

struct BundleEntry {
  std::string_view id;  ///< "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" or "host-x86_64-unknown-linux".
  Bytes content;
};

struct Bundle {
  std::vector<BundleEntry> entries;  ///< Views of the bundle's bytes.
  std::uint64_t size = 0;            ///< Bytes to the end of its last entry.
};

bool is_bundle(Bytes bytes);
bool is_compressed_bundle(Bytes bytes);

/// Reads a plain bundle that starts at the first byte; what follows it is not looked at. Refuses entries that hold more
/// bytes together than the bundle has, so that what is done with all costs no more than its size.
Result<Bundle> parse_bundle(Bytes bytes);

struct CompressedBundle {
  std::uint16_t version = 0;
  std::uint16_t method = 0;         ///< 0: zlib, 1: zstd.
  std::uint64_t size = 0;           ///< Of header and content; version 1 does not tell: all that there is.
  std::uint64_t unpacked_size = 0;  ///< As the header claims.
  Bytes content;
};

/// Reads the header of versions 1 to 3.
Result<CompressedBundle> parse_compressed_bundle(Bytes bytes);

/// The plain bundle. Refuses one that unpacks to more or less than its header says, or to more than `maximum_bytes`,
/// which it stops at.
Result<std::vector<std::byte>> unpack(const CompressedBundle& bundle,
                                      std::uint64_t maximum_bytes = kDefaultMaximumBundle);

/// Finds the bundles of either kind that follow each other, whatever lies between them. All searches together read the
/// bytes twice at most.
class BundleFinder {
 public:
  explicit BundleFinder(Bytes bytes) : text_(as_text(bytes)) {}

  /// The place of the first bundle at or after `from`, which must not be less than before; nothing where there is none.
  std::optional<std::size_t> next(std::size_t from);

 private:
  std::string_view text_;
  std::size_t plain_ = 0;  ///< The first of its kind after the last search, or npos.
  std::size_t compressed_ = 0;
};

}  // namespace wavegate::amdgpu::object
