#include "wavegate/graph/graph.h"

#include <algorithm>
#include <limits>

#include "wavegate/base/format.h"

namespace wavegate::graph {
namespace {

/// Repeats nest as deep as the loops that were unrolled; more would let a walk exhaust the stack.
constexpr uint32_t kDeepestRepeat = 64;

using RepeatPointer = std::shared_ptr<const Repeat>;
using ConditionalPointer = std::shared_ptr<const Conditional>;
using LoopPointer = std::shared_ptr<const Loop>;

uint64_t saturating_add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<uint64_t>::max() : sum;
}

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  return b != 0 && a > std::numeric_limits<uint64_t>::max() / b ? std::numeric_limits<uint64_t>::max() : a * b;
}

bool overlap(const Range& a, const Range& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool lies_inside(const Range& inner, const Range& outer) {
  return inner.buffer == outer.buffer && inner.offset >= outer.offset &&
         inner.offset + inner.bytes <= outer.offset + outer.bytes;
}

bool writes(const Dispatch& dispatch, const Range& range) {
  return std::ranges::any_of(dispatch.uses,
                             [&](const Use& use) { return kir::writes(use.access) && overlap(use.range, range); });
}
bool writes(const Copy& copy, const Range& range) {
  return overlap(copy.destination, range);
}
bool writes(const Fill& fill, const Range& range) {
  return overlap(fill.destination, range);
}

/// Does a command write some of the range? Precondition: the commands are verified.
bool writes(const std::vector<Command>& commands, const Range& range);

template <typename Block>
bool writes(const std::shared_ptr<const Block>& block, const Range& range) {
  return writes(block->body, range);
}

bool writes(const std::vector<Command>& commands, const Range& range) {
  return std::ranges::any_of(commands, [&](const Command& command) {
    return std::visit([&](const auto& c) { return writes(c, range); }, command);
  });
}

/// What a command stands in.
struct Place {
  uint32_t depth = 0;                        ///< of repeats
  const Conditional* conditional = nullptr;  ///< the one around, however far out
  std::string block = {};                    ///< the next block around, by kind and name; empty: the top level
};

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Result<void> run() {
    for (const Buffer& buffer : graph_.buffers) WAVEGATE_CHECK(verify_buffer(buffer));
    for (size_t i = 0; i < graph_.kernels.size(); ++i) {
      if (std::visit([](const auto& kernel) { return kernel == nullptr; }, graph_.kernels[i])) {
        return mistake(format("kernel {} is null", i));
      }
    }
    return verify_commands(graph_.commands, Place{});
  }

 private:
  Error mistake(const std::string& what) const { return internal_error(format("graph \"{}\": {}", graph_.name, what)); }

  std::string text(const Range& range) const {
    const auto index = static_cast<uint32_t>(range.buffer);
    const std::string name = index < graph_.buffers.size() ? graph_.buffers[index].name : format("#{}", index);
    return format("\"{}\"[{}, {})", name, range.offset, saturating_add(range.offset, range.bytes));
  }

  Result<void> verify_buffer(const Buffer& buffer) const {
    const auto wrong = [&](const std::string& what) { return mistake(format("buffer \"{}\" {}", buffer.name, what)); };
    if (buffer.bytes == 0) return wrong("has no bytes; the smallest buffer has 4");
    if (buffer.bytes % 4 != 0) return wrong(format("has {} bytes, which is not a multiple of 4", buffer.bytes));
    if (buffer.external && buffer.observed) {
      return wrong("is external and observed; the host need not see memory of the application");
    }
    if (!buffer.initial) return {};
    if (buffer.external) return wrong("is external and has initial contents; its memory is the application's");
    if (buffer.initial->bytes && buffer.initial->bytes->size() != buffer.bytes) {
      return wrong(
          format("has {} bytes, but {} bytes of initial contents", buffer.bytes, buffer.initial->bytes->size()));
    }
    return {};
  }

  /// Devices move and fill whole words; what a kernel sees may end anywhere.
  enum class End { on_a_word, anywhere };

  Result<void> verify_range(const Range& range, const std::string& where, End end = End::on_a_word) const {
    const auto index = static_cast<uint32_t>(range.buffer);
    if (index >= graph_.buffers.size()) {
      return mistake(format("{} names buffer {}; there are {}", where, index, graph_.buffers.size()));
    }
    const uint64_t size = graph_.buffers[index].bytes;
    if (range.offset % 4 != 0 || (end == End::on_a_word && range.bytes % 4 != 0)) {
      return mistake(format("{} is {}: offset and size must be multiples of 4", where, text(range)));
    }
    if (range.bytes == 0) return mistake(format("{} is {}: it has no bytes", where, text(range)));
    if (range.bytes > size || range.offset > size - range.bytes) {
      return mistake(format("{} is {}: the buffer ends at {}", where, text(range), size));
    }
    return {};
  }

  Result<void> verify_commands(const std::vector<Command>& commands, const Place& place) const {
    for (const Command& command : commands)
      WAVEGATE_CHECK(std::visit([&](const auto& c) { return verify_command(c, place); }, command));
    return {};
  }

  Result<void> verify_command(const Fill& fill, const Place& place) const {
    if (place.conditional) return not_predicated("fill", fill.label, place);
    return verify_range(fill.destination, format("the destination of fill \"{}\"", fill.label));
  }

  Result<void> verify_command(const Copy& copy, const Place& place) const {
    if (place.conditional) return not_predicated("copy", copy.label, place);
    WAVEGATE_CHECK(verify_range(copy.source, format("the source of copy \"{}\"", copy.label)));
    WAVEGATE_CHECK(verify_range(copy.destination, format("the destination of copy \"{}\"", copy.label)));
    if (copy.source.bytes != copy.destination.bytes) {
      return mistake(
          format("copy \"{}\" copies {} bytes to {} bytes", copy.label, copy.source.bytes, copy.destination.bytes));
    }
    if (overlap(copy.source, copy.destination)) {
      return mistake(format("copy \"{}\": its source {} and destination {} overlap", copy.label, text(copy.source),
                            text(copy.destination)));
    }
    return {};
  }

  Error not_predicated(std::string_view kind, const std::string& label, const Place& place) const {
    return mistake(format("{} \"{}\" stands in conditional \"{}\", which holds dispatches and repeats of them alone",
                          kind, label, place.conditional->label));
  }

  Result<void> verify_command(const RepeatPointer& repeat, const Place& place) const {
    if (!repeat) return mistake("a repeat is null");
    if (place.depth >= kDeepestRepeat) {
      return mistake(format("repeat \"{}\" is nested deeper than {}", repeat->label, kDeepestRepeat));
    }
    return verify_commands(repeat->body, {place.depth + 1, place.conditional, format("repeat \"{}\"", repeat->label)});
  }

  Result<void> verify_command(const ConditionalPointer& conditional, const Place& place) const {
    if (!conditional) return mistake("a conditional is null");
    if (place.conditional) return not_predicated("conditional", conditional->label, place);
    const std::string where = format("conditional \"{}\"", conditional->label);
    const Range& predicate = conditional->predicate;
    WAVEGATE_CHECK(verify_word(predicate, format("the predicate of {}", where)));
    const Buffer& buffer = graph_.buffers[static_cast<uint32_t>(predicate.buffer)];
    if (buffer.external) {
      return mistake(
          format("the predicate of {} lies in buffer \"{}\", which is external; its memory need not be made "
                 "for predicates",
                 where, buffer.name));
    }
    WAVEGATE_CHECK(verify_commands(conditional->body, {place.depth, conditional.get(), where}));
    if (writes(conditional->body, predicate)) {
      return mistake(format("the body of {} writes its predicate {}", where, text(predicate)));
    }
    return {};
  }

  Result<void> verify_command(const LoopPointer& loop, const Place& place) const {
    if (!loop) return mistake("a loop is null");
    const std::string where = format("loop \"{}\"", loop->label);
    if (!place.block.empty()) {
      return mistake(format("{} stands in {}; a loop stands at the top level only", where, place.block));
    }
    WAVEGATE_CHECK(verify_word(loop->done, format("the done word of {}", where)));
    const Buffer& buffer = graph_.buffers[static_cast<uint32_t>(loop->done.buffer)];
    if (!buffer.observed) {
      return mistake(
          format("the done word of {} lies in buffer \"{}\", which is not marked observed", where, buffer.name));
    }
    if (loop->first_chunk == 0 || loop->first_chunk > loop->largest_chunk) {
      return mistake(format("{} starts with a chunk of {} runs and has chunks of up to {}", where, loop->first_chunk,
                            loop->largest_chunk));
    }
    WAVEGATE_CHECK(verify_commands(loop->body, {place.depth, nullptr, where}));
    if (!writes(loop->body, loop->done)) {
      return mistake(format("nothing in the body of {} writes its done word {}", where, text(loop->done)));
    }
    return {};
  }

  /// A word that is a predicate or tells that a loop is done.
  Result<void> verify_word(const Range& word, const std::string& where) const {
    WAVEGATE_CHECK(verify_range(word, where));
    if (word.bytes == 4) return {};
    return mistake(format("{} is {}: it takes 4 bytes", where, text(word)));
  }

  Result<void> verify_command(const Dispatch& dispatch, const Place&) const {
    const std::string where = format("dispatch \"{}\"", dispatch.label);
    const auto index = static_cast<uint32_t>(dispatch.kernel);
    if (index >= graph_.kernels.size()) {
      return mistake(format("{} names kernel {}; there are {}", where, index, graph_.kernels.size()));
    }
    const Kernel& kernel = graph_.kernels[index];
    if (dispatch.bindings.size() != binding_count(kernel)) {
      return mistake(format("{} binds {} ranges; kernel \"{}\" takes {}", where, dispatch.bindings.size(),
                            interface_of(kernel).name, binding_count(kernel)));
    }
    if (dispatch.words.size() != word_count(kernel)) {
      return mistake(format("{} has {} launch words; kernel \"{}\" takes {}", where, dispatch.words.size(),
                            interface_of(kernel).name, word_count(kernel)));
    }
    for (size_t i = 0; i < dispatch.bindings.size(); ++i)
      WAVEGATE_CHECK(verify_range(dispatch.bindings[i], format("binding {} of {}", i, where), End::anywhere));
    for (const Use& use : dispatch.uses) WAVEGATE_CHECK(verify_use(dispatch, kernel, use, where));
    return verify_indirect(dispatch, where);
  }

  Result<void> verify_use(const Dispatch& dispatch, const Kernel& kernel, const Use& use,
                          const std::string& where) const {
    WAVEGATE_CHECK(verify_range(use.range, format("a use of {}", where), End::anywhere));
    bool is_bound = false;
    bool is_writable = false;
    for (uint32_t i = 0; i < dispatch.bindings.size(); ++i) {
      if (!lies_inside(use.range, dispatch.bindings[i])) continue;
      is_bound = true;
      is_writable = is_writable || writes_binding(kernel, i);
    }
    if (!is_bound) return mistake(format("{} uses {}, which lies in none of its bindings", where, text(use.range)));
    if (kir::writes(use.access) && !is_writable) {
      return mistake(format("{} is said to write {}, but kernel \"{}\" only reads that binding", where, text(use.range),
                            interface_of(kernel).name));
    }
    return {};
  }

  /// Can the kernel write what its descriptor `binding` sees? The arena, which is last, if it writes any scalar.
  static bool writes_binding(const Kernel& kernel, uint32_t binding) {
    const kir::Interface& interface = interface_of(kernel);
    const bool is_opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel);
    uint32_t ordinal = 0;
    for (const kir::BindingInfo& info : interface.bindings) {
      const bool is_scalar = !is_opaque && info.kind == kir::BindingKind::scalar;
      const uint32_t descriptor = is_scalar ? interface.buffer_count() : ordinal++;
      if (descriptor == binding && kir::writes(info.access)) return true;
    }
    return false;
  }

  Result<void> verify_indirect(const Dispatch& dispatch, const std::string& where) const {
    if (!dispatch.indirect) return {};
    WAVEGATE_CHECK(verify_range(*dispatch.indirect, format("the grid of {}", where)));
    if (dispatch.indirect->bytes != 12) {
      return mistake(format("the grid of {} is {}: it takes 12 bytes", where, text(*dispatch.indirect)));
    }
    const Buffer& buffer = graph_.buffers[static_cast<uint32_t>(dispatch.indirect->buffer)];
    if (!buffer.indirect) {
      return mistake(format("the grid of {} lies in buffer \"{}\", which is not marked indirect", where, buffer.name));
    }
    return {};
  }

  const Graph& graph_;
};

}  // namespace

uint32_t binding_count(const Kernel& kernel) {
  const kir::Interface& interface = interface_of(kernel);
  if (std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel)) {
    return static_cast<uint32_t>(interface.bindings.size());
  }
  return interface.buffer_count() + (interface.scalar_count() != 0 ? 1 : 0);
}

uint32_t word_count(const Kernel& kernel) {
  const kir::Interface& interface = interface_of(kernel);
  const bool is_opaque = std::holds_alternative<std::shared_ptr<const kir::OpaqueKernel>>(kernel);
  return interface.launch_words() - (is_opaque ? interface.scalar_count() : 0);
}

uint32_t next_chunk(const Loop& loop, uint64_t runs) {
  constexpr uint64_t kLittle = 16;
  if (runs / kLittle >= loop.largest_chunk) return loop.largest_chunk;
  return static_cast<uint32_t>(std::min<uint64_t>(runs, std::max(loop.first_chunk, loop.largest_chunk / 2)));
}

Result<void> verify(const Graph& graph) {
  return Verifier(graph).run();
}

namespace {

template <typename Plain>
uint64_t size_of(const Plain&) {
  return 1;
}
uint64_t size_of(const RepeatPointer& repeat) {
  return saturating_multiply(repeat->count, encoded_size(repeat->body));
}
uint64_t size_of(const ConditionalPointer& conditional) {
  return saturating_add(1, encoded_size(conditional->body));
}
uint64_t size_of(const LoopPointer& loop) {
  const uint64_t largest = loop->largest_chunk;
  return saturating_multiply(loop->maximum ? std::min(largest, *loop->maximum) : largest, encoded_size(loop->body));
}

}  // namespace

uint64_t encoded_size(const std::vector<Command>& commands) {
  uint64_t size = 0;
  for (const Command& command : commands)
    size = saturating_add(size, std::visit([](const auto& c) { return size_of(c); }, command));
  return size;
}

const Loop* find_loop(const Graph& graph) {
  for (const Command& command : graph.commands)
    if (const auto* loop = std::get_if<LoopPointer>(&command)) return loop->get();
  return nullptr;
}

}  // namespace wavegate::graph
