#pragma once

#include <functional>

#include "wavegate/base/result.h"
#include "wavegate/cli/output.h"

namespace CLI {
class App;
}

namespace wavegate::cli {

/// What the chosen command does; empty until one is parsed.
using Action = std::function<Result<Outcome>()>;

/// Each adds its command, with options and help, to the application. Parsing it sets `action`, which outlives the
/// application.
void add_devices(CLI::App& application, Action& action);
void add_solve(CLI::App& application, Action& action);
void add_run(CLI::App& application, Action& action);
void add_explain(CLI::App& application, Action& action);
void add_calibrate(CLI::App& application, Action& action);
void add_objects(CLI::App& application, Action& action);
void add_disasm(CLI::App& application, Action& action);
void add_emulate(CLI::App& application, Action& action);
void add_coverage(CLI::App& application, Action& action);

}  // namespace wavegate::cli
