#include "wavegate/lowering/assemble.h"

#include <cstring>

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

using testing::SizeIs;

/// A flow that a test writes by hand.
struct Sample {
  Program program{"assemble"};
  Buffer data = program.buffer("data", Type::i32, 64, Initial::zero());
  Scalar a = program.scalar_u32("a", 1), b = program.scalar_u32("b", 1);
  target::Profile device = profile();
  KernelTable kernels{device};
  Values values{program, {false, false}, 64};
  Flow flow;

  Work work() {
    Work made;
    made.dispatch.label = "touch";
    made.dispatch.kernel = value_of(kernels.add(touch_kernel(), {}));
    made.dispatch.bindings = {values.range(data)};
    made.dispatch.uses = {{values.range(data), Access::read_write}};
    return made;
  }
  static Step step(std::vector<Statement> statements) {
    Step made;
    made.label = "step";
    made.statements = std::move(statements);
    return made;
  }
  Result<std::shared_ptr<const graph::Graph>> assembled() { return assemble(flow, values, kernels, device); }
};

TEST(Assemble, ControlWordsGridsAndObservedWordsStartFresh) {
  Sample s;
  s.values.control("latch");
  s.values.observed_word();
  s.flow.blocks.push_back({{{1, 1, 1}, {2, 3, 4}}});
  s.flow.commands.emplace_back(Sample::step({SetGrids{0, s.a}}));
  const auto graph = value_of(s.assembled());
  std::map<std::string, graph::Range> fills;
  for (const graph::Command& command : graph->commands)
    if (const auto* fill = std::get_if<graph::Fill>(&command)) {
      EXPECT_EQ(fill->word, 0u);
      fills[graph->buffers[static_cast<uint32_t>(fill->destination.buffer)].name] = fill->destination;
    }
  ASSERT_THAT(fills, SizeIs(3));
  EXPECT_EQ(fills["arena"].offset, 8u);  // past the program's scalars
  EXPECT_EQ(fills["arena"].bytes, 4u);
  EXPECT_EQ(fills["arguments"].bytes, 24u);
  EXPECT_EQ(fills["observed"].bytes, 4u);
  EXPECT_TRUE(std::holds_alternative<graph::Dispatch>(graph->commands.back()));
}

TEST(Assemble, TheTableOfGridsHoldsWhatIsDeclared) {
  Sample s;
  s.flow.blocks = {{{{1, 1, 1}}}, {}, {{{5, 6, 7}, {8, 9, 10}}}};
  Work work = s.work();
  work.grid_slot = GridSlot{2, 1};
  s.flow.commands.emplace_back(Sample::step({SetGrids{2, s.a}}));
  s.flow.commands.emplace_back(work);
  const auto graph = value_of(s.assembled());
  const graph::Buffer& table = graph->buffers[static_cast<uint32_t>(s.values.grids)];
  std::vector<uint32_t> words(9);
  std::memcpy(words.data(), table.initial->bytes->data(), 36);
  EXPECT_THAT(words, testing::ElementsAre(1, 1, 1, 5, 6, 7, 8, 9, 10));
  const auto dispatch = std::get<graph::Dispatch>(graph->commands.back());
  ASSERT_TRUE(dispatch.indirect);
  EXPECT_EQ(dispatch.indirect->offset, 24u);
}

TEST(Assemble, OnlyUsedKernelsAreLoaded) {
  Sample s;
  static_cast<void>(value_of(s.kernels.add(touch_kernel({32, 1, 1}), {})));
  auto repeat = std::make_shared<RepeatItem>();
  repeat->count = 2;
  repeat->body.emplace_back(s.work());
  static_cast<void>(value_of(s.kernels.add(touch_kernel({16, 1, 1}), {})));
  s.flow.commands.emplace_back(repeat);
  s.flow.commands.emplace_back(s.work());
  const auto graph = value_of(s.assembled());
  ASSERT_THAT(graph->kernels, SizeIs(1));
  for (const graph::Dispatch* each : dispatches(graph->commands)) EXPECT_EQ(each->kernel, graph::KernelId{0});
}

TEST(Assemble, AStepIsTheTailOfTheKernelBeforeItWhereItMayBe) {
  for (const bool may : {false, true}) {
    Sample s;
    Step step = Sample::step({Set{s.a, ScalarExpr(s.b) + 1u}});
    step.may_be_tail = may;
    s.flow.commands.emplace_back(s.work());
    s.flow.commands.emplace_back(step);
    const auto graph = value_of(s.assembled());
    EXPECT_THAT(dispatches(graph->commands), SizeIs(may ? 1 : 2));
    EXPECT_THAT(graph->kernels, SizeIs(may ? 1 : 2));
  }
}

TEST(Assemble, AStepThatIsNoTailBecauseItDoesNotFitIsAKernelOfItsOwnOrAnError) {
  for (const bool must : {false, true}) {
    Sample s;
    s.device.limits.storage_buffers = 1;
    Step step = Sample::step({Set{s.a, ScalarExpr(s.b) + 1u}});
    step.may_be_tail = true;
    step.must_be_tail = must;
    s.flow.commands.emplace_back(s.work());
    s.flow.commands.emplace_back(step);
    const auto graph = s.assembled();
    EXPECT_EQ(graph.ok(), !must);
    if (graph.ok()) {
      EXPECT_THAT(dispatches((*graph)->commands), SizeIs(2));
    } else {
      EXPECT_EQ(graph.error().kind, ErrorKind::unsupported);
    }
  }
}

TEST(Assemble, AStepOfMoreWordsThanADeviceLaunchesIsSplit) {
  Sample s;
  s.device.limits.immediate_words = 4;
  std::vector<Statement> statements;
  for (int i = 0; i < 10; ++i) {
    const Scalar made = s.values.control("word");
    statements.emplace_back(Set{made, ScalarExpr(s.a) + 1u});
  }
  s.flow.commands.emplace_back(Sample::step(statements));
  const auto graph = value_of(s.assembled());
  const auto all = dispatches(graph->commands);
  EXPECT_THAT(all, SizeIs(4));
  for (const graph::Dispatch* each : all) EXPECT_LE(each->words.size(), 4u);
}

TEST(Assemble, AStepOfMoreBuffersThanADeviceBindsIsSplit) {
  Sample s;
  s.device.limits.storage_buffers = 3;
  std::vector<Buffer> histories;
  for (int i = 0; i < 5; ++i)
    histories.push_back(s.program.buffer("h" + std::to_string(i), Type::i32, 64, Initial::zero()));
  s.values = Values(s.program, {false, false}, 64);
  std::vector<Statement> statements;
  for (const Buffer history : histories) statements.emplace_back(Store{s.values.range(history).buffer, 1u, 0u, s.a});
  s.flow.commands.emplace_back(Sample::step(statements));
  const auto graph = value_of(s.assembled());
  const auto all = dispatches(graph->commands);
  EXPECT_THAT(all, SizeIs(3));  // two histories and the arena each
  for (const graph::Dispatch* each : all) EXPECT_LE(each->bindings.size(), 3u);
}

TEST(Assemble, WhatShutsTheGateOfASplitStepComesLast) {
  Sample s;
  s.device.limits.immediate_words = 4;
  s.flow.blocks.push_back({{{1, 1, 1}}});
  std::vector<Statement> statements = {SetGrids{0, s.a}};
  for (int i = 0; i < 6; ++i) statements.emplace_back(Set{s.values.control("word"), ScalarExpr(s.b)});
  Step step = Sample::step(statements);
  step.gate = GridSlot{0, 0};
  s.flow.commands.emplace_back(step);
  const auto graph = value_of(s.assembled());
  const auto all = dispatches(graph->commands);
  ASSERT_GT(all.size(), 1u);
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(all[i]->indirect);
    const bool shuts = std::ranges::any_of(all[i]->uses, [&](const graph::Use& use) {
      return use.range.buffer == all[i]->indirect->buffer && kir::writes(use.access);
    });
    EXPECT_EQ(shuts, i + 1 == all.size());
  }
}

TEST(Assemble, NothingIsMadeOfWhatHoldsNothing) {
  Sample s;
  s.flow.blocks.push_back({});
  auto repeat = std::make_shared<RepeatItem>();
  repeat->count = 3;
  repeat->body.emplace_back(Sample::step({SetGrids{0, s.a}}));  // grids that nobody uses
  s.flow.commands.emplace_back(repeat);
  EXPECT_THAT(value_of(s.assembled())->commands, SizeIs(0));
}

}  // namespace
}  // namespace wavegate::lowering
