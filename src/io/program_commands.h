#pragma once

#include "wavegate/base/result.h"
#include "wavegate/io/json.h"
#include "wavegate/io/program_names.h"
#include "wavegate/program/program.h"

namespace wavegate::io {

/// Appends the commands of a list, such as `run` or the `body` of a loop, to the program's open body. The names of
/// iteration indices come and go with their loops; those of histories stay. Recurses as deep as the document nests,
/// which parse_json bounds.
Result<void> append_commands(program::Program& program, ProgramNames& names, const JsonView& list);

}  // namespace wavegate::io
