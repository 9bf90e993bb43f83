#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wavegate/lowering/flow.h"
#include "wavegate/lowering/guards.h"
#include "wavegate/lowering/regions.h"

/// How make_flow() works: commands and branches are lowered in flow.cpp, loops in flow_loops.cpp.
namespace wavegate::lowering {

inline constexpr graph::Grid kOneWorkgroup = {1, 1, 1};

class FlowBuilder {
  using Body = program::Body;
  using Node = program::Node;
  using Program = program::Program;
  using Scalar = program::Scalar;
  using ScalarExpr = program::ScalarExpr;

 public:
  FlowBuilder(const Program& program, const Decisions& decisions, const target::Profile& profile, Mutation mutation,
              Values& values, KernelTable& kernels);
  Result<Flow> build();

 private:
  /// Every loop reports, also one that cannot run.
  void place_loops(const Body& nodes);

  // ---- commands

  Result<void> lower(const program::Dispatch& node, Context& context, Sequence& out);
  Result<void> lower(const program::Copy& node, Context& context, Sequence& out);
  Result<void> lower(const program::Fill& node, Context& context, Sequence& out);
  Result<void> lower(const program::Assign& node, Context& context, Sequence& out);
  Result<void> lower(const program::Record& node, Context& context, Sequence& out);
  Result<void> lower(const program::Call& node, Context&, Sequence&);

  // ---- branches

  /// Lowers a body and leaves in `context.token` whether control reaches its end.
  Result<void> advance(const Body& nodes, Context& context, Sequence& out);
  Result<void> lower_node(const Node& node, Context& context, Sequence& out);
  /// A value that several latches are computed from, once.
  Scalar held(const ScalarExpr& value, const Context& context, const std::string& name, Sequence& out);
  /// Lowers arms of which exactly one is entered. All latches are taken before any arm runs, so that the first cannot
  /// change what the second sees.
  Result<void> arms(const std::vector<Arm>& arms, const void* node, const std::string& label, Context& context,
                    Sequence& out);
  Result<void> lower(const program::If& node, Context& context, Sequence& out);
  Result<void> lower(const program::Switch& node, Context& context, Sequence& out);
  Result<void> lower(const program::Break&, Context& context, Sequence& out);
  Result<void> lower(const program::Continue&, Context& context, Sequence& out);
  Result<void> leave(Context& context, Scalar flag, const std::string& label, Sequence& out);
  /// What conditions the commands of a region: strategies of loops alone leave a branch as its surroundings are.
  static Strategy guard_in(Strategy strategy, const Context& context);
  /// Whether control that enters a body may leave it other than by its end, or stay in it beyond this pass.
  bool may_not_end(const Body& nodes, const Context& context) const;
  /// Whether the body holds a loop that a pass through the body leaves unfinished.
  bool suspends(const Body& nodes) const;

  // ---- loops

  /// A loop that is being lowered.
  struct Looping {
    const program::While& node;
    const Decision& decided;
    Token entry;    ///< whether control is at the loop
    Context inner;  ///< of its body
    LoopFrame frame = {};
    std::vector<Token> latches = {};  ///< of an iteration; two take turns, so that a test need not wait for commands
    std::optional<Scalar> finished = {};     ///< of a loop that goes on in later passes: whether it ended in this one
    std::optional<uint32_t> done_word = {};  ///< of a chunked loop
    std::vector<Statement> forget = {};
    bool suspends = false;
    size_t test_after = 0;  ///< the node of the body after which the next iteration's test can stand
  };

  Result<void> lower(const program::While& node, Context& context, Sequence& out);
  Looping begin(const program::While& node, const Context& context, Strategy guard);
  /// The node of a loop's body after which nothing changes its predicate; the last if the predicate is not written.
  size_t last_writer(const program::While& node) const;
  bool writes_any(const Node& node, const std::set<uint32_t>& scalars) const;
  const LoopWords& words(const program::While& node) const { return flow_.loops[node.loop.id]; }
  /// The statements before the first iteration.
  void enter(Looping& loop, const Context& context, Sequence& out);
  /// Whether the iteration of latch `turn` has come to its end.
  ScalarExpr ended(const Looping& loop, size_t turn, Token end) const;
  /// The statements between two iterations. `end`: whether control is at the end of the body.
  Result<void> test(Looping& loop, size_t turn, Token end, Sequence& out);
  /// `producer`: the statements that follow shall be the tail of the kernel before them, which runs in every iteration.
  Result<void> make_tail(const Looping& loop, size_t turn, const std::string& name, Sequence& out);
  /// One iteration, and the test of the next.
  Result<void> iteration(Looping& loop, size_t turn, Sequence& out);
  /// As many iterations as latches take turns.
  Result<void> round(Looping& loop, Sequence& out);
  Result<void> iterations(Looping& loop, uint32_t count, const std::string& label, Sequence& out);
  /// What is known once control is past the loop.
  void exit(const program::While& node, Context& context, Token past, Sequence& out);
  /// How many runs of so many iterations each make all of them.
  static uint32_t times(uint32_t iterations, uint32_t each) { return iterations / each + (iterations % each > 0); }
  /// All iterations up to the bound, each behind its latch.
  Result<void> spelled(const program::While& node, Strategy guard, Context& context, Sequence& out);
  /// A block of iterations under conditional rendering: one that begins when the loop is done costs a step.
  Result<uint32_t> block(Looping& loop, Sequence& out);
  /// All iterations up to the bound, in blocks.
  Result<void> predicated(const program::While& node, Context& context, Sequence& out);
  /// Iterations that the device repeats until the loop is done, one by one or in blocks.
  Result<void> chunked(const program::While& node, Context& context, Sequence& out);
  /// A loop inside a chunked one: some iterations in every pass, as many passes as it takes.
  Result<void> stepped(const program::While& node, Context& context, Sequence& out);
  /// min equals max: nothing to test. A body that leaves early is spelled out behind latches.
  Result<void> unrolled(const program::While& node, Context& context, Sequence& out);
  /// One kernel for all iterations, or several that go on where the one before stopped.
  Result<void> resident(const program::While& node, Context& context, Sequence& out);

  const Program& program_;
  const Decisions& decisions_;
  const target::Profile& profile_;
  const Mutation mutation_;
  Values& values_;
  KernelTable& kernels_;
  Flow flow_;
  Guards guards_;
  std::string assigning_;  ///< label of the step that the baseline's last assignment made
};

}  // namespace wavegate::lowering
