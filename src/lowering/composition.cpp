#include "wavegate/lowering/composition.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/kir/compose.h"
#include "wavegate/kir/in_one_workgroup.h"
#include "wavegate/kir/passes/merge_bindings.h"
#include "wavegate/kir/passes/scalars_to_workgroup.h"

namespace wavegate::lowering {

using kir::BindingKind;

Result<Composition> Composition::of(const graph::Dispatch& dispatch, const KernelTable& kernels) {
  Composition made;
  made.kernel_ = *std::get<std::shared_ptr<const kir::Kernel>>(kernels[dispatch.kernel]);
  const kir::Interface& interface = made.kernel_.interface;
  size_t buffer = 0, word = 0;
  for (const kir::BindingInfo& binding : interface.bindings) {
    if (binding.kind == BindingKind::buffer)
      made.operands_.push_back({dispatch.bindings[buffer++], false});
    else
      made.operands_.push_back({{dispatch.bindings.back().buffer, uint64_t{dispatch.words[word++]} * 4, 4}, true});
  }
  if (word > 0) made.arena_ = dispatch.bindings.back();
  made.parameters_.assign(dispatch.words.begin() + static_cast<std::ptrdiff_t>(word), dispatch.words.end());
  made.uses_ = dispatch.uses;
  return made;
}

Result<void> Composition::spread(const graph::Grid& grid, uint32_t width) {
  WAVEGATE_TRY(kernel_, kir::in_one_workgroup(kernel_, grid, width));
  return {};
}

void Composition::append(const Composition& other) {
  operands_.insert(operands_.end(), other.operands_.begin(), other.operands_.end());
  parameters_.insert(parameters_.end(), other.parameters_.begin(), other.parameters_.end());
  uses_.insert(uses_.end(), other.uses_.begin(), other.uses_.end());
  if (!arena_) arena_ = other.arena_;
}

Result<void> Composition::merge() {
  std::vector<uint32_t> same_as;
  std::vector<Operand> kept;
  const auto& bindings = kernel_.interface.bindings;
  for (uint32_t i = 0; i < operands_.size(); ++i) {
    const auto same = std::ranges::find_if(operands_, [&](const Operand& other) { return other.meets(operands_[i]); });
    const auto first = static_cast<uint32_t>(same - operands_.begin());
    if (bindings[first].type != bindings[i].type)
      return unsupported(format("one part takes binding \"{}\" for {}, another for {}", bindings[i].name,
                                kir::to_string(bindings[first].type), kir::to_string(bindings[i].type)));
    if (!(*same == operands_[i]))
      return unsupported(format("one part binds {} bytes of \"{}\", another {}", operands_[i].range.bytes,
                                bindings[i].name, same->range.bytes));
    same_as.push_back(first);
    if (first == i) kept.push_back(operands_[i]);
  }
  WAVEGATE_CHECK(kir::merge_bindings(kernel_, same_as));
  operands_ = std::move(kept);
  return {};
}

Result<void> Composition::then(const Composition& next) {
  WAVEGATE_TRY(kernel_, kir::sequence(kernel_, next.kernel_));
  append(next);
  return merge();
}

Result<void> Composition::repeat_while(const Composition& test, const graph::Range& word) {
  const auto latch = std::ranges::find(test.operands_, Operand{word, true}) - test.operands_.begin();
  WAVEGATE_TRY(kernel_, kir::repeat_while(test.kernel_, static_cast<uint32_t>(latch), kernel_));
  Composition whole = test;
  whole.kernel_ = std::move(kernel_);
  whole.append(*this);
  *this = std::move(whole);
  return merge();
}

Result<void> Composition::only_if(const graph::Range& word) {
  WAVEGATE_TRY(kernel_, kir::only_if(kernel_, "latch"));
  operands_.push_back({word, true});
  uses_.push_back({word, kir::Access::read});
  if (!arena_) arena_ = graph::Range{word.buffer, 0, 0};
  return merge();
}

Result<void> Composition::keep_scalars_near(const target::Profile& profile) {
  kir::Kernel changed = kernel_;
  WAVEGATE_CHECK(kir::scalars_to_workgroup(changed));
  if (kir::workgroup_bytes(changed) <= profile.limits.workgroup_memory) kernel_ = std::move(changed);
  return {};
}

bool Composition::fits(const target::Profile& profile) const {
  const kir::Interface& interface = kernel_.interface;
  return interface.buffer_count() + (interface.scalar_count() > 0 ? 1 : 0) <= profile.limits.storage_buffers &&
         interface.launch_words() <= profile.limits.immediate_words &&
         interface.workgroup_size[0] <= profile.limits.workgroup_invocations &&
         kir::workgroup_bytes(kernel_) <= profile.limits.workgroup_memory;
}

Result<graph::Dispatch> Composition::dispatch(std::string label, KernelTable& kernels) const {
  graph::Dispatch made;
  made.label = std::move(label);
  WAVEGATE_TRY(made.kernel, kernels.add(kernel_));
  for (const Operand& operand : operands_) {
    if (operand.is_word)
      made.words.push_back(static_cast<uint32_t>(operand.range.offset / 4));
    else
      made.bindings.push_back(operand.range);
  }
  if (arena_) made.bindings.push_back(*arena_);
  made.words.insert(made.words.end(), parameters_.begin(), parameters_.end());
  made.uses = uses_;
  return made;
}

}  // namespace wavegate::lowering
