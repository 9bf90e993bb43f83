#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/io/file.h"
#include "wavegate/program/operation.h"
#include "wavegate/program/program.h"

namespace wavegate::io {

struct ProgramFileOptions {
  std::string name = "program";                         ///< the source in errors
  std::filesystem::path directory;                      ///< where relative paths in the file begin
  const program::OperationTable* operations = nullptr;  ///< borrowed; null: ops::library()
  /// Reads a file that the program names, up to a number of bytes; replace it to serve files from elsewhere or none.
  std::function<Result<std::vector<std::byte>>(const std::filesystem::path&, std::uint64_t)> read = read_regular_file;
};

/// Reads a program file: JSON by docs/program.schema.json, described in docs/program-file.md. Names, types, counts of
/// arguments and sizes are checked here, the rest when the program is compiled. The error's `where` is the source and
/// the path of the value, such as `heat.json: run[2].body[0]`; an unknown key or name comes with the nearest known one.
///
/// A hostile text costs time and memory linear in its size, up to a logarithm; at most 64 MiB of text are taken, and a
/// kernel's SPIR-V or kir file of as much.
Result<program::Program> parse_program(std::string_view json, const ProgramFileOptions& options = {});

/// The same from a file; paths in it begin at its folder.
Result<program::Program> load_program(const std::filesystem::path& path);

}  // namespace wavegate::io
