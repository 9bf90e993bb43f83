#include "wavegate/amdgpu/object/code_object.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "wavegate/amdgpu/object/yaml_metadata.h"
#include "wavegate/base/format.h"

namespace wavegate::amdgpu::object {
namespace {

constexpr std::uint8_t kHsa = 64, kPal = 65, kMesa = 66;  // OS/ABI
constexpr std::uint32_t kNoteIsaVersion = 3, kNoteYamlMetadata = 10, kNoteMetadata = 32;
constexpr std::string_view kDescriptorSuffix = ".kd";

Result<void> check_header(const Elf& elf) {
  if (elf.machine != elf::kMachineAmdGpu)
    return invalid_input(format("is an ELF file for machine {}, not for AMD's GPUs, which is 224", elf.machine));
  if (elf.os_abi != kHsa) {
    const std::string_view name = elf.os_abi == kPal ? "PAL's" : elf.os_abi == kMesa ? "Mesa's" : "another";
    return unsupported(format("is an AMD object for {} ABI ({}); only HSA's, which is 64, is read", name, elf.os_abi));
  }
  if (elf.abi_version > 4)
    return unsupported(
        format("has ABI version {}, so code object version {}; 2 to 6 are read", elf.abi_version, elf.abi_version + 2));
  return {};
}

/// The target of version 2's note: "AMD", "AMDGPU", and the processor's three numbers before them.
std::optional<CodeTarget> target_of_note(const std::vector<Note>& notes) {
  const auto note = std::ranges::find(notes, kNoteIsaVersion, &Note::type);
  if (note == notes.end() || note->owner != "AMD") return std::nullopt;
  const auto major = read<std::uint32_t>(note->content, 4);
  const auto minor = read<std::uint32_t>(note->content, 8);
  const auto stepping = read<std::uint32_t>(note->content, 12);
  if (!major || !minor || !stepping || *major > 99 || *minor > 9 || *stepping > 15) return std::nullopt;
  return parse_code_target(format("gfx{}{}{:x}", *major, *minor, *stepping));
}

/// Symbols by name and functions by address.
class SymbolIndex {
 public:
  explicit SymbolIndex(const std::vector<Symbol>& symbols) {
    for (const Symbol& symbol : symbols) {
      if (symbol.section == 0 || symbol.type == elf::kSymbolSection) continue;
      by_name_.push_back(&symbol);
      if (symbol.type == elf::kSymbolFunction || symbol.type == elf::kSymbolHsaKernel)
        function_starts_.push_back(symbol.value);
    }
    std::ranges::stable_sort(by_name_, {}, [](const Symbol* symbol) { return symbol->name; });
    std::ranges::sort(function_starts_);
  }

  const Symbol* find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(by_name_, name, {}, [](const Symbol* symbol) { return symbol->name; });
    return found != by_name_.end() && (*found)->name == name ? *found : nullptr;
  }

  /// The first function that starts beyond an address.
  std::optional<std::uint64_t> next_function(std::uint64_t address) const {
    const auto found = std::ranges::upper_bound(function_starts_, address);
    return found == function_starts_.end() ? std::nullopt : std::optional(*found);
  }

 private:
  std::vector<const Symbol*> by_name_;
  std::vector<std::uint64_t> function_starts_;
};

/// The code from a kernel's entry: as many bytes as its symbol says, or up to the next function where it says nothing.
Result<Bytes> find_code(const Elf& elf, const SymbolIndex& symbols, std::uint64_t entry, std::uint64_t size) {
  const Bytes rest = elf.from_address(entry);
  if (rest.empty()) return invalid_input(format("its entry, address {:#x}, lies in no segment of the file", entry));
  if (entry % 4 != 0) return invalid_input(format("its entry, address {:#x}, is no multiple of four", entry));
  if (size == 0) {
    const auto next = symbols.next_function(entry);
    size = std::min<std::uint64_t>(rest.size(), next ? *next - entry : rest.size());
  }
  if (size > rest.size())
    return invalid_input(
        format("{} bytes of code are claimed at address {:#x}, where the file has {}", size, entry, rest.size()));
  return rest.first(static_cast<std::size_t>(size));
}

/// Takes over what the note says of a kernel.
void add_metadata(Kernel& kernel, KernelMetadata&& metadata) {
  kernel.has_metadata = true;
  kernel.lds_bytes = metadata.lds_bytes;
  kernel.scratch_bytes = metadata.scratch_bytes;
  kernel.kernarg_bytes = metadata.kernarg_bytes;
  kernel.kernarg_alignment = metadata.kernarg_alignment;
  if (metadata.wave_width == 32 || metadata.wave_width == 64) kernel.wave_width = metadata.wave_width;
  kernel.sgprs = metadata.sgprs;
  kernel.vgprs = metadata.vgprs;
  kernel.agprs = metadata.agprs;
  kernel.max_workgroup = metadata.max_workgroup;
  kernel.required_workgroup = metadata.required_workgroup;
  kernel.uses_dynamic_stack = metadata.uses_dynamic_stack;
  kernel.arguments = std::move(metadata.arguments);
}

/// A kernel from its descriptor, without what the metadata adds.
Result<Kernel> read_kernel(const Elf& elf, const SymbolIndex& symbols, std::string name, const Symbol& descriptor) {
  const auto bytes = elf.at_address(descriptor.value, kDescriptorSize);
  if (!bytes)
    return invalid_input(format("its descriptor, address {:#x}, lies in no segment of the file", descriptor.value));
  Kernel kernel;
  kernel.descriptor = read_descriptor(bytes->first<kDescriptorSize>());
  kernel.descriptor_address = descriptor.value;
  kernel.entry = descriptor.value + static_cast<std::uint64_t>(kernel.descriptor.entry_offset);
  const Symbol* function = symbols.find(name);
  const bool named = function != nullptr && function->value == kernel.entry;
  WAVEGATE_TRY(kernel.code, find_code(elf, symbols, kernel.entry, named ? function->size : 0));
  kernel.name = std::move(name);
  kernel.wave_width = kernel.descriptor.wave32 ? 32 : 64;
  kernel.lds_bytes = kernel.descriptor.lds_bytes;
  kernel.scratch_bytes = kernel.descriptor.scratch_bytes;
  kernel.kernarg_bytes = kernel.descriptor.kernarg_bytes;
  kernel.uses_dynamic_stack = kernel.descriptor.dynamic_stack;
  return kernel;
}

std::string place_of(std::string_view kernel) {
  return format("kernel \"{}\"", kernel);
}

Result<void> read_described_kernels(CodeObject& object, const SymbolIndex& symbols, Metadata&& metadata) {
  for (KernelMetadata& described : metadata.kernels) {
    const std::string symbol = described.symbol.empty() ? described.name + ".kd" : described.symbol;
    const Symbol* descriptor = symbols.find(symbol);
    if (descriptor == nullptr)
      return invalid_input(format("its descriptor \"{}\" is no symbol of the object", symbol),
                           place_of(described.name));
    WAVEGATE_TRY(Kernel kernel,
                 within(place_of(described.name), read_kernel(object.elf, symbols, described.name, *descriptor)));
    add_metadata(kernel, std::move(described));
    object.kernels.push_back(std::move(kernel));
  }
  return {};
}

/// An object without metadata still has its descriptors.
Result<void> read_bare_kernels(CodeObject& object, const SymbolIndex& symbols) {
  for (const Symbol& symbol : object.symbols) {
    if (symbol.section == 0 || symbol.type != elf::kSymbolObject || symbol.size != kDescriptorSize ||
        !symbol.name.ends_with(kDescriptorSuffix))
      continue;
    std::string name(symbol.name.substr(0, symbol.name.size() - kDescriptorSuffix.size()));
    const std::string place = place_of(name);
    WAVEGATE_TRY(Kernel kernel, within(place, read_kernel(object.elf, symbols, std::move(name), symbol)));
    object.kernels.push_back(std::move(kernel));
  }
  return {};
}

/// Version 2: a kernel's symbol is that of an amd_kernel_code_t, which the code follows.
Result<Kernel> read_kernel_of_version_2(const Elf& elf, const SymbolIndex& symbols, const Symbol& symbol) {
  const auto bytes = elf.at_address(symbol.value, kKernelCodeSize);
  if (!bytes)
    return invalid_input(format("its amd_kernel_code_t, address {:#x}, lies in no segment of the file", symbol.value));
  const KernelCode code = read_kernel_code(bytes->first<kKernelCodeSize>());
  Kernel kernel;
  kernel.name = symbol.name;
  kernel.descriptor = code.descriptor;
  kernel.descriptor_address = symbol.value;
  kernel.entry = symbol.value + static_cast<std::uint64_t>(code.descriptor.entry_offset);
  const std::uint64_t skipped = kernel.entry - symbol.value;
  WAVEGATE_TRY(kernel.code, find_code(elf, symbols, kernel.entry, symbol.size > skipped ? symbol.size - skipped : 0));
  kernel.wave_width = code.wave_width;
  kernel.lds_bytes = code.descriptor.lds_bytes;
  kernel.scratch_bytes = code.descriptor.scratch_bytes;
  kernel.kernarg_bytes = code.descriptor.kernarg_bytes;
  kernel.kernarg_alignment = code.kernarg_alignment;
  kernel.sgprs = code.sgprs;
  kernel.vgprs = code.vgprs;
  kernel.uses_dynamic_stack = code.descriptor.dynamic_stack;
  return kernel;
}

Result<void> read_kernels_of_version_2(CodeObject& object, const SymbolIndex& symbols, const std::vector<Note>& notes) {
  for (const Symbol& symbol : object.symbols) {
    if (symbol.section == 0 || symbol.type != elf::kSymbolHsaKernel) continue;
    WAVEGATE_TRY(Kernel kernel, within(place_of(symbol.name), read_kernel_of_version_2(object.elf, symbols, symbol)));
    object.kernels.push_back(std::move(kernel));
  }
  const auto note = std::ranges::find_if(
      notes, [](const Note& each) { return each.type == kNoteYamlMetadata && each.owner == "AMD"; });
  if (note == notes.end()) return {};
  WAVEGATE_TRY(Metadata metadata, parse_yaml_metadata(note->content));
  std::ranges::sort(metadata.kernels, {}, &KernelMetadata::name);
  for (Kernel& kernel : object.kernels) {
    const auto described = std::ranges::lower_bound(metadata.kernels, kernel.name, {}, &KernelMetadata::name);
    if (described != metadata.kernels.end() && described->name == kernel.name)
      add_metadata(kernel, std::move(*described));
  }
  return {};
}

/// The table that holds most: a stripped object has that of the dynamic linker alone.
Result<std::vector<Symbol>> read_best_symbols(const Elf& elf) {
  const Section* table = elf.find_section(elf::kSymbolTable);
  if (table == nullptr) table = elf.find_section(elf::kDynamicSymbols);
  if (table == nullptr) return std::vector<Symbol>();
  return read_symbols(elf, *table);
}

Result<CodeTarget> find_target(const Elf& elf, std::uint32_t version, const std::vector<Note>& notes) {
  if (auto target = target_of_flags(elf.flags, version)) return *std::move(target);
  if (version == 2)
    if (auto target = target_of_note(notes)) return *std::move(target);
  return unsupported(format("is for the processor of number {:#x}, which is none that we know", elf.flags & 0xff));
}

}  // namespace

const Argument* Kernel::find_argument(std::string_view name_or_number) const {
  std::size_t wanted = 0;
  const char* const end = name_or_number.data() + name_or_number.size();
  const auto [rest, fault] = std::from_chars(name_or_number.data(), end, wanted);
  const bool is_number = fault == std::errc() && rest == end;
  std::size_t number = 0;
  for (const Argument& argument : arguments) {
    if (is_hidden(argument.kind)) continue;
    if (is_number ? number == wanted : !argument.name.empty() && argument.name == name_or_number) return &argument;
    ++number;
  }
  return nullptr;
}

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

bool is_code_object(Bytes bytes) {
  return is_elf(bytes) && read<std::uint16_t>(bytes, 18) == elf::kMachineAmdGpu;
}

Result<Identity> identify(Bytes bytes) {
  WAVEGATE_TRY(const Elf elf, parse_elf(bytes));
  WAVEGATE_CHECK(check_header(elf));
  const std::uint32_t version = elf.abi_version + 2u;
  WAVEGATE_TRY(const std::vector<Note> notes, read_notes(elf));
  WAVEGATE_TRY(CodeTarget target, find_target(elf, version, notes));
  return Identity{version, std::move(target)};
}

Result<CodeObject> parse_code_object(Bytes bytes) {
  CodeObject object;
  WAVEGATE_TRY(object.elf, parse_elf(bytes));
  WAVEGATE_CHECK(check_header(object.elf));
  if (object.elf.type == elf::kRelocatable) return unsupported("is not linked yet; link it with \"ld.lld -shared\"");
  object.version = object.elf.abi_version + 2u;
  WAVEGATE_TRY(const std::vector<Note> notes, read_notes(object.elf));
  WAVEGATE_TRY(object.target, find_target(object.elf, object.version, notes));
  WAVEGATE_TRY(object.symbols, read_best_symbols(object.elf));
  const SymbolIndex symbols(object.symbols);
  if (object.version == 2) {
    WAVEGATE_CHECK(read_kernels_of_version_2(object, symbols, notes));
    return object;
  }
  const auto note = std::ranges::find_if(
      notes, [](const Note& each) { return each.type == kNoteMetadata && each.owner == "AMDGPU"; });
  if (note == notes.end()) {
    WAVEGATE_CHECK(read_bare_kernels(object, symbols));
    return object;
  }
  WAVEGATE_TRY(Metadata metadata, parse_metadata(note->content));
  WAVEGATE_CHECK(read_described_kernels(object, symbols, std::move(metadata)));
  return object;
}

}  // namespace wavegate::amdgpu::object
