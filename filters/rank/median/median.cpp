#include "filters/rank/median/median.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "filters/rank/median/median.cuh"

namespace imgpipe::median {
namespace {

// ---- in vector registers: loops over x with straight-line bodies

template <class T>
inline __attribute__((always_inline)) T lower(T a, T b) {
  return b < a ? b : a;
}
template <class T>
inline __attribute__((always_inline)) T upper(T a, T b) {
  return a < b ? b : a;
}
template <class T>
inline __attribute__((always_inline)) void sort(T& a, T& b) {
  const T low = lower(a, b);
  b = upper(a, b);
  a = low;
}
template <class T>
inline __attribute__((always_inline)) T middle(T a, T b, T c) {
  return upper(lower(a, b), lower(upper(a, b), c));
}

template <class T>
IMGPIPE_CLONES void row_of_3x3(const T* above, const T* here, const T* below, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    T low[3], mid[3], high[3];
    for (int j = 0; j < 3; ++j) {
      T a = above[i + j - 1], b = here[i + j - 1], c = below[i + j - 1];
      sort(a, b);
      sort(b, c);
      sort(a, b);
      low[j] = a;
      mid[j] = b;
      high[j] = c;
    }
    out[i] = middle(upper(upper(low[0], low[1]), low[2]), middle(mid[0], mid[1], mid[2]),
                    lower(lower(high[0], high[1]), high[2])) + T(0);
  }
}

constexpr std::int64_t block = 256;  // outputs worked on at once: what they need stays in the first-level cache

/// Comparisons that bring the median of `count` wires to its wire: Batcher's sorting network, the idle parts left out.
struct Comparison {
  int low, high;
};
std::vector<Comparison> median_network(int count) {
  std::vector<Comparison> all;
  for (int p = std::bit_floor(static_cast<unsigned>(std::max(1, count - 1))); p > 0; p /= 2) {
    int q = std::bit_floor(static_cast<unsigned>(std::max(1, count - 1))), r = 0, d = p;
    while (true) {
      for (int i = 0; i + d < count; ++i)
        if ((i & p) == r) all.push_back({i, i + d});
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
  std::vector<bool> live(count, false);
  live[count / 2] = true;
  std::vector<Comparison> used;
  for (auto c = all.rbegin(); c != all.rend(); ++c) {
    if (!live[c->low] && !live[c->high]) continue;
    live[c->low] = live[c->high] = true;
    used.push_back(*c);
  }
  std::reverse(used.begin(), used.end());
  return used;
}

template <class T>
IMGPIPE_CLONES void compare(T* low, T* high) {
  for (std::int64_t i = 0; i < block; ++i) sort(low[i], high[i]);
}

template <class T>
IMGPIPE_CLONES void copy_plus_zero(const T* in, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i] + T(0);
}

/// The bits of `nan` where in[i] is no number.
template <class T, class Bits>
IMGPIPE_CLONES void mark_nan(const T* in, Bits* marks, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) marks[i] |= in[i] != in[i] ? ~Bits(0) : Bits(0);
}
template <class T, class Bits>
IMGPIPE_CLONES void put_nan(const Bits* marks, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = marks[i] ? std::numeric_limits<T>::quiet_NaN() : out[i];
}

using Spans = std::vector<RowSpan>;

/// The window's rows: where each begins around a pixel, and how long it is.
struct Row {
  std::int64_t offset;
  int length;
};

std::vector<Row> rows_of(const Spans& spans, const Halo& reach, std::int64_t pitch, std::int64_t plane) {
  std::vector<Row> rows;
  std::size_t s = 0;
  for (int z = -reach.low[2]; z <= reach.high[2]; ++z)
    for (int y = -reach.low[1]; y <= reach.high[1]; ++y, ++s)
      if (spans[s].first <= spans[s].last)
        rows.push_back({z * plane + y * pitch + spans[s].first, spans[s].last - spans[s].first + 1});
  return rows;
}

template <class F>
void for_blocks(const Window& w, F&& f) {
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y)
      for (std::int64_t x = 0; x < w.width; x += block) f(x, y, z, std::min(block, w.width - x));
}

/// Overwrites the medians of windows that hold a NaN.
template <class T>
void spread_nan(const Window& w, const std::vector<Row>& rows) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for_blocks(w, [&](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t count) {
    Bits marks[block] = {};
    for (const Row& row : rows)
      for (int k = 0; k < row.length; ++k)
        mark_nan(w.in<T>().row(y, z) + x + row.offset + k, marks, count);
    put_nan(marks, w.out<T>().row(y, z) + x, count);
  });
}

template <class T>
void three(const Window& w) {
  const Plane<const T> in = w.in<T>();
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y)
      row_of_3x3(in.row(y - 1, z), in.row(y, z), in.row(y + 1, z), w.out<T>().row(y, z), w.width);
}

template <class T>
void by_network(const Window& w, const std::vector<Row>& rows, int size, const std::vector<Comparison>& network) {
  std::vector<T> wires(size * block, T(0));
  for_blocks(w, [&](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t count) {
    T* wire = wires.data();
    for (const Row& row : rows)
      for (int k = 0; k < row.length; ++k, wire += block)
        std::copy_n(w.in<T>().row(y, z) + x + row.offset + k, count, wire);
    for (const Comparison& c : network) compare(&wires[c.low * block], &wires[c.high * block]);
    copy_plus_zero(&wires[size / 2 * block], w.out<T>().row(y, z) + x, count);
  });
}

template <class T>
void by_selection(const Window& w, const std::vector<Row>& rows, int size) {
  std::vector<T> values(size);
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y)
      for (std::int64_t x = 0; x < w.width; ++x) {
        T* v = values.data();
        for (const Row& row : rows) v = std::copy_n(w.in<T>().row(y, z) + x + row.offset, row.length, v);
        const bool nan = std::any_of(values.begin(), values.end(), [](T value) { return value != value; });
        if (!nan) std::nth_element(values.begin(), values.begin() + size / 2, values.end());
        w.out<T>().row(y, z)[x] = nan ? std::numeric_limits<T>::quiet_NaN() : values[size / 2] + T(0);
      }
}

/// Counts of 256 values in the window, and how many lie below a level that follows the median.
struct Histogram {
  int counts[256] = {};
  int level = 0, below = 0;
  void add(int value) {
    ++counts[value];
    below += value < level;
  }
  void remove(int value) {
    --counts[value];
    below -= value < level;
  }
  int median(int half) {
    while (below > half) below -= counts[--level];
    while (below + counts[level] <= half) below += counts[level++];
    return level;
  }
};

/// Whole values of 256 levels from `base`: the window slides along x.
template <class T>
void by_histogram(const Window& w, const std::vector<Row>& rows, int size, int base) {
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y) {
      const T* in = w.in<T>().row(y, z);
      T* out = w.out<T>().row(y, z);
      const auto level = [&](std::int64_t at) { return static_cast<int>(in[at]) - base; };
      Histogram histogram;
      for (const Row& row : rows)
        for (int k = 0; k < row.length; ++k) histogram.add(level(row.offset + k));
      for (std::int64_t x = 0;; ++x) {
        out[x] = static_cast<T>(histogram.median(size / 2) + base);
        if (x + 1 == w.width) break;
        for (const Row& row : rows) {
          histogram.remove(level(x + row.offset));
          histogram.add(level(x + row.offset + row.length));
        }
      }
    }
}

// ---- the choice

struct Shaped {
  Halo reach;
  Spans spans;
  Footprint footprint;
  int size;
  bool box(int x, int y, int z) const {
    return footprint == Footprint::box && reach.low == std::array<int, 3>{x, y, z};
  }
};

constexpr int most_wires = 64;

template <class T>
std::function<void(const Window&)> cpu_code(const Shaped& s, bool numbers, std::optional<int> base) {
  const bool square = s.box(1, 1, 0);
  const auto network = s.size <= most_wires ? median_network(s.size) : std::vector<Comparison>{};
  return [s, numbers, base, square, network](const Window& w) {
    const std::vector<Row> rows = rows_of(s.spans, s.reach, w.in_pitch, w.in_plane);
    if (s.size > most_wires && base) return by_histogram<T>(w, rows, s.size, *base);
    if (s.size > most_wires) return by_selection<T>(w, rows, s.size);
    if (square) three<T>(w);
    else by_network<T>(w, rows, s.size, network);
    if (!numbers) spread_nan<T>(w, rows);
  };
}

std::string lengths_text(const Halo& reach) {
  return std::to_string(reach.low[0]) + ", " + std::to_string(reach.low[1]) + ", " + std::to_string(reach.low[2]);
}

template <class T>
DeviceCode device_code_of(const Shaped& s, bool whole) {
  const std::string header = "filters/rank/median/median.cuh";
  const std::string type = sizeof(T) == 4 ? "float" : "double";
  const auto named = [&](const std::string& name) {
    return DeviceCode{header, "median::" + name, std::vector<std::byte>(1), {}};
  };
  if (s.box(1, 1, 0)) return named("Three<" + type + ">");
  if (s.box(2, 2, 0)) return named("Five<" + type + ">");
  if (s.footprint == Footprint::box && s.size <= 32 && s.size > 1)
    return named("Small<" + type + ", " + lengths_text(s.reach) + ">");
  std::vector<std::byte> blob((4 + s.spans.size() + 3) / 4 * 4);
  const int half = s.size / 2;
  std::memcpy(blob.data(), &half, 4);
  for (std::size_t r = 0; r < s.spans.size(); ++r) blob[4 + r] = static_cast<std::byte>(s.spans[r].last);
  for (std::size_t r = 0; r < s.spans.size(); ++r)
    if (s.spans[r].first > s.spans[r].last) blob[4 + r] = static_cast<std::byte>(-1);
  return {header,
          "median::Any<" + type + ", " + lengths_text(s.reach) + (whole ? ", true>" : ", false>"),
          std::move(blob),
          {}};
}

double flops(const Shaped& s) {
  if (s.box(1, 1, 0)) return 24;
  if (s.box(2, 2, 0)) return 90;
  return s.size <= 32 ? 0.4 * s.size * s.size + 30 : 40.0 * s.size;
}

}  // namespace

Value build(Builder& b, Value in, const Halo& reach, Footprint footprint) {
  const Spans spans = row_spans(footprint, reach);
  if (spans.size() > 4096)
    throw std::invalid_argument("a window of " + std::to_string(spans.size()) +
                                " rows is too large: at most 4096 rows (radius 31 in a volume)");
  const Shaped shaped{reach, spans, footprint, static_cast<int>(count_of(spans))};
  if (shaped.size == 1) return in;
  const ValueInfo& info = b.info(in);
  const bool whole = info.whole && !is_float(info.desc.dtype);
  std::optional<int> base;
  if (whole && info.desc.dtype == DType::u8) base = 0;
  if (whole && info.desc.dtype == DType::i8) base = -128;
  WindowOp op;
  op.halo = reach;
  op.border = b.border();
  op.constant = b.constant();
  op.flops = flops(shaped);
  const bool constant_fits = op.border != Border::constant || is_value_of(op.constant, info.desc.dtype);
  visit_compute(b.compute(in), [&](auto t) {
    using T = decltype(t);
    op.cpu = cpu_code<T>(shaped, whole && constant_fits, constant_fits ? base : std::nullopt);
    op.device = device_code_of<T>(shaped, whole && constant_fits);
  });
  return b.window(in, std::move(op), constant_fits);
}

namespace {

void validate(const Params& p, bool) { check_size(p.size, true); }

Value build_step(Builder& b, const StepInputs& in, const Params& p) {
  const Halo reach = reach_of(p.radius, p.size, b.info(in.image).desc.volume);
  return build(b, in.image, reach, p.footprint == Shape::box ? Footprint::box : Footprint::ball);
}

}  // namespace

FilterSpec spec() {
  return declare(
      "rank",
      Filter<Params>{
          .name = "median",
          .summary = "Replace each pixel by the middle value of its neighbourhood.",
          .kind = Kind::neighbourhood,
          .params = {field("radius", &Params::radius, Range{0, most_radius}, "px",
                           "The window is 2 radius + 1 pixels wide: one for all axes, or [x, y, z]."),
                     field("size", &Params::size, Range{0, 2 * most_radius + 1}, "px",
                           "Width of the window in place of radius; odd."),
                     field("footprint", &Params::footprint, "",
                           "box, or ball: pixels with (dx/rx)^2 + (dy/ry)^2 + (dz/rz)^2 <= 1.")},
          .main_param = "radius",
          .result = "that of the image, exact",
          .formula = "The value of rank (n + 1) / 2 among the window's n values. A window that holds a NaN gives NaN; "
                     "-0 becomes 0. Channels apart; alpha is left alone.",
          .validate = validate,
          .build = build_step,
          .examples = {"2", "{radius: 3}", "{radius: 2, footprint: ball}", "{size: [3, 1]}", "{radius: [5, 4]}"},
      });
}

}  // namespace imgpipe::median
