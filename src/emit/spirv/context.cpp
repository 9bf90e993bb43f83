#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

Id opaque_zero(Context& context, kir::Type type, uint64_t bits) {
  ModuleBuilder& module = context.module;
  const uint64_t two = uint64_t{1} << (kir::bit_width(type) - 2);
  // No grid is empty where an invocation runs, but nothing says so to a compiler.
  const Id vector = module.vector_type(kir::Type::i32, 3);
  const Id grid = module.put(spv::Op::OpLoad, vector, {module.input(spv::BuiltIn::NumWorkgroups, vector)});
  const Id width = context.op(spv::Op::OpCompositeExtract, kir::Type::i32, {grid, 0});
  const Id never = context.op(spv::Op::OpIEqual, kir::Type::boolean, {width, module.constant_u32(0)});
  const Id if_never = context.constant(type, two);
  return context.select(type, never, if_never, context.constant(type, bits));
}

Halves split(Context& context, Id value) {
  const Id pair = context.module.put(spv::Op::OpBitcast, context.module.vector_type(kir::Type::i32, 2), {value});
  return {.low = context.op(spv::Op::OpCompositeExtract, kir::Type::i32, {pair, 0}),
          .high = context.op(spv::Op::OpCompositeExtract, kir::Type::i32, {pair, 1})};
}

Id join(Context& context, kir::Type type, Halves halves) {
  const Id pair = context.module.put(spv::Op::OpCompositeConstruct, context.module.vector_type(kir::Type::i32, 2),
                                     {halves.low, halves.high});
  return context.op(spv::Op::OpBitcast, type, {pair});
}

}  // namespace wavegate::emit::spirv
