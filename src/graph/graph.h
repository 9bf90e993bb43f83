#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel_code.h"

namespace wavegate::graph {

/// Index into Graph::buffers.
enum class BufferId : uint32_t {};
/// Index into Graph::kernels.
enum class KernelId : uint32_t {};

/// Initial contents of a buffer: bytes, or one word repeated.
struct Contents {
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< exactly the buffer's size; null: `word` repeated
  uint32_t word = 0;
};

/// A buffer of a graph. Its memory is the device's, or the application's if it is external.
struct Buffer {
  std::string name;
  uint64_t bytes = 0;     ///< a multiple of 4, not 0
  bool external = false;  ///< bound before the run; no initial contents
  bool indirect = false;  ///< a dispatch reads its grid here
  bool output = false;    ///< copied for the host at the end of every run
  bool observed = false;  ///< the host looks at it while a run goes on; not external
  std::optional<Contents> initial = {};
};

/// A byte range of a buffer.
struct Range {
  BufferId buffer{};
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// What a command touches: the unit of hazard tracking.
struct Use {
  Range range;
  kir::Access access = kir::Access::read;
};

using Kernel = kir::KernelCode;
using kir::interface_of;

/// How many ranges a dispatch of the kernel binds: see Dispatch::bindings.
uint32_t binding_count(const Kernel& kernel);

/// How many launch words a dispatch of the kernel has. An opaque kernel sees its scalar bindings as buffers, so that
/// its words are its parameters alone.
uint32_t word_count(const Kernel& kernel);

/// Exact number of workgroups.
using Grid = std::array<uint32_t, 3>;

/// Runs a kernel. `bindings` are what its descriptors see: the storage buffers in order, then the arena if it
/// has scalar bindings; an opaque kernel's bindings in declaration order. `words` are its launch words.
struct Dispatch {
  std::string label;
  KernelId kernel{};
  std::vector<Range> bindings;
  std::vector<uint32_t> words;
  std::vector<Use> uses = {};          ///< without the indirect arguments
  Grid grid = {1, 1, 1};               ///< declared; with `indirect`, the largest that the device may compute
  std::optional<Range> indirect = {};  ///< 12 bytes that hold the grid
};

/// Copies equal-sized, non-overlapping ranges.
struct Copy {
  std::string label;
  Range source;
  Range destination;
};

/// Fills a range, offset and size multiples of 4, with a word.
struct Fill {
  std::string label;
  Range destination;
  uint32_t word = 0;
};

struct Repeat;
struct Conditional;
struct Loop;
using Command = std::variant<Dispatch, Copy, Fill, std::shared_ptr<const Repeat>, std::shared_ptr<const Conditional>,
                             std::shared_ptr<const Loop>>;

/// Runs its body a fixed number of times; encoded as that many copies.
struct Repeat {
  std::string label;
  uint32_t count = 0;
  std::vector<Command> body;
};

/// Runs its body if the word `predicate` is not zero when control reaches it. The body holds dispatches and repeats of
/// them alone, and no other conditional: no API predicates more.
struct Conditional {
  std::string label;
  Range predicate;  ///< a word, not of an external buffer; nothing in the body writes it
  std::vector<Command> body;
};

/// Runs its body until the word `done` is not zero. A device may run the body more often, since it learns late that it
/// is done: a run that begins with `done` set must have no effect. Stands at the top level only; what is inside is
/// dispatches, copies, fills, repeats and conditionals.
struct Loop {
  std::string label;
  Range done;                       ///< a word of an observed buffer; something in the body writes it
  std::optional<uint64_t> maximum;  ///< the body need not run more often than this, whatever `done` says
  uint32_t first_chunk = 4;         ///< runs of the body in the first submission, not 0: see next_chunk()
  uint32_t largest_chunk = 128;     ///< not less than the first
  std::vector<Command> body;
};

/// How many runs follow `runs` others in one submission. As many as all of those, so that every chunk doubles the
/// whole, up to half of the largest; and the largest once that is little against what was run, since then what a
/// submission costs counts for more than what is in flight when the loop is done.
uint32_t next_chunk(const Loop& loop, uint64_t runs);

/// A structured command graph: plain data that any device can load. Commands run in order; a device may overlap
/// those whose uses do not conflict.
struct Graph {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Command> commands;
};

/// Ranges inside buffers and aligned, kernels and buffers that exist, bindings and words that fit the interface,
/// uses inside bindings, copies that do not overlap, conditionals and loops as declared above. The first mistake,
/// named; it is always the producer's bug.
Result<void> verify(const Graph& graph);

/// The number of commands after repeats are spelled out; the largest number if it is beyond that. A conditional is a
/// command itself, and a loop counts as its largest chunk.
uint64_t encoded_size(const std::vector<Command>& commands);

/// The first loop, if there is one: such a graph needs the host between its submission and its result.
const Loop* find_loop(const Graph& graph);

}  // namespace wavegate::graph
