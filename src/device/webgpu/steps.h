#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/webgpu/context.h"
#include "wavegate/device/webgpu/gpu.h"
#include "wavegate/device/webgpu/owned.h"
#include "wavegate/device/webgpu/pipelines.h"
#include "wavegate/graph/graph.h"

namespace wavegate::device::webgpu {

/// A command as WebGPU takes it.
struct Step {
  enum class Kind : uint8_t { dispatch, dispatch_indirect, copy, clear };
  Kind kind = Kind::clear;
  // Dispatches.
  gpu::Pipeline pipeline = gpu::Pipeline::none;
  gpu::BindGroup bindings = gpu::BindGroup::none;
  uint32_t words_bytes = 0;   ///< shown of the launch words; 0: none
  uint32_t words_offset = 0;  ///< into them
  graph::Grid grid = {};
  // Copies and clears; `source` also holds indirect arguments. A buffer that is none is the scratch memory.
  gpu::Buffer source = gpu::Buffer::none;
  uint64_t source_offset = 0;
  gpu::Buffer destination = gpu::Buffer::none;
  uint64_t destination_offset = 0;
  uint64_t bytes = 0;
};

/// Makes steps, and owns what they refer to besides buffers and pipelines' layouts: bind groups, which equal ranges
/// share, launch words, which equal words share, and scratch memory. Whatever was made must live until the steps are
/// submitted.
class Steps {
 public:
  explicit Steps(Context& context) : context_(context) {}

  /// The kernels behind fills and writes of parts of words.
  static Result<kir::Kernel> fill_kernel();
  static Result<kir::Kernel> patch_kernel();

  /// Appends what the command takes. Ranges lie inside their buffers, and their offsets and sizes are multiples of 4.
  void dispatch(std::shared_ptr<const Pipeline> pipeline, std::span<const gpu::BoundRange> bindings,
                std::span<const uint32_t> words, graph::Grid grid, std::vector<Step>& out);
  void dispatch_indirect(std::shared_ptr<const Pipeline> pipeline, std::span<const gpu::BoundRange> bindings,
                         std::span<const uint32_t> words, gpu::Buffer arguments, uint64_t offset,
                         std::vector<Step>& out);
  /// Through scratch memory if both are in one buffer, since WebGPU copies from one to another only.
  void copy(const gpu::BoundRange& from, const gpu::BoundRange& to, std::vector<Step>& out);
  Result<void> fill(const gpu::BoundRange& range, uint32_t word, std::vector<Step>& out);
  /// word = (word & keep) | bits, for the word at that offset.
  Result<void> patch(gpu::Buffer buffer, uint64_t offset, uint32_t keep, uint32_t bits, std::vector<Step>& out);

  /// A buffer of ours, for what the steps need.
  gpu::Buffer add_buffer(std::string_view label, uint64_t bytes, uint32_t uses);

  /// Makes launch words and scratch memory, once all steps are there.
  void finish();

  gpu::BindGroup words_group(uint32_t bytes) const { return words_groups_.at(bytes).get(); }
  gpu::Buffer scratch() const { return scratch_; }

 private:
  using GroupKey = std::pair<gpu::BindGroupLayout, std::vector<std::tuple<gpu::Buffer, uint64_t, uint64_t>>>;

  Step prepare(std::shared_ptr<const Pipeline> pipeline, std::span<const gpu::BoundRange> bindings,
               std::span<const uint32_t> words);
  using MakeKernel = Result<kir::Kernel> (*)();
  Result<void> on_window(MakeKernel kernel, const gpu::BoundRange& range,
                         const std::function<std::vector<uint32_t>(uint32_t first, uint32_t count)>& words,
                         std::vector<Step>& out);

  Context& context_;
  std::vector<std::shared_ptr<const Pipeline>> pipelines_;
  std::map<MakeKernel, std::shared_ptr<const Pipeline>> own_pipelines_;
  std::map<GroupKey, Owned<gpu::BindGroup>> groups_;
  std::map<std::vector<uint32_t>, uint32_t> word_offsets_;
  std::vector<uint32_t> words_;
  std::map<uint32_t, Owned<gpu::BindGroup>> words_groups_;  ///< by the bytes that are shown
  std::vector<OwnedBuffer> buffers_;
  gpu::Buffer scratch_ = gpu::Buffer::none;
  uint64_t scratch_bytes_ = 0;
};

/// Plays steps into an encoder: opens compute passes as they are needed, and leaves out state that is already set.
class Player {
 public:
  explicit Player(gpu::Encoder encoder) : encoder_(encoder) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() { end_pass(); }

  void play(const Steps& owner, const Step& step);
  /// Ends the pass that is open, for commands of the caller's own.
  void end_pass();
  gpu::Encoder encoder() const { return encoder_; }

 private:
  void bind(const Steps& owner, const Step& step);

  gpu::Encoder encoder_;
  gpu::Pass pass_ = gpu::Pass::none;
  gpu::Pipeline pipeline_ = gpu::Pipeline::none;
  gpu::BindGroup bindings_ = gpu::BindGroup::none;
  gpu::BindGroup words_ = gpu::BindGroup::none;
  uint32_t words_offset_ = 0;
};

}  // namespace wavegate::device::webgpu
