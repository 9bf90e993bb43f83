#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

/// Runs a kernel. Bindings and parameters are in the order of its interface.
struct Dispatch {
  std::string label;
  std::shared_ptr<const KernelSource> kernel;
  std::vector<Operand> bindings;                          ///< Buffer or Scalar
  std::vector<std::variant<Literal, Scalar>> parameters;  ///< a scalar is read on the device when the kernel runs
  std::optional<Grid> grid;                               ///< exact geometry; the launch is derived from it
  std::optional<uint32_t> maximum_workgroups;             ///< a workload estimate; never geometry
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

/// Runs one body or the other by the predicate, read once on entry.
struct If {
  std::string label;
  Scalar predicate;
  std::vector<Node> then_body, else_body;
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

/// Repeats its body while the predicate, read before every iteration after the first `min`, is not zero.
struct While {
  std::string label;
  Loop loop;
  Scalar predicate;
  Bounds bounds;
  std::vector<Node> body;
};

struct Node {
  std::variant<Dispatch, Copy, Fill, Assign, Call, If, While> what;
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
  void if_(Scalar predicate, const std::function<void()>& then_body, const std::function<void()>& else_body = {},
           std::string label = "if");
  Loop while_(Scalar predicate, Bounds bounds, const std::function<void()>& body, std::string label = "while");

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
  void append(Node node) { open_body().push_back(std::move(node)); }
  void check_initial(const BufferInfo& info);
  /// The name with a number that makes it none of the program's: buffers and scalars share one namespace.
  std::string unused_name(const std::string& name) const;
  Body& open_body() { return open_.empty() ? body_ : *open_.back(); }

  std::string name_;
  std::vector<BufferInfo> buffers_;
  std::vector<ScalarInfo> scalars_;
  Body body_;
  std::vector<Body*> open_;
  uint32_t loop_count_ = 0;
  std::optional<Error> mistake_;
};

}  // namespace wavegate::program
