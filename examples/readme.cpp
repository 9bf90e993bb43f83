#include <wavegate/wavegate.h>

#include <cstdio>

using namespace wavegate;

// Square roots by Newton's method. How often to step is decided on the GPU; the host waits once.
Result<std::vector<float>> square_roots(const std::vector<float>& numbers) {
  kir::Builder b("newton", {64});
  auto a = b.buffer("a", kir::Type::f32, kir::Access::read);
  auto x = b.buffer("x", kir::Type::f32, kir::Access::read_write);
  auto change = b.buffer("change", kir::Type::f32, kir::Access::write);
  auto i = b.global_id();
  b.if_(i < x.length(), [&] {
    kir::Expr next = 0.5f * (x[i] + a[i] / x[i]);
    change[i] = next - x[i];
    x[i] = next;
  });
  WAVEGATE_TRY(kir::Kernel kernel, b.finish());
  auto newton = program::make_kernel_source(std::move(kernel));

  program::Program program("square roots");
  auto count = static_cast<uint32_t>(numbers.size());
  auto given = program.buffer("given", kir::Type::f32, count, program::Initial::copy_of(numbers));
  auto roots = program.buffer("roots", kir::Type::f32, count, program::Initial::repeated(1.0f));
  auto changes = program.buffer("changes", kir::Type::f32, count);
  auto square = program.scalar_f32("square", 0);
  auto moving = program.scalar_u32("moving", 1);
  program.output(roots);
  auto grid = program::grid_for({count, 1, 1}, {64, 1, 1});
  program.while_(moving, {.min = 0, .max = 100}, [&] {
    program.dispatch({"step", newton, {given, roots, changes}, {}, grid, {}});
    ops::dot(program, changes, changes, square);
    program.assign(moving, square > 1e-6f);
  });

  WAVEGATE_TRY(auto device, open_device());
  WAVEGATE_TRY(Executable executable, compile(program, device));
  WAVEGATE_CHECK(executable.run());
  return executable.read<float>(roots);
}

int main() {
  Result<std::vector<float>> roots = square_roots({2, 9, 1e6f});
  if (!roots) return std::fprintf(stderr, "%s\n", roots.error().to_string().c_str()), 1;
  for (float root : *roots) std::printf("%g\n", root);
}
