#include "wavegate/program/spirv_access.h"

#include <algorithm>
#include <limits>
#include <set>

#include "wavegate/base/format.h"

namespace wavegate::program {
namespace {

using kir::spirv_string;
using kir::SpirvInstruction;
using kir::SpirvModule;

constexpr uint32_t kAllWords = std::numeric_limits<uint32_t>::max();

/// The words [first, end) of an instruction that may be pointers.
struct PointerWords {
  uint32_t first = 1;
  uint32_t end = kAllWords;
};

struct PointerRow {
  uint32_t first_op;
  uint32_t last_op;
  PointerWords words;
};

constexpr PointerWords kNoWords{0, 0};

// Instructions with literals, which must not be taken for ids. All others are searched whole. Sorted by opcode.
constexpr PointerRow kPointerRows[] = {
    {0, 11, kNoWords},         // debug, extensions
    {12, 12, {5, kAllWords}},  // OpExtInst
    {14, 17, kNoWords},        // memory model, entry point, execution mode, capability
    {19, 51, kNoWords},        // types, constants
    {52, 52, {4, kAllWords}},  // OpSpecConstantOp
    {54, 56, kNoWords},        // OpFunction, OpFunctionParameter, OpFunctionEnd
    {57, 57, {4, kAllWords}},  // OpFunctionCall
    {59, 59, {4, kAllWords}},  // OpVariable: its initialiser
    {68, 68, kNoWords},        // OpArrayLength
    {71, 76, kNoWords},        // decorations
    {79, 79, kNoWords},        // OpVectorShuffle
    {81, 81, kNoWords},        // OpCompositeExtract
    {82, 82, {3, 5}},          // OpCompositeInsert
    {86, 107, kNoWords},       // images
    {246, 251, kNoWords},      // merges, labels, branches
    {261, 271, kNoWords},      // group operations
    {305, 317, kNoWords},      // sparse images, OpNoLine
    {320, 320, kNoWords},      // OpImageSparseRead
    {330, 366, kNoWords},      // processed, identified modes and decorations, subgroup operations
    {401, 403, kNoWords},      // comparison of pointers
    {5000, 5007, kNoWords},    // AMD group operations
    {5632, 5633, kNoWords},    // string decorations
};

PointerWords pointer_words(spv::Op op) {
  const auto value = static_cast<uint32_t>(op);
  const auto row = std::ranges::lower_bound(kPointerRows, value, {}, &PointerRow::last_op);
  return row != std::end(kPointerRows) && row->first_op <= value ? row->words : PointerWords{};
}

bool derives_pointer(spv::Op op) {
  return op == spv::Op::OpAccessChain || op == spv::Op::OpInBoundsAccessChain || op == spv::Op::OpPtrAccessChain ||
         op == spv::Op::OpInBoundsPtrAccessChain || op == spv::Op::OpCopyObject;
}

bool is_debug_set(const SpirvInstruction& import) {
  const std::string name = spirv_string(import, 2);
  return name.starts_with("NonSemantic.") || name == "OpenCL.DebugInfo.100" || name == "DebugInfo";
}

/// The variable that each id points into, 0 for none.
Result<std::vector<uint32_t>> pointer_roots(const SpirvModule& module) {
  std::vector<uint32_t> roots(module.definitions.size(), 0);
  for (const uint32_t variable : module.variables) roots[variable] = variable;
  for (SpirvInstruction i = module.first(); !i.words.empty(); i = module.next(i)) {
    if (!derives_pointer(i.op)) continue;
    const uint32_t base = i.word(3);
    const SpirvInstruction source = module.definition(base);
    if (source.words.empty() || source.offset >= i.offset)
      return invalid_input(
          format("the module's instruction at word {} uses id {} before its definition", i.offset, base));
    roots[i.word(2)] = roots[base];
  }
  return roots;
}

struct Use {
  uint32_t function;
  uint32_t variable;
  SpirvAccess access;
};

struct Call {
  uint32_t caller;
  uint32_t callee;
  auto operator<=>(const Call&) const = default;
};

struct Walk {
  const SpirvModule& module;
  std::vector<uint32_t> roots;
  std::vector<Use> uses;
  std::vector<Call> calls;
  std::set<uint32_t> debug_sets;  ///< instruction sets that only describe
  uint32_t function = 0;          ///< 0 outside functions

  void use(uint32_t id, SpirvAccess access) {
    if (id < roots.size() && roots[id] != 0) uses.push_back({function, roots[id], access});
  }

  void visit(const SpirvInstruction& i) {
    constexpr SpirvAccess neither{false, false}, read{true, false}, write{false, true}, both{true, true};
    switch (i.op) {
      case spv::Op::OpExtInstImport:
        if (is_debug_set(i)) debug_sets.insert(i.word(1));
        return;
      case spv::Op::OpExtInst:
        if (debug_sets.contains(i.word(3))) return;
        break;
      case spv::Op::OpFunction: function = i.word(2); return;
      case spv::Op::OpFunctionEnd: function = 0; return;
      case spv::Op::OpLoad: use(i.word(3), read); return;
      case spv::Op::OpStore:
        use(i.word(1), write);
        use(i.word(2), both);
        return;
      case spv::Op::OpCopyMemory:
      case spv::Op::OpCopyMemorySized:
        use(i.word(1), write);
        use(i.word(2), read);
        return;
      case spv::Op::OpArrayLength: use(i.word(3), neither); return;
      case spv::Op::OpPtrEqual:
      case spv::Op::OpPtrNotEqual:
      case spv::Op::OpPtrDiff:
        use(i.word(3), neither);
        use(i.word(4), neither);
        return;
      case spv::Op::OpFunctionCall: calls.push_back({function, i.word(3)}); break;
      default: break;
    }
    if (derives_pointer(i.op)) return use(i.word(3), neither);
    const PointerWords range = pointer_words(i.op);
    for (uint32_t index = range.first; index < std::min<size_t>(range.end, i.words.size()); ++index)
      use(i.words[index], both);
  }
};

std::set<uint32_t> reached_functions(std::vector<Call> calls, uint32_t entry) {
  std::ranges::sort(calls);
  std::set<uint32_t> reached = {entry};
  std::vector<uint32_t> pending = {entry};
  while (!pending.empty()) {
    const uint32_t caller = pending.back();
    pending.pop_back();
    for (auto call = std::ranges::lower_bound(calls, caller, {}, &Call::caller);
         call != calls.end() && call->caller == caller; ++call)
      if (reached.insert(call->callee).second) pending.push_back(call->callee);
  }
  return reached;
}

}  // namespace

Result<std::map<uint32_t, SpirvAccess>> spirv_accesses(const SpirvModule& module, uint32_t function) {
  WAVEGATE_TRY(std::vector<uint32_t> roots, pointer_roots(module));
  Walk walk{module, std::move(roots), {}, {}, {}};
  for (SpirvInstruction i = module.first(); !i.words.empty(); i = module.next(i)) walk.visit(i);

  const std::set<uint32_t> reached = reached_functions(std::move(walk.calls), function);
  std::map<uint32_t, SpirvAccess> accesses;
  for (const Use& use : walk.uses) {
    if (use.function != 0 && !reached.contains(use.function)) continue;
    SpirvAccess& access = accesses[use.variable];
    access.reads |= use.access.reads;
    access.writes |= use.access.writes;
  }
  return accesses;
}

}  // namespace wavegate::program
