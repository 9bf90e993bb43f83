#pragma once

#include <fmt/format.h>

/// The one formatting library of the project, under one name.
namespace wavegate {
using fmt::format;
}  // namespace wavegate
