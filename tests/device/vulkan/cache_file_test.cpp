#include "wavegate/device/vulkan/cache_file.h"

#include <cstdlib>
#include <fstream>

#include "device/vulkan/test_device.h"

namespace wavegate::device::vulkan {
namespace {

using testing::Eq;
using testing::Optional;

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
}  // namespace wavegate::device::vulkan
