#include "wavegate/emit/spirv/control_flow.h"

#include <algorithm>
#include <map>
#include <random>

#include "emit/spirv/support.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Access;
using kir::Block;
using kir::Builder;
using kir::Expr;
using kir::Instruction;
using kir::Kernel;
using kir::Op;
using kir::Type;
using kir::Value;
using testing::HasSubstr;
using testing::Not;

/// The function after its first label, with the ids numbered as they come.
std::string function_body(const std::string& text) {
  std::map<std::string, std::string> names;
  std::string body;
  for (size_t at = text.find('\n', text.find("OpLabel")) + 1; at < text.size();) {
    if (text[at] != '%') {
      body += text[at++];
      continue;
    }
    const size_t end = text.find_first_not_of("0123456789", at + 1);
    const auto [name, is_new] = names.try_emplace(text.substr(at, end - at), "%" + std::to_string(names.size()));
    body += name->second;
    at = end;
  }
  return body;
}

TEST(ControlFlow, an_if_selects_its_results_by_a_phi_of_the_blocks_that_end_its_branches) {
  Builder b("choose", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto p = b.parameter("p", Type::i32);
  auto chosen = b.variable(p);
  b.if_(
      p < 7, [&] { chosen = p + 1; }, [&] { chosen = p + 2; });
  out[0u] = chosen;
  EXPECT_EQ(function_body(emit_text(b)),
            "%0 = OpAccessChain %1 %2 %3 %3\n"
            "%4 = OpLoad %5 %0\n"
            "%6 = OpULessThan %7 %4 %8\n"
            "OpSelectionMerge %9 None\n"
            "OpBranchConditional %6 %10 %11\n"
            "%10 = OpLabel\n"
            "%12 = OpIAdd %5 %4 %13\n"
            "OpBranch %9\n"
            "%11 = OpLabel\n"
            "%14 = OpIAdd %5 %4 %15\n"
            "OpBranch %9\n"
            "%9 = OpLabel\n"
            "%16 = OpPhi %5 %12 %10 %14 %11\n"
            "%17 = OpAccessChain %18 %19 %3 %3\n"
            "OpStore %17 %16\n"
            "OpReturn\n"
            "OpFunctionEnd\n");
}

TEST(ControlFlow, an_empty_else_branches_straight_to_the_merge_block) {
  Builder b("guard", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto p = b.parameter("p", Type::i32);
  b.if_(p < 7, [&] { out[0u] = p; });
  EXPECT_EQ(count(emit_text(b), "OpLabel"), 3u);
}

TEST(ControlFlow, a_loop_carries_its_values_in_phis_of_its_header) {
  Builder b("count", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto n = b.parameter("n", Type::i32);
  auto sum = b.variable(b.u32(0));
  b.for_(b.u32(0), n, b.u32(1), [&](Expr i) { sum = Expr(sum) + i; });
  out[0u] = sum;
  EXPECT_EQ(function_body(emit_text(b)),
            "%0 = OpAccessChain %1 %2 %3 %3\n"
            "%4 = OpLoad %5 %0\n"
            "OpBranch %6\n"
            "%6 = OpLabel\n"
            "%7 = OpPhi %5 %3 %8 %9 %10\n"    // sum
            "%11 = OpPhi %5 %3 %8 %12 %10\n"  // i
            "OpLoopMerge %13 %10 None\n"
            "OpBranch %14\n"
            "%14 = OpLabel\n"
            "%15 = OpULessThan %16 %11 %4\n"
            "OpSelectionMerge %17 None\n"
            "OpBranchConditional %15 %18 %19\n"
            "%18 = OpLabel\n"
            "OpBranch %17\n"
            "%19 = OpLabel\n"
            "OpBranch %13\n"
            "%17 = OpLabel\n"
            "%12 = OpIAdd %5 %11 %20\n"
            "%9 = OpIAdd %5 %7 %11\n"
            "OpBranch %10\n"
            "%10 = OpLabel\n"
            "OpBranch %6\n"
            "%13 = OpLabel\n"
            "%21 = OpAccessChain %22 %23 %3 %3\n"
            "OpStore %21 %7\n"
            "OpReturn\n"
            "OpFunctionEnd\n");
}

TEST(ControlFlow, a_loop_on_a_cpu_is_not_to_be_unrolled) {
  target::Profile profile = full_profile();
  profile.is_cpu = true;
  Builder b("count", {1});
  auto n = b.parameter("n", Type::i32);
  b.for_(b.u32(0), n, b.u32(1), [&](Expr) {});
  EXPECT_THAT(emit_text(b, profile), HasSubstr("DontUnroll"));
}

TEST(ControlFlow, several_continues_meet_in_the_continue_block) {
  Builder b("skip", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto n = b.parameter("n", Type::i32);
  b.for_(b.u32(0), n, b.u32(1), [&](Expr i) {
    b.if_((i & 1) != 0, [&] { b.continue_(); });
    out[i] = i;
  });
  EXPECT_EQ(count(emit_text(b), "OpLoopMerge"), 1u);
}

TEST(ControlFlow, a_loop_that_never_continues_still_has_a_way_back) {
  Builder b("once", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  b.loop([&] {
    out[0u] = b.u32(1);
    b.break_();
  });
  EXPECT_EQ(count(emit_text(b), "OpLoopMerge"), 1u);
}

TEST(ControlFlow, the_merge_of_branches_that_both_leave_is_unreachable_and_ends_the_block) {
  Builder b("leave", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto p = b.parameter("p", Type::i32);
  b.if_(
      p < 7, [&] { b.return_(); }, [&] { b.return_(); });
  out[0u] = p;
  const std::string text = emit_text(b);
  EXPECT_EQ(count(text, "OpUnreachable"), 1u);
  EXPECT_THAT(text, Not(HasSubstr("OpStore")));
}

TEST(ControlFlow, a_switch_in_a_loop_may_break_and_continue_the_loop) {
  Builder b("machine", {1});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto state = b.variable(b.parameter("state", Type::i32));
  b.loop([&] {
    b.switch_(state, {{0, [&] { b.break_(); }}, {1, [&] { state = Expr(state) - 1; }}}, [&] {
      state = Expr(state) >> 1;
      b.continue_();
    });
    out[state] = state;
  });
  EXPECT_EQ(count(emit_text(b), "OpSwitch"), 1u);
}

TEST(ControlFlow, local_arrays_are_declared_in_the_first_block) {
  Builder b("local", {1});
  auto p = b.parameter("p", Type::i32);
  b.if_(p < 7, [&] {
    auto local = b.local_array("array", Type::f32, 4);
    local[p] = b.f32(1);
  });
  EXPECT_THAT(function_body(emit_text(b)).substr(0, 40), HasSubstr("OpVariable"));
}

/// Structured control flow by the seed: every construct in every other, with results, carried values and all ways
/// to leave a block.
class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed) : random_(seed) {}

  Kernel build() {
    kernel_.interface.name = "random";
    kernel_.interface.bindings.push_back({"out", kir::BindingKind::buffer, Type::i32, Access::read_write});
    kernel_.memories.push_back({"out", kir::MemorySpace::buffer, Type::i32, 0, 0});
    for (Type type : kTypes) append(kernel_.body, {.op = Op::constant, .type = type, .bits = 1}, type);
    fill(kernel_.body, 0);
    kernel_.body.instructions.push_back({.op = Op::return_});
    return std::move(kernel_);
  }

 private:
  static constexpr Type kTypes[] = {Type::i32, Type::f32, Type::boolean};
  static constexpr uint32_t kDeepest = 5;

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  Value append(Block& block, Instruction instruction, Type type) {
    const Value value = kernel_.new_value(type);
    instruction.results = {value};
    block.instructions.push_back(std::move(instruction));
    visible_.push_back(value);
    return value;
  }

  Value any(Type type) {
    std::vector<Value> fitting;
    std::ranges::copy_if(visible_, std::back_inserter(fitting), [&](Value v) { return kernel_.type_of(v) == type; });
    return fitting[below(static_cast<uint32_t>(fitting.size()))];
  }
  std::vector<Value> any(const std::vector<Type>& types) {
    std::vector<Value> values;
    for (Type type : types) values.push_back(any(type));
    return values;
  }

  std::vector<Type> random_types() {
    std::vector<Type> types;
    for (uint32_t n = below(4); n > 0; --n) types.push_back(kTypes[below(3)]);
    return types;
  }

  void fill(Block& block, uint32_t depth) {
    for (uint32_t n = 1 + below(4); n > 0; --n) {
      switch (depth < kDeepest ? below(7) : below(4)) {
        case 0:
          append(block, {.op = Op::add, .type = Type::i32, .operands = any({Type::i32, Type::i32})}, Type::i32);
          break;
        case 1:
          append(block, {.op = Op::less_u, .type = Type::boolean, .operands = any({Type::i32, Type::i32})},
                 Type::boolean);
          break;
        case 2:
          append(block, {.op = Op::mul_f, .type = Type::f32, .operands = any({Type::f32, Type::f32})}, Type::f32);
          break;
        case 3: {
          append(block, {.op = Op::load, .type = Type::i32, .memory = 0, .operands = {any(Type::i32)}}, Type::i32);
          block.instructions.push_back(
              {.op = Op::store, .type = Type::i32, .memory = 0, .operands = any({Type::i32, Type::i32})});
          break;
        }
        default: construct(block, depth);
      }
    }
  }

  void construct(Block& block, uint32_t depth) {
    constexpr Op kConstructs[] = {Op::if_, Op::switch_, Op::loop};
    const Op op = kConstructs[below(3)];
    Instruction instruction{.op = op};
    const std::vector<Type> results = random_types();
    if (op == Op::loop) {
      const std::vector<Type> carried = random_types();
      instruction.operands = any(carried);
      Block body;
      for (Type type : carried) body.parameters.push_back(kernel_.new_value(type));
      loops_.push_back({.carried = carried, .results = results});
      instruction.blocks.push_back(inner(std::move(body), depth, {Op::break_, Op::continue_, Op::return_}, {}));
      loops_.pop_back();
      const bool breaks = leaves(instruction.blocks[0], Op::break_);
      const bool returns = leaves(instruction.blocks[0], Op::return_);
      if (!breaks && (!returns || !results.empty())) return;  // the verifier wants a loop that can end
    } else {
      const uint32_t cases = op == Op::switch_ ? below(4) : 1;
      instruction.operands = {any(op == Op::if_ ? Type::boolean : Type::i32)};
      for (uint32_t i = 0; i < cases && op == Op::switch_; ++i) instruction.cases.push_back(i * i);
      bool yields = false;
      for (uint32_t i = 0; i <= cases; ++i) {
        instruction.blocks.push_back(
            inner({}, depth, {Op::yield, Op::yield, Op::yield, Op::break_, Op::continue_, Op::return_}, results));
        yields |= instruction.blocks.back().terminator().op == Op::yield;
      }
      if (!yields && !results.empty()) return;
    }
    for (Type type : results) {
      instruction.results.push_back(kernel_.new_value(type));
    }
    visible_.insert(visible_.end(), instruction.results.begin(), instruction.results.end());
    block.instructions.push_back(std::move(instruction));
  }

  /// True if the loop of this block has a break_ of its own (then `op` is that) or a return_ anywhere.
  static bool leaves(const Block& block, Op op) {
    return std::ranges::any_of(block.instructions, [&](const Instruction& i) {
      if (i.op == op) return true;
      if (i.op == Op::loop && op == Op::break_) return false;
      return std::ranges::any_of(i.blocks, [&](const Block& b) { return leaves(b, op); });
    });
  }

  Block inner(Block block, uint32_t depth, const std::vector<Op>& ends, const std::vector<Type>& yielded) {
    const size_t outer = visible_.size();
    visible_.insert(visible_.end(), block.parameters.begin(), block.parameters.end());
    if (below(5) != 0) fill(block, depth + 1);
    Op end = ends[below(static_cast<uint32_t>(ends.size()))];
    if (loops_.empty() && end != Op::return_) end = Op::yield;
    Instruction terminator{.op = end};
    if (end == Op::yield) terminator.operands = any(yielded);
    if (end == Op::continue_) terminator.operands = any(loops_.back().carried);
    if (end == Op::break_) terminator.operands = any(loops_.back().results);
    block.instructions.push_back(std::move(terminator));
    visible_.resize(outer);
    return block;
  }

  struct Loop {
    std::vector<Type> carried;
    std::vector<Type> results;
  };

  Kernel kernel_;
  std::mt19937 random_;
  std::vector<Value> visible_;
  std::vector<Loop> loops_;
};

TEST(ControlFlow, random_structured_kernels_are_valid_modules) {
  size_t loops = 0, unreachable = 0, phis = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const Kernel kernel = RandomKernel(seed).build();
    const auto verified = kir::verify(kernel);
    ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().to_string();
    const std::string text = emit_text(kernel);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    loops += count(text, "OpLoopMerge");
    unreachable += count(text, "OpUnreachable");
    phis += count(text, "OpPhi");
  }
  // The kernels are worth the test only if they hold what it is about.
  EXPECT_GT(loops, 100u);
  EXPECT_GT(unreachable, 100u);
  EXPECT_GT(phis, 100u);
}

}  // namespace
}  // namespace wavegate::emit::spirv
