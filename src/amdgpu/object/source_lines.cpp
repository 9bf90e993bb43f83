#include "wavegate/amdgpu/object/source_lines.h"

#include <algorithm>
#include <limits>

#include "wavegate/amdgpu/object/strings.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

// DWARF 5, section 6.2 and 7.22. DW_LNS_*: opcodes of one byte, followed by operands.
enum : std::uint8_t {
  kCopy = 1,
  kAdvanceAddress = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kConstantAddAddress = 8,
  kFixedAdvanceAddress = 9,
};
// DW_LNE_*: opcodes of their own length, behind a zero.
enum : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };
// DW_LNCT_*: what an entry of a list of files tells.
enum : std::uint64_t { kPath = 1, kFolderIndex = 2 };
// DW_FORM_*: how.
enum : std::uint64_t {
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kStringOffset = 0x0e,
  kUnsigned = 0x0f,
  kData16 = 0x1e,
  kLineStringOffset = 0x1f,
};

/// Reads one after the other. Once something was not there, all that follows is zero and `ok` false, so that a loop
/// need not ask each time but must end with the bytes.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || bytes_.empty(); }
  std::size_t left() const { return bytes_.size(); }

  template <typename T>
  T number() {
    const Bytes part = take(sizeof(T));
    return part.empty() ? T{} : read_known<T>(part, 0);
  }
  Bytes take(std::uint64_t size) {
    const auto part = slice(bytes_, 0, size);
    if (!part) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    bytes_ = bytes_.subspan(part->size());
    return *part;
  }
  /// LEB128; bits beyond the 64th are dropped.
  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
  }
  std::string_view text() {
    const std::string_view rest = as_text(bytes_);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    take(end + 1);
    return rest.substr(0, end);
  }
  /// An offset or a length of the unit's format.
  std::uint64_t offset(bool wide) { return wide ? number<std::uint64_t>() : number<std::uint32_t>(); }

 private:
  Bytes bytes_;
  bool ok_ = true;
};

Error damaged(std::string_view why) {
  return invalid_input(format("the debug information is damaged: {}", why), ".debug_line");
}

/// How far from a file's start lines and addresses go in one step.
struct Steps {
  std::uint8_t instruction_size = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  Bytes operand_counts;  ///< Of the opcodes from 1 on.
};

}  // namespace

/// One unit of the section: what was compiled at once.
class LineUnit {
 public:
  LineUnit(SourceLines& lines, Strings& strings, Strings& line_strings)
      : lines_(lines), strings_(strings), line_strings_(line_strings), first_file_(lines.files_.size()) {}

  Result<void> read(Cursor unit, bool wide) {
    wide_ = wide;
    version_ = unit.number<std::uint16_t>();
    if (version_ < 2 || version_ > 5)
      return unsupported(format("version {} is none of 2 to 5", version_), ".debug_line");
    if (version_ == 5 && (unit.number<std::uint8_t>() != 8 || unit.number<std::uint8_t>() != 0))
      return unsupported("addresses are not of 64 bits", ".debug_line");
    Cursor header(unit.take(unit.offset(wide)));
    WAVEGATE_CHECK(read_steps(header));
    WAVEGATE_CHECK(version_ == 5 ? read_files(header) : read_old_files(header));
    if (!header.ok()) return damaged("a header is cut off");
    return run(unit);
  }

 private:
  Result<void> read_steps(Cursor& header) {
    steps_.instruction_size = header.number<std::uint8_t>();
    if (version_ >= 4) header.number<std::uint8_t>();  // operations of an instruction, which are one
    header.number<std::uint8_t>();                     // whether rows are statements, which is for debuggers
    steps_.line_base = header.number<std::int8_t>();
    steps_.line_range = header.number<std::uint8_t>();
    steps_.opcode_base = header.number<std::uint8_t>();
    if (steps_.line_range == 0 || steps_.opcode_base == 0) return damaged("a step is zero");
    steps_.operand_counts = header.take(steps_.opcode_base - 1u);
    return {};
  }

  Result<void> read_old_files(Cursor& header) {
    std::vector<std::string_view> folders = {{}};  // the first is where the compiler ran
    for (std::string_view folder = header.text(); !folder.empty(); folder = header.text()) folders.push_back(folder);
    lines_.files_.push_back({});  // the first has number 1
    for (std::string_view name = header.text(); !name.empty(); name = header.text()) {
      const std::uint64_t folder = header.leb();
      header.leb();  // time
      header.leb();  // size
      lines_.files_.push_back({folder < folders.size() ? folders[static_cast<std::size_t>(folder)] : "", name});
    }
    return {};
  }

  struct Entry {
    std::string_view path;
    std::uint64_t folder = 0;
  };

  Result<void> read_files(Cursor& header) {
    WAVEGATE_TRY(const std::vector<Entry> folders, read_entries(header));
    WAVEGATE_TRY(const std::vector<Entry> files, read_entries(header));
    for (const Entry& file : files) {
      // Folder 0 is where the compiler ran.
      const bool elsewhere = file.folder > 0 && file.folder < folders.size();
      lines_.files_.push_back({elsewhere ? folders[static_cast<std::size_t>(file.folder)].path : "", file.path});
    }
    return {};
  }

  /// A list of version 5, which tells first what its entries consist of.
  Result<std::vector<Entry>> read_entries(Cursor& header) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts(header.number<std::uint8_t>());
    for (auto& [content, form] : parts) {
      content = header.leb();
      form = header.leb();
    }
    const std::uint64_t count = header.leb();
    // Each part takes a byte at least.
    if (count > 0 && (parts.empty() || count > header.left() / parts.size()))
      return damaged("a list of files is cut off");
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < count && header.ok(); ++i) {
      Entry entry;
      for (const auto& [content, form] : parts) WAVEGATE_CHECK(read_part(header, content, form, entry));
      entries.push_back(entry);
    }
    return entries;
  }

  Result<void> read_part(Cursor& header, std::uint64_t content, std::uint64_t form, Entry& entry) {
    std::string_view text;
    std::uint64_t number = 0;
    switch (form) {
      case kString: text = header.text(); break;
      case kLineStringOffset: {
        WAVEGATE_TRY(text, line_strings_.at(header.offset(wide_)));
        break;
      }
      case kStringOffset: {
        WAVEGATE_TRY(text, strings_.at(header.offset(wide_)));
        break;
      }
      case kUnsigned: number = header.leb(); break;
      case kData1: number = header.number<std::uint8_t>(); break;
      case kData2: number = header.number<std::uint16_t>(); break;
      case kData4: number = header.number<std::uint32_t>(); break;
      case kData8: number = header.number<std::uint64_t>(); break;
      case kData16: header.take(16); break;
      case kBlock: header.take(header.leb()); break;
      case kBlock1: header.take(header.number<std::uint8_t>()); break;
      case kBlock2: header.take(header.number<std::uint16_t>()); break;
      case kBlock4: header.take(header.number<std::uint32_t>()); break;
      default: return unsupported(format("form {:#x} of a file", form), ".debug_line");
    }
    if (content == kPath) entry.path = text;
    if (content == kFolderIndex) entry.folder = number;
    return {};
  }

  /// The state of DWARF's line machine, as far as it matters here.
  struct State {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;
  };

  void add_row(bool end) {
    const std::uint64_t known = lines_.files_.size() - first_file_;
    SourceLines::Row row{state_.address, SourceLines::kNoFile, 0};
    if (!end && state_.file < known && state_.line <= std::numeric_limits<std::uint32_t>::max()) {
      row.file = static_cast<std::uint32_t>(first_file_ + state_.file);
      row.line = static_cast<std::uint32_t>(state_.line);
    }
    lines_.rows_.push_back(row);
  }

  void advance_address(std::uint64_t operations) { state_.address += operations * steps_.instruction_size; }

  Result<void> run(Cursor program) {
    while (!program.at_end()) {
      const auto opcode = program.number<std::uint8_t>();
      if (opcode >= steps_.opcode_base) {
        const unsigned step = opcode - steps_.opcode_base;
        advance_address(step / steps_.line_range);
        state_.line += static_cast<std::uint64_t>(std::int64_t{steps_.line_base} + step % steps_.line_range);
        add_row(false);
      } else if (opcode == 0) {
        run_extended(program);
      } else {
        run_standard(program, opcode);
      }
    }
    return program.ok() ? Result<void>() : damaged("a line program is cut off");
  }

  void run_extended(Cursor& program) {
    Cursor instruction(program.take(program.leb()));
    const auto opcode = instruction.number<std::uint8_t>();
    if (opcode == kSetAddress) state_.address = instruction.number<std::uint64_t>();
    if (opcode != kEndSequence) return;
    add_row(true);
    state_ = {};
  }

  void run_standard(Cursor& program, std::uint8_t opcode) {
    switch (opcode) {
      case kCopy: add_row(false); break;
      case kAdvanceAddress: advance_address(program.leb()); break;
      case kAdvanceLine: state_.line += static_cast<std::uint64_t>(program.signed_leb()); break;
      case kSetFile: state_.file = program.leb(); break;
      case kConstantAddAddress: advance_address((255u - steps_.opcode_base) / steps_.line_range); break;
      case kFixedAdvanceAddress: state_.address += program.number<std::uint16_t>(); break;
      default:  // columns and hints, and what later versions add
        for (auto left = read_known<std::uint8_t>(steps_.operand_counts, opcode - 1u); left > 0; --left) program.leb();
    }
  }

  SourceLines& lines_;
  Strings& strings_;
  Strings& line_strings_;
  std::size_t first_file_;
  bool wide_ = false;
  std::uint16_t version_ = 0;
  Steps steps_;
  State state_;
};

Result<SourceLines> SourceLines::parse(const Elf& elf) {
  SourceLines lines;
  const Section* section = elf.find_section(".debug_line");
  if (section == nullptr) return lines;
  constexpr std::uint64_t kCompressed = 1 << 11;
  if ((section->flags & kCompressed) != 0) return unsupported("compressed debug information", ".debug_line");
  const auto content_of = [&](std::string_view name) {
    const Section* strings = elf.find_section(name);
    return strings == nullptr || (strings->flags & kCompressed) != 0 ? Bytes() : strings->content;
  };
  Strings strings(content_of(".debug_str"));
  Strings line_strings(content_of(".debug_line_str"));
  Cursor all(section->content);
  while (!all.at_end()) {
    std::uint64_t size = all.number<std::uint32_t>();
    const bool wide = size == 0xffffffff;  // of units with 64-bit offsets
    if (wide) size = all.number<std::uint64_t>();
    const Cursor unit(all.take(size));
    if (!all.ok()) return damaged("a unit is cut off");
    WAVEGATE_CHECK(LineUnit(lines, strings, line_strings).read(unit, wide));
  }
  // Where one function ends at the address at which another starts, the end comes first.
  std::ranges::stable_sort(lines.rows_, [](const Row& a, const Row& b) {
    return a.address != b.address ? a.address < b.address : a.file == kNoFile && b.file != kNoFile;
  });
  return lines;
}

std::optional<SourceLines::Position> SourceLines::find(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  if (next == rows_.begin()) return std::nullopt;
  const Row& row = *std::prev(next);
  // Line 0 is code that the compiler added.
  if (row.file == kNoFile || row.line == 0) return std::nullopt;
  const File& file = files_[row.file];
  const bool joined = !file.folder.empty() && !file.name.starts_with('/');
  return Position{joined ? format("{}/{}", file.folder, file.name) : std::string(file.name), row.line};
}

}  // namespace wavegate::amdgpu::object
