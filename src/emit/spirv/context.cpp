#include "wavegate/emit/spirv/context.h"

namespace wavegate::emit::spirv {

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
