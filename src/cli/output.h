#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wavegate/base/result.h"
#include "wavegate/device/device.h"

namespace wavegate::cli {

/// What a command leaves to be printed on standard output, and the process's exit code.
struct Outcome {
  std::string text;
  int exit_code = 0;
};

/// Exit codes besides 0.
inline constexpr int kFailed = 1;      ///< the job failed, or its result is not what was asked for
inline constexpr int kUsageError = 2;  ///< the arguments are wrong

/// A line on stderr that says what takes so long. Shown on a terminal only, and gone when this ends.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Replaces the line. Costs next to nothing where there is no terminal.
  void show(std::string_view text);
  void clear();

 private:
  bool on_terminal_;
  bool shown_ = false;
};

enum class Align { left, right };
using Row = std::vector<std::string>;

/// Rows as lines whose columns are as wide as their widest cell, two spaces apart; cells are made printable. Columns
/// without an entry in `alignment` are left-aligned; no line ends in spaces.
std::string table(const std::vector<Row>& rows, std::span<const Align> alignment = {});

/// The text with every control character but the line feed replaced by '?', so that a name from a file cannot
/// command the terminal.
std::string printable(std::string_view text);

/// "4.0 GiB".
std::string bytes_text(std::uint64_t bytes);
/// "12.3 ms".
std::string seconds_text(double seconds);

/// Prints "wavegate: <message>" on stderr, in colour on a terminal unless NO_COLOR is set.
void print_error(std::string_view message);

/// Prints "wavegate: <message>" on stderr without colour: nothing failed.
void print_note(std::string_view message);

enum class Printed { all, reader_left, failed };
/// Writes text to standard output; `failed` after an error message, `reader_left` where a pipe is broken.
Printed print(std::string_view text);

/// Opens a device; the error says what works without a GPU where none is found.
Result<std::shared_ptr<device::Device>> open_device_or_advise(const std::string& name);

/// Finds out before the work whether a file can be written at this path afterwards. Touches nothing.
Result<void> check_output_path(const std::filesystem::path& path);

}  // namespace wavegate::cli
