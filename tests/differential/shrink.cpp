#include "differential/shrink.h"

#include <optional>
#include <utility>

namespace wavegate::differential {
namespace {

using program::Body;
using program::Node;

/// Calls `visit` with each body inside the node.
template <typename N, typename Visit>
void for_each_body(N& node, Visit&& visit) {
  if (auto* branch = std::get_if<program::If>(&node.what)) {
    visit(branch->then_body);
    visit(branch->else_body);
  } else if (auto* choice = std::get_if<program::Switch>(&node.what)) {
    for (auto& one : choice->cases) visit(one.body);
    visit(choice->default_body);
  } else if (auto* loop = std::get_if<program::While>(&node.what)) {
    visit(loop->body);
  }
}

template <typename Visit>
void walk(const Body& body, Visit&& visit) {
  for (const Node& node : body) {
    visit(node);
    for_each_body(node, [&](const Body& inside) { walk(inside, visit); });
  }
}

size_t node_count(const Body& body) {
  size_t count = 0;
  walk(body, [&](const Node&) { ++count; });
  return count;
}

bool is_constant(const program::ScalarExpr& expression) {
  return expression.root().op == program::ScalarOp::literal;
}

/// What the node may become, each time a list of nodes that is simpler than it.
std::vector<Body> replacements(const Node& node) {
  std::vector<Body> made = {{}};
  for_each_body(node, [&](const Body& inside) { made.push_back(inside); });
  const auto instead = [&](auto simpler) { made.push_back({{std::move(simpler)}}); };
  if (const auto* branch = std::get_if<program::If>(&node.what)) {
    if (is_constant(branch->predicate)) return made;
    for (const uint32_t constant : {0u, 1u}) {
      program::If simpler = *branch;
      simpler.predicate = constant;
      instead(std::move(simpler));
    }
  } else if (const auto* choice = std::get_if<program::Switch>(&node.what)) {
    for (size_t i = 0; i < choice->cases.size(); ++i) {
      program::Switch simpler = *choice;
      simpler.cases.erase(simpler.cases.begin() + static_cast<ptrdiff_t>(i));
      instead(std::move(simpler));
    }
  } else if (const auto* loop = std::get_if<program::While>(&node.what)) {
    const auto with_bounds = [&](program::Bounds bounds) {
      program::While simpler = *loop;
      simpler.bounds = bounds;
      instead(std::move(simpler));
    };
    const std::optional<uint32_t> max = loop->bounds.max;
    if (!max || *max > 1) with_bounds({0, 1});
    if (!max || *max > 2) with_bounds({0, 2});
    if (!max) with_bounds({loop->bounds.min, 32});
    if (loop->bounds.min > 0) with_bounds({0, max});
    if (is_constant(loop->predicate)) return made;
    program::While simpler = *loop;
    simpler.predicate = 1u;
    instead(std::move(simpler));
  }
  return made;
}

/// The body that holds the `index`-th node, outer before inner, and its place there. `index` is counted down.
std::optional<std::pair<Body*, size_t>> find(Body& body, size_t& index) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (index == 0) return std::pair(&body, i);
    --index;
    std::optional<std::pair<Body*, size_t>> found;
    for_each_body(body[i], [&](Body& inside) {
      if (!found) found = find(inside, index);
    });
    if (found) return found;
  }
  return std::nullopt;
}

/// The body with its `index`-th node replaced by the `choice`-th of its replacements; nothing if it has fewer.
std::optional<Body> replaced(Body body, size_t index, size_t choice) {
  const auto place = find(body, index);
  if (!place) return std::nullopt;
  const auto node = place->first->begin() + static_cast<ptrdiff_t>(place->second);
  std::vector<Body> choices = replacements(*node);
  if (choice >= choices.size()) return std::nullopt;
  const auto after = place->first->erase(node);
  place->first->insert(after, choices[choice].begin(), choices[choice].end());
  return body;
}

}  // namespace

std::vector<const program::While*> loops_of(const Body& body) {
  std::vector<const program::While*> loops;
  walk(body, [&](const Node& node) {
    if (const auto* loop = std::get_if<program::While>(&node.what)) loops.push_back(loop);
  });
  return loops;
}

std::vector<std::string> region_labels(const Body& body) {
  std::vector<std::string> labels;
  walk(body, [&](const Node& node) {
    if (const auto* branch = std::get_if<program::If>(&node.what)) labels.push_back(branch->label);
    if (const auto* choice = std::get_if<program::Switch>(&node.what)) labels.push_back(choice->label);
    if (const auto* loop = std::get_if<program::While>(&node.what)) labels.push_back(loop->label);
  });
  return labels;
}

Case shrink(Case one, const std::function<bool(const Case&)>& fails, uint32_t attempts) {
  const auto keep_if_it_fails = [&](Case smaller) {
    if (attempts == 0) return false;
    --attempts;
    if (!fails(smaller)) return false;
    one = std::move(smaller);
    return true;
  };
  bool progress = true;
  while (progress && attempts > 0) {
    progress = false;
    for (size_t i = one.steps.size(); i-- > 0 && one.steps.size() > 1;) {
      Case smaller = one;
      smaller.steps.erase(smaller.steps.begin() + static_cast<ptrdiff_t>(i));
      progress |= keep_if_it_fails(std::move(smaller));
    }
    for (size_t i = 0; i < one.steps.size(); ++i) {
      if (!one.steps[i].reset && one.steps[i].settings.empty()) continue;
      Case smaller = one;
      smaller.steps[i] = {};
      progress |= keep_if_it_fails(std::move(smaller));
    }
    for (size_t index = 0; index < node_count(one.program.body()); ++index) {
      for (size_t choice = 0;; ++choice) {
        std::optional<Body> body = replaced(one.program.body(), index, choice);
        if (!body || attempts == 0) break;
        Case smaller = one;
        smaller.program.set_body(std::move(*body));
        if (!keep_if_it_fails(std::move(smaller))) continue;
        progress = true;
        break;
      }
    }
  }
  return one;
}

}  // namespace wavegate::differential
