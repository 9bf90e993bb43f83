#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wavegate/lowering/schedule.h"
#include "wavegate/program/program.h"

namespace wavegate::lowering {

/// An if, a switch or a while.
struct Region {
  const void* address = nullptr;  ///< of the program::If, Switch or While; null: the command is no region
  const std::string* label = nullptr;
  std::string_view kind;
};
Region region_of(const program::Node& node);

/// The bodies inside a command, in order; none of one that is no region.
std::vector<const program::Body*> bodies_of(const program::Node& node);

/// One way through a branch, and the condition, a uint32, under which it is taken.
struct Arm {
  const program::Body* body = nullptr;
  program::ScalarExpr condition;
};

/// The arms of a branch, of which exactly one is taken: by its predicate, or by its selector and the word `none`.
std::vector<Arm> arms_of(const program::If& node, program::Scalar predicate);
std::vector<Arm> arms_of(const program::Switch& node, program::Scalar selector, program::Scalar none);

/// What makes the word `none` one where no case is the selector's. It grows by a statement a case, so that no
/// expression does.
std::vector<Set> default_of(const program::Switch& node, program::Scalar selector, program::Scalar none);

/// Whether a break or continue of the loop around this body stands in it.
bool leaves_early(const program::Body& body);

/// Whether a loop stands in the body, at any depth.
bool has_loop(const program::Body& body);

/// Whether another iteration may begin, after as many as `trips` says: the predicate, within the bounds; one or zero.
program::ScalarExpr may_begin(const program::While& node, program::Scalar trips);

}  // namespace wavegate::lowering
