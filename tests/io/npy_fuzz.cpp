#include "wavegate/io/npy.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

/// Whatever read_npy takes, write_npy writes so that it is read as the same array.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate::io;
  const auto array = read_npy(std::as_bytes(std::span(data, size)), "input");
  if (!array.ok()) return 0;
  const auto floats = to_f32(*array);
  if (floats.ok() && floats->size() != element_count(array->type, array->shape)) std::abort();
  const auto bytes = write_npy(*array);
  if (!bytes.ok()) std::abort();
  const auto again = read_npy(*bytes, "output");
  if (!again.ok() || *again != *array) std::abort();
  return 0;
}
