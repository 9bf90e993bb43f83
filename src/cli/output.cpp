#include "wavegate/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "wavegate/api/engine.h"
#include "wavegate/base/format.h"

namespace wavegate::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";
constexpr std::string_view kRed = "\033[1;31m";
constexpr std::string_view kPlain = "\033[0m";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// True where stderr understands escape sequences.
bool stderr_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb";
}

/// Writes all of it; false with errno set where that fails.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Nothing can be done about a message that cannot be written.
void write_stderr(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

/// Characters, not bytes: the continuation bytes of UTF-8 take no place of their own.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

Progress::Progress() : on_terminal_(stderr_is_terminal()) {}

void Progress::show(std::string_view text) {
  if (!on_terminal_) return;
  // A line that wraps could not be erased.
  std::string line = printable(text);
  if (line.size() > 78) line = line.substr(0, 75) + "...";
  write_stderr(format("{}{}", kEraseLine, line));
  shown_ = true;
}

void Progress::clear() {
  if (shown_) write_stderr(kEraseLine);
  shown_ = false;
}

std::string table(const std::vector<Row>& rows, std::span<const Align> alignment) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], width(printable(row[column])));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string cell = printable(row[column]);
      const std::string padding(widths[column] - width(cell), ' ');
      const bool right = column < alignment.size() && alignment[column] == Align::right;
      line += format("{}{}{}", column == 0 ? "" : "  ", right ? padding : cell, right ? cell : padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F, controls of two bytes
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F || is_c1) {
      result += '?';
      if (is_c1) ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return unit == 0 ? format("{} bytes", bytes) : format("{:.1f} {}", amount, kUnits[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return format("{:.2f} ms", seconds * 1e3);
  return format("{:.3f} s", seconds);
}

void print_error(std::string_view message) {
  const bool coloured = stderr_is_terminal() && variable("NO_COLOR").empty();
  write_stderr(format("{}wavegate:{} {}\n", coloured ? kRed : "", coloured ? kPlain : "", printable(message)));
}

void print_note(std::string_view message) {
  write_stderr(format("wavegate: {}\n", printable(message)));
}

Printed print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return Printed::all;
  if (errno == EPIPE) return Printed::reader_left;
  print_error(format("standard output cannot be written: {}", std::generic_category().message(errno)));
  return Printed::failed;
}

Result<std::shared_ptr<device::Device>> open_device_or_advise(const std::string& name) {
  auto device = open_device(name);
  if (device.ok() || device.error().kind != ErrorKind::device) return device;
  return device_error(format("{}; \"--device reference\" needs no GPU, but is slow", device.error().message),
                      device.error().where);
}

Result<void> check_output_path(const std::filesystem::path& path) {
  const std::string where = path.string();
  if (path.filename().empty()) return invalid_input("is no file name; name a file", where);
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return invalid_input("is a folder; name a file", where);
    if (!S_ISREG(status.st_mode)) return {};  // A pipe or a device is written to, not replaced.
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return invalid_input(
      format("cannot create a file in the folder \"{}\": {}", folder.string(), std::generic_category().message(errno)),
      where);
}

}  // namespace wavegate::cli
