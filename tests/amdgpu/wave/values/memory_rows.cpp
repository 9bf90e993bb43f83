#include "amdgpu/wave/values/memory_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "amdgpu/wave/values/rows.h"

namespace wavegate::amdgpu::wave::testing {

namespace {

using Kind = MemoryRow::Kind;
using After = u64 (*)(u64, u64, u64);

/// Loads and stores: the name's part, and the same of LDS.
struct Access {
  std::string_view name, lds_name;
  Kind kind;
  int bytes, words;
  bool extends_sign;
  int half;
};
// clang-format off
constexpr Access kAccesses[] = {
    {"load_ubyte", "read_u8", Kind::load, 1, 1, false, -1}, {"load_sbyte", "read_i8", Kind::load, 1, 1, true, -1},
    {"load_ushort", "read_u16", Kind::load, 2, 1, false, -1}, {"load_sshort", "read_i16", Kind::load, 2, 1, true, -1},
    {"load_dword", "read_b32", Kind::load, 4, 1, false, -1}, {"load_dwordx2", "read_b64", Kind::load, 4, 2, false, -1},
    {"load_dwordx3", "read_b96", Kind::load, 4, 3, false, -1}, {"load_dwordx4", "read_b128", Kind::load, 4, 4, false, -1},
    {"load_ubyte_d16", "read_u8_d16", Kind::load, 1, 1, false, 0}, {"load_ubyte_d16_hi", "read_u8_d16_hi", Kind::load, 1, 1, false, 1},
    {"load_sbyte_d16", "read_i8_d16", Kind::load, 1, 1, true, 0}, {"load_sbyte_d16_hi", "read_i8_d16_hi", Kind::load, 1, 1, true, 1},
    {"load_short_d16", "read_u16_d16", Kind::load, 2, 1, false, 0}, {"load_short_d16_hi", "read_u16_d16_hi", Kind::load, 2, 1, false, 1},
    {"store_byte", "write_b8", Kind::store, 1, 1, false, 0}, {"store_byte_d16_hi", "write_b8_d16_hi", Kind::store, 1, 1, false, 1},
    {"store_short", "write_b16", Kind::store, 2, 1, false, 0}, {"store_short_d16_hi", "write_b16_d16_hi", Kind::store, 2, 1, false, 1},
    {"store_dword", "write_b32", Kind::store, 4, 1, false, -1}, {"store_dwordx2", "write_b64", Kind::store, 4, 2, false, -1},
    {"store_dwordx3", "write_b96", Kind::store, 4, 3, false, -1}, {"store_dwordx4", "write_b128", Kind::store, 4, 4, false, -1},
};
// clang-format on

template <int bits>
constexpr u64 kAll = bits == 64 ? ~u64{0} : 0xffffffffu;

/// Of floats: a NaN loses against a number, -0 is less than +0.
u64 extreme(const Float& of, u64 a, u64 b, bool least) {
  if (of.is_nan(a) || of.is_nan(b)) return of.is_nan(a) ? b : a;
  if (of.is_zero(a) && of.is_zero(b)) return least ? a | b : a & b;
  return (of.compare(a, b) < 0) == least ? a : b;
}
template <Format format>
u64 packed_sum(u64 old, u64 data, u64) {
  const Float half{format};
  return half.add(part(old, 0, 16), part(data, 0, 16)) | half.add(part(old, 16, 16), part(data, 16, 16)) << 16;
}

/// As floats: zeros of either sign are the same, a NaN is not.
template <Format format>
u64 swapped_if_same(u64 old, u64 data, u64 wanted) {
  return Float{format}.compare(old, wanted) == 0 ? data : old;
}
/// What has the upper bit of a word set takes that word's place, without the bit.
u64 marked_words(u64 old, u64 data, u64) {
  u64 now = 0;
  for (const int at : {0, 32}) now |= (part(data, at + 31, 1) != 0 ? part(data, at, 31) : part(old, at, 32)) << at;
  return now;
}

/// Integers of 32 or 64 bits: the name's part of atomics in memory, and that of LDS without its type.
struct IntegerAtomic {
  std::string_view name, lds_name;
  After after32, after64;
};
#define BOTH_WIDTHS(expression)                                                           \
  []([[maybe_unused]] u64 m, [[maybe_unused]] u64 d, [[maybe_unused]] u64 s) -> u64 {     \
    [[maybe_unused]] constexpr int kBits = 32;                                            \
    return static_cast<u64>(expression) & kAll<32>;                                       \
  },                                                                                      \
      []([[maybe_unused]] u64 m, [[maybe_unused]] u64 d, [[maybe_unused]] u64 s) -> u64 { \
        [[maybe_unused]] constexpr int kBits = 64;                                        \
        return static_cast<u64>(expression);                                              \
      }
// clang-format off
constexpr IntegerAtomic kIntegers[] = {
    {"swap", "wrxchg_b", BOTH_WIDTHS(d)},
    {"add", "add_u", BOTH_WIDTHS(m + d)}, {"sub", "sub_u", BOTH_WIDTHS(m - d)}, {"rsub", "rsub_u", BOTH_WIDTHS(d - m)},
    {"smin", "min_i", BOTH_WIDTHS(sx(m, kBits) < sx(d, kBits) ? m : d)}, {"smax", "max_i", BOTH_WIDTHS(sx(m, kBits) > sx(d, kBits) ? m : d)},
    {"umin", "min_u", BOTH_WIDTHS(std::min(m, d))}, {"umax", "max_u", BOTH_WIDTHS(std::max(m, d))},
    {"and", "and_b", BOTH_WIDTHS(m & d)}, {"or", "or_b", BOTH_WIDTHS(m | d)}, {"xor", "xor_b", BOTH_WIDTHS(m ^ d)},
    {"inc", "inc_u", BOTH_WIDTHS(m >= d ? 0 : m + 1)}, {"dec", "dec_u", BOTH_WIDTHS(m == 0 || m > d ? d : m - 1)},
    {"csub", "sub_clamp_u", BOTH_WIDTHS(m < d ? 0 : m - d)}, {"sub_clamp_u32", "-", BOTH_WIDTHS(m < d ? 0 : m - d)}, {"cond_sub_u32", "cond_sub_u", BOTH_WIDTHS(m >= d ? m - d : m)},
    {"cmpswap", "cmpst_b", BOTH_WIDTHS(m == s ? d : m)}, {"-", "cmpstore_b", BOTH_WIDTHS(m == s ? d : m)},
    {"-", "mskor_b", BOTH_WIDTHS((m & ~d) | s)}, {"-", "wrap_b", BOTH_WIDTHS(m >= d ? m - d : m + s)},
};
/// Floats, by the whole of their names.
struct FloatAtomic {
  std::string_view name;
  char type;
  After after;
};
constexpr FloatAtomic kFloats[] = {
    {"add_f32", 'f', [](u64 m, u64 d, u64) { return Float{kF32}.add(m, d); }}, {"add_f64", 'd', [](u64 m, u64 d, u64) { return Float{kF64}.add(m, d); }},
    {"fmin", 'f', [](u64 m, u64 d, u64) { return extreme({kF32}, m, d, true); }}, {"fmax", 'f', [](u64 m, u64 d, u64) { return extreme({kF32}, m, d, false); }},
    {"min_f32", 'f', [](u64 m, u64 d, u64) { return extreme({kF32}, m, d, true); }}, {"max_f32", 'f', [](u64 m, u64 d, u64) { return extreme({kF32}, m, d, false); }},
    {"fmin_x2", 'd', [](u64 m, u64 d, u64) { return extreme({kF64}, m, d, true); }}, {"fmax_x2", 'd', [](u64 m, u64 d, u64) { return extreme({kF64}, m, d, false); }},
    {"min_f64", 'd', [](u64 m, u64 d, u64) { return extreme({kF64}, m, d, true); }}, {"max_f64", 'd', [](u64 m, u64 d, u64) { return extreme({kF64}, m, d, false); }},
    {"pk_add_f16", 'p', packed_sum<kF16>}, {"pk_add_bf16", 'b', packed_sum<kBf16>},
    {"fcmpswap", 'f', swapped_if_same<kF32>}, {"fcmpswap_x2", 'd', swapped_if_same<kF64>},
    {"cmpst_f32", 'f', swapped_if_same<kF32>}, {"cmpst_f64", 'd', swapped_if_same<kF64>},
    {"cmpstore_f32", 'f', swapped_if_same<kF32>}, {"cmpstore_f64", 'd', swapped_if_same<kF64>},
};
// clang-format on

using Rows = std::map<std::string, MemoryRow, std::less<>>;

void add_accesses(Rows& rows) {
  constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"global_", Space::global}, {"flat_", Space::flat}, {"scratch_", Space::scratch}, {"buffer_", Space::buffer}};
  for (const Access& access : kAccesses) {
    MemoryRow row;
    row.kind = access.kind, row.bytes = access.bytes, row.words = access.words;
    row.extends_sign = access.extends_sign, row.half = access.half;
    for (const auto& [prefix, space] : kSpaces) {
      row.space = space;
      rows[std::string(prefix) + std::string(access.name)] = row;
    }
    row.space = Space::lds;
    rows["ds_" + std::string(access.lds_name)] = row;
  }
  for (const std::string_view what : {"read2", "write2"})
    for (const int bits : {32, 64})
      for (const bool far : {false, true}) {
        MemoryRow row;
        row.space = Space::lds;
        row.kind = what == "read2" ? Kind::load : Kind::store;
        row.words = bits / 32;
        row.pair = true;
        row.stride = bits / 8 * (far ? 64 : 1);
        rows["ds_" + std::string(what) + (far ? "st64_b" : "_b") + std::to_string(bits)] = row;
      }
}

void add_atomic(Rows& rows, std::string_view name, std::string_view lds_name, int bits, char type, After after) {
  MemoryRow row;
  row.kind = Kind::atomic;
  row.bytes = bits / 8, row.words = bits / 32;
  row.type = type;
  row.after = after;
  row.compares = name.starts_with("cmpswap") || name.starts_with("fcmpswap");
  for (const auto& [prefix, space] :
       {std::pair("global_atomic_", Space::global), std::pair("flat_atomic_", Space::flat),
        std::pair("buffer_atomic_", Space::buffer)}) {
    row.space = space;
    rows[std::string(prefix) + std::string(name)] = row;
  }
  row.space = Space::lds;
  for (const std::string_view two : {"cmpst", "mskor", "wrap"}) row.compares |= lds_name.starts_with(two);
  row.second_first = lds_name.starts_with("cmpst_");
  // "add_u32" is "add_rtn_u32" where it returns what was there.
  const std::string whole(lds_name);
  rows["ds_" + whole] = row;
  if (const std::size_t type_at = whole.rfind('_'); type_at != std::string::npos)
    rows["ds_" + whole.substr(0, type_at) + "_rtn" + whole.substr(type_at)] = row;
}

void add_atomics(Rows& rows) {
  for (const IntegerAtomic& one : kIntegers) {
    add_atomic(rows, one.name, std::string(one.lds_name) + "32", 32, 'u', one.after32);
    add_atomic(rows, std::string(one.name) + "_x2", std::string(one.lds_name) + "64", 64, 'q', one.after64);
  }
  for (const FloatAtomic& one : kFloats)
    add_atomic(rows, one.name, one.name, one.type == 'd' ? 64 : 32, one.type, one.after);
}

/// Those of LDS alone, and those without addresses.
void add_special(Rows& rows) {
  MemoryRow row;
  row.space = Space::lds;
  row.kind = Kind::atomic;
  row.bytes = 8, row.words = 2;
  row.after = marked_words;
  rows["ds_condxchg32_rtn_b64"] = row;
  row.after = [](u64, u64 data, u64) { return data; };
  row.pair = true;
  for (const int bits : {32, 64})
    for (const bool far : {false, true}) {
      row.bytes = bits / 8, row.words = bits / 32;
      row.stride = row.bytes * (far ? 64 : 1);
      rows[std::string("ds_wrxchg2") + (far ? "st64_rtn_b" : "_rtn_b") + std::to_string(bits)] = row;
    }
  row = {};
  row.by_lane = true;
  for (const auto& [name, space, kind] : {std::tuple("ds_read_addtid_b32", Space::lds, Kind::load),
                                          std::tuple("ds_write_addtid_b32", Space::lds, Kind::store),
                                          std::tuple("global_load_dword_addtid", Space::global, Kind::load),
                                          std::tuple("global_store_dword_addtid", Space::global, Kind::store)}) {
    row.space = space, row.kind = kind;
    rows[name] = row;
  }
}

void add_scalars(Rows& rows) {
  const auto add = [&](const std::string& name, Space space, Kind kind, int bytes, int words, bool extends_sign) {
    MemoryRow row;
    row.offset_unit = name.starts_with("s_scratch_") ? 64 : 1;
    row.space = space, row.kind = kind, row.bytes = bytes, row.words = words, row.extends_sign = extends_sign;
    rows[name] = row;
  };
  for (const auto& [suffix, words] : {std::pair("dword", 1), std::pair("dwordx2", 2), std::pair("dwordx4", 4),
                                      std::pair("dwordx8", 8), std::pair("dwordx16", 16), std::pair("b96", 3)}) {
    add(std::string("s_load_") + suffix, Space::scalar, Kind::load, 4, words, false);
    add(std::string("s_buffer_load_") + suffix, Space::scalar_buffer, Kind::load, 4, words, false);
    add(std::string("s_scratch_load_") + suffix, Space::scalar, Kind::load, 4, words, false);
    add(std::string("s_scratch_store_") + suffix, Space::scalar, Kind::store, 4, words, false);
    add(std::string("s_store_") + suffix, Space::scalar, Kind::store, 4, words, false);
    add(std::string("s_buffer_store_") + suffix, Space::scalar_buffer, Kind::store, 4, words, false);
  }
  for (const auto& [prefix, space] :
       {std::pair("s_atomic_", Space::scalar), std::pair("s_buffer_atomic_", Space::scalar_buffer)})
    for (const IntegerAtomic& one : kIntegers)
      for (const bool wide : {false, true}) {
        MemoryRow row;
        row.space = space, row.kind = Kind::atomic;
        row.bytes = wide ? 8 : 4, row.words = row.bytes / 4;
        row.after = wide ? one.after64 : one.after32;
        row.compares = one.name == "cmpswap";
        rows[prefix + std::string(one.name) + (wide ? "_x2" : "")] = row;
      }
  add("s_load_u8", Space::scalar, Kind::load, 1, 1, false), add("s_load_i8", Space::scalar, Kind::load, 1, 1, true);
  add("s_load_u16", Space::scalar, Kind::load, 2, 1, false), add("s_load_i16", Space::scalar, Kind::load, 2, 1, true);
  add("s_buffer_load_u8", Space::scalar_buffer, Kind::load, 1, 1, false);
  add("s_buffer_load_i8", Space::scalar_buffer, Kind::load, 1, 1, true);
  add("s_buffer_load_u16", Space::scalar_buffer, Kind::load, 2, 1, false);
  add("s_buffer_load_i16", Space::scalar_buffer, Kind::load, 2, 1, true);
}

}  // namespace

const MemoryRow* find_memory_row(std::string_view name) {
  static const Rows kRows = [] {
    Rows rows;
    add_accesses(rows), add_atomics(rows), add_special(rows), add_scalars(rows);
    return rows;
  }();
  const auto found = kRows.find(name);
  return found == kRows.end() ? nullptr : &found->second;
}

}  // namespace wavegate::amdgpu::wave::testing
