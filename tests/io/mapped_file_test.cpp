#include "wavegate/io/mapped_file.h"

#include <gmock/gmock.h>

#include "io/support.h"
#include "wavegate/io/file.h"

namespace wavegate::io {
namespace {

using testing::HasSubstr;

TEST(MappedFile, HoldsTheFile) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("content"));
  const auto file = MappedFile::open(folder / "a");
  ASSERT_TRUE(file.ok()) << error_text(file);
  EXPECT_EQ(as_text(file->bytes()), "content");
}

TEST(MappedFile, OfNoBytesIsEmpty) {
  const TemporaryFolder folder;
  put(folder / "a", {});
  const auto file = MappedFile::open(folder / "a");
  ASSERT_TRUE(file.ok()) << error_text(file);
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, StaysWhereItWasWhenItIsMoved) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("content"));
  auto file = MappedFile::open(folder / "a");
  ASSERT_TRUE(file.ok()) << error_text(file);
  const std::span<const std::byte> bytes = file->bytes();
  const MappedFile moved = *std::move(file);
  EXPECT_EQ(moved.bytes().data(), bytes.data());
  EXPECT_EQ(as_text(moved.bytes()), "content");
}

TEST(MappedFile, ThatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_text(MappedFile::open(folder / "none")), HasSubstr("cannot be opened"));
  EXPECT_THAT(error_text(MappedFile::open(folder.path())), HasSubstr("is a folder"));
  EXPECT_THAT(error_text(MappedFile::open("/dev/null")), HasSubstr("is no regular file"));
}

}  // namespace
}  // namespace wavegate::io
