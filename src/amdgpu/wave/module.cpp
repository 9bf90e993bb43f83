#include <algorithm>
#include <cstring>

#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::wave {

Result<std::unique_ptr<Module>> Module::load(object::CodeObject object, GuestMemory& memory) {
  auto module = std::make_unique<Module>();
  module->object_ = std::move(object);
  WAVEGATE_TRY(module->image_, object::load(module->object_, memory.next_address()));
  for (object::ImageSegment& segment : module->image_.segments) {
    if (segment.bytes.empty()) continue;
    WAVEGATE_CHECK(memory.map_at(segment.address, segment.bytes,
                                 segment.executable ? "code"
                                 : segment.writable ? "variables"
                                                    : "constants",
                                 segment.writable));
  }
  return module;
}

Result<const object::Kernel*> Module::kernel(std::string_view name) const {
  if (const object::Kernel* const found = object_.find_kernel(name)) return found;
  constexpr std::size_t kShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(object_.kernels.size(), kShown); ++i)
    names += (i == 0 ? "" : ", ") + object_.kernels[i].name;
  if (object_.kernels.size() > kShown) names += format(" and {} more", object_.kernels.size() - kShown);
  return invalid_input(format("there is no kernel \"{}\"; there are {}", name, names.empty() ? "none" : names));
}

Result<void> Launch::set(const Module& module, std::string_view name, std::span<const std::byte> value) {
  WAVEGATE_TRY(const object::Kernel* const found, module.kernel(kernel));
  const object::Argument* const argument = found->find_argument(name);
  if (argument == nullptr) {
    std::string names;
    for (const object::Argument& one : found->arguments)
      if (!object::is_hidden(one.kind))
        names += (names.empty() ? "" : ", ") + (one.name.empty() ? std::string("(without a name)") : one.name);
    return invalid_input(format("kernel \"{}\" has no argument \"{}\"; it has {}; a number from 0 names one, too",
                                kernel, name, names.empty() ? "none" : names));
  }
  if (argument->size != value.size())
    return invalid_input(
        format("kernel \"{}\": argument \"{}\" has {} bytes, not {}", kernel, name, argument->size, value.size()));
  constexpr std::uint32_t kMaximumBytes = 1 << 16;
  if (argument->offset > kMaximumBytes || argument->size > kMaximumBytes)
    return invalid_input(
        format("kernel \"{}\": argument \"{}\" lies beyond {} bytes of arguments", kernel, name, kMaximumBytes));
  arguments.resize(std::max<std::size_t>(arguments.size(), argument->offset + argument->size));
  std::memcpy(arguments.data() + argument->offset, value.data(), value.size());
  return {};
}

Result<void> Launch::set(const Module& module, std::string_view name, std::uint64_t address) {
  return set(module, name, std::as_bytes(std::span(&address, 1)));
}

Result<void> Launch::set_lds(const Module& module, std::string_view name, std::uint32_t bytes) {
  constexpr std::uint64_t kAlignment = 16;  // that of the widest access
  WAVEGATE_TRY(const object::Kernel* const found, module.kernel(kernel));
  const std::uint64_t fixed = std::max(found->lds_bytes, found->descriptor.lds_bytes);
  const std::uint64_t begin = (fixed + dynamic_lds + kAlignment - 1) / kAlignment * kAlignment;
  const std::uint64_t total = begin - fixed + bytes;
  constexpr std::uint64_t kMaximumBytes = 1 << 20;  // more than any target has
  if (total > kMaximumBytes)
    return invalid_input(
        format("kernel \"{}\": {} bytes of LDS for \"{}\" are more than any target has", kernel, bytes, name));
  const auto place = static_cast<std::uint32_t>(begin);
  WAVEGATE_CHECK(set(module, name, std::as_bytes(std::span(&place, 1))));
  dynamic_lds = static_cast<std::uint32_t>(total);
  return {};
}

}  // namespace wavegate::amdgpu::wave
