#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "wavegate/amdgpu/wave/emulate.h"

/// Lane-instructions a second of the interpreter: wavegate-bench-wave [OBJECT.hsaco]. A lane-instruction is a vector
/// instruction of a lane that is active; scalar ones are not counted.
namespace {

using namespace wavegate;
using namespace wavegate::amdgpu;

constexpr std::uint32_t kItems = 262144, kWidth = 256, kMost = 200;

struct Bench {
  wave::GuestMemory memory;
  std::unique_ptr<wave::Module> module;
  std::vector<std::uint32_t> x = std::vector<std::uint32_t>(kItems, 0x3f800000u),
                             y = std::vector<std::uint32_t>(kItems);
  std::uint64_t x_address = 0, y_address = 0;
};

template <typename T>
Result<void> set(const Bench& bench, wave::Launch& launch, std::string_view name, T value) {
  return launch.set(*bench.module, name, std::as_bytes(std::span(&value, 1)));
}

/// The fastest of the runs of half a second: others use the machine, too.
Result<wave::Report> fastest(Bench& bench, const wave::Launch& launch, unsigned threads) {
  wave::Options options;
  options.host_threads = threads;
  WAVEGATE_TRY(wave::Report best, wave::run(*bench.module, bench.memory, launch, options));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end) {
    WAVEGATE_TRY(wave::Report report, wave::run(*bench.module, bench.memory, launch, options));
    if (report.seconds < best.seconds) best = std::move(report);
  }
  return best;
}

void print(const char* name, unsigned threads, const wave::Report& report, double iterations) {
  std::printf("%-12s %7s  %7.3f G lane-instructions/s  %8.1f ms", name, threads == 1 ? "1 thread" : "all",
              static_cast<double>(report.lane_instructions) / report.seconds * 1e-9, report.seconds * 1e3);
  if (iterations > 0) std::printf("  %7.1f M lane-iterations/s", iterations / report.seconds * 1e-6);
  std::printf("\n");
}

Result<void> measure(const std::vector<std::byte>& file) {
  Bench bench;
  WAVEGATE_TRY(object::CodeObject object, object::parse_code_object(file));
  WAVEGATE_TRY(bench.module, wave::Module::load(std::move(object), bench.memory));
  bench.x_address = bench.memory.map(std::as_writable_bytes(std::span(bench.x)), "x");
  bench.y_address = bench.memory.map(std::as_writable_bytes(std::span(bench.y)), "y");
  wave::Launch saxpy{"saxpy", {kItems, 1, 1}, {256, 1, 1}};
  WAVEGATE_CHECK(set(bench, saxpy, "0", kItems));
  WAVEGATE_CHECK(set(bench, saxpy, "1", 2.0f));
  WAVEGATE_CHECK(set(bench, saxpy, "2", bench.x_address));
  WAVEGATE_CHECK(set(bench, saxpy, "3", bench.y_address));
  wave::Launch mandelbrot{"mandelbrot", {kWidth * kWidth, 1, 1}, {256, 1, 1}};
  WAVEGATE_CHECK(set(bench, mandelbrot, "0", kWidth));
  WAVEGATE_CHECK(set(bench, mandelbrot, "1", kWidth));
  WAVEGATE_CHECK(set(bench, mandelbrot, "2", kMost));
  WAVEGATE_CHECK(set(bench, mandelbrot, "3", bench.y_address));
  for (const unsigned threads : {1u, 0u}) {
    WAVEGATE_TRY(const wave::Report one, fastest(bench, saxpy, threads));
    print("saxpy", threads, one, 0);
    WAVEGATE_TRY(const wave::Report other, fastest(bench, mandelbrot, threads));
    print("mandelbrot", threads, other, std::accumulate(bench.y.begin(), bench.y.begin() + kWidth * kWidth, 0.0));
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : WAVEGATE_AMD_KERNELS_DIR "/groups.gfx1100.w32.hsaco";
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  const auto result = measure({bytes.begin(), bytes.end()});
  if (result.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", path.c_str(), result.error().to_string().c_str());
  return 1;
}
