#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/lower.h"
#include "wavegate/lowering/schedule.h"
#include "wavegate/lowering/strategy.h"
#include "wavegate/lowering/token.h"
#include "wavegate/lowering/values.h"

namespace wavegate::lowering {

/// The innermost loop that is being lowered.
struct LoopFrame {
  std::optional<program::Scalar> broken;     ///< set in an iteration that `break_` ends
  std::optional<program::Scalar> continued;  ///< the same for `continue_`, where the end of an iteration must be known
};

/// What holds where commands stand.
struct Context {
  Strategy guard = Strategy::early_out;  ///< how commands under a latch are conditioned
  bool guard_is_forced = false;          ///< asked for: a kernel that cannot take it is an error
  Token token = Token::always();         ///< whether control is here
  LoopFrame* loop = nullptr;
  std::optional<GridSlot> step_gate = {};    ///< steps run behind this grid, too (chained gates)
  std::vector<Statement>* forget = nullptr;  ///< what a chained loop clears when it is done
  bool top = true;                           ///< commands stand at the top level of the graph
  bool ticking = false;                      ///< inside the body of a chunked loop
  bool conditional = false;                  ///< inside conditional rendering
};

/// Appends statements and commands to a schedule, each so that it has an effect only where control is: statements fused
/// with their neighbours, commands behind the latch in the way of the strategy. What it is given outlives it.
class Guards {
 public:
  /// `launch_words`: of the device. Notes for people are added to `notes`.
  Guards(Values& values, KernelTable& kernels, uint32_t launch_words, Mutation mutation, std::vector<GridBlock>& blocks,
         std::set<std::string>& notes)
      : values_(values),
        kernels_(kernels),
        launch_words_(launch_words),
        mutation_(mutation),
        blocks_(blocks),
        notes_(notes) {}

  /// Whether scalar work joins its neighbours; not in the baseline.
  static bool fuses(const Context& context) { return context.guard != Strategy::gate; }
  /// The step that takes the next statement: the last item, if it is one that others may join.
  Step& step(const Context& context, const std::string& label, Sequence& out, bool alone = false);
  /// Appends a statement. What of its expressions names more scalars than the device has launch words is computed by
  /// statements before it, into control words.
  void put(Step& step, Statement statement);
  /// destination = value, wherever control is: the value says what it is elsewhere.
  void set(const Context& context, program::Scalar destination, program::ScalarExpr value, const std::string& label,
           Sequence& out);

  /// A latch: a control word, aligned since a descriptor may show it alone, and the indirect grids that it turns on and
  /// off.
  Token new_latch(const Context& context, const std::string& name);
  void take_latch(const Context& context, Token latch, program::ScalarExpr value, const std::string& label,
                  Sequence& out);
  /// The latch of where control is if it is at one of so many places, at least one.
  void take_latch(const Context& context, Token latch, const std::vector<Token>& places, const std::string& label,
                  Sequence& out);
  /// The latch of what is `inside` a region, given that control is at it: their conjunction, once.
  Token conjunction(const Context& context, program::ScalarExpr inside, const std::string& name, Sequence& out);
  /// What a latch is computed from again before every command, by Mutation::no_latch.
  void read_again(Token latch, program::ScalarExpr value);

  /// A grid that nothing else turns on or off.
  GridSlot new_grid(const graph::Grid& grid) { return slot(new_block(), grid); }
  /// A grid that the latch turns on and off; equal ones are one.
  GridSlot grid_of(Token latch, const graph::Grid& grid) { return slot(block_of_.at(latch.word.id), grid); }

  /// A dispatch under the context's latch.
  Result<void> emit(Work work, const Context& context, Sequence& out);

 private:
  program::ScalarExpr cut(program::ScalarExpr value, uint32_t scalars, Step& step);
  void turn_grids(Step& step, Token latch);
  uint32_t new_block();
  GridSlot slot(uint32_t block, const graph::Grid& grid);
  Result<void> gated(Work work, const Context& context, Sequence& out);

  Values& values_;
  KernelTable& kernels_;
  const uint32_t launch_words_;
  const Mutation mutation_;
  std::vector<GridBlock>& blocks_;
  std::set<std::string>& notes_;
  std::map<uint32_t, uint32_t> block_of_;           ///< the grids of a latch
  std::map<uint32_t, program::ScalarExpr> reread_;  ///< see read_again()
};

}  // namespace wavegate::lowering
