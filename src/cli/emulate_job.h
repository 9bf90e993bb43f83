#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/io/npy.h"

namespace wavegate::cli {

/// A guest buffer: what it holds at first, and where it is written afterwards.
struct EmulatedBuffer {
  std::string name;
  io::Array array;
  bool writable = true;
  std::string output;  ///< empty: not written
  std::string expected;
  std::uint64_t address = 0;
};

/// An argument of a launch: the bytes of a number, or a buffer.
struct EmulatedArgument {
  std::string name;
  std::vector<std::byte> value;
  std::optional<std::size_t> buffer;  ///< index into EmulationJob::buffers
};

struct EmulatedLaunch {
  amdgpu::wave::Launch launch;
  std::vector<EmulatedArgument> arguments;
};

/// Launches in order, which share buffers.
struct EmulationJob {
  std::vector<EmulatedBuffer> buffers;
  std::vector<EmulatedLaunch> launches;
};

/// "X", "X,Y" or "X,Y,Z".
Result<std::array<std::uint32_t, 3>> parse_sizes(std::string_view option, const std::string& text);

/// Adds an argument as the command line has it: "x=in:x.npy", "n=i32:7"; or, of a launch file, "x=buffer:NAME".
Result<void> add_argument(EmulationJob& job, EmulatedLaunch& launch, std::string_view name, std::string_view value);

/// Adds a buffer: "in:x.npy", "inout:x.npy" or "out:y.npy:f32[1024]".
Result<std::size_t> add_buffer(EmulationJob& job, std::string_view name, std::string_view value);

/// Reads a launch file; paths in it are relative to its folder. docs/amd.md describes it.
Result<EmulationJob> load_launch_file(const std::filesystem::path& path);

/// How an array differs from what was expected: nothing where it does not.
Result<std::optional<std::string>> difference(const EmulatedBuffer& buffer, double relative, double absolute);

}  // namespace wavegate::cli
