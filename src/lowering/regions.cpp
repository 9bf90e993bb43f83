#include "wavegate/lowering/regions.h"

#include <algorithm>
#include <optional>

namespace wavegate::lowering {

using program::Body;
using program::Node;
using program::ScalarExpr;

Region region_of(const Node& node) {
  if (const auto* branch = std::get_if<program::If>(&node.what)) return {branch, &branch->label, "if"};
  if (const auto* choice = std::get_if<program::Switch>(&node.what)) return {choice, &choice->label, "switch"};
  if (const auto* loop = std::get_if<program::While>(&node.what)) return {loop, &loop->label, "while"};
  return {};
}

std::vector<const Body*> bodies_of(const Node& node) {
  if (const auto* branch = std::get_if<program::If>(&node.what)) return {&branch->then_body, &branch->else_body};
  if (const auto* loop = std::get_if<program::While>(&node.what)) return {&loop->body};
  std::vector<const Body*> bodies;
  if (const auto* choice = std::get_if<program::Switch>(&node.what)) {
    for (const program::Case& each : choice->cases) bodies.push_back(&each.body);
    bodies.push_back(&choice->default_body);
  }
  return bodies;
}

std::vector<Arm> arms_of(const program::If& node, program::Scalar predicate) {
  return {{&node.then_body, predicate}, {&node.else_body, !ScalarExpr(predicate)}};
}

std::vector<Arm> arms_of(const program::Switch& node, program::Scalar selector, program::Scalar none) {
  std::vector<Arm> arms;
  for (const program::Case& each : node.cases) arms.push_back({&each.body, program::equal(selector, each.value)});
  arms.push_back({&node.default_body, none});
  return arms;
}

std::vector<Set> default_of(const program::Switch& node, program::Scalar selector, program::Scalar none) {
  std::vector<Set> statements = {{none, 1u}};
  for (const program::Case& each : node.cases)
    statements.push_back({none, ScalarExpr(none) && program::not_equal(selector, each.value)});
  return statements;
}

bool leaves_early(const Body& body) {
  return std::ranges::any_of(body, [](const Node& node) {
    if (std::holds_alternative<program::Break>(node.what) || std::holds_alternative<program::Continue>(node.what))
      return true;
    return !std::holds_alternative<program::While>(node.what) &&
           std::ranges::any_of(bodies_of(node), [](const Body* inner) { return leaves_early(*inner); });
  });
}

bool has_loop(const Body& body) {
  return std::ranges::any_of(body, [](const Node& node) {
    return std::holds_alternative<program::While>(node.what) ||
           std::ranges::any_of(bodies_of(node), [](const Body* inner) { return has_loop(*inner); });
  });
}

ScalarExpr may_begin(const program::While& node, program::Scalar trips) {
  const auto [min, max] = node.bounds;
  std::optional<ScalarExpr> holds;
  if (!max || min < *max)
    holds = min == 0 ? program::not_equal(node.predicate, 0u) : ScalarExpr(trips) < min || node.predicate;
  if (!max) return *holds;
  const ScalarExpr bounded = ScalarExpr(trips) < *max;
  return holds ? bounded && *holds : bounded;
}

}  // namespace wavegate::lowering
