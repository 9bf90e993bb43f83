#pragma once

#include "wavegate/amdgpu/object/bytes.h"
#include "wavegate/amdgpu/object/metadata.h"
#include "wavegate/base/result.h"

namespace wavegate::amdgpu::object {

/// Reads what the note of a version 2 object says of its kernels, in YAML. It tells sizes and alignments of arguments
/// rather than places, which follow from them, and the names of kinds in another spelling. Bounded as parse_metadata
/// is; aliases, and notes of more than 4 MiB, are refused.
Result<Metadata> parse_yaml_metadata(Bytes note);

}  // namespace wavegate::amdgpu::object
