#include "wavegate/emit/spirv/emitter.h"

#include <map>

#include "emit/spirv/support.h"
#include "wavegate/kir/type_rules.h"

namespace wavegate::emit::spirv {
namespace {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Kernel;
using kir::MemoryRef;
using kir::Op;
using kir::Order;
using kir::Scope;
using kir::Type;
using testing::HasSubstr;
using testing::Not;

constexpr Type kStorable[] = {Type::i8, Type::i16, Type::i32, Type::i64, Type::f16, Type::f32, Type::f64};
constexpr Type kTypes[] = {Type::boolean, Type::i8, Type::i16, Type::i32, Type::i64, Type::f16, Type::f32, Type::f64};

/// A kernel that reads operands of any type from one buffer and writes results of that type to another.
class Bench {
 public:
  Bench(Type from, Type to)
      : builder_("bench", {64}),
        input_(builder_.buffer("input", stored(from), Access::read)),
        selectors_(builder_.buffer("selectors", Type::i32, Access::read)),
        output_(builder_.buffer("output", stored(to), Access::read_write)) {}

  Builder& builder() { return builder_; }
  MemoryRef output() { return output_; }

  Expr operand(Type type) {
    const uint32_t at = next_++;
    if (type == Type::boolean) return Expr(selectors_[at]) != 0;
    return type == Type::i32 ? selectors_[at] : input_[at];
  }

  void consume(Expr value) {
    if (value.type() == Type::boolean) value = builder_.select(value, builder_.u32(1), builder_.u32(0));
    output_[0u] = value;
  }

 private:
  static Type stored(Type type) { return type == Type::boolean ? Type::i32 : type; }

  Builder builder_;
  MemoryRef input_;
  MemoryRef selectors_;
  MemoryRef output_;
  uint32_t next_ = 0;
};

/// Every pure or subgroup operation of the given types.
Result<Kernel> operation_kernel(Op op, Type type, Type from) {
  Bench bench(from, type);
  Builder& builder = bench.builder();
  const auto& row = kir::info(op);
  kir::Instruction instruction{.op = op, .type = type};
  for (int i = 0; i < row.operand_count; ++i) {
    const kir::Shape shape = row.operands[i];
    const Type operand = shape == kir::Shape::boolean ? Type::boolean
                         : shape == kir::Shape::i32   ? Type::i32
                         : shape == kir::Shape::same  ? type
                                                      : from;
    instruction.operands.push_back(bench.operand(operand).value());
  }
  bench.consume(builder.append_value(instruction, type));
  return builder.finish();
}

std::vector<Result<Kernel>> operation_kernels(Op op) {
  const auto& row = kir::info(op);
  std::vector<Result<Kernel>> kernels;
  for (Type type : kTypes) {
    for (Type from : kTypes) {
      std::vector<Type> operands;
      bool depends_on_from = false;
      for (int i = 0; i < row.operand_count; ++i) {
        const kir::Shape shape = row.operands[i];
        const bool is_fixed = shape == kir::Shape::boolean || shape == kir::Shape::i32 || shape == kir::Shape::same;
        depends_on_from |= !is_fixed;
        operands.push_back(shape == kir::Shape::boolean ? Type::boolean
                           : shape == kir::Shape::i32   ? Type::i32
                           : shape == kir::Shape::same  ? type
                                                        : from);
      }
      if (!depends_on_from && from != type) continue;
      if (kir::type_mismatch(op, type, operands)) continue;
      if (op >= Op::exp2 && op <= Op::cos && type == Type::f64) continue;  // refused: see requirements_test
      kernels.push_back(operation_kernel(op, type, from));
    }
  }
  return kernels;
}

Result<Kernel> built(const std::function<void(Builder&)>& body) {
  Builder builder("bench", {64});
  body(builder);
  return builder.finish();
}

std::vector<Result<Kernel>> value_kernels() {
  std::vector<Result<Kernel>> kernels;
  for (Type type : kStorable) {
    kernels.push_back(built([&](Builder& b) {
      auto out = b.buffer("out", type, Access::write);
      auto parameter = b.parameter("p", type);
      out[0u] = parameter;
      out[1u] = b.constant(type, 1);
    }));
  }
  for (int i = 0; i < kir::kBuiltinCount; ++i) {
    kernels.push_back(built([&](Builder& b) {
      auto out = b.buffer("out", Type::i32, Access::write);
      const auto builtin = static_cast<kir::Builtin>(i);
      for (uint32_t d = 0; d < (kir::has_dimension(builtin) ? 3u : 1u); ++d) out[d] = b.builtin(builtin, d);
    }));
  }
  return kernels;
}

std::vector<Result<Kernel>> memory_kernels() {
  std::vector<Result<Kernel>> kernels;
  for (Type type : kStorable) {
    kernels.push_back(built([&](Builder& b) {
      auto in = b.buffer("in", type, Access::read);
      auto out = b.buffer("out", type, Access::write);
      auto shared = b.workgroup_array("shared", type, 64);
      auto local = b.local_array("local", type, 8);
      auto address = b.parameter("address", Type::i64);
      auto i = b.local_id();
      shared[i] = in[i];
      b.barrier();
      local[i & 7] = shared[63 - i];
      b.store(out, i * 4, b.load(in, i * 4, 4));
      out[in.length() - 1] = local[i & 3];
      b.store_pointer(address + b.constant(Type::i64, 8), b.load_pointer(type, address));
    }));
  }
  kernels.push_back(built([&](Builder& b) {
    auto x = b.scalar("x", Type::i32, Access::read_write);
    auto y = b.scalar("y", Type::f32, Access::read_write);
    x = Expr(x) + 1;
    y = Expr(y) * 0.5;
    b.fence(Scope::device, Order::release);
    b.fence(Scope::subgroup, Order::acquire);
    b.fence(Scope::invocation, Order::acquire_release);
    b.barrier(Scope::subgroup);
    x = b.assume_uniform(x, Scope::workgroup);
  }));
  return kernels;
}

std::vector<Result<Kernel>> atomic_kernels(Op op) {
  std::vector<Result<Kernel>> kernels;
  for (Type type : {Type::i32, Type::i64}) {
    for (Scope scope : {Scope::invocation, Scope::subgroup, Scope::workgroup, Scope::device}) {
      for (Order order : {Order::relaxed, Order::acquire, Order::release, Order::acquire_release}) {
        kernels.push_back(built([&](Builder& b) {
          auto out = b.buffer("out", type, Access::read_write);
          auto shared = b.workgroup_array("shared", type, 4);
          auto address = b.parameter("address", Type::i64);
          auto i = b.local_id();
          const Expr value = b.constant(type, 3);
          for (MemoryRef memory : {out, shared}) {
            if (op == Op::atomic_compare_exchange)
              b.atomic_compare_exchange(memory, i, b.constant(type, 0), value, scope, order);
            else
              b.atomic(op, memory, i, value, scope, order);
          }
          kir::Instruction through{.op = op, .type = type, .scope = scope, .order = order, .memory = kir::kPointer};
          through.operands = {address.value(), value.value()};
          if (op == Op::atomic_compare_exchange) through.operands.push_back(value.value());
          b.append_value(through, type);
        }));
      }
    }
  }
  return kernels;
}

std::vector<Result<Kernel>> control_kernels() {
  std::vector<Result<Kernel>> kernels;
  kernels.push_back(built([&](Builder& b) {
    auto out = b.buffer("out", Type::i32, Access::write);
    auto n = b.parameter("n", Type::i32);
    auto sum = b.variable(b.u32(0));
    b.for_(b.u32(0), n, b.u32(1), [&](Expr i) {
      b.if_(i == 3, [&] { b.continue_(); });
      b.switch_(i, {{1, [&] { sum = Expr(sum) + 2; }}, {7, [&] { b.break_(); }}}, [&] { b.return_(); });
    });
    out[0u] = sum;
  }));
  return kernels;
}

std::vector<Result<Kernel>> kernels_using(Op op) {
  if (op <= Op::parameter) return value_kernels();
  if (kir::is_atomic(op)) return atomic_kernels(op);
  if (op == Op::subgroup_ballot)
    return {built([](Builder& b) {
      auto out = b.buffer("out", Type::i32, Access::write);
      const auto words = b.ballot(b.local_id() == 0);
      b.store(out, b.local_id(), {words[0], words[1], words[2], words[3]});
    })};
  if (op >= Op::load && op <= Op::assume_uniform) return memory_kernels();
  if (op >= Op::if_) return control_kernels();
  return operation_kernels(op);
}

bool uses(const Kernel& kernel, Op op) {
  bool found = false;
  kir::walk(kernel.body, [&](const kir::Instruction& instruction) { found |= instruction.op == op; });
  return found;
}

class EveryOperation : public testing::TestWithParam<int> {};

TEST_P(EveryOperation, emits_a_valid_module_for_every_type) {
  const Op op = static_cast<Op>(GetParam());
  bool covered = false;
  for (const Result<Kernel>& kernel : kernels_using(op)) {
    ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
    covered |= uses(*kernel, op);
    emit_text(*kernel);
  }
  EXPECT_TRUE(covered);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOperation, testing::Range(0, kir::kOpCount),
                         [](const auto& test) { return std::string(kir::info(static_cast<Op>(test.param)).name); });

TEST(Emitter, equal_kernels_give_equal_words) {
  for (const Result<Kernel>& kernel : memory_kernels()) {
    ASSERT_TRUE(kernel.ok());
    const Kernel copy = *kernel;
    EXPECT_EQ(emit(*kernel, full_profile())->words, emit(copy, full_profile())->words);
  }
}

TEST(Emitter, an_fma_that_the_device_fuses_is_one_instruction) {
  auto kernel = operation_kernel(Op::fma, Type::f32, Type::f32);
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(count(emit_text(*kernel), " Fma "), 1u);
}

TEST(Emitter, an_fma_that_the_device_does_not_fuse_is_emulated) {
  target::Profile profile = full_profile();
  profile.floats.fused_fma_f32 = false;
  profile.floats.fused_fma_f64 = false;
  for (Type type : {Type::f16, Type::f32, Type::f64}) {
    auto kernel = operation_kernel(Op::fma, type, type);
    ASSERT_TRUE(kernel.ok());
    EXPECT_THAT(emit_text(*kernel, profile), Not(HasSubstr(" Fma ")));
  }
}

TEST(Emitter, a_kernel_asks_for_the_float_modes_of_the_widths_that_it_uses) {
  auto kernel = operation_kernel(Op::add_f, Type::f32, Type::f32);
  ASSERT_TRUE(kernel.ok());
  const std::string text = emit_text(*kernel);
  EXPECT_THAT(text, HasSubstr("DenormPreserve 32"));
  EXPECT_THAT(text, HasSubstr("SignedZeroInfNanPreserve 32"));
  EXPECT_THAT(text, Not(HasSubstr("DenormPreserve 64")));
  target::Profile plain = full_profile();
  plain.features.preserves_denormals = {};
  plain.features.preserves_special_values = {};
  EXPECT_THAT(emit_text(*kernel, plain), Not(HasSubstr("SPV_KHR_float_controls")));
}

TEST(Emitter, an_f32_division_or_root_that_the_device_does_not_round_exactly_goes_through_f64) {
  for (const Op op : {Op::div_f, Op::sqrt}) {
    auto kernel = operation_kernel(op, Type::f32, Type::f32);
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ(count(emit_text(*kernel), "OpFConvert"), 0u);
    target::Profile inexact = full_profile();
    inexact.floats.exact_division_f32 = false;
    inexact.floats.exact_square_root_f32 = false;
    EXPECT_GT(count(emit_text(*kernel, inexact), "OpFConvert"), 1u);
    inexact.features.float64 = false;
    EXPECT_EQ(count(emit_text(*kernel, inexact), "OpFConvert"), 0u);
  }
}

TEST(Emitter, a_kernel_without_bindings_and_parameters_has_neither_buffers_nor_push_constants) {
  Builder b("empty", {1});
  const std::string text = emit_text(b);
  EXPECT_THAT(text, Not(HasSubstr("OpVariable")));
}

TEST(Emitter, the_workgroup_size_is_the_interfaces) {
  Builder b("sized", {8, 4, 2});
  EXPECT_THAT(emit_text(b), HasSubstr("LocalSize 8 4 2"));
}

TEST(Emitter, a_switch_too_long_for_one_instruction_is_refused_by_name) {
  Builder b("long", {1});
  std::vector<std::pair<uint32_t, Builder::Body>> cases;
  for (uint32_t i = 0; i < 33000; ++i) cases.emplace_back(i, [] {});
  b.switch_(b.local_id(), cases);
  const auto kernel = b.finish();
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  const auto module = emit(*kernel, full_profile());
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(module.error().message, HasSubstr("kernel \"long\": a switch_"));
}

}  // namespace
}  // namespace wavegate::emit::spirv
