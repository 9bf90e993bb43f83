#include "wavegate/device/cache_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "wavegate/base/format.h"

namespace wavegate::device {
namespace {

using testing::Eq;
using testing::Optional;

/// A directory of its own for this process, removed at the end.
const std::string& cache_directory() {
  struct Directory {
    std::string path = (std::filesystem::temp_directory_path() / format("wavegate-cache-test-{}", getpid())).string();
    ~Directory() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Directory directory;
  return directory.path;
}

const std::vector<std::byte> kContents = {std::byte{1}, std::byte{2}, std::byte{3}};

TEST(CacheDirectory, ReturnsWhatWasWritten) {
  const CacheDirectory cache(cache_directory() + "/files");
  cache.write("whole", kContents);
  EXPECT_THAT(cache.read("whole"), Optional(kContents));
}

TEST(CacheDirectory, LeavesNoTemporaryFileBehind) {
  const CacheDirectory cache(cache_directory() + "/alone");
  cache.write("only", kContents);
  const std::filesystem::directory_iterator files(cache.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(CacheDirectory, IgnoresAFileWithAChangedByte) {
  const CacheDirectory cache(cache_directory() + "/files");
  cache.write("changed", kContents);
  std::fstream file(cache.path() / "changed", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('x');
  file.close();
  EXPECT_THAT(cache.read("changed"), Eq(std::nullopt));
}

TEST(CacheDirectory, IgnoresATruncatedFile) {
  const CacheDirectory cache(cache_directory() + "/files");
  cache.write("short", kContents);
  std::filesystem::resize_file(cache.path() / "short", 25);
  EXPECT_THAT(cache.read("short"), Eq(std::nullopt));
}

TEST(CacheDirectory, SurvivesADirectoryThatCannotBeMade) {
  const CacheDirectory cache("/proc/wavegate");
  cache.write("file", kContents);
  EXPECT_THAT(cache.read("file"), Eq(std::nullopt));
}

TEST(CacheDirectory, FollowsXdgCacheHome) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before ? before : "";
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(CacheDirectory::standard().path(), "/somewhere/wavegate");
  before ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace wavegate::device
