#include "wavegate/lowering/support_kernels.h"

#include "wavegate/kir/builder.h"

namespace wavegate::lowering {

using kir::Access;
using kir::Builder;
using kir::Expr;
using kir::Type;

Result<kir::Kernel> copy_words_kernel(kir::Type type) {
  Builder b("copy_words", {kWordsPerWorkgroup});
  auto source = b.buffer("source", type, Access::read);
  auto destination = b.buffer("destination", type, Access::read_write);
  const Expr from = b.parameter("source_offset", Type::i32);
  const Expr to = b.parameter("destination_offset", Type::i32);
  const Expr count = b.parameter("count", Type::i32);
  b.for_(b.global_id(), count, b.grid() * kWordsPerWorkgroup, [&](Expr i) { destination[to + i] = source[from + i]; });
  return b.finish();
}

Result<kir::Kernel> fill_words_kernel(kir::Type type) {
  Builder b("fill_words", {kWordsPerWorkgroup});
  auto destination = b.buffer("destination", type, Access::read_write);
  const Expr offset = b.parameter("offset", Type::i32);
  const Expr count = b.parameter("count", Type::i32);
  const Expr word = b.parameter("word", type);
  b.for_(b.global_id(), count, b.grid() * kWordsPerWorkgroup, [&](Expr i) { destination[offset + i] = word; });
  return b.finish();
}

}  // namespace wavegate::lowering
