#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/kir/type.h"

namespace wavegate::kir {

/// What a kernel does to a binding. `write` promises that a dispatch overwrites all of it without reading it; a kernel
/// that leaves some of it as it was is `read_write`.
enum class Access : uint8_t { read, write, read_write };

constexpr bool reads(Access access) {
  return access != Access::write;
}
constexpr bool writes(Access access) {
  return access != Access::read;
}
std::string_view to_string(Access access);

enum class BindingKind : uint8_t {
  buffer,  ///< a storage buffer: elements of one type, its length known at run time
  scalar,  ///< one 32-bit word of the scalar arena; its slot is given at launch
};

/// One thing that a dispatch binds, in declaration order.
struct BindingInfo {
  std::string name;
  BindingKind kind = BindingKind::buffer;
  Type type = Type::i32;  ///< element type; i32 or f32 for a scalar
  Access access = Access::read;
  friend bool operator==(const BindingInfo&, const BindingInfo&) = default;
};

/// A launch parameter: the same value for every invocation, given at launch.
struct ParameterInfo {
  std::string name;
  Type type = Type::i32;
  friend bool operator==(const ParameterInfo&, const ParameterInfo&) = default;
};

/// What a caller must know of a kernel, ours or opaque.
///
/// Launch layout, the same on every device: storage buffers take bindings 0, 1, ... of set 0 in declaration
/// order; the scalar arena follows them when there is a scalar binding. The launch words (push constants) are
/// first the arena slot (a word index) of each scalar binding, then each parameter, low word first.
struct Interface {
  std::string name;
  std::array<uint32_t, 3> workgroup_size = {1, 1, 1};  ///< invocations
  std::vector<BindingInfo> bindings;
  std::vector<ParameterInfo> parameters;

  uint32_t buffer_count() const;
  uint32_t scalar_count() const;
  /// Number of 32-bit launch words: one a scalar binding, one or two a parameter.
  uint32_t launch_words() const;
  /// Index of the first launch word of a parameter.
  uint32_t parameter_word(uint32_t parameter) const;
  friend bool operator==(const Interface&, const Interface&) = default;
};

}  // namespace wavegate::kir
