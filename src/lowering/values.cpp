#include "wavegate/lowering/values.h"

#include <algorithm>
#include <cstring>

namespace wavegate::lowering {
namespace {

graph::Contents contents(const program::Initial& initial, uint64_t bytes, uint64_t padded) {
  if (!initial.bytes || bytes == padded) return {initial.bytes, initial.word};
  auto copy = std::make_shared<std::vector<std::byte>>(*initial.bytes);
  copy->resize(static_cast<std::size_t>(padded));
  return {std::move(copy), 0};
}

}  // namespace

Values::Values(program::Program program, const std::vector<bool>& aligned, uint32_t binding_alignment)
    : program_(std::move(program)), own_scalars_(program_.scalars().size()), alignment_(binding_alignment) {
  for (size_t i = 0; i < own_scalars_; ++i)
    words_.push_back(arena_.scalar_word(aligned[i] ? std::optional(alignment_) : std::nullopt));
  const auto next = static_cast<uint32_t>(program_.buffers().size());
  arena = graph::BufferId{next};
  arguments = graph::BufferId{next + 1};
  grids = graph::BufferId{next + 2};
  observed = graph::BufferId{next + 3};
}

program::Scalar Values::control(const std::string& name, bool aligned) {
  const program::Scalar scalar = program_.scalar(name, program::ScalarType::uint32, 0);
  words_.push_back(arena_.control_word(aligned ? std::optional(alignment_) : std::nullopt));
  return scalar;
}

program::Scalar Values::control(const std::string& name, program::ScalarType type) {
  words_.push_back(arena_.control_word(std::nullopt));
  return program_.scalar(name, type, 0);
}

graph::Range Values::range(program::Buffer buffer) const {
  return {graph::BufferId{buffer.id}, 0, program_.info(buffer).bytes()};
}

std::vector<graph::Buffer> Values::graph_buffers(uint64_t argument_words) const {
  std::vector<graph::Buffer> buffers;
  for (const program::BufferInfo& info : program_.buffers()) {
    graph::Buffer buffer;
    buffer.name = info.name;
    buffer.bytes = (info.bytes() + 3) / 4 * 4;
    buffer.external = info.external;
    buffer.output = info.output;
    if (info.initial) buffer.initial = contents(*info.initial, info.bytes(), buffer.bytes);
    buffers.push_back(std::move(buffer));
  }
  graph::Buffer scalars;
  scalars.name = "arena";
  scalars.bytes = std::max<uint64_t>(uint64_t{arena_.words()} * 4, 4);
  scalars.output = true;
  auto bytes = std::make_shared<std::vector<std::byte>>(scalars.bytes);
  for (size_t i = 0; i < own_scalars_; ++i) {
    const uint32_t bits = program_.scalars()[i].initial.value_or(0);
    std::memcpy(bytes->data() + uint64_t{words_[i]} * 4, &bits, 4);
  }
  scalars.initial = graph::Contents{std::move(bytes), 0};
  buffers.push_back(std::move(scalars));

  graph::Buffer indirect;
  indirect.name = "arguments";
  indirect.bytes = std::max<uint64_t>(argument_words * 4, 12);
  indirect.indirect = true;
  indirect.initial = graph::Contents{};
  buffers.push_back(indirect);
  graph::Buffer declared;
  declared.name = "grids";
  declared.bytes = indirect.bytes;
  declared.initial = graph::Contents{};
  buffers.push_back(declared);
  graph::Buffer watched;
  watched.name = "observed";
  watched.bytes = std::max<uint64_t>(uint64_t{observed_words_} * 4, 4);
  watched.observed = true;
  watched.initial = graph::Contents{};
  buffers.push_back(watched);
  return buffers;
}

}  // namespace wavegate::lowering
