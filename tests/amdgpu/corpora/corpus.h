#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/amdgpu/object/container.h"
#include "wavegate/amdgpu/wave/emulate.h"
#include "wavegate/base/format.h"
#include "wavegate/io/mapped_file.h"

/// Kernels of AMD's libraries as Debian builds them, to be run on the interpreter. tools/fetch_corpora.sh brings them.
namespace wavegate::amdgpu::corpora {

/// Where tools/fetch_corpora.sh puts libraries; the environment variable WAVEGATE_AMD_CORPORA overrides it.
inline std::filesystem::path library(const std::string& name) {
  const char* const folder = std::getenv("WAVEGATE_AMD_CORPORA");
  return std::filesystem::path(folder != nullptr ? folder : WAVEGATE_SOURCE_DIR "/build/data/corpora") / name;
}

/// Skips a test, and says how not to, where a library is not there. Statements of a test or of its SetUp.
#define WAVEGATE_NEEDS_LIBRARY(name, package)                                                         \
  if (!std::filesystem::exists(wavegate::amdgpu::corpora::library(name)))                             \
  GTEST_SKIP() << wavegate::amdgpu::corpora::library(name) << " is not here, so this is not tested; " \
               << "tools/fetch_corpora.sh --package " package " brings it"

/// A code object of a library that holds a kernel, and the memory in which it runs.
class Corpus {
 public:
  static Result<std::unique_ptr<Corpus>> open(const std::string& name, std::string_view target,
                                              std::string_view kernel) {
    WAVEGATE_TRY(io::MappedFile file, io::MappedFile::open(library(name)));
    auto corpus = std::unique_ptr<Corpus>(new Corpus(std::move(file)));
    const auto wanted = object::parse_code_target(target);
    const auto take = [&](const object::FoundObject& found) -> Result<void> {
      const auto other = object::parse_code_target(found.id);
      if (!wanted || (other && !matches(*other, *wanted))) return {};
      WAVEGATE_TRY(object::CodeObject object, object::parse_code_object(found.bytes));
      if (object.find_kernel(kernel) == nullptr) return {};
      corpus->storage_ = found.storage;
      WAVEGATE_TRY(corpus->module_, wave::Module::load(std::move(object), corpus->memory));
      return internal_error("the kernel is found, and the rest of the library need not be read");
    };
    const auto visited = object::visit_code_objects(corpus->file_.bytes(), take);
    if (corpus->module_ == nullptr && !visited.ok()) return visited.error();
    if (corpus->module_ == nullptr) return invalid_input(format("{} has no kernel {} for {}", name, kernel, target));
    return corpus;
  }

  const wave::Module& module() const { return *module_; }
  std::span<const std::byte> file() const { return file_.bytes(); }

  /// Memory that stays the test's.
  template <typename T>
  std::uint64_t map(std::vector<T>& values, std::string name = "buffer") {
    return memory.map(std::as_writable_bytes(std::span(values)), std::move(name));
  }

  wave::GuestMemory memory;

 private:
  explicit Corpus(io::MappedFile file) : file_(std::move(file)) {}

  io::MappedFile file_;
  std::shared_ptr<const std::vector<std::byte>> storage_;
  std::unique_ptr<wave::Module> module_;
};

/// An argument's bytes, from a value of its type.
class Argument {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T> Argument(const T& value)
      : bytes_(sizeof(T)) {  // NOLINT(google-explicit-constructor)
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Runs a kernel with its arguments in their order; each must be as long as the kernel's.
inline Result<wave::Report> run(Corpus& corpus, wave::Launch launch, std::initializer_list<Argument> arguments,
                                const wave::Options& options = {}) {
  std::size_t number = 0;
  for (const Argument& argument : arguments)
    WAVEGATE_CHECK(launch.set(corpus.module(), std::to_string(number++), argument.bytes()));
  return wave::run(corpus.module(), corpus.memory, launch, options);
}

}  // namespace wavegate::amdgpu::corpora
