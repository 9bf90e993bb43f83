// libFuzzer entry: any text is parsed or refused, and what is parsed prints to a text that means the same.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wavegate/kir/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace wavegate;
  const Result<kir::Kernel> kernel = kir::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!kernel.ok()) return 0;
  const std::string text = kir::print(*kernel);
  const Result<kir::Kernel> again = kir::parse(text);
  if (again.ok() && kir::print(*again) == text) return 0;
  std::fprintf(stderr, "the printed kernel does not read back: %s\n%s",
               again.ok() ? "it prints differently" : again.error().to_string().c_str(), text.c_str());
  std::abort();
}
