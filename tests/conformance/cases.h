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

inline bool has_required(const FilterSpec& filter) {
  for (const ParamDef& param : filter.params)
    if (param.required) return true;
  return false;
}

inline std::vector<FilterCase> filter_cases() {
  std::vector<FilterCase> cases;
  for (const FilterSpec& filter : all_filters()) {
    if (!has_required(filter) && filter.inputs == 1) cases.push_back({&filter, "- " + filter.name});
    for (const std::string& example : filter.examples) cases.push_back({&filter, "- " + filter.name + ": " + example});
  }
  return cases;
}

/// Whether the filter reads neighbours: its border matters.
inline bool has_border(const FilterSpec& filter) {
  return filter.kind == Kind::neighbourhood || filter.kind == Kind::composite;
}

}  // namespace imgpipe::test
