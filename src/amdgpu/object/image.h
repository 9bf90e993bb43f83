#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/code_object.h"
#include "wavegate/base/result.h"

/// A code object as it lies in a device's memory: code, constants and variables at their addresses, with what refers to
/// addresses filled in.
namespace wavegate::amdgpu::object {

struct ImageSegment {
  std::uint64_t address = 0;  ///< Where it lies, the base included.
  std::vector<std::byte> bytes;
  bool writable = false;
  bool executable = false;
};

struct Image {
  std::uint64_t base = 0;
  std::vector<ImageSegment> segments;  ///< By address, without overlaps.

  /// Where an address of the object, such as Kernel::entry, lies now.
  std::uint64_t address_of(std::uint64_t object_address) const { return base + object_address; }
  /// The bytes at an address of the image; empty where they do not all lie in one segment.
  std::span<std::byte> at(std::uint64_t address, std::uint64_t size);
};

struct LoadOptions {
  /// Of all segments together. A file may claim any amount of zeros.
  std::uint64_t maximum_bytes = std::uint64_t{1} << 30;
  /// The address of a symbol that the object uses and does not define; without one such an object is refused.
  std::function<std::optional<std::uint64_t>(std::string_view name)> resolve = {};
};

/// Lays the object out at a base address, a multiple of 4096, and applies its dynamic relocations. Owns what it
/// returns: the object's bytes may go. A relocation that a linker should have resolved is unsupported, by its number.
Result<Image> load(const CodeObject& object, std::uint64_t base, const LoadOptions& options = {});

}  // namespace wavegate::amdgpu::object
