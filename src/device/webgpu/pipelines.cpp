#include "wavegate/device/webgpu/pipelines.h"

namespace wavegate::device::webgpu {

gpu::BindGroupLayout PipelineStore::layout(const std::vector<gpu::BindingKind>& kinds) {
  const auto [place, is_new] = layouts_.try_emplace(kinds);
  if (is_new) place->second = Owned(gpu::create_bind_group_layout(device_, kinds));
  return place->second.get();
}

gpu::BindGroupLayout PipelineStore::words_layout() {
  return layout({gpu::BindingKind::uniform});
}

std::shared_ptr<const Pipeline> PipelineStore::get(Module module, const std::string& name) {
  const auto [place, is_new] = pipelines_.try_emplace(std::move(module));
  if (!is_new) return place->second;
  const Module& made_of = place->first;
  std::vector<gpu::BindGroupLayout> groups = {layout(made_of.bindings)};
  if (made_of.has_words) groups.push_back(words_layout());
  const Owned<gpu::ShaderModule> shader(gpu::create_shader_module(device_, name, made_of.wgsl));
  auto pipeline = std::make_shared<Pipeline>();
  pipeline->pipeline = Owned(gpu::create_pipeline(device_, name, shader.get(), made_of.entry_point, groups));
  pipeline->bindings = groups.front();
  pipeline->has_words = made_of.has_words;
  place->second = std::move(pipeline);
  return place->second;
}

}  // namespace wavegate::device::webgpu
