#include "wavegate/kir/builder.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

#include "wavegate/base/format.h"
#include "wavegate/kir/float16.h"
#include "wavegate/kir/passes/promote_variables.h"
#include "wavegate/kir/type_rules.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

uint64_t largest_unsigned(Type type) {
  return std::numeric_limits<uint64_t>::max() >> (64 - bit_width(type));
}

/// The bits of a float; nothing if a finite value lies beyond the largest of the type.
std::optional<uint64_t> float_bits(Type type, double value) {
  constexpr double kLargestHalf = 65504;
  const double largest = type == Type::f16 ? kLargestHalf : type == Type::f32 ? double{FLT_MAX} : DBL_MAX;
  if (std::isfinite(value) && std::abs(value) > largest) return std::nullopt;
  if (type == Type::f16) return double_to_float16(value);
  if (type == Type::f32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

/// Operations whose instruction is nothing but its operands, of which they have the type.
bool operands_decide_type(Op op) {
  const OpInfo& row = info(op);
  const bool converts = op >= Op::bitcast && op <= Op::convert_f;
  const bool has_attributes = op == Op::assume_uniform || op == Op::subgroup_ballot;
  return (row.effect == Effect::pure || row.effect == Effect::convergent) && row.operand_count > 0 && !converts &&
         !has_attributes;
}

Type result_type(const OpInfo& row, std::span<const Type> operands) {
  if (row.type == Shape::boolean) return Type::boolean;
  for (size_t i = 0; i < operands.size() && i < std::size(row.operands); ++i)
    if (row.operands[i] == Shape::same) return operands[i];
  return Type::none;
}

bool is_used(const Kernel& kernel, Value value) {
  bool used = false;
  walk(kernel.body, [&](const Instruction& instruction) {
    used = used || std::ranges::find(instruction.operands, value) != instruction.operands.end();
  });
  return used;
}

Expr apply_by_type(Op integer_op, Op float_op, Expr a, Expr b) {
  Builder* builder = a.builder() != nullptr ? a.builder() : b.builder();
  return builder == nullptr ? Expr() : builder->apply(is_float(a.type()) ? float_op : integer_op, {a, b});
}

Expr apply_for(Op op, bool (*admits)(Type), std::string_view symbol, Expr a) {
  if (a.builder() == nullptr) return {};
  if (!admits(a.type())) {
    a.builder()->fail(format("operator {} does not apply to {}", symbol, to_string(a.type())));
    return a;
  }
  return a.builder()->apply(op, {a});
}

}  // namespace

Type Expr::type() const {
  return builder_ == nullptr ? Type::none : builder_->type_of(value_);
}

Element::operator Expr() const {
  return builder_->load(MemoryRef(builder_, memory_), index_);
}
void Element::operator=(Expr value) const {
  builder_->store(MemoryRef(builder_, memory_), index_, {value});
}

Element MemoryRef::operator[](uint32_t index) const {
  return {builder_, memory_, builder_->u32(index)};
}
Expr MemoryRef::length() const {
  return builder_->length(*this);
}

Variable::operator Expr() const {
  return builder_->load(MemoryRef(builder_, memory_), builder_->variable_index());
}
void Variable::operator=(Expr value) const {
  builder_->store(MemoryRef(builder_, memory_), builder_->variable_index(), {value});
}

ScalarRef::operator Expr() const {
  return builder_->append_value({.op = Op::load_scalar, .index = binding_}, builder_->binding_type(binding_));
}
void ScalarRef::operator=(Expr value) const {
  builder_->store_scalar(binding_, value);
}

Builder::Builder(std::string name, std::array<uint32_t, 3> workgroup_size) {
  kernel_.interface.name = std::move(name);
  kernel_.interface.workgroup_size = workgroup_size;
  blocks_.push_back(&kernel_.body);
}

Builder::Builder(std::string name, std::initializer_list<uint32_t> workgroup_size)
    : Builder(std::move(name), std::array<uint32_t, 3>{1, 1, 1}) {
  auto& sizes = kernel_.interface.workgroup_size;
  if (workgroup_size.size() > sizes.size())
    fail(format("a workgroup size has at most {} dimensions, not {}", sizes.size(), workgroup_size.size()));
  std::copy_n(workgroup_size.begin(), std::min(workgroup_size.size(), sizes.size()), sizes.begin());
}

MemoryRef Builder::add_memory(Memory memory) {
  kernel_.memories.push_back(std::move(memory));
  return {this, static_cast<uint32_t>(kernel_.memories.size() - 1)};
}

MemoryRef Builder::buffer(std::string name, Type element, Access access) {
  const auto binding = static_cast<uint32_t>(kernel_.interface.bindings.size());
  kernel_.interface.bindings.push_back({name, BindingKind::buffer, element, access});
  return add_memory({std::move(name), MemorySpace::buffer, element, 0, binding});
}

ScalarRef Builder::scalar(std::string name, Type type, Access access) {
  kernel_.interface.bindings.push_back({std::move(name), BindingKind::scalar, type, access});
  return {this, static_cast<uint32_t>(kernel_.interface.bindings.size() - 1)};
}

Expr Builder::parameter(std::string name, Type type) {
  kernel_.interface.parameters.push_back({std::move(name), type});
  const auto index = static_cast<uint32_t>(kernel_.interface.parameters.size() - 1);
  return append_value({.op = Op::parameter, .index = index}, type);
}

MemoryRef Builder::workgroup_array(std::string name, Type element, uint32_t length) {
  return add_memory({std::move(name), MemorySpace::workgroup, element, length, 0});
}

MemoryRef Builder::local_array(std::string name, Type element, uint32_t length) {
  return add_memory({std::move(name), MemorySpace::local, element, length, 0});
}

Variable Builder::variable(Expr initial) {
  if (!owns(initial, "variable")) initial = poison(Type::i32);
  std::string name = format("variable.{}", kernel_.memories.size());
  const MemoryRef memory = local_array(std::move(name), initial.type(), 1);
  store(memory, variable_index(), {initial});
  return {this, memory.id()};
}

/// One constant for all variables, defined by finish() where every block sees it.
Expr Builder::variable_index() {
  if (!variable_index_) variable_index_ = kernel_.new_value(Type::i32);
  return {this, *variable_index_};
}

Expr Builder::constant(Type type, uint64_t bits) {
  if (type == Type::none || bits > largest_unsigned(type)) {
    fail(format("constant: the bits {:#x} do not fit {}", bits, to_string(type)));
    return poison(type);
  }
  return append_value({.op = Op::constant, .bits = bits}, type);
}

Expr Builder::f32(float value) {
  return constant(Type::f32, std::bit_cast<uint32_t>(value));
}
Expr Builder::f64(double value) {
  return constant(Type::f64, std::bit_cast<uint64_t>(value));
}

Expr Builder::real_number(Type type, double value) {
  if (is_float(type)) {
    if (const auto bits = float_bits(type, value)) return constant(type, *bits);
  } else if (std::trunc(value) == value && std::abs(value) < 0x1p64) {
    return integer_number(type, value < 0, static_cast<uint64_t>(std::abs(value)));
  }
  fail(format("the number {} does not fit {}", value, to_string(type)));
  return poison(type);
}

Expr Builder::integer_number(Type type, bool negative, uint64_t magnitude) {
  if (is_float(type)) {  // rounded once: f32 holds no 64-bit integer that f64 would have to round first
    if (type == Type::f32) {
      const auto value = static_cast<float>(magnitude);
      return f32(negative ? -value : value);
    }
    const auto value = static_cast<double>(magnitude);
    return real_number(type, negative ? -value : value);
  }
  const uint64_t largest = type == Type::none ? 0 : largest_unsigned(type);
  const uint64_t largest_magnitude = !negative ? largest : is_integer(type) ? largest / 2 + 1 : 0;
  if (type == Type::none || magnitude > largest_magnitude) {
    fail(format("the number {}{} does not fit {}", negative ? "-" : "", magnitude, to_string(type)));
    return poison(type);
  }
  return constant(type, (negative ? 0 - magnitude : magnitude) & largest);
}

Expr Builder::builtin(Builtin builtin, uint32_t dimension) {
  return append_value({.op = Op::builtin, .builtin = builtin, .index = dimension}, Type::i32);
}

Expr Builder::select(Expr condition, Expr if_true, Expr if_false) {
  return apply(Op::select, {condition, if_true, if_false});
}

Expr Builder::convert(Op op, Type to, Expr value) {
  if (op < Op::bitcast || op > Op::convert_f) {
    fail(format("{} is not a conversion", info(op).name));
    return poison(to);
  }
  if (!owns(value, info(op).name)) return poison(to);
  const Type from[] = {value.type()};
  if (auto complaint = type_mismatch(op, to, from)) {
    fail(*std::move(complaint));
    return poison(to);
  }
  return append_value({.op = op, .operands = {value.value()}}, to);
}

Expr Builder::apply(Op op, std::initializer_list<Expr> operands) {
  const OpInfo& row = info(op);
  std::vector<Type> types;
  Instruction instruction{.op = op};
  for (const Expr operand : operands) {
    if (!owns(operand, row.name)) return poison(row.type == Shape::boolean ? Type::boolean : operand.type());
    types.push_back(operand.type());
    instruction.operands.push_back(operand.value());
  }
  const Type type = result_type(row, types);
  if (!operands_decide_type(op)) {
    fail(format("{} needs more than operands; use the builder's function for it", row.name));
    return poison(type);
  }
  if (auto complaint = type_mismatch(op, type, types)) {
    fail(*std::move(complaint));
    return poison(type);
  }
  return append_value(std::move(instruction), type);
}

Expr Builder::length(MemoryRef memory) {
  if (!owns(memory, "length")) return poison(Type::i32);
  const Memory& described = kernel_.memories[memory.id()];
  if (described.space != MemorySpace::buffer) return u32(described.length);
  return append_value({.op = Op::array_length, .memory = memory.id()}, Type::i32);
}

Expr Builder::load(MemoryRef memory, Expr index) {
  return load(memory, index, 1).front();
}

std::vector<Expr> Builder::load(MemoryRef memory, Expr index, uint32_t count) {
  const uint32_t largest = 4;
  if (count < 1 || count > largest) {
    fail(format("a load has 1 to {} results, not {}", largest, count));
    count = largest;
  }
  if (!owns(memory, "load") || !owns(index, "load")) return std::vector<Expr>(count, poison(Type::i32));
  Instruction instruction{.op = Op::load, .type = element_type(memory.id()), .memory = memory.id()};
  instruction.operands = {index.value()};
  std::vector<Expr> loaded;
  for (uint32_t i = 0; i < count; ++i) {
    instruction.results.push_back(kernel_.new_value(instruction.type));
    loaded.emplace_back(this, instruction.results.back());
  }
  append(std::move(instruction));
  return loaded;
}

void Builder::store(MemoryRef memory, Expr index, const std::vector<Expr>& values) {
  if (!owns(memory, "store") || !owns(index, "store")) return;
  Instruction instruction{.op = Op::store, .type = element_type(memory.id()), .memory = memory.id()};
  instruction.operands = {index.value()};
  for (const Expr value : values) {
    if (!owns(value, "store")) return;
    instruction.operands.push_back(value.value());
  }
  append(std::move(instruction));
}

void Builder::store_scalar(uint32_t binding, Expr value) {
  if (!owns(value, "store_scalar")) return;
  append({.op = Op::store_scalar, .type = value.type(), .index = binding, .operands = {value.value()}});
}

Expr Builder::load_pointer(Type type, Expr address) {
  if (!owns(address, "load")) return poison(type);
  return append_value({.op = Op::load, .memory = kPointer, .operands = {address.value()}}, type);
}

void Builder::store_pointer(Expr address, Expr value) {
  if (!owns(address, "store") || !owns(value, "store")) return;
  append({.op = Op::store, .type = value.type(), .memory = kPointer, .operands = {address.value(), value.value()}});
}

Expr Builder::atomic(Op op, MemoryRef memory, Expr index, Expr value, Scope scope, Order order) {
  const std::string_view name = info(op).name;
  if (!is_atomic(op) || op == Op::atomic_compare_exchange) {
    fail(format("atomic: {} is not an atomic operation of one value", name));
    return poison(Type::i32);
  }
  if (!owns(memory, name) || !owns(index, name) || !owns(value, name)) return poison(Type::i32);
  return append_value(
      {.op = op, .scope = scope, .order = order, .memory = memory.id(), .operands = {index.value(), value.value()}},
      element_type(memory.id()));
}

Expr Builder::atomic_compare_exchange(MemoryRef memory, Expr index, Expr expected, Expr desired, Scope scope,
                                      Order order) {
  const std::string_view name = info(Op::atomic_compare_exchange).name;
  if (!owns(memory, name) || !owns(index, name) || !owns(expected, name) || !owns(desired, name))
    return poison(Type::i32);
  return append_value({.op = Op::atomic_compare_exchange,
                       .scope = scope,
                       .order = order,
                       .memory = memory.id(),
                       .operands = {index.value(), expected.value(), desired.value()}},
                      element_type(memory.id()));
}

void Builder::barrier(Scope scope) {
  append({.op = Op::barrier, .scope = scope});
}
void Builder::fence(Scope scope, Order order) {
  append({.op = Op::fence, .scope = scope, .order = order});
}

Expr Builder::assume_uniform(Expr value, Scope scope) {
  if (!owns(value, "assume_uniform")) return poison(value.type());
  return append_value({.op = Op::assume_uniform, .scope = scope, .operands = {value.value()}}, value.type());
}

std::array<Expr, 4> Builder::ballot(Expr predicate) {
  if (!owns(predicate, "subgroup_ballot")) {
    const Expr word = poison(Type::i32);
    return {word, word, word, word};
  }
  Instruction instruction{.op = Op::subgroup_ballot, .type = Type::i32, .operands = {predicate.value()}};
  std::array<Expr, 4> words;
  for (Expr& word : words) {
    instruction.results.push_back(kernel_.new_value(Type::i32));
    word = Expr(this, instruction.results.back());
  }
  append(std::move(instruction));
  return words;
}

void Builder::if_(Expr condition, const Body& then_body, const Body& else_body) {
  if (!owns(condition, "if_")) condition = poison(Type::boolean);
  Instruction instruction{.op = Op::if_, .operands = {condition.value()}};
  instruction.blocks.resize(2);
  run_block(instruction.blocks[0], then_body, Op::yield);
  run_block(instruction.blocks[1], else_body, Op::yield);
  append(std::move(instruction));
}

void Builder::loop(const Body& body) {
  Instruction instruction{.op = Op::loop};
  instruction.blocks.resize(1);
  ++loop_depth_;
  run_block(instruction.blocks[0], body, Op::continue_);
  --loop_depth_;
  append(std::move(instruction));
}

void Builder::switch_(Expr selector, const std::vector<std::pair<uint32_t, Body>>& cases, const Body& default_body) {
  if (!owns(selector, "switch_")) selector = poison(Type::i32);
  Instruction instruction{.op = Op::switch_, .operands = {selector.value()}};
  instruction.blocks.resize(cases.size() + 1);
  for (size_t i = 0; i < cases.size(); ++i) {
    instruction.cases.push_back(cases[i].first);
    run_block(instruction.blocks[i], cases[i].second, Op::yield);
  }
  run_block(instruction.blocks.back(), default_body, Op::yield);
  append(std::move(instruction));
}

void Builder::for_(Expr begin, Expr end, Expr step, const std::function<void(Expr)>& body) {
  const Variable next = variable(begin);
  loop([&] {
    const Expr current = next;
    if_(current < end, {}, [&] { break_(); });
    next = current + step;  // before the body, so that `continue_` in it goes on with the next value
    if (body) body(current);
  });
}

void Builder::while_(const std::function<Expr()>& condition, const Body& body) {
  loop([&] {
    if_(condition ? condition() : Expr(), {}, [&] { break_(); });
    if (body) body();
  });
}

void Builder::break_() {
  if (loop_depth_ == 0) fail("break_ stands outside every loop");
  end_block(Op::break_);
}

void Builder::continue_() {
  if (loop_depth_ == 0) fail("continue_ stands outside every loop");
  end_block(Op::continue_);
}

void Builder::return_() {
  end_block(Op::return_);
}

Result<Kernel> Builder::finish() {
  if (finished_) fail("finish was called before");
  if (blocks_.size() > 1) fail("finish was called inside a body");
  return_();
  finished_ = true;
  if (error_) return *error_;
  std::vector<Instruction>& body = kernel_.body.instructions;
  if (variable_index_) {
    body.insert(body.begin(), {.op = Op::constant, .type = Type::i32, .results = {*variable_index_}});
  }
  WAVEGATE_CHECK(verify_structure(kernel_));
  WAVEGATE_TRY([[maybe_unused]] const PassStats promoted, promote_variables(kernel_));
  if (variable_index_ && !is_used(kernel_, *variable_index_)) body.erase(body.begin());
  WAVEGATE_CHECK(verify(kernel_));
  return std::move(kernel_);
}

Type Builder::type_of(Value value) const {
  return value.id < kernel_.value_types.size() ? kernel_.type_of(value) : Type::none;
}

Type Builder::element_type(uint32_t memory) const {
  return memory < kernel_.memories.size() ? kernel_.memories[memory].element : Type::none;
}

Type Builder::binding_type(uint32_t binding) const {
  const auto& bindings = kernel_.interface.bindings;
  return binding < bindings.size() ? bindings[binding].type : Type::none;
}

void Builder::fail(std::string message) {
  if (!error_) error_ = invalid_input(format("kernel \"{}\": {}", kernel_.interface.name, message));
}

void Builder::append(Instruction instruction) {
  std::vector<Instruction>& body = blocks_.back()->instructions;
  const bool unreachable = !body.empty() && is_terminator(body.back().op);
  if (!unreachable && !finished_) body.push_back(std::move(instruction));
}

Expr Builder::append_value(Instruction instruction, Type type) {
  const Value value = kernel_.new_value(type);
  instruction.type = type;
  instruction.results = {value};
  append(std::move(instruction));
  return {this, value};
}

/// Stands for the value that a mistake prevented, so that building can go on. Only after fail().
Expr Builder::poison(Type type) {
  return append_value({.op = Op::constant}, type == Type::none ? Type::i32 : type);
}

bool Builder::owns(Expr expression, std::string_view user) {
  if (expression.builder() == this) return true;
  fail(expression.builder() == nullptr ? format("{} uses an expression that was never given a value", user)
                                       : format("{} uses an expression of another builder", user));
  return false;
}

bool Builder::owns(MemoryRef memory, std::string_view user) {
  if (memory.builder() == this && memory.id() < kernel_.memories.size()) return true;
  fail(format("{} uses a memory of another builder", user));
  return false;
}

void Builder::run_block(Block& block, const Body& body, Op terminator) {
  blocks_.push_back(&block);
  if (body) body();
  end_block(terminator);
  blocks_.pop_back();
}

/// Does nothing in a block that ended before.
void Builder::end_block(Op terminator) {
  append({.op = terminator});
}

Expr operator+(Expr a, Expr b) {
  return apply_by_type(Op::add, Op::add_f, a, b);
}
Expr operator-(Expr a, Expr b) {
  return apply_by_type(Op::sub, Op::sub_f, a, b);
}
Expr operator*(Expr a, Expr b) {
  return apply_by_type(Op::mul, Op::mul_f, a, b);
}
Expr operator/(Expr a, Expr b) {
  return apply_by_type(Op::div_u, Op::div_f, a, b);
}
Expr operator%(Expr a, Expr b) {
  return apply_by_type(Op::rem_u, Op::rem_u, a, b);
}
Expr operator&(Expr a, Expr b) {
  return apply_by_type(Op::and_, Op::and_, a, b);
}
Expr operator|(Expr a, Expr b) {
  return apply_by_type(Op::or_, Op::or_, a, b);
}
Expr operator^(Expr a, Expr b) {
  return apply_by_type(Op::xor_, Op::xor_, a, b);
}
Expr operator<<(Expr a, Expr b) {
  return apply_by_type(Op::shift_left, Op::shift_left, a, b);
}
Expr operator>>(Expr a, Expr b) {
  return apply_by_type(Op::shift_right_u, Op::shift_right_u, a, b);
}
Expr operator==(Expr a, Expr b) {
  return apply_by_type(Op::equal, Op::equal_f, a, b);
}
Expr operator!=(Expr a, Expr b) {
  return apply_by_type(Op::not_equal, Op::not_equal_f, a, b);
}
Expr operator<(Expr a, Expr b) {
  return apply_by_type(Op::less_u, Op::less_f, a, b);
}
Expr operator<=(Expr a, Expr b) {
  return apply_by_type(Op::less_equal_u, Op::less_equal_f, a, b);
}
Expr operator>(Expr a, Expr b) {
  return b < a;
}
Expr operator>=(Expr a, Expr b) {
  return b <= a;
}

Expr operator-(Expr a) {
  if (a.builder() == nullptr) return {};
  return is_float(a.type()) ? a.builder()->apply(Op::neg_f, {a}) : constant_like(a, 0) - a;
}
Expr operator!(Expr a) {
  return apply_for(
      Op::not_, [](Type type) { return type == Type::boolean; }, "!", a);
}
Expr operator~(Expr a) {
  return apply_for(Op::not_, is_integer, "~", a);
}

}  // namespace wavegate::kir
