#include "wavegate/program/spirv_interface.h"

#include <algorithm>
#include <array>
#include <set>

#include "wavegate/base/format.h"
#include "wavegate/kir/spirv_module.h"
#include "wavegate/program/spirv_access.h"
#include "wavegate/program/spirv_layout.h"

namespace wavegate::program {
namespace {

using kir::read_spirv;
using kir::SpirvDecorations;
using kir::SpirvEntryPoint;
using kir::SpirvInstruction;
using kir::SpirvModule;

/// A variable of the module that the entry point can touch.
struct Resource {
  uint32_t id = 0;
  spv::StorageClass storage_class = spv::StorageClass::Max;
  uint32_t type = 0;  ///< what the variable's pointer points to
  SpirvDecorations decorations;
  SpirvAccess access;
};

/// A module's name made fit for a message: a hostile one may hold anything.
std::string printable(std::string_view name) {
  std::string text(name.substr(0, 64));
  for (char& character : text)
    if (character < ' ' || character > '~') character = '?';
  return text;
}

Result<SpirvEntryPoint> find_entry_point(const SpirvModule& module, const std::string& name) {
  std::string others;
  for (const SpirvEntryPoint& entry : module.entry_points) {
    if (entry.model != spv::ExecutionModel::GLCompute) continue;
    if (entry.name == name) return entry;
    if (others.size() < 256) others += format("{}\"{}\"", others.empty() ? "" : ", ", printable(entry.name));
  }
  if (others.empty()) return invalid_input("the module has no compute entry point; compile it as a compute shader");
  return invalid_input(format("the module has no compute entry point \"{}\"; it has {}", name, others));
}

Result<std::array<uint32_t, 3>> sizes_of_constants(const SpirvModule& module, const std::array<uint32_t, 3>& ids) {
  std::array<uint32_t, 3> size = {};
  for (size_t axis = 0; axis < 3; ++axis) {
    if (module.specialised(ids[axis]))
      return unsupported("the module's workgroup size is a specialisation constant; compile it with a fixed size");
    const std::optional<uint32_t> value = module.constant(ids[axis]);
    if (!value) return invalid_input(format("the module's workgroup size in {} is not a constant", "xyz"[axis]));
    size[axis] = *value;
  }
  return size;
}

Result<std::array<uint32_t, 3>> workgroup_size(const SpirvModule& module, uint32_t function) {
  // The built-in constant overrides every execution mode (SPIR-V 3.21, WorkgroupSize).
  for (const auto& [id, decorations] : module.decorations) {
    if (!decorations.workgroup_size) continue;
    const SpirvInstruction i = module.definition(id);
    if (i.op != spv::Op::OpConstantComposite && i.op != spv::Op::OpSpecConstantComposite) continue;
    return sizes_of_constants(module, {i.word(3), i.word(4), i.word(5)});
  }
  for (const uint32_t offset : module.execution_modes) {
    const SpirvInstruction i = module.at(offset);
    if (i.word(1) != function) continue;
    const auto mode = static_cast<spv::ExecutionMode>(i.word(2));
    const std::array<uint32_t, 3> operands = {i.word(3), i.word(4), i.word(5)};
    if (mode == spv::ExecutionMode::LocalSize) return operands;
    if (mode == spv::ExecutionMode::LocalSizeId) return sizes_of_constants(module, operands);
  }
  return invalid_input("the module's entry point has no workgroup size");
}

Result<void> check_workgroup_size(const kir::Interface& interface, const SpirvModule& module, uint32_t function) {
  WAVEGATE_TRY(const auto size, workgroup_size(module, function));
  const auto& declared = interface.workgroup_size;
  if (size == declared) return {};
  return invalid_input(format("a workgroup of {}x{}x{} is declared, but the module's is {}x{}x{}; declare that",
                              declared[0], declared[1], declared[2], size[0], size[1], size[2]));
}

Result<std::vector<Resource>> find_resources(const SpirvModule& module, const SpirvEntryPoint& entry) {
  WAVEGATE_TRY(const auto accesses, spirv_accesses(module, entry.function));
  const std::set<uint32_t> listed(entry.interface.begin(), entry.interface.end());
  std::vector<Resource> resources;
  for (const uint32_t id : module.variables) {
    const auto access = accesses.find(id);
    // With several entry points, a variable that is neither used nor listed by ours belongs to another.
    if (access == accesses.end() && !listed.contains(id) && module.entry_points.size() > 1) continue;
    const SpirvInstruction variable = module.definition(id);
    const SpirvInstruction pointer = module.definition(variable.word(1));
    if (pointer.op != spv::Op::OpTypePointer || pointer.word(2) != variable.word(3))
      return invalid_input(format("the module's variable {} is not of a pointer type of its storage class", id));
    resources.push_back({id, static_cast<spv::StorageClass>(variable.word(3)), pointer.word(3),
                         module.decorations_of(id), access == accesses.end() ? SpirvAccess{} : access->second});
  }
  for (const auto& [id, decorations] : module.decorations)
    if ((decorations.set || decorations.binding) && module.definition(id).op != spv::Op::OpVariable &&
        module.definition(id).op != spv::Op::OpDecorationGroup)
      return invalid_input(format("the module binds id {}, which is not a variable", id));
  return resources;
}

std::string place(const SpirvDecorations& decorations) {
  const auto text = [](const std::optional<uint32_t>& number) { return number ? format("{}", *number) : "none"; };
  return format("set {}, binding {}", text(decorations.set), text(decorations.binding));
}

/// Whether the variable needs no binding.
bool is_internal(spv::StorageClass storage_class) {
  return storage_class == spv::StorageClass::Input || storage_class == spv::StorageClass::Output ||
         storage_class == spv::StorageClass::Workgroup || storage_class == spv::StorageClass::Private;
}

/// Errors unless the resource is a storage buffer: since SPIR-V 1.3 a class of its own, before it a BufferBlock.
Result<void> check_storage_buffer(const SpirvModule& module, const Resource& resource) {
  const std::string where = place(resource.decorations);
  const spv::Op op = module.definition(resource.type).op;
  if (resource.storage_class == spv::StorageClass::UniformConstant)
    return invalid_input(
        format("the module uses an image, a sampler or a texel buffer ({}); bind storage buffers only", where));
  if (resource.storage_class != spv::StorageClass::Uniform &&
      resource.storage_class != spv::StorageClass::StorageBuffer)
    return invalid_input(format("the module uses a resource of storage class {} ({}); bind storage buffers only",
                                static_cast<uint32_t>(resource.storage_class), where));
  if (op == spv::Op::OpTypeArray || op == spv::Op::OpTypeRuntimeArray)
    return unsupported(
        format("the module uses an array of buffers ({}); give each buffer a binding of its own", where));
  const SpirvDecorations type = module.decorations_of(resource.type);
  if (op != spv::Op::OpTypeStruct || module.definition(resource.type).words.size() < 3)
    return invalid_input(format("the module's buffer ({}) is not a block with members", where));
  if (resource.storage_class == spv::StorageClass::Uniform && !type.buffer_block)
    return invalid_input(format("the module uses a uniform buffer ({}); make it a storage buffer", where));
  if (resource.storage_class == spv::StorageClass::StorageBuffer && !type.block)
    return invalid_input(format("the module's buffer ({}) is not a block", where));
  return {};
}

/// Whether a buffer of elements of `size` bytes can be seen as this member of a block.
Result<void> check_element(const SpirvModule& module, const kir::BindingInfo& binding, uint32_t type) {
  const uint32_t size = kir::byte_size(binding.type);
  const SpirvInstruction definition = module.definition(type);
  if (definition.op != spv::Op::OpTypeArray && definition.op != spv::Op::OpTypeRuntimeArray) {
    const uint32_t scalar = spirv_scalar_size(module, type);
    if (scalar == 0 || scalar == size) return {};
    return invalid_input(format("binding \"{}\" is declared {} of {} bytes, but the module holds a scalar of {} bytes",
                                binding.name, kir::to_string(binding.type), size, scalar));
  }
  const std::optional<uint32_t> stride = module.decorations_of(type).array_stride;
  if (!stride || *stride == 0)
    return invalid_input(format("binding \"{}\" is an array without a stride in the module", binding.name));
  const bool scalars = spirv_scalar_size(module, definition.word(2)) != 0;
  if (scalars ? *stride == size : *stride % size == 0) return {};
  return invalid_input(format(
      "binding \"{}\" is declared {} of {} bytes, but the module's elements are {} bytes apart; declare the type that "
      "the module has, or use the std430 layout",
      binding.name, kir::to_string(binding.type), size, *stride));
}

Result<void> check_scalar(const SpirvModule& module, const kir::BindingInfo& binding, uint32_t block) {
  const SpirvInstruction structure = module.definition(block);
  const SpirvInstruction member = module.definition(structure.word(2));
  const bool unsized = member.op == spv::Op::OpTypeRuntimeArray;
  const uint32_t offset = module.decorations_of(block, 0).offset.value_or(0);
  if (structure.words.size() == 3 && offset == 0 &&
      spirv_scalar_size(module, unsized ? member.word(2) : structure.word(2)) != 0)
    return {};
  return invalid_input(
      format("binding \"{}\" is declared a scalar, but the module's block is not one number; give it one 32-bit member",
             binding.name));
}

Result<void> check_layout(const SpirvModule& module, const kir::BindingInfo& binding, uint32_t block) {
  if (kir::bit_width(binding.type) < 8)
    return invalid_input(format("binding \"{}\" is declared {}, which cannot be stored in memory", binding.name,
                                kir::to_string(binding.type)));
  const bool scalar = binding.kind == kir::BindingKind::scalar;
  if (scalar && kir::bit_width(binding.type) != 32)
    return invalid_input(format("binding \"{}\" is declared a scalar of type {}; a scalar is i32 or f32", binding.name,
                                kir::to_string(binding.type)));
  if (scalar) WAVEGATE_CHECK(check_scalar(module, binding, block));
  const uint32_t size = kir::byte_size(binding.type);
  const SpirvInstruction structure = module.definition(block);
  for (uint32_t member = 0; member + 2 < structure.words.size(); ++member) {
    const std::optional<uint32_t> offset = module.decorations_of(block, member).offset;
    if (!offset || *offset % size != 0)
      return invalid_input(
          format("binding \"{}\" is declared {} of {} bytes, but member {} of the module's block begins at byte {}",
                 binding.name, kir::to_string(binding.type), size, member, offset ? format("{}", *offset) : "?"));
    WAVEGATE_CHECK(check_element(module, binding, structure.word(member + 2)));
  }
  return {};
}

Result<void> check_access(const kir::BindingInfo& binding, SpirvAccess access) {
  if (access.writes && !kir::writes(binding.access))
    return invalid_input(
        format("binding \"{}\" is declared read, but the module stores to it or uses it in a way that "
               "may; declare it read_write",
               binding.name));
  if (access.reads && !kir::reads(binding.access))
    return invalid_input(
        format("binding \"{}\" is declared write, but the module loads from it or uses it in a way "
               "that may; declare it read_write",
               binding.name));
  if (!access.writes && !kir::reads(binding.access))
    return invalid_input(
        format("binding \"{}\" is declared write, but the module never stores to it; declare it read", binding.name));
  return {};
}

Result<void> check_bindings(const kir::Interface& interface, const SpirvModule& module,
                            const std::vector<Resource>& resources) {
  struct Found {
    bool found = false;
    SpirvAccess access;
  };
  // Several variables may name one binding; what they do adds up.
  std::vector<Found> found(interface.bindings.size());
  std::set<std::pair<uint32_t, uint32_t>> checked;  // binding and block: many variables may share a long block
  for (const Resource& resource : resources) {
    if (is_internal(resource.storage_class) || resource.storage_class == spv::StorageClass::PushConstant) continue;
    WAVEGATE_CHECK(check_storage_buffer(module, resource));
    const SpirvDecorations& at = resource.decorations;
    if (at.set != 0u || !at.binding || *at.binding >= interface.bindings.size())
      return invalid_input(
          format("the module uses a buffer at {}, but {} bindings are declared, from set 0, binding 0 on", place(at),
                 interface.bindings.size()));
    if (checked.insert({*at.binding, resource.type}).second)
      WAVEGATE_CHECK(check_layout(module, interface.bindings[*at.binding], resource.type));
    Found& binding = found[*at.binding];
    binding.found = true;
    binding.access.reads |= resource.access.reads;
    binding.access.writes |= resource.access.writes;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].found)
      return invalid_input(
          format("binding \"{}\" is declared, but the module has no storage buffer at set 0, binding "
                 "{}; remove the declaration or use the buffer",
                 interface.bindings[i].name, i));
    WAVEGATE_CHECK(check_access(interface.bindings[i], found[i].access));
  }
  return {};
}

Result<void> check_push_constants(const kir::Interface& interface, const SpirvModule& module,
                                  const std::vector<Resource>& resources) {
  uint64_t declared = 0;
  for (const kir::ParameterInfo& parameter : interface.parameters)
    declared += kir::bit_width(parameter.type) == 64 ? 8 : 4;
  const std::map<uint32_t, uint64_t> sizes = spirv_type_sizes(module);
  for (const Resource& resource : resources) {
    if (resource.storage_class != spv::StorageClass::PushConstant) continue;
    const auto size = sizes.find(resource.type);
    if (size == sizes.end())
      return invalid_input("the module's push constants have no fixed size; give every member an offset and a length");
    if (size->second > declared)
      return invalid_input(
          format("the module has {} bytes of push constants, but the declared parameters give {}; declare a parameter "
                 "for each of them, in order",
                 size->second, declared));
  }
  return {};
}

Result<void> check_module(const kir::OpaqueKernel& kernel) {
  WAVEGATE_TRY(const SpirvModule module, read_spirv(kernel.spirv));
  WAVEGATE_TRY(const SpirvEntryPoint entry, find_entry_point(module, kernel.entry_point));
  WAVEGATE_CHECK(check_workgroup_size(kernel.interface, module, entry.function));
  if (module.definition(entry.function).op != spv::Op::OpFunction)
    return invalid_input("the module's entry point is not a function");
  WAVEGATE_TRY(const std::vector<Resource> resources, find_resources(module, entry));
  WAVEGATE_CHECK(check_bindings(kernel.interface, module, resources));
  return check_push_constants(kernel.interface, module, resources);
}

}  // namespace

Result<void> check_spirv_interface(const kir::OpaqueKernel& kernel) {
  Result<void> result = check_module(kernel);
  if (result.ok()) return result;
  return Error{result.error().kind, format("kernel \"{}\": {}", kernel.interface.name, result.error().message),
               result.error().where};
}

}  // namespace wavegate::program
