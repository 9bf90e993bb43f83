#include "wavegate/lowering/kernel_table.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/emit/spirv/early_out.h"
#include "wavegate/emit/wgsl/early_out.h"
#include "wavegate/kir/compose.h"
#include "wavegate/kir/passes/parameters_to_scalars.h"
#include "wavegate/kir/passes/simplify.h"
#include "wavegate/kir/passes/sink_guard.h"
#include "wavegate/kir/text.h"

namespace wavegate::lowering {

graph::KernelId KernelTable::push(kir::KernelCode code) {
  kernels_.push_back(std::move(code));
  return graph::KernelId{static_cast<uint32_t>(kernels_.size() - 1)};
}

bool KernelTable::has_opaque() const {
  return std::ranges::any_of(kernels_, [](const kir::KernelCode& code) {
    return std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(code);
  });
}

Result<graph::KernelId> KernelTable::add(kir::Kernel kernel) {
  WAVEGATE_CHECK(kir::simplify(kernel));
  std::string text = kir::print(kernel);
  const auto known = by_text_.find(text);
  if (known != by_text_.end()) return known->second;
  const graph::KernelId id = push(std::make_shared<const kir::Kernel>(std::move(kernel)));
  by_text_.emplace(std::move(text), id);
  return id;
}

Result<graph::KernelId> KernelTable::guarded(graph::KernelId kernel) {
  const auto known = guarded_.find(kernel);
  if (known != guarded_.end()) return known->second;
  Result<graph::KernelId> result = make_guarded(kernel);
  guarded_.emplace(kernel, result);
  return result;
}

Result<graph::KernelId> KernelTable::make_guarded(graph::KernelId kernel) {
  const kir::KernelCode code = (*this)[kernel];
  if (const auto* ours = std::get_if<std::shared_ptr<const kir::Kernel>>(&code)) {
    // A GPU waits long for what it loads: the latch is loaded without a launch word, and others on its way. A processor
    // core gains nothing from that, and the reference device checks loads.
    const kir::Interface& interface = (*ours)->interface;
    const bool has_room =
        profile_.features.shares_buffers &&  // the latch lies in the arena, which the kernel may write
        interface.buffer_count() + (interface.scalar_count() > 0 ? 2 : 1) <= profile_.limits.storage_buffers;
    const bool has_word =
        interface.launch_words() + 1 <= profile_.limits.immediate_words &&
        (interface.scalar_count() > 0 || interface.buffer_count() + 1 <= profile_.limits.storage_buffers);
    if (!has_room && !has_word)
      return unsupported(format(
          "kernel \"{}\" leaves the device no room for a latch among its buffers and launch words", interface.name));
    const bool by_buffer = has_room && (!profile_.is_cpu || !has_word);
    WAVEGATE_TRY(kir::Kernel changed,
                 kir::guard(**ours, "latch", by_buffer ? kir::BindingKind::buffer : kir::BindingKind::scalar));
    if (!profile_.is_cpu) WAVEGATE_CHECK(kir::sink_guard(changed));
    return add(std::move(changed));
  }
  kir::OpaqueKernel changed = *std::get<std::shared_ptr<const kir::OpaqueKernel>>(code);
  if (changed.spirv.empty()) {
    WAVEGATE_TRY(changed.wgsl, emit::wgsl::early_out(changed));
  } else {
    WAVEGATE_TRY(changed.spirv, emit::spirv::early_out(changed));
  }
  std::string name = "latch";
  const auto taken = [&](const kir::BindingInfo& binding) { return binding.name == name; };
  while (std::ranges::any_of(changed.interface.bindings, taken)) name += '_';
  changed.interface.bindings.push_back({name, kir::BindingKind::scalar, kir::Type::i32, kir::Access::read});
  return push(std::make_shared<const kir::OpaqueKernel>(std::move(changed)));
}

Result<graph::KernelId> KernelTable::add(const std::shared_ptr<const program::KernelSource>& source,
                                         const std::vector<bool>& from_scalar) {
  const auto known = by_source_.find({source.get(), from_scalar});
  if (known != by_source_.end()) return known->second;

  WAVEGATE_TRY(kir::KernelCode code, source->specialise(profile_));
  if (!(kir::interface_of(code) == source->interface()))
    return internal_error("a specialised kernel has another interface than its source", source->interface().name);
  const auto* kernel = std::get_if<std::shared_ptr<const kir::Kernel>>(&code);
  graph::KernelId id{};
  if (kernel == nullptr) {
    if (std::ranges::find(from_scalar, true) != from_scalar.end())
      return unsupported(
          format("kernel \"{}\" is an opaque module, whose parameters are numbers given at launch; bind "
                 "the scalar as a buffer of one word instead",
                 source->interface().name));
    id = push(std::move(code));
  } else {
    kir::Kernel changed = **kernel;
    WAVEGATE_CHECK(kir::parameters_to_scalars(changed, from_scalar));
    WAVEGATE_TRY(id, add(std::move(changed)));
  }
  sources_.push_back(source);
  by_source_.emplace(std::pair{source.get(), from_scalar}, id);
  return id;
}

}  // namespace wavegate::lowering
