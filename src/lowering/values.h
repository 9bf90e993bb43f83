#pragma once

#include <string>
#include <vector>

#include "wavegate/graph/graph.h"
#include "wavegate/lowering/arena.h"
#include "wavegate/lowering/plan.h"
#include "wavegate/program/program.h"

namespace wavegate::lowering {

/// Where the values of a program lie: buffers of the graph, words of the arena. Control words (latches, counters) are
/// scalars that are added to a copy of the program, so that expressions speak of both alike.
class Values {
 public:
  /// `aligned[i]`: scalar i is bound by an opaque kernel, whose descriptor must start on `binding_alignment` bytes.
  Values(program::Program program, const std::vector<bool>& aligned, uint32_t binding_alignment);

  const program::Program& program() const { return program_; }
  /// A new uint32 that is zero as each run starts. One that an opaque kernel binds is aligned.
  program::Scalar control(const std::string& name, bool aligned = false);
  /// The same of another type.
  program::Scalar control(const std::string& name, program::ScalarType type);
  uint32_t word(program::Scalar scalar) const { return words_[scalar.id]; }
  graph::Range range(program::Scalar scalar) const { return {arena, uint64_t{word(scalar)} * 4, 4}; }
  /// All of the program's buffer, without the padding to whole words.
  graph::Range range(program::Buffer buffer) const;
  /// A new word of the observed buffer, zero as each run starts.
  uint32_t observed_word() { return observed_words_++; }

  /// The graph's buffers: the program's, in order, then these. Sizes are right once all control words are there.
  std::vector<graph::Buffer> graph_buffers(uint64_t argument_words) const;
  graph::BufferId arena{}, arguments{}, grids{}, observed{};
  uint32_t arena_words() const { return arena_.words(); }
  uint32_t first_control_word() const { return arena_.scalar_words(); }
  uint32_t observed_words() const { return observed_words_; }

 private:
  program::Program program_;
  ArenaLayout arena_;
  std::vector<uint32_t> words_;  ///< by scalar
  size_t own_scalars_ = 0;       ///< of the program as it came
  uint32_t alignment_ = 0;
  uint32_t observed_words_ = 0;
};

}  // namespace wavegate::lowering
