#include "wavegate/amdgpu/object/descriptor.h"

#include <algorithm>
#include <array>
#include <limits>

namespace wavegate::amdgpu::object {
namespace {

struct UserSgprRow {
  std::string_view name;
  std::uint32_t registers;
};

constexpr std::array<UserSgprRow, kUserSgprKinds> kUserSgprs = {{
    {"private_segment_buffer", 4},
    {"dispatch_pointer", 2},
    {"queue_pointer", 2},
    {"kernarg_pointer", 2},
    {"dispatch_id", 2},
    {"flat_scratch_init", 2},
    {"private_segment_size", 1},
}};

constexpr std::uint16_t kUserSgprMask = (1 << kUserSgprKinds) - 1;
constexpr std::uint16_t kWave32 = 1 << 10;
constexpr std::uint16_t kDynamicStack = 1 << 11;
/// amd_kernel_code_t's code_properties has the bits of the descriptor's, but for this one.
constexpr std::uint32_t kKernelCodeDynamicStack = 1 << 20;

/// Two to the power that a byte holds, if it is one of those that make sense.
std::uint32_t power_of_two(std::uint8_t exponent, std::uint32_t otherwise) {
  return exponent == 0 || exponent > 12 ? otherwise : 1u << exponent;
}

}  // namespace

std::string_view to_string(UserSgpr value) {
  return kUserSgprs[static_cast<std::size_t>(value)].name;
}

std::uint32_t size_of(UserSgpr value) {
  return kUserSgprs[static_cast<std::size_t>(value)].registers;
}

Descriptor read_descriptor(std::span<const std::byte, kDescriptorSize> bytes) {
  Descriptor descriptor;
  descriptor.lds_bytes = read_known<std::uint32_t>(bytes, 0);
  descriptor.scratch_bytes = read_known<std::uint32_t>(bytes, 4);
  descriptor.kernarg_bytes = read_known<std::uint32_t>(bytes, 8);
  descriptor.entry_offset = read_known<std::int64_t>(bytes, 16);
  descriptor.rsrc3 = read_known<std::uint32_t>(bytes, 44);
  descriptor.rsrc1 = read_known<std::uint32_t>(bytes, 48);
  descriptor.rsrc2 = read_known<std::uint32_t>(bytes, 52);
  const auto properties = read_known<std::uint16_t>(bytes, 56);
  descriptor.user_sgprs = static_cast<std::uint8_t>(properties & kUserSgprMask);
  descriptor.wave32 = (properties & kWave32) != 0;
  descriptor.dynamic_stack = (properties & kDynamicStack) != 0;
  const auto preload = read_known<std::uint16_t>(bytes, 58);
  descriptor.preloaded_dwords = static_cast<std::uint8_t>(preload & 0x7f);
  descriptor.preload_offset = static_cast<std::uint16_t>(preload >> 7);
  return descriptor;
}

KernelCode read_kernel_code(std::span<const std::byte, kKernelCodeSize> bytes) {
  KernelCode code;
  Descriptor& descriptor = code.descriptor;
  descriptor.entry_offset = read_known<std::int64_t>(bytes, 16);
  descriptor.rsrc1 = read_known<std::uint32_t>(bytes, 48);
  descriptor.rsrc2 = read_known<std::uint32_t>(bytes, 52);
  const auto properties = read_known<std::uint32_t>(bytes, 56);
  descriptor.user_sgprs = static_cast<std::uint8_t>(properties & kUserSgprMask);
  descriptor.wave32 = (properties & kWave32) != 0;
  descriptor.dynamic_stack = (properties & kKernelCodeDynamicStack) != 0;
  descriptor.scratch_bytes = read_known<std::uint32_t>(bytes, 60);
  descriptor.lds_bytes = read_known<std::uint32_t>(bytes, 64);
  descriptor.kernarg_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(read_known<std::uint64_t>(bytes, 72), std::numeric_limits<std::uint32_t>::max()));
  code.sgprs = read_known<std::uint16_t>(bytes, 84);
  code.vgprs = read_known<std::uint16_t>(bytes, 86);
  code.kernarg_alignment = power_of_two(read_known<std::uint8_t>(bytes, 100), 0);
  code.wave_width = power_of_two(read_known<std::uint8_t>(bytes, 103), 64);
  return code;
}

}  // namespace wavegate::amdgpu::object
