#include "wavegate/kir/in_one_workgroup.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/kir/appender.h"
#include "wavegate/kir/passes/structure_returns.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

using Size = std::array<uint32_t, 3>;

uint64_t product(const Size& size) {
  constexpr uint64_t kFar = uint64_t{1} << 33;  // three of these, cut off after each, cannot wrap
  uint64_t result = 1;
  for (const uint32_t extent : size) result = std::min(result * extent, kFar);
  return result;
}

/// What a kernel's invocations know of each other.
struct Ties {
  std::string first;  ///< what ties them, for people; empty if nothing does
  bool workgroup_memory = false;
  bool subgroups = false;
  bool any() const { return !first.empty(); }
};

Ties ties_of(const Kernel& kernel) {
  Ties ties;
  const auto note = [&](std::string_view what) {
    if (ties.first.empty()) ties.first = what;
  };
  for (const Memory& memory : kernel.memories) {
    if (memory.space != MemorySpace::workgroup) continue;
    ties.workgroup_memory = true;
    note("workgroup memory");
  }
  walk(kernel.body, [&](const Instruction& instruction) {
    const bool is_operation = instruction.op >= Op::subgroup_any && instruction.op <= Op::subgroup_exclusive_add;
    const bool is_builtin = instruction.op == Op::builtin && instruction.builtin >= Builtin::subgroup_lane;
    const bool is_barrier = instruction.op == Op::barrier;
    ties.subgroups |= is_operation || is_builtin || (is_barrier && instruction.scope == Scope::subgroup);
    if (is_operation || is_barrier) note(info(instruction.op).name);
    if (is_builtin) note(to_string(instruction.builtin));
  });
  return ties;
}

/// Unsigned arithmetic with a value below a known bound, which is often no arithmetic at all.
struct Bounded {
  Value value;
  uint64_t bound = 0;  ///< the value is below it
};

class Arithmetic {
 public:
  explicit Arithmetic(Appender& code) : code_(code) {}

  Value constant(uint64_t number) { return code_.constant(Type::i32, number); }

  Bounded divide(Bounded a, uint32_t b) {
    if (b == 1) return a;
    if (a.bound <= b) return {constant(0), 1};
    return {code_.value(Op::div_u, Type::i32, {a.value, constant(b)}), (a.bound + b - 1) / b};
  }
  Bounded remainder(Bounded a, uint64_t b) {
    if (b == 1) return {constant(0), 1};
    if (a.bound <= b) return a;
    return {code_.value(Op::rem_u, Type::i32, {a.value, constant(b)}), b};
  }
  Value multiply_add(Bounded a, uint32_t b, Bounded c) {
    if (a.bound == 1) return c.value;
    const Value scaled = b == 1 ? a.value : code_.value(Op::mul, Type::i32, {a.value, constant(b)});
    return c.bound == 1 ? scaled : code_.value(Op::add, Type::i32, {scaled, c.value});
  }

 private:
  Appender& code_;
};

/// The builtins of an invocation of the original dispatch, computed from the flat index of its workgroup and its local
/// index.
class Builtins {
 public:
  Builtins(Appender& code, const Size& grid, const Size& workgroup, Bounded workgroup_index, Bounded local_index)
      : math_(code), grid_(grid), workgroup_(workgroup), workgroup_index_(workgroup_index), local_index_(local_index) {}

  Value value(Builtin builtin, uint32_t dimension) {
    switch (builtin) {
      case Builtin::grid: return math_.constant(grid_[dimension]);
      case Builtin::local_index: return local_index_.value;
      case Builtin::local_id: return part(local_index_, workgroup_, dimension).value;
      case Builtin::workgroup_id: return part(workgroup_index_, grid_, dimension).value;
      default: break;
    }
    const Bounded workgroup = part(workgroup_index_, grid_, dimension);
    return math_.multiply_add(workgroup, workgroup_[dimension], part(local_index_, workgroup_, dimension));
  }

 private:
  /// The id in one dimension of the element with a flat index, x fastest.
  Bounded part(Bounded index, const Size& size, uint32_t dimension) {
    for (uint32_t i = 0; i < dimension; ++i) index = math_.divide(index, size[i]);
    return dimension == 2 ? index : math_.remainder(index, size[dimension]);
  }

  Arithmetic math_;
  Size grid_;
  Size workgroup_;
  Bounded workgroup_index_;
  Bounded local_index_;
};

/// Which builtins a body asks for, and the values that stand for them.
class Replacements {
 public:
  explicit Replacements(const Block& body) {
    walk(body, [&](const Instruction& instruction) {
      if (instruction.op == Op::builtin && instruction.builtin < Builtin::subgroup_lane)
        values_[{instruction.builtin, instruction.index}] = {};
    });
  }

  /// Computes the builtins; `value(builtin, dimension)` gives each.
  template <typename Compute>
  void compute(Compute&& value) {
    for (auto& [key, replacement] : values_) replacement = value(key.first, key.second);
  }

  /// Removes the builtins from a body, and with `drop_claims` each assume_uniform, in favour of their replacements.
  void apply(Kernel& kernel, Block& body, bool drop_claims) {
    by_value_.resize(kernel.value_types.size());
    rewrite(body, drop_claims);
  }

 private:
  void rewrite(Block& block, bool drop_claims) {
    size_t kept = 0;
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      if (kept != i) block.instructions[kept] = std::move(block.instructions[i]);
      Instruction& instruction = block.instructions[kept];
      for (Value& operand : instruction.operands)
        if (by_value_[operand.id].valid()) operand = by_value_[operand.id];
      for (Block& inner : instruction.blocks) rewrite(inner, drop_claims);
      const Value replacement = replacement_of(instruction, drop_claims);
      if (replacement.valid()) {
        by_value_[instruction.result().id] = replacement;
      } else {
        ++kept;
      }
    }
    block.instructions.resize(kept);
  }

  Value replacement_of(const Instruction& instruction, bool drop_claims) const {
    if (drop_claims && instruction.op == Op::assume_uniform) return instruction.operands[0];
    if (instruction.op != Op::builtin) return {};
    const auto found = values_.find({instruction.builtin, instruction.index});
    return found == values_.end() ? Value{} : found->second;
  }

  std::map<std::pair<Builtin, uint32_t>, Value> values_;
  std::vector<Value> by_value_;  ///< by id of a removed value
};

/// Appends a structured body without its return.
void put_body(Appender& code, Block&& body) {
  body.instructions.pop_back();
  for (Instruction& instruction : body.instructions) code.put(std::move(instruction));
}

struct Range {
  Value first;
  uint32_t first_bound = 0;  ///< `first` is below it
  uint32_t end = 0;
  uint32_t step = 0;
};

/// `for (i = first; i < end; i += step) body(i)`, as an if_ or as nothing where one round is all that any invocation
/// makes. `body(code, i)` appends instructions.
template <typename Body>
void for_range(Kernel& kernel, Appender& code, const Range& range, Body&& body) {
  const bool once = range.end <= range.step;
  if (once && range.first_bound <= range.end) return body(code, range.first);

  std::vector<Instruction> inside;
  Appender inner(kernel, inside);
  const Value end = code.constant(Type::i32, range.end);
  if (once) {
    const Value runs = code.value(Op::less_u, Type::boolean, {range.first, end});
    body(inner, range.first);
    inner.put({.op = Op::yield});
    return code.if_(runs, std::move(inside), {{.op = Op::yield}});
  }
  const Value step = code.constant(Type::i32, range.step);
  const Value index = kernel.new_value(Type::i32);
  const Value runs = inner.value(Op::less_u, Type::boolean, {index, end});
  inner.if_(runs, {{.op = Op::yield}}, {{.op = Op::break_}});
  body(inner, index);
  inner.put({.op = Op::continue_, .operands = {inner.value(Op::add, Type::i32, {index, step})}});
  Instruction loop{.op = Op::loop, .operands = {range.first}};
  loop.blocks.push_back({.parameters = {index}, .instructions = std::move(inside)});
  code.put(std::move(loop));
}

/// Runs the dispatch's invocations one by one, `width` at a time.
void run_invocations(Kernel& kernel, Block body, const Size& grid, uint32_t width) {
  const Size workgroup = std::exchange(kernel.interface.workgroup_size, {width, 1, 1});
  const auto size = static_cast<uint32_t>(product(workgroup));
  const auto total = static_cast<uint32_t>(product(grid) * size);
  Replacements builtins(body);
  Appender code(kernel, kernel.body.instructions);
  const Value first = code.builtin(Builtin::local_index);
  for_range(kernel, code, {first, width, total, width}, [&](Appender& inner, Value index) {
    Arithmetic math(inner);
    const Bounded flat{index, total};
    const Bounded workgroup_index = math.divide(flat, size);
    const Bounded local_index = math.remainder(flat, size);
    Builtins original(inner, grid, workgroup, workgroup_index, local_index);
    builtins.compute([&](Builtin builtin, uint32_t dimension) {
      // Workgroups in a row make rows of invocations.
      const bool row = workgroup[1] == 1 && workgroup[2] == 1;
      if (builtin == Builtin::global_id && dimension == 0 && row)
        return math.remainder(flat, uint64_t{grid[0]} * workgroup[0]).value;
      return original.value(builtin, dimension);
    });
    builtins.apply(kernel, body, true);
    put_body(inner, std::move(body));
  });
}

/// Runs the dispatch's workgroups one after the other.
void run_workgroups(Kernel& kernel, Block body, const Size& grid, const Ties& ties) {
  const Size workgroup = kernel.interface.workgroup_size;
  const auto size = static_cast<uint32_t>(product(workgroup));
  const auto count = static_cast<uint32_t>(product(grid));
  kernel.interface.workgroup_size = {size, 1, 1};
  walk(body, [](Instruction& instruction) {
    if (instruction.op == Op::assume_uniform) instruction.scope = std::min(instruction.scope, Scope::workgroup);
  });
  Replacements builtins(body);
  Appender code(kernel, kernel.body.instructions);
  const Value local = code.builtin(Builtin::local_index);
  const Value first = code.constant(Type::i32, 0);
  for_range(kernel, code, {first, 1, count, 1}, [&](Appender& inner, Value index) {
    Builtins original(inner, grid, workgroup, {index, count}, {local, size});
    builtins.compute([&](Builtin builtin, uint32_t dimension) { return original.value(builtin, dimension); });
    builtins.apply(kernel, body, false);
    put_body(inner, std::move(body));
    if (ties.workgroup_memory && count > 1) inner.barrier();
  });
}

}  // namespace

bool is_tied(const Kernel& kernel) {
  return ties_of(kernel).any();
}

Result<Kernel> in_one_workgroup(const Kernel& kernel, const Size& grid, uint32_t width) {
  const Size workgroup = kernel.interface.workgroup_size;
  const uint64_t size = product(workgroup);
  const auto refuse = [&](std::string why) {
    return unsupported(
        format("kernel \"{}\" cannot run as one workgroup of {}: {}", kernel.interface.name, width, std::move(why)));
  };
  if (width == 0) return invalid_input(format("kernel \"{}\": one workgroup of no invocations", kernel.interface.name));
  const uint64_t workgroups = product(grid);
  if (workgroups * size + width > std::numeric_limits<uint32_t>::max())
    return refuse(
        format("its grid of {}x{}x{} workgroups has more invocations than 32 bits count", grid[0], grid[1], grid[2]));
  const Ties ties = ties_of(kernel);
  if (ties.any() && size != width)
    return refuse(format("it has {}, and its workgroup has {} invocations; use that width", ties.first, size));
  if (ties.subgroups && workgroup != Size{width, 1, 1})
    return refuse(format("it has {}, and which invocations share a subgroup may differ from its workgroup of {}x{}x{}",
                         ties.first, workgroup[0], workgroup[1], workgroup[2]));

  Kernel result = kernel;
  WAVEGATE_TRY([[maybe_unused]] const PassStats structured, structure_returns(result));
  Block body = std::exchange(result.body, {});
  if (workgroups != 0) {
    if (ties.any()) {
      run_workgroups(result, std::move(body), grid, ties);
    } else {
      run_invocations(result, std::move(body), grid, width);
    }
  }
  result.interface.workgroup_size = {width, 1, 1};
  result.body.instructions.push_back({.op = Op::return_});
  if (const Result<void> verified = verify(result); !verified.ok()) return unsupported(verified.error().message);
  return result;
}

}  // namespace wavegate::kir
