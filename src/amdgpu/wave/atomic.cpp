#include "wavegate/amdgpu/wave/atomic.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "wavegate/amdgpu/wave/numeric.h"
#include "wavegate/amdgpu/wave/small_float.h"

namespace wavegate::amdgpu::wave {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

float single(u64 value) {
  return real(static_cast<u32>(value));
}
u64 packed_sum(u64 a, u64 b) {
  const auto sum = [&](unsigned shift) {
    return half_bits(of_half(static_cast<u32>(a >> shift) & 0xffffu) + of_half(static_cast<u32>(b >> shift) & 0xffffu),
                     Rounding::nearest_even);
  };
  return sum(0) | sum(16) << 16;
}

u64 packed_bf16_sum(u64 a, u64 b) {
  const auto sum = [&](unsigned shift) -> u64 {
    const auto part = [&](u64 of) { return of_bfloat(static_cast<u32>(of >> shift & 0xffffu)); };
    return bfloat_bits(part(a) + part(b)) & 0xffffu;
  };
  return sum(0) | sum(16) << 16;
}
/// Each word whose upper bit is set is written, without it.
u64 exchanged_words(u64 old, u64 data) {
  const auto word = [&](unsigned shift) -> u64 {
    const u32 wanted = static_cast<u32>(data >> shift);
    return (wanted >> 31) != 0 ? wanted & 0x7fffffffu : static_cast<u32>(old >> shift);
  };
  return word(0) | word(32) << 32;
}

/// The integers, of either width.
template <typename U, typename S>
u64 after(AtomicOperation operation, U old, U data, U second) {
  const auto as_signed = [](U value) { return static_cast<S>(value); };
  switch (operation) {
    case AtomicOperation::swap: return data;
    case AtomicOperation::compare_swap: return old == second ? data : old;
    case AtomicOperation::add: return static_cast<U>(old + data);
    case AtomicOperation::subtract: return static_cast<U>(old - data);
    case AtomicOperation::reverse_subtract: return static_cast<U>(data - old);
    case AtomicOperation::signed_minimum: return static_cast<U>(std::min(as_signed(old), as_signed(data)));
    case AtomicOperation::unsigned_minimum: return std::min(old, data);
    case AtomicOperation::signed_maximum: return static_cast<U>(std::max(as_signed(old), as_signed(data)));
    case AtomicOperation::unsigned_maximum: return std::max(old, data);
    case AtomicOperation::bit_and: return old & data;
    case AtomicOperation::bit_or: return old | data;
    case AtomicOperation::bit_xor: return old ^ data;
    case AtomicOperation::increment: return old >= data ? U{0} : static_cast<U>(old + 1);
    case AtomicOperation::decrement: return old == 0 || old > data ? data : static_cast<U>(old - 1);
    case AtomicOperation::subtract_clamped: return old < data ? U{0} : static_cast<U>(old - data);
    case AtomicOperation::conditional_subtract: return old >= data ? static_cast<U>(old - data) : old;
    case AtomicOperation::masked_or: return (old & ~data) | second;
    case AtomicOperation::wrap: return old >= data ? static_cast<U>(old - data) : static_cast<U>(old + second);
    default: return old;
  }
}

}  // namespace

u64 after_atomic(AtomicOperation operation, unsigned bytes, u64 old, u64 data, u64 second) {
  switch (operation) {
    case AtomicOperation::add_f32: return bits(single(old) + single(data));
    case AtomicOperation::minimum_f32: return bits(minimum_number(single(old), single(data), false));
    case AtomicOperation::maximum_f32: return bits(maximum_number(single(old), single(data), false));
    case AtomicOperation::add_f64: return bits(real(old) + real(data));
    case AtomicOperation::minimum_f64: return bits(minimum_number(real(old), real(data), false));
    case AtomicOperation::maximum_f64: return bits(maximum_number(real(old), real(data), false));
    case AtomicOperation::compare_swap_f32: return single(old) == single(second) ? data : old;
    case AtomicOperation::compare_swap_f64: return real(old) == real(second) ? data : old;
    case AtomicOperation::packed_add_f16: return packed_sum(old, data);
    case AtomicOperation::packed_add_bf16: return packed_bf16_sum(old, data);
    case AtomicOperation::exchange_marked_words: return exchanged_words(old, data);
    default: break;
  }
  if (bytes == 8) return after<u64, i64>(operation, old, data, second);
  return after<u32, i32>(operation, static_cast<u32>(old), static_cast<u32>(data), static_cast<u32>(second));
}

namespace {

template <typename T>
u64 apply_shared(AtomicOperation operation, std::byte* place, u64 data, u64 second) {
  std::atomic_ref<T> memory(*reinterpret_cast<T*>(place));
  T old = memory.load();
  while (!memory.compare_exchange_weak(old, static_cast<T>(after_atomic(operation, sizeof(T), old, data, second)))) {
  }
  return old;
}
template <typename T>
u64 apply_alone(AtomicOperation operation, std::byte* place, u64 data, u64 second) {
  T old;
  std::memcpy(&old, place, sizeof(T));
  const T now = static_cast<T>(after_atomic(operation, sizeof(T), old, data, second));
  std::memcpy(place, &now, sizeof(T));
  return old;
}

}  // namespace

u64 apply_atomic(AtomicOperation operation, unsigned bytes, std::byte* place, u64 data, u64 second, bool shared) {
  if (bytes == 8)
    return shared ? apply_shared<u64>(operation, place, data, second)
                  : apply_alone<u64>(operation, place, data, second);
  return shared ? apply_shared<u32>(operation, place, data, second) : apply_alone<u32>(operation, place, data, second);
}

}  // namespace wavegate::amdgpu::wave
