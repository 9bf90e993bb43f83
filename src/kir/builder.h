#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/kir/kernel.h"

namespace wavegate::kir {

class Builder;

/// A plain number of C++, which becomes a constant where it stands beside an expression.
template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// A value being built, with the operators of its type. `+ - *` choose the integer or float operation by type;
/// `/ % < <= > >= >>` on integers are unsigned, and the signed ones are functions of the builder.
/// Numbers convert: `i + 1`, `0.5f * x`. The C++ compiler picks which operand of an expression is built first; where
/// the order of loads or atomics matters, give them statements of their own. A default-constructed expression has no
/// builder and type none; using it with others is a mistake that finish() reports.
class Expr {
 public:
  Expr() = default;
  Expr(Builder* builder, Value value) : builder_(builder), value_(value) {}
  Value value() const { return value_; }
  Builder* builder() const { return builder_; }
  Type type() const;

 private:
  Builder* builder_ = nullptr;
  Value value_;
};

/// A number as a constant of the expression's type; an empty expression if that one is empty.
template <Number T>
Expr constant_like(Expr expression, T number);

/// An element of a memory, for reading and for assignment: `y[i] = a * x[i]`.
class Element {
 public:
  Element(Builder* builder, uint32_t memory, Expr index) : builder_(builder), memory_(memory), index_(index) {}
  Element(const Element&) = default;
  operator Expr() const;
  void operator=(Expr value) const;
  void operator=(const Element& other) const { *this = static_cast<Expr>(other); }
  template <Number T>
  void operator=(T number) const;

 private:
  Builder* builder_;
  uint32_t memory_;
  Expr index_;
};

/// A buffer, workgroup array or local array.
class MemoryRef {
 public:
  MemoryRef(Builder* builder, uint32_t memory) : builder_(builder), memory_(memory) {}
  Element operator[](Expr index) const { return {builder_, memory_, index}; }
  Element operator[](uint32_t index) const;
  uint32_t id() const { return memory_; }
  Builder* builder() const { return builder_; }
  Expr length() const;  ///< elements, i32; of a buffer: known at run time

 private:
  Builder* builder_;
  uint32_t memory_;
};

/// A local variable: reads as a value, assigned with `=`. The promotion pass turns it into SSA values.
class Variable {
 public:
  Variable(Builder* builder, uint32_t memory) : builder_(builder), memory_(memory) {}
  Variable(const Variable&) = default;
  operator Expr() const;
  void operator=(Expr value) const;
  void operator=(const Variable& other) const { *this = static_cast<Expr>(other); }
  template <Number T>
  void operator=(T number) const;

 private:
  Builder* builder_;
  uint32_t memory_;
};

/// A scalar binding: one word of the arena. Reads as a value, assigned with `=`.
class ScalarRef {
 public:
  ScalarRef(Builder* builder, uint32_t binding) : builder_(builder), binding_(binding) {}
  ScalarRef(const ScalarRef&) = default;
  operator Expr() const;
  void operator=(Expr value) const;
  void operator=(const ScalarRef& other) const { *this = static_cast<Expr>(other); }
  template <Number T>
  void operator=(T number) const;

 private:
  Builder* builder_;
  uint32_t binding_;
};

/// Builds one kernel. A mistake (types that do not fit, say) does not stop the building: the first one is kept
/// and returned by finish(). What follows `break_`, `continue_` or `return_` in the same body never runs and is
/// dropped. Memories named `variable.<number>` are the builder's own.
///
///     Builder b("saxpy", {64});
///     auto x = b.buffer("x", Type::f32, Access::read);
///     auto y = b.buffer("y", Type::f32, Access::read_write);
///     auto n = b.parameter("n", Type::i32);
///     auto a = b.parameter("a", Type::f32);
///     auto i = b.global_id();
///     b.if_(i < n, [&] { y[i] = a * x[i] + y[i]; });
///     Result<Kernel> saxpy = b.finish();
class Builder {
 public:
  using Body = std::function<void()>;

  explicit Builder(std::string name, std::array<uint32_t, 3> workgroup_size = {1, 1, 1});
  Builder(std::string name, std::initializer_list<uint32_t> workgroup_size);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Interface and memories.
  MemoryRef buffer(std::string name, Type element, Access access);
  ScalarRef scalar(std::string name, Type type, Access access);
  Expr parameter(std::string name, Type type);
  MemoryRef workgroup_array(std::string name, Type element, uint32_t length);
  MemoryRef local_array(std::string name, Type element, uint32_t length);
  Variable variable(Expr initial);

  // Values.
  Expr constant(Type type, uint64_t bits);
  Expr u32(uint32_t value) { return constant(Type::i32, value); }
  Expr f32(float value);
  Expr f64(double value);
  Expr boolean(bool value) { return constant(Type::boolean, value ? 1 : 0); }
  /// A number as a constant of the given type. One that the type cannot hold is a mistake: 0.5 as i32, 300 as i8.
  /// An integer may be anything from the smallest signed to the largest unsigned value; a float is rounded.
  template <Number T>
  Expr number(Type type, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return real_number(type, static_cast<double>(value));
    } else {
      bool negative = false;
      if constexpr (std::is_signed_v<T>) negative = value < 0;
      const auto bits = static_cast<uint64_t>(value);
      return integer_number(type, negative, negative ? 0 - bits : bits);
    }
  }
  Expr builtin(Builtin builtin, uint32_t dimension = 0);
  Expr global_id(uint32_t dimension = 0) { return builtin(Builtin::global_id, dimension); }
  Expr local_id(uint32_t dimension = 0) { return builtin(Builtin::local_id, dimension); }
  Expr workgroup_id(uint32_t dimension = 0) { return builtin(Builtin::workgroup_id, dimension); }
  Expr grid(uint32_t dimension = 0) { return builtin(Builtin::grid, dimension); }
  Expr select(Expr condition, Expr if_true, Expr if_false);
  Expr convert(Op op, Type to, Expr value);  ///< one of the conversions, bitcast to convert_f
  Expr bitcast(Type to, Expr value) { return convert(Op::bitcast, to, value); }

  /// Any operation of the table whose operands decide its type (add, less_s, fma, sqrt, subgroup_add, ...).
  Expr apply(Op op, std::initializer_list<Expr> operands);

  // Memory.
  Expr load(MemoryRef memory, Expr index);
  std::vector<Expr> load(MemoryRef memory, Expr index, uint32_t count);  ///< 1 to 4 consecutive elements
  void store(MemoryRef memory, Expr index, const std::vector<Expr>& values);
  Expr load_pointer(Type type, Expr address);
  void store_pointer(Expr address, Expr value);
  Expr atomic(Op op, MemoryRef memory, Expr index, Expr value, Scope scope = Scope::device,
              Order order = Order::relaxed);
  Expr atomic_compare_exchange(MemoryRef memory, Expr index, Expr expected, Expr desired, Scope scope = Scope::device,
                               Order order = Order::relaxed);
  void barrier(Scope scope = Scope::workgroup);
  void fence(Scope scope, Order order);
  Expr assume_uniform(Expr value, Scope scope);
  std::array<Expr, 4> ballot(Expr predicate);

  // Control flow. `break_` and `continue_` end the block they stand in.
  void if_(Expr condition, const Body& then_body, const Body& else_body = {});
  void loop(const Body& body);
  void switch_(Expr selector, const std::vector<std::pair<uint32_t, Body>>& cases, const Body& default_body = {});
  /// `for (i = begin; i < end; i += step)`, unsigned.
  void for_(Expr begin, Expr end, Expr step, const std::function<void(Expr)>& body);
  /// Tests the condition before every iteration.
  void while_(const std::function<Expr()>& condition, const Body& body);
  void break_();
  void continue_();
  void return_();

  /// The kernel with its local variables promoted and verified, or the first mistake. Call once.
  Result<Kernel> finish();

  // For Expr and its kin.
  Type type_of(Value value) const;
  void fail(std::string message);
  Type element_type(uint32_t memory) const;
  Type binding_type(uint32_t binding) const;
  Expr length(MemoryRef memory);
  void store_scalar(uint32_t binding, Expr value);
  Expr variable_index();
  void append(Instruction instruction);
  Expr append_value(Instruction instruction, Type type);

 private:
  Expr real_number(Type type, double value);
  Expr integer_number(Type type, bool negative, uint64_t magnitude);
  Expr poison(Type type);
  bool owns(Expr expression, std::string_view user);
  bool owns(MemoryRef memory, std::string_view user);
  MemoryRef add_memory(Memory memory);
  void run_block(Block& block, const Body& body, Op terminator);
  void end_block(Op terminator);

  Kernel kernel_;
  std::vector<Block*> blocks_;  ///< the open blocks, innermost last
  uint32_t loop_depth_ = 0;
  bool finished_ = false;
  std::optional<Value> variable_index_;  ///< the constant 0, if a variable was made
  std::optional<Error> error_;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator%(Expr a, Expr b);
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator<<(Expr a, Expr b);
Expr operator>>(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator!(Expr a);
Expr operator~(Expr a);

template <Number T>
Expr constant_like(Expr expression, T number) {
  return expression.builder() == nullptr ? Expr() : expression.builder()->number(expression.type(), number);
}

template <Number T>
void Element::operator=(T number) const {
  *this = builder_->number(builder_->element_type(memory_), number);
}

template <Number T>
void Variable::operator=(T number) const {
  *this = builder_->number(builder_->element_type(memory_), number);
}

template <Number T>
void ScalarRef::operator=(T number) const {
  *this = builder_->number(builder_->binding_type(binding_), number);
}

// A plain number beside an expression becomes a constant of the expression's type.
#define WAVEGATE_KIR_OPERATOR(symbol)    \
  template <Number T>                    \
  Expr operator symbol(Expr a, T b) {    \
    return a symbol constant_like(a, b); \
  }                                      \
  template <Number T>                    \
  Expr operator symbol(T a, Expr b) {    \
    return constant_like(b, a) symbol b; \
  }
WAVEGATE_KIR_OPERATOR(+)
WAVEGATE_KIR_OPERATOR(-)
WAVEGATE_KIR_OPERATOR(*)
WAVEGATE_KIR_OPERATOR(/)
WAVEGATE_KIR_OPERATOR(%)
WAVEGATE_KIR_OPERATOR(&)
WAVEGATE_KIR_OPERATOR(|)
WAVEGATE_KIR_OPERATOR(^)
WAVEGATE_KIR_OPERATOR(<<)
WAVEGATE_KIR_OPERATOR(>>)
WAVEGATE_KIR_OPERATOR(==)
WAVEGATE_KIR_OPERATOR(!=)
WAVEGATE_KIR_OPERATOR(<)
WAVEGATE_KIR_OPERATOR(<=)
WAVEGATE_KIR_OPERATOR(>)
WAVEGATE_KIR_OPERATOR(>=)
#undef WAVEGATE_KIR_OPERATOR

}  // namespace wavegate::kir
