#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace wavegate::emit::wgsl {

/// Functions that a module gets if it needs them, for what WGSL has no exact expression of.
enum class Helper : uint8_t {
  is_nan,
  float_order,  ///< f32 -> u32, rising with the number, -0 below +0
  min_f,        ///< (f32, f32) -> f32; of a NaN and a number, the number
  max_f,
  f32_to_u32,  ///< saturates, NaN gives zero
  f32_to_i32,  ///< the same, as the bits of a signed integer
  mul_high_u,  ///< (u32, u32) -> the high word of the product
  mul_high_s,
  uniform_value,  ///< (value, local index) -> the first invocation's value, in all of the workgroup
};
inline constexpr int kHelperCount = static_cast<int>(Helper::uniform_value) + 1;

/// Which helpers a module needs.
class HelperSet {
 public:
  /// Adds a helper and those that it calls.
  void need(Helper helper);
  bool has(Helper helper) const { return needed_[static_cast<size_t>(helper)]; }

 private:
  std::array<bool, kHelperCount> needed_ = {};
};

std::string_view name_of(Helper helper);
/// The function's definition, each line ended.
std::string_view text_of(Helper helper);

/// A name that a helper takes at the module's scope besides its own.
inline constexpr std::string_view kUniformSlot = "uniform_slot";

}  // namespace wavegate::emit::wgsl
