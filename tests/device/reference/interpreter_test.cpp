#include "wavegate/device/reference/interpreter.h"

#include <gmock/gmock.h>

#include <array>
#include <numeric>

#include "device/reference/launch.h"

namespace wavegate::device::reference {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Op;
using kir::Type;
using testing::Each;
using testing::ElementsAre;

using Words = std::vector<uint32_t>;

std::vector<uint32_t> counting(uint32_t count, uint32_t first = 0) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

/// In each of `width` invocations two loops, one after the other, of as many iterations as `rounds` says of the
/// invocation and of four; they count them in `first` and `second`. A third memory gets what the first loop results in.
kir::Kernel two_loops(uint32_t width) {
  Builder b("two_loops", {width});
  auto rounds = b.buffer("rounds", Type::i32, Access::read);
  auto first = b.buffer("first", Type::i32, Access::read_write);
  auto second = b.buffer("second", Type::i32, Access::read_write);
  auto left = b.buffer("left", Type::i32, Access::write);
  const Expr lane = b.global_id();
  kir::Variable index = b.variable(b.u32(100));
  b.loop([&] {
    first[lane] = first[lane] + 1;
    index = Expr(index) + 1;
    b.if_(first[lane] == rounds[lane], [&] { b.break_(); });
  });
  left[lane] = Expr(index);
  b.for_(b.u32(0), b.u32(4), b.u32(1), [&](Expr) { second[lane] = second[lane] + 1; });
  return finish(b);
}

// Arithmetic, memory and launches.

TEST(interpreter, saxpy_leaves_a_x_plus_y_in_the_first_n_elements) {
  Builder b("saxpy", {64});
  auto x = b.buffer("x", Type::f32, Access::read);
  auto y = b.buffer("y", Type::f32, Access::read_write);
  auto n = b.parameter("n", Type::i32);
  auto a = b.parameter("a", Type::f32);
  auto i = b.global_id();
  b.if_(i < n, [&] { y[i] = a * x[i] + y[i]; });
  const kir::Kernel kernel = finish(b);

  std::vector<float> xs(100), ys(100);
  for (size_t k = 0; k < 100; ++k) xs[k] = static_cast<float>(k), ys[k] = 0.5f;
  Storage x_memory = storage_of(xs);
  Storage y_memory = storage_of(ys);
  ASSERT_EQ(outcome(launch(kernel, {&x_memory, &y_memory}, {.words = {99, bits_of(2.0f)}, .grid = {2, 1, 1}})), "ok");

  for (size_t k = 0; k < 99; ++k) ys[k] = 2.0f * xs[k] + 0.5f;
  EXPECT_EQ(numbers_in<float>(y_memory), ys);
}

TEST(interpreter, ids_count_invocations_x_fastest_in_three_dimensions) {
  Builder b("ids", {2, 3, 2});
  auto out = b.buffer("out", Type::i32, Access::write);
  Expr row = b.global_id(1) + b.global_id(2) * (b.grid(1) * 3);
  Expr index = b.global_id(0) + row * (b.grid(0) * 2);
  out[index] = b.workgroup_id(0) * 100 + b.builtin(kir::Builtin::local_index);
  const kir::Kernel kernel = finish(b);

  Storage memory = unwritten(4 * 24);
  ASSERT_EQ(outcome(launch(kernel, {&memory}, {.grid = {2, 1, 1}})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105,  //
                                                        6, 7, 106, 107, 8, 9, 108, 109, 10, 11, 110, 111));
}

TEST(interpreter, loops_of_an_invocation_end_after_as_many_iterations_as_the_launch_allows) {
  const kir::Kernel kernel = two_loops(2);
  const auto run = [&](uint64_t most, uint32_t workgroups) {
    Storage rounds = storage_of(Words{3, 10, 3, 10}), left = unwritten(16);
    Storage first = storage_of(Words(4)), second = storage_of(Words(4));
    EXPECT_EQ(outcome(launch(kernel, {&rounds, &first, &second, &left},
                             {.grid = {workgroups, 1, 1}, .max_loop_iterations = most})),
              "ok");
    return std::array{numbers_in<uint32_t>(first), numbers_in<uint32_t>(second), numbers_in<uint32_t>(left)};
  };
  EXPECT_THAT(run(15, 2), ElementsAre(Words{3, 10, 3, 10}, Words{4, 4, 4, 4}, Words{103, 110, 103, 110}));
  // The first invocation has four left for its second loop, the other has none, but a loop that is entered has one.
  EXPECT_THAT(run(7, 2), ElementsAre(Words{3, 7, 3, 7}, Words{4, 1, 4, 1}, testing::_));
  EXPECT_THAT(run(5, 1), ElementsAre(Words{3, 5, 0, 0}, Words{2, 1, 0, 0}, testing::_));
}

TEST(interpreter, a_wide_parameter_takes_two_launch_words_low_word_first) {
  Builder b("wide");
  auto out = b.buffer("out", Type::i64, Access::write);
  auto p = b.parameter("p", Type::i64);
  out[0] = p + 1;
  Storage memory = unwritten(8);
  ASSERT_EQ(outcome(launch(finish(b), {&memory}, {.words = {0xffffffff, 7}})), "ok");
  EXPECT_THAT(numbers_in<uint64_t>(memory), ElementsAre(uint64_t{8} << 32));
}

TEST(interpreter, array_length_counts_the_elements_of_the_bound_range) {
  Builder b("length");
  auto in = b.buffer("in", Type::i16, Access::read);
  auto out = b.buffer("out", Type::i32, Access::write);
  out[0] = in.length();
  const kir::Kernel kernel = finish(b);
  Storage in_memory = storage_of(std::vector<uint16_t>(64));
  Storage out_memory = unwritten(4);
  const BoundRange ranges[] = {{&in_memory, 16, 20}, {&out_memory, 0, 4}};
  ASSERT_EQ(outcome(interpret(kernel, {ranges, {}})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(out_memory), ElementsAre(10));
}

TEST(interpreter, a_bound_range_starts_at_its_offset) {
  Builder b("offset");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  data[0] = data[1] + 5;
  Storage memory = storage_of(Words{1, 2, 3, 4});
  const BoundRange ranges[] = {{&memory, 8, 8}};
  ASSERT_EQ(outcome(interpret(finish(b), {ranges, {}})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(1, 2, 9, 4));
}

TEST(interpreter, several_elements_load_and_store_in_one_operation) {
  Builder b("pairs", {2});
  auto data = b.buffer("data", Type::i16, Access::read_write);
  auto base = b.local_id() * 4;
  auto four = b.load(data, base, 4);
  b.store(data, base, {four[3], four[2], four[1], four[0]});
  Storage memory = storage_of(std::vector<uint16_t>{1, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint16_t>(memory), ElementsAre(4, 3, 2, 1, 8, 7, 6, 5));
}

TEST(interpreter, scalars_lie_in_the_arena_at_the_words_of_the_launch) {
  Builder b("scalars");
  auto in = b.scalar("in", Type::i32, Access::read);
  auto data = b.buffer("data", Type::i32, Access::read);
  auto out = b.scalar("out", Type::i32, Access::write);
  out = in + data[0];
  Storage data_memory = storage_of(Words{30});
  Storage arena = storage_of(Words{0, 0, 0, 12});
  ASSERT_EQ(outcome(launch(finish(b), {&data_memory, &arena}, {.words = {3, 1}})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(arena), ElementsAre(0, 42, 0, 12));
}

TEST(interpreter, a_store_of_many_invocations_to_one_element_leaves_the_last_lane) {
  Builder b("last", {40});
  auto out = b.buffer("out", Type::i32, Access::write);
  out[0] = b.local_id();
  Storage memory = unwritten(4);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(39));
}

TEST(interpreter, atomics_return_the_old_value_lane_by_lane) {
  Builder b("ticket", {5});
  auto counter = b.buffer("counter", Type::i32, Access::read_write);
  auto out = b.buffer("out", Type::i32, Access::write);
  out[b.local_id()] = b.atomic(Op::atomic_add, counter, b.u32(0), b.u32(3));
  Storage counter_memory = storage_of(Words{10});
  Storage out_memory = unwritten(20);
  ASSERT_EQ(outcome(launch(finish(b), {&counter_memory, &out_memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(out_memory), ElementsAre(10, 13, 16, 19, 22));
  EXPECT_THAT(numbers_in<uint32_t>(counter_memory), ElementsAre(25));
}

TEST(interpreter, compare_exchange_stores_only_over_the_expected_value) {
  Builder b("exchange", {3});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  b.atomic_compare_exchange(data, b.local_id(), b.u32(7), b.u32(1));
  Storage memory = storage_of(Words{7, 8, 7});
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(1, 8, 1));
}

TEST(interpreter, a_signed_minimum_reads_the_memory_as_twos_complement) {
  Builder b("minimum");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  b.atomic(Op::atomic_min_s, data, b.u32(0), b.u32(static_cast<uint32_t>(-5)));
  Storage memory = storage_of(Words{3});
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(static_cast<uint32_t>(-5)));
}

TEST(interpreter, local_arrays_are_private_to_an_invocation) {
  Builder b("private", {4});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto mine = b.local_array("mine", Type::i32, 3);
  mine[2] = b.local_id() * 10;
  mine[0] = b.u32(99);
  out[b.local_id()] = mine[2];
  Storage memory = unwritten(16);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(0, 10, 20, 30));
}

TEST(interpreter, a_grid_with_a_zero_runs_nothing) {
  Builder b("nothing");
  auto out = b.buffer("out", Type::i32, Access::write);
  out[0] = b.u32(1);
  Storage memory = unwritten(4);
  ASSERT_EQ(outcome(launch(finish(b), {&memory}, {.grid = {5, 0, 1}})), "ok");
  EXPECT_THAT(memory.written, Each(0));
}

TEST(interpreter, a_prepared_kernel_takes_the_words_of_each_launch) {
  Builder b("add");
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto p = b.parameter("p", Type::i32);
  data[0] = data[0] + p;
  const kir::Kernel kernel = finish(b);
  auto prepared = PreparedKernel::make(kernel);
  ASSERT_TRUE(prepared.ok());
  Storage memory = storage_of(Words{0});
  const BoundRange ranges[] = {{&memory, 0, 4}};
  for (uint32_t word : {1u, 20u, 300u}) ASSERT_EQ(outcome(prepared->run({ranges, std::span(&word, 1)})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(321));
}

// Workgroup memory and barriers.

TEST(interpreter, a_tree_reduction_in_workgroup_memory_sums_each_workgroup) {
  Builder b("sum", {128});
  auto in = b.buffer("in", Type::i32, Access::read);
  auto out = b.buffer("out", Type::i32, Access::write);
  auto tile = b.workgroup_array("tile", Type::i32, 128);
  auto lane = b.local_id();
  tile[lane] = in[b.global_id()];
  b.barrier();
  for (uint32_t stride = 64; stride != 0; stride /= 2) {
    b.if_(lane < stride, [&] { tile[lane] = tile[lane] + tile[lane + stride]; });
    b.barrier();
  }
  b.if_(lane == 0, [&] { out[b.workgroup_id()] = tile[0]; });
  Storage in_memory = storage_of(counting(384));
  Storage out_memory = unwritten(12);
  ASSERT_EQ(outcome(launch(finish(b), {&in_memory, &out_memory}, {.grid = {3, 1, 1}})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(out_memory), ElementsAre(8128, 8128 + 128 * 128, 8128 + 2 * 128 * 128));
}

TEST(interpreter, a_barrier_in_a_loop_of_uniform_length_lets_values_travel) {
  Builder b("rotate", {8});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto rounds = b.parameter("rounds", Type::i32);
  auto tile = b.workgroup_array("tile", Type::i32, 8);
  auto lane = b.local_id();
  tile[lane] = lane;
  b.barrier();
  b.for_(b.u32(0), rounds, b.u32(1), [&](Expr) {
    Expr next = tile[(lane + 1) % 8];
    b.barrier();
    tile[lane] = next;
    b.barrier();
  });
  out[lane] = tile[lane];
  Storage memory = unwritten(32);
  ASSERT_EQ(outcome(launch(finish(b), {&memory}, {.words = {3}})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(3, 4, 5, 6, 7, 0, 1, 2));
}

// Control flow.

TEST(interpreter, each_lane_of_a_divergent_loop_makes_its_own_trips) {
  Builder b("collatz", {70});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto value = b.variable(b.local_id() + 1);
  auto trips = b.variable(b.u32(0));
  b.while_([&] { return Expr(value) != 1; },
           [&] {
             b.if_((Expr(value) & 1) == 0, [&] { value = Expr(value) / 2; }, [&] { value = Expr(value) * 3 + 1; });
             trips = Expr(trips) + 1;
           });
  out[b.local_id()] = trips;
  Storage memory = unwritten(280);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");

  Words expected;
  for (uint32_t start = 1; start <= 70; ++start) {
    uint32_t count = 0;
    for (uint64_t v = start; v != 1; ++count) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    expected.push_back(count);
  }
  EXPECT_EQ(numbers_in<uint32_t>(memory), expected);
}

TEST(interpreter, a_break_leaves_only_the_innermost_loop) {
  Builder b("nested", {6});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto lane = b.local_id();
  auto sum = b.variable(b.u32(0));
  b.for_(b.u32(0), b.u32(5), b.u32(1), [&](Expr i) {
    b.for_(b.u32(0), b.u32(5), b.u32(1), [&](Expr j) {
      b.if_(j == lane, [&] { b.break_(); });
      sum = Expr(sum) + 1;
    });
    b.if_(i == lane, [&] { b.break_(); });
    sum = Expr(sum) + 100;
  });
  out[lane] = sum;
  Storage memory = unwritten(24);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");

  Words expected;
  for (uint32_t l = 0; l < 6; ++l) {
    uint32_t s = 0;
    for (uint32_t i = 0; i < 5; ++i) {
      for (uint32_t j = 0; j < 5 && j != l; ++j) ++s;
      if (i == l) break;
      s += 100;
    }
    expected.push_back(s);
  }
  EXPECT_EQ(numbers_in<uint32_t>(memory), expected);
}

TEST(interpreter, a_continue_skips_the_rest_of_the_iteration) {
  Builder b("odd", {3});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto sum = b.variable(b.u32(0));
  auto i = b.variable(b.u32(0));
  b.loop([&] {
    i = Expr(i) + 1;
    b.if_(Expr(i) > 10, [&] { b.break_(); });
    b.if_((Expr(i) % 2) == (b.local_id() % 2), [&] { b.continue_(); });
    sum = Expr(sum) + i;
  });
  out[b.local_id()] = sum;
  Storage memory = unwritten(12);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(25, 30, 25));
}

TEST(interpreter, loop_carried_values_can_change_places) {
  Builder b("fibonacci", {10});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto before = b.variable(b.u32(0));
  auto current = b.variable(b.u32(1));
  b.for_(b.u32(0), b.local_id(), b.u32(1), [&](Expr) {
    Expr sum = Expr(before) + current;
    before = current;
    current = sum;
  });
  out[b.local_id()] = before;
  Storage memory = unwritten(40);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(0, 1, 1, 2, 3, 5, 8, 13, 21, 34));
}

TEST(interpreter, a_return_ends_its_invocation_and_no_other) {
  Builder b("return", {6});
  auto out = b.buffer("out", Type::i32, Access::read_write);
  b.for_(b.u32(0), b.u32(4), b.u32(1), [&](Expr i) {
    b.if_(i == b.local_id(), [&] { b.return_(); });
    out[b.local_id()] = out[b.local_id()] + 1;
  });
  out[b.local_id()] = out[b.local_id()] + 100;
  Storage memory = storage_of(Words(6));
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(0, 1, 2, 3, 104, 104));
}

TEST(interpreter, a_switch_takes_the_case_of_its_literal_or_the_default) {
  Builder b("switch", {5});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto result = b.variable(b.u32(0));
  b.switch_(b.local_id(), {{1, [&] { result = b.u32(11); }}, {3, [&] { result = b.u32(33); }}},
            [&] { result = b.u32(7); });
  out[b.local_id()] = result;
  Storage memory = unwritten(20);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(7, 11, 7, 33, 7));
}

TEST(interpreter, a_break_inside_a_switch_leaves_the_loop) {
  Builder b("escape", {3});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto count = b.variable(b.u32(0));
  b.for_(b.u32(0), b.u32(9), b.u32(1), [&](Expr i) {
    b.switch_(i, {{2, [&] { b.if_(b.local_id() == 1, [&] { b.break_(); }); }}, {5, [&] { b.break_(); }}});
    count = Expr(count) + 1;
  });
  out[b.local_id()] = count;
  Storage memory = unwritten(12);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");
  EXPECT_THAT(numbers_in<uint32_t>(memory), ElementsAre(5, 2, 5));
}

TEST(interpreter, values_that_no_longer_live_do_not_disturb_those_that_do) {
  // Many short lives in both branches of a loop, so that slots are shared, around values that live throughout.
  Builder b("lives", {33});
  auto out = b.buffer("out", Type::i32, Access::write);
  auto lane = b.local_id();
  Expr early = lane * 7 + 1;
  auto sum = b.variable(b.u32(0));
  b.for_(b.u32(0), b.u32(6), b.u32(1), [&](Expr i) {
    Expr kept = i * lane;
    b.if_(((i + lane) & 1) == 0,
          [&] {
            Expr t = i + 3;
            for (uint32_t k = 0; k < 5; ++k) t = t * 3 + lane;
            sum = Expr(sum) + t;
          },
          [&] {
            Expr t = lane + 5;
            for (uint32_t k = 0; k < 4; ++k) t = t * 5 + i;
            sum = Expr(sum) + t + early;
          });
    sum = Expr(sum) + kept;
  });
  out[lane] = Expr(sum) + early;
  Storage memory = unwritten(132);
  ASSERT_EQ(outcome(launch(finish(b), {&memory})), "ok");

  Words expected;
  for (uint32_t l = 0; l < 33; ++l) {
    uint32_t s = 0;
    const uint32_t e = l * 7 + 1;
    for (uint32_t i = 0; i < 6; ++i) {
      const bool even = ((i + l) & 1) == 0;
      uint32_t t = even ? i + 3 : l + 5;
      for (uint32_t k = 0; k < (even ? 5u : 4u); ++k) t = even ? t * 3 + l : t * 5 + i;
      s += t + (even ? 0 : e) + i * l;
    }
    expected.push_back(s + e);
  }
  EXPECT_EQ(numbers_in<uint32_t>(memory), expected);
}

}  // namespace
}  // namespace wavegate::device::reference
