#include "wavegate/amdgpu/isa/sources.h"

namespace wavegate::amdgpu::isa {

namespace {

using Sources = std::array<Operand, 512>;

constexpr Operand make(OperandKind kind, std::uint32_t value = 0) {
  return {kind, 1, ValueType::bits, 0, value};
}

struct Named {
  unsigned bits;
  OperandKind kind;
  std::uint32_t value;
};

/// Those between the SGPRs and the constants, and behind these. RDNA 3 swapped m0 and null.
constexpr Named kNamed[] = {
    {106, OperandKind::vcc, 0},
    {107, OperandKind::vcc, 1},
    {126, OperandKind::exec, 0},
    {127, OperandKind::exec, 1},
    {235, OperandKind::shared_base, 0},
    {236, OperandKind::shared_limit, 0},
    {237, OperandKind::private_base, 0},
    {238, OperandKind::private_limit, 0},
    {239, OperandKind::pops_exiting_wave_id, 0},
    {251, OperandKind::vccz, 0},
    {252, OperandKind::execz, 0},
    {253, OperandKind::scc, 0},
    {254, OperandKind::lds_direct, 0},
    {255, OperandKind::literal, 0},
};

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1 / (2 pi), as f32.
constexpr std::uint32_t kReals[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                    0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};

constexpr Sources make_sources(Generation generation) {
  Sources sources = {};
  const bool gfx9 = generation == Generation::gfx9;
  const unsigned sgprs = gfx9 ? 102 : 106;
  for (unsigned i = 0; i < sgprs; ++i) sources[i] = make(OperandKind::sgpr, i);
  if (gfx9)
    for (unsigned i = 0; i < 2; ++i) {
      sources[102 + i] = make(OperandKind::flat_scratch, i);
      sources[104 + i] = make(OperandKind::xnack_mask, i);
    }
  for (unsigned i = 0; i < 16; ++i) sources[108 + i] = make(OperandKind::ttmp, i);
  const bool swapped = generation >= Generation::gfx11;
  sources[swapped ? 125 : 124] = make(OperandKind::m0);
  sources[swapped ? 124 : 125] = make(OperandKind::null);  // of gfx9 LLVM has it, too
  for (unsigned i = 0; i <= 64; ++i) sources[128 + i] = make(OperandKind::integer, i);
  for (unsigned i = 1; i <= 16; ++i) sources[192 + i] = make(OperandKind::integer, 0u - i);
  for (unsigned i = 0; i < 9; ++i) sources[240 + i] = make(OperandKind::real, kReals[i]);
  for (const Named& named : kNamed) sources[named.bits] = make(named.kind, named.value);
  for (unsigned i = 0; i < 256; ++i) sources[256 + i] = make(OperandKind::vgpr, i);
  return sources;
}

constexpr Sources kSources[] = {make_sources(Generation::gfx9), make_sources(Generation::gfx10),
                                make_sources(Generation::gfx11), make_sources(Generation::gfx12)};

}  // namespace

const Operand& source(Generation generation, unsigned bits) {
  return kSources[static_cast<std::size_t>(generation)][bits];
}

}  // namespace wavegate::amdgpu::isa
