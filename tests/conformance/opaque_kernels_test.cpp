#include <fstream>

#include "conformance/ways.h"

namespace wavegate::conformance {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;
using program::Buffer;
using program::Initial;
using program::literal;
using program::Program;
using program::Scalar;
using program::ScalarExpr;
using testing::Each;
using testing::HasSubstr;

std::vector<uint32_t> compiled_shader(const std::string& name) {
  std::ifstream file(WAVEGATE_SPIRV_DIR "/vulkan1.1/" + name + ".spv", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<uint32_t> words(bytes.size() / 4);
  std::copy_n(bytes.data(), words.size() * 4, reinterpret_cast<char*>(words.data()));
  return words;
}

/// A kernel given three times: as GLSL that was compiled, for devices that take SPIR-V, as WGSL for those that take
/// that, and as kir for the others.
std::shared_ptr<const program::KernelSource> thrice(kir::Kernel kernel, const std::string& shader, std::string wgsl) {
  kir::OpaqueKernel spirv_module, wgsl_module;
  spirv_module.interface = wgsl_module.interface = kernel.interface;
  spirv_module.spirv = compiled_shader(shader);
  wgsl_module.wgsl = std::move(wgsl);
  return value_of(program::make_kernel_source(program::KernelSources{
      .kir = std::move(kernel), .spirv = std::move(spirv_module), .wgsl = std::move(wgsl_module)}));
}

constexpr const char* kCountUp = R"(
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: u32;
@group(1) @binding(0) var<uniform> amount: u32;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x == 0u) { count += 1u; }
  if (id.x < arrayLength(&data)) { data[id.x] += amount; }
}
)";

constexpr const char* kReverse = R"(
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> words: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32,
                                     @builtin(global_invocation_id) id: vec3<u32>) {
  words[lane] = data[id.x];
  workgroupBarrier();
  data[id.x] = words[63u - lane] + lane;
}
)";

std::shared_ptr<const program::KernelSource> count_up() {
  Builder b("count_up", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto count = b.scalar("count", Type::i32, Access::read_write);
  auto amount = b.parameter("amount", Type::i32);
  const Expr i = b.global_id();
  b.if_(i == 0, [&] { count = count + 1; });
  b.if_(i < data.length(), [&] { data[i] = data[i] + amount; });
  return thrice(value_of(b.finish()), "count_up", kCountUp);
}

std::shared_ptr<const program::KernelSource> reverse() {
  Builder b("reverse", {64});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  auto words = b.workgroup_array("words", Type::i32, 64);
  const Expr lane = b.local_id(), i = b.global_id();
  words[lane] = data[i];
  b.barrier();
  data[i] = words[b.u32(63) - lane] + lane;
  return thrice(value_of(b.finish()), "reverse", kReverse);
}

/// A module is no part of another kernel.
const Refused kModule = refused({Strategy::producer, Strategy::unroll});

class OpaqueKernels : public ConformanceTest {
 protected:
  /// Where a module runs as it is it cannot be part of a resident kernel; elsewhere the kir kernel can.
  Refused and_resident(Refused refused) const {
    if (target::module_language(device()->profile()) != target::ModuleLanguage::none)
      refused.strategies.insert(Strategy::resident);
    return refused;
  }
};

TEST_P(OpaqueKernels, ObeyPredicatesLoopsAndWhatTheyWriteThemselves) {
  Program program("modules");
  const Buffer data = program.buffer("data", Type::i32, 1000, Initial::zero());
  const Buffer tile = program.buffer("tile", Type::i32, 128, Initial::zero());
  const Scalar before = program.scalar_u32("before", 0), count = program.scalar_u32("count", 0);
  const auto counting = count_up();
  const auto reversing = reverse();
  const auto loop = program.while_(count < 5, {.max = 12}, [&] {
    program.assign(before, count);
    program.if_(
        program::equal(count, 2u), [&] { add(program, data, 1000); },
        [&] {
          program.dispatch(
              {.label = "reverse", .kernel = reversing, .bindings = {tile}, .grid = program::Grid{2, 1, 1}});
        });
    program.dispatch({.label = "count up",
                      .kernel = counting,
                      .bindings = {data, count},
                      .parameters = {literal(7u)},
                      .grid = program::Grid{16, 1, 1}});
  });
  std::vector<uint32_t> expected(128, 0);
  for (int round = 0; round < 4; ++round)
    for (size_t group = 0; group < 2; ++group) {
      std::reverse(expected.begin() + group * 64, expected.begin() + (group + 1) * 64);
      for (uint32_t lane = 0; lane < 64; ++lane) expected[group * 64 + lane] += lane;
    }
  in_every_way(program, device(), and_resident(kModule), [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(1035u));
    EXPECT_EQ(value_of(executable.read<uint32_t>(tile)), expected);
    EXPECT_EQ(value_of(executable.read_bits(before)), 4u);
    EXPECT_THAT(report(executable, loop), Reports(5u, ExitReason::converged));
  });
}

TEST_P(OpaqueKernels, EndAnUnboundedLoopByWhatTheyWrite) {
  Program program("open");
  const Buffer data = program.buffer("data", Type::i32, 100, Initial::zero());
  const Scalar count = program.scalar_u32("count", 0);
  const auto counting = count_up();
  const auto loop = program.while_(count < 77, {}, [&] {
    program.dispatch({.label = "count up",
                      .kernel = counting,
                      .bindings = {data, count},
                      .parameters = {literal(1u)},
                      .grid = program::Grid{2, 1, 1}});
  });
  const Refused refused =
      and_resident({{Strategy::gate, Strategy::fused_gate, Strategy::chained_gate, Strategy::producer,
                     Strategy::early_out, Strategy::predication, Strategy::unroll},
                    true});
  in_every_way(program, device(), refused, [&](Executable& executable) {
    succeed(executable.run());
    EXPECT_THAT(value_of(executable.read<uint32_t>(data)), Each(77u));
    EXPECT_THAT(report(executable, loop), Reports(77u, ExitReason::converged));
  });
}

TEST_P(OpaqueKernels, TheDeviceTakesTheModuleInItsOwnLanguageAndElseTheKernel) {
  Builder b("which", {1});
  auto data = b.buffer("data", Type::i32, Access::read_write);
  data[0] = 1;
  const auto kernel = thrice(value_of(b.finish()), "which", R"(
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1) fn main() { data[0] = 3u; }
)");
  Program program("which");
  const Buffer buffer = program.buffer("data", Type::i32, 1, Initial::zero());
  program.dispatch({.label = "which", .kernel = kernel, .bindings = {buffer}, .grid = program::Grid{1, 1, 1}});
  Executable executable = compiled(program);
  succeed(executable.run());
  EXPECT_EQ(value_of(executable.read<uint32_t>(buffer))[0], GetParam() == "vulkan"   ? 2u
                                                            : GetParam() == "webgpu" ? 3u
                                                                                     : 1u);
}

TEST_P(OpaqueKernels, AModuleAloneIsRefusedByNameWhereItCannotRun) {
  kir::OpaqueKernel module;
  module.interface.name = "which";
  module.interface.bindings = {{"data", kir::BindingKind::buffer, Type::i32, Access::read_write}};
  module.spirv = compiled_shader("which");
  Program program("alone");
  const Buffer buffer = program.buffer("data", Type::i32, 1, Initial::zero());
  program.dispatch({.label = "which",
                    .kernel = value_of(program::make_kernel_source(std::move(module))),
                    .bindings = {buffer},
                    .grid = program::Grid{1, 1, 1}});
  const auto executable = compile(program, device());
  EXPECT_EQ(executable.ok(), GetParam() == "vulkan");
  if (executable.ok()) return;
  EXPECT_EQ(executable.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(executable.error().to_string(), HasSubstr("kernel \"which\""));
}

WAVEGATE_CONFORMANCE(OpaqueKernels);

}  // namespace
}  // namespace wavegate::conformance
