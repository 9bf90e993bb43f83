#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "wavegate/device/reference/interpreter.h"
#include "wavegate/kir/builder.h"

namespace wavegate::device::reference {

/// Memory that holds the given numbers, all of it written.
template <typename T>
Storage storage_of(const std::vector<T>& numbers) {
  Storage storage{std::vector<std::byte>(numbers.size() * sizeof(T)),
                  std::vector<uint8_t>(numbers.size() * sizeof(T), 1)};
  if (!numbers.empty()) std::memcpy(storage.bytes.data(), numbers.data(), storage.bytes.size());
  return storage;
}

/// Memory that nobody wrote yet.
inline Storage unwritten(size_t bytes) {
  return {std::vector<std::byte>(bytes), std::vector<uint8_t>(bytes)};
}

template <typename T>
std::vector<T> numbers_in(const Storage& storage) {
  std::vector<T> numbers(storage.bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), storage.bytes.data(), storage.bytes.size());
  return numbers;
}

struct LaunchOptions {
  std::vector<uint32_t> words = {};
  graph::Grid grid = {1, 1, 1};
  uint32_t subgroup_size = 32;
  uint64_t max_steps = std::numeric_limits<uint64_t>::max();
  uint64_t max_loop_iterations = std::numeric_limits<uint64_t>::max();
};

/// Launches a kernel with each storage bound as a whole.
inline Result<void> launch(const kir::Kernel& kernel, const std::vector<Storage*>& storages,
                           const LaunchOptions& options = {}) {
  std::vector<BoundRange> ranges;
  for (Storage* storage : storages) ranges.push_back({storage, 0, storage->bytes.size()});
  return interpret(kernel, {ranges, options.words, options.grid, options.subgroup_size, options.max_steps,
                            options.max_loop_iterations});
}

/// The kernel that a builder holds; fails the test if there is none.
inline kir::Kernel finish(kir::Builder& builder) {
  Result<kir::Kernel> kernel = builder.finish();
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? std::string() : kernel.error().to_string());
  return kernel.ok() ? *std::move(kernel) : kir::Kernel{};
}

/// "ok", or the message of the error.
inline std::string outcome(const Result<void>& result) {
  return result.ok() ? "ok" : result.error().message;
}

}  // namespace wavegate::device::reference
