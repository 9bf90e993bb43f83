#include "chain.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include "wavegate/base/format.h"

namespace wavegate::bench {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Scalar;

Result<Kernel> body_kernel() {
  Builder b("body", {kInvocations});
  auto state = b.buffer("state", Type::i32, Access::read_write);
  const Expr i = b.global_id();
  state[i] = static_cast<Expr>(state[i]) * 1664525u + 1013904223u;
  WAVEGATE_TRY(kir::Kernel kernel, b.finish());
  return program::make_kernel_source(std::move(kernel));
}

Result<Kernel> opaque_kernel(const std::string& path, std::string_view backend) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) return invalid_input("the body as a shader is not there; give --shader", path);
  kir::OpaqueKernel kernel;
  kernel.interface.name = "body";
  kernel.interface.workgroup_size = {kInvocations, 1, 1};
  kernel.interface.bindings = {{"state", kir::BindingKind::buffer, Type::i32, Access::read_write}};
  if (backend == "webgpu") {
    kernel.wgsl.assign(bytes.begin(), bytes.end());
  } else {
    kernel.spirv.resize(bytes.size() / 4);
    std::copy_n(bytes.data(), kernel.spirv.size() * 4, reinterpret_cast<char*>(kernel.spirv.data()));
  }
  return program::make_kernel_source(std::move(kernel));
}

namespace {

/// How often each loop of a nest runs, the outermost first: about the nesting'th root of the whole each, and exactly
/// the whole in all.
std::vector<uint32_t> trips_of(uint32_t needed, uint32_t nesting) {
  std::vector<uint32_t> trips;
  uint32_t rest = needed;
  for (uint32_t level = nesting; level > 1; --level) {
    auto trip = static_cast<uint32_t>(std::lround(std::pow(rest, 1.0 / level)));
    while (rest % trip != 0) --trip;
    trips.push_back(trip);
    rest /= trip;
  }
  trips.push_back(rest);
  return trips;
}

}  // namespace

Chain::Chain(const Kernel& kernel, const Case& what) {
  const Buffer state = program.buffer("state", Type::i32, kInvocations * what.workgroups, Initial::repeated(1u));
  iterations = program.scalar_u32("iterations", 0);
  active = program.scalar_u32("active", 1);
  const auto body = [&] {
    for (uint32_t k = 0; k < what.kernels; ++k)
      program.dispatch(
          {.label = "body", .kernel = kernel, .bindings = {state}, .grid = program::Grid{what.workgroups, 1, 1}});
  };
  if (what.strategy == kHostPolled) {
    const Scalar needed = program.parameter("needed", literal(what.needed));
    body();
    program.assign(iterations, iterations + 1);
    program.assign(active, iterations < needed);
    return;
  }
  program.assign(iterations, literal(0u));
  nest(trips_of(what.needed, what.nesting), 0, what, body);
}

void Chain::nest(const std::vector<uint32_t>& trips, uint32_t level, const Case& what,
                 const std::function<void()>& body) {
  const bool last = level + 1 == trips.size();
  const Scalar needed = program.parameter(format("needed.{}", level), literal(trips[level]));
  const Scalar count = program.scalar_u32(format("count.{}", level), 0);
  const Scalar more = program.scalar_u32(format("more.{}", level), 0);
  program.assign(count, literal(0u));
  program.assign(more, literal(1u));
  std::optional<uint32_t> max = trips[level];
  if (last && what.nesting == 1) max = what.bound;
  const uint32_t min = what.strategy == kDirect ? trips[level] : 0;
  if (what.strategy == kDirect) max = min;
  const program::Loop loop = program.while_(
      more, {.min = min, .max = max},
      [&] {
        if (last) {
          body();
          program.assign(iterations, iterations + 1);
        } else {
          nest(trips, level + 1, what, body);
        }
        program.assign(count, count + 1);
        program.assign(more, count < needed);
      },
      format("loop.{}", level));
  if (last) innermost = loop;
}

}  // namespace wavegate::bench
