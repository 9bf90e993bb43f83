#include "differential/generator.h"

#include <algorithm>

#include "differential/expressions.h"
#include "differential/kernels.h"
#include "differential/random.h"
#include "wavegate/base/format.h"
#include "wavegate/program/operation.h"

namespace wavegate::differential {
namespace {

using program::Buffer;
using program::Grid;
using program::Initial;
using program::literal;
using program::Literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using program::ScalarOp;
using program::ScalarType;

/// What a program is mostly made of. Some strategies fit few shapes, and each shall meet enough programs.
enum class Style : uint8_t {
  mixed,      ///< anything
  flat,       ///< loops at the top level without control flow in them
  producing,  ///< the same, with a body that ends with the kernel of one workgroup that writes the predicate
  fixed,      ///< a mixture whose loops have a minimum that is their maximum
  small,      ///< a mixture whose state and grids fit one workgroup
  nested,     ///< loops in loops and branches
  unbounded,  ///< loops without a bound at the top level
};

constexpr struct {
  Style style;
  uint32_t percent;
} kStyles[] = {{Style::mixed, 28}, {Style::flat, 14},   {Style::producing, 14}, {Style::fixed, 12},
               {Style::small, 12}, {Style::nested, 14}, {Style::unbounded, 6}};

/// buffer := gather(buffer) by way of a temporary: an operation that an application could have made.
std::shared_ptr<const program::Operation> shuffle_operation() {
  static const auto operation = program::make_operation(
      {"shuffle",
       {{"data", program::OperandKind::buffer, kir::Type::i32, kir::Access::read_write},
        {"amount", program::OperandKind::scalar, kir::Type::i32, kir::Access::read}},
       {},
       [](Program& program, std::span<const program::Operand> operands, const target::Profile&) -> Result<void> {
         const auto data = std::get<Buffer>(operands[0]);
         const auto amount = std::get<Scalar>(operands[1]);
         const auto count = static_cast<uint32_t>(program.info(data).count);
         const Grid grid = program::grid_for({count, 1, 1}, {64, 1, 1});
         const Buffer gathered = program.temporary("gathered", kir::Type::i32, count);
         const Scalar twice = program.temporary("twice", ScalarType::uint32);
         program.assign(twice, ScalarExpr(amount) * 2u);
         program.dispatch({"gather", kernel(KernelName::gather), {gathered, data}, {literal(3u)}, grid, {}});
         program.dispatch({"add_scalar", kernel(KernelName::add_scalar), {gathered, twice}, {}, grid, {}});
         program.copy({"back", gathered, data, 0, 0, count});
         return {};
       }});
  return operation;
}

class Generator {
 public:
  Generator(uint64_t seed, const Size& size) : random_(seed), size_(size), program_(format("random {}", seed)) {}

  Case run(uint64_t seed) {
    style_ = pick_style();
    fails_ = random_.chance(8);
    make_values();
    const uint32_t statements = random_.between(2, 6);
    for (uint32_t i = 0; i < statements; ++i) statement({});
    // A program without a loop is rarely worth its time.
    while (program_.loop_count() == 0 && !random_.chance(10)) loop({});
    for (uint32_t i = random_.below(3); i > 0; --i) simple_statement({});
    for (const Buffer buffer : buffers_)
      if (random_.chance(70)) program_.output(buffer);
    Case made{seed, std::move(program_), {}};
    make_steps(made);
    return made;
  }

 private:
  /// Where a statement stands.
  struct Place {
    uint32_t depth = 0;
    uint32_t times = 1;      ///< product of the bounds of the loops around it
    bool in_loop = false;    ///< so that break and continue have a meaning
    bool in_branch = false;  ///< inside an if or switch of the innermost loop
  };

  Style pick_style() {
    uint32_t dice = random_.below(100);
    for (const auto& row : kStyles) {
      if (dice < row.percent) return row.style;
      dice -= row.percent;
    }
    return Style::mixed;
  }

  /// Whether control flow stands in loops and branches, too.
  bool nests() const { return style_ != Style::flat && style_ != Style::producing && style_ != Style::unbounded; }

  // ---- values

  void make_values() {
    const uint32_t buffers = random_.between(2, 5);
    const uint32_t most = style_ == Style::small ? std::min(size_.most_elements, 48u) : size_.most_elements;
    for (uint32_t i = 0; i < buffers; ++i) buffers_.push_back(make_buffer(format("b{}", i), random_.between(16, most)));
    if (random_.chance(35)) {
      const uint32_t count = random_.between(16, most);
      std::vector<float> contents;
      for (uint32_t i = 0; i < count; ++i) contents.push_back(static_cast<float>(random_.below(100)));
      floats_ = program_.buffer("f", kir::Type::f32, count, Initial::copy_of(contents));
      if (random_.chance(50)) program_.output(*floats_);
    }
    if (random_.chance(10))
      for (uint32_t i = 0; i < 2; ++i) {
        std::vector<uint16_t> contents;
        for (uint32_t k = 2 * random_.between(4, 10); k > 0; --k)
          contents.push_back(static_cast<uint16_t>(random_.word()));
        halves_.push_back(
            program_.buffer(format("h{}", i), kir::Type::i16, contents.size(), Initial::copy_of(contents)));
      }
    for (uint32_t i = 0; i < 3; ++i) {
      values_.words.push_back(program_.scalar_u32(format("u{}", i), random_.below(12)));
      written_words_.push_back(values_.words.back());
    }
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t bits = random_.below(21) - 10;
      values_.integers.push_back(program_.scalar(format("s{}", i), ScalarType::sint32, bits));
    }
    for (uint32_t i = 0; i < 2; ++i)
      values_.predicates.push_back(program_.scalar_u32(format("p{}", i), random_.below(2)));
    values_.real = program_.scalar_f32("x", static_cast<float>(random_.below(10)));
    limit_ = program_.parameter("limit", literal(random_.between(1, 5)));
    values_.words.push_back(limit_);
    values_.gain = program_.parameter("gain", literal(static_cast<int32_t>(random_.below(9)) - 4));
  }

  Buffer make_buffer(std::string name, uint32_t count) {
    if (random_.chance(4)) return program_.external_buffer(std::move(name), kir::Type::i32, count);
    if (random_.chance(15))
      return program_.buffer(std::move(name), kir::Type::i32, count, Initial::repeated(random_.below(50)));
    std::vector<uint32_t> contents;
    for (uint32_t i = 0; i < count; ++i) contents.push_back(random_.chance(90) ? random_.below(200) : random_.word());
    return program_.buffer(std::move(name), kir::Type::i32, count, Initial::copy_of(contents));
  }

  uint32_t count_of(Buffer buffer) const { return static_cast<uint32_t>(program_.info(buffer).count); }
  Buffer any_buffer() { return random_.pick(buffers_); }
  /// Another buffer; there are two at least.
  Buffer any_buffer_but(Buffer other) {
    for (;;)
      if (const Buffer buffer = any_buffer(); !(buffer == other)) return buffer;
  }

  // ---- statements

  bool is_full() const { return spelled_ >= size_.spelled_commands; }
  void spend(const Place& place, uint32_t commands = 1) { spelled_ += uint64_t{place.times} * commands; }

  /// Where nothing follows in the same body, the last may be a break or continue.
  void statements(const Place& place, uint32_t least, uint32_t most, bool ends_body = true) {
    for (uint32_t i = random_.between(least, most); i > 0 && !is_full(); --i) statement(place, ends_body && i == 1);
  }

  void statement(const Place& place, bool is_last = false) {
    const bool may_nest = place.depth < size_.depth && (nests() || place.depth == 0);
    const uint32_t nesting = style_ == Style::nested ? 55 : 34;
    if (may_nest && random_.chance(nesting)) {
      const uint32_t dice = random_.below(100);
      if (dice < (style_ == Style::nested ? 55u : 45u)) return loop(place);
      return dice < 85 ? branch(place) : choice(place);
    }
    if (is_last && place.in_loop && random_.chance(place.in_branch ? 30 : 3)) return leave();
    simple_statement(place);
  }

  void simple_statement(const Place& place) {
    const uint32_t dice = random_.below(100);
    if (dice < 52) return dispatch(place);
    if (dice < 74) return assigns(place);
    if (dice < 82) return copy(place);
    if (dice < 90) return fill(place);
    if (dice < 94) return call(place);
    if (place.in_loop && records_ < 3) return record(place);
    assigns(place);
  }

  void leave() {
    if (random_.chance(50))
      program_.break_();
    else
      program_.continue_();
  }

  void assigns(const Place& place) {
    spend(place);
    // Now and then more than one launch has words for.
    const uint32_t run = random_.chance(4) ? random_.between(10, 20) : random_.between(1, 3);
    for (uint32_t i = 0; i < run; ++i) {
      const uint32_t dice = random_.below(20);
      if (dice < 9) {
        const Scalar destination = random_.pick(written_words_);
        program_.assign(destination, expressions_.word(2));
      } else if (dice < 13) {
        const Scalar destination = random_.pick(values_.integers);
        program_.assign(destination, expressions_.integer(2));
      } else if (dice < 18) {
        const Scalar destination = random_.pick(values_.predicates);
        program_.assign(destination, expressions_.predicate(2));
      } else {
        // Whole numbers below 1,000: exact in f32 whatever the order.
        const ScalarExpr step(ScalarOp::to_float32, {remainder(expressions_.word(1), 10)});
        program_.assign(values_.real, select(ScalarExpr(values_.real) > 500.0f, step, ScalarExpr(values_.real) + step));
      }
    }
  }

  void copy(const Place& place) {
    spend(place);
    const std::string label = format("copy {}", labels_++);
    if (!halves_.empty() && random_.chance(40)) {
      // In pairs: commands move whole words.
      const uint32_t least = std::min(count_of(halves_[0]), count_of(halves_[1])) / 2;
      const uint32_t count = random_.between(1, least);
      const uint32_t source = random_.below(least - count + 1);
      const uint32_t destination = random_.below(least - count + 1);
      return program_.copy({label, halves_[0], halves_[1], 2 * source, 2 * destination, 2 * count});
    }
    const Buffer from = any_buffer();
    const Buffer to = any_buffer();
    if (from == to) {
      const uint32_t half = count_of(from) / 2;
      const uint32_t count = random_.between(1, half);
      const uint32_t source = random_.below(half - count + 1);
      const uint32_t destination = half + random_.below(half - count + 1);
      return program_.copy({label, from, to, source, destination, count});
    }
    const uint32_t least = std::min(count_of(from), count_of(to));
    const uint32_t count = random_.chance(30) ? least : random_.between(1, least);
    const uint32_t source = random_.below(count_of(from) - count + 1);
    const uint32_t destination = random_.below(count_of(to) - count + 1);
    program_.copy({label, from, to, source, destination, count});
  }

  void fill(const Place& place) {
    spend(place);
    const bool real = floats_ && random_.chance(20);
    const Buffer buffer = real ? *floats_ : any_buffer();
    const uint32_t value = random_.below(100);
    const Literal word = real ? literal(static_cast<float>(value)) : literal(value);
    const uint32_t count = random_.chance(20) ? count_of(buffer) : random_.between(1, count_of(buffer));
    const uint32_t offset = random_.below(count_of(buffer) - count + 1);
    program_.fill({format("fill {}", labels_++), buffer, offset, count, word});
  }

  void call(const Place& place) {
    spend(place, 4);
    const Buffer buffer = any_buffer();
    const Scalar amount = random_.pick(values_.words);
    program_.call(shuffle_operation(), {buffer, amount});
  }

  void record(const Place& place) {
    spend(place);
    ++records_;
    const bool is_signed = random_.chance(30);
    const Scalar value = is_signed ? random_.pick(values_.integers) : random_.pick(values_.words);
    const std::optional<uint32_t> capacity =
        style_ == Style::unbounded || random_.chance(50) ? std::optional(random_.between(1, 12)) : std::nullopt;
    program_.record(value, capacity, format("history{}", records_));
  }

  // ---- dispatches

  std::variant<Literal, Scalar> word_parameter() {
    if (random_.chance(40)) return literal(random_.below(16));
    if (!values_.indices.empty() && random_.chance(40)) return random_.pick(values_.indices);
    return random_.pick(values_.words);
  }

  void add(KernelName name, std::vector<program::Operand> bindings,
           std::vector<std::variant<Literal, Scalar>> parameters, Grid grid) {
    const auto& source = kernel(name);
    program::Dispatch dispatch;
    dispatch.label = format("{} {}", source->interface().name, labels_++);
    dispatch.kernel = source;
    dispatch.bindings = std::move(bindings);
    dispatch.parameters = std::move(parameters);
    dispatch.grid = grid;
    program_.dispatch(std::move(dispatch));
  }

  /// Enough workgroups to cover the buffer; of a kernel that may cover less, now and then less or more.
  Grid cover(KernelName name, Buffer buffer, bool exact = false) {
    Grid grid = program::grid_for({count_of(buffer), 1, 1}, kernel(name)->interface().workgroup_size);
    if (!exact && random_.chance(15)) grid[0] = random_.between(1, grid[0] + 1);
    return grid;
  }

  void dispatch(const Place& place) {
    spend(place);
    const auto name = static_cast<KernelName>(random_.below(kKernelCount));
    const Buffer data = any_buffer();
    switch (name) {
      case KernelName::affine: {
        const auto factor = word_parameter();
        const auto addend = word_parameter();
        return add(name, {data}, {factor, addend}, cover(name, data));
      }
      case KernelName::combine: {
        const Buffer x = any_buffer_but(data);
        const Buffer y = any_buffer_but(data);
        const auto rule = random_.chance(60) ? literal(random_.below(4)) : word_parameter();
        return add(name, {data, x, y}, {rule}, cover(name, data));
      }
      case KernelName::add_scalar: {
        const Scalar amount = random_.chance(30) ? random_.pick(values_.integers) : random_.pick(values_.words);
        return add(name, {data, amount}, {}, cover(name, data));
      }
      case KernelName::reverse:
      case KernelName::scan:
      case KernelName::rotate_some:
      case KernelName::collatz: return add(name, {data}, {}, cover(name, data));
      case KernelName::halve_even: return add(name, {data}, {word_parameter()}, cover(name, data));
      case KernelName::mark_grid:
      case KernelName::touch_groups: return any_grid(name, data);
      case KernelName::histogram:
      case KernelName::largest_bins: {
        const Buffer x = any_buffer_but(data);
        return add(name, {data, x}, {}, cover(name, x));
      }
      case KernelName::volume: {
        const uint32_t x = random_.between(1, style_ == Style::small ? 1 : 3);
        const uint32_t y = random_.between(1, style_ == Style::small ? 1 : 3);
        const uint32_t z = random_.between(1, style_ == Style::small ? 1 : 2);
        return add(name, {data}, {}, Grid{x, y, z});
      }
      case KernelName::overwrite: {
        const Scalar amount = random_.pick(values_.words);
        return add(name, {data, amount}, {word_parameter()}, cover(name, data, true));
      }
      case KernelName::gather: {
        const Buffer x = any_buffer_but(data);
        return add(name, {data, x}, {word_parameter()}, cover(name, data, true));
      }
      case KernelName::float_step: {
        if (!floats_) return add(KernelName::reverse, {data}, {}, cover(KernelName::reverse, data));
        const auto step = static_cast<float>(random_.below(9));
        return add(name, {*floats_}, {literal(step)}, cover(name, *floats_));
      }
      case KernelName::sum: {
        const Scalar result = random_.chance(70) ? random_.pick(written_words_) : random_.pick(values_.integers);
        return add(name, {data, result}, {}, Grid{1, 1, 1});
      }
      case KernelName::tick:
      case KernelName::step_and_test:
      case KernelName::any_reaches:
        return test_dispatch(name, data, random_.pick(written_words_), random_.pick(values_.predicates), limit_);
    }
  }

  /// A kernel that writes a predicate. `limit` is neither of the two scalars.
  void test_dispatch(KernelName name, Buffer data, Scalar count, Scalar active, std::variant<Literal, Scalar> limit) {
    if (name == KernelName::tick) return add(name, {count, active}, {limit}, Grid{1, 1, 1});
    if (name == KernelName::any_reaches) return add(name, {data, count, active}, {limit}, Grid{1, 1, 1});
    add(name, {data, count, active}, {limit}, cover(name, data));
  }

  void any_grid(KernelName name, Buffer data) {
    std::vector<std::variant<Literal, Scalar>> parameters;
    if (name == KernelName::touch_groups) parameters.push_back(word_parameter());
    if (random_.chance(30)) return add(name, {data}, std::move(parameters), cover(name, data));
    program::Dispatch dispatch;
    dispatch.label = format("{} {}", kernel(name)->interface().name, labels_++);
    dispatch.kernel = kernel(name);
    dispatch.bindings = {data};
    dispatch.parameters = std::move(parameters);
    const uint32_t most = random_.between(1, style_ == Style::small ? 2 : 6);
    const ScalarExpr wish = expressions_.word(2);
    const ScalarExpr x = random_.chance(50) ? minimum(wish, most) : remainder(wish, most + 1);
    program::ComputedGrid grid;
    grid.workgroups = {fails_ && random_.chance(60) ? wish : x, 1u, 1u};
    grid.maximum = {most, 1, 1};
    dispatch.computed_grid = grid;
    program_.dispatch(std::move(dispatch));
  }

  // ---- control flow

  void branch(const Place& place) {
    const ScalarExpr condition = expressions_.predicate(2);
    spend(place);
    Place inside = place;
    ++inside.depth;
    inside.in_branch = true;
    const bool has_else = random_.chance(50);
    const bool has_then = !has_else || random_.chance(90);
    const std::string label = format("if {}", labels_++);
    program_.if_(
        condition,
        [&] {
          if (has_then) statements(inside, 1, 3);
        },
        [&] {
          if (has_else) statements(inside, 1, 3);
        },
        label);
  }

  void choice(const Place& place) {
    spend(place);
    Place inside = place;
    ++inside.depth;
    inside.in_branch = true;
    const uint32_t values = random_.between(2, 5);
    const ScalarExpr selector = random_.chance(80) ? remainder(expressions_.word(2), values) : expressions_.word(2);
    std::vector<std::pair<uint32_t, std::function<void()>>> cases;
    for (uint32_t value = 0; value < values; ++value) {
      if (random_.chance(35)) continue;  // a case that is missing
      const bool empty = random_.chance(8);
      cases.emplace_back(value, [this, inside, empty] {
        if (!empty) statements(inside, 1, 2);
      });
    }
    const bool has_default = random_.chance(60);
    const std::string label = format("switch {}", labels_++);
    program_.switch_(
        selector, cases,
        [&] {
          if (has_default) statements(inside, 1, 2);
        },
        label);
  }

  /// What ends a loop.
  enum class End : uint8_t {
    counter,    ///< its predicate compares a counter
    flag,       ///< a predicate scalar that the body writes, somewhere
    tick,       ///< a predicate scalar that a kernel writes
    leave,      ///< a break; the predicate always holds
    arbitrary,  ///< any predicate, and the bound
  };

  End pick_end() {
    const uint32_t dice = random_.below(100);
    if (style_ == Style::producing) return End::tick;
    if (!nests()) return dice < 25 ? End::counter : dice < 50 ? End::flag : dice < 95 ? End::tick : End::arbitrary;
    return dice < 32   ? End::counter
           : dice < 58 ? End::flag
           : dice < 76 ? End::tick
           : dice < 90 ? End::leave
                       : End::arbitrary;
  }

  KernelName pick_test() {
    const uint32_t dice = random_.below(100);
    if (style_ == Style::producing) return dice < 60 ? KernelName::tick : KernelName::any_reaches;
    return dice < 35 ? KernelName::tick : dice < 83 ? KernelName::step_and_test : KernelName::any_reaches;
  }

  void loop(const Place& place) {
    const bool unbounded = style_ == Style::unbounded && place.depth == 0;
    const uint32_t room = std::max(1u, size_.nested_iterations / place.times);
    // At the top level some loops run long enough for several chunks.
    const bool is_long = place.depth == 0 && random_.chance(25);
    const uint32_t wanted = is_long ? random_.between(6, 30) : random_.between(1, 6);
    const uint32_t limit = std::min(wanted, room);
    program::Bounds bounds;
    if (!unbounded) {
      uint32_t most = limit;
      if (random_.chance(55)) most += random_.between(1, is_long ? 12 : 4);
      if (random_.chance(12)) most = std::max(1u, limit / 2);
      bounds.max = std::min(most, std::max(room, 1u));
      if (random_.chance(2)) bounds.max = 0;
    }
    if (style_ == Style::fixed)
      bounds.min = *bounds.max;
    else if (random_.chance(25))
      bounds.min = std::min(random_.between(1, 3), bounds.max.value_or(3));

    End end = pick_end();
    if (unbounded && end == End::arbitrary) end = End::flag;
    const uint32_t id = loops_++;
    const Scalar count = program_.scalar_u32(format("count{}", id), 0);
    const bool has_flag = end == End::flag || end == End::tick;
    const Scalar active = has_flag ? program_.scalar_u32(format("active{}", id), random_.chance(85) ? 1 : 0) : count;
    // Without this a second entry finds what the first left.
    if (unbounded || random_.chance(85)) program_.assign(count, literal(0u));
    if (has_flag && (unbounded || random_.chance(85))) program_.assign(active, literal(1u));

    const ScalarExpr more = ScalarExpr(count) < literal(limit);
    ScalarExpr holds = more;
    if (has_flag) holds = active;
    if (end == End::leave) holds = literal(1u);
    if (end == End::arbitrary) holds = expressions_.predicate(2);
    if (end != End::arbitrary && random_.chance(25)) {
      const ScalarExpr extra = expressions_.predicate(1);
      holds = unbounded || random_.chance(70) ? holds && extra : holds || extra;
    }

    Place inside = place;
    ++inside.depth;
    inside.times *= unbounded ? limit : std::max(1u, *bounds.max);
    inside.in_loop = true;
    inside.in_branch = false;
    spend(place, 2);
    const KernelName test = pick_test();
    const auto progress = [&] {
      spend(inside);
      if (end == End::tick) {
        // Of any_reaches the limit is where its rising count makes it stop.
        const uint32_t least = test == KernelName::any_reaches ? (limit < 64 ? 64 - limit : 0) : limit;
        const std::variant<Literal, Scalar> bound = test != KernelName::any_reaches && random_.chance(25)
                                                        ? std::variant<Literal, Scalar>(limit_)
                                                        : literal(least);
        return test_dispatch(test, any_buffer(), count, active, bound);
      }
      program_.assign(count, ScalarExpr(count) + 1u);
      if (end == End::flag) program_.assign(active, more);
      if (end == End::leave)
        program_.if_(
            !more, [&] { program_.break_(); }, {}, format("leave {}", id));
    };

    const bool has_index = random_.chance(40);
    const size_t indices = values_.indices.size();
    program_.while_(
        holds, bounds,
        [&] {
          if (has_index) values_.indices.push_back(program_.iteration());
          // A loop without a bound makes its progress before anything can skip it.
          const uint32_t before = unbounded ? 0 : random_.below(style_ == Style::producing ? 4 : 3);
          const uint32_t after = style_ == Style::producing ? 0 : random_.below(4) + (before == 0 ? 1 : 0);
          if (before > 0) statements(inside, before, before, false);
          progress();
          // The body overwrites its own predicate, which holds for the rest of the iteration all the same.
          if (has_flag && !unbounded && style_ != Style::producing && random_.chance(20))
            program_.assign(active, expressions_.predicate(1));
          statements(inside, after, after);
        },
        format("while {}", id));
    values_.indices.resize(indices, Scalar{});
    values_.counters.push_back(count);
    if (has_flag) values_.predicates.push_back(active);
  }

  // ---- runs

  void make_steps(Case& made) {
    made.steps.resize(2);
    if (random_.chance(25)) made.steps[1].reset = true;
    if (random_.chance(35)) made.steps[1].settings.push_back({limit_, literal(random_.between(1, 5))});
    if (random_.chance(15))
      made.steps[1].settings.push_back({values_.gain, literal(static_cast<int32_t>(random_.below(9)) - 4)});
    if (random_.chance(10)) made.steps.push_back({});
  }

  Random random_;
  Size size_;
  Program program_;
  Style style_ = Style::mixed;
  bool fails_ = false;
  std::vector<Buffer> buffers_;
  std::optional<Buffer> floats_;
  std::vector<Buffer> halves_;  ///< of i16, which no kernel touches
  Scalars values_;
  Expressions expressions_{random_, values_};
  std::vector<Scalar> written_words_;  ///< of values_.words, those that the program writes
  Scalar limit_;
  uint64_t spelled_ = 0;
  uint32_t labels_ = 0, loops_ = 0, records_ = 0;
};

}  // namespace

Case generate(uint64_t seed, const Size& size) {
  return Generator(seed, size).run(seed);
}

}  // namespace wavegate::differential
