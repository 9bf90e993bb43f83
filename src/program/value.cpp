#include "wavegate/program/value.h"

namespace wavegate::program {

std::string_view to_string(ScalarType type) {
  constexpr std::string_view names[] = {"uint32", "sint32", "float32"};
  return names[static_cast<uint8_t>(type)];
}

kir::Type kernel_type(ScalarType type) {
  return type == ScalarType::float32 ? kir::Type::f32 : kir::Type::i32;
}

}  // namespace wavegate::program
