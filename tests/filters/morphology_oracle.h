// The oracle of erode, dilate, open and close: extremes over explicit offsets.
#pragma once

#include "tests/filters/window_oracle.h"

namespace imgpipe::test {

inline double extreme(const std::vector<double>& values, bool most) {
  double best = values[0];
  for (double v : values) {
    if (std::isnan(v)) return v;
    if (most ? v > best : v < best) best = v;
  }
  return best;
}

/// Least or greatest value over the offsets; outside the image is neutral when `neutral`.
inline Channel extreme_of(Channel in, const std::vector<Tap>& taps, bool most, bool neutral) {
  if (neutral) {
    in.border = "constant";
    in.constant = most ? -inf : inf;
  }
  return over_windows(in, taps, [&](std::vector<double>& values) { return extreme(values, most); });
}

inline std::vector<Tap> turned(std::vector<Tap> taps) {
  for (Tap& t : taps) t = {-t.x, -t.y, -t.z};
  return taps;
}

struct WindowCase {
  std::string parameters;
  bool volume;
  std::vector<Tap> taps;
};

inline std::vector<Tap> only(std::vector<Tap> taps, const std::function<bool(const Tap&)>& keep) {
  std::erase_if(taps, [&](const Tap& t) { return !keep(t); });
  return taps;
}

inline std::vector<WindowCase> footprints() {
  const auto in_ball = [](double r) {
    return [r](const Tap& t) { return t.x * t.x + t.y * t.y + t.z * t.z <= r * r; };
  };
  const auto on_axes = [](const Tap& t) { return (t.x != 0) + (t.y != 0) + (t.z != 0) <= 1; };
  return {{"", false, box_taps({1, 1, 0}, {1, 1, 0})},
          {"radius: [3, 0]", false, box_taps({3, 0, 0}, {3, 0, 0})},
          {"size: [4, 2]", false, box_taps({2, 1, 0}, {1, 0, 0})},
          {"radius: 9", false, box_taps({9, 9, 0}, {9, 9, 0})},
          {"radius: 2, footprint: cross", false, only(box_taps({2, 2, 0}, {2, 2, 0}), on_axes)},
          {"radius: 3, footprint: ball", false, only(box_taps({3, 3, 0}, {3, 3, 0}), in_ball(3))},
          {"", true, box_taps({1, 1, 1}, {1, 1, 1})},
          {"size: [2, 1, 3]", true, box_taps({1, 0, 1}, {0, 0, 1})},
          {"radius: 1, footprint: cross", true, only(box_taps({1, 1, 1}, {1, 1, 1}), on_axes)},
          {"radius: 2, footprint: ball", true, only(box_taps({2, 2, 2}, {2, 2, 2}), in_ball(2))}};
}

/// `f(channel, taps, neutral)` says what the filter gives.
inline void expect_morphology(const std::string& name,
                              const std::function<Channel(const Channel&, const std::vector<Tap>&, bool)>& f) {
  for (const WindowCase& footprint : footprints())
    for_images(footprint.volume, [&](const Image& in, const std::string& border, double constant) {
      // Without a border the surrounding is neutral: one of the five cases stands for it.
      const bool neutral = border == "reflect101";
      const std::string step = neutral ? "- " + name + ": {" + footprint.parameters + "}"
                                       : step_of(name, footprint.parameters, border, constant);
      const Image out = run(step, in);
      ASSERT_EQ(out.desc().dtype, in.desc().dtype);
      for (int c = 0; c < in.desc().channels; ++c) {
        const Channel channel = channel_of(in, c, border, constant);
        const bool alpha = in.desc().alpha && c == in.desc().channels - 1;
        // Exact: -0.5 takes back what integers are given for rounding.
        expect_channel(out, c, alpha ? channel : f(channel, footprint.taps, neutral), -0.5 * !is_float(in.desc().dtype),
                       name_of(step, in));
      }
    });
}

/// FS13: constant images are unchanged, for every footprint.
inline void expect_constant_unchanged(const std::string& name) {
  const Image in = image_of<std::uint8_t>(5, 5, std::vector<double>(25, 10));
  for (const char* parameters :
       {"1", "7", "{size: 4}", "{radius: 2, footprint: ball}", "{radius: 2, footprint: cross}"})
    EXPECT_EQ(difference(in, run("- " + name + ": " + parameters, in)), "") << parameters;
}

}  // namespace imgpipe::test
