// What the conformance tests run: every filter of the table, with its defaults and examples.
#pragma once

#include <string>
#include <vector>

#include "filters/base/filter.h"

namespace imgpipe::test {

/// One filter with one set of parameters, as a YAML step.
struct FilterCase {
  const FilterSpec* filter;
  std::string step;  ///< "- gaussian: {sigma: 1.5}"
};

/// Whether the filter runs without any parameter.
inline bool runs_with_defaults(const FilterSpec& filter) {
  for (const ParamDef& param : filter.params)
    if (param.required) return false;
  try {
    filter.validate(filter.new_params().get(), false);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

inline std::vector<FilterCase> filter_cases() {
  std::vector<FilterCase> cases;
  for (const FilterSpec& filter : all_filters()) {
    if (runs_with_defaults(filter)) cases.push_back({&filter, "- " + filter.name});
    for (const std::string& example : filter.examples) cases.push_back({&filter, "- " + filter.name + ": " + example});
  }
  return cases;
}

/// Whether the filter reads neighbours: its border matters.
inline bool has_border(const FilterSpec& filter) {
  return filter.kind == Kind::neighbourhood || filter.kind == Kind::composite;
}

}  // namespace imgpipe::test
