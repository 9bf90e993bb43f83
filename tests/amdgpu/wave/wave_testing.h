#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/base/format.h"

/// Kernels that clang-19 made, with buffers of their own.
namespace wavegate::amdgpu::wave::testing {

inline std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A loaded object and the memory that it lies in.
struct Loaded {
  std::vector<std::byte> file;
  GuestMemory memory;
  std::unique_ptr<Module> module;

  static Result<std::unique_ptr<Loaded>> open(const std::string& path) {
    auto loaded = std::make_unique<Loaded>();
    loaded->file = read_bytes(path);
    WAVEGATE_TRY(object::CodeObject object, object::parse_code_object(loaded->file));
    WAVEGATE_TRY(loaded->module, Module::load(std::move(object), loaded->memory));
    return loaded;
  }

  /// A file of kernels/ as it was compiled for a target and width: "groups", "gfx1030.w32".
  static Result<std::unique_ptr<Loaded>> open_kernels(const std::string& file, const std::string& compiled_for) {
    return open(WAVEGATE_AMD_KERNELS_DIR "/" + file + "." + compiled_for + ".hsaco");
  }

  std::uint64_t map(std::span<std::uint32_t> words, std::string name) {
    return memory.map(std::as_writable_bytes(words), std::move(name));
  }
};

/// What kernels that every target can run are compiled for.
inline const auto kEveryTarget =
    ::testing::Values("gfx1030.w32", "gfx1030.w64", "gfx900.w64", "gfx1100.w32", "gfx942.w64", "gfx1200.w32");

/// "gfx1030.w32" as names of tests have it.
inline std::string test_name(std::string compiled_for) {
  std::ranges::replace(compiled_for, '.', '_');
  return compiled_for;
}

/// Sets the arguments in their order: of 8 bytes each, or of 4 where the kernel has those.
inline Result<Report> run_kernel(Loaded& loaded, Launch launch, std::initializer_list<std::uint64_t> arguments,
                                 const Options& options = {}) {
  WAVEGATE_TRY(const object::Kernel* const kernel, loaded.module->kernel(launch.kernel));
  std::size_t number = 0;
  for (const std::uint64_t& value : arguments) {
    const std::size_t size = number < kernel->arguments.size() ? kernel->arguments[number].size : 8;
    WAVEGATE_CHECK(launch.set(*loaded.module, std::to_string(number),
                              std::as_bytes(std::span(&value, 1)).first(std::min<std::size_t>(size, 8))));
    ++number;
  }
  return run(*loaded.module, loaded.memory, launch, options);
}

}  // namespace wavegate::amdgpu::wave::testing
