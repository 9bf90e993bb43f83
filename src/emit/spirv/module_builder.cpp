#include "wavegate/emit/spirv/module_builder.h"

namespace wavegate::emit::spirv {
namespace {

constexpr uint32_t kVersion13 = 0x00010300;
constexpr uint32_t kGenerator = 0;  // no registered tool
constexpr std::string_view kEntryName = "main";

template <typename Enum>
constexpr uint32_t word(Enum value) {
  return static_cast<uint32_t>(value);
}

}  // namespace

void ModuleBuilder::use_physical_addressing() {
  addressing_ = spv::AddressingModel::PhysicalStorageBuffer64;
  require(spv::Capability::PhysicalStorageBufferAddresses);
  require_extension("SPV_KHR_physical_storage_buffer");
}

void ModuleBuilder::decorate(Id target, spv::Decoration decoration, std::initializer_list<uint32_t> literals) {
  std::vector<uint32_t> operands = {target, word(decoration)};
  operands.insert(operands.end(), literals);
  annotations_.put(spv::Op::OpDecorate, operands);
}

// `variant` tells apart types that are written alike and decorated differently.
Id ModuleBuilder::intern(spv::Op op, std::initializer_list<uint32_t> operands, uint32_t variant, bool* is_new) {
  std::vector<uint32_t> key = {word(op), variant};
  key.insert(key.end(), operands);
  const auto [position, inserted] = interned_.try_emplace(std::move(key), next_id_);
  if (is_new) *is_new = inserted;
  if (!inserted) return position->second;
  const Id id = new_id();
  std::vector<uint32_t> written(operands);
  const bool has_type = op == spv::Op::OpConstant || op == spv::Op::OpConstantTrue || op == spv::Op::OpConstantFalse;
  written.insert(written.begin() + (has_type ? 1 : 0), id);
  globals_.put(op, written);
  return id;
}

Id ModuleBuilder::type(kir::Type type) {
  using enum spv::Capability;
  switch (type) {
    case kir::Type::none: return intern(spv::Op::OpTypeVoid, {});
    case kir::Type::boolean: return intern(spv::Op::OpTypeBool, {});
    case kir::Type::i8: require(Int8); break;
    case kir::Type::i16: require(Int16); break;
    case kir::Type::i64: require(Int64); break;
    case kir::Type::f16: require(Float16); break;
    case kir::Type::f64: require(Float64); break;
    case kir::Type::i32:
    case kir::Type::f32: break;
  }
  const uint32_t width = kir::bit_width(type);
  return kir::is_float(type) ? intern(spv::Op::OpTypeFloat, {width}) : intern(spv::Op::OpTypeInt, {width, 0});
}

Id ModuleBuilder::vector_type(kir::Type element, uint32_t count) {
  return intern(spv::Op::OpTypeVector, {type(element), count});
}

Id ModuleBuilder::array_type(Id element, uint32_t length) {
  return intern(spv::Op::OpTypeArray, {element, constant_u32(length)});
}

Id ModuleBuilder::pair_type(Id member) {
  return intern(spv::Op::OpTypeStruct, {member, member});
}

Id ModuleBuilder::pointer_type(spv::StorageClass storage, Id pointee) {
  return intern(spv::Op::OpTypePointer, {word(storage), pointee});
}

Id ModuleBuilder::function_type() {
  return intern(spv::Op::OpTypeFunction, {type(kir::Type::none)});
}

Id ModuleBuilder::block_type(Id element, uint32_t stride, uint32_t length) {
  bool is_new = false;
  const Id array = length == 0 ? intern(spv::Op::OpTypeRuntimeArray, {element}, stride, &is_new)
                               : intern(spv::Op::OpTypeArray, {element, constant_u32(length)}, stride, &is_new);
  if (is_new) decorate(array, spv::Decoration::ArrayStride, {stride});
  const Id block = intern(spv::Op::OpTypeStruct, {array}, 0, &is_new);
  if (is_new) {
    decorate(block, spv::Decoration::Block);
    annotations_.put(spv::Op::OpMemberDecorate, {block, 0, word(spv::Decoration::Offset), 0});
  }
  return block;
}

Id ModuleBuilder::constant(kir::Type type, uint64_t bits) {
  const Id id = this->type(type);
  if (type == kir::Type::boolean) return intern(bits != 0 ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, {id});
  const auto low = static_cast<uint32_t>(bits);
  if (kir::bit_width(type) == 64) return intern(spv::Op::OpConstant, {id, low, static_cast<uint32_t>(bits >> 32)});
  const uint32_t mask = kir::bit_width(type) == 32 ? ~0u : (1u << kir::bit_width(type)) - 1;
  return intern(spv::Op::OpConstant, {id, low & mask});
}

Id ModuleBuilder::global_variable(spv::StorageClass storage, Id pointee) {
  const Id type = pointer_type(storage, pointee);
  const Id id = new_id();
  globals_.put(spv::Op::OpVariable, {type, id, word(storage)});
  return id;
}

Id ModuleBuilder::input(spv::BuiltIn builtin, Id pointee) {
  const auto found = inputs_.find(builtin);
  if (found != inputs_.end()) return found->second;
  const Id id = global_variable(spv::StorageClass::Input, pointee);
  decorate(id, spv::Decoration::BuiltIn, {word(builtin)});
  inputs_.emplace(builtin, id);
  return id;
}

Id ModuleBuilder::put(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
  const Id id = new_id();
  std::vector<uint32_t> written = {type, id};
  written.insert(written.end(), operands);
  body_.put(op, written);
  return id;
}

Id ModuleBuilder::put_extended(uint32_t instruction, Id type, std::initializer_list<Id> operands) {
  if (extended_ == 0) extended_ = new_id();
  const Id id = new_id();
  std::vector<uint32_t> written = {type, id, extended_, instruction};
  written.insert(written.end(), operands);
  body_.put(spv::Op::OpExtInst, written);
  return id;
}

std::vector<uint32_t> ModuleBuilder::assemble(Id entry, std::array<uint32_t, 3> workgroup_size) const {
  Stream head;
  for (spv::Capability capability : capabilities_) head.put(spv::Op::OpCapability, {word(capability)});
  for (const std::string& name : extensions_) {
    std::vector<uint32_t> operands;
    append_string(operands, name);
    head.put(spv::Op::OpExtension, operands);
  }
  if (extended_ != 0) {
    std::vector<uint32_t> operands = {extended_};
    append_string(operands, "GLSL.std.450");
    head.put(spv::Op::OpExtInstImport, operands);
  }
  head.put(spv::Op::OpMemoryModel, {word(addressing_), word(spv::MemoryModel::GLSL450)});
  std::vector<uint32_t> entry_point = {word(spv::ExecutionModel::GLCompute), entry};
  append_string(entry_point, kEntryName);
  for (const auto& [builtin, id] : inputs_) entry_point.push_back(id);
  head.put(spv::Op::OpEntryPoint, entry_point);
  head.put(spv::Op::OpExecutionMode,
           {entry, word(spv::ExecutionMode::LocalSize), workgroup_size[0], workgroup_size[1], workgroup_size[2]});
  for (const auto& [mode, literal] : modes_) head.put(spv::Op::OpExecutionMode, {entry, word(mode), literal});

  std::vector<uint32_t> words = {spv::MagicNumber, kVersion13, kGenerator, next_id_, 0};
  for (const Stream* section : {static_cast<const Stream*>(&head), &annotations_, &globals_, &body_})
    words.insert(words.end(), section->words().begin(), section->words().end());
  return words;
}

}  // namespace wavegate::emit::spirv
