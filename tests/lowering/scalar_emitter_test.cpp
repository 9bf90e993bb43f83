#include "wavegate/lowering/scalar_emitter.h"

#include <functional>

#include "lowering/support.h"

namespace wavegate::lowering {
namespace {

using kir::Op;

/// Builds a kernel of one invocation over scalars of a program.
class Emission {
 public:
  Scalar u32(const std::string& name) { return bind(program_.scalar_u32(name, 1), Type::i32); }
  Scalar f32(const std::string& name) { return bind(program_.scalar_f32(name, 1), Type::f32); }
  ScalarEmitter& emitter() {
    if (!emitter_) emitter_.emplace(builder_, program_, bindings_);
    return *emitter_;
  }
  void store(const std::vector<Scalar>& scalars) {
    const Result<void> stored = emitter().store(scalars);
    EXPECT_TRUE(stored.ok()) << stored.error().to_string();
  }
  kir::Kernel kernel() { return value_of(builder_.finish()); }

 private:
  Scalar bind(Scalar scalar, Type type) {
    bindings_.emplace(scalar.id, builder_.scalar(program_.info(scalar).name, type, Access::read_write));
    return scalar;
  }
  Program program_{"emission"};
  Builder builder_{"scalars"};
  std::map<uint32_t, kir::ScalarRef> bindings_;
  std::optional<ScalarEmitter> emitter_;
};

TEST(ScalarEmitter, AScalarIsLoadedOnceHoweverOftenItIsRead) {
  Emission e;
  const Scalar a = e.u32("a"), b = e.u32("b"), c = e.u32("c");
  e.emitter().set(b, a + a * a);
  e.emitter().set(c, ScalarExpr(a) - 1u);
  e.store({b, c});
  const kir::Kernel kernel = e.kernel();
  EXPECT_EQ(count(kernel, Op::load_scalar), 1);
  EXPECT_EQ(count(kernel, Op::store_scalar), 2);
}

TEST(ScalarEmitter, WhatWasSetIsKnownWithoutALoadAndStoredOnce) {
  Emission e;
  const Scalar a = e.u32("a"), b = e.u32("b");
  e.emitter().set(a, 5u);
  e.emitter().set(b, a + 1u);
  e.emitter().set(a, b * 2u);
  e.store({a, b, a});
  const kir::Kernel kernel = e.kernel();
  EXPECT_EQ(count(kernel, Op::load_scalar), 0);
  EXPECT_EQ(count(kernel, Op::store_scalar), 2);
}

TEST(ScalarEmitter, AFloatThatIsOnlyMovedIsChosenByItsBits) {
  // A NaN that no arithmetic touches keeps its bits.
  Emission e;
  const Scalar a = e.f32("a"), b = e.f32("b"), flag = e.u32("flag");
  e.emitter().set(a, program::select(flag, b, a));
  e.store({a});
  int selects = 0;
  const kir::Kernel kernel = e.kernel();
  kir::walk(kernel.body, [&](const kir::Instruction& each) {
    if (each.op != Op::select) return;
    ++selects;
    EXPECT_EQ(each.type, Type::i32);
  });
  EXPECT_EQ(selects, 1);
}

TEST(ScalarEmitter, LogicIsOnWordsWhateverTheirBits) {
  Emission e;
  const Scalar a = e.u32("a"), b = e.u32("b");
  e.emitter().set(a, ScalarExpr(a) && b);
  e.store({a});
  const kir::Kernel kernel = e.kernel();
  EXPECT_EQ(count(kernel, Op::not_equal), 2);
  kir::walk(kernel.body, [&](const kir::Instruction& each) {
    if (each.op != Op::and_) return;
    EXPECT_EQ(each.type, Type::boolean);
  });
}

TEST(ScalarEmitter, AnExpressionWithoutATypeIsAFaultThatIsTold) {
  ScalarExpr sum = 1u;
  for (uint32_t i = 0; i < program::kMaximumLoweredSize; ++i) sum = sum + 1u;
  const auto error_of = [](const std::function<void(Emission&, Scalar)>& emit) {
    Emission e;
    const Scalar a = e.u32("a");
    emit(e, a);
    const Result<void> stored = e.emitter().store({});
    return stored ? std::string("none") : stored.error().to_string();
  };
  const auto is_told = testing::AllOf(testing::StartsWith("internal"), testing::HasSubstr("more than 4160 operations"));
  EXPECT_THAT(error_of([&](Emission& e, Scalar a) { e.emitter().set(a, sum); }), is_told);
  EXPECT_THAT(error_of([&](Emission& e, Scalar) { e.emitter().truth(sum); }), is_told);
  EXPECT_THAT(error_of([&](Emission& e, Scalar) { e.emitter().bits(sum); }), is_told);
  EXPECT_THAT(error_of([&](Emission& e, Scalar a) { e.emitter().word(select(sum, a, a)); }), is_told);
  EXPECT_THAT(error_of([&](Emission& e, Scalar a) { e.emitter().word(ScalarExpr(a) + 1.5f); }),
              testing::HasSubstr("mixes uint32 and float32"));
  EXPECT_EQ(error_of([&](Emission& e, Scalar a) { e.emitter().set(a, a + 1u); }), "none");
}

TEST(NoteScalars, FindsEveryLeaf) {
  Program program("leaves");
  const Scalar a = program.scalar_u32("a", 0), b = program.scalar_u32("b", 0);
  program.scalar_u32("unused", 0);
  const Scalar c = program.scalar_u32("c", 0);
  EXPECT_EQ(scalars_of(program::select(ScalarExpr(a) && !ScalarExpr(b), 1u, ScalarExpr(c) + 2u)),
            (std::set<uint32_t>{a.id, b.id, c.id}));
}

}  // namespace
}  // namespace wavegate::lowering
