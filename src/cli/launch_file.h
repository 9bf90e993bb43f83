#pragma once

#include <filesystem>

#include "wavegate/base/result.h"
#include "wavegate/cli/emulate_job.h"

namespace wavegate::cli {

/// Reads a file of launches; paths in it are relative to its folder. docs/amd.md describes it, docs/launch.schema.json
/// is its schema.
Result<EmulationJob> load_launch_file(const std::filesystem::path& path);

}  // namespace wavegate::cli
