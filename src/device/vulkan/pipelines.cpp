#include "wavegate/device/vulkan/pipelines.h"

#include <algorithm>
#include <cstring>
#include <spirv/unified1/spirv.hpp11>

#include "wavegate/base/format.h"
#include "wavegate/device/hash.h"
#include "wavegate/device/vulkan/structure.h"
#include "wavegate/device/vulkan/vulkan_error.h"

namespace wavegate::device::vulkan {
namespace {

std::string file_name(const Context& context) {
  return format("{}.pipelines", cache_key(context.physical));
}

/// The literal string at the start of `words`, which may lack its end.
std::string_view literal(std::span<const uint32_t> words) {
  const char* text = reinterpret_cast<const char*>(words.data());
  return {text, strnlen(text, words.size() * sizeof(uint32_t))};
}

}  // namespace

bool is_cache_of(std::span<const std::byte> bytes, const VkPhysicalDeviceProperties& properties) {
  VkPipelineCacheHeaderVersionOne header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= bytes.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == properties.vendorID &&
         header.deviceID == properties.deviceID &&
         std::memcmp(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

Result<void> check_module(std::span<const uint32_t> words, const std::string& entry_point, const std::string& name) {
  constexpr size_t kHeaderWords = 5;
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber)
    return invalid_input(format("kernel \"{}\": its module is not SPIR-V of this machine's byte order", name));
  bool found = false;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t count = words[at] >> spv::WordCountShift;
    if (count == 0 || count > words.size() - at)
      return invalid_input(format("kernel \"{}\": the SPIR-V instruction at word {} overruns its module", name, at));
    const auto op = static_cast<spv::Op>(words[at] & spv::OpCodeMask);
    if (op == spv::Op::OpEntryPoint && count > 3 &&
        static_cast<spv::ExecutionModel>(words[at + 1]) == spv::ExecutionModel::GLCompute &&
        literal(words.subspan(at + 3, count - 3)) == entry_point)
      found = true;
    at += count;
  }
  if (!found)
    return invalid_input(format("kernel \"{}\": its module has no compute entry point \"{}\"", name, entry_point));
  return {};
}

Result<std::unique_ptr<PipelineStore>> PipelineStore::create(Context& context) {
  std::unique_ptr<PipelineStore> store(new PipelineStore(context));
  auto info = structure<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  const auto file = context.cache.read(file_name(context));
  if (file && is_cache_of(*file, context.physical.properties)) {
    info.initialDataSize = file->size();
    info.pInitialData = file->data();
  }
  VkPipelineCache cache = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreatePipelineCache(context.device, &info, nullptr, &cache), "making a pipeline cache");
  store->cache_ = OwnedPipelineCache(context.device, cache);
  return store;
}

PipelineStore::~PipelineStore() {
  save();
}

void PipelineStore::save() {
  if (!changed_) return;
  changed_ = false;
  size_t size = 0;
  if (vkGetPipelineCacheData(context_.device, cache_.get(), &size, nullptr) != VK_SUCCESS) return;
  std::vector<std::byte> data(size);
  if (vkGetPipelineCacheData(context_.device, cache_.get(), &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  context_.cache.write(file_name(context_), data);
}

Result<const Layout*> PipelineStore::layout(LaunchShape shape) {
  if (const auto known = layouts_.find(shape); known != layouts_.end()) return &known->second;
  Layout layout;

  std::vector<VkDescriptorSetLayoutBinding> bindings(shape.bindings);
  for (uint32_t i = 0; i < shape.bindings; ++i)
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  auto set_info = structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
  set_info.bindingCount = shape.bindings;
  set_info.pBindings = bindings.data();
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateDescriptorSetLayout(context_.device, &set_info, nullptr, &set), "making a set layout");
  layout.set = OwnedSetLayout(context_.device, set);

  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, shape.words * 4};
  auto info = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  info.setLayoutCount = 1;
  info.pSetLayouts = &set;
  info.pushConstantRangeCount = shape.words != 0 ? 1 : 0;
  info.pPushConstantRanges = &range;
  VkPipelineLayout pipeline = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreatePipelineLayout(context_.device, &info, nullptr, &pipeline), "making a pipeline layout");
  layout.pipeline = OwnedPipelineLayout(context_.device, pipeline);
  return &layouts_.emplace(shape, std::move(layout)).first->second;
}

Result<const Pipeline*> PipelineStore::get(std::span<const uint32_t> words, const std::string& entry_point,
                                           LaunchShape shape, const std::string& name) {
  const uint64_t hash = hash_bytes(std::as_bytes(std::span(entry_point)), hash_bytes(std::as_bytes(words)));
  const auto [first, last] = entries_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const Entry& entry = *known->second;
    if (std::equal(words.begin(), words.end(), entry.words.begin(), entry.words.end()) &&
        entry.entry_point == entry_point && entry.pipeline.shape == shape)
      return &entry.pipeline;
  }
  WAVEGATE_CHECK(check_module(words, entry_point, name));
  WAVEGATE_TRY(const Layout* pipeline_layout, layout(shape));

  auto module_info = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module_info.codeSize = words.size_bytes();
  module_info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateShaderModule(context_.device, &module_info, nullptr, &module),
                  format("kernel \"{}\": giving its module to the driver", name));
  const OwnedShaderModule owned_module(context_.device, module);

  auto info = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = entry_point.c_str();
  info.layout = pipeline_layout->pipeline.get();
  VkPipeline pipeline = VK_NULL_HANDLE;
  WAVEGATE_VULKAN(vkCreateComputePipelines(context_.device, cache_.get(), 1, &info, nullptr, &pipeline),
                  format("kernel \"{}\": compiling it", name));
  changed_ = true;

  auto entry = std::make_unique<Entry>();
  entry->words.assign(words.begin(), words.end());
  entry->entry_point = entry_point;
  entry->pipeline = {OwnedPipeline(context_.device, pipeline), pipeline_layout, shape};
  return &entries_.emplace(hash, std::move(entry))->second->pipeline;
}

}  // namespace wavegate::device::vulkan
