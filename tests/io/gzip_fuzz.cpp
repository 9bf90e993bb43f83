#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wavegate/io/file.h"

/// Whatever is decompressed stays within the limit, and a limit of exactly its size gives the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::io;
  constexpr std::uint64_t kLimit = 1 << 20;
  const auto input = std::as_bytes(std::span(data, size));
  const auto bytes = decompress_gzip(input, "input", kLimit);
  if (!bytes.ok()) {
    if (bytes.error().kind == wavegate::ErrorKind::internal) std::abort();
    return 0;
  }
  if (bytes->size() > kLimit) std::abort();
  const auto exact = decompress_gzip(input, "input", bytes->size());
  if (!exact.ok() || *exact != *bytes) std::abort();
  if (!bytes->empty() && decompress_gzip(input, "input", bytes->size() - 1).ok()) std::abort();
  return 0;
}
