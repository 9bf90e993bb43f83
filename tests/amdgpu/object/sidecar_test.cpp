#include "wavegate/amdgpu/object/sidecar.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"
#include "wavegate/amdgpu/object/image.h"
#include "wavegate/amdgpu/object/launch.h"

namespace wavegate::amdgpu::object {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kGood = R"({
  "name": "blur", "target": "gfx1030", "pgm_rsrc1": "0x00af0041", "pgm_rsrc2": 98440, "num_thread": [8, 8, 1],
  "wave32": true, "user_sgprs": [1, "0xffffffff", 3], "scratch_bytes": 16
})";

TEST(Sidecar, HoldsAComputeState) {
  const auto state = parse_sidecar(kGood);
  ASSERT_TRUE(state.ok()) << error_text(state);
  EXPECT_EQ(state->name, "blur");
  EXPECT_EQ(state->target.to_string(), "gfx1030");
  EXPECT_EQ(state->pgm_rsrc1, 0x00af0041);
  EXPECT_EQ(state->pgm_rsrc2, 98440);
  EXPECT_THAT(state->num_thread, ElementsAre(8, 8, 1));
  EXPECT_TRUE(state->wave32);
  EXPECT_THAT(state->user_sgprs, ElementsAre(1, 0xffffffff, 3));
  EXPECT_EQ(state->scratch_bytes, 16);
}

TEST(Sidecar, ThatIsWrongIsRefusedByWhatIsWrong) {
  const auto with = [](std::string_view member) {
    return error_text(parse_sidecar(
        format(R"({{"target": "gfx900", "pgm_rsrc1": 0, "pgm_rsrc2": 2, "num_thread": [64, 1, 1], {}}})", member)));
  };
  EXPECT_EQ(with(R"("name": "k")"), "");
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"("speed": 1)", "the key \"speed\" is unknown"},
      {R"("pgm_rsrc1": -1)", "\"pgm_rsrc1\" is no whole number"},
      {R"("pgm_rsrc1": 4294967296)", "\"pgm_rsrc1\" is no whole number"},
      {R"("pgm_rsrc1": "0x123456789")", "\"pgm_rsrc1\" is no whole number"},
      {R"("pgm_rsrc1": "0x")", "\"pgm_rsrc1\" is no whole number"},
      {R"("pgm_rsrc1": "12")", "\"pgm_rsrc1\" is no whole number"},
      {R"("num_thread": [64, 1])", "three sizes"},
      {R"("num_thread": [64, 0, 1])", "not 1 to 1024"},
      {R"("num_thread": [64, 64, 1])", "4096 work-items"},
      {R"("wave32": true)", "gfx900 has no wave32"},
      {R"("wave32": 1)", "neither true nor false"},
      {R"("user_sgprs": [1, 2])", "2 values where pgm_rsrc2 counts 1"},
      {R"("user_sgprs": 1)", "no list"},
      {R"("target": "rdna2")", "no target"},
      {R"("target": "gfx803")", "gfx803"},
      {R"("lds_bytes": 65537)", "\"lds_bytes\" is 65537"},
      {R"("name": 3)", "is no text"},
  };
  for (const auto& [member, says] : cases) EXPECT_THAT(with(member), HasSubstr(says)) << member;
  EXPECT_THAT(error_text(parse_sidecar("{}")), HasSubstr("\"target\" is missing"));
  EXPECT_THAT(error_text(parse_sidecar("[]")), HasSubstr("no JSON object"));
  EXPECT_THAT(error_text(parse_sidecar("{")), HasSubstr("not JSON"));
  EXPECT_THAT(error_text(parse_sidecar(std::string(100'000, '['))), HasSubstr("larger than"));
  EXPECT_THAT(error_text(parse_sidecar(std::string(60'000, '['))), HasSubstr("not JSON"));
}

TEST(RawShader, IsAnObjectOfOneKernel) {
  const auto state = parse_sidecar(kGood);
  ASSERT_TRUE(state.ok()) << error_text(state);
  const auto code = to_bytes(std::string_view("\0\0\x80\xbf\0\0\x81\xbf", 8));  // s_nop 0, s_endpgm
  const auto object = make_code_object(code, *state);
  ASSERT_TRUE(object.ok()) << error_text(object);
  const Kernel* kernel = object->find_kernel("blur");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->wave_width, 32);
  EXPECT_EQ(kernel->code.size(), 8);
  EXPECT_EQ(kernel->lds_bytes, 3 * 512);  // pgm_rsrc2 is 0x18088: LDS_SIZE 3, USER_SGPR 4, TGID_X
  EXPECT_EQ(kernel->scratch_bytes, 16);
  EXPECT_THAT(kernel->required_workgroup, ElementsAre(8, 8, 1));
  EXPECT_THAT(kernel->user_sgpr_values, ElementsAre(1, 0xffffffff, 3));
  const auto launch = launch_state(kernel->descriptor, isa::Target::gfx1030, isa::WaveWidth::wave32);
  ASSERT_TRUE(launch.ok()) << error_text(launch);
  EXPECT_EQ(launch->workgroup_id[0], 4u);
  auto image = load(*object, 0x10000);
  ASSERT_TRUE(image.ok()) << error_text(image);
  EXPECT_TRUE(std::ranges::equal(image->at(image->address_of(kernel->entry), 8), code));
}

TEST(RawShader, OfNoWholeWordsIsRefused) {
  const auto state = parse_sidecar(kGood);
  ASSERT_TRUE(state.ok()) << error_text(state);
  EXPECT_THAT(error_text(make_code_object(to_bytes("12345"), *state)), HasSubstr("5 bytes"));
  EXPECT_THAT(error_text(make_code_object({}, *state)), HasSubstr("0 bytes"));
}

}  // namespace
}  // namespace wavegate::amdgpu::object
