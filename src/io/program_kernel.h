#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/io/json.h"
#include "wavegate/program/kernel_source.h"

namespace wavegate::io {

/// A file that a program names, and what it holds.
struct NamedFile {
  std::filesystem::path path;
  std::vector<std::byte> bytes;
};

/// Reads a kernel of a program file, which bears this name: its sources and, where there is no kir, the interface that
/// is declared beside them. `read` gives the file that a string names.
Result<std::shared_ptr<const program::KernelSource>> read_kernel(
    const std::string& name, const JsonView& view, const std::function<Result<NamedFile>(const JsonView&)>& read);

}  // namespace wavegate::io
