#define SPV_ENABLE_UTILITY_CODE  // spv::HasResultAndType
#include "wavegate/kir/spirv_module.h"

#include <algorithm>

#include "wavegate/base/format.h"

namespace wavegate::kir {
namespace {

constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kMaximumWords = 1u << 22;
// SPIR-V 2.17, universal limits.
constexpr uint32_t kMaximumBound = 4'194'303;
// An id costs its definition two words. Optimisers leave holes, but not many times what they keep; so a short
// module cannot ask for a long table.
constexpr uint64_t kIdsPerWord = 64;
// SPV_KHR_untyped_pointers, newer than the enumeration that we build with.
constexpr uint32_t kCapabilityUntypedPointers = 4473;

uint32_t result_id(const SpirvInstruction& instruction, bool& has_result) {
  bool has_type = false;
  spv::HasResultAndType(instruction.op, &has_result, &has_type);
  return has_result ? instruction.word(has_type ? 2 : 1) : 0;
}

void decorate(SpirvDecorations& decorations, const SpirvInstruction& i) {
  switch (static_cast<spv::Decoration>(i.word(2))) {
    case spv::Decoration::DescriptorSet: decorations.set = i.word(3); break;
    case spv::Decoration::Binding: decorations.binding = i.word(3); break;
    case spv::Decoration::ArrayStride: decorations.array_stride = i.word(3); break;
    case spv::Decoration::Block: decorations.block = true; break;
    case spv::Decoration::BufferBlock: decorations.buffer_block = true; break;
    case spv::Decoration::BuiltIn:
      decorations.workgroup_size |= static_cast<spv::BuiltIn>(i.word(3)) == spv::BuiltIn::WorkgroupSize;
      break;
    default: break;
  }
}

void decorate_member(SpirvModule& module, const SpirvInstruction& i) {
  const auto decoration = static_cast<spv::Decoration>(i.word(3));
  if (decoration != spv::Decoration::Offset && decoration != spv::Decoration::MatrixStride &&
      decoration != spv::Decoration::RowMajor)
    return;
  SpirvMemberDecorations& member = module.member_decorations[{i.word(1), i.word(2)}];
  if (decoration == spv::Decoration::Offset) member.offset = i.word(4);
  if (decoration == spv::Decoration::MatrixStride) member.matrix_stride = i.word(4);
  if (decoration == spv::Decoration::RowMajor) member.row_major = true;
}

void apply_group(SpirvModule& module, const SpirvInstruction& i) {
  const SpirvDecorations group = module.decorations_of(i.word(1));
  for (const uint32_t target : i.words.subspan(std::min<size_t>(2, i.words.size()))) {
    SpirvDecorations& to = module.decorations[target];
    if (group.set) to.set = group.set;
    if (group.binding) to.binding = group.binding;
    if (group.array_stride) to.array_stride = group.array_stride;
    to.block |= group.block;
    to.buffer_block |= group.buffer_block;
    to.workgroup_size |= group.workgroup_size;
  }
}

SpirvEntryPoint entry_point(const SpirvInstruction& i) {
  SpirvEntryPoint entry{static_cast<spv::ExecutionModel>(i.word(1)), i.word(2), spirv_string(i, 3), {}};
  entry.interface = i.words.subspan(std::min(i.words.size(), 3 + entry.name.size() / 4 + 1));
  return entry;
}

Result<void> read_instruction(SpirvModule& module, const SpirvInstruction& i) {
  switch (i.op) {
    case spv::Op::OpCapability:
      if (i.word(1) == kCapabilityUntypedPointers)
        return unsupported("the module uses untyped pointers, whose access is not followed; compile without them");
      break;
    case spv::Op::OpMemoryModel:
      if (static_cast<spv::AddressingModel>(i.word(1)) != spv::AddressingModel::Logical)
        return unsupported(
            "the module addresses memory by device pointers, whose access cannot be checked; bind storage buffers");
      break;
    case spv::Op::OpEntryPoint: module.entry_points.push_back(entry_point(i)); break;
    case spv::Op::OpExecutionMode:
    case spv::Op::OpExecutionModeId: module.execution_modes.push_back(i.offset); break;
    case spv::Op::OpDecorate: decorate(module.decorations[i.word(1)], i); break;
    case spv::Op::OpMemberDecorate: decorate_member(module, i); break;
    case spv::Op::OpGroupDecorate: apply_group(module, i); break;
    case spv::Op::OpGroupMemberDecorate:
      return unsupported("the module decorates struct members by group (deprecated); flatten the decorations");
    case spv::Op::OpVariable:
      if (static_cast<spv::StorageClass>(i.word(3)) != spv::StorageClass::Function)
        module.variables.push_back(i.word(2));
      break;
    default: break;
  }
  return {};
}

Result<void> check_header(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords)
    return invalid_input(format("the module has {} words, less than the header of a SPIR-V module", words.size()));
  if (words.size() > kMaximumWords)
    return unsupported(format("the module has {} words, more than the {} that are read", words.size(), kMaximumWords));
  if (words[0] == 0x03022307) return invalid_input("the module has the other byte order; swap the bytes of its words");
  if (words[0] != spv::MagicNumber)
    return invalid_input(format("the module begins with {:#010x}, which is not SPIR-V's {:#010x}", words[0],
                                static_cast<uint32_t>(spv::MagicNumber)));
  if (words[1] < 0x00010000 || words[1] > spv::Version || (words[1] & 0xff) != 0)
    return unsupported(format("the module's version word {:#010x} is not one of SPIR-V 1.0 to 1.6", words[1]));
  if (words[3] == 0 || words[3] > std::min<uint64_t>(kMaximumBound, kIdsPerWord * words.size()))
    return invalid_input(
        format("the module's id bound {} does not fit its {} words; compact its ids", words[3], words.size()));
  return {};
}

}  // namespace

SpirvInstruction SpirvModule::at(uint32_t offset) const {
  if (offset < kHeaderWords || offset >= words.size()) return {};
  const uint32_t length = words[offset] >> spv::WordCountShift;
  if (length == 0 || length > words.size() - offset) return {};
  return {static_cast<spv::Op>(words[offset] & spv::OpCodeMask), offset, words.subspan(offset, length)};
}

SpirvInstruction SpirvModule::first() const {
  return at(kHeaderWords);
}

SpirvInstruction SpirvModule::next(const SpirvInstruction& instruction) const {
  return at(instruction.offset + static_cast<uint32_t>(instruction.words.size()));
}

SpirvInstruction SpirvModule::definition(uint32_t id) const {
  return id < definitions.size() ? at(definitions[id]) : SpirvInstruction{};
}

SpirvDecorations SpirvModule::decorations_of(uint32_t id) const {
  const auto found = decorations.find(id);
  return found == decorations.end() ? SpirvDecorations{} : found->second;
}

SpirvMemberDecorations SpirvModule::decorations_of(uint32_t structure, uint32_t member) const {
  const auto found = member_decorations.find({structure, member});
  return found == member_decorations.end() ? SpirvMemberDecorations{} : found->second;
}

std::optional<uint32_t> SpirvModule::constant(uint32_t id) const {
  const SpirvInstruction i = definition(id);
  if (i.op != spv::Op::OpConstant || i.words.size() < 4 || i.word(4) != 0) return std::nullopt;
  if (definition(i.word(1)).op != spv::Op::OpTypeInt) return std::nullopt;
  return i.word(3);
}

bool SpirvModule::specialised(uint32_t id) const {
  const spv::Op op = definition(id).op;
  return op >= spv::Op::OpSpecConstantTrue && op <= spv::Op::OpSpecConstantOp;
}

Result<SpirvModule> read_spirv(std::span<const uint32_t> words) {
  WAVEGATE_CHECK(check_header(words));
  SpirvModule module;
  module.words = words;
  module.definitions.resize(words[3], 0);
  bool in_function = false;
  for (uint32_t offset = kHeaderWords; offset < words.size();) {
    const SpirvInstruction i = module.at(offset);
    if (i.words.empty())
      return invalid_input(format("the module's instruction at word {} has a length of {}, with {} words left", offset,
                                  words[offset] >> spv::WordCountShift, words.size() - offset));
    bool has_result = false;
    const uint32_t id = result_id(i, has_result);
    if (has_result) {
      if (id == 0 || id >= module.definitions.size())
        return invalid_input(format("the module's instruction at word {} defines id {}, outside its bound of {}",
                                    offset, id, module.definitions.size()));
      if (module.definitions[id] != 0)
        return invalid_input(format("the module's instruction at word {} defines id {} again", offset, id));
      module.definitions[id] = offset;
    }
    if ((i.op == spv::Op::OpFunction && in_function) || (i.op == spv::Op::OpFunctionEnd && !in_function))
      return invalid_input(format("the module's functions are not closed one by one, at word {}", offset));
    if (i.op == spv::Op::OpFunction || i.op == spv::Op::OpFunctionEnd) in_function = !in_function;
    WAVEGATE_CHECK(read_instruction(module, i));
    offset += static_cast<uint32_t>(i.words.size());
  }
  if (in_function) return invalid_input("the module ends inside a function");
  return module;
}

std::string spirv_string(const SpirvInstruction& instruction, size_t first_word) {
  std::string text;
  for (size_t index = first_word; index < instruction.words.size(); ++index)
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      const char character = static_cast<char>(instruction.words[index] >> shift & 0xff);
      if (character == '\0') return text;
      text.push_back(character);
    }
  return text;
}

}  // namespace wavegate::kir
