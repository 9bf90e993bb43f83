#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wavegate::device {

/// A directory of small files that only save time: any failure to read or write one is treated as its absence.
/// Each file carries the length and a checksum of its contents, so that a damaged one never reaches a driver.
class CacheDirectory {
 public:
  /// An absent cache: reads nothing, writes nothing.
  CacheDirectory() = default;
  explicit CacheDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  /// $XDG_CACHE_HOME/wavegate, else $HOME/.cache/wavegate, else an absent one.
  static CacheDirectory standard();

  const std::filesystem::path& path() const { return path_; }

  /// The contents, if the file is there and whole.
  std::optional<std::vector<std::byte>> read(const std::string& name) const;

  /// Replaces the file in one step, so that a reader sees the old contents or the new. Creates the directory.
  void write(const std::string& name, std::span<const std::byte> contents) const;

 private:
  std::filesystem::path path_;
};

}  // namespace wavegate::device
