#include "wavegate/program/program.h"

#include <algorithm>

#include "wavegate/base/format.h"

namespace wavegate::program {

Grid grid_for(std::array<uint32_t, 3> threads, std::array<uint32_t, 3> workgroup_size) {
  Grid grid{};
  for (size_t d = 0; d < 3; ++d)
    grid[d] = threads[d] / workgroup_size[d] + (threads[d] % workgroup_size[d] != 0 ? 1 : 0);
  return grid;
}

ComputedGrid computed_grid_for(const std::array<ScalarExpr, 3>& threads, std::array<uint32_t, 3> workgroup_size,
                               Grid maximum) {
  const auto covering = [](const ScalarExpr& count, uint32_t size) {
    if (size == 1) return count;
    const ScalarExpr whole = count / size;  // rounded up without count + size, which may wrap
    return whole + not_equal(whole * size, count);
  };
  return {{covering(threads[0], workgroup_size[0]), covering(threads[1], workgroup_size[1]),
           covering(threads[2], workgroup_size[2])},
          maximum};
}

void Program::fail(Error error) {
  if (!mistake_) mistake_ = std::move(error);
}

Buffer Program::buffer(std::string name, kir::Type element, uint64_t count, std::optional<Initial> initial) {
  if (kir::bit_width(element) < 8)
    fail(invalid_input("a buffer cannot hold " + std::string(kir::to_string(element)), name));
  BufferInfo info{std::move(name), element, count, std::move(initial)};
  if (count == 0) fail(invalid_input(format("buffer \"{}\" has no elements", info.name)));
  if (count > (uint64_t{1} << 48)) {
    fail(invalid_input(format("buffer \"{}\" of {} elements is larger than any device", info.name, count)));
    info.count = 1;
    info.initial.reset();
  }
  check_initial(info);
  names_.insert(info.name);
  buffers_.push_back(std::move(info));
  return Buffer{static_cast<uint32_t>(buffers_.size() - 1)};
}

void Program::check_initial(const BufferInfo& info) {
  if (info.initial && info.initial->bytes && info.initial->bytes->size() != info.bytes())
    fail(invalid_input(format("buffer \"{}\" holds {} bytes, but its initial contents have {}", info.name, info.bytes(),
                              info.initial->bytes->size())));
}

void Program::set_initial(Buffer buffer, Initial initial) {
  if (buffer.id >= buffers_.size())
    return fail(invalid_input("initial contents are given to a buffer of another program"));
  BufferInfo& info = buffers_[buffer.id];
  if (info.external)
    return fail(
        invalid_input(format("buffer \"{}\" is external; write its contents to the memory that is bound", info.name)));
  info.initial = std::move(initial);
  check_initial(info);
}

Buffer Program::external_buffer(std::string name, kir::Type element, uint64_t count) {
  const Buffer handle = buffer(std::move(name), element, count);
  buffers_.back().external = true;
  return handle;
}

std::string Program::unused_name(const std::string& name) const {
  for (size_t number = buffers_.size() + scalars_.size();; ++number) {
    std::string numbered = format("{}#{}", name, number);
    if (!names_.contains(numbered)) return numbered;
  }
}

Buffer Program::temporary(const std::string& name, kir::Type element, uint64_t count) {
  return buffer(unused_name(name), element, count);
}

Scalar Program::temporary(const std::string& name, ScalarType type) {
  return scalar(unused_name(name), type);
}

Scalar Program::scalar(std::string name, ScalarType type, std::optional<uint32_t> initial_bits) {
  names_.insert(name);
  scalars_.push_back({std::move(name), type, initial_bits});
  return Scalar{static_cast<uint32_t>(scalars_.size() - 1)};
}

Scalar Program::scalar_f32(std::string name, float initial) {
  return scalar(std::move(name), ScalarType::float32, std::bit_cast<uint32_t>(initial));
}

Scalar Program::parameter(std::string name, Literal initial) {
  const Scalar handle = scalar(std::move(name), initial.type, initial.bits);
  scalars_.back().parameter = true;
  return handle;
}

CsrMatrix Program::csr_matrix(const std::string& name, uint32_t rows, uint32_t columns,
                              std::vector<uint32_t> row_offsets, std::vector<uint32_t> column_indices,
                              std::vector<float> values) {
  if (row_offsets.size() != uint64_t{rows} + 1 || row_offsets.front() != 0 || !std::ranges::is_sorted(row_offsets) ||
      row_offsets.back() != column_indices.size() || column_indices.size() != values.size() ||
      std::ranges::any_of(column_indices, [&](uint32_t column) { return column >= columns; }))
    fail(invalid_input(format("matrix \"{}\" is not in compressed sparse row form", name)));
  CsrMatrix matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.nonzeros = static_cast<uint32_t>(values.size());
  if (values.empty()) {  // a buffer cannot be empty; the row offsets say that nothing is read
    column_indices.push_back(0);
    values.push_back(0.0f);
  }
  const auto own = [&](const char* part, kir::Type type, const auto& elements) {
    return buffer(name + "." + part, type, elements.size(), Initial::copy_of(elements));
  };
  matrix.row_offsets = own("row_offsets", kir::Type::i32, row_offsets);
  matrix.column_indices = own("column_indices", kir::Type::i32, column_indices);
  matrix.values = own("values", kir::Type::f32, values);
  return matrix;
}

void Program::output(Buffer buffer) {
  if (buffer.id >= buffers_.size()) return fail(invalid_input("an output names a buffer of another program"));
  buffers_[buffer.id].output = true;
}

void Program::dispatch(Dispatch dispatch) {
  append({std::move(dispatch)});
}
void Program::copy(Copy copy) {
  append({std::move(copy)});
}
void Program::fill(Fill fill) {
  append({std::move(fill)});
}

void Program::fill(Buffer buffer, Literal value) {
  if (buffer.id >= buffers_.size()) return fail(invalid_input("a fill names a buffer of another program"));
  append({Fill{"fill " + info(buffer).name, buffer, 0, info(buffer).count, value}});
}

void Program::assign(Scalar destination, ScalarExpr value) {
  append({Assign{destination, std::move(value)}});
}

void Program::call(std::shared_ptr<const Operation> operation, std::vector<Operand> operands) {
  append({Call{std::move(operation), std::move(operands)}});
}

Body Program::collect(const std::function<void()>& build) {
  Body body;
  if (!build) return body;
  open_.push_back(&body);
  build();
  open_.pop_back();
  return body;
}

void Program::if_(ScalarExpr predicate, const std::function<void()>& then_body, const std::function<void()>& else_body,
                  std::string label) {
  If node{std::move(label), std::move(predicate), collect(then_body), collect(else_body)};
  append({std::move(node)});
}

void Program::switch_(ScalarExpr selector, const std::vector<std::pair<uint32_t, std::function<void()>>>& cases,
                      const std::function<void()>& default_body, std::string label) {
  Switch node{std::move(label), std::move(selector), {}, {}};
  for (const auto& [value, body] : cases) node.cases.push_back({value, collect(body)});
  node.default_body = collect(default_body);
  append({std::move(node)});
}

Loop Program::while_(ScalarExpr predicate, Bounds bounds, const std::function<void()>& body, std::string label) {
  const Loop loop{loop_count_++};
  open_loops_.push_back({bounds, label, {}});
  Body commands = collect(body);
  const std::optional<Scalar> index = open_loops_.back().index;
  open_loops_.pop_back();
  append({While{std::move(label), loop, std::move(predicate), bounds, std::move(commands), index}});
  return loop;
}

void Program::break_() {
  if (open_loops_.empty()) return fail(invalid_input("break_ stands outside of every loop; only a loop can be ended"));
  append({Break{}});
}

void Program::continue_() {
  if (open_loops_.empty())
    return fail(invalid_input("continue_ stands outside of every loop; only an iteration can be ended"));
  append({Continue{}});
}

Scalar Program::iteration() {
  if (open_loops_.empty()) {
    fail(invalid_input("iteration() is asked for outside of every loop; call it in the body of the loop it counts"));
    return scalar(own_name("iteration"), ScalarType::uint32, 0);
  }
  std::optional<Scalar>& index = open_loops_.back().index;
  if (!index) {
    index = scalar(own_name(open_loops_.back().label + ".iteration"), ScalarType::uint32, 0);
    scalars_.back().loop_index = true;
  }
  return *index;
}

Buffer Program::record(Scalar value, std::optional<uint32_t> capacity, std::string name) {
  const bool known = value.id < scalars_.size();
  const std::string of = known ? info(value).name : "value";
  const ScalarType type = known ? info(value).type : ScalarType::uint32;
  if (name.empty()) name = own_name(of + ".history");
  const auto refused = [&](std::string_view why) {
    fail(invalid_input(format("record of \"{}\" {}", of, why)));
    return buffer(name, kernel_type(type), 1, Initial::zero());
  };
  if (!known) return refused("names a scalar of another program");
  if (open_loops_.empty()) return refused("stands outside of every loop; it keeps one value an iteration");
  const OpenLoop& loop = open_loops_.back();
  if (!capacity) {
    if (!loop.bounds.max)
      return refused(
          format("needs a capacity, since while \"{}\" has no max; say how many iterations are kept", loop.label));
    capacity = std::max(1u, *loop.bounds.max);
  }
  if (*capacity == 0) return refused("has a capacity of 0; say how many iterations are kept");
  if (*capacity > kMaximumHistory)
    return refused(format("in while \"{}\" would keep {} iterations, more than {}; give a smaller capacity", loop.label,
                          *capacity, kMaximumHistory));
  const Scalar index = iteration();
  const Buffer history = buffer(std::move(name), kernel_type(type), *capacity, Initial::zero());
  output(history);
  append({Record{value, history, index}});
  return history;
}

std::optional<Buffer> Program::find_buffer(std::string_view name) const {
  for (uint32_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].name == name) return Buffer{i};
  return std::nullopt;
}

std::optional<Scalar> Program::find_scalar(std::string_view name) const {
  for (uint32_t i = 0; i < scalars_.size(); ++i)
    if (scalars_[i].name == name) return Scalar{i};
  return std::nullopt;
}

}  // namespace wavegate::program
