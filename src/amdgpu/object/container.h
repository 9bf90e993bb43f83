#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/bundle.h"
#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/result.h"

/// The files in which code objects come: an object by itself, offload bundles one after the other, plain or compressed,
/// and the programs and libraries that hold bundles in a section ".hip_fatbin".
namespace wavegate::amdgpu::object {

/// The bytes of one code object within a file.
struct FoundObject {
  std::string place;  ///< "bundle 3, hipv4-amdgcn-amd-amdhsa--gfx1030"; empty for an object by itself.
  std::string id;     ///< Of the bundle's entry; empty for an object by itself.
  Bytes bytes;
  std::shared_ptr<const std::vector<std::byte>>
      storage;  ///< Owns `bytes` if they were compressed; else they are the file's.
};

/// In bytes. A compressed file may unpack to a thousand times its size, or to thirty thousand times with zstd.
struct ContainerLimits {
  std::uint64_t maximum_bundle = kDefaultMaximumBundle;      ///< Of one bundle, unpacked.
  std::uint64_t maximum_unpacked = kDefaultMaximumUnpacked;  ///< Of all compressed bundles together.
};

/// True if the bytes start as one of these files does.
bool is_container(Bytes file);

/// Calls `visit` for each code object in the order of the file, and ends with the first error of either. One compressed
/// bundle at a time is unpacked, so memory is bounded by the largest, whatever the visitor does not keep, and time by
/// what all may unpack to; entries for hosts and empty ones are passed over.
Result<void> visit_code_objects(Bytes file, const std::function<Result<void>(const FoundObject&)>& visit,
                                const ContainerLimits& limits = {});

}  // namespace wavegate::amdgpu::object
