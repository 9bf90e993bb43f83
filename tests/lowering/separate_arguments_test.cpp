#include "wavegate/lowering/separate_arguments.h"

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

Program countdown() {
  Program program("countdown");
  const Buffer data = program.buffer("data", Type::i32, 256, Initial::zero());
  const Scalar left = program.scalar_u32("left", 5);
  program.while_(left, {.max = 8}, [&] {
    touch(program, data, {4, 1, 1});
    program.assign(left, left - 1u);
    touch(program, data, {1, 1, 1});
  });
  return program;
}

target::Profile strict_profile() {
  target::Profile made = profile();
  made.features.writes_its_grid_source = false;
  return made;
}

graph::BufferId named(const Plan& plan, std::string_view name) {
  for (size_t i = 0; i < plan.graph->buffers.size(); ++i)
    if (plan.graph->buffers[i].name == name) return graph::BufferId{static_cast<uint32_t>(i)};
  throw std::runtime_error("no such buffer");
}

bool writes_its_grid_source(const graph::Dispatch& dispatch) {
  return dispatch.indirect && std::ranges::any_of(dispatch.bindings, [&](const graph::Range& range) {
           return range.buffer == dispatch.indirect->buffer;
         });
}

TEST(SeparateArguments, AChainedGateWritesItsOwnGridElsewhere) {
  // Where a device allows it, a chained gate does what this is about.
  const Plan allowed = value_of(lower(countdown(), profile(), forced(Strategy::chained_gate)));
  EXPECT_TRUE(std::ranges::any_of(dispatches(allowed), [](const auto* each) { return writes_its_grid_source(*each); }));

  const Plan plan = value_of(lower(countdown(), strict_profile(), forced(Strategy::chained_gate)));
  EXPECT_TRUE(std::ranges::none_of(dispatches(plan), [](const auto* each) { return writes_its_grid_source(*each); }));
  EXPECT_TRUE(graph::verify(*plan.graph));
}

/// Copies what follows a command, those inside blocks too.
void expect_copies(const std::vector<graph::Command>& commands, graph::BufferId arguments, graph::BufferId written,
                   size_t& gates) {
  for (size_t i = 0; i < commands.size(); ++i) {
    if (const auto* block = std::get_if<std::shared_ptr<const graph::Repeat>>(&commands[i]))
      expect_copies((*block)->body, arguments, written, gates);
    const auto* dispatch = std::get_if<graph::Dispatch>(&commands[i]);
    if (dispatch == nullptr) continue;
    size_t next = i + 1;
    for (const graph::Use& use : dispatch->uses) {
      ASSERT_NE(use.range.buffer, arguments) << dispatch->label;
      if (use.range.buffer != written) continue;
      ++gates;
      const auto* copy = next < commands.size() ? std::get_if<graph::Copy>(&commands[next++]) : nullptr;
      ASSERT_NE(copy, nullptr) << dispatch->label;
      EXPECT_EQ(copy->source.buffer, written);
      EXPECT_EQ(copy->destination.buffer, arguments);
      EXPECT_EQ(copy->source.offset, use.range.offset);
      EXPECT_EQ(copy->destination.offset, use.range.offset);
      EXPECT_EQ(copy->source.bytes, use.range.bytes);
      EXPECT_EQ(copy->destination.bytes, use.range.bytes);
    }
  }
}

TEST(SeparateArguments, EveryGridThatIsWrittenIsCopiedToWhereItIsRead) {
  for (const Strategy strategy : {Strategy::chained_gate, Strategy::producer}) {
    const Plan plan = value_of(lower(countdown(), strict_profile(), forced(strategy)));
    size_t gates = 0;
    expect_copies(plan.graph->commands, named(plan, "arguments"), named(plan, "arguments written"), gates);
    EXPECT_GE(gates, 2u) << to_string(strategy);
  }
}

TEST(SeparateArguments, BothStartEmpty) {
  const Plan plan = value_of(lower(countdown(), strict_profile(), forced(Strategy::chained_gate)));
  std::map<graph::BufferId, uint64_t> filled;
  for (const graph::Command& command : plan.graph->commands)
    if (const auto* fill = std::get_if<graph::Fill>(&command))
      filled[fill->destination.buffer] = fill->destination.bytes;
  EXPECT_GT(filled[named(plan, "arguments")], 0u);
  EXPECT_EQ(filled[named(plan, "arguments")], filled[named(plan, "arguments written")]);
}

TEST(SeparateArguments, WhereNoDispatchDoesBothNothingIsCopied) {
  for (const Strategy strategy : {Strategy::gate, Strategy::fused_gate, Strategy::early_out}) {
    const Plan allowed = value_of(lower(countdown(), profile(), forced(strategy)));
    const Plan plan = value_of(lower(countdown(), strict_profile(), forced(strategy)));
    EXPECT_EQ(plan.graph->buffers.size(), allowed.graph->buffers.size()) << to_string(strategy);
    EXPECT_EQ(graph::encoded_size(plan.graph->commands), graph::encoded_size(allowed.graph->commands));
  }
}

}  // namespace
}  // namespace wavegate::lowering
