#include <wavegate/wavegate.h>

#include <cstdio>
#include <cstdlib>

using namespace wavegate;

// Heat flows over a square plate with one hot edge until it is steady: until a step changes less than the tolerance,
// the first argument. The GPU decides, and keeps the history of the change. One submission, one wait.

constexpr uint32_t kSide = 32;
constexpr uint32_t kMaximum = 1000;

// A step: each cell takes the mean of its four neighbours; the rim is held.
Result<kir::Kernel> step() {
  kir::Builder b("step", {8, 8});
  auto old = b.buffer("old", kir::Type::f32, kir::Access::read);
  auto next = b.buffer("next", kir::Type::f32, kir::Access::write);
  auto change = b.buffer("change", kir::Type::f32, kir::Access::write);
  auto x = b.global_id(0), y = b.global_id(1);
  auto here = y * kSide + x;
  auto is_inside = (x - 1 < kSide - 2) & (y - 1 < kSide - 2);  // unsigned: 0 - 1 is large
  auto dx = b.select(is_inside, b.u32(1), b.u32(0));           // a cell of the rim is its own neighbour
  auto dy = b.select(is_inside, b.u32(kSide), b.u32(0));
  kir::Expr mean = 0.25f * ((old[here - dx] + old[here + dx]) + (old[here - dy] + old[here + dy]));
  change[here] = mean - old[here];
  next[here] = mean;
  return b.finish();
}

Result<void> flow(const char* tolerance_text) {
  WAVEGATE_TRY(kir::Kernel kernel, step());
  auto step_kernel = program::make_kernel_source(std::move(kernel));
  std::vector<float> start(kSide * kSide, 0.0f);
  std::fill_n(start.begin(), kSide, 100.0f);

  program::Program program("heat");
  auto u = program.buffer("u", kir::Type::f32, start.size(), program::Initial::copy_of(start));
  auto v = program.buffer("v", kir::Type::f32, start.size());
  auto changes = program.buffer("changes", kir::Type::f32, start.size());
  auto square = program.scalar("square", program::ScalarType::float32);
  auto change = program.scalar("change", program::ScalarType::float32);
  auto tolerance = program.parameter("tolerance", program::literal(0.01f));
  program::Buffer history;
  program.output(u);
  auto grid = program::grid_for({kSide, kSide, 1}, {8, 8, 1});
  auto loop = program.while_(change > tolerance, {.min = 1, .max = kMaximum}, [&] {
    program.dispatch({"there", step_kernel, {u, v, changes}, {}, grid, {}});
    program.dispatch({"back", step_kernel, {v, u, changes}, {}, grid, {}});
    ops::dot(program, changes, changes, square);
    program.assign(change, square_root(square));
    history = program.record(change);
  });

  WAVEGATE_TRY(auto device, open_device());
  WAVEGATE_TRY(Executable executable, compile(program, device));
  if (tolerance_text != nullptr)  // nothing is compiled anew
    WAVEGATE_CHECK(executable.set(tolerance, program::literal(std::strtof(tolerance_text, nullptr))));
  WAVEGATE_CHECK(executable.run());
  WAVEGATE_TRY(LoopReport report, executable.loop(loop));
  WAVEGATE_TRY(auto plate, executable.read<float>(u));
  WAVEGATE_TRY(auto changed, executable.read<float>(history));
  for (uint32_t i = 0; i < report.trips; i = 2 * i + 1) std::printf("step %4u changes %g\n", 2 * (i + 1), changed[i]);
  std::printf("%s after %u steps, %.1f in the middle\n",
              report.reason == ExitReason::converged ? "steady" : "still flowing", 2 * report.trips,
              plate[kSide * kSide / 2 + kSide / 2]);
  return {};
}

int main(int argc, char** argv) {
  const auto done = flow(argc > 1 ? argv[1] : nullptr);
  if (!done) return std::fprintf(stderr, "%s\n", done.error().to_string().c_str()), 1;
}
