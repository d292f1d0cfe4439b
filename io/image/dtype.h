// The eight sample types of an image, their names and their nominal ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace imgpipe {

enum class DType : std::uint8_t { u8, i8, u16, i16, u32, i32, f32, f64 };

inline constexpr DType all_dtypes[] = {DType::u8,  DType::i8,  DType::u16, DType::i16,
                                       DType::u32, DType::i32, DType::f32, DType::f64};

/// "uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64".
std::string_view name(DType type);
std::optional<DType> dtype_from_name(std::string_view text);

std::size_t size_of(DType type);
inline bool is_float(DType type) { return type == DType::f32 || type == DType::f64; }

/// The nominal range: the type's own range for integers, [0, 1] for floats.
struct NominalRange {
  double black = 0;
  double white = 1;
};
NominalRange nominal_range(DType type);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return DType::u16;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else {
    static_assert(std::is_same_v<T, double>);
    return DType::f64;
  }
}

/// Calls `f(T{})` with the C++ type of `type`.
template <class F>
decltype(auto) visit_dtype(DType type, F&& f) {
  switch (type) {
    case DType::u8:
      return f(std::uint8_t{});
    case DType::i8:
      return f(std::int8_t{});
    case DType::u16:
      return f(std::uint16_t{});
    case DType::i16:
      return f(std::int16_t{});
    case DType::u32:
      return f(std::uint32_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::f32:
      return f(float{});
    case DType::f64:
      break;
  }
  return f(double{});
}

}  // namespace imgpipe
