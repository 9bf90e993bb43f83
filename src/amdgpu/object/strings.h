#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/base/result.h"

namespace wavegate::amdgpu::object {

/// The strings of a table, each of which ends with a zero. Two may share bytes, and so a small file could name
/// gigabytes: all that are read together are held to a multiple of the table, which no linker comes near.
class Strings {
 public:
  explicit Strings(Bytes table) : table_(as_text(table)), left_(table_.size() * 16 + 4096) {}

  /// The string that starts at a byte of the table; a view of it.
  Result<std::string_view> at(std::uint64_t offset);

 private:
  std::string_view table_;
  std::size_t left_;
};

}  // namespace wavegate::amdgpu::object
