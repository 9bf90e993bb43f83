#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wavegate/emit/spirv/stream.h"
#include "wavegate/kir/type.h"

namespace wavegate::emit::spirv {

/// The sections of a module with one compute entry point. Types and constants are declared once each, when they are
/// first asked for; capabilities and extensions follow from them. Integers are declared unsigned: operations say
/// how bits are read, as in kir.
class ModuleBuilder {
 public:
  Id new_id() { return next_id_++; }
  void require(spv::Capability capability) { capabilities_.insert(capability); }
  void require_extension(std::string_view name) { extensions_.emplace(name); }
  void use_physical_addressing();
  /// An execution mode of the entry point beside its workgroup size.
  void require_mode(spv::ExecutionMode mode, uint32_t literal) { modes_.emplace(mode, literal); }
  void decorate(Id target, spv::Decoration decoration, std::initializer_list<uint32_t> literals = {});

  // Types.
  Id type(kir::Type type);  ///< kir::Type::none is void
  Id vector_type(kir::Type element, uint32_t count);
  Id array_type(Id element, uint32_t length);
  Id pair_type(Id member);
  Id pointer_type(spv::StorageClass storage, Id pointee);
  Id function_type();
  /// A Block struct around an array with a stride in bytes; length 0 is a run-time array.
  Id block_type(Id element, uint32_t stride, uint32_t length);

  // Constants and variables.
  Id constant(kir::Type type, uint64_t bits);
  Id constant_u32(uint32_t value) { return constant(kir::Type::i32, value); }
  Id global_variable(spv::StorageClass storage, Id pointee);
  Id input(spv::BuiltIn builtin, Id pointee);  ///< a builtin's Input variable, part of the entry point's interface

  // The function body.
  Stream& body() { return body_; }
  Id put(spv::Op op, Id type, std::initializer_list<uint32_t> operands);
  Id put_extended(uint32_t instruction, Id type, std::initializer_list<Id> operands);  ///< of GLSL.std.450

  /// The number of ids so far plus one, and whether an instruction was too long to write.
  uint32_t id_bound() const { return next_id_; }
  bool overflowed() const { return body_.overflowed(); }

  /// The module whose body() is the function `entry`, called "main".
  std::vector<uint32_t> assemble(Id entry, std::array<uint32_t, 3> workgroup_size) const;

 private:
  Id intern(spv::Op op, std::initializer_list<uint32_t> operands, uint32_t variant = 0, bool* is_new = nullptr);

  std::set<spv::Capability> capabilities_ = {spv::Capability::Shader};
  std::set<std::string> extensions_;
  std::set<std::pair<spv::ExecutionMode, uint32_t>> modes_;
  spv::AddressingModel addressing_ = spv::AddressingModel::Logical;
  Stream annotations_;
  Stream globals_;
  Stream body_;
  std::map<std::vector<uint32_t>, Id> interned_;
  std::map<spv::BuiltIn, Id> inputs_;
  Id extended_ = 0;
  Id next_id_ = 1;
};

}  // namespace wavegate::emit::spirv
