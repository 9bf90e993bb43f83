#pragma once

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <utility>
#include <vector>

#include "amdgpu/object/testing.h"

/// Offload bundles as clang's documentation describes them.
namespace wavegate::amdgpu::object {

inline std::vector<std::byte> make_bundle(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<std::byte> table = to_bytes("__CLANG_OFFLOAD_BUNDLE__");
  std::vector<std::byte> contents;
  append(table, std::uint64_t{entries.size()});
  std::uint64_t place = table.size();
  for (const auto& [id, content] : entries) place += 24 + id.size();
  for (const auto& [id, content] : entries) {
    append(table, std::uint64_t{place + contents.size()});
    append(table, std::uint64_t{content.size()});
    append(table, std::uint64_t{id.size()});
    append(table, std::string_view(id));
    append(contents, std::string_view(content));
  }
  table.insert(table.end(), contents.begin(), contents.end());
  return table;
}

/// Method 0 is zlib's, 1 zstd's.
inline std::vector<std::byte> compress_bundle(const std::vector<std::byte>& plain, std::uint16_t version,
                                              std::uint16_t method) {
  std::vector<std::byte> stream(method == 0 ? ::compressBound(plain.size()) : ::ZSTD_compressBound(plain.size()));
  if (method == 0) {
    auto size = static_cast<uLongf>(stream.size());
    EXPECT_EQ(::compress(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                         plain.size()),
              Z_OK);
    stream.resize(size);
  } else {
    stream.resize(::ZSTD_compress(stream.data(), stream.size(), plain.data(), plain.size(), 3));
  }
  std::vector<std::byte> bytes = to_bytes("CCOB");
  append(bytes, version);
  append(bytes, method);
  if (version == 2) append(bytes, static_cast<std::uint32_t>(24 + stream.size()));
  if (version == 3) append(bytes, std::uint64_t{32 + stream.size()});
  if (version == 3) {
    append(bytes, std::uint64_t{plain.size()});
  } else {
    append(bytes, static_cast<std::uint32_t>(plain.size()));
  }
  append(bytes, std::uint64_t{0});  // a hash
  bytes.insert(bytes.end(), stream.begin(), stream.end());
  return bytes;
}

}  // namespace wavegate::amdgpu::object
