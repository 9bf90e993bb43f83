#include "wavegate/kir/uniformity.h"

#include <gmock/gmock.h>

#include <string>

#include "wavegate/base/format.h"
#include "wavegate/kir/text.h"

namespace wavegate::kir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kDeclarations = R"(
  buffer input i32 read
  buffer data i32 read_write
  scalar flag i32 read
  scalar cell i32 read_write
  parameter n i32
  workgroup tile i32 64
  local scratch i32 8
  %0: i32 = parameter n
  %1: i32 = builtin workgroup_id 0
  %2: i32 = builtin local_id 0
  %3: bool = equal %0, %0
  %4: bool = equal %1, %0
  %5: bool = equal %2, %0
  %6: bool = subgroup_any %5
  %7: i64 = extend_u %0
)";
// Conditions: %3 is uniform over the device, %4 over a workgroup, %6 over a subgroup, %5 over nothing.

Result<Kernel> kernel_of(std::string_view body, std::string_view size = "64 1 1") {
  return parse(format("kernel k {{ workgroup_size {} {} {} }}", size, kDeclarations, body));
}

struct ValueCase {
  std::string_view body;  ///< the value in question is the last one defined
  Scope scope;
};

class ValueScopes : public testing::TestWithParam<ValueCase> {};

TEST_P(ValueScopes, are_proved) {
  const Result<Kernel> kernel = kernel_of(GetParam().body);
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  const Uniformity uniformity = analyse_uniformity(*kernel);
  const Instruction& last = kernel->body.instructions[kernel->body.instructions.size() - 2];
  EXPECT_EQ(to_string(uniformity.of(last.result())), to_string(GetParam().scope)) << GetParam().body;
}

INSTANTIATE_TEST_SUITE_P(
    Uniformity, ValueScopes,
    testing::Values(
        ValueCase{"%9: i32 = constant 1", Scope::device}, ValueCase{"%9: i32 = parameter n", Scope::device},
        ValueCase{"%9: i32 = builtin grid 1", Scope::device},
        ValueCase{"%9: i32 = builtin workgroup_id 1", Scope::workgroup},
        ValueCase{"%9: i32 = builtin subgroup_size", Scope::workgroup},
        ValueCase{"%9: i32 = builtin local_id 0", Scope::invocation},
        ValueCase{"%9: i32 = builtin local_id 1", Scope::device},
        ValueCase{"%9: i32 = builtin global_id 0", Scope::invocation},
        ValueCase{"%9: i32 = builtin global_id 2", Scope::workgroup},
        ValueCase{"%9: i32 = builtin local_index", Scope::invocation},
        ValueCase{"%9: i32 = builtin subgroup_lane", Scope::invocation},
        ValueCase{"%9: i32 = add %0, %1", Scope::workgroup}, ValueCase{"%9: i32 = add %1, %2", Scope::invocation},
        ValueCase{"%9: i32 = array_length data", Scope::device}, ValueCase{"%9: i32 = load input[%0]", Scope::device},
        ValueCase{"%9: i32 = load input[%1]", Scope::workgroup},
        ValueCase{"%9: i32 = load input[%2]", Scope::invocation},
        ValueCase{"%9: i32 = load data[%0]", Scope::invocation},
        ValueCase{"%9: i32 = load tile[%0]", Scope::invocation},
        ValueCase{"%9: i32 = load scratch[%0]", Scope::invocation}, ValueCase{"%9: i32 = load [%7]", Scope::invocation},
        ValueCase{"%9: i32 = load_scalar flag", Scope::device},
        ValueCase{"%9: i32 = load_scalar cell", Scope::invocation},
        ValueCase{"%9: i32 = atomic_add data[%0], %0 device relaxed", Scope::invocation},
        ValueCase{"%9: i32 = assume_uniform %2 subgroup", Scope::subgroup},
        ValueCase{"%9: i32 = assume_uniform %2 device", Scope::device},
        ValueCase{"%9: i32 = assume_uniform %0 subgroup", Scope::device},
        ValueCase{"%9: bool = subgroup_all %5", Scope::subgroup},
        ValueCase{"%9: bool = subgroup_all %4", Scope::workgroup},
        ValueCase{"%9: i32 = subgroup_broadcast_first %2", Scope::subgroup},
        ValueCase{"%9: i32 = subgroup_min_u %1", Scope::workgroup},
        ValueCase{"%9: i32 = subgroup_add %0", Scope::subgroup},
        ValueCase{"%9: i32 = subgroup_exclusive_add %0", Scope::invocation},
        ValueCase{"%9: i32 = subgroup_shuffle %2, %0", Scope::subgroup},
        ValueCase{"%9: i32 = subgroup_shuffle %2, %2", Scope::invocation},
        ValueCase{"%9: i32 = subgroup_shuffle_xor %2, %0", Scope::invocation},
        ValueCase{"%10: i32, %11: i32, %12: i32, %13: i32 = subgroup_ballot %3", Scope::subgroup},
        // A result is as uniform as the values and the condition.
        ValueCase{"%9: i32 = if %4 { yield %0 } else { yield %0 }", Scope::workgroup},
        ValueCase{"%9: i32 = if %5 { yield %0 } else { yield %0 }", Scope::invocation},
        ValueCase{"%9: i32 = if %3 { yield %0 } else { yield %2 }", Scope::invocation},
        ValueCase{"%9: i32 = switch %1 { case 1 { yield %0 } default { yield %0 } }", Scope::workgroup},
        // Loops: what they carry, and when who leaves.
        ValueCase{"%9: i32 = loop (%10: i32 = %0) { if %3 { break %10 } %11: i32 = not %10 continue %11 }",
                  Scope::device},
        ValueCase{"%9: i32 = loop (%10: i32 = %0) { if %5 { break %10 } %11: i32 = not %10 continue %11 }",
                  Scope::invocation},
        ValueCase{"%9: i32 = loop (%10: i32 = %0) { if %3 { break %10 } continue %2 }", Scope::invocation},
        ValueCase{"%9: i32 = loop (%10: i32 = %2) { if %3 { break %0 } continue %10 }", Scope::device},
        ValueCase{"%9: i32 = loop (%10: i32 = %0, %11: i32 = %0) { if %3 { break %10 } continue %11, %1 }",
                  Scope::workgroup},
        ValueCase{"%9: i32 = loop (%10: i32 = %0, %11: bool = %3) { if %11 { break %10 } continue %10, %5 }",
                  Scope::invocation},
        // A divergent loop inside a uniform one makes nothing but its own results divergent.
        ValueCase{"%9: i32 = loop (%10: i32 = %0) { loop { if %5 { break } continue } if %3 { break %10 } "
                  "continue %10 }",
                  Scope::device}));

TEST(Uniformity, a_workgroup_of_one_invocation_is_uniform) {
  EXPECT_TRUE(kernel_of("if %5 { barrier workgroup }", "1 1 1").ok());
}

struct FlowCase {
  std::string_view body;
  std::string_view flow;  ///< the scope named in the refusal, or "accepted"
};

class Convergence : public testing::TestWithParam<FlowCase> {};

TEST_P(Convergence, is_required_where_lanes_meet) {
  const Result<Kernel> kernel = kernel_of(GetParam().body);
  if (GetParam().flow == "accepted")
    EXPECT_TRUE(kernel.ok()) << GetParam().body << ": " << kernel.error().to_string();
  else
    EXPECT_THAT(kernel.ok() ? "accepted" : kernel.error().message,
                HasSubstr(format("here it is proved only over the {}", GetParam().flow)))
        << GetParam().body;
}

INSTANTIATE_TEST_SUITE_P(
    Uniformity, Convergence,
    testing::Values(
        FlowCase{"barrier workgroup", "accepted"}, FlowCase{"if %3 { barrier workgroup }", "accepted"},
        FlowCase{"if %4 { barrier workgroup }", "accepted"}, FlowCase{"if %6 { barrier workgroup }", "subgroup"},
        FlowCase{"if %5 { barrier workgroup }", "invocation"},
        FlowCase{"if %5 { } else { barrier workgroup }", "invocation"},
        FlowCase{"if %6 { barrier subgroup }", "accepted"}, FlowCase{"if %5 { barrier subgroup }", "invocation"},
        FlowCase{"if %6 { %9: i32 = subgroup_add %0 }", "accepted"},
        FlowCase{"if %5 { %9: i32 = subgroup_add %0 }", "invocation"},
        FlowCase{"if %4 { %9: i32 = assume_uniform %2 device }", "workgroup"},
        FlowCase{"if %4 { %9: i32 = assume_uniform %2 workgroup }", "accepted"},
        FlowCase{"%9: bool = assume_uniform %5 workgroup if %9 { barrier workgroup }", "accepted"},
        FlowCase{"switch %2 { case 1 { } default { barrier workgroup } }", "invocation"},
        FlowCase{"if %3 { if %5 { if %3 { barrier workgroup } } }", "invocation"},
        FlowCase{"if %5 { fence device release }", "accepted"},
        // A construct that nobody leaves merges again.
        FlowCase{"if %5 { store scratch[%0], %0 } barrier workgroup", "accepted"},
        // return_ narrows the flow to the end of the kernel, and not what came before.
        FlowCase{"if %5 { return } barrier workgroup", "invocation"},
        FlowCase{"if %5 { } else { return } barrier subgroup", "invocation"},
        FlowCase{"if %4 { return } barrier workgroup", "accepted"},
        FlowCase{"if %3 { if %5 { return } } barrier workgroup", "invocation"},
        FlowCase{"loop { if %5 { return } break } barrier workgroup", "invocation"},
        FlowCase{"loop { barrier workgroup if %5 { return } if %3 { break } continue }", "invocation"},
        FlowCase{"loop { barrier workgroup if %3 { break } continue } if %5 { return }", "accepted"},
        FlowCase{"loop { loop { if %5 { return } break } barrier workgroup break }", "invocation"},
        // break_ and continue_ narrow the loop that they are in, in all iterations, and not what follows it.
        FlowCase{"loop { if %3 { break } barrier workgroup continue }", "accepted"},
        FlowCase{"loop { if %5 { break } barrier workgroup continue }", "invocation"},
        FlowCase{"loop { barrier workgroup if %5 { break } continue }", "invocation"},
        FlowCase{"loop { barrier workgroup if %3 { if %5 { break } } continue }", "invocation"},
        FlowCase{"loop { if %5 { continue } barrier workgroup break }", "invocation"},
        FlowCase{"loop { barrier workgroup if %5 { continue } break }", "invocation"},
        FlowCase{"loop { if %5 { break } continue } barrier workgroup", "accepted"},
        FlowCase{"loop { loop { if %5 { break } continue } barrier workgroup if %3 { break } continue }", "accepted"},
        FlowCase{"loop { if %3 { loop { if %5 { break } continue } barrier workgroup } break }", "accepted"},
        FlowCase{"loop { switch %2 { case 0 { break } } barrier workgroup continue }", "invocation"},
        // The trip count is a value like others.
        FlowCase{"loop (%9: i32 = %2) { %10: bool = less_u %9, %0 if %10 { } else { break } barrier workgroup "
                 "continue %9 }",
                 "invocation"},
        FlowCase{"loop (%9: i32 = %1) { %10: bool = less_u %9, %0 if %10 { } else { break } barrier workgroup "
                 "continue %9 }",
                 "accepted"},
        FlowCase{"loop (%9: i32 = %1) { %10: bool = less_u %9, %0 if %10 { } else { break } barrier workgroup "
                 "continue %2 }",
                 "invocation"}));

TEST(Uniformity, is_found_through_a_long_chain_of_carried_values) {
  std::string carried;
  std::string next;
  for (int i = 0; i < 10'000; ++i) {
    carried += format("{}%{}: i32 = %0", i == 0 ? "" : ", ", 100 + i);
    next += format("{}%{}", i == 0 ? "" : ", ", i == 9'999 ? 2 : 101 + i);
  }
  const Result<Kernel> kernel =
      kernel_of(format("%9: i32 = loop ({}) {{ if %3 {{ break %100 }} continue {} }}", carried, next));
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  const Instruction& loop = kernel->body.instructions[kernel->body.instructions.size() - 2];
  EXPECT_EQ(analyse_uniformity(*kernel).of(loop.result()), Scope::invocation);
}

}  // namespace
}  // namespace wavegate::kir
