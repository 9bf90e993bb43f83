#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/base/result.h"

/// What the tests of this folder share.
namespace wavegate::io {

/// A folder of its own for a test, removed with all it holds at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            format("wavegate_{}_{}_{}", test.test_suite_name(), test.name(), ::getpid());
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void put(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::string get(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The whole error of a failed result, its kind included; "" on success.
template <typename T>
std::string error_text(const Result<T>& result) {
  return result.ok() ? "" : result.error().to_string();
}

/// Where the set-up puts the example graphs of METIS; the environment variable WAVEGATE_METIS_GRAPHS overrides it.
inline std::filesystem::path metis_graphs() {
  const char* folder = std::getenv("WAVEGATE_METIS_GRAPHS");
  return folder != nullptr ? folder : WAVEGATE_SOURCE_DIR "/build/data/metis";
}

/// A malformed input and the words that its error must hold, the kind and the line among them.
struct Malformed {
  std::string_view name;
  std::string text;
  std::vector<std::string> words;
};

inline void PrintTo(const Malformed& malformed, std::ostream* stream) {
  *stream << malformed.name;
}

inline std::string name_of(const testing::TestParamInfo<Malformed>& info) {
  return std::string(info.param.name);
}

}  // namespace wavegate::io
