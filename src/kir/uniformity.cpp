#include "wavegate/kir/uniformity.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace wavegate::kir {
namespace {

/// The analysis as a graph. A node is a value or a stretch of control flow; its scope starts at a cap and is lowered
/// along edges: scope(to) <= max(floor, scope(from)). Scopes only fall, three times at most, so that solving takes
/// time linear in the number of edges, loops included.
class ScopeGraph {
 public:
  using Node = uint32_t;

  Node add(Scope cap) {
    scopes_.push_back(cap);
    first_edge_.push_back(kNone);
    return static_cast<Node>(scopes_.size() - 1);
  }
  void cap(Node node, Scope scope) { scopes_[node] = std::min(scopes_[node], scope); }
  void limit(Node to, Node from, Scope floor = Scope::invocation) {
    edges_.push_back({to, floor, first_edge_[from]});
    first_edge_[from] = edges_.size() - 1;
  }

  std::vector<Scope> solve() && {
    std::vector<Node> work(scopes_.size());
    std::iota(work.begin(), work.end(), Node{0});
    while (!work.empty()) {
      const Node node = work.back();
      work.pop_back();
      for (size_t i = first_edge_[node]; i != kNone; i = edges_[i].next) {
        const Edge& edge = edges_[i];
        const Scope scope = std::max(edge.floor, scopes_[node]);
        if (scope >= scopes_[edge.to]) continue;
        scopes_[edge.to] = scope;
        work.push_back(edge.to);
      }
    }
    return std::move(scopes_);
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  struct Edge {
    Node to;
    Scope floor;
    size_t next;  ///< edge of the same source
  };
  std::vector<Scope> scopes_;       ///< by node
  std::vector<size_t> first_edge_;  ///< by node
  std::vector<Edge> edges_;
};

using Node = ScopeGraph::Node;

/// Where invocations may leave a construct early: the flow at its exits. Nothing if none leaves.
struct Exits {
  std::optional<Node> any;      ///< break_, continue_ or return_ out of the construct
  std::optional<Node> returns;  ///< return_ alone, which leaves the loops around it as well
};

class Analysis {
 public:
  explicit Analysis(const Kernel& kernel) : kernel_(kernel) {
    const auto& size = kernel.interface.workgroup_size;
    alone_ = uint64_t{size[0]} * size[1] * size[2] == 1;
  }

  Uniformity run() && {
    for (size_t i = 0; i < kernel_.value_types.size(); ++i) graph_.add(Scope::device);
    Exits exits;
    block(kernel_.body, graph_.add(Scope::device), exits);
    const std::vector<Scope> scopes = std::move(graph_).solve();

    const Scope least = alone_ ? Scope::workgroup : Scope::invocation;
    const auto widened = [&](Scope scope) { return std::max(scope, least); };
    Uniformity result;
    result.value_scopes.resize(kernel_.value_types.size());
    std::transform(scopes.begin(), scopes.begin() + static_cast<ptrdiff_t>(kernel_.value_types.size()),
                   result.value_scopes.begin(), widened);
    for (const Node node : flow_nodes_) result.flow_scopes.push_back(widened(scopes[node]));
    return result;
  }

 private:
  void block(const Block& block, Node flow, Exits& exits) {
    for (const Instruction& instruction : block.instructions) {
      flow_nodes_.push_back(flow);
      Exits inner;
      switch (instruction.op) {
        case Op::if_:
        case Op::switch_: branch(instruction, flow, inner); break;
        case Op::loop: loop(instruction, flow, inner); break;
        case Op::break_:
        case Op::continue_:
        case Op::return_: leave(instruction, flow, inner); break;
        default: value(instruction); break;
      }
      if (inner.any) {  // those who left do not come along
        const Node rest = graph_.add(Scope::device);
        graph_.limit(rest, flow);
        graph_.limit(rest, *inner.any);
        flow = rest;
      }
      merge(exits.any, inner.any);
      merge(exits.returns, inner.returns);
    }
  }

  void merge(std::optional<Node>& into, std::optional<Node> node) {
    if (!node) return;
    if (!into) into = graph_.add(Scope::device);
    graph_.limit(*into, *node);
  }

  void branch(const Instruction& instruction, Node flow, Exits& exits) {
    const Node condition = instruction.operands[0].id;
    const Node inside = graph_.add(Scope::device);
    graph_.limit(inside, flow);
    graph_.limit(inside, condition);
    for (const Value result : instruction.results) graph_.limit(result.id, condition);
    for (const Block& inner : instruction.blocks) {
      block(inner, inside, exits);
      if (inner.terminator().op == Op::yield) limit_all(instruction.results, inner.terminator().operands);
    }
  }

  void loop(const Instruction& instruction, Node flow, Exits& exits) {
    const Node inside = graph_.add(Scope::device);
    graph_.limit(inside, flow);
    limit_all(instruction.blocks[0].parameters, instruction.operands);
    loops_.push_back(&instruction);
    Exits inner;
    block(instruction.blocks[0], inside, inner);
    loops_.pop_back();
    if (inner.any) graph_.limit(inside, *inner.any);
    exits = {inner.returns, inner.returns};
  }

  void leave(const Instruction& instruction, Node flow, Exits& exits) {
    exits.any = flow;
    if (instruction.op == Op::return_) {
      exits.returns = flow;
      return;
    }
    // Invocations that leave at different times bring different values.
    const Instruction& left = *loops_.back();
    const std::vector<Value>& targets = instruction.op == Op::break_ ? left.results : left.blocks[0].parameters;
    limit_all(targets, instruction.operands);
    for (const Value target : targets) graph_.limit(target.id, flow);
  }

  void limit_all(const std::vector<Value>& targets, const std::vector<Value>& sources) {
    for (size_t i = 0; i < targets.size(); ++i) graph_.limit(targets[i].id, sources[i].id);
  }

  void value(const Instruction& instruction) {
    const OpInfo& row = info(instruction.op);
    switch (instruction.op) {
      case Op::builtin: return cap(instruction, builtin_scope(instruction));
      case Op::load: return follow(instruction, Scope::invocation, load_scope(instruction));
      case Op::load_scalar: return cap(instruction, binding_scope(instruction.index));
      case Op::assume_uniform: return follow(instruction, instruction.scope, Scope::device);
      case Op::subgroup_any:
      case Op::subgroup_all:
      case Op::subgroup_broadcast_first:
      case Op::subgroup_min_u:
      case Op::subgroup_max_u: return follow(instruction, Scope::subgroup, Scope::device);
      case Op::subgroup_ballot:
      case Op::subgroup_add:
      case Op::subgroup_add_f: return cap(instruction, Scope::subgroup);
      case Op::subgroup_shuffle:  // every lane reads the same one if they agree on which
        cap(instruction, Scope::subgroup);
        return graph_.limit(instruction.result().id, instruction.operands[1].id);
      default: break;
    }
    if (row.effect == Effect::pure) return follow(instruction, Scope::invocation, Scope::device);
    cap(instruction, Scope::invocation);
  }

  void cap(const Instruction& instruction, Scope scope) {
    for (const Value result : instruction.results) graph_.cap(result.id, scope);
  }

  /// The results are as uniform as all operands, but at least `floor` and at most `ceiling`.
  void follow(const Instruction& instruction, Scope floor, Scope ceiling) {
    cap(instruction, ceiling);
    for (const Value result : instruction.results)
      for (const Value operand : instruction.operands) graph_.limit(result.id, operand.id, floor);
  }

  Scope builtin_scope(const Instruction& instruction) const {
    const bool flat = has_dimension(instruction.builtin) && kernel_.interface.workgroup_size[instruction.index] == 1;
    switch (instruction.builtin) {
      case Builtin::grid: return Scope::device;
      case Builtin::workgroup_id:
      case Builtin::subgroup_size: return Scope::workgroup;
      case Builtin::local_id: return flat ? Scope::device : Scope::invocation;
      case Builtin::global_id: return flat ? Scope::workgroup : Scope::invocation;
      case Builtin::local_index:
      case Builtin::subgroup_lane: break;
    }
    return Scope::invocation;
  }

  /// Memory that the dispatch does not write holds one value; other memory may change between two reads.
  Scope binding_scope(uint32_t binding) const {
    return writes(kernel_.interface.bindings[binding].access) ? Scope::invocation : Scope::device;
  }

  Scope load_scope(const Instruction& instruction) const {
    if (instruction.memory == kPointer) return Scope::invocation;
    const Memory& memory = kernel_.memories[instruction.memory];
    return memory.space == MemorySpace::buffer ? binding_scope(memory.binding) : Scope::invocation;
  }

  const Kernel& kernel_;
  bool alone_ = false;
  ScopeGraph graph_;
  std::vector<const Instruction*> loops_;
  std::vector<Node> flow_nodes_;
};

}  // namespace

Uniformity analyse_uniformity(const Kernel& kernel) {
  return Analysis(kernel).run();
}

}  // namespace wavegate::kir
