#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wavegate/device/device.h"
#include "wavegate/kir/builder.h"

namespace wavegate::device {

/// The value, or the end of the test with the error's message.
template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().to_string();
    std::abort();
  }
  return std::move(result).value();
}

#define EXPECT_OK(expression)                                     \
  do {                                                            \
    const auto expect_ok = (expression);                          \
    EXPECT_TRUE(expect_ok.ok()) << expect_ok.error().to_string(); \
  } while (false)
#define ASSERT_OK(expression)                                     \
  do {                                                            \
    const auto assert_ok = (expression);                          \
    ASSERT_TRUE(assert_ok.ok()) << assert_ok.error().to_string(); \
  } while (false)

/// Builds graphs of buffers of 32-bit words.
class TestGraph {
 public:
  explicit TestGraph(std::string name) { graph_->name = std::move(name); }

  graph::BufferId buffer(std::string name, uint64_t words) {
    graph::Buffer buffer;
    buffer.name = std::move(name);
    buffer.bytes = words * 4;
    graph_->buffers.push_back(std::move(buffer));
    return graph::BufferId{static_cast<uint32_t>(graph_->buffers.size() - 1)};
  }
  template <typename T>
  graph::BufferId buffer(std::string name, const std::vector<T>& contents) {
    const graph::BufferId id = buffer(std::move(name), contents.size());
    const auto bytes = std::as_bytes(std::span(contents));
    at(id).initial = graph::Contents{std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end()), 0};
    return id;
  }
  graph::BufferId output(graph::BufferId id) {
    at(id).output = true;
    return id;
  }
  graph::BufferId external(graph::BufferId id) {
    at(id).external = true;
    return id;
  }
  graph::BufferId indirect(graph::BufferId id) {
    at(id).indirect = true;
    return id;
  }
  graph::BufferId observed(graph::BufferId id) {
    at(id).observed = true;
    return id;
  }
  graph::Buffer& at(graph::BufferId id) { return graph_->buffers[static_cast<uint32_t>(id)]; }
  graph::Range whole(graph::BufferId id) { return {id, 0, at(id).bytes}; }
  graph::Range word(graph::BufferId id, uint64_t index) { return {id, index * 4, 4}; }

  graph::KernelId kernel(Result<kir::Kernel> kernel) {
    graph_->kernels.emplace_back(std::make_shared<const kir::Kernel>(must(std::move(kernel))));
    return graph::KernelId{static_cast<uint32_t>(graph_->kernels.size() - 1)};
  }

  /// A dispatch that binds whole buffers and uses all of each as the kernel says.
  graph::Dispatch dispatch(graph::KernelId kernel, const std::vector<graph::BufferId>& buffers,
                           std::vector<uint32_t> words, graph::Grid grid) {
    graph::Dispatch dispatch;
    const kir::Interface& interface = graph::interface_of(graph_->kernels[static_cast<uint32_t>(kernel)]);
    dispatch.label = interface.name;
    dispatch.kernel = kernel;
    for (size_t i = 0; i < buffers.size(); ++i) {
      dispatch.bindings.push_back(whole(buffers[i]));
      dispatch.uses.push_back({whole(buffers[i]), interface.bindings[i].access});
    }
    dispatch.words = std::move(words);
    dispatch.grid = grid;
    return dispatch;
  }
  graph::Copy copy(graph::Range from, graph::Range to) { return {"copy", from, to}; }
  graph::Fill fill(graph::Range range, uint32_t word) { return {"fill", range, word}; }

  void add(graph::Command command) { graph_->commands.push_back(std::move(command)); }
  void add_repeat(uint32_t count, std::vector<graph::Command> body) {
    add(std::make_shared<const graph::Repeat>(graph::Repeat{"repeat", count, std::move(body)}));
  }
  static graph::Command conditional(graph::Range predicate, std::vector<graph::Command> body) {
    return std::make_shared<const graph::Conditional>(graph::Conditional{"conditional", predicate, std::move(body)});
  }
  void add(graph::Loop loop) { add(std::make_shared<const graph::Loop>(std::move(loop))); }
  std::shared_ptr<const graph::Graph> get() const { return graph_; }

 private:
  std::shared_ptr<graph::Graph> graph_ = std::make_shared<graph::Graph>();
};

template <typename T>
std::vector<T> read_all(Executable& executable, graph::BufferId buffer, size_t count) {
  std::vector<T> values(count);
  EXPECT_OK(executable.read(buffer, 0, std::as_writable_bytes(std::span(values))));
  return values;
}

template <typename T>
Result<void> write_all(Executable& executable, graph::BufferId buffer, const std::vector<T>& values) {
  return executable.write(buffer, 0, std::as_bytes(std::span(values)));
}

/// y[i] = a * x[i] + y[i] for i < n.
inline Result<kir::Kernel> saxpy_kernel() {
  kir::Builder b("saxpy", {64});
  auto x = b.buffer("x", kir::Type::f32, kir::Access::read);
  auto y = b.buffer("y", kir::Type::f32, kir::Access::read_write);
  auto n = b.parameter("n", kir::Type::i32);
  auto a = b.parameter("a", kir::Type::f32);
  auto i = b.global_id();
  b.if_(i < n, [&] { y[i] = a * x[i] + y[i]; });
  return b.finish();
}

/// values[i] = values[i] * factor + addend, for every element.
inline Result<kir::Kernel> affine_kernel() {
  kir::Builder b("affine", {64});
  auto values = b.buffer("values", kir::Type::i32, kir::Access::read_write);
  auto factor = b.parameter("factor", kir::Type::i32);
  auto addend = b.parameter("addend", kir::Type::i32);
  auto i = b.global_id();
  b.if_(i < values.length(), [&] { values[i] = values[i] * factor + addend; });
  return b.finish();
}

}  // namespace wavegate::device
