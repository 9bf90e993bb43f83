#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/amdgpu/object/elf.h"
#include "wavegate/base/result.h"

namespace wavegate::amdgpu::object {

/// Which line of which source file an instruction came from, out of the section .debug_line, DWARF versions 2 to 5.
/// Borrows the object's bytes. Time and memory are linear in the section's size up to a logarithm.
class SourceLines {
 public:
  struct Position {
    std::string file;  ///< As the compiler was given it, with its folder where that is not the one it ran in.
    std::uint32_t line = 0;

    bool operator==(const Position&) const = default;
  };

  /// Empty for an object without debug information.
  static Result<SourceLines> parse(const Elf& elf);

  bool empty() const { return rows_.empty(); }
  /// The position of the instruction at an address of the object; nothing where the compiler tells none.
  std::optional<Position> find(std::uint64_t address) const;

 private:
  friend class LineUnit;

  struct File {
    std::string_view folder;
    std::string_view name;
  };
  /// From its address to the next row's.
  struct Row {
    std::uint64_t address = 0;
    std::uint32_t file = 0;  ///< Of files_; kNoFile where code ends.
    std::uint32_t line = 0;
  };
  static constexpr std::uint32_t kNoFile = ~std::uint32_t{0};

  std::vector<File> files_;
  std::vector<Row> rows_;  ///< By address.
};

}  // namespace wavegate::amdgpu::object
