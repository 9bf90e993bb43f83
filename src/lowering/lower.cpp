#include "wavegate/lowering/lower.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "wavegate/base/format.h"
#include "wavegate/lowering/arena.h"
#include "wavegate/lowering/kernel_table.h"
#include "wavegate/lowering/support_kernels.h"
#include "wavegate/program/operation.h"
#include "wavegate/program/verify.h"

namespace wavegate::lowering {
namespace {

using graph::Command;
using kir::Access;
using program::Body;
using program::Program;

/// Repeats are spelled out in the command buffer, so a loop's bound is a promise of memory.
constexpr uint64_t kMaximumCommands = uint64_t{1} << 20;

/// A word of the arena by index.
struct Word {
  uint32_t index = 0;
};

/// Where a loop reports.
struct LoopWords {
  std::string label;
  Word trips, converged;
};

/// Lowers one expanded and verified program.
class Lowering {
 public:
  Lowering(const Program& program, const target::Profile& profile)
      : program_(program), profile_(profile), kernels_(profile), graph_(std::make_shared<graph::Graph>()) {}

  Result<Plan> run() {
    graph_->name = program_.name();
    add_buffers();
    place_scalars();
    always_ = Word{arena_.control_word()};
    loops_.resize(program_.loop_count());
    place_loops(program_.body());

    std::vector<Command> commands;
    WAVEGATE_CHECK(lower_body(program_.body(), always_, commands, 0));
    if (const uint64_t count = graph::encoded_size(commands); count > kMaximumCommands)
      return unsupported(
          format("program \"{}\": the gate strategy would encode {} commands, more than {}; lower the "
                 "max of its loops",
                 program_.name(), count, kMaximumCommands));
    finish_arena(commands);
    graph_->kernels = kernels_.take();
    WAVEGATE_CHECK(graph::verify(*graph_));
    plan_.graph = graph_;
    plan_.arena = arena_buffer_;
    for (const LoopWords& loop : loops_)
      plan_.loops.push_back({loop.label, uint64_t{loop.trips.index} * 4, uint64_t{loop.converged.index} * 4});
    return std::move(plan_);
  }

 private:
  // ---- values

  void add_buffers() {
    for (const program::BufferInfo& info : program_.buffers()) {
      graph::Buffer buffer;
      buffer.name = info.name;
      buffer.bytes = (info.bytes() + 3) / 4 * 4;
      buffer.external = info.external;
      buffer.output = info.output;
      if (info.initial) buffer.initial = contents(*info.initial, info.bytes(), buffer.bytes);
      plan_.buffers.push_back({add_buffer(std::move(buffer)), 0});
    }
    graph::Buffer arena;
    arena.name = "arena";
    arena.output = true;
    arena_buffer_ = add_buffer(std::move(arena));
    graph::Buffer arguments;
    arguments.name = "arguments";
    arguments.indirect = true;
    arguments.initial = graph::Contents{};
    arguments_buffer_ = add_buffer(std::move(arguments));
  }

  static graph::Contents contents(const program::Initial& initial, uint64_t bytes, uint64_t padded) {
    if (!initial.bytes || bytes == padded) return {initial.bytes, initial.word};
    auto copy = std::make_shared<std::vector<std::byte>>(*initial.bytes);
    copy->resize(padded);
    return {std::move(copy), 0};
  }

  graph::BufferId add_buffer(graph::Buffer buffer) {
    graph_->buffers.push_back(std::move(buffer));
    return graph::BufferId{static_cast<uint32_t>(graph_->buffers.size() - 1)};
  }

  void place_scalars() {
    std::vector<bool> bound_by_opaque(program_.scalars().size());
    note_opaque(program_.body(), bound_by_opaque);
    for (size_t i = 0; i < program_.scalars().size(); ++i) {
      const bool aligned = bound_by_opaque[i];
      const uint32_t word =
          arena_.scalar_word(aligned ? std::optional(profile_.limits.binding_alignment) : std::nullopt);
      scalar_words_.push_back(Word{word});
      plan_.scalars.push_back({arena_buffer_, uint64_t{word} * 4});
    }
  }

  /// Every loop reports, also one in a body that is never lowered because it cannot run.
  void place_loops(const Body& body) {
    for (const program::Node& node : body) {
      if (const auto* branch = std::get_if<program::If>(&node.what)) {
        place_loops(branch->then_body);
        place_loops(branch->else_body);
      } else if (const auto* loop = std::get_if<program::While>(&node.what)) {
        loops_[loop->loop.id] = {loop->label, Word{arena_.control_word()}, Word{arena_.control_word()}};
        place_loops(loop->body);
      }
    }
  }

  void note_opaque(const Body& body, std::vector<bool>& bound) const {
    for (const program::Node& node : body) {
      if (const auto* branch = std::get_if<program::If>(&node.what)) {
        note_opaque(branch->then_body, bound);
        note_opaque(branch->else_body, bound);
      } else if (const auto* loop = std::get_if<program::While>(&node.what)) {
        note_opaque(loop->body, bound);
      } else if (const auto* dispatch = std::get_if<program::Dispatch>(&node.what)) {
        if (!dispatch->kernel->is_opaque()) continue;
        for (const program::Operand& operand : dispatch->bindings)
          if (const auto* scalar = std::get_if<program::Scalar>(&operand)) bound[scalar->id] = true;
      }
    }
  }

  /// Sizes the arena and the arguments, and puts the fresh start of each run before everything else.
  void finish_arena(std::vector<Command>& commands) {
    graph::Buffer& arena = graph_->buffers[static_cast<uint32_t>(arena_buffer_)];
    arena.bytes = uint64_t{arena_.words()} * 4;
    auto bytes = std::make_shared<std::vector<std::byte>>(arena.bytes);
    for (size_t i = 0; i < program_.scalars().size(); ++i) {
      const uint32_t bits = program_.scalars()[i].initial.value_or(0);
      std::memcpy(bytes->data() + uint64_t{scalar_words_[i].index} * 4, &bits, 4);
    }
    const uint32_t one = 1;
    std::memcpy(bytes->data() + uint64_t{always_.index} * 4, &one, 4);
    arena.initial = graph::Contents{std::move(bytes), 0};
    graph_->buffers[static_cast<uint32_t>(arguments_buffer_)].bytes = std::max<uint64_t>(12, arguments_words_ * 4);

    // The descriptors of the arena and of the arguments were made before their sizes were known.
    patch_bindings(commands);

    const uint64_t first = uint64_t{always_.index} * 4 + 4;
    if (arena.bytes > first)
      graph_->commands.push_back(graph::Fill{"fresh control words", {arena_buffer_, first, arena.bytes - first}, 0});
    std::ranges::move(commands, std::back_inserter(graph_->commands));
  }

  void patch_bindings(std::vector<Command>& commands) {
    for (Command& command : commands) {
      if (auto* dispatch = std::get_if<graph::Dispatch>(&command)) {
        for (graph::Range& range : dispatch->bindings)
          if (range.bytes == 0) range.bytes = graph_->buffers[static_cast<uint32_t>(range.buffer)].bytes;
      } else if (auto* repeat = std::get_if<std::shared_ptr<const graph::Repeat>>(&command)) {
        auto patched = std::make_shared<graph::Repeat>(**repeat);
        patch_bindings(patched->body);
        *repeat = std::move(patched);
      }
    }
  }

  graph::Range whole(graph::BufferId buffer) const { return {buffer, 0, 0}; }  // patched when its size is known
  graph::Range word_range(Word word) const { return {arena_buffer_, uint64_t{word.index} * 4, 4}; }

  // ---- commands

  Result<void> lower_body(const Body& body, Word latch, std::vector<Command>& out, uint32_t depth) {
    for (size_t i = 0; i < body.size(); ++i) {
      if (std::holds_alternative<program::Assign>(body[i].what)) {
        std::vector<program::Assign> assigns;
        std::set<uint32_t> scalars;  // one launch word each, of which a device has so many
        for (; i < body.size() && std::holds_alternative<program::Assign>(body[i].what); ++i) {
          const auto& assign = std::get<program::Assign>(body[i].what);
          note_scalars(assign, scalars);
          if (!assigns.empty() && scalars.size() > profile_.limits.immediate_words) break;
          assigns.push_back(assign);
        }
        --i;
        WAVEGATE_CHECK(lower_assigns(assigns, latch, out));
        continue;
      }
      WAVEGATE_CHECK(std::visit([&](const auto& what) { return lower(what, latch, out, depth); }, body[i].what));
    }
    return {};
  }

  Result<void> lower_assigns(const std::vector<program::Assign>& assigns, Word latch, std::vector<Command>& out) {
    WAVEGATE_TRY(AssignKernel assign, assign_kernel(program_, assigns));
    const kir::Interface interface = assign.kernel.interface;
    graph::Dispatch dispatch;
    dispatch.label = format("assign {}", program_.info(assigns.front().destination).name);
    WAVEGATE_TRY(dispatch.kernel, kernels_.add(std::move(assign.kernel)));
    dispatch.bindings = {whole(arena_buffer_)};
    for (size_t i = 0; i < assign.scalars.size(); ++i)
      use_word(dispatch, scalar_words_[assign.scalars[i].id], interface.bindings[i].access);
    return emit(std::move(dispatch), latch, out);
  }

  void use_word(graph::Dispatch& dispatch, Word word, Access access) const {
    dispatch.words.push_back(word.index);
    dispatch.uses.push_back({word_range(word), access});
  }

  /// One of our own scalar kernels: its scalar words, with the access that its interface declares, and parameters.
  Result<graph::Dispatch> support(std::string label, Result<kir::Kernel> (*make)(), std::initializer_list<Word> words,
                                  std::initializer_list<uint32_t> parameters) {
    graph::Dispatch dispatch;
    dispatch.label = std::move(label);
    WAVEGATE_TRY(dispatch.kernel, kernels_.add(make));
    const kir::Interface& interface = kir::interface_of(kernels_[dispatch.kernel]);
    size_t binding = 0;
    for (const Word word : words) {
      while (interface.bindings[binding].kind != kir::BindingKind::scalar) ++binding;
      use_word(dispatch, word, interface.bindings[binding++].access);
    }
    dispatch.words.insert(dispatch.words.end(), parameters);
    dispatch.bindings.push_back(whole(arena_buffer_));
    return dispatch;
  }

  /// Appends a dispatch: direct where nothing conditions it, else behind its gate.
  Result<void> emit(graph::Dispatch dispatch, Word latch, std::vector<Command>& out) {
    if (latch.index == always_.index) {
      out.push_back(std::move(dispatch));
      return {};
    }
    const uint32_t word = arguments_words_;
    arguments_words_ += 3;
    const graph::Range arguments{arguments_buffer_, uint64_t{word} * 4, 12};
    WAVEGATE_TRY(graph::Dispatch gate, support(format("gate {}", dispatch.label), gate_kernel, {latch},
                                               {word, dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]}));
    gate.bindings.insert(gate.bindings.begin(), whole(arguments_buffer_));
    gate.uses.push_back({arguments, Access::write});
    out.push_back(std::move(gate));
    dispatch.indirect = arguments;
    out.push_back(std::move(dispatch));
    return {};
  }

  Result<void> lower(const program::Dispatch& node, Word latch, std::vector<Command>& out, uint32_t) {
    std::vector<bool> from_scalar;
    for (const auto& argument : node.parameters)
      from_scalar.push_back(std::holds_alternative<program::Scalar>(argument));
    graph::Dispatch dispatch;
    dispatch.label = node.label;
    dispatch.grid = *node.grid;
    WAVEGATE_TRY(dispatch.kernel, kernels_.add(node.kernel, from_scalar));
    const kir::KernelCode& code = kernels_[dispatch.kernel];
    const kir::Interface& interface = kir::interface_of(code);
    const bool opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(code);

    for (size_t i = 0; i < node.bindings.size(); ++i) {
      const Access access = interface.bindings[i].access;
      if (const auto* buffer = std::get_if<program::Buffer>(&node.bindings[i])) {
        const graph::Range range{plan_.buffers[buffer->id].buffer, 0, program_.info(*buffer).bytes()};
        dispatch.bindings.push_back(range);
        dispatch.uses.push_back({range, access});
      } else {
        const Word word = scalar_words_[std::get<program::Scalar>(node.bindings[i]).id];
        if (opaque) {
          dispatch.bindings.push_back(word_range(word));
          dispatch.uses.push_back({word_range(word), access});
        } else {
          use_word(dispatch, word, access);
        }
      }
    }
    for (const auto& argument : node.parameters)
      if (const auto* scalar = std::get_if<program::Scalar>(&argument))
        use_word(dispatch, scalar_words_[scalar->id], Access::read);
    for (const auto& argument : node.parameters)
      if (const auto* number = std::get_if<program::Literal>(&argument)) dispatch.words.push_back(number->bits);
    if (!opaque && interface.scalar_count() > 0) dispatch.bindings.push_back(whole(arena_buffer_));
    return emit(std::move(dispatch), latch, out);
  }

  /// Words of a copy or fill that becomes a kernel: 32-bit indices in the kernel.
  Result<uint32_t> as_words(uint64_t bytes, const std::string& what) const {
    if (bytes / 4 <= UINT32_MAX) return static_cast<uint32_t>(bytes / 4);
    return unsupported(format("{} reaches past 16 GiB and cannot be gated; split it", what));
  }

  graph::Grid word_grid(uint32_t words) const {
    const uint32_t workgroups = program::grid_for({words, 1, 1}, {kWordsPerWorkgroup, 1, 1})[0];
    return {std::min(workgroups, profile_.limits.grid[0]), 1, 1};
  }

  Result<void> lower(const program::Copy& node, Word latch, std::vector<Command>& out, uint32_t) {
    const uint64_t size = kir::byte_size(program_.info(node.source).element);
    const graph::Range source{plan_.buffers[node.source.id].buffer, node.source_offset * size, node.count * size};
    const graph::Range destination{plan_.buffers[node.destination.id].buffer, node.destination_offset * size,
                                   node.count * size};
    if (latch.index == always_.index) {
      out.push_back(graph::Copy{node.label, source, destination});
      return {};
    }
    const std::string what = format("copy \"{}\"", node.label);
    WAVEGATE_CHECK(as_words(source.offset + source.bytes, what));
    WAVEGATE_CHECK(as_words(destination.offset + destination.bytes, what));
    WAVEGATE_TRY(const uint32_t count, as_words(source.bytes, what));
    graph::Dispatch dispatch;
    dispatch.label = format("copy {}", node.label);
    WAVEGATE_TRY(dispatch.kernel, kernels_.add(copy_words_kernel));
    dispatch.bindings = {whole(source.buffer), whole(destination.buffer)};
    dispatch.uses = {{source, Access::read}, {destination, Access::write}};
    dispatch.words = {static_cast<uint32_t>(source.offset / 4), static_cast<uint32_t>(destination.offset / 4), count};
    dispatch.grid = word_grid(count);
    return emit(std::move(dispatch), latch, out);
  }

  Result<void> lower(const program::Fill& node, Word latch, std::vector<Command>& out, uint32_t) {
    const graph::Range range{plan_.buffers[node.destination.id].buffer, node.offset * 4, node.count * 4};
    if (latch.index == always_.index) {
      out.push_back(graph::Fill{node.label, range, node.value.bits});
      return {};
    }
    const std::string what = format("fill \"{}\"", node.label);
    WAVEGATE_CHECK(as_words(range.offset + range.bytes, what));
    WAVEGATE_TRY(const uint32_t count, as_words(range.bytes, what));
    graph::Dispatch dispatch;
    dispatch.label = format("fill {}", node.label);
    WAVEGATE_TRY(dispatch.kernel, kernels_.add(fill_words_kernel));
    dispatch.bindings = {whole(range.buffer)};
    dispatch.uses = {{range, Access::write}};
    dispatch.words = {static_cast<uint32_t>(range.offset / 4), count, node.value.bits};
    dispatch.grid = word_grid(count);
    return emit(std::move(dispatch), latch, out);
  }

  Result<void> lower(const program::Assign&, Word, std::vector<Command>&, uint32_t) { return {}; }  // in lower_body

  Result<void> lower(const program::Call& node, Word, std::vector<Command>&, uint32_t) {
    return internal_error("a call is left in an expanded program", node.operation->name());
  }

  Result<void> lower(const program::If& node, Word enclosing, std::vector<Command>& out, uint32_t depth) {
    report(&node, depth, format("if \"{}\"", node.label), "one latch a branch, one gate a command");
    const Word predicate = scalar_words_[node.predicate.id];
    // Both latches are taken before either branch runs, so that the first cannot change what the second sees.
    const std::pair<const Body*, uint32_t> branches[] = {{&node.then_body, 0u}, {&node.else_body, 1u}};
    std::vector<std::pair<const Body*, Word>> latched;
    for (const auto& [body, invert] : branches) {
      if (body->empty()) continue;
      const Word latch{arena_.control_word()};
      WAVEGATE_TRY(Command command, as_command(support(format("latch {}{}", node.label, invert ? " else" : ""),
                                                       latch_kernel, {latch, enclosing, predicate}, {invert})));
      out.push_back(std::move(command));
      latched.emplace_back(body, latch);
    }
    for (const auto& [body, latch] : latched) WAVEGATE_CHECK(lower_body(*body, latch, out, depth + 1));
    return {};
  }

  static Result<Command> as_command(Result<graph::Dispatch> dispatch) {
    if (!dispatch) return std::move(dispatch).error();
    return Command(std::move(dispatch).value());
  }

  Result<void> lower(const program::While& node, Word enclosing, std::vector<Command>& out, uint32_t depth) {
    if (!node.bounds.max)
      return unsupported(format("while \"{}\": the gate strategy needs a bound; give max", node.label));
    const uint32_t min = node.bounds.min;
    report(&node, depth, format("while \"{}\"", node.label),
           format("{} iterations spelled out, the first {} untested; one latch an iteration, one gate a command",
                  *node.bounds.max, min));

    const Word predicate = scalar_words_[node.predicate.id];
    const Word latch{arena_.control_word()};
    const Word trips = loops_[node.loop.id].trips;
    const Word converged = loops_[node.loop.id].converged;

    // Only where nothing conditions the loop do its first `min` iterations run bare; elsewhere one body behind the
    // loop's own latch serves all, so that nested loops do not double their bodies at every level.
    const uint32_t bare = enclosing.index == always_.index ? min : 0;
    if (bare > 0) {
      auto repeat = std::make_shared<graph::Repeat>();
      repeat->label = format("{}, untested", node.label);
      repeat->count = bare;
      WAVEGATE_CHECK(lower_body(node.body, enclosing, repeat->body, depth + 1));
      out.push_back(std::shared_ptr<const graph::Repeat>(std::move(repeat)));
    }
    WAVEGATE_TRY(Command enter, as_command(support(format("enter {}", node.label), loop_enter_kernel,
                                                   {latch, trips, enclosing}, {bare})));
    out.push_back(std::move(enter));
    if (*node.bounds.max > bare) {
      auto repeat = std::make_shared<graph::Repeat>();
      repeat->label = node.label;
      repeat->count = *node.bounds.max - bare;
      WAVEGATE_TRY(Command test, as_command(support(format("test {}", node.label), loop_test_kernel,
                                                    {latch, trips, predicate}, {min})));
      repeat->body.push_back(std::move(test));
      WAVEGATE_CHECK(lower_body(node.body, latch, repeat->body, depth + 1));
      out.push_back(std::shared_ptr<const graph::Repeat>(std::move(repeat)));
    }
    WAVEGATE_TRY(Command exit, as_command(support(format("exit {}", node.label), loop_exit_kernel,
                                                  {converged, enclosing, predicate}, {})));
    out.push_back(std::move(exit));
    return {};
  }

  /// A region that is lowered twice is reported once.
  void report(const void* node, uint32_t depth, std::string label, std::string reason) {
    if (reported_.insert(node).second) plan_.regions.push_back({depth, std::move(label), "gate", std::move(reason)});
  }

  const Program& program_;
  const target::Profile& profile_;
  KernelTable kernels_;
  std::shared_ptr<graph::Graph> graph_;
  Plan plan_;
  ArenaLayout arena_;
  Word always_;
  std::vector<Word> scalar_words_;
  std::vector<LoopWords> loops_;  ///< by program::Loop::id
  graph::BufferId arena_buffer_{};
  graph::BufferId arguments_buffer_{};
  uint32_t arguments_words_ = 0;
  std::set<const void*> reported_;
};

}  // namespace

Result<Plan> lower(const Program& program, const target::Profile& profile) {
  WAVEGATE_TRY(const Program expanded, program::expand(program, profile));
  WAVEGATE_CHECK(program::verify(expanded));
  return Lowering(expanded, profile).run();
}

}  // namespace wavegate::lowering
