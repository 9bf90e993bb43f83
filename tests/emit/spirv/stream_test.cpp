#include "wavegate/emit/spirv/stream.h"

#include <gmock/gmock.h>

namespace wavegate::emit::spirv {
namespace {

using testing::ElementsAre;

TEST(Stream, an_instruction_begins_with_its_length_and_code) {
  Stream stream;
  stream.put(spv::Op::OpBranch, {7});
  EXPECT_THAT(stream.words(), ElementsAre(2u << 16 | 249u, 7u));
}

TEST(Stream, an_instruction_of_more_than_65535_words_is_left_out_and_noted) {
  Stream stream;
  stream.put(spv::Op::OpNop, std::vector<uint32_t>(65534));
  EXPECT_FALSE(stream.overflowed());
  stream.put(spv::Op::OpNop, std::vector<uint32_t>(65535));
  EXPECT_TRUE(stream.overflowed());
  EXPECT_EQ(stream.size(), 65535u);
}

TEST(Stream, a_string_ends_with_a_zero_byte_also_when_it_fills_its_words) {
  std::vector<uint32_t> words;
  append_string(words, "main");
  append_string(words, "abc");
  EXPECT_THAT(words, ElementsAre(0x6e69616du, 0u, 0x00636261u));
}

}  // namespace
}  // namespace wavegate::emit::spirv
