#include "io/image/dtype.h"

#include <limits>

namespace imgpipe {

std::string_view name(DType type) {
  constexpr std::string_view names[] = {"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"};
  return names[static_cast<std::size_t>(type)];
}

std::optional<DType> dtype_from_name(std::string_view text) {
  for (DType type : all_dtypes)
    if (name(type) == text) return type;
  return std::nullopt;
}

std::size_t size_of(DType type) {
  return visit_dtype(type, [](auto t) { return sizeof(t); });
}

NominalRange nominal_range(DType type) {
  return visit_dtype(type, [](auto t) -> NominalRange {
    using T = decltype(t);
    if constexpr (std::is_floating_point_v<T>)
      return {0, 1};
    else
      return {double(std::numeric_limits<T>::min()), double(std::numeric_limits<T>::max())};
  });
}

}  // namespace imgpipe
