#include "wavegate/kir/compose.h"

#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/kir/appender.h"
#include "wavegate/kir/verifier.h"

namespace wavegate::kir {
namespace {

/// The names of a kernel's bindings, parameters and arrays, which must differ.
class Names {
 public:
  explicit Names(const Kernel& kernel) {
    for (const BindingInfo& binding : kernel.interface.bindings) names_.insert(binding.name);
    for (const ParameterInfo& parameter : kernel.interface.parameters) names_.insert(parameter.name);
    for (const Memory& memory : kernel.memories) names_.insert(memory.name);
  }

  /// `wanted`, or `wanted.<number>` where that is taken.
  std::string add(std::string_view wanted) {
    std::string name(wanted);
    for (uint32_t number = 2; !names_.insert(name).second; ++number) name = format("{}.{}", wanted, number);
    return name;
  }

 private:
  std::set<std::string> names_;
};

}  // namespace

Result<Kernel> guard(Kernel kernel, std::string_view latch) {
  std::string name = Names(kernel).add(latch);
  kernel.interface.bindings.push_back({std::move(name), BindingKind::scalar, Type::i32, Access::read});
  const auto binding = static_cast<uint32_t>(kernel.interface.bindings.size() - 1);

  std::vector<Instruction> test;
  Appender code(kernel, test);
  const Value read = code.value({.op = Op::load_scalar, .type = Type::i32, .index = binding});
  const Value is_zero = code.value(Op::equal, Type::boolean, {read, code.constant(Type::i32, 0)});
  code.if_(is_zero, {{.op = Op::return_}}, {{.op = Op::yield}});
  std::vector<Instruction>& body = kernel.body.instructions;
  body.insert(body.begin(), std::make_move_iterator(test.begin()), std::make_move_iterator(test.end()));
  WAVEGATE_CHECK(verify(kernel));
  return kernel;
}

}  // namespace wavegate::kir
