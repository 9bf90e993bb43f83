#include "wavegate/io/program_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"
#include "wavegate/io/metis_graph.h"
#include "wavegate/io/program_inputs.h"

/// The examples do what they say, as a user runs them.
namespace wavegate {
namespace {

using program::Program;
using testing::Each;

template <typename T>
T value_of(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

Program example(const std::string& name) {
  return value_of(io::load_program(WAVEGATE_SOURCE_DIR "/examples/" + name + ".json"));
}

/// The example of the reader's own shader, with the module that the build has compiled.
Program own_shader() {
  io::ProgramFileOptions options;
  options.read = [](const std::filesystem::path& path, std::uint64_t maximum_bytes) {
    return io::read_file(WAVEGATE_SPIRV_DIR "/vulkan1.1" / path, maximum_bytes);
  };
  const auto text = value_of(io::read_file(WAVEGATE_SOURCE_DIR "/examples/own_shader.json"));
  return value_of(io::parse_program(io::as_text(text), options));
}

class Ran {
 public:
  Ran(Program program, const std::string& device, std::vector<std::pair<std::string, std::string>> parameters = {})
      : program_(std::move(program)), executable_(value_of(compile(program_, value_of(open_device(device))))) {
    for (const auto& [name, text] : parameters) {
      const io::ParameterValue set = value_of(io::parse_parameter(program_, name, text));
      EXPECT_TRUE(executable_.set(set.parameter, set.value).ok());
    }
    const Result<void> status = executable_.run();
    EXPECT_TRUE(status.ok()) << status.error().to_string();
  }

  template <typename T>
  std::vector<T> read(const std::string& buffer) {
    return value_of(executable_.read<T>(*program_.find_buffer(buffer)));
  }
  LoopReport loop() { return value_of(executable_.loop({0})); }

 private:
  Program program_;
  Executable executable_;
};

TEST(Examples, saxpy_adds_a_times_x_to_y) {
  EXPECT_THAT(Ran(example("saxpy"), "vulkan").read<float>("y"), Each(5.0f));
}

TEST(Examples, saxpy_takes_a_from_the_command_line) {
  EXPECT_THAT(Ran(example("saxpy"), "vulkan", {{"a", "-2"}}).read<float>("y"), Each(0.0f));
}

TEST(Examples, heat_flows_until_it_is_steady) {
  Ran heat(example("heat"), "vulkan");
  EXPECT_EQ(heat.loop().reason, ExitReason::converged);
  EXPECT_LT(heat.loop().trips, 1000u);
  const std::vector<float> u = heat.read<float>("u");
  constexpr int kSide = 32;
  // Every inner cell is the mean of its neighbours, up to what is left to flow.
  for (int y = 1; y < kSide - 1; ++y) {
    for (int x = 1; x < kSide - 1; ++x) {
      const int i = y * kSide + x;
      EXPECT_NEAR(u[i], (u[i - 1] + u[i + 1] + u[i - kSide] + u[i + kSide]) / 4, 0.01f) << x << " " << y;
    }
  }
  EXPECT_EQ(u[kSide / 2], 100.0f);
  EXPECT_EQ(u.back(), 0.0f);
}

TEST(Examples, heat_is_the_same_on_the_reference_device) {
  Ran ours(example("heat"), "vulkan", {{"tolerance", "20"}});
  Ran oracle(example("heat"), "reference", {{"tolerance", "20"}});
  EXPECT_GT(oracle.loop().trips, 1u);
  EXPECT_EQ(ours.loop().trips, oracle.loop().trips);
  EXPECT_EQ(ours.read<float>("u"), oracle.read<float>("u"));
}

TEST(Examples, heat_keeps_the_history_of_its_change) {
  Ran heat(example("heat"), "vulkan", {{"tolerance", "1"}});
  const std::uint32_t trips = heat.loop().trips;
  const std::vector<float> squares = heat.read<float>("history");
  ASSERT_EQ(squares.size(), 1000u);
  ASSERT_LT(trips, squares.size());
  for (std::uint32_t i = 0; i < squares.size(); ++i)
    EXPECT_EQ(squares[i] > 1.0f, i + 1 < trips) << i;  // above the tolerance until the last iteration
  EXPECT_GT(squares[trips - 1], 0.0f);
  EXPECT_EQ(squares[trips], 0.0f);
}

/// Distances from vertex 0, level by level.
std::vector<std::int32_t> distances(const io::MetisGraph& graph) {
  std::vector<std::int32_t> found(graph.vertices, -1);
  std::vector<std::uint32_t> frontier = {0};
  found[0] = 0;
  for (std::int32_t level = 1; !frontier.empty(); ++level) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t vertex : frontier) {
      for (std::uint32_t edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; ++edge) {
        std::int32_t& distance = found[graph.neighbours[edge]];
        if (distance >= 0) continue;
        distance = level;
        next.push_back(graph.neighbours[edge]);
      }
    }
    frontier = std::move(next);
  }
  return found;
}

TEST(Examples, bfs_finds_the_distance_of_every_cell_of_the_maze) {
  const auto text = value_of(io::read_file(WAVEGATE_SOURCE_DIR "/examples/maze.graph"));
  const std::vector<std::int32_t> expected = distances(value_of(io::parse_metis_graph(io::as_text(text), "maze")));
  const std::int32_t furthest = *std::ranges::max_element(expected);
  for (const char* device : {"vulkan", "reference"}) {
    SCOPED_TRACE(device);
    Ran bfs(example("bfs"), device);
    EXPECT_EQ(bfs.read<std::int32_t>("distance"), expected);
    EXPECT_EQ(bfs.loop().trips, static_cast<std::uint32_t>(furthest) + 1);
    EXPECT_EQ(bfs.loop().reason, ExitReason::converged);
    const std::vector<std::int32_t> widths = bfs.read<std::int32_t>("widths");
    for (std::int32_t level = 0; level < static_cast<std::int32_t>(widths.size()); ++level)
      EXPECT_EQ(widths[level], std::ranges::count(expected, level)) << level;
  }
}

TEST(Examples, the_sandpile_of_the_readers_own_shader_comes_to_rest) {
  Ran pile(own_shader(), "vulkan");
  EXPECT_EQ(pile.loop().reason, ExitReason::converged);
  const std::vector<std::int32_t> u = pile.read<std::int32_t>("u");
  EXPECT_EQ(std::accumulate(u.begin(), u.end(), 0), 5000) << "no grain is lost";
  EXPECT_THAT(u, Each(testing::AllOf(testing::Ge(0), testing::Le(3))));
}

/// The sandpile with a kir source beside its module; see own_shader().
Result<Program> with_kir(const std::string& kir) {
  io::ProgramFileOptions options;
  options.read = [](const std::filesystem::path& path, std::uint64_t maximum_bytes) {
    return io::read_file(WAVEGATE_SPIRV_DIR "/vulkan1.1" / path, maximum_bytes);
  };
  return io::parse_program(format(R"({{"wavegate": 1, "name": "forms",
    "buffers": {{"u": {{"type": "i32", "count": 64, "initial": 4, "output": true}},
                 "v": {{"type": "i32", "count": 64, "initial": 0, "output": true}}}},
    "scalars": {{"moving": {{"type": "uint32", "initial": 0}}}},
    "kernels": {{"topple": {{"spirv_file": "own_shader.spv", "kir": "{}"}}}},
    "run": [{{"dispatch": "topple", "bindings": ["u", "v", "moving"], "parameters": [8], "threads": [8, 8]}}]}})",
                                  kir),
                           options);
}

TEST(KernelForms, each_device_takes_the_form_that_is_for_it) {
  const std::string nothing =
      "kernel k { workgroup_size 8 8 1 buffer old i32 read buffer new i32 write scalar moving i32 read_write "
      "parameter side i32 }";
  Ran by_module(value_of(with_kir(nothing)), "vulkan");
  EXPECT_EQ(by_module.read<std::int32_t>("v")[9], 4);
  Ran by_kir(value_of(with_kir(nothing)), "reference");
  EXPECT_THAT(by_kir.read<std::int32_t>("v"), Each(0));
}

TEST(KernelForms, a_module_that_is_another_kernel_than_kir_is_refused) {
  const auto program = with_kir(
      "kernel k { workgroup_size 8 4 1 buffer old i32 read buffer new i32 write "
      "scalar moving i32 read_write parameter side i32 }");
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().to_string(), testing::HasSubstr("kernels.topple: "));
  EXPECT_THAT(program.error().to_string(), testing::HasSubstr("8"));
}

}  // namespace
}  // namespace wavegate
