// What the reference device reports instead of going on.
#include <gmock/gmock.h>

#include "device/reference/launch.h"

namespace wavegate::device::reference {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Op;
using kir::Scope;
using kir::Type;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<uint32_t>;

TEST(faults, a_load_past_the_end_names_kernel_memory_index_length_and_invocation) {
  Builder b("reader", {8});
  auto in = b.buffer("in", Type::i32, Access::read);
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.global_id()] = in[b.global_id()];
  Storage in_memory = storage_of(Words(12));
  Storage out_memory = unwritten(64);
  const auto result = launch(finish(b), {&in_memory, &out_memory}, {.grid = {2, 1, 1}});
  EXPECT_EQ(outcome(result),
            "kernel \"reader\": load of \"in\" at index 12 is outside its 12 elements (invocation 12, 0, 0)");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_input);
}

TEST(faults, a_store_past_the_end_is_reported) {
  Builder b("writer");
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.u32(3)] = b.u32(1);
  Storage memory = unwritten(12);
  EXPECT_THAT(outcome(launch(finish(b), {&memory})), HasSubstr("store of \"out\" at index 3 is outside its 3"));
}

TEST(faults, an_index_of_minus_one_does_not_wrap) {
  Builder b("wrap");
  auto out = b.buffer("out", Type::i32, Access::read_write);
  b.load(out, b.u32(0xffffffff), 2);
  Storage memory = storage_of(Words(4));
  EXPECT_THAT(outcome(launch(finish(b), {&memory})), HasSubstr("index 4294967295"));
}

TEST(faults, the_last_of_several_elements_is_checked) {
  Builder b("tail");
  auto out = b.buffer("out", Type::i32, Access::write);
  b.store(out, b.u32(2), {b.u32(1), b.u32(2)});
  Storage memory = unwritten(12);
  EXPECT_THAT(outcome(launch(finish(b), {&memory})), HasSubstr("index 3"));
}

TEST(faults, an_atomic_past_the_end_is_reported) {
  Builder b("counter");
  auto out = b.buffer("out", Type::i32, Access::read_write);
  b.atomic(Op::atomic_add, out, b.u32(1), b.u32(1));
  Storage memory = storage_of(Words(1));
  EXPECT_THAT(outcome(launch(finish(b), {&memory})), HasSubstr("atomic_add of \"out\" at index 1"));
}

TEST(faults, a_workgroup_array_has_its_declared_length) {
  Builder b("tile");
  auto tile = b.workgroup_array("tile", Type::f32, 4);
  tile[b.u32(4)] = b.f32(1);
  EXPECT_THAT(outcome(launch(finish(b), {})), HasSubstr("\"tile\" at index 4 is outside its 4 elements"));
}

TEST(faults, a_local_array_does_not_reach_into_that_of_the_next_invocation) {
  Builder b("local", {2});
  auto mine = b.local_array("mine", Type::i32, 2);
  mine[b.u32(2)] = b.u32(1);
  EXPECT_THAT(outcome(launch(finish(b), {})), HasSubstr("\"mine\" at index 2 is outside its 2 elements"));
}

TEST(faults, an_inactive_lane_faults_nowhere) {
  Builder b("guarded", {8});
  auto in = b.buffer("in", Type::i32, Access::read_write);
  b.if_(b.local_id() < 3, [&] { in[b.local_id()] = in[b.local_id()] + 1; });
  Storage memory = storage_of(Words(3));
  EXPECT_EQ(outcome(launch(finish(b), {&memory})), "ok");
}

TEST(faults, a_read_of_a_buffer_never_written_is_reported) {
  Builder b("early", {4});
  auto in = b.buffer("in", Type::i32, Access::read);
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.local_id()] = in[b.local_id()];
  Storage in_memory = storage_of(Words(4));
  in_memory.written[9] = 0;
  Storage out_memory = unwritten(16);
  EXPECT_THAT(
      outcome(launch(finish(b), {&in_memory, &out_memory})),
      AllOf(HasSubstr("load of \"in\" at index 2 reads an element never written"), HasSubstr("invocation 2, 0, 0")));
}

TEST(faults, a_store_makes_an_element_readable) {
  Builder b("ordered");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  data[0] = b.u32(5);
  data[1] = data[0];
  Storage memory = unwritten(8);
  EXPECT_EQ(outcome(launch(finish(b), {&memory})), "ok");
}

TEST(faults, an_atomic_on_memory_never_written_is_reported) {
  Builder b("counter");
  auto out = b.buffer("out", Type::i32, Access::read_write);
  b.atomic(Op::atomic_add, out, b.u32(0), b.u32(1));
  Storage memory = unwritten(4);
  EXPECT_THAT(outcome(launch(finish(b), {&memory})), HasSubstr("never written"));
}

TEST(faults, workgroup_memory_starts_undefined_in_every_workgroup) {
  Builder b("leak");
  auto tile = b.workgroup_array("tile", Type::i32, 1);
  auto out = b.buffer("out", Type::i32, Access::write);
  b.if_(b.workgroup_id() == 0, [&] { tile[0] = b.u32(1); });
  out[b.workgroup_id()] = tile[0];
  Storage memory = unwritten(8);
  EXPECT_THAT(
      outcome(launch(finish(b), {&memory}, {.grid = {2, 1, 1}})),
      AllOf(HasSubstr("load of \"tile\" at index 0 reads an element never written"), HasSubstr("invocation 1, 0, 0")));
}

TEST(faults, a_local_variable_read_before_its_write_is_reported) {
  Builder b("undefined");
  auto mine = b.local_array("mine", Type::i32, 1);
  auto out = b.buffer("out", Type::i32, Access::write);
  out[0] = mine[0];
  Storage memory = unwritten(4);
  EXPECT_THAT(outcome(launch(finish(b), {&memory})), HasSubstr("load of \"mine\" at index 0 reads"));
}

TEST(faults, a_scalar_never_written_is_reported_by_name) {
  Builder b("scalar");
  auto in = b.scalar("in", Type::i32, Access::read);
  auto out = b.scalar("out", Type::i32, Access::write);
  out = in;
  Storage arena = unwritten(8);
  EXPECT_THAT(outcome(launch(finish(b), {&arena}, {.words = {0, 1}})),
              HasSubstr("load_scalar of \"in\" (arena word 0) reads a scalar never written"));
}

TEST(faults, a_scalar_outside_the_arena_is_reported) {
  Builder b("scalar");
  auto out = b.scalar("out", Type::i32, Access::write);
  out = b.u32(1);
  Storage arena = unwritten(8);
  EXPECT_THAT(outcome(launch(finish(b), {&arena}, {.words = {2}})),
              HasSubstr("arena word 2 is outside the arena of 2"));
}

TEST(faults, what_was_stored_before_a_fault_stays) {
  Builder b("partial", {4});
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.local_id()] = b.u32(1);
  Storage memory = unwritten(8);
  EXPECT_NE(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(1, 1));
}

// Claims.

kir::Kernel claim(Scope scope, const std::function<Expr(Builder&)>& value) {
  Builder b("claim", {8});
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.global_id()] = b.assume_uniform(value(b), scope);
  return finish(b);
}

TEST(faults, a_false_claim_of_uniformity_over_the_workgroup_is_reported) {
  Storage memory = unwritten(32);
  EXPECT_THAT(outcome(launch(claim(Scope::workgroup, [](Builder& b) { return b.local_id() / 4; }), {&memory})),
              AllOf(HasSubstr("kernel \"claim\": assume_uniform over the workgroup does not hold"),
                    HasSubstr("invocation 4, 0, 0")));
}

TEST(faults, a_claim_over_the_subgroup_may_differ_between_subgroups) {
  Storage memory = unwritten(32);
  EXPECT_EQ(outcome(launch(claim(Scope::subgroup, [](Builder& b) { return b.local_id() / 4; }), {&memory},
                           {.subgroup_size = 4})),
            "ok");
}

TEST(faults, a_false_claim_over_the_subgroup_is_reported) {
  Storage memory = unwritten(32);
  EXPECT_THAT(outcome(launch(claim(Scope::subgroup, [](Builder& b) { return b.local_id() / 4; }), {&memory},
                             {.subgroup_size = 8})),
              HasSubstr("assume_uniform over the subgroup does not hold"));
}

TEST(faults, a_claim_over_the_workgroup_may_differ_between_workgroups) {
  Storage memory = unwritten(64);
  EXPECT_EQ(outcome(launch(claim(Scope::workgroup, [](Builder& b) { return b.workgroup_id(); }), {&memory},
                           {.grid = {2, 1, 1}})),
            "ok");
}

TEST(faults, a_false_claim_over_the_device_is_reported_in_the_workgroup_that_differs) {
  Storage memory = unwritten(64);
  EXPECT_THAT(outcome(launch(claim(Scope::device, [](Builder& b) { return b.workgroup_id(); }), {&memory},
                             {.grid = {2, 1, 1}})),
              AllOf(HasSubstr("assume_uniform over the device does not hold"), HasSubstr("invocation 8, 0, 0")));
}

// Launches.

TEST(faults, a_loop_without_end_exhausts_the_budget) {
  Builder b("endless");
  auto out = b.buffer("out", Type::i32, Access::read_write);
  b.while_([&] { return Expr(out[0]) == 0; }, [] {});
  Storage memory = storage_of(Words{0});
  EXPECT_EQ(outcome(launch(finish(b), {&memory}, {.max_steps = 1000})),
            "kernel \"endless\": the dispatch ran more than 1000 instructions; raise the budget, or look for a loop "
            "that does not end");
}

TEST(faults, a_budget_that_suffices_changes_nothing) {
  Builder b("short");
  auto out = b.buffer("out", Type::i32, Access::write);
  out[0] = b.u32(1);
  Storage memory = unwritten(4);
  EXPECT_EQ(outcome(launch(finish(b), {&memory}, {.max_steps = 1000})), "ok");
}

TEST(faults, device_pointers_are_unsupported_by_name) {
  Builder b("pointer");
  auto p = b.parameter("p", Type::i64);
  b.store_pointer(p, b.u32(1));
  const auto result = launch(finish(b), {}, {.words = {0, 0}});
  EXPECT_THAT(outcome(result), HasSubstr("kernel \"pointer\": the reference device has no device pointers"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
}

TEST(faults, a_launch_with_the_wrong_number_of_words_is_an_internal_error) {
  Builder b("words");
  b.parameter("p", Type::i64);
  const auto result = launch(finish(b), {}, {.words = {0}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::internal);
}

TEST(faults, a_subgroup_size_of_three_is_refused) {
  Builder b("three");
  EXPECT_THAT(outcome(launch(finish(b), {}, {.subgroup_size = 3})), HasSubstr("subgroup size of 3"));
}

}  // namespace
}  // namespace wavegate::device::reference
