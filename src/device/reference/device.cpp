#include "wavegate/device/reference/device.h"

#include <bit>
#include <new>

#include "wavegate/base/format.h"
#include "wavegate/device/check.h"
#include "wavegate/device/reference/executable.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::device::reference {
namespace {

target::Profile make_profile(const Options& options) {
  target::Profile profile;
  profile.name = "reference";
  profile.backend = "reference";
  profile.driver = "interpreter of the kernel IR";
  profile.is_cpu = true;
  profile.subgroup_size = options.subgroup_size;
  profile.minimum_subgroup_size = options.subgroup_size;
  profile.maximum_subgroup_size = options.subgroup_size;

  target::Limits& limits = profile.limits;
  limits.grid = {1u << 20, 65535, 65535};
  limits.workgroup_size = {1024, 1024, 1024};
  limits.workgroup_invocations = 1024;
  limits.workgroup_memory = options.workgroup_memory;
  limits.storage_buffers = options.storage_buffers;
  limits.immediate_words = options.immediate_words;
  limits.kernel_loop_iterations = options.kernel_loop_iterations;
  limits.binding_alignment = 4;
  limits.binding_bytes = options.memory_bytes;
  limits.buffer_bytes = options.memory_bytes;
  limits.memory_bytes = options.memory_bytes;

  target::Features& features = profile.features;
  features.int8 = features.int16 = features.int64 = true;
  features.float16 = features.float64 = true;
  features.int64_atomics = true;
  features.subgroup_operations = true;
  features.conditional_rendering = true;
  features.timestamps = true;

  target::FloatBehaviour& floats = profile.floats;
  floats.fused_fma_f32 = floats.fused_fma_f64 = true;
  floats.keeps_denormals_f32 = floats.keeps_denormals_f64 = true;
  floats.exact_division_f32 = floats.exact_square_root_f32 = true;
  return profile;
}

class ReferenceDevice : public Device {
 public:
  explicit ReferenceDevice(const Options& options) : options_(options), profile_(make_profile(options)) {}

  const target::Profile& profile() const override { return profile_; }
  const Counters& counters() const override { return counters_; }

  Result<std::unique_ptr<Executable>> load(std::shared_ptr<const graph::Graph> graph) override {
    if (!std::has_single_bit(options_.subgroup_size) || options_.subgroup_size > 128) {
      return invalid_input(
          format("a subgroup size of {} is not a power of two from 1 to 128; make the reference "
                 "device with another",
                 options_.subgroup_size));
    }
    WAVEGATE_CHECK(graph::verify(*graph));
    WAVEGATE_CHECK(check_graph(*graph, profile_));
    for (const graph::Kernel& kernel : graph->kernels) {
      const auto* ours = std::get_if<std::shared_ptr<const kir::Kernel>>(&kernel);
      if (!ours) {
        return unsupported(format("kernel \"{}\": the reference device cannot run a finished module; give the kernel "
                                  "in kir as well",
                                  graph::interface_of(kernel).name),
                           format("graph \"{}\"", graph->name));
      }
      WAVEGATE_CHECK(kir::verify(**ours));
    }
    return ReferenceExecutable::make(std::move(graph), options_, counters_);
  }

  Result<std::shared_ptr<Buffer>> allocate(uint64_t bytes) override {
    try {
      if (bytes <= profile_.limits.buffer_bytes) return std::shared_ptr<Buffer>(new ReferenceBuffer(bytes));
    } catch (const std::bad_alloc&) {
      // The host has less than the profile promises.
    }
    return device_error(format("a buffer of {} bytes exceeds the reference device's memory; use a smaller one", bytes));
  }

 private:
  Options options_;
  target::Profile profile_;
  Counters counters_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Options& options) {
  return std::make_unique<ReferenceDevice>(options);
}

}  // namespace wavegate::device::reference
