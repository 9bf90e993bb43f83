#pragma once

#include <string>

#include "wavegate/program/program.h"

namespace wavegate::differential {

/// A program for people: the values that it uses, then its commands, one a line. Long contents of buffers are cut.
std::string print(const program::Program& program);

}  // namespace wavegate::differential
