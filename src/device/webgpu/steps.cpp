#include "wavegate/device/webgpu/steps.h"

#include <algorithm>
#include <string>

#include "wavegate/device/webgpu/variants.h"
#include "wavegate/kir/builder.h"

namespace wavegate::device::webgpu {
namespace {

using kir::Expr;

constexpr uint32_t kFillWorkgroup = 64;

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// A grid of at least that many workgroups of one dimension each.
graph::Grid grid_of(uint64_t workgroups, uint32_t largest) {
  const uint64_t x = std::min<uint64_t>(workgroups, largest);
  return {static_cast<uint32_t>(x), static_cast<uint32_t>((workgroups + x - 1) / x), 1};
}

}  // namespace

Result<kir::Kernel> Steps::fill_kernel() {
  kir::Builder b("wavegate_fill", {kFillWorkgroup});
  auto data = b.buffer("data", kir::Type::i32, kir::Access::read_write);
  const Expr first = b.parameter("first", kir::Type::i32);
  const Expr count = b.parameter("count", kir::Type::i32);
  const Expr word = b.parameter("word", kir::Type::i32);
  const Expr i = (b.workgroup_id(1) * b.grid(0) + b.workgroup_id(0)) * kFillWorkgroup + b.local_id(0);
  b.if_(i < count, [&] { data[first + i] = word; });
  return b.finish();
}

Result<kir::Kernel> Steps::patch_kernel() {
  kir::Builder b("wavegate_patch");
  auto data = b.buffer("data", kir::Type::i32, kir::Access::read_write);
  const Expr word = b.parameter("word", kir::Type::i32);
  const Expr keep = b.parameter("keep", kir::Type::i32);
  const Expr bits = b.parameter("bits", kir::Type::i32);
  data[word] = (data[word] & keep) | bits;
  return b.finish();
}

Step Steps::prepare(std::shared_ptr<const Pipeline> pipeline, std::span<const gpu::BoundRange> bindings,
                    std::span<const uint32_t> words) {
  Step step;
  step.pipeline = pipeline->pipeline.get();
  GroupKey key{pipeline->bindings, {}};
  for (const gpu::BoundRange& range : bindings) key.second.emplace_back(range.buffer, range.offset, range.bytes);
  const auto [group, is_new] = groups_.try_emplace(std::move(key));
  if (is_new) group->second = Owned(gpu::create_bind_group(context_.device, pipeline->bindings, bindings));
  step.bindings = group->second.get();
  if (!words.empty()) {
    const auto next = static_cast<uint32_t>(words_.size() * 4);
    const auto [known, is_first] = word_offsets_.try_emplace({words.begin(), words.end()}, next);
    if (is_first) {
      words_.insert(words_.end(), words.begin(), words.end());
      words_.resize(static_cast<size_t>(round_up(words_.size() * 4, context_.uniform_alignment) / 4));
    }
    step.words_offset = known->second;
    step.words_bytes = static_cast<uint32_t>(round_up(words.size() * 4, 16));
    words_groups_.try_emplace(step.words_bytes);
  }
  pipelines_.push_back(std::move(pipeline));
  return step;
}

void Steps::dispatch(std::shared_ptr<const Pipeline> pipeline, std::span<const gpu::BoundRange> bindings,
                     std::span<const uint32_t> words, graph::Grid grid, std::vector<Step>& out) {
  if (std::ranges::find(grid, 0u) != grid.end()) return;
  Step step = prepare(std::move(pipeline), bindings, words);
  step.kind = Step::Kind::dispatch;
  step.grid = grid;
  out.push_back(step);
}

void Steps::dispatch_indirect(std::shared_ptr<const Pipeline> pipeline, std::span<const gpu::BoundRange> bindings,
                              std::span<const uint32_t> words, gpu::Buffer arguments, uint64_t offset,
                              std::vector<Step>& out) {
  Step step = prepare(std::move(pipeline), bindings, words);
  step.kind = Step::Kind::dispatch_indirect;
  step.source = arguments;
  step.source_offset = offset;
  out.push_back(step);
}

void Steps::copy(const gpu::BoundRange& from, const gpu::BoundRange& to, std::vector<Step>& out) {
  Step step;
  step.kind = Step::Kind::copy;
  step.source = from.buffer;
  step.source_offset = from.offset;
  step.destination = to.buffer;
  step.destination_offset = to.offset;
  step.bytes = from.bytes;
  if (from.buffer != to.buffer) return out.push_back(step);
  scratch_bytes_ = std::max(scratch_bytes_, from.bytes);
  Step there = step;
  there.destination = gpu::Buffer::none;
  there.destination_offset = 0;
  step.source = gpu::Buffer::none;
  step.source_offset = 0;
  out.push_back(there);
  out.push_back(step);
}

/// Runs a kernel over a range: bound where a binding may begin, in windows of what a binding may show.
Result<void> Steps::on_window(MakeKernel kernel, const gpu::BoundRange& range,
                              const std::function<std::vector<uint32_t>(uint32_t, uint32_t)>& words,
                              std::vector<Step>& out) {
  std::shared_ptr<const Pipeline>& pipeline = own_pipelines_[kernel];
  if (pipeline == nullptr) {
    WAVEGATE_TRY(const kir::Kernel made, kernel());
    WAVEGATE_TRY(pipeline, make_pipeline(*context_.pipelines, context_.profile, made, {true}));
  }
  const target::Limits& limits = context_.profile.limits;
  const uint64_t largest = limits.binding_bytes / limits.binding_alignment * limits.binding_alignment;
  const uint64_t end = range.offset + range.bytes;
  for (uint64_t at = range.offset; at < end;) {
    const uint64_t begin = at / limits.binding_alignment * limits.binding_alignment;
    const uint64_t window_end = std::min(end, begin + largest);
    const gpu::BoundRange window{range.buffer, begin, window_end - begin};
    const auto first = static_cast<uint32_t>((at - begin) / 4);
    const auto count = static_cast<uint32_t>((window_end - at) / 4);
    const uint64_t workgroups = (uint64_t{count} + kFillWorkgroup - 1) / kFillWorkgroup;
    dispatch(pipeline, {&window, 1}, words(first, count), grid_of(workgroups, limits.grid[0]), out);
    at = window_end;
  }
  return {};
}

Result<void> Steps::fill(const gpu::BoundRange& range, uint32_t word, std::vector<Step>& out) {
  if (word == 0) {
    Step step;
    step.kind = Step::Kind::clear;
    step.destination = range.buffer;
    step.destination_offset = range.offset;
    step.bytes = range.bytes;
    out.push_back(step);
    return {};
  }
  return on_window(
      fill_kernel, range,
      [&](uint32_t first, uint32_t count) {
        return std::vector<uint32_t>{first, count, word};
      },
      out);
}

Result<void> Steps::patch(gpu::Buffer buffer, uint64_t offset, uint32_t keep, uint32_t bits, std::vector<Step>& out) {
  return on_window(
      patch_kernel, {buffer, offset, 4},
      [&](uint32_t first, uint32_t) {
        return std::vector<uint32_t>{first, keep, bits};
      },
      out);
}

gpu::Buffer Steps::add_buffer(std::string_view label, uint64_t bytes, uint32_t uses) {
  return buffers_.emplace_back(gpu::create_buffer(context_.device, label, bytes, uses)).get();
}

void Steps::finish() {
  if (scratch_bytes_ != 0)
    scratch_ = add_buffer("wavegate scratch", scratch_bytes_, gpu::kCopySource | gpu::kCopyDestination);
  if (words_.empty()) return;
  const uint64_t bytes = words_.size() * 4;
  const gpu::Buffer words = add_buffer("wavegate launch words", bytes, gpu::kUniform | gpu::kCopyDestination);
  gpu::write_buffer(context_.device, words, 0, std::as_bytes(std::span(words_)));
  for (auto& [shown, group] : words_groups_) {
    const gpu::BoundRange range{words, 0, shown};
    group = Owned(gpu::create_bind_group(context_.device, context_.pipelines->words_layout(), {&range, 1}));
  }
  words_ = {};
}

void Player::end_pass() {
  if (pass_ == gpu::Pass::none) return;
  gpu::end_pass(pass_);
  pass_ = gpu::Pass::none;
  pipeline_ = gpu::Pipeline::none;
  bindings_ = words_ = gpu::BindGroup::none;
}

void Player::bind(const Steps& owner, const Step& step) {
  if (pass_ == gpu::Pass::none) pass_ = gpu::begin_pass(encoder_);
  if (pipeline_ != step.pipeline) gpu::set_pipeline(pass_, step.pipeline);
  if (bindings_ != step.bindings) gpu::set_bind_group(pass_, 0, step.bindings);
  pipeline_ = step.pipeline;
  bindings_ = step.bindings;
  if (step.words_bytes == 0) return;
  const gpu::BindGroup words = owner.words_group(step.words_bytes);
  if (words_ != words || words_offset_ != step.words_offset) gpu::set_bind_group(pass_, 1, words, step.words_offset);
  words_ = words;
  words_offset_ = step.words_offset;
}

void Player::play(const Steps& owner, const Step& step) {
  const auto buffer = [&](gpu::Buffer named) { return named == gpu::Buffer::none ? owner.scratch() : named; };
  switch (step.kind) {
    case Step::Kind::dispatch: bind(owner, step); return gpu::dispatch(pass_, step.grid[0], step.grid[1], step.grid[2]);
    case Step::Kind::dispatch_indirect:
      bind(owner, step);
      return gpu::dispatch_indirect(pass_, step.source, step.source_offset);
    case Step::Kind::copy:
      end_pass();
      return gpu::copy_buffer(encoder_, buffer(step.source), step.source_offset, buffer(step.destination),
                              step.destination_offset, step.bytes);
    case Step::Kind::clear:
      end_pass();
      return gpu::clear_buffer(encoder_, step.destination, step.destination_offset, step.bytes);
  }
}

}  // namespace wavegate::device::webgpu
