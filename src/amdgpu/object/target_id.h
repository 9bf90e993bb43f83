#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wavegate::amdgpu::object {

/// Whether code relies on a feature of a processor that can be switched on and off.
enum class Feature : std::uint8_t { any, off, on };

/// The processor that code was made for, by the names that compilers use: "gfx90a:sramecc+:xnack-".
struct TargetId {
  std::string processor;  ///< "gfx90a" or "gfx10-3-generic"
  Feature sramecc = Feature::any;
  Feature xnack = Feature::any;

  std::string to_string() const;
  bool operator==(const TargetId&) const = default;
};

/// Reads what `to_string` writes, also after a triple, as in "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-". Nothing for
/// other text, a host's target for one.
std::optional<TargetId> parse_target_id(std::string_view text);

/// Whether code for `code` is what a user means who asks for `wanted`: the same processor, and no other switch where
/// both name one.
bool matches(const TargetId& code, const TargetId& wanted);

/// The target that the flags of an object's header tell, by the layout of this code object version. Nothing for a
/// number that is no processor that we know.
std::optional<TargetId> target_of_flags(std::uint32_t flags, std::uint32_t code_object_version);

}  // namespace wavegate::amdgpu::object
