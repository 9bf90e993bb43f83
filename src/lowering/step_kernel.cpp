#include "wavegate/lowering/step_kernel.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "wavegate/kir/builder.h"
#include "wavegate/lowering/scalar_emitter.h"

namespace wavegate::lowering {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using program::Scalar;
using program::ScalarExpr;

namespace {

/// The program's buffer, if it is one of the program's: others are of the lowering.
std::optional<program::Buffer> program_buffer(const Values& values, graph::BufferId id) {
  const auto index = static_cast<uint32_t>(id);
  if (index >= values.program().buffers().size()) return std::nullopt;
  return program::Buffer{index};
}

/// What a step takes a buffer for: what kernels do that it may be composed with.
Type type_in(const Values& values, graph::BufferId id) {
  const auto buffer = program_buffer(values, id);
  return buffer && values.program().info(*buffer).element == Type::f32 ? Type::f32 : Type::i32;
}

graph::Range range_of(const Values& values, graph::BufferId id) {
  const auto buffer = program_buffer(values, id);
  return buffer ? values.range(*buffer) : graph::Range{id, 0, 0};
}

}  // namespace

bool is_void(const GridLayout& layout, const Statement& statement) {
  const auto* grids = std::get_if<SetGrids>(&statement);
  return grids != nullptr && layout.word_count[grids->block] == 0;
}

void StepFootprint::read(const ScalarExpr& value) {
  std::set<uint32_t> found;
  note_scalars(value.root(), found);
  for (const uint32_t id : found) scalars_.try_emplace(id, Access::read);
}

void StepFootprint::touch(graph::BufferId buffer, Access access, uint64_t first_word, uint64_t words) {
  buffers_.try_emplace(buffer, access);
  uses_.push_back({{buffer, first_word * 4, words * 4}, access});
}

void StepFootprint::add(const Statement& statement) {
  if (!is_void(layout_, statement)) std::visit([&](const auto& what) { note(what); }, statement);
}

void StepFootprint::note(const Set& set) {
  read(set.value);
  const auto [use, is_new] = scalars_.try_emplace(set.destination.id, Access::write);
  if (!is_new && use->second == Access::read) use->second = Access::read_write;
}

// A step writes some words of a buffer at most, and `write` would promise them all.

void StepFootprint::note(const Store& store) {
  for (const ScalarExpr* each : {&store.condition, &store.index, &store.value}) read(*each);
  const ScalarExpr::Node& index = store.index.root();
  if (index.op == program::ScalarOp::literal) return touch(store.buffer, Access::read_write, index.literal.bits, 1);
  const auto id = static_cast<uint32_t>(store.buffer);
  touch(store.buffer, Access::read_write, 0, values_.program().buffers()[id].bytes() / 4);
}

void StepFootprint::note(const SetGrids& grids) {
  read(grids.condition);
  const uint32_t first = layout_.first_word[grids.block], count = layout_.word_count[grids.block];
  touch(values_.arguments, Access::read_write, first, count);
  touch(values_.grids, Access::read, first, count);
  parameters_ += 2;
}

void StepFootprint::note(const SetComputedGrid& grid) {
  read(grid.condition);
  for (const ScalarExpr& each : grid.workgroups) read(each);
  touch(values_.arguments, Access::read_write, layout_.word(grid.slot), 3);
  parameters_ += 4;
}

Result<StepKernel> step_kernel(const Values& values, const GridLayout& layout, std::span<const Statement> statements) {
  StepFootprint touched(values, layout);
  for (const Statement& statement : statements) touched.add(statement);
  StepKernel result;
  Builder b("step");
  std::map<graph::BufferId, kir::MemoryRef> buffers;
  for (const auto& [id, access] : touched.buffers()) {
    buffers.emplace(id, b.buffer("b" + std::to_string(buffers.size()), type_in(values, id), access));
    result.buffers.push_back(id);
  }
  result.uses = touched.uses();
  std::map<uint32_t, kir::ScalarRef> scalars;
  for (const auto& [id, access] : touched.scalars()) {
    // Names count from zero in every step, so that steps of one shape are equal.
    const Type type = program::kernel_type(values.program().scalars()[id].type);
    scalars.emplace(id, b.scalar("s" + std::to_string(scalars.size()), type, access));
    result.scalars.push_back(Scalar{id});
  }
  const auto parameter = [&](uint32_t word) {
    result.parameters.push_back(word);
    return b.parameter("p" + std::to_string(result.parameters.size() - 1), Type::i32);
  };

  ScalarEmitter emitter(b, values.program(), scalars);
  std::vector<Scalar> set;
  const auto emit = [&](const auto& statement) {
    using T = std::decay_t<decltype(statement)>;
    if constexpr (std::is_same_v<T, Set>) {
      emitter.set(statement.destination, statement.value);
      set.push_back(statement.destination);
    } else if constexpr (std::is_same_v<T, Store>) {
      const Expr holds = emitter.truth(statement.condition);
      const Expr index = emitter.word(statement.index);
      const Expr value = emitter.bits(statement.value);
      const kir::MemoryRef& buffer = buffers.at(statement.buffer);
      const bool is_float = type_in(values, statement.buffer) == Type::f32;
      b.if_(holds, [&] { buffer[index] = is_float ? b.bitcast(Type::f32, value) : value; });
    } else if constexpr (std::is_same_v<T, SetGrids>) {
      const Expr holds = emitter.truth(statement.condition);
      const Expr first = parameter(layout.first_word[statement.block]);
      const Expr end = first + parameter(layout.word_count[statement.block]);
      b.for_(first, end, b.u32(1), [&](Expr word) {
        buffers.at(values.arguments)[word] = b.select(holds, buffers.at(values.grids)[word], b.u32(0));
      });
    } else {
      const Expr holds = emitter.truth(statement.condition);
      const Expr first = parameter(layout.word(statement.slot));
      std::vector<Expr> grid;
      for (size_t d = 0; d < 3; ++d) {
        const Expr cut =
            b.apply(kir::Op::min_u, {emitter.word(statement.workgroups[d]), parameter(statement.maximum[d])});
        grid.push_back(b.select(holds, cut, b.u32(0)));
      }
      b.store(buffers.at(values.arguments), first, grid);
    }
  };
  for (const Statement& statement : statements)
    if (!is_void(layout, statement)) std::visit(emit, statement);
  WAVEGATE_CHECK(emitter.store(set));
  WAVEGATE_TRY(result.kernel, b.finish());
  return result;
}

Result<graph::Dispatch> step_dispatch(std::string label, std::span<const Statement> statements,
                                      const GridLayout& layout, const Values& values, KernelTable& kernels) {
  WAVEGATE_TRY(StepKernel made, step_kernel(values, layout, statements));
  const std::vector<kir::BindingInfo> bindings = made.kernel.interface.bindings;
  graph::Dispatch dispatch;
  dispatch.label = std::move(label);
  WAVEGATE_TRY(dispatch.kernel, kernels.add(std::move(made.kernel)));
  for (const graph::BufferId buffer : made.buffers) dispatch.bindings.push_back(range_of(values, buffer));
  dispatch.uses = std::move(made.uses);
  for (size_t i = 0; i < made.scalars.size(); ++i) {
    dispatch.words.push_back(values.word(made.scalars[i]));
    dispatch.uses.push_back({values.range(made.scalars[i]), bindings[made.buffers.size() + i].access});
  }
  if (!made.scalars.empty()) dispatch.bindings.push_back({values.arena, 0, 0});
  dispatch.words.insert(dispatch.words.end(), made.parameters.begin(), made.parameters.end());
  return dispatch;
}

}  // namespace wavegate::lowering
