#include "wavegate/io/file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "io/gzip.h"
#include "io/support.h"

namespace wavegate::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const Result<std::vector<std::byte>>& bytes) {
  return bytes.ok() ? std::string(as_text(*bytes)) : error_text(bytes);
}

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(ReadFile, ReadsPlainBytes) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes(std::string_view("one\0two", 7)));
  EXPECT_EQ(text_of(read_file(folder / "a")), std::string("one\0two", 7));
}

TEST(ReadFile, ReadsAnEmptyFile) {
  const TemporaryFolder folder;
  put(folder / "a", {});
  EXPECT_EQ(text_of(read_file(folder / "a")), "");
}

TEST(ReadFile, DecompressesGzipWhateverTheNameSays) {
  const TemporaryFolder folder;
  put(folder / "a.txt", gzip(to_bytes("hello")));
  EXPECT_EQ(text_of(read_file(folder / "a.txt")), "hello");
}

TEST(ReadFile, ReadsADeviceWhoseSizeIsUnknown) {
  EXPECT_EQ(text_of(read_file("/dev/null")), "");
}

TEST(ReadFile, NamesAMissingFile) {
  EXPECT_THAT(error_text(read_file("no/such/file")),
              AllOf(StartsWith("invalid input"), HasSubstr("no/such/file: "), HasSubstr("No such file")));
}

TEST(ReadFile, SaysThatAFolderIsAFolder) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_text(read_file(folder.path())),
              AllOf(StartsWith("invalid input"), HasSubstr(folder.path().string()), HasSubstr("is a folder")));
}

TEST(ReadFile, NamesAFileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("x"));
  std::filesystem::permissions(folder / "a", std::filesystem::perms::none);
  EXPECT_THAT(error_text(read_file(folder / "a")), AllOf(StartsWith("invalid input"), HasSubstr("Permission denied")));
}

TEST(ReadFile, TakesAFileOfExactlyTheLimit) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("12345"));
  EXPECT_EQ(text_of(read_file(folder / "a", 5)), "12345");
}

TEST(ReadFile, RefusesAFileBeyondTheLimit) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("12345"));
  EXPECT_THAT(error_text(read_file(folder / "a", 4)),
              AllOf(StartsWith("invalid input"), HasSubstr("holds more than the limit of 4 bytes")));
}

TEST(ReadFile, StopsReadingAnEndlessDeviceAtTheLimit) {
  EXPECT_THAT(error_text(read_file("/dev/zero", 1 << 20)), HasSubstr("the limit of 1048576 bytes"));
}

TEST(ReadRegularFile, RefusesDevicesAndPipesAndReadsTheRest) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("hello"));
  std::filesystem::create_symlink("a", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(text_of(read_regular_file(folder / "link")), "hello");
  for (const std::filesystem::path& path : {std::filesystem::path("/dev/zero"), folder / "pipe"})
    EXPECT_THAT(error_text(read_regular_file(path)),
                AllOf(StartsWith("invalid input"), HasSubstr(path.string()), HasSubstr("is a pipe or a device")));
  EXPECT_THAT(error_text(read_regular_file("no/such/file")), HasSubstr("No such file"));
  EXPECT_THAT(error_text(read_regular_file(folder.path())), HasSubstr("is a folder"));
}

TEST(DecompressGzip, GrowsTheOutputAsNeeded) {
  const std::string text(5'000'000, 'a');
  EXPECT_EQ(text_of(decompress_gzip(gzip(to_bytes(text)), "a.gz")), text);
}

TEST(DecompressGzip, GivesNothingForAnEmptyMember) {
  EXPECT_EQ(text_of(decompress_gzip(gzip({}), "a.gz")), "");
}

TEST(DecompressGzip, JoinsMembers) {
  std::vector<std::byte> bytes = gzip(to_bytes("one "));
  const std::vector<std::byte> second = gzip(to_bytes("two"));
  bytes.insert(bytes.end(), second.begin(), second.end());
  EXPECT_EQ(text_of(decompress_gzip(bytes, "a.gz")), "one two");
}

TEST(DecompressGzip, TakesAnOutputOfExactlyTheLimit) {
  EXPECT_EQ(text_of(decompress_gzip(gzip(to_bytes("12345")), "a.gz", 5)), "12345");
}

TEST(DecompressGzip, StopsABombAtTheLimit) {
  const std::vector<std::byte> bomb = gzip(std::vector<std::byte>(5'000'000));
  EXPECT_THAT(error_text(decompress_gzip(bomb, "bomb.gz", 1'000'000)),
              AllOf(StartsWith("invalid input: bomb.gz: "), HasSubstr("more than the limit of 1000000 bytes")));
}

TEST(DecompressGzip, RefusesEveryPrefixOfAStream) {
  const std::vector<std::byte> bytes = gzip(to_bytes("some text to compress"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(error_text(decompress_gzip(std::span(bytes).first(size), "a.gz")),
                AllOf(StartsWith("invalid input: a.gz: "), HasSubstr("cut off")))
        << "prefix of " << size;
  }
}

TEST(DecompressGzip, RefusesADamagedCheckSum) {
  std::vector<std::byte> bytes = gzip(to_bytes("some text to compress"));
  bytes[bytes.size() - 8] ^= std::byte{1};
  EXPECT_THAT(error_text(decompress_gzip(bytes, "a.gz")), AllOf(HasSubstr("damaged near byte"), HasSubstr("check")));
}

TEST(DecompressGzip, RefusesBytesAfterTheEnd) {
  std::vector<std::byte> bytes = gzip(to_bytes("text"));
  bytes.resize(bytes.size() + 3);
  EXPECT_THAT(error_text(decompress_gzip(bytes, "a.gz")), HasSubstr("3 bytes after the end of the gzip data"));
}

TEST(DecompressGzip, RefusesWhatIsNoGzip) {
  EXPECT_THAT(error_text(decompress_gzip(to_bytes("plain text"), "a.gz")), HasSubstr("damaged near byte"));
}

TEST(WriteFile, WritesANewFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(error_text(write_file_atomically(folder / "a", to_bytes("text"))), "");
  EXPECT_EQ(get(folder / "a"), "text");
}

TEST(WriteFile, ReplacesAFileAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("a longer old text"));
  ASSERT_EQ(error_text(write_file_atomically(folder / "a", to_bytes("new"))), "");
  EXPECT_EQ(get(folder / "a"), "new");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(WriteFile, WritesIntoTheCurrentFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const std::string error = error_text(write_file_atomically("a", to_bytes("text")));
  std::filesystem::current_path(before);
  EXPECT_EQ(error, "");
  EXPECT_EQ(get(folder / "a"), "text");
}

TEST(WriteFile, LeavesOldReadersTheOldFile) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("old"));
  std::filesystem::create_hard_link(folder / "a", folder / "reader");
  ASSERT_EQ(error_text(write_file_atomically(folder / "a", to_bytes("new"))), "");
  EXPECT_EQ(get(folder / "reader"), "old");
}

TEST(WriteFile, KeepsThePermissionsOfAFileThatItReplaces) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("old"));
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0640), 0);
  ASSERT_EQ(error_text(write_file_atomically(folder / "a", to_bytes("new"))), "");
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions(), std::filesystem::perms{0640});
}

TEST(WriteFile, FollowsASymbolicLink) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("old"));
  std::filesystem::create_symlink("a", folder / "link");
  ASSERT_EQ(error_text(write_file_atomically(folder / "link", to_bytes("new"))), "");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(get(folder / "a"), "new");
}

TEST(WriteFile, WritesToADeviceInPlace) {
  ASSERT_EQ(error_text(write_file_atomically("/dev/null", to_bytes("text"))), "");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteFile, NamesAMissingFolder) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_text(write_file_atomically(folder / "none" / "a", to_bytes("text"))),
              AllOf(StartsWith("invalid input"), HasSubstr("none/a: "), HasSubstr("cannot create a file in the folder"),
                    HasSubstr("No such file or directory")));
}

TEST(WriteFile, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_text(write_file_atomically(folder.path(), to_bytes("text"))), HasSubstr("is a folder"));
}

TEST(WriteFile, RefusesANameOfNothing) {
  EXPECT_THAT(error_text(write_file_atomically("", to_bytes("text"))), HasSubstr("is no file name"));
}

TEST(WriteFile, KeepsTheOldFileWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  put(folder / "a", to_bytes("old"));
  // A limit on the size of files stands in for a full disk.
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_text(write_file_atomically(folder / "a", std::vector<std::byte>(5000)));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(error, AllOf(HasSubstr("cannot be written"), HasSubstr("File too large")));
  EXPECT_EQ(get(folder / "a"), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

}  // namespace
}  // namespace wavegate::io
