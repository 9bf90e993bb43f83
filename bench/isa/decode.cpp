// Instructions decoded a second of processor time on one thread: wavegate-bench-isa [FILE.bin TARGET]. Without a file,
// a mix of words that are instructions of gfx1030 and random in all else. The floor that decoding is held to is 20
// million a second.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "wavegate/amdgpu/isa/decode.h"

namespace {

namespace isa = wavegate::amdgpu::isa;
constexpr double kFloor = 20e6;

/// Random words, kept where they decode.
std::vector<std::uint32_t> random_code(isa::Target target, std::size_t size) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> words;
  isa::Instruction instruction;
  while (words.size() < size) {
    std::uint32_t candidate[4];
    for (std::uint32_t& word : candidate) word = static_cast<std::uint32_t>(random());
    if (isa::try_decode(candidate, target, isa::WaveWidth::wave32, instruction))
      words.insert(words.end(), candidate, candidate + instruction.words);
  }
  return words;
}

std::vector<std::uint32_t> read_words(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::uint32_t> words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), 4 * words.size());
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  isa::Target target = isa::Target::gfx1030;
  if (argc > 2) {
    const auto id = isa::parse_target(argv[2]);
    if (!id.ok()) {
      std::fprintf(stderr, "%s\n", id.error().to_string().c_str());
      return 2;
    }
    target = id->target;
  }
  const std::vector<std::uint32_t> words = argc > 1 ? read_words(argv[1]) : random_code(target, 1 << 16);
  const isa::WaveWidth wave = isa::info(target).wave32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
  isa::Instruction instruction;
  double best = 0;
  unsigned check = 0;
  std::size_t decoded = 0;
  for (int round = 0; round < 20; ++round) {
    decoded = 0;
    const std::clock_t start = std::clock();
    for (std::size_t at = 0; at < words.size();) {
      const bool ok = isa::try_decode(std::span(words).subspan(at), target, wave, instruction);
      at += ok ? instruction.words : 1;
      decoded += ok;
      check += instruction.operands[0].value;
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::max(best, static_cast<double>(decoded) / std::max(seconds, 1e-9));
  }
  std::printf("%s: %zu instructions, %.1f million/s on one thread (floor %.0f), check %u\n",
              std::string(isa::to_string(target)).c_str(), decoded, best / 1e6, kFloor / 1e6, check);
  return best >= kFloor ? 0 : 1;
}
