#include "wavegate/emit/wgsl/names.h"

#include <algorithm>
#include <iterator>

namespace wavegate::emit::wgsl {
namespace {

// Keywords and reserved words of WGSL (sections "Keywords" and "Reserved Words" of the specification), then names that
// WGSL gives to its types and functions and that a module of ours uses. In order, for binary search.
// clang-format off
constexpr std::string_view kReserved[] = {
    "NULL", "Self", "abstract", "active", "alias", "alignas", "alignof", "as", "asm", "asm_fragment", "async",
    "attribute", "auto", "await", "become", "binding_array", "break", "case", "cast", "catch", "class", "co_await",
    "co_return", "co_yield", "coherent", "column_major", "common", "compile", "compile_fragment", "concept", "const",
    "const_assert", "const_cast", "consteval", "constexpr", "constinit", "continue", "continuing", "crate", "debugger",
    "decltype", "default", "delete", "demote", "demote_to_helper", "diagnostic", "discard", "do", "dynamic_cast",
    "else", "enable", "enum", "explicit", "export", "extends", "extern", "external", "fallthrough", "false", "filter",
    "final", "finally", "fn", "for", "friend", "from", "fxgroup", "get", "goto", "groupshared", "highp", "if", "impl",
    "implements", "import", "inline", "instanceof", "interface", "layout", "let", "loop", "lowp", "macro",
    "macro_rules", "match", "mediump", "meta", "mod", "module", "move", "mut", "mutable", "namespace", "new", "nil",
    "noexcept", "noinline", "nointerpolation", "non_coherent", "noncoherent", "noperspective", "null", "nullptr", "of",
    "operator", "override", "package", "packoffset", "parameter", "pass", "patch", "pixelfragment", "precise",
    "precision", "premerge", "priv", "protected", "pub", "public", "readonly", "ref", "regardless", "register",
    "reinterpret_cast", "require", "requires", "resource", "restrict", "return", "self", "set", "shared", "sizeof",
    "smooth", "snorm", "static", "static_assert", "static_cast", "std", "struct", "subroutine", "super", "switch",
    "target", "template", "this", "thread_local", "throw", "trait", "true", "try", "type", "typedef", "typeid",
    "typename", "typeof", "union", "unless", "unorm", "unsafe", "unsized", "use", "using", "var", "varying", "virtual",
    "volatile", "wgsl", "where", "while", "with", "writeonly", "yield",
};
constexpr std::string_view kPredeclared[] = {
    "abs", "array", "arrayLength", "atomic", "atomicAdd", "atomicAnd", "atomicCompareExchangeWeak", "atomicExchange",
    "atomicLoad", "atomicMax", "atomicMin", "atomicOr", "atomicStore", "atomicXor", "bitcast", "bool", "ceil", "cos",
    "countLeadingZeros", "countOneBits", "countTrailingZeros", "exp2", "f16", "f32", "floor", "fma", "i32", "log2",
    "max", "min", "pack2x16float", "read", "read_write", "reverseBits", "round", "select", "sin", "sqrt", "storage",
    "storageBarrier", "subgroupAdd", "subgroupAll", "subgroupAny", "subgroupBallot", "subgroupBroadcastFirst",
    "subgroupExclusiveAdd", "subgroupMax", "subgroupMin", "subgroupShuffle", "subgroupShuffleXor", "trunc", "u32",
    "uniform", "unpack2x16float", "vec2", "vec3", "vec4", "workgroup", "workgroupBarrier", "workgroupUniformLoad",
};
// clang-format on
static_assert(std::ranges::is_sorted(kReserved) && std::ranges::is_sorted(kPredeclared));

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether the emitter may call a local so: v12, v12_next, leave_3.
bool is_local_name(std::string_view word) {
  for (const std::string_view stem : {"v", "leave_"}) {
    if (!word.starts_with(stem)) continue;
    const std::string_view rest = word.substr(stem.size());
    const auto end = std::ranges::find_if_not(rest, is_digit);
    if (end != rest.begin() && (end == rest.end() || *end == '_')) return true;
  }
  return false;
}

}  // namespace

bool is_reserved(std::string_view word) {
  return std::ranges::binary_search(kReserved, word) || std::ranges::binary_search(kPredeclared, word);
}

std::string Names::claim(std::string_view label) {
  const auto is_inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c); };
  std::string name(label);
  for (char& c : name)
    if (!is_inner(c)) c = '_';
  // Neither _ alone nor two of them in front are an identifier.
  if (name.empty() || is_digit(name[0]) || name == "_" || name.starts_with("__")) name.insert(0, 1, 'x');
  if (is_local_name(name)) name.insert(0, 1, 'x');
  while (is_reserved(name) || taken_.contains(name)) name += '_';
  taken_.insert(name);
  return name;
}

}  // namespace wavegate::emit::wgsl
