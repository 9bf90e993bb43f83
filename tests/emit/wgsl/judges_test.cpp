// What is emitted, before two WGSL compilers: Dawn's validator and naga. tools/install_judges.sh installs them.

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "differential/generator.h"
#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"
#include "kir/execution/random_kernel.h"
#include "wavegate/base/format.h"
#include "wavegate/emit/wgsl/early_out.h"
#include "wavegate/kir/compose.h"
#include "wavegate/kir/in_one_workgroup.h"
#include "wavegate/kir/passes/merge_bindings.h"
#include "wavegate/kir/passes/structure_returns.h"
#include "wavegate/lowering/lower.h"
#include "wavegate/ops/ops.h"

namespace wavegate::emit::wgsl {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = WAVEGATE_SOURCE_DIR;

/// A folder of modules, gone when the test is over.
class Modules {
 public:
  Modules() {
    std::string name = (fs::temp_directory_path() / "wavegate-wgsl-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~Modules() { fs::remove_all(folder_); }
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  void add(const std::string& text) { std::ofstream(folder_ / format("{:05}.wgsl", count_++)) << text; }
  void add(const Kernel& kernel, const target::Profile& profile, const Options& options = {}) {
    add(emit_text(kernel, profile, options));
  }
  size_t size() const { return count_; }

  struct Verdict {
    bool accepted = false;
    std::string said;
  };
  /// Lets a judge look at them all.
  Verdict judged_by(const std::string& name) const {
    const std::string command = format("node '{}' '{}' {} '{}' 2>&1", (kSource / "tests/emit/wgsl/judge.mjs").string(),
                                       (kSource / "build/npm").string(), name, folder_.string());
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {.said = "node cannot be started"};
    Verdict verdict;
    char piece[4096];
    while (const size_t got = fread(piece, 1, sizeof(piece), pipe)) verdict.said.append(piece, got);
    const int status = pclose(pipe);
    verdict.accepted = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return verdict;
  }

 private:
  fs::path folder_;
  size_t count_ = 0;
};

class Judges : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string package = GetParam() == "dawn" ? "webgpu" : "naga-wasm";
    const bool has_node = std::system("node --version >/dev/null 2>&1") == 0;
    if (!has_node || !fs::exists(kSource / "build/npm/node_modules" / package))
      GTEST_SKIP()
          << "NO JUDGE: " << (has_node ? "npm's " + package : "node")
          << " is missing, so that no other compiler looked at the modules; tools/install_judges.sh installs it";
  }

  void judge() const {
    const auto [accepted, said] = modules_.judged_by(GetParam());
    EXPECT_TRUE(accepted) << said.substr(0, 8000);
  }

  Modules modules_;
};

TEST_P(Judges, AcceptEveryOperationOfEveryType) {
  for (int i = 0; i < kir::kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    bool covered = false;
    for (const Result<Kernel>& kernel : kernels_using(op)) {
      ASSERT_TRUE(kernel.ok()) << kir::info(op).name << ": " << kernel.error().to_string();
      kir::walk(kernel->body, [&](const kir::Instruction& instruction) { covered |= instruction.op == op; });
      modules_.add(*kernel, full_profile());
    }
    EXPECT_TRUE(covered) << kir::info(op).name;
  }
  judge();
}

TEST_P(Judges, AcceptAnEmulatedFma) {
  target::Profile profile = full_profile();
  profile.floats.fused_fma_f32 = false;
  for (const Type type : {Type::f16, Type::f32}) {
    const auto kernel = built("fma", [&](Builder& b) {
      auto x = b.buffer("x", type, Access::read_write);
      x[0u] = b.apply(Op::fma, {x[1u], x[2u], x[3u]});
    });
    modules_.add(value_of(kernel), profile);
  }
  judge();
}

TEST_P(Judges, AcceptReadsDeclaredAsWrites) {
  for (const auto& kernels : {memory_kernels(), control_kernels()})
    for (const Result<Kernel>& kernel : kernels)
      modules_.add(*kernel, full_profile(), {.writable = std::vector<bool>(16, true)});
  judge();
}

Kernel random_kernel(uint32_t seed, bool tied) {
  kir::RandomKernel::Shape shape;
  shape.grid = {3, 1, 1};
  shape.workgroup = tied ? std::array<uint32_t, 3>{8, 1, 1} : std::array<uint32_t, 3>{2, 2, 1};
  shape.tied = tied;
  return kir::RandomKernel(seed, shape).make();
}

TEST_P(Judges, AcceptRandomAndComposedKernels) {
  target::Profile roomy = full_profile();
  roomy.limits.storage_buffers = 64;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const bool tied = seed % 2 == 0;
    Kernel structured = random_kernel(seed, tied);
    modules_.add(structured, roomy);
    modules_.add(value_of(kir::guard(structured, "latch")), roomy);
    ASSERT_TRUE(kir::structure_returns(structured).ok());
    modules_.add(structured, roomy);

    const Kernel first = value_of(kir::in_one_workgroup(random_kernel(seed, tied), {3, 1, 1}, 8));
    const Kernel second = value_of(kir::in_one_workgroup(random_kernel(seed + 100, !tied), {3, 1, 1}, 8));
    const Kernel both = value_of(kir::sequence(first, value_of(kir::only_if(second, "latch"))));
    Kernel loop = value_of(kir::repeat_while(first, 3, both));
    std::vector<uint32_t> same_as(loop.interface.bindings.size());
    std::iota(same_as.begin(), same_as.end(), 0u);
    for (uint32_t i = 4; i + 1 < same_as.size(); ++i) same_as[i] = i % 4;  // all but the inner latch
    ASSERT_TRUE(kir::merge_bindings(loop, same_as).ok());
    modules_.add(loop, roomy);
  }
  judge();
}

target::Profile device_profile() {
  target::Profile profile = full_profile();
  profile.limits.binding_alignment = 256;
  profile.limits.storage_buffers = 8;
  profile.limits.workgroup_invocations = 256;
  return profile;
}

/// All kernels of a program lowered by every strategy that takes it.
void add_lowered(Modules& modules, const program::Program& program) {
  const target::Profile profile = device_profile();
  for (const lowering::StrategyInfo& row : lowering::strategies()) {
    const auto plan = lowering::lower(program, profile, {.strategy = row.strategy});
    if (!plan.ok()) continue;
    for (const graph::Kernel& kernel : plan->graph->kernels)
      if (const auto* ours = std::get_if<std::shared_ptr<const Kernel>>(&kernel)) modules.add(**ours, profile);
  }
}

TEST_P(Judges, AcceptWhatTheLoweringMakesOfRandomPrograms) {
  for (uint64_t seed = 1; seed <= 12; ++seed) add_lowered(modules_, differential::generate(seed).program);
  EXPECT_GT(modules_.size(), 500u);
  judge();
}

TEST_P(Judges, AcceptTheOperationLibrary) {
  using program::Buffer;
  using program::Initial;
  const std::vector<float> ones(512, 1.0f);
  for (const uint32_t per_row : {2u, 40u}) {
    std::vector<uint32_t> offsets(513), indices(512 * per_row);
    for (uint32_t row = 0; row <= 512; ++row) offsets[row] = row * per_row;
    for (uint32_t k = 0; k < indices.size(); ++k) indices[k] = k % per_row;
    const std::vector<float> values(indices.size(), 0.5f);
    program::Program program("library");
    const auto matrix = program.csr_matrix("A", 512, 512, offsets, indices, values);
    const Buffer x = program.buffer("x", Type::f32, 512, Initial::copy_of(ones));
    const Buffer y = program.buffer("y", Type::f32, 512, Initial::copy_of(ones));
    const Buffer r = program.buffer("r", Type::f32, 512);
    const program::Scalar rho = program.scalar("rho", program::ScalarType::float32);
    const program::Scalar alpha = program.scalar_f32("alpha", 0.5f);
    program.while_(rho > program::literal(0.01f), {.min = 1, .max = 5}, [&] {
      ops::residual(program, matrix, x, y, r);
      ops::dot(program, r, r, rho);
      ops::madd(program, alpha, r, x, x);
      ops::spmv(program, matrix, x, r);
    });
    add_lowered(modules_, program);
  }
  EXPECT_GT(modules_.size(), 10u);
  judge();
}

TEST_P(Judges, AcceptAModuleBehindALatchWithItsBarriers) {
  kir::OpaqueKernel kernel;
  kernel.interface = {"sum", {64, 1, 1}, {{"x", kir::BindingKind::buffer, Type::f32, Access::read_write}}, {}};
  kernel.wgsl = R"(
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
var<workgroup> tile: array<f32, 64>;
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) index: u32) {
  tile[index] = x[index];
  if (group.x < 7u) { workgroupBarrier(); }
  x[index] = tile[63u - index];
} // the end)";
  const auto text = early_out(kernel);
  ASSERT_TRUE(text.ok()) << text.error().to_string();
  modules_.add(*text);
  judge();
}

TEST_P(Judges, RefuseAModuleThatIsWrong) {
  modules_.add("@compute @workgroup_size(1) fn main() {}\n");
  EXPECT_TRUE(modules_.judged_by(GetParam()).accepted);
  modules_.add("@compute @workgroup_size(1) fn main() { let x: u32 = 1.0f; }\n");
  EXPECT_FALSE(modules_.judged_by(GetParam()).accepted);
}

INSTANTIATE_TEST_SUITE_P(All, Judges, testing::Values("dawn", "naga"), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace wavegate::emit::wgsl
