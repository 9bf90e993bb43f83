#include "wavegate/amdgpu/object/launch.h"

#include <gmock/gmock.h>

#include "amdgpu/object/testing.h"
#include "wavegate/amdgpu/object/code_object.h"

namespace wavegate::amdgpu::object {
namespace {

using isa::Target;
using isa::WaveWidth;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

LaunchState state_of(std::string_view kernel, std::string_view file, Target target, WaveWidth wave) {
  const auto bytes = compiled(kernel, file);
  const auto object = parse_code_object(bytes);
  EXPECT_TRUE(object.ok()) << error_text(object);
  const auto state = launch_state(object->kernels.at(0).descriptor, target, wave);
  EXPECT_TRUE(state.ok()) << error_text(state);
  return *state;
}

// What clang-19 writes into the assembly of tests/amdgpu/kernels/ids.cl (-S), and which registers its code then reads.

TEST(LaunchState, OfGfx9PutsWorkgroupIdsBehindTheUserRegisters) {
  const LaunchState state = state_of("ids", "gfx900.w64", Target::gfx900, WaveWidth::wave64);
  EXPECT_THAT(state[UserSgpr::private_segment_buffer], Optional(SgprRange{0, 4}));
  EXPECT_THAT(state[UserSgpr::dispatch_pointer], Optional(SgprRange{4, 2}));
  EXPECT_THAT(state[UserSgpr::kernarg_pointer], Optional(SgprRange{6, 2}));
  EXPECT_EQ(state[UserSgpr::flat_scratch_init], std::nullopt);
  EXPECT_EQ(state.workgroup_ids, isa::WorkgroupIds::user_sgprs);
  EXPECT_THAT(state.workgroup_id, ElementsAre(Optional(8u), Optional(9u), Optional(10u)));
  EXPECT_EQ(state.scratch, ScratchSetup::none);
  EXPECT_EQ(state.entry_skip, 0);
  EXPECT_FALSE(state.packed_work_item_ids);
  EXPECT_EQ(state.work_item_dimensions, 3);
}

TEST(LaunchState, OfGfx10HasTheRegistersOfGfx9) {
  const LaunchState state = state_of("ids", "gfx1030.w32", Target::gfx1030, WaveWidth::wave32);
  EXPECT_THAT(state[UserSgpr::dispatch_pointer], Optional(SgprRange{4, 2}));
  EXPECT_THAT(state[UserSgpr::kernarg_pointer], Optional(SgprRange{6, 2}));
  EXPECT_THAT(state.workgroup_id, ElementsAre(Optional(8u), Optional(9u), Optional(10u)));
  EXPECT_FALSE(state.packed_work_item_ids);
}

TEST(LaunchState, OfGfx11CountsMoreUserRegistersThanItPasses) {
  const LaunchState one = state_of("saxpy", "gfx1100.w32", Target::gfx1100, WaveWidth::wave32);
  EXPECT_THAT(one[UserSgpr::kernarg_pointer], Optional(SgprRange{0, 2}));
  EXPECT_EQ(one.user_sgprs, 15);
  EXPECT_EQ(one.workgroup_id[0], 15u);
  const LaunchState three = state_of("ids", "gfx1100.w32", Target::gfx1100, WaveWidth::wave32);
  EXPECT_THAT(three[UserSgpr::dispatch_pointer], Optional(SgprRange{0, 2}));
  EXPECT_THAT(three[UserSgpr::kernarg_pointer], Optional(SgprRange{2, 2}));
  EXPECT_THAT(three.workgroup_id, ElementsAre(Optional(13u), Optional(14u), Optional(15u)));
  EXPECT_TRUE(three.packed_work_item_ids);
}

TEST(LaunchState, OfGfx12HasWorkgroupIdsInTtmpRegisters) {
  const LaunchState state = state_of("ids", "gfx1200.w32", Target::gfx1200, WaveWidth::wave32);
  EXPECT_EQ(state.workgroup_ids, isa::WorkgroupIds::ttmp);
  EXPECT_THAT(state.workgroup_id, ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  EXPECT_EQ(state.user_sgprs, 4);
  EXPECT_TRUE(state.packed_work_item_ids);
}

TEST(LaunchState, OfScratchBeforeGfx11AddsAnOffsetBehindTheWorkgroupIds) {
  for (const auto& [file, target, wave] : {std::tuple("gfx900.w64", Target::gfx900, WaveWidth::wave64),
                                           std::tuple("gfx1030.w32", Target::gfx1030, WaveWidth::wave32)}) {
    const LaunchState state = state_of("scratch", file, target, wave);
    EXPECT_THAT(state[UserSgpr::private_segment_buffer], Optional(SgprRange{0, 4}));
    EXPECT_THAT(state[UserSgpr::kernarg_pointer], Optional(SgprRange{4, 2}));
    EXPECT_THAT(state[UserSgpr::flat_scratch_init], Optional(SgprRange{6, 2}));
    EXPECT_EQ(state.workgroup_id[0], 8u);
    EXPECT_EQ(state.scratch, ScratchSetup::offset_sgpr);
    EXPECT_EQ(state.scratch_offset, 9u);
  }
}

TEST(LaunchState, OfScratchOnGfx942AndSinceGfx11IsSetUpByTheHardware) {
  for (const auto& [file, target, wave] : {std::tuple("gfx942.w64", Target::gfx942, WaveWidth::wave64),
                                           std::tuple("gfx1100.w32", Target::gfx1100, WaveWidth::wave32),
                                           std::tuple("gfx1200.w32", Target::gfx1200, WaveWidth::wave32)}) {
    const LaunchState state = state_of("scratch", file, target, wave);
    EXPECT_EQ(state.scratch, ScratchSetup::architected);
    EXPECT_EQ(state.scratch_offset, std::nullopt);
  }
}

TEST(LaunchState, PutsPreloadedArgumentsBehindTheOtherUserRegisters) {
  Descriptor descriptor;
  descriptor.user_sgprs = 1 << static_cast<int>(UserSgpr::kernarg_pointer);
  descriptor.preloaded_dwords = 6;
  descriptor.preload_offset = 2;
  descriptor.rsrc2 = 8 << 1 | 1 << 7;  // eight user registers, the workgroup's x
  const auto state = launch_state(descriptor, Target::gfx942, WaveWidth::wave64);
  ASSERT_TRUE(state.ok()) << error_text(state);
  EXPECT_EQ(state->preloaded, (SgprRange{2, 6}));
  EXPECT_EQ(state->preload_offset, 2);
  EXPECT_EQ(state->entry_skip, 256) << "what comes before is for launchers that do not preload";
  EXPECT_EQ(state->workgroup_id[0], 8u);
}

TEST(LaunchState, ThatPassesMoreThanItCountsIsRefused) {
  Descriptor descriptor;
  descriptor.user_sgprs = 0x7f;  // all: 4 + 2 + 2 + 2 + 2 + 2 + 1
  descriptor.rsrc2 = 14 << 1;
  EXPECT_THAT(error_text(launch_state(descriptor, Target::gfx1030, WaveWidth::wave32)),
              HasSubstr("passes 15 user registers where it counts 14"));
  descriptor.rsrc2 = 15 << 1;
  EXPECT_TRUE(launch_state(descriptor, Target::gfx1030, WaveWidth::wave32).ok());
}

TEST(WorkItemIds, OfTwoAndThreeDimensionsReachTheirRegisters) {
  // MGPUSim #269: threadIdx.y read as zero in kernels of several dimensions.
  LaunchState state;
  state.work_item_dimensions = 3;
  EXPECT_THAT(initial_vgprs(state, {5, 6, 7}), ElementsAre(5, 6, 7));
  state.packed_work_item_ids = true;
  EXPECT_THAT(initial_vgprs(state, {5, 6, 7}), ElementsAre(5 | 6 << 10 | 7 << 20, 0, 0));
}

TEST(WorkItemIds, ThatAreNotAskedForAreZeroInThePackedRegister) {
  // A program that asks for x alone uses v0 as it is.
  LaunchState state;
  state.packed_work_item_ids = true;
  state.work_item_dimensions = 1;
  EXPECT_THAT(initial_vgprs(state, {5, 6, 7}), ElementsAre(5, 0, 0));
  state.work_item_dimensions = 2;
  EXPECT_THAT(initial_vgprs(state, {5, 6, 7}), ElementsAre(5 | 6 << 10, 0, 0));
}

}  // namespace
}  // namespace wavegate::amdgpu::object
