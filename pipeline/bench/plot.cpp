#include "pipeline/bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace imgpipe::bench {
namespace {

constexpr double page_width = 760, left = 78, right = 24, head = 96, panel_height = 330, panel_top = 34,
                 panel_bottom = 62;
constexpr double plot_width = page_width - left - right, plot_height = panel_height - panel_top - panel_bottom;

/// Length of the UTF-8 sequence that begins at `i`, 0 where there is none that XML can hold.
std::size_t sequence_length(const std::string& text, std::size_t i) {
  const auto first = static_cast<unsigned char>(text[i]);
  if (first < 0x80) return first >= 32 && first != 127 ? 1 : 0;
  const std::size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first >= 0xf5 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return 0;
  const auto second = static_cast<unsigned char>(text[i + 1]);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90) ||
                      text.compare(i, 3, "\xef\xbf\xbe") == 0 || text.compare(i, 3, "\xef\xbf\xbf") == 0;
  return overlong || beyond ? 0 : length;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    const std::string piece = length ? text.substr(i, length) : "?";
    out += piece == "&" ? "&amp;" : piece == "<" ? "&lt;" : piece == ">" ? "&gt;" : piece == "\"" ? "&quot;" : piece;
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string label(double x, double y, const std::string& attributes, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(words));
}

std::string stroke(double x1, double y1, double x2, double y2, const char* attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

/// Pixels of a value between two bounds, by its logarithm.
struct Scale {
  double low, high, from, to;
  double operator()(double v) const { return from + (to - from) * std::log(v / low) / std::log(high / low); }
};

Scale x_scale(const Plot& plot) {
  return {plot.ticks.front() / 1.15, plot.ticks.back() * 1.15, left, left + plot_width};
}

/// Whole decades around all points.
Scale y_scale(const Panel& panel, double top) {
  double low = 1e300, high = 1e-300;
  for (const Curve& curve : panel.curves)
    for (const auto& [x, y] : curve.points) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  if (low > high) low = high = 1;
  const double first = std::floor(std::log10(low)), last = std::max(std::ceil(std::log10(high)), first + 1);
  return {std::pow(10, first), std::pow(10, last), top + plot_height, top};
}

std::string grid(const Plot& plot, const Scale& x, const Scale& y) {
  std::string out;
  const double bottom = y.from, top = y.to;
  for (double tick : plot.ticks) {
    out += stroke(x(tick), top, x(tick), bottom, "class=\"grid\"");
    out += label(x(tick), bottom + 16, "text-anchor=\"middle\"", fmt::format("{:g}", tick));
  }
  for (double tick = y.low; tick < y.high * 1.5; tick *= 10) {
    out += stroke(left, y(tick), left + plot_width, y(tick), "class=\"grid\"");
    out += label(left - 8, y(tick) + 4, "text-anchor=\"end\"", fmt::format("{:g}", tick));
  }
  return out;
}

std::string curve_shape(const Curve& curve, const Scale& x, const Scale& y) {
  std::string path, dots;
  for (const auto& [px, py] : curve.points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x(px), y(py));
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x(px), y(py), curve.colour);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n{}", path,
                     curve.colour, curve.dashed ? " stroke-dasharray=\"6 4\"" : "", dots);
}

std::string panel_shape(const Plot& plot, const Panel& panel, double above) {
  const double top = above + panel_top;
  const Scale x = x_scale(plot), y = y_scale(panel, top);
  std::string out = label(left, above + 20, "class=\"panel\"", panel.title) + grid(plot, x, y);
  double row = top + 14;
  for (const auto& [at, words] : panel.marks) {
    out += stroke(x(at), top, x(at), top + plot_height, "class=\"mark\"");
    const bool on_left = x(at) > left + plot_width / 2;
    out += label(x(at) + (on_left ? -5 : 5), row, on_left ? "text-anchor=\"end\"" : "text-anchor=\"start\"", words);
    row += 15;
  }
  for (const Curve& curve : panel.curves) out += curve_shape(curve, x, y);
  out += label(left + plot_width / 2, top + plot_height + 36, "text-anchor=\"middle\"", plot.x_label);
  const double middle = top + plot_height / 2;
  out += label(20, middle, fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 20 {:.1f})\"", middle),
               plot.y_label);
  return out;
}

/// The names of all panels' curves, each once.
std::string legend(const Plot& plot) {
  std::string out;
  std::vector<std::string> known;
  double x = left;
  for (const Panel& panel : plot.panels)
    for (const Curve& curve : panel.curves) {
      if (std::find(known.begin(), known.end(), curve.name) != known.end()) continue;
      known.push_back(curve.name);
      out += stroke(x, 76, x + 26, 76,
                    fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", curve.colour,
                                curve.dashed ? " stroke-dasharray=\"6 4\"" : "")
                        .c_str());
      out += label(x + 32, 80, "text-anchor=\"start\"", curve.name);
      x += 52 + 6.6 * static_cast<double>(curve.name.size());
    }
  return out;
}

}  // namespace

std::string svg(const Plot& plot) {
  const double height = head + panel_height * static_cast<double>(plot.panels.size());
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" "
      "height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
      "<title>{2}</title>\n"
      "<style>.grid{{stroke:#ddd}} .mark{{stroke:#888;stroke-dasharray:2 3}} .title{{font-size:18px}} "
      ".panel{{font-size:14px;font-weight:bold}}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      page_width, height, escaped(plot.title));
  out += label(left, 30, "class=\"title\"", plot.title) + label(left, 52, "text-anchor=\"start\"", plot.subtitle);
  out += legend(plot);
  double above = head;
  for (const Panel& panel : plot.panels) {
    out += panel_shape(plot, panel, above);
    above += panel_height;
  }
  return out + "</svg>\n";
}

}  // namespace imgpipe::bench
