#include "wavegate/lowering/tail.h"

#include "wavegate/lowering/composition.h"

namespace wavegate::lowering {

Result<std::optional<graph::Dispatch>> with_tail(const graph::Dispatch& body, const graph::Dispatch& tail,
                                                 KernelTable& kernels, const target::Profile& profile) {
  const auto* kernel = std::get_if<std::shared_ptr<const kir::Kernel>>(&kernels[body.kernel]);
  if (kernel == nullptr) return std::optional<graph::Dispatch>();
  const auto [width, height, depth] = (*kernel)->interface.workgroup_size;
  if (height != 1 || depth != 1) return std::optional<graph::Dispatch>();

  WAVEGATE_TRY(Composition whole, Composition::of(body, kernels));
  WAVEGATE_TRY(Composition end, Composition::of(tail, kernels));
  Result<void> composed = end.spread({1, 1, 1}, width);
  if (composed) composed = whole.then(end);
  if (!composed && composed.error().kind != ErrorKind::unsupported) return composed.error();
  if (!composed || !whole.fits(profile)) return std::optional<graph::Dispatch>();
  WAVEGATE_TRY(graph::Dispatch joined, whole.dispatch(body.label + ", " + tail.label, kernels));
  joined.indirect = body.indirect;
  return std::optional(std::move(joined));
}

}  // namespace wavegate::lowering
