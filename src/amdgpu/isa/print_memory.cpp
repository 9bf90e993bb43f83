#include <span>

#include "wavegate/amdgpu/isa/buffer_formats.h"
#include "wavegate/amdgpu/isa/printer.h"
#include "wavegate/amdgpu/isa/tables.h"

namespace wavegate::amdgpu::isa {

namespace {

Generation generation(const Printer& printer) {
  return info(printer.in.target).generation;
}

void print_temporal_hint(Printer& printer, unsigned hint) {
  const OpcodeInfo& opcode = info(printer.in.opcode);
  const unsigned scope = printer.in.cache_policy & 3;
  if (hint == 0) return;
  if (hint == 7 && !opcode.has(OpcodeFlags::atomic) && !opcode.has(OpcodeFlags::store)) {
    printer.put(" th:");
    return printer.put_hexadecimal(hint);
  }
  printer.put(" th:TH_");
  if (opcode.has(OpcodeFlags::atomic)) {
    printer.put("ATOMIC_");
    if ((hint & 4) != 0) {
      if (scope >= 2) {
        printer.put((hint & 2) != 0 ? "CASCADE_NT" : "CASCADE_RT");
        return;
      }
      return printer.put_hexadecimal(hint);
    }
    if (hint == 3) return printer.put("NT_RETURN");
    return printer.put(hint == 1 ? "RETURN" : "NT");
  }
  const bool store = opcode.has(OpcodeFlags::store);
  printer.put(store ? "STORE_" : "LOAD_");
  constexpr std::string_view kNames[] = {"RT", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT", "RESERVED"};
  if (hint == 3) return printer.put(scope == 3 ? "BYPASS" : store ? "RT_WB" : "LU");
  if (hint == 7) return printer.put("NT_WB");
  printer.put(kNames[hint]);
}

void print_policy(Printer& printer) {
  const Instruction& in = printer.in;
  if (generation(printer) == Generation::gfx12) {
    constexpr std::string_view kScopes[] = {"", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"};
    print_temporal_hint(printer, in.cache_policy >> 2 & 7);
    printer.put(kScopes[in.cache_policy & 3]);
    return;
  }
  const bool renamed = in.target == Target::gfx942 && in.encoding != Encoding::smem;
  printer.put_flag(MemoryFlags::glc, renamed ? "sc0" : "glc");
  printer.put_flag(MemoryFlags::slc, renamed ? "nt" : "slc");
  printer.put_flag(MemoryFlags::dlc, "dlc");
  printer.put_flag(MemoryFlags::scc, renamed ? "sc1" : "scc");
}

void print_smem(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.has(MemoryFlags::has_immediate_offset) &&
      (in.offset != 0 || generation(printer) == Generation::gfx9 || generation(printer) == Generation::gfx12)) {
    printer.put(" offset:");
    if (in.offset < 0) {
      printer.put("-");
      printer.put_hexadecimal(static_cast<std::uint32_t>(-in.offset));
    } else {
      printer.put_hexadecimal(static_cast<std::uint32_t>(in.offset));
    }
  }
  print_policy(printer);
}

/// What ds_swizzle does, by the bits of its offset.
void print_swizzle(Printer& printer, unsigned offset) {
  if (offset == 0) return;
  printer.put(" offset:");
  const auto two = [&](std::string_view name, unsigned first, unsigned second) {
    printer.put("swizzle(");
    printer.put(name);
    printer.put(",");
    printer.put_number(first);
    printer.put(",");
    printer.put_number(second);
    printer.put(")");
  };
  if ((offset & 0xff00) == 0x8000) {
    printer.put("swizzle(QUAD_PERM");
    for (unsigned i = 0; i < 4; ++i) {
      printer.put(",");
      printer.put_number(offset >> 2 * i & 3);
    }
    return printer.put(")");
  }
  if ((offset & 0x8000) != 0) return printer.put_number(offset);
  const unsigned and_mask = offset & 0x1f;
  const unsigned or_mask = offset >> 5 & 0x1f;
  const unsigned xor_mask = offset >> 10 & 0x1f;
  const unsigned bits = static_cast<unsigned>(__builtin_popcount(xor_mask));
  if (and_mask == 0x1f && or_mask == 0 && bits == 1) return two("SWAP", xor_mask, 0), void();
  if (and_mask == 0x1f && or_mask == 0 && xor_mask > 0 && (xor_mask & (xor_mask + 1)) == 0)
    return two("REVERSE", xor_mask + 1, 0), void();
  const unsigned group = 32 - and_mask;
  if (group > 1 && (group & (group - 1)) == 0 && or_mask < group && xor_mask == 0)
    return two("BROADCAST", group, or_mask);
  printer.put("swizzle(BITMASK_PERM,\"");
  for (unsigned i = 5; i-- > 0;) {
    // What the two possible inputs become.
    const unsigned zero = (or_mask >> i & 1) ^ (xor_mask >> i & 1);
    const unsigned one = ((and_mask >> i & 1) | (or_mask >> i & 1)) ^ (xor_mask >> i & 1);
    printer.put(zero == one ? (zero == 0 ? "0" : "1") : zero == 0 ? "p" : "i");
  }
  printer.put("\")");
}

void print_ds(Printer& printer) {
  const Instruction& in = printer.in;
  const std::string_view name = to_string(in.opcode);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (in.opcode == Opcode::ds_swizzle_b32) {
    print_swizzle(printer, static_cast<unsigned>(in.offset));
  } else if (has("read2") || has("write2") || has("wrxchg2")) {
    if (in.offset != 0) printer.put_modifier("offset0", in.offset);
    if (in.offset1 != 0) printer.put_modifier("offset1", in.offset1);
  } else if (in.offset != 0) {
    printer.put_modifier("offset", in.offset);
  }
  printer.put_flag(MemoryFlags::gds, "gds");
}

void print_buffer_format(Printer& printer);

void print_buffer(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.encoding == Encoding::mtbuf) print_buffer_format(printer);
  printer.put_flag(MemoryFlags::idxen, "idxen");
  printer.put_flag(MemoryFlags::offen, "offen");
  if (in.offset != 0) printer.put_modifier("offset", in.offset);
  print_policy(printer);
  printer.put_flag(MemoryFlags::tfe, "tfe");
  printer.put_flag(MemoryFlags::lds, "lds");
}

void print_flat(Printer& printer) {
  const Instruction& in = printer.in;
  if (in.offset != 0) printer.put_modifier("offset", in.offset);
  print_policy(printer);
  printer.put_flag(MemoryFlags::lds, "lds");
}

void print_old_buffer_format(Printer& printer, unsigned format) {
  const unsigned data = format & 15;
  const unsigned number = format >> 4;
  if (data != 1) {
    printer.put("BUF_DATA_FORMAT_");
    printer.put(kDataFormats[data]);
    if (number != 0) printer.put(",");
  }
  if (number != 0) {
    printer.put("BUF_NUM_FORMAT_");
    printer.put(kNumberFormats[number]);
  }
}

void print_buffer_format(Printer& printer) {
  const unsigned format = printer.in.format;
  if (format == 1) return;
  printer.put(" format:");
  const std::span<const std::string_view> names = generation(printer) == Generation::gfx10
                                                      ? std::span<const std::string_view>(kBufferFormatsGfx10)
                                                      : kBufferFormatsGfx11;
  const bool old = generation(printer) == Generation::gfx9;
  if (!old && format >= names.size()) return printer.put_number(format);
  printer.put("[");
  if (old) {
    print_old_buffer_format(printer, format);
  } else {
    printer.put("BUF_FMT_");
    printer.put(names[format]);
  }
  printer.put("]");
}

void print_image(Printer& printer) {
  constexpr std::string_view kDimensions[] = {"1D",       "2D",       "3D",      "CUBE",
                                              "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
  if (printer.in.dmask != 0) {
    printer.put(" dmask:");
    printer.put_hexadecimal(printer.in.dmask);
  }
  printer.put(" dim:SQ_RSRC_IMG_");
  printer.put(kDimensions[printer.in.dim & 7]);
  printer.put_flag(MemoryFlags::unorm, "unorm");
  print_policy(printer);
  printer.put_flag(MemoryFlags::r128, "r128");
  printer.put_flag(MemoryFlags::a16, "a16");
  printer.put_flag(MemoryFlags::tfe, "tfe");
  printer.put_flag(MemoryFlags::lwe, "lwe");
  printer.put_flag(MemoryFlags::d16, "d16");
}

}  // namespace

void print_memory_modifiers(Printer& printer) {
  switch (printer.in.encoding) {
    case Encoding::smem: return print_smem(printer);
    case Encoding::ds: return print_ds(printer);
    case Encoding::mubuf:
    case Encoding::mtbuf: return print_buffer(printer);
    case Encoding::mimg: return print_image(printer);
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch: return print_flat(printer);
    default: return;
  }
}

}  // namespace wavegate::amdgpu::isa
