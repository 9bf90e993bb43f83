#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/code_object.h"
#include "wavegate/amdgpu/object/image.h"
#include "wavegate/amdgpu/wave/finding.h"
#include "wavegate/amdgpu/wave/memory.h"
#include "wavegate/base/result.h"

/// Runs kernels of AMD's code objects on the CPU, a whole wave at a time:
///
///   GuestMemory memory;
///   const std::uint64_t x = memory.map(std::as_writable_bytes(std::span(values)), "x");
///   WAVEGATE_TRY(const auto module, Module::load(object, memory));
///   Launch launch{"saxpy", {1000, 1, 1}, {256, 1, 1}};
///   WAVEGATE_CHECK(launch.set(*module, "x", x));
///   WAVEGATE_TRY(const Report report, run(*module, memory, launch));
///
/// What an access reads beyond memory is 0, what it writes there is dropped, and the report has a finding of it.
namespace wavegate::amdgpu::wave {

struct Step;
struct Wave;

/// A code object in guest memory, with its variables and relocations. The object's bytes and the memory must outlive
/// it.
class Module {
 public:
  static Result<std::unique_ptr<Module>> load(object::CodeObject object, GuestMemory& memory);

  const object::CodeObject& object() const { return object_; }
  const object::Image& image() const { return image_; }
  /// The kernel of a name; an error that lists those there are.
  Result<const object::Kernel*> kernel(std::string_view name) const;

 private:
  object::CodeObject object_;
  object::Image image_;
};

/// What a kernel is started with. Sizes count work-items, so that the last groups may be partial.
struct Launch {
  std::string kernel;
  std::array<std::uint32_t, 3> threads{1, 1, 1};
  std::array<std::uint32_t, 3> group{1, 1, 1};
  std::uint32_t dynamic_lds = 0;
  std::vector<std::byte> arguments = {};  ///< the kernel's own; hidden ones are filled in by run()

  /// Sets an argument by name, or by its number among those that are not hidden: "x" or "0". An error if the kernel has
  /// none of that name, or if it is of another size.
  Result<void> set(const Module& module, std::string_view name, std::span<const std::byte> value);
  Result<void> set(const Module& module, std::string_view name, std::uint64_t address);
  /// Sets a pointer to LDS (`local float*` in OpenCL C) to so many bytes, which come behind those that there are.
  Result<void> set_lds(const Module& module, std::string_view name, std::uint32_t bytes);
};

struct Options {
  unsigned host_threads = 0;                           ///< 0: one for each of the machine's
  std::uint64_t maximum_instructions = 1'000'000'000;  ///< of one wave
  /// Looks for uninitialised registers and for races; takes one host thread and much longer.
  bool check = false;
  /// Of global memory, in which races are looked for; 150 bytes of the host's for each.
  std::size_t maximum_checked_words = std::size_t{1} << 22;
  /// Called after each instruction of a wave. Takes one host thread.
  std::function<void(const Wave&, const Step&)> observe = {};
  /// Ends the launch with an error soon after another thread sets it. Memory is then as it was at that moment.
  const std::atomic<bool>* cancelled = nullptr;
};

struct Report {
  std::uint64_t workgroups = 0;
  std::uint64_t waves = 0;
  std::uint64_t instructions = 0;       ///< of waves
  std::uint64_t lane_instructions = 0;  ///< vector instructions, counted once for each lane that was active
  double seconds = 0;
  std::uint64_t unwatched_accesses = 0;  ///< for which races were not looked for; there is a finding of the first
  std::vector<Finding> findings;
};

Result<Report> run(const Module& module, GuestMemory& memory, const Launch& launch, const Options& options = {});

}  // namespace wavegate::amdgpu::wave
