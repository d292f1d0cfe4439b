#include "filters/morphology/extreme.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace imgpipe::extreme {
namespace {

/// The better of two; NUMBERS says that neither is NaN, otherwise NaN wins.
template <bool MOST, bool NUMBERS, class T>
inline __attribute__((always_inline)) T better(T a, T b) {
  if constexpr (NUMBERS)
    return MOST ? (a < b ? b : a) : (b < a ? b : a);
  else
    return MOST ? ((a < b) | (b != b) ? b : a) : ((b < a) | (b != b) ? b : a);
}

/// out = the better of a and b, for `count` samples; `out` may be `a` or `b`. The last ones are done as a full vector
/// that overlaps the one before, which changes nothing where minima and maxima are taken again.
template <bool MOST, bool NUMBERS, class T, class Finish>
inline __attribute__((always_inline)) void combine_with(const T* a, const T* b, T* out, std::int64_t count,
                                                        const Finish& finish) {
  constexpr std::int64_t lanes = 64 / sizeof(T);
  const std::int64_t whole = count / lanes * lanes;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < whole; ++i) out[i] = finish(better<MOST, NUMBERS>(a[i], b[i]));
  if (whole == count) return;
  if (count < lanes) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = finish(better<MOST, NUMBERS>(a[i], b[i]));
    return;
  }
#pragma GCC ivdep
  for (std::int64_t i = count - lanes; i < count; ++i) out[i] = finish(better<MOST, NUMBERS>(a[i], b[i]));
}
template <bool MOST, bool NUMBERS, class T>
IMGPIPE_CLONES void combine(const T* a, const T* b, T* out, std::int64_t count) {
  combine_with<MOST, NUMBERS>(a, b, out, count, [](T v) { return v; });
}
template <bool MOST, bool NUMBERS, class T>
IMGPIPE_CLONES void combine_last(const T* a, const T* b, T* out, std::int64_t count) {
  combine_with<MOST, NUMBERS>(a, b, out, count, [](T v) { return static_cast<T>(v + T(0)); });
}
template <class T>
IMGPIPE_CLONES void plus_zero(T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] += T(0);
}

/// Columns of a strip whose rows stay in cache while windows double.
template <class T>
constexpr std::int64_t strip = 512 / sizeof(T);

/// Windows along x of `taps` pixels, from `in` on: lengths 1, 2, 4 … in two buffers, then two overlapping ones.
template <bool MOST, bool NUMBERS, class T>
void line_row(const T* in, int taps, T* out, std::int64_t count, std::vector<T>* buffers) {
  const T* from = in;
  int length = 1;
  for (int turn = 0; 2 * length < taps; length *= 2, turn = 1 - turn) {
    const std::int64_t rest = count + taps - 2 * length;
    buffers[turn].resize(count + taps);
    combine<MOST, NUMBERS>(from, from + length, buffers[turn].data(), rest);
    from = buffers[turn].data();
  }
  combine_last<MOST, NUMBERS>(from, from + taps - length, out, count);
}

/// The same over `lines` rows (or planes) `step` apart, all of one strip of `count` columns.
template <bool MOST, bool NUMBERS, class T>
void line_strip(const T* in, std::int64_t step, int taps, T* out, std::int64_t out_step, std::int64_t lines,
                std::int64_t count, std::vector<T>& buffer) {
  const T* from = in;
  std::int64_t from_step = step;
  int length = 1;
  buffer.resize((lines + taps) * strip<T>);
  for (; 2 * length < taps; length *= 2) {
    for (std::int64_t r = 0; r < lines + taps - 2 * length; ++r)
      combine<MOST, NUMBERS>(from + r * from_step, from + (r + length) * from_step, buffer.data() + r * strip<T>,
                             count);
    from = buffer.data();
    from_step = strip<T>;
  }
  for (std::int64_t r = 0; r < lines; ++r)
    combine_last<MOST, NUMBERS>(from + r * from_step, from + (r + taps - length) * from_step, out + r * out_step,
                                count);
}

template <bool MOST, bool NUMBERS, class T>
void line(const Window& w, int axis, int low, int taps) {
  const Plane<const T> in = w.in<T>();
  const Plane<T> out = w.out<T>();
  std::vector<T> buffers[2];
  if (axis == 0) {
    for (std::int64_t z = 0; z < w.depth; ++z)
      for (std::int64_t y = 0; y < w.height; ++y)
        line_row<MOST, NUMBERS>(in.row(y, z) - low, taps, out.row(y, z), w.width, buffers);
    return;
  }
  const bool over_y = axis == 1;
  for (std::int64_t other = 0; other < (over_y ? w.depth : w.height); ++other)
    for (std::int64_t x = 0; x < w.width; x += strip<T>)
      line_strip<MOST, NUMBERS>((over_y ? in.row(-low, other) : in.row(other, -low)) + x, over_y ? in.pitch : in.plane,
                                taps, (over_y ? out.row(0, other) : out.row(other, 0)) + x,
                                over_y ? out.pitch : out.plane, over_y ? w.height : w.depth,
                                std::min(strip<T>, w.width - x), buffers[0]);
}

template <bool MOST, bool NUMBERS, class T>
void rows(const Window& w, const Halo& reach, const std::vector<RowSpan>& spans) {
  const Plane<const T> in = w.in<T>();
  for (std::int64_t z = 0; z < w.depth; ++z)
    for (std::int64_t y = 0; y < w.height; ++y) {
      T* out = w.out<T>().row(y, z);
      std::copy_n(in.row(y, z), w.width, out);
      std::size_t s = 0;
      for (int dz = -reach.low[2]; dz <= reach.high[2]; ++dz)
        for (int dy = -reach.low[1]; dy <= reach.high[1]; ++dy, ++s)
          for (int dx = spans[s].first; dx <= spans[s].last; ++dx)
            combine<MOST, NUMBERS>(out, in.row(y + dy, z + dz) + dx, out, w.width);
      plus_zero(out, w.width);
    }
}

struct Setting {
  bool most, numbers;
  Border border;
  double constant;
};

/// Calls f.template operator()<MOST, NUMBERS>() for samples of type T.
template <class T, class F>
void with_flags(const Setting& s, F&& f) {
  if constexpr (std::is_integral_v<T>)
    s.most ? f.template operator()<true, true>() : f.template operator()<false, true>();
  else if (s.most)
    s.numbers ? f.template operator()<true, true>() : f.template operator()<true, false>();
  else
    s.numbers ? f.template operator()<false, true>() : f.template operator()<false, false>();
}

std::string device_type(const char* functor, Compute compute, const Setting& s) {
  return std::string("extreme::") + functor + "<" + c_name(compute) + (s.most ? ", true" : ", false");
}

bool keeps_values(const Setting& s, DType dtype) {
  return s.border != Border::constant || std::isinf(s.constant) || is_value_of(s.constant, dtype);
}

/// `make(T{})` is the CPU code for samples of type T.
template <class Make>
Value append(Builder& b, Value in, const Setting& s, WindowOp op, Make&& make) {
  op.border = s.border;
  op.constant = s.constant;
  const bool whole = keeps_values(s, b.info(in).desc.dtype);
  set_choosing_code(op, b.info(in), whole, make);
  return b.window(in, std::move(op), whole);
}

Value along(Builder& b, Value in, int axis, int low, int high, const Setting& s) {
  WindowOp op;
  op.halo = Halo::along(axis, low, high);
  op.flops = low + high < 33 ? 8 : 2.0 * (low + high);
  const int taps = low + high + 1;
  op.device = {"filters/morphology/extreme.cuh",
               device_type("Line", b.compute(in), s) + ", " + std::to_string(axis) + ", " + std::to_string(low) + ", " +
                   std::to_string(high) + ">",
               std::vector<std::byte>(1),
               {}};
  return append(b, in, s, std::move(op), [&](auto t) {
    using T = decltype(t);
    return [s, axis, low, taps](const Window& w) {
      with_flags<T>(s, [&]<bool MOST, bool NUMBERS>() { line<MOST, NUMBERS, T>(w, axis, low, taps); });
    };
  });
}

/// In a neutral surrounding a long window is the same as several shorter ones, which fit registers.
Value box(Builder& b, Value value, const Halo& reach, const Setting& s) {
  constexpr int longest = 16;
  const bool neutral = s.border == Border::constant && std::isinf(s.constant);
  for (int a = 0; a < 3; ++a) {
    int low = reach.low[a], high = reach.high[a];
    while (low + high > 0) {
      const int l = neutral ? std::min(low, longest) : low, h = neutral ? std::min(high, longest) : high;
      value = along(b, value, a, l, h, s);
      low -= l;
      high -= h;
    }
  }
  return value;
}

Value shaped(Builder& b, Value in, const Halo& reach, Footprint footprint, const Setting& s) {
  const std::vector<RowSpan> spans = row_spans(footprint, reach);
  if (spans.size() > 1600)
    throw std::invalid_argument("a footprint of " + std::to_string(spans.size()) +
                                " rows is too large: at most 1600 rows (radius 19 in a volume); box has no limit");
  WindowOp op;
  op.halo = reach;
  op.flops = 4.0 * static_cast<double>(count_of(spans));
  std::string type = device_type("Rows", b.compute(in), s);
  for (int a = 1; a < 3; ++a) type += ", " + std::to_string(reach.low[a]) + ", " + std::to_string(reach.high[a]);
  op.device = {"filters/morphology/extreme.cuh", type + ">", std::vector<std::byte>(2 * spans.size()), {}};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    op.device.blob[2 * i] = static_cast<std::byte>(spans[i].first);
    op.device.blob[2 * i + 1] = static_cast<std::byte>(spans[i].last);
  }
  return append(b, in, s, std::move(op), [&](auto t) {
    using T = decltype(t);
    return [s, reach, spans](const Window& w) {
      with_flags<T>(s, [&]<bool MOST, bool NUMBERS>() { rows<MOST, NUMBERS, T>(w, reach, spans); });
    };
  });
}

}  // namespace

Value build(Builder& b, Value in, const Halo& reach, Footprint footprint, Kind kind) {
  if (reach.empty()) return in;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const ValueInfo& info = b.info(in);
  Setting s{kind == Kind::most, info.whole && !is_float(info.desc.dtype), Border::constant,
            kind == Kind::most ? -infinity : infinity};
  if (b.context().border) {
    s.border = *b.context().border;
    s.constant = b.constant();
  }
  return footprint == Footprint::box ? box(b, in, reach, s) : shaped(b, in, reach, footprint, s);
}

Value build(Builder& b, Value in, const Params& p, Kind kind, bool reflect) {
  const Halo reach = reach_of(p.radius, p.size, b.info(in).desc.volume);
  return build(b, in, reflect ? reflected(reach) : reach, p.footprint, kind);
}

Filter<Params> filter(const char* name, const char* summary, const char* formula) {
  return {
      .name = name,
      .summary = summary,
      .kind = imgpipe::Kind::neighbourhood,
      .params = {field("radius", &Params::radius, Range{0, 127}, "px",
                       "The window is 2 radius + 1 pixels wide: one for all axes, or [x, y, z]."),
                 field("size", &Params::size, Range{0, 255}, "px",
                       "Width of the window in place of radius; of an even k it is [i - k/2, i + k/2 - 1]."),
                 field("footprint", &Params::footprint, "",
                       "box; cross: the axes only; ball: pixels with (dx/rx)^2 + (dy/ry)^2 + (dz/rz)^2 <= 1.")},
      .main_param = "radius",
      .result = "that of the image, exact",
      .formula = std::string(formula) +
                 " Unless the step names a border, what lies outside the image is neutral: it never wins. A window "
                 "that holds a NaN gives NaN; -0 becomes 0. Channels apart; alpha is left alone.",
      .validate = [](const Params& p, bool) { check_size(p.size, false); },
      .examples = {"2", "{size: [2, 3]}", "{radius: 2, footprint: ball}", "{radius: [3, 1], footprint: cross}"},
  };
}

}  // namespace imgpipe::extreme
