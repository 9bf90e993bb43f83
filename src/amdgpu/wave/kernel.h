#pragma once

#include <bit>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "wavegate/amdgpu/wave/operation.h"

/// Makes a loop over lanes and its row of the table from a function of one lane. Included by the tables alone.
namespace wavegate::amdgpu::wave {

template <typename T>
struct LaneType;
template <>
struct LaneType<float> {
  static constexpr Storage storage = Storage::word;
  static constexpr FloatClass float_class = FloatClass::single;
};
template <>
struct LaneType<double> {
  static constexpr Storage storage = Storage::pair;
  static constexpr FloatClass float_class = FloatClass::wide;
};
template <>
struct LaneType<F16> {
  static constexpr Storage storage = Storage::half;
  static constexpr FloatClass float_class = FloatClass::wide;
};
#define WAVEGATE_LANE_TYPE(type, kind)                          \
  template <>                                                   \
  struct LaneType<type> {                                       \
    static constexpr Storage storage = Storage::kind;           \
    static constexpr FloatClass float_class = FloatClass::none; \
  }
WAVEGATE_LANE_TYPE(std::uint32_t, word);
WAVEGATE_LANE_TYPE(std::int32_t, word);
WAVEGATE_LANE_TYPE(std::uint64_t, pair);
WAVEGATE_LANE_TYPE(std::int64_t, pair);
WAVEGATE_LANE_TYPE(U16, u16);
WAVEGATE_LANE_TYPE(I16, i16);
WAVEGATE_LANE_TYPE(Flag, flag);
#undef WAVEGATE_LANE_TYPE

template <typename T>
struct ResultType {
  using Value = T;
  static constexpr bool with_flag = false;
};
template <typename T>
struct ResultType<WithFlag<T>> {
  using Value = T;
  static constexpr bool with_flag = true;
};
/// A compare's result is a mask.
template <>
struct ResultType<bool> {
  using Value = Flag;
  static constexpr bool with_flag = false;
};

template <typename Function>
struct Signature : Signature<decltype(&Function::operator())> {};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(P...) const> {
  using Result = R;
  using Parameters = std::tuple<P...>;
};
template <typename C, typename R, typename... P>
struct Signature<R (C::*)(Ieee, P...) const> {
  using Result = R;
  using Parameters = std::tuple<P...>;
};

template <typename Function, typename... P>
[[gnu::always_inline]] constexpr auto apply(const Function& function, bool ieee, P... values) {
  if constexpr (std::is_invocable_v<Function, Ieee, P...>) {
    return function(Ieee{ieee}, values...);
  } else {
    return function(values...);
  }
}

#if defined(__clang__)
#define WAVEGATE_INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define WAVEGATE_INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

/// The loop. Lanes are independent, and an operand may be the result's own rows: all that an iteration reads of them is
/// of its own lane.
template <auto function, typename R, typename... P>
[[gnu::always_inline]] inline void run_block(R* result, std::uint32_t* flags, bool ieee, const P*... sources) {
  WAVEGATE_INDEPENDENT_LANES
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto value = apply(function, ieee, sources[lane]...);
    using Value = std::remove_const_t<decltype(value)>;
    if constexpr (ResultType<Value>::with_flag) {
      result[lane] = value.value;
      flags[lane] = value.flag ? ~0u : 0u;
    } else if constexpr (std::is_same_v<Value, bool>) {
      result[lane].value = value ? ~0u : 0u;
    } else if constexpr (std::is_class_v<Value>) {
      result[lane].value = value.value;
    } else {
      result[lane] = value;
    }
  }
}

template <auto function, std::size_t... I>
void run_lanes(const Call& call, std::index_sequence<I...>) {
  using Types = Signature<decltype(function)>;
  using Kind = ResultType<typename Types::Result>;
  const auto sources =
      std::make_tuple(static_cast<const std::tuple_element_t<I, typename Types::Parameters>*>(call.sources[I])...);
  auto* const result = static_cast<typename Kind::Value*>(call.result);
  std::uint32_t* const flags = call.flags;
  const bool ieee = call.ieee;
  // A constant count of lanes is what the compiler makes vector code of.
  for (unsigned first = 0; first < call.lanes; first += 32)
    run_block<function>(result + first, Kind::with_flag ? flags + first : nullptr, ieee,
                        (std::get<I>(sources) + first)...);
}

template <auto function>
void kernel(const Call& call) {
  run_lanes<function>(
      call, std::make_index_sequence<std::tuple_size_v<typename Signature<decltype(function)>::Parameters>>{});
}

template <typename... P>
constexpr std::array<Storage, 4> storages(std::tuple<P...>*) {
  return {LaneType<P>::storage...};
}
template <typename... P>
constexpr FloatClass parameter_class(std::tuple<P...>*) {
  FloatClass all = FloatClass::none;
  for (const FloatClass one : {FloatClass::none, LaneType<P>::float_class...})
    if (one != FloatClass::none) all = one;
  return all;
}

/// The row of an opcode: `operation<[](float a, float b) { return a + b; }>(Opcode::v_add_f32)`. Rounding and denormals
/// are as the result's format has it, and of results that are no floats, the sources'.
template <auto function>
constexpr Operation operation(isa::Opcode opcode, Exactness exactness = Exactness::exact) {
  using Types = Signature<decltype(function)>;
  using Kind = ResultType<typename Types::Result>;
  auto* const parameters = static_cast<typename Types::Parameters*>(nullptr);
  const FloatClass of_result = LaneType<typename Kind::Value>::float_class;
  return {opcode,
          kernel<function>,
          LaneType<typename Kind::Value>::storage,
          Kind::with_flag,
          storages(parameters),
          of_result != FloatClass::none ? of_result : parameter_class(parameters),
          of_result != FloatClass::none,
          exactness};
}

/// The same without denormals in f32, whatever MODE says.
constexpr Operation flushing(Operation operation) {
  operation.float_class = FloatClass::flushing;
  return operation;
}

}  // namespace wavegate::amdgpu::wave
