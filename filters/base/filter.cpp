#include "filters/base/filter.h"

namespace imgpipe {

std::string_view name(Kind kind) {
  constexpr std::string_view names[] = {"per-pixel", "neighbourhood", "reduction", "geometry", "composite"};
  return names[static_cast<int>(kind)];
}

const FilterSpec* find_filter(std::string_view name) {
  for (const FilterSpec& filter : all_filters())
    if (filter.name == name) return &filter;
  return nullptr;
}

}  // namespace imgpipe
