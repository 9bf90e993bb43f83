#include "wavegate/io/program_file.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wavegate/program/verify.h"
#include "wavegate/target/profile.h"

/// Whatever parse_program takes is a program that can be expanded and verified; it may be refused there, by an error
/// that is the user's to mend. No file is touched.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wavegate;
  io::ProgramFileOptions options;
  options.read = [](const std::filesystem::path& path, std::uint64_t) -> Result<std::vector<std::byte>> {
    return invalid_input("no files here", path.string());
  };
  const auto mine = [](const Error& error) {
    if (error.kind == ErrorKind::internal) std::abort();
    return 0;
  };
  const auto program = io::parse_program({reinterpret_cast<const char*>(data), size}, options);
  if (!program.ok()) return mine(program.error());
  if (program->mistake()) std::abort();
  const auto expanded = program::expand(*program, target::Profile());
  if (!expanded.ok()) return mine(expanded.error());
  const auto verified = program::verify(*expanded);
  if (!verified.ok()) return mine(verified.error());
  return 0;
}
