#include "filters/rank/median/median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "filters/rank/median/median.cuh"
#include "filters/rank/median/networks.h"

namespace imgpipe::median {
namespace {

// ---- in vector registers: loops over x with straight-line bodies

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
                    lower(lower(high[0], high[1]), high[2])) +
             T(0);
  }
}

constexpr std::int64_t block = 256;  // outputs worked on at once: what they need stays in the first-level cache

// Windows of WIDE columns of TALL values each: columns are sorted, pairs of neighbours merged, and the median is chosen
// from two pairs and a column (5 x 5) or from a pair and a column (3 x 3 x 3). Every step is done once for all pixels
// that share it.
template <int TALL, int WIDE>
struct Columns {
  static constexpr int pixels = TALL * WIDE, half = pixels / 2;
  static constexpr std::int64_t width = block + 8;
  static constexpr Network sorted = sorting(TALL);
  // Ranks that can still be the median: those with at most `half` values below and above among the others.
  static constexpr int pair_first = WIDE == 3 ? half - TALL : 0, pair_last = WIDE == 3 ? half + 1 : 2 * TALL;
  static constexpr Network pair = merging(TALL, TALL, pair_first, pair_last);
  static constexpr Network four = merging(2 * TALL, 2 * TALL, half - TALL, half + 1);
};

template <int TALL, int WIDE, class T>
IMGPIPE_CLONES void sort_columns(const T* const* rows, T* __restrict columns, std::int64_t count) {
  using C = Columns<TALL, WIDE>;
  const T* row[TALL];
  for (int k = 0; k < TALL; ++k) row[k] = rows[k];
  for (std::int64_t i = 0; i < count; ++i) {
    T v[TALL];
    for (int k = 0; k < TALL; ++k) v[k] = row[k][i];
    apply<C::sorted>(v);
    for (int k = 0; k < TALL; ++k) columns[k * C::width + i] = v[k];
  }
}

template <int TALL, int WIDE, class T>
IMGPIPE_CLONES void merge_pairs(const T* columns, T* __restrict pairs, std::int64_t count) {
  using C = Columns<TALL, WIDE>;
  for (std::int64_t i = 0; i < count; ++i) {
    T v[2 * TALL];
    for (int k = 0; k < TALL; ++k) {
      v[k] = columns[k * C::width + i];
      v[TALL + k] = columns[k * C::width + i + 1];
    }
    apply<C::pair>(v);
    for (int k = C::pair_first; k < C::pair_last; ++k) pairs[k * C::width + i] = v[C::pair.outputs[k]];
  }
}

/// The median is the value of rank TALL among `kept`, TALL + 1 sorted values of the others, and a sorted column.
template <int TALL, class T>
inline __attribute__((always_inline)) T median_of(const T* kept, const T* column, std::int64_t step) {
  T v = kept[TALL];
  for (int k = 0; k < TALL; ++k) v = lower(v, upper(kept[TALL - 1 - k], column[k * step]));
  return v;
}

template <int TALL, int WIDE, class T>
IMGPIPE_CLONES void medians(const T* columns, const T* pairs, T* __restrict out, std::int64_t count) {
  using C = Columns<TALL, WIDE>;
  for (std::int64_t i = 0; i < count; ++i) {
    T kept[TALL + 1];
    if constexpr (WIDE == 3) {
      for (int k = 0; k <= TALL; ++k) kept[k] = pairs[(C::pair_first + k) * C::width + i];
    } else {
      T v[4 * TALL];
      for (int k = 0; k < 2 * TALL; ++k) {
        v[k] = pairs[k * C::width + i];
        v[2 * TALL + k] = pairs[k * C::width + i + 2];
      }
      apply<C::four>(v);
      for (int k = 0; k <= TALL; ++k) kept[k] = v[C::four.outputs[C::half - TALL + k]];
    }
    out[i] = median_of<TALL>(kept, columns + i + WIDE - 1, C::width) + T(0);
  }
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
      for (int k = 0; k < row.length; ++k) mark_nan(w.in<T>().row(y, z) + x + row.offset + k, marks, count);
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

template <int TALL, int WIDE, class T>
void by_columns(const Window& w, const std::vector<Row>& rows) {
  using C = Columns<TALL, WIDE>;
  std::vector<T> columns(TALL * C::width), pairs(2 * TALL * C::width);
  for_blocks(w, [&](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t count) {
    const T* starts[TALL];
    for (int k = 0; k < TALL; ++k) starts[k] = w.in<T>().row(y, z) + x + rows[k].offset;
    sort_columns<TALL, WIDE>(starts, columns.data(), count + WIDE - 1);
    merge_pairs<TALL, WIDE>(columns.data(), pairs.data(), count + WIDE - 2);
    medians<TALL, WIDE>(columns.data(), pairs.data(), w.out<T>().row(y, z) + x, count);
  });
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

/// The same of 65536 values: by their high bytes, and each.
struct WideHistogram {
  Histogram high;
  std::vector<int> counts = std::vector<int>(65536);
  void add(int value) {
    high.add(value >> 8);
    ++counts[value];
  }
  void remove(int value) {
    high.remove(value >> 8);
    --counts[value];
  }
  int median(int half) {
    int value = high.median(half) << 8;
    for (int below = high.below; below + counts[value] <= half; ++value) below += counts[value];
    return value;
  }
};

/// Whole values from `base` on: the window slides along x.
template <class T, class H>
void by_histogram(const Window& w, const std::vector<Row>& rows, int size, int base, H& histogram) {
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y) {
      const T* in = w.in<T>().row(y, z);
      T* out = w.out<T>().row(y, z);
      const auto level = [&](std::int64_t at) { return static_cast<int>(in[at]) - base; };
      for (const Row& row : rows)
        for (int k = 0; k < row.length; ++k) histogram.add(level(row.offset + k));
      for (std::int64_t x = 0; x < w.width; ++x) {
        out[x] = static_cast<T>(histogram.median(size / 2) + base);
        if (x + 1 == w.width) break;
        for (const Row& row : rows) {
          histogram.remove(level(x + row.offset));
          histogram.add(level(x + row.offset + row.length));
        }
      }
      for (const Row& row : rows)
        for (int k = 0; k < row.length; ++k) histogram.remove(level(w.width - 1 + row.offset + k));
    }
}

template <class T>
void by_histogram(const Window& w, const std::vector<Row>& rows, int size, DType type) {
  const int base = static_cast<int>(nominal_range(type).black);
  if (size_of(type) == 1) {
    Histogram histogram;
    return by_histogram<T>(w, rows, size, base, histogram);
  }
  WideHistogram histogram;
  by_histogram<T>(w, rows, size, base, histogram);
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
std::function<void(const Window&)> cpu_code(const Shaped& s, bool numbers, std::optional<DType> levels) {
  const bool square = s.box(1, 1, 0), large_square = s.box(2, 2, 0), cube = s.box(1, 1, 1);
  const auto network = s.size <= most_wires ? median_network(s.size) : std::vector<Comparison>{};
  return [=](const Window& w) {
    const std::vector<Row> rows = rows_of(s.spans, s.reach, w.in_pitch, w.in_plane);
    if (s.size > most_wires && levels) return by_histogram<T>(w, rows, s.size, *levels);
    if (s.size > most_wires) return by_selection<T>(w, rows, s.size);
    if (square)
      three<T>(w);
    else if (large_square)
      by_columns<5, 5, T>(w, rows);
    else if (cube)
      by_columns<9, 3, T>(w, rows);
    else
      by_network<T>(w, rows, s.size, network);
    if (!numbers) spread_nan<T>(w, rows);
  };
}

std::string lengths_text(const Halo& reach) {
  return std::to_string(reach.low[0]) + ", " + std::to_string(reach.low[1]) + ", " + std::to_string(reach.low[2]);
}

template <class T>
DeviceCode device_code_of(const Shaped& s, bool whole, std::optional<DType> levels) {
  const std::string header = "filters/rank/median/median.cuh";
  const std::string type = sizeof(T) == 4 ? "float" : "double";
  const auto named = [&](const std::string& name) {
    return DeviceCode{header, "median::" + name, std::vector<std::byte>(1), {}};
  };
  if (s.box(1, 1, 0) || s.box(2, 2, 0)) {
    const std::string network = s.box(1, 1, 0) ? "median::Three" : "median::Five";
    // Brings the levels to [2^23, 2^23 + 65535].
    if (levels)
      return device_code(header, "median::Packed<" + network + ">",
                         static_cast<float>(8388608 - nominal_range(*levels).black));
    return named("Square<" + type + ", " + network + ">");
  }
  if (s.box(1, 1, 1)) return named("Cube<" + type + ">");
  if (s.footprint == Footprint::box && s.size <= 32 && s.size > 1)
    return named("Small<" + type + ", " + lengths_text(s.reach) + ">");
  const bool box = s.footprint == Footprint::box;
  const std::size_t rows = box ? 0 : s.spans.size();
  std::vector<std::byte> blob(box ? 8 : (4 + rows + 3) / 4 * 4);
  const int half = s.size / 2;
  std::memcpy(blob.data(), &half, 4);
  for (std::size_t r = 0; r < rows; ++r)
    blob[4 + r] = static_cast<std::byte>(s.spans[r].first > s.spans[r].last ? -1 : s.spans[r].last);
  return {header,
          "median::Any<" + type + ", " + lengths_text(s.reach) + (whole ? ", true" : ", false") +
              (box ? ", true>" : ", false>"),
          std::move(blob),
          {}};
}

double flops(const Shaped& s, bool whole) {
  if (s.box(1, 1, 0)) return 24;
  if (s.box(2, 2, 0)) return 80;
  if (s.box(1, 1, 1)) return 175;
  return s.size <= 32 ? 0.4 * s.size * s.size + 30 : (whole ? 20.0 : 80.0) * s.size;
}

}  // namespace

Value build(Builder& b, Value in, const Halo& reach, Footprint footprint) {
  const Spans spans = row_spans(footprint, reach);
  if (footprint != Footprint::box && spans.size() > 4096)
    throw std::invalid_argument("a footprint of " + std::to_string(spans.size()) +
                                " rows is too large: at most 4096 rows (radius 31 in a volume); box has no limit");
  const Shaped shaped{reach, spans, footprint, static_cast<int>(count_of(spans))};
  if (shaped.size == 1) return in;
  const ValueInfo& info = b.info(in);
  const bool fits = b.border() != Border::constant || is_value_of(b.constant(), info.desc.dtype);
  const bool whole = info.whole && fits && !is_float(info.desc.dtype);
  const std::optional<DType> levels =
      whole && size_of(info.desc.dtype) <= 2 ? std::optional(info.desc.dtype) : std::nullopt;
  WindowOp op;
  op.halo = reach;
  op.border = b.border();
  op.constant = b.constant();
  op.flops = flops(shaped, whole);
  set_choosing_code(op, info, whole, [&](auto t) { return cpu_code<decltype(t)>(shaped, whole, levels); });
  visit_compute(b.compute(in), [&](auto t) { op.device = device_code_of<decltype(t)>(shaped, whole, levels); });
  return b.window(in, std::move(op), fits);
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
