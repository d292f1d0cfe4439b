// Curves on logarithmic axes, as an SVG image that stands alone.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace imgpipe::bench {

struct Curve {
  std::string name;
  std::string colour;  ///< as CSS has it: "#1f6fb2"
  bool dashed = false;
  std::vector<std::pair<double, double>> points;  ///< positive
};

/// One pair of axes. Panels stand below each other.
struct Panel {
  std::string title;
  std::vector<Curve> curves;
  std::vector<std::pair<double, std::string>> marks;  ///< upright lines at x, with what they say
};

struct Plot {
  std::string title, subtitle, x_label, y_label;
  std::vector<double> ticks;  ///< along x
  std::vector<Panel> panels;
};

/// Texts may hold anything: they are escaped, and what XML cannot hold becomes '?'.
std::string svg(const Plot& plot);

}  // namespace imgpipe::bench
