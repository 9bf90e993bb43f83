#include "wavegate/io/matrix_market.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "wavegate/base/format.h"
#include "wavegate/io/text.h"

namespace wavegate::io {
namespace {

enum class Field { real, integer, pattern };

struct Banner {
  Field field = Field::real;
  bool symmetric = false;
};

struct Size {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint64_t entries = 0;
};

/// The choices that the format has for one word of the banner. Those beyond `supported` are known and not read here.
struct Choice {
  std::string_view what;
  std::span<const std::string_view> words;
  std::size_t supported;
};

constexpr std::array<std::string_view, 1> kObjects = {"matrix"};
constexpr std::array<std::string_view, 2> kLayouts = {"coordinate", "array"};
constexpr std::array<std::string_view, 4> kFields = {"real", "integer", "pattern", "complex"};
constexpr std::array<std::string_view, 4> kStructures = {"general", "symmetric", "skew-symmetric", "hermitian"};
constexpr std::array kBanner = {
    Choice{"object", kObjects, 1},
    Choice{"layout", kLayouts, 1},
    Choice{"field", kFields, 3},
    Choice{"structure", kStructures, 2},
};

std::string join(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += format("{}\"{}\"", text.empty() ? "" : ", ", word);
  return text;
}

Result<Banner> parse_banner(std::string_view line, const std::string& where) {
  if (lower_case(take_word(line)) != "%%matrixmarket") {
    return invalid_input("is no Matrix Market file: its first line does not start with %%MatrixMarket", where);
  }
  std::array<std::size_t, kBanner.size()> picks = {};
  for (std::size_t i = 0; i < kBanner.size(); ++i) {
    const Choice& choice = kBanner[i];
    const std::string_view word = take_word(line);
    const auto found = std::ranges::find(choice.words, lower_case(word));
    if (found == choice.words.end()) {
      return invalid_input(format("the banner's {} is {}, none of {}", choice.what, quote(word), join(choice.words)),
                           where);
    }
    picks[i] = static_cast<std::size_t>(found - choice.words.begin());
    if (picks[i] >= choice.supported) {
      return unsupported(format("a matrix whose {} is \"{}\"; convert it to {}", choice.what, *found,
                                join(choice.words.first(choice.supported))),
                         where);
    }
  }
  if (const std::string_view rest = take_word(line); !rest.empty()) {
    return invalid_input(format("{} follows the banner's five words", quote(rest)), where);
  }
  return Banner{static_cast<Field>(picks[2]), picks[3] == 1};
}

/// One number of the size line.
Result<std::uint64_t> parse_count(std::string_view& line, std::string_view what, std::uint64_t minimum,
                                  const std::string& where) {
  const std::string_view word = take_word(line);
  if (word.empty()) return invalid_input(format("the size line lacks the number of {}", what), where);
  const auto count = parse_unsigned(word);
  if (!count || *count < minimum || *count > kMaximumIndex) {
    return invalid_input(
        format("the number of {}, {}, is not a whole number from {} to {}", what, quote(word), minimum, kMaximumIndex),
        where);
  }
  return *count;
}

Result<Size> parse_size(const LineReader& lines, const Banner& banner) {
  const std::string where = lines.where();
  std::string_view line = lines.line();
  WAVEGATE_TRY(const std::uint64_t rows, parse_count(line, "rows", 1, where));
  WAVEGATE_TRY(const std::uint64_t columns, parse_count(line, "columns", 1, where));
  WAVEGATE_TRY(const std::uint64_t entries, parse_count(line, "entries", 0, where));
  if (const std::string_view rest = take_word(line); !rest.empty()) {
    return invalid_input(format("{} follows the size line's three numbers", quote(rest)), where);
  }
  if (banner.symmetric && rows != columns) {
    return invalid_input(format("a symmetric matrix of {} x {} is not square", rows, columns), where);
  }

  // An entry takes at least "1 1" or "1 1 1"; all but the last have a line's end.
  const std::uint64_t shortest = banner.field == Field::pattern ? 4 : 6;
  const std::uint64_t possible = (lines.bytes_left() + 1) / shortest;
  if (entries > possible) {
    return invalid_input(format("the size line claims {} entries, but at most {} fit the {} bytes that follow", entries,
                                possible, lines.bytes_left()),
                         where);
  }
  // Row offsets cost memory that no part of the text pays for.
  const std::uint64_t largest = std::max<std::uint64_t>(std::uint64_t{1} << 20, entries * 64);
  if (std::max(rows, columns) > largest) {
    return unsupported(format("a matrix of {} x {} with only {} entries; number its non-empty rows and columns anew so "
                              "that neither exceeds {}",
                              rows, columns, entries, largest),
                       where);
  }
  return Size{static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns), entries};
}

Error misplaced(std::string_view word, std::string_view what, std::uint32_t limit, const LineReader& lines) {
  if (word.empty()) return invalid_input(format("the entry lacks its {}", what), lines.where());
  return invalid_input(format("the {} {} is not a whole number from 1 to {}", what, quote(word), limit), lines.where());
}

Result<MatrixEntry> parse_entry(const LineReader& lines, const Banner& banner, const Size& size) {
  std::string_view line = lines.line();
  const std::string_view row_word = take_word(line);
  const auto row = parse_unsigned(row_word);
  if (!row || *row < 1 || *row > size.rows) return misplaced(row_word, "row", size.rows, lines);
  const std::string_view column_word = take_word(line);
  const auto column = parse_unsigned(column_word);
  if (!column || *column < 1 || *column > size.columns) return misplaced(column_word, "column", size.columns, lines);

  float value = 1;
  if (banner.field != Field::pattern) {
    const std::string_view word = take_word(line);
    const bool integer = banner.field == Field::integer;
    if (word.empty()) return invalid_input(format("entry ({}, {}) lacks its value", *row, *column), lines.where());
    const auto number = integer ? std::optional<double>(parse_signed(word)) : parse_real(word);
    if (!number) {
      return invalid_input(format("entry ({}, {}): the value {} is not a {}", *row, *column, quote(word),
                                  integer ? "whole number of at most 64 bits" : "finite decimal number"),
                           lines.where());
    }
    value = static_cast<float>(*number);
    if (!std::isfinite(value)) {
      return invalid_input(format("entry ({}, {}): the value {} exceeds f32's range of 3.4e38; scale the matrix", *row,
                                  *column, quote(word)),
                           lines.where());
    }
  }
  if (const std::string_view rest = take_word(line); !rest.empty()) {
    return invalid_input(format("entry ({}, {}): {} follows it", *row, *column, quote(rest)), lines.where());
  }
  return MatrixEntry{static_cast<std::uint32_t>(*row - 1), static_cast<std::uint32_t>(*column - 1), value};
}

/// The next line that is neither blank nor a comment.
bool next_content(LineReader& lines) {
  while (lines.next()) {
    std::string_view line = lines.line();
    const std::string_view word = take_word(line);
    if (!word.empty() && word.front() != '%') return true;
  }
  return false;
}

/// Reads the text a second time to say where an entry that occurs twice stands.
Error duplicate_error(std::string_view text, std::string_view name, const Banner& banner, const Size& size,
                      const MatrixEntry& duplicate) {
  LineReader lines(text, name);
  next_content(lines);  // The banner is a comment here: this is the size line.
  std::uint64_t first = 0;
  while (next_content(lines)) {
    const Result<MatrixEntry> entry = parse_entry(lines, banner, size);
    if (!entry.ok()) break;
    const bool same = entry->row == duplicate.row && entry->column == duplicate.column;
    const bool mirrored = banner.symmetric && entry->row == duplicate.column && entry->column == duplicate.row;
    if (!same && !mirrored) continue;
    if (first != 0) {
      return invalid_input(format("entry ({}, {}) occurs twice, first in line {}{}; add the two or remove one",
                                  entry->row + 1, entry->column + 1, first,
                                  banner.symmetric ? " (a symmetric file stores one of (i, j) and (j, i))" : ""),
                           lines.where());
    }
    first = lines.number();
  }
  return internal_error(
      format("entry ({}, {}) is twice in the matrix and once in the file", duplicate.row + 1, duplicate.column + 1),
      std::string(name));
}

}  // namespace

Result<CsrMatrix> parse_matrix_market(std::string_view text, std::string_view name) {
  LineReader lines(text, name);
  if (!lines.next()) return invalid_input("is empty, no Matrix Market file", std::string(name));
  WAVEGATE_TRY(const Banner banner, parse_banner(lines.line(), lines.where()));
  if (!next_content(lines)) return invalid_input("ends before its size line", lines.where());
  WAVEGATE_TRY(const Size size, parse_size(lines, banner));

  std::vector<MatrixEntry> entries;
  entries.reserve(static_cast<std::size_t>(size.entries * (banner.symmetric ? 2 : 1)));
  std::uint64_t read = 0;
  for (; next_content(lines); ++read) {
    if (read == size.entries) {
      return invalid_input(format("an entry follows the {} that the size line claims", size.entries), lines.where());
    }
    WAVEGATE_TRY(const MatrixEntry entry, parse_entry(lines, banner, size));
    entries.push_back(entry);
    if (banner.symmetric && entry.row != entry.column) entries.push_back({entry.column, entry.row, entry.value});
  }
  if (read < size.entries) {
    return invalid_input(
        format("the text ends after {} of the {} entries that its size line claims", read, size.entries),
        lines.where());
  }
  if (entries.size() > kMaximumIndex) {
    return invalid_input(format("the symmetric matrix has {} entries when expanded, over the limit of {}",
                                entries.size(), kMaximumIndex),
                         std::string(name));
  }
  CsrMatrix matrix = compress_rows(size.rows, size.columns, entries);
  if (const auto duplicate = find_duplicate(matrix)) return duplicate_error(text, name, banner, size, *duplicate);
  return matrix;
}

}  // namespace wavegate::io
