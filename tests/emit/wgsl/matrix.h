#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "wavegate/kir/builder.h"
#include "wavegate/kir/type_rules.h"

namespace wavegate::emit::wgsl {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Kernel;
using kir::MemoryRef;
using kir::Op;
using kir::Scope;
using kir::Type;

inline constexpr Type kStorable[] = {Type::i32, Type::i64, Type::f16, Type::f32};
inline constexpr Type kTypes[] = {Type::boolean, Type::i32, Type::i64, Type::f16, Type::f32};

inline Result<Kernel> built(std::string name, const std::function<void(Builder&)>& body,
                            std::array<uint32_t, 3> workgroup = {64, 1, 1}) {
  Builder builder(std::move(name), workgroup);
  body(builder);
  return builder.finish();
}

/// Constants that a compiler might trip over, by type.
inline std::vector<uint64_t> awkward_bits(Type type) {
  switch (type) {
    case Type::boolean: return {0, 1};
    case Type::i32: return {0, 1, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff};
    case Type::i64: return {0, 1, 63, 64, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
    case Type::f16: return {0, 0x8000, 0x3c00, 0x3555, 0x7bff, 0x0001, 0x7c00, 0xfc00, 0x7e00};
    default:
      return {0, 0x80000000, 0x3f800000, 0x3dcccccd, 0x7f7fffff, 1, 0x7f800000, 0xff800000, 0x7fc00000, 0xbf000000};
  }
}

/// What an operation takes: its operand types for a result of `type` and operands of `from` where it leaves them open.
inline std::vector<Type> operand_types(Op op, Type type, Type from) {
  const auto& row = kir::info(op);
  std::vector<Type> types;
  for (int i = 0; i < row.operand_count; ++i) {
    const kir::Shape shape = row.operands[i];
    types.push_back(shape == kir::Shape::boolean ? Type::boolean
                    : shape == kir::Shape::i32   ? Type::i32
                    : shape == kir::Shape::same  ? type
                                                 : from);
  }
  return types;
}

inline bool depends_on_from(Op op) {
  const auto& row = kir::info(op);
  bool depends = false;
  for (int i = 0; i < row.operand_count; ++i) {
    const kir::Shape shape = row.operands[i];
    depends |= shape != kir::Shape::boolean && shape != kir::Shape::i32 && shape != kir::Shape::same;
  }
  return depends;
}

/// A kernel that applies an operation to loaded values, to loaded values and constants, and to constants alone.
inline Result<Kernel> operation_kernel(Op op, Type type, Type from) {
  const auto stored = [](Type t) { return t == Type::boolean ? Type::i32 : t; };
  return built("operation", [&](Builder& b) {
    MemoryRef input = b.buffer("input", stored(from), Access::read);
    MemoryRef same = b.buffer("same", stored(type), Access::read);
    MemoryRef words = b.buffer("words", Type::i32, Access::read);
    MemoryRef output = b.buffer("output", stored(type), Access::read_write);
    const auto loaded = [&](Type t, uint32_t at) {
      if (t == Type::boolean) return Expr(words[at]) != 0;
      return t == Type::i32 ? Expr(words[at]) : t == type ? Expr(same[at]) : Expr(input[at]);
    };
    const std::vector<Type> types = operand_types(op, type, from);
    uint32_t next = 0;
    const auto apply = [&](uint32_t constants, size_t which) {
      kir::Instruction instruction{.op = op, .type = type};
      for (uint32_t i = 0; i < types.size(); ++i) {
        const std::vector<uint64_t> bits = awkward_bits(types[i]);
        const Expr operand =
            (constants >> i & 1) != 0 ? b.constant(types[i], bits[(which + i) % bits.size()]) : loaded(types[i], i);
        instruction.operands.push_back(operand.value());
      }
      Expr result = b.append_value(instruction, type);
      if (type == Type::boolean) result = b.select(result, b.u32(1), b.u32(0));
      output[next++] = result;
    };
    apply(0, 0);
    for (uint32_t constants = 1; constants < 1u << types.size(); ++constants)
      for (size_t which = 0; which < 10; ++which) apply(constants, which);
  });
}

/// Every pure or subgroup operation of the types that WGSL has.
inline std::vector<Result<Kernel>> operation_kernels(Op op) {
  std::vector<Result<Kernel>> kernels;
  for (Type type : kTypes)
    for (Type from : kTypes) {
      if (!depends_on_from(op) && from != type) continue;
      const bool integer_of_64 = type == Type::i64 || from == Type::i64;
      const bool converts = op >= Op::convert_u_to_f && op <= Op::convert_f_to_s;
      if (integer_of_64 && converts) continue;  // refused by split_i64
      if (kir::type_mismatch(op, type, operand_types(op, type, from))) continue;
      kernels.push_back(operation_kernel(op, type, from));
    }
  return kernels;
}

inline std::vector<Result<Kernel>> value_kernels() {
  std::vector<Result<Kernel>> kernels;
  for (Type type : kStorable) {
    kernels.push_back(built("values", [&](Builder& b) {
      auto out = b.buffer("out", type, Access::write);
      auto parameter = b.parameter("p", type);
      out[0u] = parameter;
      uint32_t next = 1;
      for (uint64_t bits : awkward_bits(type)) out[next++] = b.constant(type, bits);
    }));
  }
  for (int i = 0; i < kir::kBuiltinCount; ++i) {
    for (std::array<uint32_t, 3> size : {std::array<uint32_t, 3>{64, 1, 1}, {4, 4, 4}, {1, 1, 1}})
      kernels.push_back(built(
          "builtins",
          [&](Builder& b) {
            auto out = b.buffer("out", Type::i32, Access::write);
            const auto builtin = static_cast<kir::Builtin>(i);
            for (uint32_t d = 0; d < (kir::has_dimension(builtin) ? 3u : 1u); ++d) out[d] = b.builtin(builtin, d);
          },
          size));
  }
  return kernels;
}

inline std::vector<Result<Kernel>> memory_kernels() {
  std::vector<Result<Kernel>> kernels;
  for (Type type : kStorable) {
    kernels.push_back(built("memory", [&](Builder& b) {
      auto in = b.buffer("in", type, Access::read);
      auto out = b.buffer("out", type, Access::write);
      auto shared = b.workgroup_array("shared", type, 64);
      auto local = b.local_array("local", type, 8);
      auto i = b.local_id();
      shared[i] = in[i];
      b.barrier();
      local[i & 7] = shared[63 - i];
      local[77u] = shared[1000u];
      b.store(out, i * 4, b.load(in, i * 4, 4));
      out[in.length() - 1] = local[i & 3];
    }));
  }
  kernels.push_back(built("scalars", [&](Builder& b) {
    auto x = b.scalar("x", Type::i32, Access::read_write);
    auto y = b.scalar("y", Type::f32, Access::read_write);
    x = Expr(x) + 1;
    y = Expr(y) * 0.5;
    y = b.constant(Type::f32, 0x7fc00000);
    b.fence(Scope::workgroup, kir::Order::release);
    b.fence(Scope::invocation, kir::Order::acquire_release);
    b.barrier(Scope::subgroup);
    b.barrier();
    x = b.assume_uniform(x, Scope::workgroup);
    y = b.assume_uniform(y, Scope::device);
  }));
  kernels.push_back(built("names", [&](Builder& b) {  // what WGSL has another use for
    uint32_t next = 0;
    for (const char* name : {"array", "select", "main", "arena", "v1", "__x", "a.b-c"}) {
      auto buffer = b.buffer(name, Type::i32, Access::read_write);
      buffer[b.local_id()] = Expr(buffer[b.local_id()]) + next++;
    }
    for (const char* name : {"launch", "f32", "_", "target"}) {
      auto array = b.workgroup_array(name, Type::i32, 4);
      array[b.local_id()] = next++;
    }
    auto out = b.buffer("out", Type::f32, Access::write);
    out[0u] = b.apply(Op::min_f, {b.parameter("min_f", Type::f32), b.parameter("bitcast", Type::f32)});
  }));
  return kernels;
}

/// An atomic operation on buffers and workgroup memory, alone and beside others that want other elements.
inline std::vector<Result<Kernel>> atomic_kernels(Op op) {
  std::vector<Result<Kernel>> kernels;
  for (int beside = 0; beside < 3; ++beside) {
    kernels.push_back(built("atomics", [&](Builder& b) {
      auto out = b.buffer("out", Type::i32, Access::read_write);
      auto shared = b.workgroup_array("shared", Type::i32, 4);
      auto i = b.local_id();
      for (MemoryRef memory : {out, shared}) {
        if (beside == 1) b.atomic(Op::atomic_min_s, memory, i, b.u32(3));
        if (beside == 2) b.atomic(Op::atomic_max_u, memory, i, b.u32(3));
        memory[i] = op == Op::atomic_compare_exchange
                        ? b.atomic_compare_exchange(memory, i, b.u32(0), Expr(memory[i]), Scope::workgroup)
                        : b.atomic(op, memory, i, b.u32(3), Scope::device);
      }
    }));
  }
  return kernels;
}

inline std::vector<Result<Kernel>> control_kernels() {
  std::vector<Result<Kernel>> kernels;
  kernels.push_back(built("leaves", [&](Builder& b) {
    auto out = b.buffer("out", Type::i32, Access::write);
    auto n = b.parameter("n", Type::i32);
    auto sum = b.variable(b.u32(0));
    b.for_(b.u32(0), n, b.u32(1), [&](Expr i) {
      b.if_(i == 3, [&] { b.continue_(); });
      b.switch_(i,
                {{1, [&] { sum = Expr(sum) + 2; }},
                 {7, [&] { b.break_(); }},
                 {0xffffffff,
                  [&] {
                    b.switch_(n, {{2, [&] { b.break_(); }}});
                  }}},
                [&] { b.return_(); });
    });
    out[0u] = sum;
  }));
  kernels.push_back(built("swaps", [&](Builder& b) {
    auto out = b.buffer("out", Type::f32, Access::write);
    auto a = b.variable(b.f32(1)), c = b.variable(b.f32(2)), sum = b.variable(b.f32(0));
    auto yes = b.variable(b.boolean(true));
    b.for_(b.u32(0), b.parameter("n", Type::i32), b.u32(1), [&](Expr i) {
      const Expr old = a;
      a = c;
      c = old;
      yes = !Expr(yes);
      b.if_(
          Expr(yes), [&] { sum = Expr(sum) + Expr(a); }, [&] { b.if_(i == 8, [&] { b.break_(); }); });
    });
    out[b.local_id()] = b.select(yes, sum, a);
  }));
  // Nested as deep as the emitter lets it.
  kernels.push_back(built("deep", [&](Builder& b) {
    auto out = b.buffer("out", Type::i32, Access::read_write);
    std::function<void(uint32_t)> nest = [&](uint32_t depth) {
      if (depth == 59) {
        out[0u] = b.u32(1);
        return;
      }
      b.if_(Expr(out[depth]) == 1, [&] { nest(depth + 1); });
    };
    nest(0);
  }));
  // Barriers in flow whose uniformity WGSL cannot see: a loop that a written scalar ends, in one workgroup.
  for (const std::array<uint32_t, 3> size : {std::array<uint32_t, 3>{64, 1, 1}, {1, 1, 1}})
    kernels.push_back(built(
        "waits",
        [&](Builder& b) {
          auto x = b.buffer("x", Type::i32, Access::read_write);
          auto go = b.scalar("go", Type::i32, Access::read_write);
          b.loop([&] {
            b.if_(b.assume_uniform(Expr(go), Scope::workgroup) == 0, [&] { b.break_(); });
            b.barrier();
            b.switch_(b.assume_uniform(x[0u], Scope::workgroup),
                      {{1, [&] { b.barrier(); }}, {2, [&] { b.return_(); }}});
            x[b.local_id()] = 1;
            b.if_(b.local_id() == 0, [&] { go = Expr(go) - 1; });
            b.barrier();
          });
        },
        size));
  kernels.push_back(built("alone",
                          [&](Builder& b) {
                            auto x = b.buffer("x", Type::i32, Access::read_write);
                            b.while_([&] { return Expr(x[0u]) != 0; },
                                     [&] {
                                       x[1u] = Expr(x[0u]) - 1;
                                       b.if_(Expr(x[2u]) == 7, [&] { b.return_(); });
                                       b.barrier();
                                       b.if_(Expr(x[3u]) == b.builtin(kir::Builtin::subgroup_size),
                                             [&] { b.barrier(Scope::subgroup); });
                                       x[0u] = Expr(x[1u]);
                                     });
                          },
                          {1, 1, 1}));
  return kernels;
}

inline std::vector<Result<Kernel>> kernels_using(Op op) {
  if (op <= Op::parameter) return value_kernels();
  if (kir::is_atomic(op)) return atomic_kernels(op);
  if (op == Op::subgroup_ballot)
    return {built("ballot", [](Builder& b) {
      auto out = b.buffer("out", Type::i32, Access::write);
      const auto words = b.ballot(b.local_id() == 0);
      b.store(out, b.local_id(), {words[0], words[1], words[2], words[3]});
    })};
  if (op >= Op::load && op <= Op::assume_uniform) return memory_kernels();
  if (op >= Op::if_) return control_kernels();
  return operation_kernels(op);
}

}  // namespace wavegate::emit::wgsl
