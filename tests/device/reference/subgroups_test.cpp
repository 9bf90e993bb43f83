// Subgroup operations at several widths. The workgroup of 80 invocations leaves a partial last subgroup at most.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "device/reference/launch.h"

namespace wavegate::device::reference {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Op;
using kir::Scope;
using kir::Type;
using testing::HasSubstr;

using Words = std::vector<uint32_t>;
constexpr uint32_t kLanes = 80;

uint32_t value_of(uint32_t lane) {
  return lane * 2654435761u % 1000;
}

class Subgroups : public testing::TestWithParam<uint32_t> {
 protected:
  /// What each lane gets of `expression(builder, its value)`.
  Words run(const std::function<Expr(Builder&, Expr)>& expression) {
    Builder b("subgroup", {kLanes});
    auto in = b.buffer("in", Type::i32, Access::read);
    auto out = b.buffer("out", Type::i32, Access::write);
    out[b.local_id()] = expression(b, in[b.local_id()]);
    Words values;
    for (uint32_t lane = 0; lane < kLanes; ++lane) values.push_back(value_of(lane));
    Storage in_memory = storage_of(values);
    Storage out_memory = unwritten(4 * kLanes);
    EXPECT_EQ(outcome(launch(finish(b), {&in_memory, &out_memory}, {.subgroup_size = GetParam()})), "ok");
    return numbers_in<uint32_t>(out_memory);
  }

  /// `expected(first lane, end, lane)` of the lane's subgroup, for every lane.
  static Words each(const std::function<uint32_t(uint32_t, uint32_t, uint32_t)>& expected) {
    Words out;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t first = lane / GetParam() * GetParam();
      out.push_back(expected(first, std::min(first + GetParam(), kLanes), lane));
    }
    return out;
  }

  static uint32_t fold(uint32_t first, uint32_t last, const std::function<uint32_t(uint32_t, uint32_t)>& f) {
    uint32_t result = value_of(first);
    for (uint32_t lane = first + 1; lane < last; ++lane) result = f(result, value_of(lane));
    return result;
  }
};

Expr as_number(Builder& b, Expr condition) {
  return b.select(condition, b.u32(1), b.u32(0));
}

TEST_P(Subgroups, lanes_count_from_zero_in_each_subgroup) {
  EXPECT_EQ(run([](Builder& b, Expr) {
              return b.builtin(kir::Builtin::subgroup_lane) * 1000 + b.builtin(kir::Builtin::subgroup_size);
            }),
            each([](uint32_t first, uint32_t, uint32_t lane) { return (lane - first) * 1000 + GetParam(); }));
}

TEST_P(Subgroups, add_sums_the_subgroup) {
  EXPECT_EQ(run([](Builder& b, Expr v) { return b.apply(Op::subgroup_add, {v}); }),
            each([](uint32_t first, uint32_t last, uint32_t) { return fold(first, last, std::plus<>()); }));
}

TEST_P(Subgroups, exclusive_add_sums_the_lanes_before) {
  EXPECT_EQ(run([](Builder& b, Expr v) { return b.apply(Op::subgroup_exclusive_add, {v}); }),
            each([](uint32_t first, uint32_t, uint32_t lane) {
              return lane == first ? 0 : fold(first, lane, std::plus<>());
            }));
}

TEST_P(Subgroups, min_and_max_find_the_extremes_of_the_subgroup) {
  EXPECT_EQ(run([](Builder& b, Expr v) {
              return b.apply(Op::subgroup_min_u, {v}) * 1000 + b.apply(Op::subgroup_max_u, {v});
            }),
            each([](uint32_t first, uint32_t last, uint32_t) {
              return fold(first, last, [](uint32_t a, uint32_t c) { return std::min(a, c); }) * 1000 +
                     fold(first, last, [](uint32_t a, uint32_t c) { return std::max(a, c); });
            }));
}

TEST_P(Subgroups, float_add_sums_the_subgroup) {
  EXPECT_EQ(run([](Builder& b, Expr v) {
              Expr real = b.convert(Op::convert_u_to_f, Type::f32, v);
              return b.convert(Op::convert_f_to_u, Type::i32, b.apply(Op::subgroup_add_f, {real}));
            }),
            each([](uint32_t first, uint32_t last, uint32_t) { return fold(first, last, std::plus<>()); }));
}

TEST_P(Subgroups, any_and_all_look_at_the_whole_subgroup) {
  const auto is_big = [](uint32_t v) { return v > 500; };
  EXPECT_EQ(run([](Builder& b, Expr v) {
              return as_number(b, b.apply(Op::subgroup_any, {v > 500})) * 2 +
                     as_number(b, b.apply(Op::subgroup_all, {v > 500}));
            }),
            each([&](uint32_t first, uint32_t last, uint32_t) {
              uint32_t big = 0;
              for (uint32_t lane = first; lane < last; ++lane) big += is_big(value_of(lane));
              return (big != 0 ? 2u : 0u) + (big == last - first ? 1u : 0u);
            }));
}

TEST_P(Subgroups, ballot_has_one_bit_a_lane) {
  for (uint32_t word = 0; word < 4; ++word) {
    EXPECT_EQ(run([&](Builder& b, Expr v) { return b.ballot(v > 500)[word]; }),
              each([&](uint32_t first, uint32_t last, uint32_t) {
                uint32_t bits = 0;
                for (uint32_t lane = first; lane < last; ++lane)
                  if (value_of(lane) > 500 && (lane - first) / 32 == word) bits |= 1u << ((lane - first) % 32);
                return bits;
              }))
        << "word " << word;
  }
}

TEST_P(Subgroups, broadcast_first_gives_the_value_of_the_first_lane) {
  EXPECT_EQ(run([](Builder& b, Expr v) { return b.apply(Op::subgroup_broadcast_first, {v}); }),
            each([](uint32_t first, uint32_t, uint32_t) { return value_of(first); }));
}

TEST_P(Subgroups, shuffle_reads_the_lane_asked_for) {
  EXPECT_EQ(run([](Builder& b, Expr v) {
              // Reversed within the part of the subgroup that exists.
              Expr size = b.builtin(kir::Builtin::subgroup_size);
              Expr first = b.local_id() / size * size;
              Expr count = b.apply(Op::min_u, {size, b.u32(kLanes) - first});
              return b.apply(Op::subgroup_shuffle, {v, count - 1 - b.builtin(kir::Builtin::subgroup_lane)});
            }),
            each([](uint32_t first, uint32_t last, uint32_t lane) { return value_of(last - 1 - (lane - first)); }));
}

TEST_P(Subgroups, shuffle_xor_exchanges_neighbours) {
  const uint32_t neighbour = GetParam() == 1 ? 0 : 1;
  EXPECT_EQ(run([&](Builder& b, Expr v) {
              return b.apply(Op::subgroup_shuffle_xor, {v, b.u32(neighbour)});
            }),
            each([&](uint32_t, uint32_t, uint32_t lane) { return value_of(lane ^ neighbour); }));
}

INSTANTIATE_TEST_SUITE_P(width, Subgroups, testing::Values(1, 4, 8, 32, 64, 128),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST(subgroup_faults, a_shuffle_from_a_lane_past_the_subgroup_is_reported) {
  Builder b("shuffle", {8});
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.local_id()] = b.apply(Op::subgroup_shuffle, {b.local_id(), b.builtin(kir::Builtin::subgroup_lane) + 1});
  Storage memory = unwritten(32);
  EXPECT_EQ(outcome(launch(finish(b), {&memory}, {.subgroup_size = 4})),
            "kernel \"shuffle\": subgroup_shuffle reads lane 4 of a subgroup of 4, which is inactive or outside; read "
            "only lanes that run the operation (invocation 3, 0, 0)");
}

TEST(subgroup_faults, a_shuffle_from_a_lane_that_does_not_exist_in_the_last_subgroup_is_reported) {
  Builder b("shuffle", {6});
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.local_id()] = b.apply(Op::subgroup_shuffle_xor, {b.local_id(), b.u32(2)});
  Storage memory = unwritten(24);
  EXPECT_THAT(outcome(launch(finish(b), {&memory}, {.subgroup_size = 4})), HasSubstr("reads lane 2"));
}

TEST(subgroup_faults, operations_see_only_the_lanes_that_run_them) {
  Builder b("partial", {16});
  auto out = b.buffer("out", Type::i32, Access::write);
  Expr subgroup = b.local_id() / b.builtin(kir::Builtin::subgroup_size);
  Expr is_second = b.assume_uniform(subgroup == 1, Scope::subgroup);
  auto sum = b.variable(b.u32(0));
  b.if_(is_second, [&] { sum = b.apply(Op::subgroup_add, {b.local_id()}); });
  out[b.local_id()] = sum;
  Storage memory = unwritten(64);
  ASSERT_EQ(outcome(launch(finish(b), {&memory}, {.subgroup_size = 4})), "ok");
  EXPECT_EQ(numbers_in<uint32_t>(memory), (Words{0, 0, 0, 0, 22, 22, 22, 22, 0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace wavegate::device::reference
