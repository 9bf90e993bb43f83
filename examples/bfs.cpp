#include <wavegate/io/file.h>
#include <wavegate/io/metis_graph.h>
#include <wavegate/wavegate.h>

#include <algorithm>
#include <cstdio>

using namespace wavegate;

// Breadth-first search: how many edges lead from vertex 0 to every other. The GPU expands the frontier, an edge at a
// time, by as many invocations as it has vertices, until it is empty. One submission, one wait.

constexpr uint32_t kUnreached = UINT32_MAX;

// A square grid of vertices, each with an edge to those beside it.
io::MetisGraph square_mesh(uint32_t side) {
  io::MetisGraph mesh;
  mesh.vertices = side * side;
  mesh.offsets = {0};
  for (uint32_t v = 0; v < mesh.vertices; ++v) {
    if (v >= side) mesh.neighbours.push_back(v - side);
    if (v % side > 0) mesh.neighbours.push_back(v - 1);
    if (v % side < side - 1) mesh.neighbours.push_back(v + 1);
    if (v + side < mesh.vertices) mesh.neighbours.push_back(v + side);
    mesh.offsets.push_back(static_cast<uint32_t>(mesh.neighbours.size()));
  }
  return mesh;
}

// The frontier is queue[begin] to queue[end - 1]. Who is met for the first time joins the queue at its tail.
Result<kir::Kernel> expand() {
  kir::Builder b("expand", {64});
  auto offsets = b.buffer("offsets", kir::Type::i32, kir::Access::read);
  auto neighbours = b.buffer("neighbours", kir::Type::i32, kir::Access::read);
  auto queue = b.buffer("queue", kir::Type::i32, kir::Access::read_write);
  auto tail = b.buffer("tail", kir::Type::i32, kir::Access::read_write);
  auto distance = b.buffer("distance", kir::Type::i32, kir::Access::read_write);
  auto at = b.parameter("begin", kir::Type::i32) + b.global_id();
  auto end = b.parameter("end", kir::Type::i32);
  auto further = b.parameter("level", kir::Type::i32) + 1;
  b.if_(at < end, [&] {
    kir::Expr vertex = queue[at];
    b.for_(offsets[vertex], offsets[vertex + 1], b.u32(1), [&](kir::Expr edge) {
      kir::Expr neighbour = neighbours[edge];
      auto before = b.atomic_compare_exchange(distance, neighbour, b.u32(kUnreached), further);
      b.if_(before == kUnreached, [&] { queue[b.atomic(kir::Op::atomic_add, tail, b.u32(0), b.u32(1))] = neighbour; });
    });
  });
  return b.finish();
}

// What was found is the next frontier.
Result<kir::Kernel> advance() {
  kir::Builder b("advance");
  auto tail = b.buffer("tail", kir::Type::i32, kir::Access::read);
  auto end = b.scalar("end", kir::Type::i32, kir::Access::write);
  end = tail[0u];
  return b.finish();
}

Result<void> search(const io::MetisGraph& mesh) {
  WAVEGATE_TRY(kir::Kernel expanding, expand());
  WAVEGATE_TRY(kir::Kernel advancing, advance());
  auto expand_kernel = program::make_kernel_source(std::move(expanding));
  auto advance_kernel = program::make_kernel_source(std::move(advancing));

  program::Program program("breadth-first search");
  const uint32_t count = mesh.vertices;
  auto whole = [&](const char* name, const std::vector<uint32_t>& words) {
    return program.buffer(name, kir::Type::i32, words.size(), program::Initial::copy_of(words));
  };
  std::vector<uint32_t> start(count, kUnreached);
  start[0] = 0;
  auto offsets = whole("offsets", mesh.offsets);
  auto neighbours = whole("neighbours", mesh.neighbours);
  auto distance = whole("distance", start);
  auto queue = program.buffer("queue", kir::Type::i32, count, program::Initial::zero());
  auto tail = whole("tail", {1});
  auto begin = program.scalar_u32("begin", 0);
  auto end = program.scalar_u32("end", 1);
  auto width = program.scalar_u32("width", 0);
  program::Buffer widths;
  program.output(distance);
  auto levels = program.while_(begin < end, {}, [&] {
    program.assign(width, end - begin);
    widths = program.record(width, count);
    program.dispatch({.label = "expand",
                      .kernel = expand_kernel,
                      .bindings = {offsets, neighbours, queue, tail, distance},
                      .parameters = {begin, end, program.iteration()},
                      .computed_grid = program::computed_grid_for({width, 1, 1}, {64, 1, 1},
                                                                  program::grid_for({count, 1, 1}, {64, 1, 1}))});
    program.assign(begin, end);
    program.dispatch({.label = "advance", .kernel = advance_kernel, .bindings = {tail, end}, .grid = {{1, 1, 1}}});
  });

  WAVEGATE_TRY(auto device, open_device());
  WAVEGATE_TRY(Executable executable, compile(program, device));
  WAVEGATE_CHECK(executable.run());
  WAVEGATE_TRY(auto found, executable.read<uint32_t>(distance));
  WAVEGATE_TRY(auto history, executable.read<uint32_t>(widths));
  WAVEGATE_TRY(LoopReport report, executable.loop(levels));
  const auto reached = count - std::ranges::count(found, kUnreached);
  std::printf("%u vertices, %td reached\n", count, static_cast<std::ptrdiff_t>(reached));
  std::printf("%u edges to the furthest\n", report.trips - 1);
  std::printf("%u vertices on the widest level\n", *std::ranges::max_element(history));
  return {};
}

int main(int argc, char** argv) {
  const auto mesh = [&]() -> Result<io::MetisGraph> {
    if (argc < 2) return square_mesh(64);
    WAVEGATE_TRY(const auto bytes, io::read_file(argv[1]));
    return io::parse_metis_graph(io::as_text(bytes), argv[1]);
  }();
  const auto done = mesh ? search(*mesh) : Result<void>(mesh.error());
  if (!done) return std::fprintf(stderr, "%s\n", done.error().to_string().c_str()), 1;
}
