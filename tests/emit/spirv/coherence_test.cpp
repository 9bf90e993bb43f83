#include "wavegate/emit/spirv/coherence.h"

#include <gmock/gmock.h>

#include <string>

#include "emit/spirv/support.h"
#include "wavegate/base/format.h"
#include "wavegate/kir/text.h"

namespace wavegate::emit::spirv {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  std::string_view body;
  std::string_view coherent;  ///< of x, y, the arena and pointers: their first letters
};

class CoherenceOf : public testing::TestWithParam<Case> {};

TEST_P(CoherenceOf, is_what_invocations_tell_each_other_by) {
  const auto kernel = kir::parse(format(R"(kernel k {{
    workgroup_size 64 1 1
    buffer x i32 read_write
    buffer y i32 read_write
    scalar s i32 read_write
    workgroup t i32 64
    %i: i32 = builtin local_id 0
    %u: bool = constant true
    %p: i64 = constant 64
    {}
  }})",
                                        GetParam().body));
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  const Coherence coherence = coherence_of(*kernel);
  std::string found;
  if (coherence.memories[0]) found += 'x';
  if (coherence.memories[1]) found += 'y';
  if (coherence.arena) found += 's';
  if (coherence.pointers) found += 'p';
  EXPECT_EQ(found, GetParam().coherent) << GetParam().body;
  EXPECT_FALSE(coherence.memories[2]);  // workgroup memory always is
}

INSTANTIATE_TEST_SUITE_P(
    Coherence, CoherenceOf,
    testing::Values(
        Case{"%a: i32 = load x[%i] barrier workgroup store y[%i], %a", ""},
        Case{"store x[%i], %i %a: i32 = load x[%i]", ""},
        Case{"store t[%i], %i barrier workgroup %a: i32 = load t[%i] store x[%i], %a", ""},
        Case{"store x[%i], %i barrier workgroup %a: i32 = load x[%i] store y[%i], %a", "x"},
        Case{"store x[%i], %i barrier workgroup store x[%i], %i", "x"},
        Case{"store x[%i], %i barrier workgroup %a: i32 = atomic_add x[%i], %i device relaxed", "x"},
        Case{"%b: i32 = atomic_add x[%i], %i workgroup relaxed barrier workgroup %a: i32 = load x[%i]", "x"},
        Case{"store x[%i], %i fence workgroup acquire_release %a: i32 = load x[%i]", "x"},
        Case{"store x[%i], %i %b: i32 = atomic_add y[%i], %i workgroup acquire_release %a: i32 = load x[%i]", "x"},
        Case{"store_scalar s, %i barrier workgroup %a: i32 = load_scalar s", "s"},
        Case{"store [%p], %i barrier workgroup %a: i32 = load [%p]", "p"},
        Case{"if %u { store x[%i], %i } barrier workgroup if %u { %a: i32 = load x[%i] }", "x"},
        Case{"loop { %a: i32 = load x[%i] barrier workgroup store x[%i], %a if %u { break } continue }", "x"},
        Case{"loop { %a: i32 = load x[%i] store x[%i], %a if %u { break } continue } barrier workgroup", ""},
        Case{"barrier workgroup loop { store x[%i], %i if %u { break } continue } %a: i32 = load x[%i]", ""},
        // A store before a loop, and what a later round of it meets behind the barrier of an earlier one.
        Case{"store x[%i], %i loop { if %u { %a: i32 = load x[%i] } barrier workgroup if %u { break } continue }", "x"},
        Case{"store x[%i], %i loop { loop { %a: i32 = load x[%i] if %u { break } continue } barrier workgroup "
             "if %u { break } continue }",
             "x"},
        Case{"store x[%i], %i loop { %a: i32 = load x[%i] loop { barrier workgroup if %u { break } continue } "
             "if %u { break } continue }",
             "x"},
        Case{"store_scalar s, %i loop { %a: i32 = load_scalar s barrier workgroup if %u { break } continue }", "s"},
        Case{"store [%p], %i loop { %a: i32 = load [%p] barrier workgroup if %u { break } continue }", "p"},
        Case{"store x[%i], %i loop { %a: i32 = load y[%i] barrier workgroup if %u { break } continue }", ""},
        Case{"store x[%i], %i loop { %a: i32 = load x[%i] if %u { break } continue } barrier workgroup", ""},
        Case{"loop { %a: i32 = load x[%i] barrier workgroup if %u { break } continue } store x[%i], %i", ""},
        Case{"fence device acquire", "xysp"}, Case{"%a: i32 = atomic_add y[%i], %i device release", "xysp"},
        Case{"%a: i32 = atomic_add y[%i], %i device relaxed", ""}));

TEST(Coherence, decorates_the_variables_that_need_it) {
  kir::Builder b("k", {64});
  auto x = b.buffer("x", kir::Type::f32, kir::Access::read_write);
  auto y = b.buffer("y", kir::Type::f32, kir::Access::write);
  const auto i = b.global_id();
  x[i] = b.f32(1);
  b.barrier();
  y[i] = kir::Expr(x[i + 1]);
  const std::string text = emit_text(b);
  EXPECT_EQ(count(text, " Coherent\n"), 1u) << text;
}

TEST(Coherence, makes_accesses_through_pointers_volatile) {
  kir::Builder b("k", {64});
  const auto address = b.parameter("p", kir::Type::i64);
  b.store_pointer(address, b.u32(1));
  EXPECT_THAT(emit_text(b), Not(HasSubstr("Volatile")));
  kir::Builder c("k", {64});
  const auto same = c.parameter("p", kir::Type::i64);
  c.store_pointer(same, c.u32(1));
  c.barrier();
  c.store_pointer(same, c.load_pointer(kir::Type::i32, same));
  EXPECT_EQ(count(emit_text(c), "Volatile|Aligned"), 3u);
}

}  // namespace
}  // namespace wavegate::emit::spirv
