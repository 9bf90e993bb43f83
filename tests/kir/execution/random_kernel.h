#pragma once

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <string>

#include "wavegate/kir/builder.h"

namespace wavegate::kir {

/// Numbers that are the same everywhere for the same seed.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t next() { return static_cast<uint32_t>(engine_()); }
  uint32_t below(uint32_t bound) { return next() % bound; }

 private:
  std::mt19937 engine_;
};

/// Kernels made of random control flow, for comparing two ways of running one. Each has, in this order, the buffers
/// `out` (read_write) and `in` (read) of i32, the scalars `a` (read) and `b` (write), and the parameter `n`. An
/// invocation writes the element of `out` that its place in the dispatch gives it, and reads `in` anywhere; the first
/// one writes `b`. Both buffers have a power of two of elements, and `out` one for each invocation.
class RandomKernel {
 public:
  struct Shape {
    std::array<uint32_t, 3> grid = {1, 1, 1};
    std::array<uint32_t, 3> workgroup = {1, 1, 1};
    uint32_t in_length = 64;
    bool tied = false;  ///< with barriers and workgroup memory
  };

  RandomKernel(uint32_t seed, const Shape& shape) : random_(seed), shape_(shape), b_("random", shape.workgroup) {}

  Kernel make() {
    out_ = b_.buffer("out", Type::i32, Access::read_write);
    in_ = b_.buffer("in", Type::i32, Access::read);
    ScalarRef a = b_.scalar("a", Type::i32, Access::read);
    ScalarRef b = b_.scalar("b", Type::i32, Access::write);
    n_ = b_.parameter("n", Type::i32);
    const auto& size = shape_.workgroup;
    if (shape_.tied) tile_ = b_.workgroup_array("tile", Type::i32, size[0] * size[1] * size[2]);
    const Expr width = b_.grid(0) * size[0];
    const Expr height = b_.grid(1) * size[1];
    id_ = b_.global_id(0) + width * (b_.global_id(1) + height * b_.global_id(2));
    uniform_ = Expr(a) + b_.workgroup_id(0) + b_.workgroup_id(1) * 3 + b_.workgroup_id(2) * 5;
    Variable state = b_.variable(Expr(out_[id_]) + b_.local_id(0) + b_.local_id(1) * 7 + b_.local_id(2) * 11 +
                                 b_.builtin(Builtin::local_index));
    Variable counter = b_.variable(b_.u32(0));
    state_ = &state;
    counter_ = &counter;
    b_.if_(id_ == 0, [&] { b = Expr(a) * 5 + n_; });
    statements(0, true, false);
    Result<Kernel> kernel = b_.finish();
    EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? std::string() : kernel.error().to_string());
    return kernel.ok() ? *std::move(kernel) : Kernel{};
  }

 private:
  uint32_t below(uint32_t bound) { return random_.below(bound); }
  Expr state() { return *state_; }

  /// A value; equal in the workgroup if it must be.
  Expr value(bool uniform) {
    const Expr counter = *counter_;
    switch (below(4)) {
      case 0: return uniform_ + below(100);
      case 1: return n_ ^ counter;
      case 2: return uniform ? uniform_ * (below(9) + 1) : state() * (below(9) + 1) + id_;
      default: return uniform ? counter + below(5) : Expr(in_[state() & (shape_.in_length - 1)]) + counter;
    }
  }
  Expr condition(bool uniform) {
    const uint32_t modulus = below(3) + 2;
    return value(uniform) % modulus == below(modulus);
  }

  /// `together`: all invocations of the workgroup come here; then what may stop them, is decided for all of them.
  void statements(uint32_t depth, bool together, bool in_loop) {
    const uint32_t count = below(4) + (depth == 0 ? 3 : 1);
    for (uint32_t i = 0; i < count; ++i) statement(depth, together, in_loop);
  }

  void statement(uint32_t depth, bool together, bool in_loop) {
    const bool uniform = together && shape_.tied;
    // Where there are barriers, nobody may leave what the others go on with.
    const bool may_leave = together || !shape_.tied;
    const auto inner = [&, depth](bool inner_together) { statements(depth + 1, inner_together, in_loop); };
    switch (depth > 2 ? below(3) : below(10)) {
      case 0: *state_ = state() * 3 + value(false); return;
      case 1: out_[id_] = state() ^ value(false); return;
      case 2:
        if (uniform) {
          exchange();
        } else {
          *state_ = state() + Expr(out_[id_]);
        }
        return;
      case 3:
      case 4: {
        const bool same = uniform && below(2) == 0;
        const bool stays = same || !shape_.tied;
        b_.if_(
            condition(same), [&] { inner(stays && together); },
            [&] {
              if (below(2) == 0) inner(stays && together);
            });
        return;
      }
      case 5: {
        const bool same = uniform && below(2) == 0;
        const bool stays = (same || !shape_.tied) && together;
        b_.switch_(value(same) % 4, {{1, [&] { inner(stays); }}, {2, [&] { inner(stays); }}}, [&] { inner(stays); });
        return;
      }
      case 6:
      case 7: return loop(depth, together);
      case 8:
        if (may_leave) b_.if_(condition(uniform), [&] { b_.return_(); });
        return;
      default:
        if (may_leave && in_loop) {
          const bool again = below(2) == 0;
          b_.if_(condition(uniform), [&] {
            if (again) {
              b_.continue_();
            } else {
              b_.break_();
            }
          });
        }
        return;
    }
  }

  void loop(uint32_t depth, bool together) {
    const uint32_t rounds = below(2) + 1;
    b_.for_(b_.u32(0), b_.u32(rounds), b_.u32(1), [&](Expr i) {
      if (together) *counter_ = Expr(*counter_) + i;
      statements(depth + 1, together, true);
    });
  }

  /// Everyone takes the value of another invocation of the workgroup.
  void exchange() {
    const auto& size = shape_.workgroup;
    const uint32_t invocations = size[0] * size[1] * size[2];
    const Expr mine = b_.builtin(Builtin::local_index);
    tile_[mine] = state();
    b_.barrier();
    *state_ = state() + Expr(tile_[(mine + (below(invocations) + 1)) % invocations]);
    b_.barrier();
  }

  Random random_;
  Shape shape_;
  Builder b_;
  MemoryRef out_{nullptr, 0};
  MemoryRef in_{nullptr, 0};
  MemoryRef tile_{nullptr, 0};
  Expr n_;
  Expr id_;
  Expr uniform_;  ///< the same for the workgroup
  Variable* state_ = nullptr;
  Variable* counter_ = nullptr;  ///< the same for all that come together
};

}  // namespace wavegate::kir
