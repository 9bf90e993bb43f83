#pragma once

#include <string>

#include "wavegate/api/engine.h"
#include "wavegate/api/solve.h"
#include "wavegate/base/result.h"
#include "wavegate/device/device.h"
#include "wavegate/program/program.h"
#include "wavegate/target/costs.h"

/// What a page is told, as JSON text. Numbers that JSON cannot hold, NaN and infinities, are null.
namespace wavegate::web {

/// {"kind", "message", "where"}; the kind is "invalid-input", "unsupported", "device" or "internal".
std::string to_json(const Error& error);

/// Name, backend, driver, limits and features of a device.
std::string to_json(const target::Profile& profile);

/// What commands cost, in microseconds, by the keys of target::cost_table().
std::string to_json(const target::Costs& costs);

/// How the solve of a system went: iterations, exit reason, residual; the solution itself is left out.
std::string to_json(const SolveReport& report);

/// A program's name and buffers.
std::string describe(const program::Program& program);

/// A compiled program: its buffers, scalars, parameters and loops, and how each region of control flow is lowered.
std::string describe(const program::Program& program, const Executable& executable);

/// A run that was waited for: trips and exit reasons of its loops, the values of its scalars, its device time, and what
/// the host did since `before`.
Result<std::string> report(const program::Program& program, Executable& executable, const device::Counters& before);

}  // namespace wavegate::web
