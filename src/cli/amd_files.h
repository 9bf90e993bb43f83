#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wavegate/amdgpu/object/code_object.h"
#include "wavegate/amdgpu/object/container.h"
#include "wavegate/base/result.h"

namespace wavegate::cli {

/// Which code objects of files a command is to look at.
struct ObjectFilter {
  std::vector<std::string> files;
  std::optional<amdgpu::object::CodeTarget> target;
};

/// The target that a user names; an error for text that names none.
Result<std::optional<amdgpu::object::CodeTarget>> parse_target_option(const std::string& text);

/// A code object, where it was found, and how it was read.
struct OpenObject {
  const std::string& file;
  const amdgpu::object::FoundObject& found;
  const amdgpu::object::CodeObject& object;

  /// "lib.so: bundle 3, hipv4-amdgcn-amd-amdhsa--gfx1030", for errors.
  std::string place() const;
};

/// Calls `visit` for each code object of the filter, in the order of the files, and ends with the first error of it. An
/// object that cannot be read is reported on stderr, and the others are visited nevertheless; the result says how many
/// there were.
Result<std::size_t> visit_objects(const ObjectFilter& filter,
                                  const std::function<Result<void>(const OpenObject&)>& visit);

}  // namespace wavegate::cli
