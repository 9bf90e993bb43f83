#include "wavegate/lowering/work.h"

#include <algorithm>

#include "wavegate/base/format.h"
#include "wavegate/lowering/support_kernels.h"

namespace wavegate::lowering {
namespace {

using kir::Access;

/// Words of a copy or fill that becomes a kernel: 32-bit indices in the kernel.
Result<uint32_t> as_words(uint64_t bytes, const std::string& what) {
  if (bytes / 4 <= UINT32_MAX) return static_cast<uint32_t>(bytes / 4);
  return unsupported(format("{} reaches past 16 GiB and cannot be gated; split it", what));
}

graph::Grid word_grid(uint32_t words, const target::Profile& profile) {
  const uint32_t workgroups = program::grid_for({words, 1, 1}, {kWordsPerWorkgroup, 1, 1})[0];
  return {std::min(workgroups, profile.limits.grid[0]), 1, 1};
}

graph::Range all_of(graph::BufferId buffer, const Values& values) {
  const auto id = static_cast<uint32_t>(buffer);
  return {buffer, 0, (values.program().buffers()[id].bytes() + 3) / 4 * 4};
}

/// What a kernel that moves words takes a buffer for: what other kernels do, where that has 32 bits.
kir::Type word_type(kir::Type element) {
  return element == kir::Type::f32 ? element : kir::Type::i32;
}

bool is_one_workgroup(const kir::KernelCode& code, const graph::Grid& grid) {
  return std::holds_alternative<std::shared_ptr<const kir::Kernel>>(code) && grid == graph::Grid{1, 1, 1};
}

}  // namespace

void use_word(graph::Dispatch& dispatch, program::Scalar scalar, Access access, const Values& values) {
  dispatch.words.push_back(values.word(scalar));
  dispatch.uses.push_back({values.range(scalar), access});
}

Result<Work> make_work(const program::Dispatch& node, const Values& values, KernelTable& kernels) {
  std::vector<bool> from_scalar;
  for (const auto& argument : node.parameters) from_scalar.push_back(std::holds_alternative<program::Scalar>(argument));
  Work work;
  graph::Dispatch& dispatch = work.dispatch;
  dispatch.label = node.label;
  dispatch.grid = node.grid ? *node.grid : node.computed_grid->maximum;
  WAVEGATE_TRY(dispatch.kernel, kernels.add(node.kernel, from_scalar));
  const kir::KernelCode& code = kernels[dispatch.kernel];
  const kir::Interface& interface = kir::interface_of(code);
  const bool opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(code);

  for (size_t i = 0; i < node.bindings.size(); ++i) {
    const Access access = interface.bindings[i].access;
    if (const auto* buffer = std::get_if<program::Buffer>(&node.bindings[i])) {
      dispatch.bindings.push_back(values.range(*buffer));
      dispatch.uses.push_back({values.range(*buffer), access});
    } else {
      const auto scalar = std::get<program::Scalar>(node.bindings[i]);
      if (opaque) {
        dispatch.bindings.push_back(values.range(scalar));
        dispatch.uses.push_back({values.range(scalar), access});
      } else {
        use_word(dispatch, scalar, access, values);
      }
    }
  }
  for (const auto& argument : node.parameters)
    if (const auto* scalar = std::get_if<program::Scalar>(&argument)) use_word(dispatch, *scalar, Access::read, values);
  for (const auto& argument : node.parameters)
    if (const auto* number = std::get_if<program::Literal>(&argument)) dispatch.words.push_back(number->bits);
  if (!opaque && interface.scalar_count() > 0) dispatch.bindings.push_back({values.arena, 0, 0});
  work.one_workgroup = node.grid && is_one_workgroup(code, dispatch.grid);
  return work;
}

graph::Copy make_copy(const program::Copy& node, const Values& values) {
  const uint64_t size = kir::byte_size(values.program().info(node.source).element);
  return {node.label,
          {values.range(node.source).buffer, node.source_offset * size, node.count * size},
          {values.range(node.destination).buffer, node.destination_offset * size, node.count * size}};
}

graph::Fill make_fill(const program::Fill& node, const Values& values) {
  return {node.label, {values.range(node.destination).buffer, node.offset * 4, node.count * 4}, node.value.bits};
}

Result<Work> make_work(const program::Copy& node, const Values& values, const target::Profile& profile,
                       KernelTable& kernels) {
  const graph::Copy copy = make_copy(node, values);
  const std::string what = format("copy \"{}\"", node.label);
  WAVEGATE_CHECK(as_words(copy.source.offset + copy.source.bytes, what));
  WAVEGATE_CHECK(as_words(copy.destination.offset + copy.destination.bytes, what));
  WAVEGATE_TRY(const uint32_t count, as_words(copy.source.bytes, what));
  Work work;
  graph::Dispatch& dispatch = work.dispatch;
  dispatch.label = node.label;
  WAVEGATE_TRY(kir::Kernel kernel, copy_words_kernel(word_type(values.program().info(node.source).element)));
  WAVEGATE_TRY(dispatch.kernel, kernels.add(std::move(kernel)));
  dispatch.bindings = {all_of(copy.source.buffer, values), all_of(copy.destination.buffer, values)};
  dispatch.uses = {{copy.source, Access::read}, {copy.destination, Access::write}};
  dispatch.words = {static_cast<uint32_t>(copy.source.offset / 4), static_cast<uint32_t>(copy.destination.offset / 4),
                    count};
  dispatch.grid = word_grid(count, profile);
  work.one_workgroup = dispatch.grid == graph::Grid{1, 1, 1};
  return work;
}

Result<Work> make_work(const program::Fill& node, const Values& values, const target::Profile& profile,
                       KernelTable& kernels) {
  const graph::Fill fill = make_fill(node, values);
  const std::string what = format("fill \"{}\"", node.label);
  WAVEGATE_CHECK(as_words(fill.destination.offset + fill.destination.bytes, what));
  WAVEGATE_TRY(const uint32_t count, as_words(fill.destination.bytes, what));
  Work work;
  graph::Dispatch& dispatch = work.dispatch;
  dispatch.label = node.label;
  WAVEGATE_TRY(kir::Kernel kernel, fill_words_kernel(word_type(values.program().info(node.destination).element)));
  WAVEGATE_TRY(dispatch.kernel, kernels.add(std::move(kernel)));
  dispatch.bindings = {all_of(fill.destination.buffer, values)};
  dispatch.uses = {{fill.destination, Access::write}};
  dispatch.words = {static_cast<uint32_t>(fill.destination.offset / 4), count, node.value.bits};
  dispatch.grid = word_grid(count, profile);
  work.one_workgroup = dispatch.grid == graph::Grid{1, 1, 1};
  return work;
}

Result<void> guard(Work& work, program::Scalar latch, const Values& values, KernelTable& kernels) {
  graph::Dispatch& dispatch = work.dispatch;
  const kir::KernelCode& before = kernels[dispatch.kernel];
  const bool opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(before);
  const uint32_t scalars = kir::interface_of(before).scalar_count();
  WAVEGATE_TRY(const graph::KernelId guarded, kernels.guarded(dispatch.kernel));
  dispatch.kernel = guarded;
  dispatch.uses.push_back({values.range(latch), Access::read});
  const bool by_buffer = kir::interface_of(kernels[guarded]).bindings.back().kind == kir::BindingKind::buffer;
  if (opaque) {
    dispatch.bindings.push_back(values.range(latch));
  } else if (by_buffer) {
    dispatch.bindings.insert(dispatch.bindings.end() - (scalars > 0 ? 1 : 0), values.range(latch));
  } else {
    dispatch.words.insert(dispatch.words.begin() + scalars, values.word(latch));
    if (scalars == 0) dispatch.bindings.push_back({values.arena, 0, 0});
  }
  work.always_runs = true;
  return {};
}

}  // namespace wavegate::lowering
