#include "wavegate/emit/wgsl/barriers.h"

#include "emit/wgsl/matrix.h"
#include "emit/wgsl/support.h"

namespace wavegate::emit::wgsl {
namespace {

/// "storage", "workgroup" or both, by the kernel that the body builds.
std::string barriers(const std::function<void(Builder&)>& body) {
  const Barriers found = barriers_of(value_of(built("kernel", body)));
  return std::string(found.storage ? "storage " : "") + (found.workgroup ? "workgroup" : "");
}

TEST(Barriers, OfAKernelWithNothingToOrderHoldUpAlone) {
  EXPECT_EQ(barriers([](Builder& b) { b.barrier(); }), "workgroup");
  EXPECT_EQ(barriers([](Builder& b) {
              auto x = b.buffer("x", Type::i32, Access::read);
              auto y = b.buffer("y", Type::i32, Access::write);
              y[b.local_id()] = Expr(x[b.local_id()]) + Expr(x[0u]);
            }),
            "workgroup");
}

TEST(Barriers, OrderWorkgroupMemoryWhereThereIsSome) {
  EXPECT_EQ(barriers([](Builder& b) {
              auto tile = b.workgroup_array("tile", Type::i32, 64);
              auto out = b.buffer("out", Type::i32, Access::write);
              tile[b.local_id()] = 1;
              b.barrier();
              out[0u] = tile[1u];
            }),
            "workgroup");
}

TEST(Barriers, OrderBuffersAndTheArenaThatAreAccessedTwice) {
  EXPECT_EQ(barriers([](Builder& b) {
              auto x = b.buffer("x", Type::i32, Access::read_write);
              x[b.local_id()] = 1;
              b.barrier();
              x[0u] = x[1u];
            }),
            "storage ");
  EXPECT_EQ(barriers([](Builder& b) {
              auto s = b.scalar("s", Type::i32, Access::read_write);
              auto tile = b.workgroup_array("tile", Type::i32, 64);
              tile[0u] = s;
              b.barrier();
              s = tile[1u];
            }),
            "storage workgroup");
}

TEST(Barriers, AnAccessInALoopIsMany) {
  EXPECT_EQ(barriers([](Builder& b) {
              auto x = b.buffer("x", Type::i32, Access::write);
              b.for_(b.u32(0), b.u32(4), b.u32(1), [&](Expr i) {
                x[i ^ b.local_id()] = i;
                b.barrier();
              });
            }),
            "storage ");
}

}  // namespace
}  // namespace wavegate::emit::wgsl
