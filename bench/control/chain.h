#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "wavegate/wavegate.h"

/// The program that wavegate-bench-control measures: a dependent chain of kernels and the scalar work that counts, as
/// one loop or a nest of them.
namespace wavegate::bench {

inline constexpr uint32_t kInvocations = 64;                    ///< of a workgroup
inline constexpr std::string_view kDirect = "direct";           ///< spelled out with no predicate
inline constexpr std::string_view kDefault = "default";         ///< by the strategy that is chosen without being asked
inline constexpr std::string_view kHostPolled = "host-polled";  ///< by a loop on the host

/// What is run.
struct Case {
  std::string strategy = {};      ///< kDirect, kDefault, kHostPolled, or a strategy's name
  uint32_t kernels = 1;           ///< dispatches in the body
  std::optional<uint32_t> bound;  ///< iterations that the innermost loop may run; none: without max
  uint32_t needed = 0;            ///< iterations in all
  uint32_t nesting = 1;
  uint32_t workgroups = 1;  ///< of a dispatch
  bool opaque = false;      ///< the body is a shader of the user's own
  bool as_a_page = false;   ///< on a WebGPU that checks every command, as a browser does
  friend bool operator==(const Case&, const Case&) = default;
};

using Kernel = std::shared_ptr<const program::KernelSource>;

/// state[i] = state[i] * 1664525 + 1013904223, for one i an invocation.
Result<Kernel> body_kernel();

/// The same as a shader that glslc compiled, or for a backend that takes WGSL as its text. `path` names the file.
Result<Kernel> opaque_kernel(const std::string& path, std::string_view backend);

/// What is needed is a launch parameter, so that the predicate is the device's business.
struct Chain {
  program::Program program{"chain"};
  program::Scalar active;                  ///< whether the host goes on, where it polls
  program::Scalar iterations;              ///< of the innermost loop, in all
  std::optional<program::Loop> innermost;  ///< none: the loop is the host's

  Chain(const Kernel& kernel, const Case& what);

 private:
  void nest(const std::vector<uint32_t>& trips, uint32_t level, const Case& what, const std::function<void()>& body);
};

}  // namespace wavegate::bench
