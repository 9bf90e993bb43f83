#include "wavegate/kir/passes/sink_guard.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace wavegate::kir {
namespace {

/// `if %zero { return }`, as guard() puts it.
bool is_test(const Instruction& instruction) {
  return instruction.op == Op::if_ && instruction.results.empty() &&
         instruction.blocks[0].terminator().op == Op::return_ && instruction.blocks[0].instructions.size() == 1 &&
         instruction.blocks[1].instructions.size() == 1;
}

bool is_load(const Instruction& instruction) {
  return instruction.op == Op::load || instruction.op == Op::load_scalar;
}

/// Where the test stands in a body that begins with one of a latch; the body's end if it does not.
std::size_t find_test(const std::vector<Instruction>& body) {
  std::size_t loads = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (is_test(body[i])) return loads == 1 ? i : body.size();
    if (is_load(body[i]))
      ++loads;
    else if (info(body[i].op).effect != Effect::pure)
      break;
  }
  return body.size();
}

/// Everything that a construct does is done in its first block, and nothing comes after it.
bool is_all_the_rest(const std::vector<Instruction>& list, std::size_t at) {
  const Instruction& instruction = list[at];
  return instruction.op == Op::if_ && instruction.results.empty() && instruction.blocks[1].instructions.size() == 1 &&
         at + 2 == list.size() && list.back().operands.empty() &&
         (list.back().op == Op::return_ || list.back().op == Op::yield);
}

class Sinking {
 public:
  explicit Sinking(Kernel& kernel) : kernel_(kernel), loaded_(kernel.value_types.size()) {}

  PassStats run() {
    std::vector<Instruction>& body = kernel_.body.instructions;
    const std::size_t at = find_test(body);
    if (at == body.size()) return {};
    Instruction test = std::move(body[at]);
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t i = 0; i < at; ++i)
      if (is_load(body[i])) loaded_[body[i].result().id] = true;
    place(std::move(test), body, at);
    return stats_;
  }

 private:
  /// Puts the test behind what may pass it, from `at` on.
  void place(Instruction test, std::vector<Instruction>& list, std::size_t at) {
    while (may_pass(list[at])) {
      ++at;
      ++stats_.changed;
    }
    if (is_all_the_rest(list, at) && !loaded_[list[at].operands[0].id]) {
      ++stats_.changed;
      return place(std::move(test), list[at].blocks[0].instructions, 0);
    }
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), std::move(test));
  }

  bool may_pass(const Instruction& instruction) {
    const bool depends = std::ranges::any_of(instruction.operands, [&](Value value) { return loaded_[value.id]; });
    const bool loads = is_load(instruction);
    if (loads ? depends || (instruction.op == Op::load && instruction.memory == kPointer)
              : info(instruction.op).effect != Effect::pure)
      return false;
    for (const Value result : instruction.results) loaded_[result.id] = loads || depends;
    return true;
  }

  Kernel& kernel_;
  std::vector<bool> loaded_;  ///< by value: memory decides it
  PassStats stats_;
};

}  // namespace

Result<PassStats> sink_guard(Kernel& kernel) {
  return Sinking(kernel).run();
}

}  // namespace wavegate::kir
