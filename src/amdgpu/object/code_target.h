#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wavegate/amdgpu/isa/target.h"
#include "wavegate/base/result.h"

namespace wavegate::amdgpu::object {

using isa::Setting;

/// The processor that code was made for, by the names that compilers use: "gfx90a:sramecc+:xnack-". Unlike
/// isa::TargetId it may be one that we do not decode, so that its objects can be listed.
struct CodeTarget {
  std::string processor;  ///< "gfx90a" or "gfx10-3-generic"
  Setting sramecc = Setting::any;
  Setting xnack = Setting::any;

  std::string to_string() const;
  /// The decoder's target; an error that names what it decodes where there is none.
  Result<isa::Target> decoder() const;
  bool operator==(const CodeTarget&) const = default;
};

/// Reads what `to_string` writes, also after a triple, as in "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-". Nothing for
/// other text, a host's target for one.
std::optional<CodeTarget> parse_code_target(std::string_view text);

/// Whether code for `code` is what a user means who asks for `wanted`: the same processor, and no other switch where
/// both name one.
bool matches(const CodeTarget& code, const CodeTarget& wanted);

/// The target that the flags of an object's header tell, by the layout of this code object version. Nothing for a
/// number that is no processor that we know.
std::optional<CodeTarget> target_of_flags(std::uint32_t flags, std::uint32_t code_object_version);

}  // namespace wavegate::amdgpu::object
