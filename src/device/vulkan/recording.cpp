#include "wavegate/device/vulkan/recording.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "wavegate/base/format.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

struct StageRow {
  Stage stage;
  VkPipelineStageFlags stages;
  VkAccessFlags reads;
  VkAccessFlags writes;
};
constexpr StageRow kStages[] = {
    {Stage::compute, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT, VK_ACCESS_SHADER_WRITE_BIT},
    {Stage::transfer, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT, VK_ACCESS_TRANSFER_WRITE_BIT},
    {Stage::indirect, VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_ACCESS_INDIRECT_COMMAND_READ_BIT, 0},
    {Stage::conditional, VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT, VK_ACCESS_CONDITIONAL_RENDERING_READ_BIT_EXT,
     0},
};

template <typename Flags>
VkFlags combine(StageMask stages, Flags StageRow::*flags) {
  VkFlags result = 0;
  for (const StageRow& row : kStages)
    if (stages & mask(row.stage)) result |= row.*flags;
  return result;
}

}  // namespace

void full_barrier(VkCommandBuffer commands, bool with_host) {
  auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  if (with_host) stages |= VK_PIPELINE_STAGE_HOST_BIT;
  vkCmdPipelineBarrier(commands, stages, stages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

/// Turns the graph's commands into steps.
struct Recording::Preparation {
  /// What a descriptor set shows: buffer, offset and size of each binding.
  using SetKey = std::vector<std::tuple<VkBuffer, uint64_t, uint64_t>>;

  const graph::Graph& graph;
  std::span<const Pipeline* const> pipelines;
  std::span<const VkBuffer> buffers;
  Recording& out;
  std::vector<uint32_t> memory_of = {};  ///< physical buffer number by BufferId
  std::map<SetKey, uint32_t> sets = {};
  std::vector<VkDescriptorSetLayout> set_layouts = {};

  VkBuffer handle(graph::BufferId id) const { return buffers[static_cast<uint32_t>(id)]; }

  void number_memories() {
    std::map<VkBuffer, uint32_t> numbers;
    for (VkBuffer buffer : buffers)
      memory_of.push_back(numbers.emplace(buffer, static_cast<uint32_t>(numbers.size())).first->second);
    out.memory_count_ = static_cast<uint32_t>(numbers.size());
  }

  void use(const graph::Range& range, Stage stage, kir::Access access) {
    out.uses_.push_back({memory_of[static_cast<uint32_t>(range.buffer)], range.offset, range.offset + range.bytes,
                         stage, kir::reads(access), kir::writes(access)});
    out.stages_ |= mask(stage);
  }

  void add(Step step, std::vector<Item>& items) {
    step.use_count = static_cast<uint32_t>(out.uses_.size()) - step.first_use;
    items.push_back({static_cast<uint32_t>(out.steps_.size()), 0, {}});
    out.steps_.push_back(step);
  }

  Step new_step(Step::Kind kind) const {
    Step step;
    step.kind = kind;
    step.first_use = static_cast<uint32_t>(out.uses_.size());
    return step;
  }

  void prepare(const std::vector<graph::Command>& commands, std::vector<Item>& items) {
    for (const graph::Command& command : commands)
      std::visit([&](const auto& specific) { prepare(specific, items); }, command);
  }

  void prepare(const std::shared_ptr<const graph::Repeat>& repeat, std::vector<Item>& items) {
    if (repeat->count == 0) return;
    Item item;
    item.repeat = repeat->count;
    prepare(repeat->body, item.body);
    if (!item.body.empty()) items.push_back(std::move(item));
  }

  void prepare(const std::shared_ptr<const graph::Conditional>& conditional, std::vector<Item>& items) {
    if (conditional->body.empty()) return;
    add_bracket(Step::Kind::begin_conditional, conditional->predicate, items);
    prepare(conditional->body, items);
    add_bracket(Step::Kind::end_conditional, conditional->predicate, items);
  }

  /// The end reads the predicate as well: a device may read it again for each dispatch between, and a barrier between
  /// would order only what came before it.
  void add_bracket(Step::Kind kind, const graph::Range& predicate, std::vector<Item>& items) {
    Step step = new_step(kind);
    step.source = handle(predicate.buffer);
    step.source_offset = predicate.offset;
    use(predicate, Stage::conditional, kir::Access::read);
    add(step, items);
  }

  /// Precondition: it stands at the top level.
  void prepare(const std::shared_ptr<const graph::Loop>& loop, std::vector<Item>&) {
    out.bodies_.emplace_back();
    prepare(loop->body, out.bodies_.back());
    out.parts_.emplace_back();
  }

  void prepare_graph() {
    out.parts_.emplace_back();
    for (const graph::Command& command : graph.commands)
      std::visit([&](const auto& specific) { prepare(specific, out.parts_.back()); }, command);
  }

  void prepare(const graph::Dispatch& dispatch, std::vector<Item>& items) {
    Step step = new_step(dispatch.indirect ? Step::Kind::dispatch_indirect : Step::Kind::dispatch);
    step.pipeline = pipelines[static_cast<uint32_t>(dispatch.kernel)];
    SetKey key;
    for (const graph::Range& range : dispatch.bindings)
      key.emplace_back(handle(range.buffer), range.offset, range.bytes);
    const auto [known, fresh] = sets.emplace(std::move(key), static_cast<uint32_t>(sets.size()));
    if (fresh) set_layouts.push_back(step.pipeline->layout->set.get());
    step.set = known->second;
    step.first_word = static_cast<uint32_t>(out.words_.size());
    step.word_count = static_cast<uint32_t>(dispatch.words.size());
    out.words_.insert(out.words_.end(), dispatch.words.begin(), dispatch.words.end());
    step.grid = dispatch.grid;
    for (const graph::Use& each : dispatch.uses) use(each.range, Stage::compute, each.access);
    if (dispatch.indirect) {
      step.source = handle(dispatch.indirect->buffer);
      step.source_offset = dispatch.indirect->offset;
      use(*dispatch.indirect, Stage::indirect, kir::Access::read);
    } else {
      out.stages_ |= mask(Stage::compute);
    }
    add(step, items);
  }

  void prepare(const graph::Copy& copy, std::vector<Item>& items) {
    if (copy.source.bytes == 0) return;  // Vulkan has no empty copies or fills
    Step step = new_step(Step::Kind::copy);
    step.source = handle(copy.source.buffer);
    step.source_offset = copy.source.offset;
    step.destination = handle(copy.destination.buffer);
    step.destination_offset = copy.destination.offset;
    step.bytes = copy.source.bytes;
    use(copy.source, Stage::transfer, kir::Access::read);
    use(copy.destination, Stage::transfer, kir::Access::write);
    add(step, items);
  }

  void prepare(const graph::Fill& fill, std::vector<Item>& items) {
    if (fill.destination.bytes == 0) return;
    Step step = new_step(Step::Kind::fill);
    step.destination = handle(fill.destination.buffer);
    step.destination_offset = fill.destination.offset;
    step.bytes = fill.destination.bytes;
    step.word = fill.word;
    use(fill.destination, Stage::transfer, kir::Access::write);
    add(step, items);
  }

  Result<void> make_sets(Context& context) {
    if (sets.empty()) return {};
    uint32_t descriptors = 0;
    for (const auto& [key, index] : sets) descriptors += static_cast<uint32_t>(key.size());
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, std::max(descriptors, 1u)};
    auto pool_info = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool_info.maxSets = static_cast<uint32_t>(sets.size());
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    const std::string what = format("graph \"{}\": making {} descriptor sets", graph.name, sets.size());
    VkDescriptorPool pool = VK_NULL_HANDLE;
    WAVEGATE_VULKAN(vkCreateDescriptorPool(context.device, &pool_info, nullptr, &pool), what);
    out.pool_ = OwnedDescriptorPool(context.device, pool);

    auto allocate = structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = pool_info.maxSets;
    allocate.pSetLayouts = set_layouts.data();
    out.sets_.resize(sets.size());
    WAVEGATE_VULKAN(vkAllocateDescriptorSets(context.device, &allocate, out.sets_.data()), what);

    std::vector<VkDescriptorBufferInfo> infos;
    std::vector<VkWriteDescriptorSet> writes;
    infos.reserve(descriptors);
    for (const auto& [key, index] : sets) {
      if (key.empty()) continue;
      auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
      write.dstSet = out.sets_[index];
      write.descriptorCount = static_cast<uint32_t>(key.size());
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = infos.data() + infos.size();
      for (const auto& [buffer, offset, bytes] : key) infos.push_back({buffer, offset, bytes});
      writes.push_back(write);
    }
    vkUpdateDescriptorSets(context.device, static_cast<uint32_t>(writes.size()), writes.data(), 0, nullptr);
    return {};
  }
};

Result<std::unique_ptr<Recording>> Recording::prepare(Context& context, const graph::Graph& graph,
                                                      std::span<const Pipeline* const> pipelines,
                                                      std::span<const VkBuffer> buffers) {
  if (graph::encoded_size(graph.commands) > kMaximumCommands)
    return unsupported(
        format("graph \"{}\": its repeats spell out more than {} commands; give its loops smaller bounds "
               "or run them in several submissions",
               graph.name, kMaximumCommands));
  auto recording = std::make_unique<Recording>();
  recording->context_ = &context;
  Preparation preparation{graph, pipelines, buffers, *recording};
  preparation.number_memories();
  preparation.prepare_graph();
  WAVEGATE_CHECK(preparation.make_sets(context));
  return recording;
}

/// Plays the items into a command buffer, leaving out state that is already set.
class Recording::Player {
 public:
  Player(const Recording& recording, VkCommandBuffer commands)
      : recording_(recording), commands_(commands), hazards_(recording.memory_count_, recording.stages_) {}

  void play(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.repeat == 0) step(recording_.steps_[item.step]);
      for (uint32_t i = 0; i < item.repeat; ++i) play(item.body);
    }
  }

 private:
  void step(const Step& step) {
    const std::span<const MemoryUse> uses = std::span(recording_.uses_).subspan(step.first_use, step.use_count);
    if (const auto barrier = hazards_.next(uses)) emit(*barrier);
    switch (step.kind) {
      case Step::Kind::dispatch:
        bind(step);
        vkCmdDispatch(commands_, step.grid[0], step.grid[1], step.grid[2]);
        break;
      case Step::Kind::dispatch_indirect:
        bind(step);
        vkCmdDispatchIndirect(commands_, step.source, step.source_offset);
        break;
      case Step::Kind::copy: {
        const VkBufferCopy region{step.source_offset, step.destination_offset, step.bytes};
        vkCmdCopyBuffer(commands_, step.source, step.destination, 1, &region);
        break;
      }
      case Step::Kind::fill:
        vkCmdFillBuffer(commands_, step.destination, step.destination_offset, step.bytes, step.word);
        break;
      case Step::Kind::begin_conditional: {
        auto info =
            structure<VkConditionalRenderingBeginInfoEXT>(VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT);
        info.buffer = step.source;
        info.offset = step.source_offset;
        recording_.context_->begin_conditional_rendering(commands_, &info);
        break;
      }
      case Step::Kind::end_conditional: recording_.context_->end_conditional_rendering(commands_); break;
    }
  }

  void bind(const Step& step) {
    const Pipeline* pipeline = step.pipeline;
    if (pipeline != pipeline_) {
      vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline.get());
      // Sets and push constants survive a change of pipeline only under one layout.
      if (!pipeline_ || pipeline->layout != pipeline_->layout) {
        set_ = nullptr;
        words_ = nullptr;
      }
      pipeline_ = pipeline;
    }
    const VkPipelineLayout layout = pipeline->layout->pipeline.get();
    const VkDescriptorSet* set = &recording_.sets_[step.set];
    if (set != set_) {
      vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, set, 0, nullptr);
      set_ = set;
    }
    if (step.word_count == 0) return;
    const uint32_t* words = recording_.words_.data() + step.first_word;
    if (words_ == words) return;
    if (!words_ || word_count_ < step.word_count || std::memcmp(words_, words, step.word_count * 4) != 0)
      vkCmdPushConstants(commands_, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, step.word_count * 4, words);
    words_ = words;
    word_count_ = step.word_count;
  }

  void emit(const Barrier& barrier) {
    auto memory = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    memory.srcAccessMask = combine(barrier.written, &StageRow::writes);
    memory.dstAccessMask = combine(barrier.after, &StageRow::reads) | combine(barrier.after, &StageRow::writes);
    vkCmdPipelineBarrier(commands_, combine(barrier.before, &StageRow::stages),
                         combine(barrier.after, &StageRow::stages), 0, barrier.written ? 1 : 0, &memory, 0, nullptr, 0,
                         nullptr);
  }

  const Recording& recording_;
  VkCommandBuffer commands_;
  HazardTracker hazards_;
  const Pipeline* pipeline_ = nullptr;
  const VkDescriptorSet* set_ = nullptr;
  const uint32_t* words_ = nullptr;
  uint32_t word_count_ = 0;
};

void Recording::record_part(VkCommandBuffer commands, size_t part) const {
  Player(*this, commands).play(parts_[part]);
}

void Recording::record_body(VkCommandBuffer commands, size_t loop, uint32_t runs) const {
  Player player(*this, commands);
  for (uint32_t i = 0; i < runs; ++i) player.play(bodies_[loop]);
}

}  // namespace wavegate::device::vulkan
