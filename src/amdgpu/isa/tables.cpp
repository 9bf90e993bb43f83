#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

namespace {

constexpr std::array<FormatInfo, kFormatCount> make_formats() {
  std::array<FormatInfo, kFormatCount> formats = {{
#define WAVEGATE_FORMAT(name, words, opcodes, encoding) {words, opcodes, Encoding::encoding, 0},
      WAVEGATE_FORMATS(WAVEGATE_FORMAT)
#undef WAVEGATE_FORMAT
  }};
  std::uint16_t first = 0;
  for (FormatInfo& format : formats) {
    format.first = first;
    first = static_cast<std::uint16_t>(first + format.opcodes);
  }
  return formats;
}

}  // namespace

constexpr std::array<FormatInfo, kFormatCount> kFormats = make_formats();

namespace {

constexpr int kLookups = kFormats.back().first + kFormats.back().opcodes;

// The words of the tables.
constexpr std::uint32_t bit(OperandKind kind) {
  return 1u << static_cast<unsigned>(kind);
}
#define WAVEGATE_KIND(name) constexpr std::uint32_t name = bit(OperandKind::name);
namespace kinds {
WAVEGATE_KIND(off)
WAVEGATE_KIND(null)
WAVEGATE_KIND(sgpr)
WAVEGATE_KIND(vgpr)
WAVEGATE_KIND(agpr)
WAVEGATE_KIND(ttmp)
WAVEGATE_KIND(vcc)
WAVEGATE_KIND(exec)
WAVEGATE_KIND(m0)
WAVEGATE_KIND(flat_scratch)
WAVEGATE_KIND(xnack_mask)
WAVEGATE_KIND(scc)
WAVEGATE_KIND(vccz)
WAVEGATE_KIND(execz)
WAVEGATE_KIND(shared_base)
WAVEGATE_KIND(shared_limit)
WAVEGATE_KIND(private_base)
WAVEGATE_KIND(private_limit)
WAVEGATE_KIND(pops_exiting_wave_id)
WAVEGATE_KIND(lds_direct)
WAVEGATE_KIND(integer)
WAVEGATE_KIND(real)
WAVEGATE_KIND(literal)
WAVEGATE_KIND(immediate)
WAVEGATE_KIND(label)
WAVEGATE_KIND(attribute)
#define WAVEGATE_KINDS(name, value) constexpr std::uint32_t name = value;
#define WAVEGATE_SHAPE(...)
#include "wavegate/amdgpu/isa/tables/shapes.inc"
#undef WAVEGATE_KINDS
#undef WAVEGATE_SHAPE
}  // namespace kinds
#undef WAVEGATE_KIND

#define O(how, role, position, bits, words, type, accumulator, kind_set)                                    \
  OperandRule {                                                                                             \
    How::how, static_cast<Role>(role), position, bits, words, ValueType::type, accumulator, kinds::kind_set \
  }
constexpr Shape kShapes[] = {
    {},
#define WAVEGATE_KINDS(name, value)
#define WAVEGATE_SHAPE(number, ...) {__VA_ARGS__},
#include "wavegate/amdgpu/isa/tables/shapes.inc"
#undef WAVEGATE_KINDS
#undef WAVEGATE_SHAPE
};
#undef O

/// A row with where it stands, as the tables have it.
struct PlacedRow {
  Format format;
  std::uint16_t number;
  Row row;
};

template <std::size_t N>
constexpr std::array<Row, N + 1> rows_of(const PlacedRow (&placed)[N]) {
  std::array<Row, N + 1> rows = {};
  for (std::size_t i = 0; i < N; ++i) rows[i + 1] = placed[i].row;
  return rows;
}

template <std::size_t N>
constexpr std::array<std::uint16_t, kLookups> lookup_of(const PlacedRow (&placed)[N]) {
  std::array<std::uint16_t, kLookups> lookup = {};
  for (std::size_t i = 0; i < N; ++i)
    lookup[kFormats[static_cast<std::size_t>(placed[i].format)].first + placed[i].number] =
        static_cast<std::uint16_t>(i + 1);
  return lookup;
}

#define WAVEGATE_ROW(format, number, opcode, mnemonic, shape32, shape64) \
  {Format::format, number, {mnemonic, Opcode::opcode, {shape32, shape64}}},

constexpr PlacedRow k_gfx900[] = {
#include "wavegate/amdgpu/isa/tables/gfx900.inc"
};
constexpr auto k_gfx900_rows = rows_of(k_gfx900);
constexpr auto k_gfx900_lookup = lookup_of(k_gfx900);

constexpr PlacedRow k_gfx906[] = {
#include "wavegate/amdgpu/isa/tables/gfx906.inc"
};
constexpr auto k_gfx906_rows = rows_of(k_gfx906);
constexpr auto k_gfx906_lookup = lookup_of(k_gfx906);

constexpr PlacedRow k_gfx908[] = {
#include "wavegate/amdgpu/isa/tables/gfx908.inc"
};
constexpr auto k_gfx908_rows = rows_of(k_gfx908);
constexpr auto k_gfx908_lookup = lookup_of(k_gfx908);

constexpr PlacedRow k_gfx90a[] = {
#include "wavegate/amdgpu/isa/tables/gfx90a.inc"
};
constexpr auto k_gfx90a_rows = rows_of(k_gfx90a);
constexpr auto k_gfx90a_lookup = lookup_of(k_gfx90a);

constexpr PlacedRow k_gfx942[] = {
#include "wavegate/amdgpu/isa/tables/gfx942.inc"
};
constexpr auto k_gfx942_rows = rows_of(k_gfx942);
constexpr auto k_gfx942_lookup = lookup_of(k_gfx942);

constexpr PlacedRow k_gfx1010[] = {
#include "wavegate/amdgpu/isa/tables/gfx1010.inc"
};
constexpr auto k_gfx1010_rows = rows_of(k_gfx1010);
constexpr auto k_gfx1010_lookup = lookup_of(k_gfx1010);

constexpr PlacedRow k_gfx1013[] = {
#include "wavegate/amdgpu/isa/tables/gfx1013.inc"
};
constexpr auto k_gfx1013_rows = rows_of(k_gfx1013);
constexpr auto k_gfx1013_lookup = lookup_of(k_gfx1013);

constexpr PlacedRow k_gfx1030[] = {
#include "wavegate/amdgpu/isa/tables/gfx1030.inc"
};
constexpr auto k_gfx1030_rows = rows_of(k_gfx1030);
constexpr auto k_gfx1030_lookup = lookup_of(k_gfx1030);

constexpr PlacedRow k_gfx1100[] = {
#include "wavegate/amdgpu/isa/tables/gfx1100.inc"
};
constexpr auto k_gfx1100_rows = rows_of(k_gfx1100);
constexpr auto k_gfx1100_lookup = lookup_of(k_gfx1100);

constexpr PlacedRow k_gfx1150[] = {
#include "wavegate/amdgpu/isa/tables/gfx1150.inc"
};
constexpr auto k_gfx1150_rows = rows_of(k_gfx1150);
constexpr auto k_gfx1150_lookup = lookup_of(k_gfx1150);

constexpr PlacedRow k_gfx1200[] = {
#include "wavegate/amdgpu/isa/tables/gfx1200.inc"
};
constexpr auto k_gfx1200_rows = rows_of(k_gfx1200);
constexpr auto k_gfx1200_lookup = lookup_of(k_gfx1200);

constexpr TargetTable kTables[] = {
    {k_gfx900_rows, k_gfx900_lookup.data()},   {k_gfx906_rows, k_gfx906_lookup.data()},
    {k_gfx908_rows, k_gfx908_lookup.data()},   {k_gfx90a_rows, k_gfx90a_lookup.data()},
    {k_gfx942_rows, k_gfx942_lookup.data()},   {k_gfx1010_rows, k_gfx1010_lookup.data()},
    {k_gfx1013_rows, k_gfx1013_lookup.data()}, {k_gfx1030_rows, k_gfx1030_lookup.data()},
    {k_gfx1100_rows, k_gfx1100_lookup.data()}, {k_gfx1150_rows, k_gfx1150_lookup.data()},
    {k_gfx1200_rows, k_gfx1200_lookup.data()},
};
static_assert(std::size(kTables) == kTargetCount);

}  // namespace

const TargetTable& table(Target target) {
  return kTables[static_cast<std::size_t>(target)];
}

const Shape& shape(std::uint16_t number) {
  return kShapes[number];
}

}  // namespace wavegate::amdgpu::isa
