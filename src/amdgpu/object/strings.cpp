#include "wavegate/amdgpu/object/strings.h"

#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {

Result<std::string_view> Strings::at(std::uint64_t offset) {
  if (offset == 0 && table_.empty()) return std::string_view();
  if (offset >= table_.size())
    return invalid_input(format("a name starts at byte {} of a string table of {}", offset, table_.size()));
  const std::string_view rest = table_.substr(static_cast<std::size_t>(offset), left_);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    return invalid_input(rest.size() == left_ ? "the names of a string table overlap beyond reason"
                                              : "the last name of a string table has no end");
  }
  left_ -= end;
  return rest.substr(0, end);
}

}  // namespace wavegate::amdgpu::object
