#pragma once

#include "device/control_flow.h"

/// Conditionals of a graph, which mean the same on every device that has predication: its test program includes this
/// once.
namespace wavegate::device {

/// Adds `amount` to each of four words under a predicate that a kernel computes from `source`.
struct ConditionalGraph {
  TestGraph graph{"conditional"};
  graph::BufferId source;
  graph::BufferId predicate = graph.buffer<uint32_t>("predicate", {7});
  graph::BufferId values = graph.output(graph.buffer<uint32_t>("values", {1, 2, 3, 4}));
  graph::KernelId affine = graph.kernel(affine_kernel());

  explicit ConditionalGraph(uint32_t number) : source(graph.buffer<uint32_t>("source", {number})) {
    graph.add(graph.dispatch(graph.kernel(is_odd_kernel()), {source, predicate}, {}, {1, 1, 1}));
  }
  graph::Command add(uint32_t amount) { return graph.dispatch(affine, {values}, {1, amount}, {1, 1, 1}); }
  void add_conditional(std::vector<graph::Command> body) {
    graph.add(TestGraph::conditional(graph.whole(predicate), std::move(body)));
  }
};

TEST_F(ControlFlow, AConditionalRunsItsBodyIfItsPredicateIsNotZero) {
  ConditionalGraph conditional(3);
  conditional.add_conditional({conditional.add(10), conditional.add(100)});
  const auto executable = load(conditional.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, conditional.values, 4), (Words{111, 112, 113, 114}));
}

TEST_F(ControlFlow, AConditionalRunsNothingIfItsPredicateIsZero) {
  ConditionalGraph conditional(4);
  conditional.add_conditional({conditional.add(10), conditional.add(100)});
  const auto executable = load(conditional.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, conditional.values, 4), (Words{1, 2, 3, 4}));
}

TEST_F(ControlFlow, WhatFollowsAConditionalRunsInAnyCase) {
  ConditionalGraph conditional(4);
  conditional.add_conditional({conditional.add(10)});
  conditional.graph.add(conditional.add(1));
  const auto executable = load(conditional.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, conditional.values, 4), (Words{2, 3, 4, 5}));
}

TEST_F(ControlFlow, ARepeatInAConditionalRunsAsAWholeOrNotAtAll) {
  for (const uint32_t number : {4u, 5u}) {
    ConditionalGraph conditional(number);
    conditional.add_conditional(
        {std::make_shared<const graph::Repeat>(graph::Repeat{"thrice", 3, {conditional.add(10)}})});
    const auto executable = load(conditional.graph);
    ASSERT_OK(executable->run());
    EXPECT_EQ(read_all<uint32_t>(*executable, conditional.values, 1), (Words{number == 5 ? 31u : 1u}));
  }
}

TEST_F(ControlFlow, AConditionalInARepeatReadsItsPredicateEachTime) {
  // source counts 0 to 5; the body runs at 1, 3 and 5.
  TestGraph graph("alternating");
  const auto source = graph.buffer<uint32_t>("source", {0}), predicate = graph.buffer("predicate", 1);
  const auto values = graph.output(graph.buffer<uint32_t>("values", {1}));
  const auto affine = graph.kernel(affine_kernel());
  graph.add_repeat(
      6, {graph.dispatch(graph.kernel(is_odd_kernel()), {source, predicate}, {}, {1, 1, 1}),
          TestGraph::conditional(graph.whole(predicate), {graph.dispatch(affine, {values}, {10, 0}, {1, 1, 1}),
                                                          graph.dispatch(affine, {values}, {1, 2}, {1, 1, 1})}),
          graph.dispatch(affine, {source}, {1, 1}, {1, 1, 1})});
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, values, 1), (Words{1222}));
}

TEST_F(ControlFlow, APredicateMayBeCopiedAndFilled) {
  ConditionalGraph conditional(3);
  conditional.graph.add(conditional.graph.fill(conditional.graph.whole(conditional.predicate), 0));
  conditional.add_conditional({conditional.add(10)});
  conditional.graph.add(conditional.graph.copy(conditional.graph.whole(conditional.source),
                                               conditional.graph.whole(conditional.predicate)));
  conditional.add_conditional({conditional.add(100)});
  conditional.graph.add(conditional.graph.fill(conditional.graph.whole(conditional.predicate), 0));
  const auto executable = load(conditional.graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, conditional.values, 1), (Words{101}));
}

TEST_F(ControlFlow, AConditionalInALoopReadsItsPredicateInEveryRun) {
  LoopGraph loops(50);
  TestGraph& graph = loops.graph;
  const auto odd = graph.buffer<uint32_t>("odd", {0}), values = graph.output(graph.buffer<uint32_t>("values", {0}));
  graph::Loop loop = loops.loop(0);
  loop.maximum = 50;
  loop.body.push_back(graph.dispatch(graph.kernel(is_odd_kernel()), {loops.iterations, odd}, {}, {1, 1, 1}));
  loop.body.push_back(TestGraph::conditional(
      graph.whole(odd), {graph.dispatch(graph.kernel(affine_kernel()), {values}, {1, 1}, {1, 1, 1})}));
  graph.add(loop);
  const auto executable = load(graph);
  ASSERT_OK(executable->run());
  EXPECT_EQ(read_all<uint32_t>(*executable, values, 1), (Words{25}));
}

}  // namespace wavegate::device
