#include "wavegate/emit/wgsl/writer.h"

#include <gmock/gmock.h>

namespace wavegate::emit::wgsl {
namespace {

TEST(Writer, IndentsByTheBlocksThatALineStandsIn) {
  Writer writer(1);
  writer.open("if (a)");
  writer.line("b;");
  writer.reopen("else");
  writer.open("loop");
  writer.close();
  writer.close();
  writer.line("c;");
  EXPECT_EQ(writer.text(), "  if (a) {\n    b;\n  } else {\n    loop {\n    }\n  }\n  c;\n");
}

}  // namespace
}  // namespace wavegate::emit::wgsl
