#include "differential/interpreter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "wavegate/base/format.h"
#include "wavegate/kir/evaluate.h"
#include "wavegate/program/expression_type.h"
#include "wavegate/program/operation.h"
#include "wavegate/program/verify.h"

namespace wavegate::differential {

using device::reference::BoundRange;
using device::reference::Launch;
using device::reference::PreparedKernel;
using device::reference::Storage;
using kir::Op;
using program::Body;
using program::ScalarExpr;
using program::ScalarOp;
using program::ScalarType;

namespace {

Storage storage_of(uint64_t bytes) {
  return {std::vector<std::byte>(bytes), std::vector<uint8_t>(bytes)};
}

void fill_words(Storage& storage, uint64_t offset, uint64_t bytes, uint32_t word) {
  for (uint64_t i = 0; i + 4 <= bytes; i += 4) std::memcpy(storage.bytes.data() + offset + i, &word, 4);
  std::fill_n(storage.written.begin() + static_cast<ptrdiff_t>(offset), bytes, uint8_t{1});
}

/// The operation of kir that computes a scalar operation on words of one type.
Op word_op(ScalarOp op, ScalarType type) {
  const auto by_type = [&](Op f, Op s, Op u) {
    return type == ScalarType::float32 ? f : type == ScalarType::sint32 ? s : u;
  };
  switch (op) {
    case ScalarOp::add: return by_type(Op::add_f, Op::add, Op::add);
    case ScalarOp::subtract: return by_type(Op::sub_f, Op::sub, Op::sub);
    case ScalarOp::multiply: return by_type(Op::mul_f, Op::mul, Op::mul);
    case ScalarOp::divide: return by_type(Op::div_f, Op::div_s, Op::div_u);
    case ScalarOp::minimum: return by_type(Op::min_f, Op::min_s, Op::min_u);
    case ScalarOp::maximum: return by_type(Op::max_f, Op::max_s, Op::max_u);
    case ScalarOp::equal: return by_type(Op::equal_f, Op::equal, Op::equal);
    case ScalarOp::not_equal: return by_type(Op::not_equal_f, Op::not_equal, Op::not_equal);
    case ScalarOp::less: return by_type(Op::less_f, Op::less_s, Op::less_u);
    case ScalarOp::less_equal: return by_type(Op::less_equal_f, Op::less_equal_s, Op::less_equal_u);
    case ScalarOp::square_root: return Op::sqrt;
    case ScalarOp::to_float32: return by_type(Op::convert_f, Op::convert_s_to_f, Op::convert_u_to_f);
    case ScalarOp::to_uint32: return by_type(Op::convert_f_to_u, Op::bitcast, Op::bitcast);
    default: return by_type(Op::convert_f_to_s, Op::bitcast, Op::bitcast);  // to_sint32
  }
}

ScalarType result_type(ScalarOp op, ScalarType operands) {
  if (op == ScalarOp::to_float32) return ScalarType::float32;
  return op == ScalarOp::to_uint32 || op == ScalarOp::to_sint32 ? ScalarType::uint32 : operands;
}

uint32_t compute(ScalarOp op, ScalarType type, std::span<const uint64_t> x) {
  switch (op) {
    case ScalarOp::logical_and: return x[0] != 0 && x[1] != 0 ? 1 : 0;
    case ScalarOp::logical_or: return x[0] != 0 || x[1] != 0 ? 1 : 0;
    case ScalarOp::logical_not: return x[0] == 0 ? 1 : 0;
    case ScalarOp::select: return static_cast<uint32_t>(x[0] != 0 ? x[1] : x[2]);
    case ScalarOp::negate:
      // Of a float the sign alone; of an integer the two's complement.
      return type == ScalarType::float32 ? static_cast<uint32_t>(x[0]) ^ 0x80000000u
                                         : uint32_t{0} - static_cast<uint32_t>(x[0]);
    default: {
      const bool comparison = op >= ScalarOp::equal && op <= ScalarOp::less_equal;
      const kir::Type operand = program::kernel_type(type);
      const kir::Type result = comparison ? kir::Type::boolean : program::kernel_type(result_type(op, type));
      return static_cast<uint32_t>(kir::evaluate(word_op(op, type), result, operand, x));
    }
  }
}

}  // namespace

Interpreter::Interpreter(program::Program program, const Options& options)
    : program_(std::move(program)), options_(options) {}

Result<Interpreter> Interpreter::make(const program::Program& program, const target::Profile& profile,
                                      const Options& options) {
  WAVEGATE_TRY(program::Program expanded, program::expand(program, profile));
  WAVEGATE_CHECK(program::verify(expanded));
  Interpreter self(std::move(expanded), options);
  self.buffer_count_ = program.buffers().size();
  self.scalar_count_ = program.scalars().size();
  WAVEGATE_CHECK(self.prepare(self.program_.body(), profile));
  self.initialise();
  return self;
}

Result<void> Interpreter::prepare(const Body& body, const target::Profile& profile) {
  for (const program::Node& node : body) {
    if (const auto* branch = std::get_if<program::If>(&node.what)) {
      WAVEGATE_CHECK(prepare(branch->then_body, profile));
      WAVEGATE_CHECK(prepare(branch->else_body, profile));
    } else if (const auto* choice = std::get_if<program::Switch>(&node.what)) {
      for (const program::Case& one : choice->cases) WAVEGATE_CHECK(prepare(one.body, profile));
      WAVEGATE_CHECK(prepare(choice->default_body, profile));
    } else if (const auto* loop = std::get_if<program::While>(&node.what)) {
      WAVEGATE_CHECK(prepare(loop->body, profile));
    } else if (const auto* dispatch = std::get_if<program::Dispatch>(&node.what)) {
      const program::KernelSource* source = dispatch->kernel.get();
      if (kernels_.contains(source)) continue;
      WAVEGATE_TRY(const kir::KernelCode code, source->specialise(profile));
      const auto* kernel = std::get_if<std::shared_ptr<const kir::Kernel>>(&code);
      if (kernel == nullptr)
        return unsupported(
            format("kernel \"{}\" is a finished module; only kir can be interpreted", source->interface().name));
      WAVEGATE_TRY(PreparedKernel ready, PreparedKernel::make(**kernel));
      kernels_.emplace(source, Prepared{*kernel, std::move(ready)});
    }
  }
  return {};
}

void Interpreter::initialise() {
  for (const program::BufferInfo& info : program_.buffers()) {
    buffers_.push_back(storage_of(info.bytes()));
    if (info.external) fill_words(buffers_.back(), 0, info.bytes(), 0);  // as Device::allocate gives it
  }
  scalars_ = storage_of(program_.scalars().size() * 4);
  loops_.resize(program_.loop_count());
  reset();
}

void Interpreter::reset() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const program::BufferInfo& info = program_.buffers()[i];
    if (!info.initial) continue;
    fill_words(buffers_[i], 0, info.bytes(), info.initial->word);
    if (info.initial->bytes) std::ranges::copy(*info.initial->bytes, buffers_[i].bytes.begin());
  }
  for (uint32_t i = 0; i < program_.scalars().size(); ++i)
    if (const auto& initial = program_.scalars()[i].initial) write(program::Scalar{i}, *initial);
}

void Interpreter::set(program::Scalar scalar, uint32_t bits) {
  write(scalar, bits);
}

State Interpreter::state() const {
  State state;
  for (size_t i = 0; i < buffer_count_; ++i) state.buffers.push_back(buffers_[i].bytes);
  state.scalars.resize(scalar_count_);
  if (scalar_count_ > 0) std::memcpy(state.scalars.data(), scalars_.bytes.data(), scalar_count_ * 4);
  state.loops = loops_;
  return state;
}

Result<void> Interpreter::run() {
  steps_ = 0;
  std::ranges::fill(loops_, LoopState{});
  WAVEGATE_TRY(const Flow flow, run_body(program_.body()));
  if (flow != Flow::normal) return internal_error("a break or continue stands outside of every loop", program_.name());
  return {};
}

Result<void> Interpreter::count_step() {
  if (++steps_ <= options_.max_steps) return {};
  return invalid_input(format("does not end within {} steps", options_.max_steps), program_.name());
}

Result<Interpreter::Flow> Interpreter::run_body(const Body& body) {
  for (const program::Node& node : body) {
    WAVEGATE_CHECK(count_step());
    WAVEGATE_TRY(const Flow flow, std::visit([&](const auto& what) { return run(what); }, node.what));
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

// ---- scalars

Result<uint32_t> Interpreter::read(program::Scalar scalar) const {
  if (scalars_.written[scalar.id * 4] == 0)
    return invalid_input(format("scalar \"{}\" is read before it was written", program_.info(scalar).name));
  uint32_t bits = 0;
  std::memcpy(&bits, scalars_.bytes.data() + uint64_t{scalar.id} * 4, 4);
  return bits;
}

void Interpreter::write(program::Scalar scalar, uint32_t bits) {
  fill_words(scalars_, uint64_t{scalar.id} * 4, 4, bits);
}

Result<uint32_t> Interpreter::evaluate(const ScalarExpr& expression, ScalarType wanted) const {
  return evaluate(expression.root(), wanted);
}

Result<uint32_t> Interpreter::evaluate(const ScalarExpr::Node& node, ScalarType wanted) const {
  if (node.op == ScalarOp::literal) return program::literal_bits(node.literal, wanted);
  if (node.op == ScalarOp::scalar) return read(node.scalar);
  WAVEGATE_TRY(const ScalarType type, program::operand_type(program_, node));
  std::array<uint64_t, 3> operands = {};
  const uint32_t count = program::info(node.op).operand_count;
  for (uint32_t i = 0; i < count; ++i) {
    const bool condition = node.op == ScalarOp::select && i == 0;
    WAVEGATE_TRY(operands[i], evaluate(*node.operands[i], condition ? ScalarType::uint32 : type));
  }
  return compute(node.op, type, std::span(operands).first(count));
}

// ---- commands

Result<program::Grid> Interpreter::grid_of(const program::Dispatch& dispatch) const {
  if (!dispatch.computed_grid) return *dispatch.grid;
  const program::ComputedGrid& computed = *dispatch.computed_grid;
  program::Grid grid = {};
  for (size_t d = 0; d < 3; ++d) {
    WAVEGATE_TRY(grid[d], evaluate(computed.workgroups[d], ScalarType::uint32));
  }
  for (size_t d = 0; d < 3; ++d)
    if (grid[d] > computed.maximum[d])
      return invalid_input(format("the grid {}x{}x{} exceeds the declared maximum {}x{}x{}", grid[0], grid[1], grid[2],
                                  computed.maximum[0], computed.maximum[1], computed.maximum[2]),
                           format("dispatch \"{}\"", dispatch.label));
  return grid;
}

Result<Interpreter::Flow> Interpreter::run(const program::Dispatch& dispatch) {
  WAVEGATE_TRY(const program::Grid grid, grid_of(dispatch));
  ++statistics_.commands;
  if (std::ranges::find(grid, 0u) != grid.end()) return Flow::normal;
  std::vector<BoundRange> ranges;
  std::vector<uint32_t> words;
  for (const program::Operand& operand : dispatch.bindings) {
    if (const auto* buffer = std::get_if<program::Buffer>(&operand))
      ranges.push_back({&buffers_[buffer->id], 0, program_.info(*buffer).bytes()});
    else
      words.push_back(std::get<program::Scalar>(operand).id);
  }
  if (!words.empty()) ranges.push_back({&scalars_, 0, scalars_.bytes.size()});
  for (const auto& parameter : dispatch.parameters) {
    if (const auto* number = std::get_if<program::Literal>(&parameter)) {
      words.push_back(number->bits);
    } else {
      WAVEGATE_TRY(const uint32_t bits, read(std::get<program::Scalar>(parameter)));
      words.push_back(bits);
    }
  }
  Launch launch;
  launch.bindings = ranges;
  launch.words = words;
  launch.grid = grid;
  launch.max_steps = options_.max_kernel_steps;
  Result<void> ran = kernels_.at(dispatch.kernel.get()).ready.run(launch);
  if (ran) return Flow::normal;
  Error error = std::move(ran).error();
  error.where = format("kernel of dispatch \"{}\"", dispatch.label);
  return error;
}

Result<Interpreter::Flow> Interpreter::run(const program::Copy& copy) {
  ++statistics_.commands;
  const uint64_t size = kir::byte_size(program_.info(copy.source).element);
  const Storage& from = buffers_[copy.source.id];
  Storage& to = buffers_[copy.destination.id];
  const auto source = static_cast<ptrdiff_t>(copy.source_offset * size);
  const auto destination = static_cast<ptrdiff_t>(copy.destination_offset * size);
  std::copy_n(from.bytes.begin() + source, copy.count * size, to.bytes.begin() + destination);
  std::copy_n(from.written.begin() + source, copy.count * size, to.written.begin() + destination);
  return Flow::normal;
}

Result<Interpreter::Flow> Interpreter::run(const program::Fill& fill) {
  ++statistics_.commands;
  fill_words(buffers_[fill.destination.id], fill.offset * 4, fill.count * 4, fill.value.bits);
  return Flow::normal;
}

Result<Interpreter::Flow> Interpreter::run(const program::Assign& assign) {
  ++statistics_.commands;
  WAVEGATE_TRY(const uint32_t bits, evaluate(assign.value, program_.info(assign.destination).type));
  write(assign.destination, bits);
  return Flow::normal;
}

Result<Interpreter::Flow> Interpreter::run(const program::Record& record) {
  ++statistics_.commands;
  WAVEGATE_TRY(const uint32_t value, read(record.value));
  WAVEGATE_TRY(const uint32_t index, read(record.index));
  if (index < program_.info(record.history).count)
    fill_words(buffers_[record.history.id], uint64_t{index} * 4, 4, value);
  return Flow::normal;
}

Result<Interpreter::Flow> Interpreter::run(const program::Call& call) {
  return internal_error("a call is left in an expanded program", call.operation->name());
}

// ---- control flow

Result<Interpreter::Flow> Interpreter::run(const program::If& branch) {
  WAVEGATE_TRY(const uint32_t predicate, evaluate(branch.predicate, ScalarType::uint32));
  return run_body(predicate != 0 ? branch.then_body : branch.else_body);
}

Result<Interpreter::Flow> Interpreter::run(const program::Switch& choice) {
  WAVEGATE_TRY(const uint32_t selector, evaluate(choice.selector, ScalarType::uint32));
  const auto chosen = std::ranges::find(choice.cases, selector, &program::Case::value);
  return run_body(chosen != choice.cases.end() ? chosen->body : choice.default_body);
}

Result<Interpreter::Flow> Interpreter::run(const program::While& loop) {
  uint32_t trips = 0;
  while (!loop.bounds.max || trips < *loop.bounds.max) {
    WAVEGATE_CHECK(count_step());
    if (trips >= loop.bounds.min) {
      WAVEGATE_TRY(const uint32_t predicate, evaluate(loop.predicate, ScalarType::uint32));
      if (predicate == 0) break;
    }
    if (loop.index) write(*loop.index, trips);
    ++trips;
    WAVEGATE_TRY(const Flow flow, run_body(loop.body));
    if (flow == Flow::leave) break;
  }
  WAVEGATE_TRY(const uint32_t predicate, evaluate(loop.predicate, ScalarType::uint32));
  loops_[loop.loop.id] = {trips, predicate == 0};
  ++statistics_.loop_exits;
  statistics_.converged += predicate == 0 ? 1 : 0;
  statistics_.most_trips = std::max(statistics_.most_trips, trips);
  return Flow::normal;
}

Result<Interpreter::Flow> Interpreter::run(const program::Break&) {
  ++statistics_.breaks;
  return Flow::leave;
}

Result<Interpreter::Flow> Interpreter::run(const program::Continue&) {
  ++statistics_.continues;
  return Flow::next;
}

}  // namespace wavegate::differential
