#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "amdgpu/corpora/reference_generators.h"

/// The states of rocRAND's generators, as its kernels have them in memory.
namespace wavegate::amdgpu::corpora {

struct alignas(16) PhiloxEngine {
  std::array<u32, 4> counter, result;
  std::array<u32, 2> key;
  u32 taken;  ///< numbers of `result` that were given already
};

using MrgEngine = std::array<u32, 6>;

struct XorwowEngine {
  u32 d = 0;
  std::array<u32, 5> x{};
};

struct MtgpEngine {
  std::int32_t offset = 0, id = 0;
  std::array<u32, 1024> status{};
  u32 position = 0;
  std::array<u32, 16> recursion{}, tempering{};
  u32 shift1 = 0, shift2 = 0;
  std::array<u32, 16> single_tempering{};
  u32 mask = 0;
};
static_assert(sizeof(MtgpEngine) == 4312);

/// The library's own parameters, which it has for its host: the exponent, a position, two shifts, tables of 16 words
/// for the recursion, tempering and floats, the mask, and a digest.
inline std::optional<MtgpParameters> find_parameters(std::span<const std::byte> file, std::size_t number) {
  constexpr std::size_t kBytes = 4 * 4 + 3 * 64 + 4 + 24;
  constexpr u32 kStart[] = {11213, 19, 13, 4, 0};
  const auto bytes = std::as_bytes(std::span(kStart));
  const auto found = std::search(file.begin(), file.end(), bytes.begin(), bytes.end());
  const std::size_t at = static_cast<std::size_t>(found - file.begin()) + number * kBytes;
  if (at + kBytes > file.size()) return std::nullopt;
  std::array<u32, kBytes / 4> words;
  std::memcpy(words.data(), file.data() + at, kBytes);
  if (words[0] != 11213 || words[4] != 0) return std::nullopt;
  MtgpParameters parameters{words[1], words[2], words[3], words[52], {}, {}};
  std::copy_n(words.begin() + 4, 16, parameters.recursion.begin());
  std::copy_n(words.begin() + 20, 16, parameters.tempering.begin());
  return parameters;
}

inline std::vector<u32> mtgp_words(u32 stream) {
  std::vector<u32> words(351);
  for (u32 i = 0; i < words.size(); ++i) words[i] = philox({i, stream, 0, 0}, {1, 2})[0];
  return words;
}
inline MtgpEngine mtgp_engine(const MtgpParameters& parameters, const std::vector<u32>& words) {
  MtgpEngine engine;
  std::copy(words.begin(), words.end(), engine.status.begin());
  engine.position = parameters.position;
  engine.recursion = parameters.recursion;
  engine.tempering = parameters.tempering;
  engine.shift1 = parameters.shift1;
  engine.shift2 = parameters.shift2;
  engine.mask = parameters.mask;
  return engine;
}

}  // namespace wavegate::amdgpu::corpora
