#include "wavegate/lowering/values.h"

#include <cstring>

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

uint32_t word_of(const graph::Buffer& buffer, uint32_t word) {
  uint32_t bits = 0;
  std::memcpy(&bits, buffer.initial->bytes->data() + size_t{word} * 4, 4);
  return bits;
}

TEST(Values, TheBuffersOfTheGraphAreTheProgramsThenItsOwn) {
  Program program("buffers");
  const Buffer a = program.buffer("a", Type::i32, 5, Initial::repeated(7u));
  const Buffer b = program.external_buffer("b", Type::f32, 3);
  program.output(a);
  Values values(program, {}, 64);
  values.observed_word();
  const std::vector<graph::Buffer> buffers = values.graph_buffers(9);
  std::vector<std::string> names;
  for (const graph::Buffer& buffer : buffers) names.push_back(buffer.name);
  EXPECT_THAT(names, testing::ElementsAre("a", "b", "arena", "arguments", "grids", "observed"));
  EXPECT_TRUE(buffers[a.id].output);
  EXPECT_EQ(buffers[a.id].initial->word, 7u);
  EXPECT_TRUE(buffers[b.id].external);
  EXPECT_FALSE(buffers[b.id].initial);
  const auto own = [&](graph::BufferId id) { return buffers[static_cast<uint32_t>(id)]; };
  EXPECT_TRUE(own(values.arena).output);
  EXPECT_TRUE(own(values.arguments).indirect);
  EXPECT_EQ(own(values.arguments).bytes, 36u);
  EXPECT_EQ(own(values.grids).bytes, 36u);
  EXPECT_FALSE(own(values.grids).indirect);
  EXPECT_TRUE(own(values.observed).observed);
}

TEST(Values, ABufferIsPaddedToWordsAndItsRangeIsNot) {
  Program program("padded");
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5};
  const Buffer small = program.buffer("small", Type::i8, 5, Initial::copy_of(bytes));
  const Values values(program, {}, 64);
  const graph::Buffer buffer = values.graph_buffers(0)[small.id];
  EXPECT_EQ(buffer.bytes, 8u);
  ASSERT_EQ(buffer.initial->bytes->size(), 8u);
  EXPECT_EQ(word_of(buffer, 1), 5u);
  EXPECT_EQ(values.range(small).bytes, 5u);
}

TEST(Values, ControlWordsFollowTheScalarsAndAreScalarsOfTheSameProgram) {
  Program program("control");
  const Scalar a = program.scalar_u32("a", 5);
  const Scalar b = program.scalar_f32("b", 1.0f);
  Values values(program, {false, true}, 64);
  const Scalar latch = values.control("a");  // a name that is taken
  const Scalar aligned = values.control("latch", true);
  EXPECT_EQ(values.word(a), 0u);
  EXPECT_EQ(values.word(b), 16u);
  EXPECT_EQ(values.word(latch), 17u);
  EXPECT_EQ(values.word(aligned), 32u);
  EXPECT_EQ(values.first_control_word(), 17u);
  EXPECT_EQ(values.arena_words(), 33u);
  EXPECT_EQ(values.range(latch).offset, 68u);
  EXPECT_EQ(values.range(latch).bytes, 4u);
  EXPECT_EQ(values.program().info(latch).type, program::ScalarType::uint32);
  EXPECT_FALSE(values.program().mistake()) << values.program().mistake()->to_string();
  const graph::Buffer arena = values.graph_buffers(0)[static_cast<uint32_t>(values.arena)];
  EXPECT_EQ(arena.bytes, 33u * 4);
  EXPECT_EQ(word_of(arena, 0), 5u);
  EXPECT_EQ(word_of(arena, 16), 0x3f800000u);
  EXPECT_EQ(word_of(arena, 17), 0u);
}

TEST(Values, ObservedWordsAreCounted) {
  Values values(Program("observed"), {}, 64);
  EXPECT_EQ(values.observed_word(), 0u);
  EXPECT_EQ(values.observed_word(), 1u);
  EXPECT_EQ(values.graph_buffers(0)[static_cast<uint32_t>(values.observed)].bytes, 8u);
}

}  // namespace
}  // namespace wavegate::lowering
