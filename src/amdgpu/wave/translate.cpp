#include <algorithm>
#include <iterator>

#include "wavegate/amdgpu/wave/program.h"

/// From an instruction to a step: which handler, which registers, which parts of them.
namespace wavegate::amdgpu::wave {

namespace {

using enum isa::Opcode;
using isa::OperandKind;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// ---------------------------------------------------------------- operands

Source scalar_source(std::uint16_t index, std::uint8_t words) {
  Source source;
  source.mode = SourceMode::scalar;
  source.index = index;
  source.words = words;
  return source;
}
Source constant_source(u64 value, std::uint8_t words) {
  Source source;
  source.mode = SourceMode::constant;
  source.value = value;
  source.words = words;
  return source;
}
Source special_source(SourceMode mode) {
  Source source;
  source.mode = mode;
  source.words = 1;
  return source;
}

/// Where registers of a kind begin in Wave::scalars; nothing for what are no scalar registers.
std::optional<std::uint16_t> scalar_index(const isa::Operand& operand) {
  const auto at = [&](u32 first) { return static_cast<std::uint16_t>(first + operand.value); };
  switch (operand.kind) {
    case OperandKind::sgpr: return operand.value < scalar::kVcc ? std::optional(at(0)) : std::nullopt;
    case OperandKind::ttmp: return operand.value < 16 ? std::optional(at(scalar::kTtmp)) : std::nullopt;
    case OperandKind::vcc: return at(scalar::kVcc);
    case OperandKind::exec: return at(scalar::kExec);
    case OperandKind::m0: return scalar::kM0;
    case OperandKind::flat_scratch: return at(scalar::kFlatScratch);
    case OperandKind::xnack_mask: return at(scalar::kXnackMask);
    default: return std::nullopt;
  }
}
std::optional<std::uint16_t> row_index(const isa::Operand& operand) {
  if (operand.kind == OperandKind::vgpr && operand.value < 256) return static_cast<std::uint16_t>(operand.value);
  if (operand.kind == OperandKind::agpr && operand.value < 256)
    return static_cast<std::uint16_t>(vector::kAccumulation + operand.value);
  return std::nullopt;
}

/// Nothing for kinds that are not implemented.
std::optional<Source> source_of(const isa::Operand& operand) {
  std::optional<Source> source;
  const std::uint8_t words = std::max<std::uint8_t>(operand.words, 1);
  if (const auto index = scalar_index(operand)) {
    source = scalar_source(*index, words);
  } else if (const auto row = row_index(operand)) {
    source.emplace();
    source->mode = SourceMode::row;
    source->index = *row;
    source->words = words;
  } else if (operand.is_constant()) {
    const u64 bits = isa::constant_bits(operand);
    source = constant_source(words >= 2 ? bits : static_cast<u32>(bits), words);
  } else {
    switch (operand.kind) {
      case OperandKind::none:
      case OperandKind::off: source.emplace(); break;
      case OperandKind::label: source = constant_source(operand.value, 1); break;
      case OperandKind::null: source = scalar_source(scalar::kZero, words); break;
      case OperandKind::scc: source = special_source(SourceMode::scc); break;
      case OperandKind::vccz: source = special_source(SourceMode::vccz); break;
      case OperandKind::execz: source = special_source(SourceMode::execz); break;
      // As 64 bits an aperture is an address; its 32 bits are the upper half of it.
      case OperandKind::shared_base:
        source = constant_source(words >= 2 ? u64{kSharedAperture} << 32 : kSharedAperture, words);
        break;
      case OperandKind::private_base:
        source = constant_source(words >= 2 ? u64{kPrivateAperture} << 32 : kPrivateAperture, words);
        break;
      case OperandKind::shared_limit:
        source = constant_source(words >= 2 ? u64{kSharedAperture} << 32 | 0xffffffffu : kSharedAperture, words);
        break;
      case OperandKind::private_limit:
        source = constant_source(words >= 2 ? u64{kPrivateAperture} << 32 | 0xffffffffu : kPrivateAperture, words);
        break;
      default: return std::nullopt;
    }
  }
  source->negate = operand.has(isa::OperandFlags::negate);
  source->absolute = operand.has(isa::OperandFlags::absolute);
  source->sign_extend = operand.has(isa::OperandFlags::sign_extend);
  if (operand.has(isa::OperandFlags::high_half)) source->first_bit = source->bits = 16;
  return source;
}

std::optional<Destination> destination_of(const isa::Operand& operand) {
  const std::uint8_t words = std::max<std::uint8_t>(operand.words, 1);
  if (const auto index = scalar_index(operand)) return Destination{SourceMode::scalar, words, *index};
  if (const auto row = row_index(operand)) return Destination{SourceMode::row, words, *row};
  if (operand.kind == OperandKind::null) return Destination{SourceMode::scalar, words, scalar::kSink};
  if (operand.kind == OperandKind::none || operand.kind == OperandKind::off) return Destination{};
  return std::nullopt;
}

/// Fills in sources and destinations; false if there is one that is not implemented.
bool resolve(Step& step) {
  const isa::Instruction& instruction = step.instruction;
  unsigned count = 0;
  for (const isa::Operand& operand : instruction.sources()) {
    if (count >= step.sources.size()) return false;
    const auto source = source_of(operand);
    if (!source) return false;
    step.sources[count] = *source;
    // The field of 16 bits is shown as it is, and is signed where the operation is.
    const bool is_field = instruction.encoding == isa::Encoding::sopk && operand.kind == OperandKind::immediate;
    if (is_field && isa::to_string(instruction.opcode).ends_with("_i32"))
      step.sources[count].value = static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int16_t>(operand.value)));
    ++count;
  }
  for (unsigned i = 0; i < instruction.destination_count && i < 2; ++i) {
    const auto destination = destination_of(instruction.operands[i]);
    if (!destination) return false;
    (i == 0 ? step.destination : step.mask_destination) = *destination;
  }
  // What a buffer atomic returns comes where its data was.
  const isa::OpcodeInfo& info = isa::info(instruction.opcode);
  const bool buffer_atomic = info.has(isa::OpcodeFlags::atomic) && instruction.encoding == isa::Encoding::mubuf;
  if ((info.has(isa::OpcodeFlags::reads_destination) || buffer_atomic) && instruction.destination_count != 0 &&
      count < step.sources.size()) {
    const auto source = source_of(instruction.operands[0]);
    if (!source) return false;
    step.sources[count] = *source;
    step.sources[count].negate = step.sources[count].absolute = false;
    ++count;
  }
  step.source_count = static_cast<std::uint8_t>(std::min(count, 4u));
  return true;
}

// ---------------------------------------------------------------- vector operations

bool is_short(Storage storage) {
  return storage == Storage::half || storage == Storage::u16 || storage == Storage::i16;
}

/// f32 where the operation is on the 32 bits of packed floats.
isa::Opcode operation_opcode(isa::Opcode opcode) {
  switch (opcode) {
    case v_pk_add_f32: return v_add_f32;
    case v_pk_mul_f32: return v_mul_f32;
    case v_pk_fma_f32: return v_fma_f32;
    default: return opcode;
  }
}

bool is_mix(isa::Opcode opcode) {
  return opcode == v_fma_mix_f32 || opcode == v_fma_mixlo_f16 || opcode == v_fma_mixhi_f16 || opcode == v_mad_mix_f32 ||
         opcode == v_mad_mixlo_f16 || opcode == v_mad_mixhi_f16;
}

/// Of gfx9 too: operations that leave the other half of a register alone. Others write zeros there before gfx10.
bool keeps_other_half(isa::Opcode opcode) {
  constexpr isa::Opcode kKeeping[] = {v_mac_f16,       v_fmac_f16,   v_madak_f16,      v_madmk_f16,     v_fmaak_f16,
                                      v_fmamk_f16,     v_mad_f16,    v_fma_f16,        v_mad_u16,       v_mad_i16,
                                      v_div_fixup_f16, v_min3_f16,   v_max3_f16,       v_med3_f16,      v_min3_i16,
                                      v_max3_i16,      v_med3_i16,   v_min3_u16,       v_max3_u16,      v_med3_u16,
                                      v_add_nc_i16,    v_sub_nc_i16, v_cvt_pk_fp8_f32, v_cvt_pk_bf8_f32};
  return std::ranges::find(kKeeping, opcode) != std::end(kKeeping);
}

void select_part(Source& source, isa::SdwaSelect select) {
  if (select == isa::SdwaSelect::dword) return;
  const auto index = static_cast<unsigned>(select);
  const bool byte = select <= isa::SdwaSelect::byte_3;
  source.first_bit = static_cast<std::uint8_t>(byte ? index * 8 : (index - 4) * 16);
  source.bits = byte ? 8 : 16;
}

void place_result(Step& step) {
  const isa::Instruction& instruction = step.instruction;
  const bool high_operand =
      instruction.destination_count != 0 && instruction.operands[0].has(isa::OperandFlags::high_half);
  if (instruction.sdwa && step.result != Storage::flag && instruction.sdwa_destination != isa::SdwaSelect::dword) {
    Source part;
    select_part(part, instruction.sdwa_destination);
    step.result_shift = part.first_bit;
    step.result_width = part.bits;
    step.result_bits = ((part.bits == 8 ? 0xffu : 0xffffu)) << part.first_bit;
    if (instruction.sdwa_unused == isa::SdwaUnused::pad) step.result_bits = ~0u;
    if (instruction.sdwa_unused == isa::SdwaUnused::sign_extend) step.result_bits = ~0u, step.result_sign_extend = true;
    return;
  }
  const bool mixed_low = instruction.opcode == v_fma_mixlo_f16 || instruction.opcode == v_mad_mixlo_f16;
  const bool mixed_high = instruction.opcode == v_fma_mixhi_f16 || instruction.opcode == v_mad_mixhi_f16;
  step.mixed_half_result = mixed_low || mixed_high;
  if (!is_short(step.result) && !step.mixed_half_result) return;
  const bool high =
      mixed_high || high_operand ||
      (!step.mixed_half_result && instruction.encoding == isa::Encoding::vop3 && (instruction.op_sel >> 3 & 1) != 0);
  step.result_shift = high ? 16 : 0;
  const bool keeps = step.mixed_half_result || high ||
                     isa::info(instruction.target).generation >= isa::Generation::gfx10 ||
                     keeps_other_half(instruction.opcode);
  step.result_bits = high ? 0xffff0000u : keeps ? 0xffffu : ~0u;
}

/// A constant in all lanes, converted as vector.cpp would.
void spread_constant(Source& source, Values& values) {
  u64 value = source.value;
  u32 word = static_cast<u32>(value);
  if (source.bits < 32) {
    const u32 sign = source.sign_extend ? 1u << (source.bits - 1) : 0;
    word = ((word >> source.first_bit & ((1u << source.bits) - 1)) ^ sign) - sign;
  }
  const auto with_signs = [&](u32 sign) {
    return ((source.absolute ? word & ~sign : word) ^ (source.negate ? sign : 0));
  };
  switch (source.storage) {
    case Storage::word: fill(values.word, with_signs(0x80000000u), kRowLanes); break;
    case Storage::half: fill(values.word, bits(of_half(with_signs(0x8000u) & 0xffffu)), kRowLanes); break;
    case Storage::u16: fill(values.word, with_signs(0x8000u) & 0xffffu, kRowLanes); break;
    case Storage::i16:
      fill(values.word, static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int16_t>(with_signs(0x8000u)))),
           kRowLanes);
      break;
    case Storage::pair:
      if (source.absolute) value &= ~kSign<double>;
      if (source.negate) value ^= kSign<double>;
      fill(values.pairs(), value, kRowLanes);
      break;
    default: return;
  }
  source.values = &values;
}

bool is_byte_float_dot(isa::Opcode opcode) {
  return opcode == v_dot4_f32_fp8_fp8 || opcode == v_dot4_f32_fp8_bf8 || opcode == v_dot4_f32_bf8_fp8 ||
         opcode == v_dot4_f32_bf8_bf8;
}

/// Signs and op_sel of VOP3P to which an operation gives no meaning. (op_sel_hi is set where it means nothing, too.)
bool has_idle_bits(const isa::Instruction& instruction, const Operation& operation, std::size_t sources) {
  if (instruction.encoding != isa::Encoding::vop3p) return false;
  const std::string_view name = isa::to_string(instruction.opcode);
  const bool is_float = operation.float_class != FloatClass::none;
  const unsigned all = (1u << sources) - 1;
  unsigned low = 0, high = 0, select = 0;
  if (is_mix(instruction.opcode)) {
    low = high = select = 7;
  } else if (name.starts_with("v_pk_")) {
    low = high = is_float ? all : 0;
    select = all;
  } else if (name.starts_with("v_dot2_")) {
    low = is_float ? 7 : 0;
    high = is_float ? 3 : 0;
    select = 3;
  } else if (is_byte_float_dot(instruction.opcode)) {
    low = high = 4;
  } else {  // v_dot4_i32_iu8, v_dot8_i32_iu4: which sources are signed
    low = find_mixed_dot(instruction.opcode, 0, false) != nullptr ? 3 : 0;
  }
  return (instruction.neg_lo & ~low) != 0 || (instruction.neg_hi & ~high) != 0 || (instruction.op_sel & ~select) != 0;
}

void select_half(const isa::Instruction& instruction, Source& source, unsigned index) {
  if (instruction.encoding == isa::Encoding::vop3 && is_short(source.storage) && (instruction.op_sel >> index & 1) != 0)
    source.first_bit = source.bits = 16;
  if (is_byte_float_dot(instruction.opcode) && index == 2) {
    source.negate = (instruction.neg_lo & 4) != 0;
    source.absolute = (instruction.neg_hi & 4) != 0;
  }
  if (!is_mix(instruction.opcode)) return;
  const bool half = (instruction.op_sel_hi >> index & 1) != 0;
  source.storage = half ? Storage::half : Storage::word;
  if (half && (instruction.op_sel >> index & 1) != 0) source.first_bit = source.bits = 16;
  if ((instruction.neg_lo >> index & 1) != 0) source.negate = true;
  if ((instruction.neg_hi >> index & 1) != 0) source.absolute = true;
}

/// Operations that depend on more than the opcode.
const Operation* operation_of_form(const isa::Instruction& instruction) {
  if (instruction.target == isa::Target::gfx942)
    if (const Operation* const operation = find_fnuz_operation(instruction.opcode)) return operation;
  if (instruction.target == isa::Target::gfx90a)
    if (const Operation* const operation = find_normal_dot(instruction.opcode)) return operation;
  if (isa::info(instruction.target).generation == isa::Generation::gfx9)
    if (const Operation* const operation = find_bounded_sine(instruction.opcode)) return operation;
  return find_mixed_dot(instruction.opcode, instruction.neg_lo, instruction.clamp != 0);
}

/// Signs of sources that are two halves, in VOP3: what they mean is not told.
bool has_signs_of_halves(const isa::Instruction& instruction) {
  if (instruction.opcode != v_dot2_f16_f16 && instruction.opcode != v_dot2_bf16_bf16) return false;
  return std::ranges::any_of(instruction.sources().first(2), [](const isa::Operand& source) {
    return source.has(isa::OperandFlags::negate) || source.has(isa::OperandFlags::absolute);
  });
}

/// Conversions of 8-bit floats pick bytes or halves of what is not theirs by op_sel.
void select_small_float(Step& step) {
  const isa::Instruction& instruction = step.instruction;
  const unsigned select = instruction.encoding == isa::Encoding::vop3 ? instruction.op_sel : 0;
  switch (instruction.opcode) {
    case v_cvt_f32_fp8:
    case v_cvt_f32_bf8:
      if (instruction.sdwa) return;
      step.sources[0].bits = 8;
      step.sources[0].first_bit = static_cast<std::uint8_t>((select & 1) * 16 + (select >> 1 & 1) * 8);
      return;
    case v_cvt_sr_fp8_f32:
    case v_cvt_sr_bf8_f32:
      step.result_shift = static_cast<std::uint8_t>((select >> 2 & 3) * 8);
      step.result_bits = 0xffu << step.result_shift;
      return;
    default: return;
  }
}

bool translate_vector(Step& step, const std::function<Values*()>& make_values) {
  const isa::Instruction& instruction = step.instruction;
  const Operation* operation = find_operation(operation_opcode(instruction.opcode));
  const Operation* const special = operation_of_form(instruction);
  if (special != nullptr) operation = special;
  if (operation == nullptr) return false;
  if (instruction.clamp != 0 && operation->float_class == FloatClass::none && special == nullptr) {
    operation = find_saturating_operation(instruction.opcode);
    if (operation == nullptr) return false;
  }
  step.kernel = operation->kernel;
  step.result = operation->result;
  step.float_class = operation->float_class;
  step.float_result = operation->float_result;
  const auto wanted = static_cast<unsigned>(
      std::ranges::count_if(operation->sources, [](Storage storage) { return storage != Storage::none; }));
  if (instruction.opcode == v_div_fmas_f32 || instruction.opcode == v_div_fmas_f64) {
    step.sources[3] = scalar_source(scalar::kVcc, 2);
    step.source_count = 4;
  }
  if (step.source_count < wanted || has_signs_of_halves(instruction)) return false;
  if (has_idle_bits(instruction, *operation, instruction.sources().size())) return false;
  step.source_count = static_cast<std::uint8_t>(wanted);
  if (step.result == Storage::flag) {
    step.mask_destination = step.destination;
    step.destination = {};
    step.writes_exec = isa::info(instruction.opcode).has(isa::OpcodeFlags::writes_exec);
  } else if (step.destination.mode != SourceMode::row) {
    return false;
  }
  const bool packed = isa::to_string(instruction.opcode).starts_with("v_pk_");
  for (unsigned i = 0; i < wanted; ++i) {
    Source& source = step.sources[i];
    source.storage = operation->sources[i];
    if (instruction.dpp != isa::DppKind::none && source.storage == Storage::pair) return false;
    if (instruction.sdwa && i < 2) select_part(source, i == 0 ? instruction.sdwa_source0 : instruction.sdwa_source1);
    if (packed && (instruction.dpp != isa::DppKind::none || instruction.sdwa)) return false;
    if (packed) continue;
    select_half(instruction, source, i);
    if (source.mode == SourceMode::constant)
      if (Values* const values = make_values()) spread_constant(source, *values);
  }
  place_result(step);
  select_small_float(step);
  step.run = vector_handler(step);
  return true;
}

}  // namespace

void translate(Step& step, const std::function<Values*()>& make_values) {
  step.run = run_unsupported;
  if (step.instruction.words == 0) return;
  const isa::Opcode opcode = step.instruction.opcode;
  if (const Handler handler = control_handler(step.instruction); handler != nullptr) {
    if (resolve(step)) step.run = handler;
    return;
  }
  if (!resolve(step)) return;
  // Rows of other lanes are read as they are.
  if (cross_lane_handler(opcode) != nullptr && (step.instruction.dpp != isa::DppKind::none || step.instruction.sdwa))
    return;
  for (const Handler handler :
       {scalar_handler(opcode), cross_lane_handler(opcode), scalar_memory_handler(opcode), matrix_handler(step)})
    if (handler != nullptr) {
      step.run = handler;
      return;
    }
  if (const auto action = memory_action(step.instruction)) {
    step.memory = *action;
    // On its way to LDS what is loaded lies where nothing else does.
    if (action->to_lds) step.destination.index = vector::kHeldBack;
    step.run = memory_handler(*action);
    return;
  }
  static_cast<void>(translate_vector(step, make_values));
}

bool is_implemented(const isa::Instruction& instruction) {
  Step step;
  step.instruction = instruction;
  if (instruction.encoding == isa::Encoding::vopd) {
    for (const isa::Opcode opcode : {instruction.opcode, instruction.second_opcode})
      if (find_operation(opcode) == nullptr) return false;
    return true;
  }
  translate(step, [] { return nullptr; });
  return step.run != run_unsupported;
}

}  // namespace wavegate::amdgpu::wave
