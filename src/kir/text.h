#pragma once

#include <string>
#include <string_view>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

/// The text form of a kernel; docs/kir.md describes it. Values are renumbered in order of definition, so that
/// printing is canonical: parse(print(k)) prints the same text.
std::string print(const Kernel& kernel);

/// Parses and verifies the text form. Errors carry the line and what was expected there.
Result<Kernel> parse(std::string_view text);

}  // namespace wavegate::kir
