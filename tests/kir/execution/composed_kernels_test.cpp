#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kir/execution/random_kernel.h"
#include "wavegate/device/reference/interpreter.h"
#include "wavegate/kir/compose.h"
#include "wavegate/kir/in_one_workgroup.h"
#include "wavegate/kir/passes/merge_bindings.h"
#include "wavegate/kir/passes/simplify.h"
#include "wavegate/kir/passes/structure_returns.h"
#include "wavegate/kir/text.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

using device::reference::BoundRange;
using device::reference::Storage;
using Size = std::array<uint32_t, 3>;

constexpr uint32_t kElements = 64;  ///< of each buffer
constexpr uint32_t kBuffers = 3;
constexpr uint32_t kScalars = 16;
constexpr uint32_t kDataScalars = 4;  ///< the others are latches and counters

/// What dispatches share: buffers, and scalars in an arena.
struct World {
  std::vector<Storage> buffers;
  Storage arena;

  explicit World(uint32_t seed) {
    Random random(seed);
    const auto filled = [&](uint32_t words) {
      Storage storage{std::vector<std::byte>(words * 4), std::vector<uint8_t>(words * 4, 1)};
      for (uint32_t i = 0; i < words; ++i) {
        const uint32_t number = random.next();
        std::memcpy(storage.bytes.data() + i * 4, &number, 4);
      }
      return storage;
    };
    for (uint32_t i = 0; i < kBuffers; ++i) buffers.push_back(filled(kElements));
    arena = filled(kScalars);
  }

  uint32_t scalar(uint32_t slot) const {
    uint32_t value = 0;
    std::memcpy(&value, arena.bytes.data() + slot * 4, 4);
    return value;
  }
};

bool operator==(const World& a, const World& b) {
  for (uint32_t i = 0; i < kBuffers; ++i)
    if (a.buffers[i].bytes != b.buffers[i].bytes) return false;
  return a.arena.bytes == b.arena.bytes;
}

/// A kernel and what a dispatch of it binds: a buffer or a scalar's slot for each binding, a number for each parameter.
struct Part {
  Kernel kernel;
  std::vector<uint32_t> bound;
  std::vector<uint32_t> parameters;
};

Result<void> dispatch(const Part& part, const Size& grid, World& world) {
  std::vector<BoundRange> ranges;
  std::vector<uint32_t> words;
  const auto& bindings = part.kernel.interface.bindings;
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].kind == BindingKind::scalar) {
      words.push_back(part.bound[i]);
    } else {
      ranges.push_back({&world.buffers[part.bound[i]], 0, kElements * 4});
    }
  }
  if (!words.empty()) ranges.push_back({&world.arena, 0, kScalars * 4});
  words.insert(words.end(), part.parameters.begin(), part.parameters.end());
  return device::reference::interpret(
      part.kernel, {.bindings = ranges, .words = words, .grid = grid, .subgroup_size = 4, .max_steps = 10'000'000});
}

void append(std::vector<uint32_t>& list, const std::vector<uint32_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// Makes one binding of those that are bound to one thing, as one who binds them would.
Part merged(Part part) {
  const auto& bindings = part.kernel.interface.bindings;
  std::map<std::pair<BindingKind, uint32_t>, uint32_t> first;
  std::vector<uint32_t> same_as;
  std::vector<uint32_t> bound;
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const auto [found, is_new] = first.try_emplace({bindings[i].kind, part.bound[i]}, i);
    same_as.push_back(found->second);
    if (is_new) bound.push_back(part.bound[i]);
  }
  EXPECT_TRUE(merge_bindings(part.kernel, same_as).ok());
  part.bound = bound;

  std::map<uint32_t, uint32_t> first_number;
  std::vector<uint32_t> same_parameter;
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < part.parameters.size(); ++i) {
    const auto [found, is_new] = first_number.try_emplace(part.parameters[i], i);
    same_parameter.push_back(found->second);
    if (is_new) numbers.push_back(part.parameters[i]);
  }
  EXPECT_TRUE(merge_parameters(part.kernel, same_parameter).ok());
  part.parameters = numbers;
  const Result<void> result = verify(part.kernel);
  EXPECT_TRUE(result.ok()) << result.error().to_string() << print(part.kernel);
  return part;
}

Kernel value_of(Result<Kernel> kernel) {
  EXPECT_TRUE(kernel.ok()) << kernel.error().to_string();
  return kernel.ok() ? *std::move(kernel) : Kernel{};
}

/// Random shapes of at most kElements invocations.
RandomKernel::Shape random_shape(Random& random, bool tied, uint32_t width) {
  constexpr Size kSizes[] = {{1, 1, 1}, {4, 1, 1}, {2, 2, 1}, {3, 1, 2}, {8, 1, 1}, {2, 2, 2}};
  constexpr Size kGrids[] = {{1, 1, 1}, {2, 1, 1}, {5, 1, 1}, {2, 2, 1}, {1, 3, 1}, {2, 1, 2}};
  RandomKernel::Shape shape;
  shape.grid = kGrids[random.next() % std::size(kGrids)];
  shape.workgroup = tied ? Size{width, 1, 1} : kSizes[random.next() % std::size(kSizes)];
  shape.in_length = kElements;
  shape.tied = tied;
  return shape;
}

Part random_part(Random& random, const RandomKernel::Shape& shape) {
  const uint32_t out = random.below(kBuffers);
  const uint32_t in = (out + 1 + random.below(kBuffers - 1)) % kBuffers;
  const uint32_t a = random.below(kDataScalars);
  const uint32_t b = (a + 1 + random.below(kDataScalars - 1)) % kDataScalars;
  const uint32_t number = random.below(3);
  return {RandomKernel(random.next(), shape).make(), {out, in, a, b}, {number}};
}

std::string text_of(const Kernel& before, const Kernel& after) {
  return "before: " + print(before) + "after: " + print(after);
}

TEST(StructuredReturns, give_the_same_bytes) {
  uint32_t structured = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto shape = random_shape(random, seed % 2 == 0, 8);
    Part part = random_part(random, shape);
    World expected(seed), actual(seed);
    const Result<void> direct = dispatch(part, shape.grid, expected);
    ASSERT_TRUE(direct.ok()) << direct.error().to_string();
    const Kernel before = part.kernel;
    const Result<PassStats> stats = structure_returns(part.kernel);
    ASSERT_TRUE(stats.ok()) << stats.error().to_string();
    structured += stats->any() ? 1 : 0;
    ASSERT_TRUE(verify(part.kernel).ok()) << verify(part.kernel).error().to_string() << print(part.kernel);
    const Result<void> result = dispatch(part, shape.grid, actual);
    ASSERT_TRUE(result.ok()) << result.error().to_string() << text_of(before, part.kernel);
    ASSERT_TRUE(actual == expected) << text_of(before, part.kernel);
  }
  EXPECT_GT(structured, 100u);
}

TEST(OneWorkgroup, gives_the_same_bytes_as_the_grid) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool tied = seed % 2 == 0;
    const uint32_t width = tied ? 8 : std::array{1u, 3u, 8u, 64u}[random.below(4)];
    const auto shape = random_shape(random, tied, width);
    Part part = random_part(random, shape);
    World expected(seed), actual(seed);
    const Result<void> direct = dispatch(part, shape.grid, expected);
    ASSERT_TRUE(direct.ok()) << direct.error().to_string();
    const Kernel before = part.kernel;
    part.kernel = value_of(in_one_workgroup(before, shape.grid, width));
    const Result<void> result = dispatch(part, {1, 1, 1}, actual);
    ASSERT_TRUE(result.ok()) << result.error().to_string() << text_of(before, part.kernel);
    ASSERT_TRUE(actual == expected) << text_of(before, part.kernel);
  }
}

TEST(Guarded, runs_all_or_nothing) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto shape = random_shape(random, seed % 2 == 0, 8);
    Part part = random_part(random, shape);
    World direct(seed), untouched(seed);
    ASSERT_TRUE(dispatch(part, shape.grid, direct).ok());
    part.kernel = value_of(guard(part.kernel, "latch"));
    part.bound.push_back(kDataScalars);
    for (const uint32_t latch : {0u, 1u, 0x80000000u}) {
      World world(seed);
      const auto set = [&](World& any) { std::memcpy(any.arena.bytes.data() + kDataScalars * 4, &latch, 4); };
      set(world);
      World& expected = latch == 0 ? untouched : direct;
      set(expected);
      const Result<void> result = dispatch(part, shape.grid, world);
      ASSERT_TRUE(result.ok()) << result.error().to_string();
      ASSERT_TRUE(world == expected) << print(part.kernel);
    }
  }
}

// Random nests: each is run dispatch by dispatch with the host deciding, and as one kernel in one workgroup.

Part latch_part(uint32_t latch, uint32_t data) {
  Builder b("choose");
  ScalarRef out = b.scalar("latch", Type::i32, Access::write);
  ScalarRef in = b.scalar("data", Type::i32, Access::read);
  out = Expr(in) % 3;
  return {value_of(b.finish()), {latch, data}, {}};
}

Part start_part(uint32_t counter) {
  Builder b("start");
  ScalarRef out = b.scalar("counter", Type::i32, Access::write);
  out = b.u32(0);
  return {value_of(b.finish()), {counter}, {}};
}

/// latch = counter < bound, where the bound depends on data; counter += 1.
Part test_part(uint32_t latch, uint32_t counter, uint32_t data) {
  Builder b("test");
  ScalarRef out = b.scalar("latch", Type::i32, Access::write);
  ScalarRef count = b.scalar("counter", Type::i32, Access::read_write);
  ScalarRef in = b.scalar("data", Type::i32, Access::read);
  const Expr now = count;
  out = b.select(now < b.u32(1) + Expr(in) % 3, b.u32(1), b.u32(0));
  count = now + 1;
  return {value_of(b.finish()), {latch, counter, data}, {}};
}

class RandomNest {
 public:
  RandomNest(uint32_t seed, uint32_t width) : width_(width), random_(seed), world_(seed), part_(block(0)) {}

  World& world() { return world_; }
  const Part& part() const { return part_; }
  uint32_t rounds() const { return rounds_; }

  /// Runs the nest dispatch by dispatch.
  void run() { run_(); }

 private:
  using Run = std::function<void()>;

  Part dispatch_part(Part part, const Size& grid) {
    auto shared = std::make_shared<Part>(part);
    run_ = [this, shared, grid] {
      const Result<void> result = dispatch(*shared, grid, world_);
      ASSERT_TRUE(result.ok()) << result.error().to_string();
    };
    part.kernel = value_of(in_one_workgroup(part.kernel, grid, width_));
    return part;
  }

  static Part joined(const Part& a, const Part& b, Result<Kernel> kernel) {
    Part result{value_of(std::move(kernel)), a.bound, a.parameters};
    append(result.bound, b.bound);
    append(result.parameters, b.parameters);
    return merged(std::move(result));
  }

  Part sequence_of(const Part& a, const Part& b) { return joined(a, b, sequence(a.kernel, b.kernel)); }

  Part block(uint32_t depth) {
    Part all = command(depth);
    std::vector<Run> runs = {run_};
    for (uint32_t count = random_.below(3) + (depth == 0 ? 1 : 0); count > 0; --count) {
      all = sequence_of(all, command(depth));
      runs.push_back(run_);
    }
    run_ = [runs] {
      for (const Run& run : runs) run();
    };
    return all;
  }

  Part command(uint32_t depth) {
    const uint32_t data = random_.below(kDataScalars);
    const uint32_t latch = kDataScalars + 2 * depth;
    const uint32_t counter = latch + 1;
    switch (depth > 1 ? 0 : random_.below(5)) {
      case 0:
      case 1: {
        const auto shape = random_shape(random_, random_.below(2) == 0, width_);
        return dispatch_part(random_part(random_, shape), shape.grid);
      }
      case 2: {
        const Part choose = dispatch_part(latch_part(latch, data), {1, 1, 1});
        const Run run_choose = run_;
        Part body = block(depth + 1);
        run_ = [this, run_choose, run_body = run_, latch] {
          run_choose();
          if (world_.scalar(latch) != 0) run_body();
        };
        body.kernel = value_of(only_if(body.kernel, "latch"));
        body.bound.push_back(latch);
        return sequence_of(choose, body);
      }
      default: {
        const Part start = dispatch_part(start_part(counter), {1, 1, 1});
        const Run run_start = run_;
        const Part test = dispatch_part(test_part(latch, counter, data), {1, 1, 1});
        const Run run_test = run_;
        const Part body = block(depth + 1);
        run_ = [this, run_start, run_test, run_body = run_, latch] {
          run_start();
          for (run_test(); world_.scalar(latch) != 0; run_test()) {
            run_body();
            ++rounds_;
          }
        };
        return sequence_of(start, joined(test, body, repeat_while(test.kernel, 0, body.kernel)));
      }
    }
  }

  uint32_t width_;
  Random random_;
  World world_;
  Run run_;
  uint32_t rounds_ = 0;
  Part part_;
};

TEST(Nest, in_one_kernel_gives_the_same_bytes_as_dispatches) {
  uint32_t iterating = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomNest nest(seed, seed % 3 == 0 ? 1 : 8);
    World world(seed);
    nest.run();
    if (HasFatalFailure()) return;
    iterating += nest.rounds() >= 2 ? 1 : 0;
    Part part = nest.part();
    const Result<void> result = dispatch(part, {1, 1, 1}, world);
    ASSERT_TRUE(result.ok()) << result.error().to_string() << print(part.kernel);
    ASSERT_TRUE(world == nest.world()) << print(part.kernel);

    World simplified(seed);
    ASSERT_TRUE(simplify(part.kernel).ok());
    ASSERT_TRUE(verify(part.kernel).ok()) << verify(part.kernel).error().to_string();
    ASSERT_TRUE(dispatch(part, {1, 1, 1}, simplified).ok());
    ASSERT_TRUE(simplified == nest.world());
  }
  EXPECT_GT(iterating, 20u);
}

}  // namespace
}  // namespace wavegate::kir
