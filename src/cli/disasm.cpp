#include <CLI/App.hpp>
#include <cstring>
#include <memory>
#include <set>

#include "wavegate/amdgpu/isa/disassemble.h"
#include "wavegate/amdgpu/object/functions.h"
#include "wavegate/amdgpu/object/source_lines.h"
#include "wavegate/base/format.h"
#include "wavegate/cli/amd_files.h"
#include "wavegate/cli/commands.h"

namespace wavegate::cli {
namespace {

using namespace amdgpu;
using object::Function;

/// Of one function: its lines take about forty times its size in memory while they are printed.
constexpr std::size_t kLargestFunction = std::size_t{64} << 20;
/// Text is written out once there is so much of it.
constexpr std::size_t kFullPage = std::size_t{1} << 20;
/// Where the words of an instruction stand, if they are asked for.
constexpr std::size_t kWordsColumn = 64;

struct Arguments {
  std::string file;
  std::string target;
  std::string kernel;
  bool words = false;
};

std::vector<std::uint32_t> words_of(object::Bytes code) {
  std::vector<std::uint32_t> words(code.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), code.data(), words.size() * 4);  // which may lie anywhere
  return words;
}

/// "    s_nop 0" and, in its column, "// 001c: BF800000".
void append_line(std::string& text, const isa::Line& line, std::span<const std::uint32_t> words, bool with_words) {
  std::string row = "    " + isa::print(line, words);
  row.append(row.size() < kWordsColumn ? kWordsColumn - row.size() : 2, ' ');
  row += format("// {:04x}", line.offset);
  if (with_words) {
    row += ':';
    for (std::size_t i = 0; i < line.instruction.words; ++i) row += format(" {:08X}", words[line.offset / 4 + i]);
  }
  text += row + '\n';
}

/// Prints functions as it goes, since a library's text would fill the memory.
class Disassembly {
 public:
  explicit Disassembly(const Arguments& arguments) : arguments_(arguments) {}

  Result<void> visit(const OpenObject& open) {
    const auto functions = functions_of(open.object);
    if (functions.empty()) return {};
    const auto target = within(open.place(), open.object.target.decoder());
    if (!target.ok()) {
      // A library has hundreds of objects for each target.
      if (refused_.insert(open.object.target.processor).second) print_error(target.error().to_string());
      return {};
    }
    append_heading(open);
    auto lines = within(open.place(), object::SourceLines::parse(open.object.elf));
    if (!lines.ok()) print_note(format("without source lines: {}", lines.error().to_string()));
    const object::SourceLines source = lines.ok() ? *std::move(lines) : object::SourceLines();
    for (const Function& function : functions) {
      WAVEGATE_CHECK(within(open.place(), append(function, *target, source)));
      if (page_.size() >= kFullPage && !flush()) return device_error("nobody reads on");
    }
    return {};
  }

  bool flush() {
    if (printed_ == Printed::all) printed_ = print(page_);
    page_.clear();
    return printed_ == Printed::all;
  }
  bool stopped() const { return printed_ != Printed::all; }
  std::size_t functions() const { return functions_; }
  bool refused_some() const { return !refused_.empty(); }
  std::size_t strange_words() const { return strange_words_; }

 private:
  std::vector<Function> functions_of(const object::CodeObject& object) const {
    if (arguments_.kernel.empty()) return object::find_functions(object);
    std::vector<Function> functions;
    for (const object::Kernel* kernel : object::select_kernels(object, arguments_.kernel))
      functions.push_back({kernel->name, kernel->entry, kernel->code, kernel->wave_width, kernel});
    return functions;
  }

  void append_heading(const OpenObject& open) {
    page_ +=
        format("{}// {}: {}\n", functions_ == 0 ? "" : "\n", printable(open.place()), open.object.target.to_string());
  }

  Result<void> append(const Function& function, isa::Target target, const object::SourceLines& source) {
    if (function.code.size() > kLargestFunction)
      return unsupported(format("function \"{}\" has {} bytes; at most {} are disassembled", function.name,
                                function.code.size(), kLargestFunction));
    const auto words = words_of(function.code);
    const auto wave = function.wave_width == 32 ? isa::WaveWidth::wave32 : isa::WaveWidth::wave64;
    page_ += format("\n{}:  // {}, wave{}, {} bytes at {:#x}\n", printable(function.name),
                    function.kernel != nullptr ? "kernel" : "function", function.wave_width, function.code.size(),
                    function.address);
    std::optional<object::SourceLines::Position> position;
    for (const isa::Line& line : isa::disassemble(words, target, wave)) {
      const auto here = source.find(function.address + line.offset);
      if (here && here != position) page_ += format("  // {}:{}\n", printable(here->file), here->line);
      position = here;
      if (line.is_target) page_ += isa::label(line.offset) + ":\n";
      append_line(page_, line, words, arguments_.words);
      strange_words_ += line.decoded ? 0 : 1;
    }
    ++functions_;
    return {};
  }

  const Arguments& arguments_;
  std::string page_;
  Printed printed_ = Printed::all;
  std::set<std::string> refused_;  ///< Processors that are not decoded.
  std::size_t functions_ = 0;
  std::size_t strange_words_ = 0;
};

Result<Outcome> disassemble(const Arguments& arguments) {
  const auto target = parse_target_option(arguments.target);
  if (!target.ok()) {
    print_error(target.error().to_string());
    return Outcome{{}, kUsageError};
  }
  Disassembly disassembly(arguments);
  const auto faults =
      visit_objects({{arguments.file}, *target}, [&](const OpenObject& open) { return disassembly.visit(open); });
  if (disassembly.stopped()) return Outcome{{}, kFailed};
  if (!disassembly.flush()) return Outcome{{}, kFailed};
  if (!faults.ok()) return faults.error();
  const bool failed = *faults > 0 || disassembly.refused_some();
  if (disassembly.functions() == 0 && !failed)
    return invalid_input(
        format("no kernel has a name with \"{}\" in it; \"wavegate objects\" lists them", arguments.kernel),
        arguments.file);
  if (disassembly.strange_words() > 0)
    print_note(format("{} words are no instructions, and are shown as .long", disassembly.strange_words()));
  return Outcome{{}, failed ? kFailed : 0};
}

}  // namespace

void add_disasm(CLI::App& application, Action& action) {
  CLI::App* command = application.add_subcommand("disasm", "Disassemble the kernels of an AMD code object.");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("file", arguments->file,
                   "A code object, offload bundle, program or library that holds bundles, or raw shader")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("-k,--kernel", arguments->kernel,
                   "Only the kernel of this name, or those whose names hold it (default: all functions)")
      ->option_text("NAME");
  command->add_option("--target", arguments->target, "Only what was made for this target, as gfx1030 or gfx90a:xnack-")
      ->option_text("TARGET");
  command->add_flag("--words", arguments->words, "Show the words of each instruction, too");
  command->footer(
      "AMD's syntax, as LLVM 19 writes it. Behind each instruction stands its offset from the start of its function;\n"
      "where a branch leads there is a label, named by its offset. A word that is no instruction is shown as .long. "
      "Source\n"
      "lines stand before their instructions where the object has DWARF (clang's -g).\n\n"
      "Examples:\n"
      "  wavegate disasm k.hsaco\n"
      "  wavegate disasm k.hsaco -k saxpy --words\n"
      "  wavegate disasm librocsparse.so.0.1 --target gfx1030 -k bsrxmvn_5x5");
  command->callback([arguments, &action] { action = [arguments] { return disassemble(*arguments); }; });
}

}  // namespace wavegate::cli
