#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/io/npy.h"

namespace wavegate::cli {

/// A guest buffer: what it holds at first, and where it is written afterwards.
struct EmulatedBuffer {
  std::string name;
  io::Array array;
  bool writable = true;
  std::string input;   ///< empty: zeros
  std::string output;  ///< empty: not written
  std::string expected;
  std::uint64_t address = 0;
};

/// "f32:1,2": numbers of one type, one behind the other.
struct Numbers {
  io::ElementType type{};
  std::size_t count = 0;
  std::vector<std::byte> bytes;
};
/// "7" and "1,2.5": numbers of the type that the code object tells.
struct PlainNumbers {
  std::string text;
};
/// "bytes:00ff" and "file:x.bin": what a structure holds.
struct RawBytes {
  std::vector<std::byte> bytes;
};
/// "in:x.npy" and the like, "buffer:NAME": an index into EmulationJob::buffers.
struct BufferIndex {
  std::size_t index = 0;
};
struct NullPointer {};
/// "lds:1024"
struct LdsRoom {
  std::uint32_t bytes = 0;
};

/// An argument of a launch as it was given, before the kernel is known.
struct EmulatedArgument {
  std::string name;
  std::string text;
  std::variant<Numbers, PlainNumbers, RawBytes, BufferIndex, NullPointer, LdsRoom> value;
};

struct EmulatedLaunch {
  amdgpu::wave::Launch launch;
  std::vector<EmulatedArgument> arguments;
  std::set<std::string, std::less<>> names;  ///< Of its arguments.
};

/// Launches in order, which share buffers.
struct EmulationJob {
  std::vector<EmulatedBuffer> buffers;
  std::vector<EmulatedLaunch> launches;
  std::map<std::string, std::size_t, std::less<>> buffer_of_name;
  std::uint64_t bytes = 0;  ///< Of buffers and of what "file:" brought; at most what a guest's memory has.
};

/// Numbers of a type with commas between; an error for what is none or does not fit.
Result<Numbers> parse_numbers(io::ElementType type, std::string_view text);

/// "X", "X,Y" or "X,Y,Z".
Result<std::array<std::uint32_t, 3>> parse_sizes(std::string_view option, const std::string& text);

/// Where paths that are given are looked for, and whether a file gives them rather than a user: then they must lead to
/// regular files, since others may never end.
struct Paths {
  std::filesystem::path folder;
  bool of_file = false;
};

/// Adds an argument as the command line has it, such as "x=in:x.npy" or "n=i32:7"; docs/amd.md lists the forms. A
/// launch file's arguments take buffers by name alone.
Result<void> add_argument(EmulationJob& job, EmulatedLaunch& launch, std::string_view name, std::string_view value,
                          const Paths& paths = {});

/// Adds a buffer: "in:x.npy", "inout:x.npy" or "out:y.npy:f32[1024]".
Result<std::size_t> add_buffer(EmulationJob& job, std::string_view name, std::string_view value,
                               const Paths& paths = {});

/// An output must be no other output, and no file that is read as well, unless it is its own ("inout:"): what was there
/// would be lost. `sources` are files that the command reads besides the job's.
Result<void> check_files(const EmulationJob& job, const std::vector<std::string>& sources);

/// How an array differs from what was expected: nothing where each element is within `absolute` + `relative` times the
/// expected one. Zeros of both signs are one number, any two NaNs are, and nothing but itself is close to an infinity.
Result<std::optional<std::string>> difference(const EmulatedBuffer& buffer, double relative, double absolute);

}  // namespace wavegate::cli
