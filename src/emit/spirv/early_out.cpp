#include "wavegate/emit/spirv/early_out.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/emit/spirv/stream.h"
#include "wavegate/kir/spirv_module.h"

namespace wavegate::emit::spirv {
namespace {

using enum spv::Op;
using kir::SpirvInstruction;
using kir::SpirvModule;

constexpr uint32_t kVersion13 = 0x00010300;  // StorageBuffer is a storage class of its own
constexpr uint32_t kVersion14 = 0x00010400;  // an entry point lists all variables that it uses
constexpr uint32_t kLargestIdBound = 0x3fffff;
constexpr size_t kHeaderWords = 5;
constexpr size_t kBoundWord = 3;
constexpr size_t kLongestInstruction = 65535;  // words

/// Whether an instruction belongs to a module's sections before types, constants and variables.
bool is_preamble(spv::Op op) {
  switch (op) {
    case OpCapability:
    case OpExtension:
    case OpExtInstImport:
    case OpMemoryModel:
    case OpEntryPoint:
    case OpExecutionMode:
    case OpExecutionModeId:
    case OpString:
    case OpSourceExtension:
    case OpSource:
    case OpSourceContinued:
    case OpName:
    case OpMemberName:
    case OpModuleProcessed:
    case OpDecorate:
    case OpMemberDecorate:
    case OpDecorationGroup:
    case OpGroupDecorate:
    case OpGroupMemberDecorate:
    case OpDecorateId:
    case OpDecorateString:
    case OpMemberDecorateString: return true;
    default: return false;
  }
}

/// Where the sections of a module meet, as offsets of words.
struct Sections {
  uint32_t types = 0;      ///< the first type, constant or variable
  uint32_t functions = 0;  ///< the first function
};

Sections sections_of(const SpirvModule& module) {
  const auto end = static_cast<uint32_t>(module.words.size());
  Sections sections{end, end};
  for (SpirvInstruction i = module.first(); !i.words.empty(); i = module.next(i)) {
    if (sections.types == end && !is_preamble(i.op)) sections.types = i.offset;
    if (i.op != OpFunction) continue;
    sections.functions = i.offset;
    break;
  }
  return sections;
}

bool calls(const SpirvModule& module, uint32_t function) {
  for (SpirvInstruction i = module.first(); !i.words.empty(); i = module.next(i))
    if (i.op == OpFunctionCall && i.word(3) == function) return true;
  return false;
}

class Wrapper {
 public:
  Wrapper(const SpirvModule& module, uint32_t function, uint32_t binding)
      : module_(module),
        sections_(sections_of(module)),
        function_(function),
        binding_(binding),
        version_(module.words[1]),
        next_id_(module.words[kBoundWord]),
        wrapper_(next_id_++),
        latch_(next_id_++) {}

  /// The module's words, or nothing if its ids run out.
  std::optional<std::vector<uint32_t>> run() {
    declare_latch();
    write_function();
    if (next_id_ > kLargestIdBound) return std::nullopt;
    std::vector<uint32_t> words(module_.words.begin(), module_.words.begin() + kHeaderWords);
    words[kBoundWord] = next_id_;
    const auto insert = [&](const Stream& stream) {
      words.insert(words.end(), stream.words().begin(), stream.words().end());
    };
    for (SpirvInstruction i = module_.first(); !i.words.empty(); i = module_.next(i)) {
      if (i.offset == sections_.types) insert(decorations_);
      if (i.offset == sections_.functions) insert(types_);
      copy(i, words);
    }
    insert(code_);
    return words;
  }

 private:
  /// Copies an instruction; those that say what the entry point is are about the new function.
  void copy(const SpirvInstruction& i, std::vector<uint32_t>& words) const {
    const size_t start = words.size();
    words.insert(words.end(), i.words.begin(), i.words.end());
    if (i.op == OpEntryPoint && i.word(2) == function_) {
      words[start + 2] = wrapper_;
      if (version_ < kVersion14) return;
      words.push_back(latch_);
      words[start] += 1u << spv::WordCountShift;
    }
    const bool is_mode = i.op == OpExecutionMode || i.op == OpExecutionModeId;
    if (is_mode && i.word(1) == function_) words[start + 1] = wrapper_;
  }

  /// The id of a type with these operands, which a module must not have twice: the one that is there, or a new one.
  uint32_t type(spv::Op op, std::initializer_list<uint32_t> operands) {
    for (SpirvInstruction i = module_.at(sections_.types); !i.words.empty() && i.offset < sections_.functions;
         i = module_.next(i)) {
      if (i.op == op && std::ranges::equal(i.words.subspan(std::min<size_t>(2, i.words.size())), operands))
        return i.word(1);
    }
    const uint32_t id = next_id_++;
    std::vector<uint32_t> all = {id};
    all.insert(all.end(), operands.begin(), operands.end());
    types_.put(op, all);
    return id;
  }

  void declare_latch() {
    const bool has_storage_class = version_ >= kVersion13;
    const auto storage =
        static_cast<uint32_t>(has_storage_class ? spv::StorageClass::StorageBuffer : spv::StorageClass::Uniform);
    const auto block = static_cast<uint32_t>(has_storage_class ? spv::Decoration::Block : spv::Decoration::BufferBlock);
    const auto decorate = [&](uint32_t id, spv::Decoration decoration, uint32_t operand) {
      decorations_.put(OpDecorate, {id, static_cast<uint32_t>(decoration), operand});
    };

    uint32_ = type(OpTypeInt, {32, 0});
    boolean_ = type(OpTypeBool, {});
    word_pointer_ = type(OpTypePointer, {storage, uint32_});
    const uint32_t structure = next_id_++;
    types_.put(OpTypeStruct, {structure, uint32_});
    const uint32_t pointer = next_id_++;
    types_.put(OpTypePointer, {pointer, storage, structure});
    zero_ = next_id_++;
    types_.put(OpConstant, {uint32_, zero_, 0});
    types_.put(OpVariable, {pointer, latch_, storage});

    decorations_.put(OpDecorate, {structure, block});
    decorations_.put(OpMemberDecorate, {structure, 0, static_cast<uint32_t>(spv::Decoration::Offset), 0});
    decorations_.put(OpMemberDecorate, {structure, 0, static_cast<uint32_t>(spv::Decoration::NonWritable)});
    decorate(latch_, spv::Decoration::DescriptorSet, 0);
    decorate(latch_, spv::Decoration::Binding, binding_);
  }

  void write_function() {
    const SpirvInstruction entry = module_.definition(function_);
    const uint32_t none = entry.word(1);
    const uint32_t start = next_id_++, run = next_id_++, end = next_id_++;
    const uint32_t pointer = next_id_++, word = next_id_++, is_zero = next_id_++, result = next_id_++;
    code_.put(OpFunction, {none, wrapper_, 0, entry.word(4)});
    code_.put(OpLabel, {start});
    code_.put(OpAccessChain, {word_pointer_, pointer, latch_, zero_});
    code_.put(OpLoad, {uint32_, word, pointer});
    code_.put(OpIEqual, {boolean_, is_zero, word, zero_});
    code_.put(OpSelectionMerge, {end, 0});
    code_.put(OpBranchConditional, {is_zero, end, run});
    code_.put(OpLabel, {run});
    code_.put(OpFunctionCall, {none, result, function_});
    code_.put(OpBranch, {end});
    code_.put(OpLabel, {end});
    code_.put(OpReturn, {});
    code_.put(OpFunctionEnd, {});
  }

  const SpirvModule& module_;
  Sections sections_;
  uint32_t function_;  ///< of the entry point, as it was
  uint32_t binding_;
  uint32_t version_;
  uint32_t next_id_;
  uint32_t wrapper_;  ///< the function that becomes the entry point's
  uint32_t latch_;    ///< the variable
  uint32_t uint32_ = 0, boolean_ = 0, word_pointer_ = 0, zero_ = 0;
  Stream decorations_, types_, code_;
};

/// Why the function of an entry point cannot be called, or nothing.
std::optional<Error> obstacle(const SpirvModule& module, uint32_t function) {
  for (SpirvInstruction i = module.first(); !i.words.empty(); i = module.next(i))
    if (i.op == OpEntryPoint && i.words.size() == kLongestInstruction)
      return unsupported("an entry point of the module lists so many variables that it cannot list another");
  const SpirvInstruction entry = module.definition(function);
  if (entry.op != OpFunction) return invalid_input(format("the entry point's function {} is not defined", function));
  const SpirvInstruction type = module.definition(entry.word(4));
  if (type.op != OpTypeFunction || type.words.size() != 3 || module.definition(entry.word(1)).op != OpTypeVoid)
    return invalid_input("the entry point's function takes or returns values");
  if (calls(module, function))
    return invalid_input("the module calls the entry point's function, which SPIR-V forbids");
  return std::nullopt;
}

}  // namespace

Result<std::vector<uint32_t>> early_out(const kir::OpaqueKernel& kernel) {
  const auto named = [&](Error error) {
    error.message = format("kernel \"{}\": {}", kernel.interface.name, error.message);
    return error;
  };
  Result<SpirvModule> module = kir::read_spirv(kernel.spirv);
  if (!module.ok()) return named(std::move(module).error());
  const auto entry = std::ranges::find_if(module->entry_points, [&](const kir::SpirvEntryPoint& point) {
    return point.model == spv::ExecutionModel::GLCompute && point.name == kernel.entry_point;
  });
  if (entry == module->entry_points.end())
    return named(invalid_input(format("the module has no compute entry point \"{}\"", kernel.entry_point)));
  if (auto error = obstacle(*module, entry->function)) return named(*std::move(error));
  const auto binding = static_cast<uint32_t>(kernel.interface.bindings.size());
  auto words = Wrapper(*module, entry->function, binding).run();
  if (!words) return named(unsupported("the module has no ids left for a latch; compact its ids"));
  return *std::move(words);
}

}  // namespace wavegate::emit::spirv
