#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/program/expression.h"
#include "wavegate/program/kernel_source.h"
#include "wavegate/program/value.h"

namespace wavegate::program {

class Operation;

/// Exact number of workgroups of a dispatch.
using Grid = std::array<uint32_t, 3>;

/// The workgroups that cover `threads` invocations in each dimension.
Grid grid_for(std::array<uint32_t, 3> threads, std::array<uint32_t, 3> workgroup_size);

struct Node;
using Body = std::vector<Node>;

/// Control flow nests at most this deep: enough for any program written by hand, and for any stack.
inline constexpr uint32_t kMaximumNesting = 64;

/// The most values that record() keeps: 128 MiB, which every device binds.
inline constexpr uint32_t kMaximumHistory = uint32_t{1} << 25;

/// A grid that the device computes when control reaches the dispatch. Exact geometry, too: `workgroups` are uint32
/// expressions, read once; one that is zero launches nothing, one beyond `maximum` is cut to it and fails the run by
/// name. Since it may be zero, what such a dispatch writes is not proved written.
struct ComputedGrid {
  std::array<ScalarExpr, 3> workgroups = {1u, 1u, 1u};
  Grid maximum = {1, 1, 1};  ///< declared bound; enforced
};

/// The workgroups that cover `threads` invocations, uint32 expressions, in each dimension; none for none.
ComputedGrid computed_grid_for(const std::array<ScalarExpr, 3>& threads, std::array<uint32_t, 3> workgroup_size,
                               Grid maximum);

/// Runs a kernel. Bindings and parameters are in the order of its interface.
struct Dispatch {
  std::string label = {};
  std::shared_ptr<const KernelSource> kernel = {};
  std::vector<Operand> bindings = {};                          ///< Buffer or Scalar
  std::vector<std::variant<Literal, Scalar>> parameters = {};  ///< a scalar is read on the device when the kernel runs
  std::optional<Grid> grid = {};                               ///< exact geometry; the launch is derived from it
  std::optional<uint32_t> maximum_workgroups = {};             ///< a workload estimate for budgeting; never geometry
  std::optional<ComputedGrid> computed_grid = {};              ///< instead of `grid`
};

/// Copies elements between buffers of one element type.
struct Copy {
  std::string label;
  Buffer source, destination;
  uint64_t source_offset = 0, destination_offset = 0, count = 0;  ///< elements
};

/// Fills elements with one value.
struct Fill {
  std::string label;
  Buffer destination;
  uint64_t offset = 0, count = 0;  ///< elements
  Literal value;                   ///< of the buffer's element type, which is 32 bits wide
};

/// destination = value, on the device. Straight-line runs of these become one kernel.
struct Assign {
  Scalar destination;
  ScalarExpr value;
};

/// An operation of the library or of the user; it is expanded when the program is compiled.
struct Call {
  std::shared_ptr<const Operation> operation;
  std::vector<Operand> operands;
};

/// Keeps a scalar's value of this iteration: history[index] = value, unless index is past the history's end.
struct Record {
  Scalar value;
  Buffer history;  ///< of the value's type, not external
  Scalar index;    ///< iteration index of a loop that encloses this
};

/// Runs one body or the other by the predicate, a uint32 expression that is zero for false, read once on entry.
struct If {
  std::string label;
  ScalarExpr predicate;
  std::vector<Node> then_body, else_body;
};

/// Runs the body of the case that equals the selector, a uint32 expression read once on entry, else the default.
struct Case {
  uint32_t value = 0;
  std::vector<Node> body;
};
struct Switch {
  std::string label;
  ScalarExpr selector;
  std::vector<Case> cases;  ///< values all different
  std::vector<Node> default_body;
};

/// How often a loop may run.
struct Bounds {
  uint32_t min = 0;             ///< iterations before the predicate is first tested
  std::optional<uint32_t> max;  ///< none: no bound, where the strategy can loop without one
};

/// Index of a loop in the program, for its report after a run.
struct Loop {
  uint32_t id = 0;
};

/// Repeats its body while the predicate, read before every iteration after the first `min`, is not zero. An iteration
/// that begins is counted, also one that `break_` ends. The loop has converged if and only if the predicate is zero
/// after the last iteration.
///
/// With `min` of at least 1 the body may be what first writes the predicate's scalars, on every way through it.
struct While {
  std::string label;
  Loop loop;
  ScalarExpr predicate;
  Bounds bounds;
  std::vector<Node> body;
  std::optional<Scalar> index = {};  ///< set to the iterations that came before, as an iteration begins
};

/// Ends the innermost loop, or its iteration: the rest of the bodies that enclose it is skipped. The last command of
/// its body: one after it would never run and is refused.
struct Break {};
struct Continue {};

struct Node {
  std::variant<Dispatch, Copy, Fill, Assign, Record, Call, If, Switch, While, Break, Continue> what;
};

/// A semantic program: values, and a tree of commands with their control flow. Plain data that knows no device.
///
/// Values keep their contents from run to run. A mistake that the arguments alone show (an unknown handle, a
/// wrong element type) is kept and returned by verify(), so that building reads without checks.
class Program {
 public:
  explicit Program(std::string name) : name_(std::move(name)) {}

  // Values.
  Buffer buffer(std::string name, kir::Type element, uint64_t count, std::optional<Initial> initial = {});
  Buffer external_buffer(std::string name, kir::Type element, uint64_t count);
  /// A buffer or scalar of an operation's expansion: written before it is read, its name made unique.
  Buffer temporary(const std::string& name, kir::Type element, uint64_t count);
  Scalar temporary(const std::string& name, ScalarType type);
  Scalar scalar(std::string name, ScalarType type, std::optional<uint32_t> initial_bits = {});
  Scalar scalar_u32(std::string name, uint32_t initial) { return scalar(std::move(name), ScalarType::uint32, initial); }
  Scalar scalar_f32(std::string name, float initial);
  /// A launch parameter: set by the host without recompiling.
  Scalar parameter(std::string name, Literal initial);
  CsrMatrix csr_matrix(const std::string& name, uint32_t rows, uint32_t columns, std::vector<uint32_t> row_offsets,
                       std::vector<uint32_t> column_indices, std::vector<float> values);
  /// Makes a buffer readable after a run without a further wait.
  void output(Buffer buffer);
  /// Replaces what the buffer holds at creation and after reset(); not for an external buffer.
  void set_initial(Buffer buffer, Initial initial);

  // Commands, appended to the open body.
  void dispatch(Dispatch dispatch);
  void copy(Copy copy);
  void fill(Fill fill);
  void fill(Buffer buffer, Literal value);  ///< the whole buffer
  void assign(Scalar destination, ScalarExpr value);
  void call(std::shared_ptr<const Operation> operation, std::vector<Operand> operands);
  void if_(ScalarExpr predicate, const std::function<void()>& then_body, const std::function<void()>& else_body = {},
           std::string label = "if");
  void switch_(ScalarExpr selector, const std::vector<std::pair<uint32_t, std::function<void()>>>& cases,
               const std::function<void()>& default_body = {}, std::string label = "switch");
  Loop while_(ScalarExpr predicate, Bounds bounds, const std::function<void()>& body, std::string label = "while");
  /// In the body of a loop: end the innermost one, or its iteration.
  void break_();
  void continue_();
  /// In the body of a loop: how many iterations of the innermost one came before, a uint32 that only the loop sets. It
  /// is read in that body alone; assign it to a scalar for later.
  Scalar iteration();
  /// In the body of a loop: keeps the scalar's value of every iteration that gets here, and returns the buffer that
  /// holds them by iteration, an output. An element that no iteration of this run reached holds what it held before,
  /// at first zero. Iterations from `capacity` on are not kept; a loop with a max needs none. The name is
  /// "SCALAR.history" if none is given.
  Buffer record(Scalar value, std::optional<uint32_t> capacity = {}, std::string name = {});

  const std::string& name() const { return name_; }
  const std::vector<BufferInfo>& buffers() const { return buffers_; }
  const std::vector<ScalarInfo>& scalars() const { return scalars_; }
  const Body& body() const { return body_; }
  uint32_t loop_count() const { return loop_count_; }
  const BufferInfo& info(Buffer buffer) const { return buffers_[buffer.id]; }
  const ScalarInfo& info(Scalar scalar) const { return scalars_[scalar.id]; }
  std::optional<Buffer> find_buffer(std::string_view name) const;
  std::optional<Scalar> find_scalar(std::string_view name) const;

  /// The first mistake made while building, if any.
  const std::optional<Error>& mistake() const { return mistake_; }
  void fail(Error error);

  /// Replaces the commands; what expand() uses.
  void set_body(Body body) { body_ = std::move(body); }
  /// Runs `build` with an empty open body and returns what it appended.
  Body collect(const std::function<void()>& build);

 private:
  /// A loop whose body is being built.
  struct OpenLoop {
    Bounds bounds;
    std::string label;
    std::optional<Scalar> index;
  };
  void append(Node node) { open_body().push_back(std::move(node)); }
  void check_initial(const BufferInfo& info);
  /// The name with a number that makes it none of the program's: buffers and scalars share one namespace.
  std::string unused_name(const std::string& name) const;
  /// The name itself where it is none of the program's yet.
  std::string own_name(const std::string& name) const { return names_.contains(name) ? unused_name(name) : name; }
  Body& open_body() { return open_.empty() ? body_ : *open_.back(); }

  std::string name_;
  std::vector<BufferInfo> buffers_;
  std::vector<ScalarInfo> scalars_;
  std::set<std::string, std::less<>> names_;  ///< of buffers and scalars
  Body body_;
  std::vector<Body*> open_;
  std::vector<OpenLoop> open_loops_;
  uint32_t loop_count_ = 0;
  std::optional<Error> mistake_;
};

}  // namespace wavegate::program
