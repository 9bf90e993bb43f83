#pragma once

#include <string_view>

#include "wavegate/api/engine.h"
#include "wavegate/base/result.h"

namespace wavegate::web {

/// Reads how a program is to be compiled: {"strategy": NAME, "strategies": {REGION: NAME}, "hostFree": true}, each of
/// which may be left out.
Result<CompileOptions> parse_compile_options(std::string_view json);

}  // namespace wavegate::web
