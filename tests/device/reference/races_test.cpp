#include "wavegate/device/reference/races.h"

#include <gmock/gmock.h>

#include "device/reference/launch.h"

namespace wavegate::device::reference {
namespace {

using kir::Builder;
using kir::Expr;
using kir::MemoryRef;
using kir::Op;
using kir::Scope;
using kir::Type;
using testing::AllOf;
using testing::HasSubstr;

/// The outcome of eight invocations, in subgroups of four, that share `tile` of eight elements, each of which its
/// own invocation set to 1 before a barrier.
std::string outcome_of(const std::function<void(Builder&, MemoryRef, Expr lane)>& body) {
  Builder b("share", {8});
  auto tile = b.workgroup_array("tile", Type::i32, 8);
  tile[b.local_id()] = b.u32(1);
  b.barrier();
  body(b, tile, b.local_id());
  return outcome(launch(finish(b), {}, {.subgroup_size = 4}));
}

const auto kRace = HasSubstr("races with another invocation of the workgroup; put a barrier between them");

TEST(races, a_read_of_what_another_invocation_stored_needs_a_barrier) {
  EXPECT_THAT(
      outcome_of([](Builder&, MemoryRef tile, Expr lane) {
        tile[lane] = lane + 5;
        tile[lane] = tile[7 - lane] * 1;
      }),
      AllOf(kRace, HasSubstr("kernel \"share\": load of \"tile\" at index 7"), HasSubstr("invocation 0, 0, 0")));
}

TEST(races, a_barrier_orders_a_store_before_a_read) {
  EXPECT_EQ(outcome_of([](Builder& b, MemoryRef tile, Expr lane) {
              tile[lane] = lane + 5;
              b.barrier();
              b.load(tile, 7 - lane);
            }),
            "ok");
}

TEST(races, a_store_over_what_another_invocation_read_needs_a_barrier) {
  EXPECT_THAT(outcome_of([](Builder& b, MemoryRef tile, Expr lane) {
                b.load(tile, 7 - lane);
                tile[lane] = lane + 5;
              }),
              AllOf(kRace, HasSubstr("store of \"tile\" at index 0")));
}

TEST(races, two_stores_of_different_values_race) {
  EXPECT_THAT(outcome_of([](Builder&, MemoryRef tile, Expr lane) { tile[0] = lane + 5; }), kRace);
}

TEST(races, stores_of_one_value_by_many_do_not_race) {
  EXPECT_EQ(outcome_of([](Builder& b, MemoryRef tile, Expr) { tile[0] = b.u32(9); }), "ok");
}

TEST(races, an_invocation_does_not_race_with_itself) {
  EXPECT_EQ(outcome_of([](Builder&, MemoryRef tile, Expr lane) {
              tile[lane] = lane + 5;
              tile[lane] = tile[lane] + 1;
            }),
            "ok");
}

TEST(races, reads_by_many_do_not_race) {
  EXPECT_EQ(outcome_of([](Builder& b, MemoryRef tile, Expr) { b.load(tile, b.u32(3)); }), "ok");
}

TEST(races, atomics_do_not_race_with_each_other) {
  EXPECT_EQ(outcome_of([](Builder& b, MemoryRef tile, Expr lane) { b.atomic(Op::atomic_add, tile, b.u32(0), lane); }),
            "ok");
}

TEST(races, a_plain_read_beside_atomics_of_others_races) {
  EXPECT_THAT(outcome_of([](Builder& b, MemoryRef tile, Expr lane) {
                b.atomic(Op::atomic_add, tile, b.u32(0), lane);
                b.load(tile, b.u32(0));
              }),
              kRace);
}

TEST(races, a_subgroup_barrier_orders_the_invocations_of_the_subgroup) {
  EXPECT_EQ(outcome_of([](Builder& b, MemoryRef tile, Expr lane) {
              tile[lane] = lane + 5;
              b.barrier(Scope::subgroup);
              Expr neighbour = b.load(tile, lane ^ 1);
              b.barrier(Scope::subgroup);
              tile[lane] = neighbour;
            }),
            "ok");
}

TEST(races, a_subgroup_barrier_does_not_order_other_subgroups) {
  EXPECT_THAT(outcome_of([](Builder& b, MemoryRef tile, Expr lane) {
                tile[lane] = lane + 5;
                b.barrier(Scope::subgroup);
                b.load(tile, lane ^ 4);
              }),
              kRace);
}

TEST(races, an_earlier_read_in_the_subgroup_is_over_after_its_barrier) {
  EXPECT_EQ(outcome_of([](Builder& b, MemoryRef tile, Expr lane) {
              b.load(tile, lane ^ 1);
              b.barrier(Scope::subgroup);
              tile[lane] = b.load(tile, lane) + lane;
            }),
            "ok");
}

TEST(races, the_next_workgroup_starts_afresh) {
  Builder b("fresh");
  auto tile = b.workgroup_array("tile", Type::i32, 1);
  tile[0] = b.workgroup_id();
  EXPECT_EQ(outcome(launch(finish(b), {}, {.grid = {3, 1, 1}})), "ok");
}

}  // namespace
}  // namespace wavegate::device::reference
