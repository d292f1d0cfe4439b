#include "filters/pixel/expr/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "filters/base/maths.cuh"

namespace imgpipe::expr {
namespace {

constexpr std::int64_t block = 256;

// Every clone of `map` holds the operation itself.
#define INLINE __attribute__((always_inline))

template <class T, class F>
IMGPIPE_CLONES void map(const T* const* a, T* out, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_invocable_v<F, T>)
      out[i] = static_cast<T>(f(a[0][i]));
    else if constexpr (std::is_invocable_v<F, T, T>)
      out[i] = static_cast<T>(f(a[0][i], a[1][i]));
    else
      out[i] = static_cast<T>(f(a[0][i], a[1][i], a[2][i]));
  }
}

template <class T>
using Rows = void (*)(const T* const* operands, T* out, std::int64_t n);

/// An operation of its operands, as a function on rows.
template <class T, class F>
Rows<T> rows(F) {
  return [](const T* const* a, T* out, std::int64_t n) { map(a, out, n, F{}); };
}

template <class T>
struct Named {
  std::string_view name;
  Rows<T> rows;
};

template <class T>
std::vector<Named<T>> definitions() {
  return {
      {"+", rows<T>([](T a, T b) INLINE { return a + b; })},
      {"-", rows<T>([](T a, T b) INLINE { return a - b; })},
      {"*", rows<T>([](T a, T b) INLINE { return a * b; })},
      {"/", rows<T>([](T a, T b) INLINE { return a / b; })},
      {"^", rows<T>([](T a, T b) INLINE { return maths::pow(a, b); })},
      {"<", rows<T>([](T a, T b) INLINE { return a < b; })},
      {"<=", rows<T>([](T a, T b) INLINE { return a <= b; })},
      {">", rows<T>([](T a, T b) INLINE { return a > b; })},
      {">=", rows<T>([](T a, T b) INLINE { return a >= b; })},
      {"==", rows<T>([](T a, T b) INLINE { return a == b; })},
      {"!=", rows<T>([](T a, T b) INLINE { return a != b; })},
      {"&&", rows<T>([](T a, T b) INLINE { return (a != T(0)) & (b != T(0)); })},
      {"||", rows<T>([](T a, T b) INLINE { return (a != T(0)) | (b != T(0)); })},
      {"!", rows<T>([](T a) INLINE { return a == T(0); })},
      {"negate", rows<T>([](T a) INLINE { return -a; })},
      {"abs", rows<T>([](T a) INLINE { return std::abs(a); })},
      {"acos", rows<T>([](T a) INLINE { return maths::acos(a); })},
      {"asin", rows<T>([](T a) INLINE { return maths::asin(a); })},
      {"atan", rows<T>([](T a) INLINE { return maths::atan(a); })},
      {"atan2", rows<T>([](T a, T b) INLINE { return maths::atan2(a, b); })},
      {"ceil", rows<T>([](T a) INLINE { return std::ceil(a); })},
      {"clamp", rows<T>([](T v, T low, T high) INLINE { return v < low    ? low
                                                               : v > high ? high
                                                                          : v; })},
      {"cos", rows<T>([](T a) INLINE { return maths::cos(a); })},
      {"exp", rows<T>([](T a) INLINE { return maths::exp(a); })},
      {"exp2", rows<T>([](T a) INLINE { return maths::exp2(a); })},
      {"floor", rows<T>([](T a) INLINE { return std::floor(a); })},
      {"hypot", rows<T>([](T a, T b) INLINE { return std::sqrt(std::fma(a, a, b * b)); })},
      {"isnan", rows<T>([](T a) INLINE { return a != a; })},
      {"log", rows<T>([](T a) INLINE { return maths::log(a); })},
      {"log10", rows<T>([](T a) INLINE { return maths::log10(a); })},
      {"log2", rows<T>([](T a) INLINE { return maths::log2(a); })},
      {"max", rows<T>([](T a, T b) INLINE { return a != a   ? a
                                                   : b != b ? b
                                                   : a < b  ? b
                                                            : a; })},
      {"min", rows<T>([](T a, T b) INLINE { return a != a   ? a
                                                   : b != b ? b
                                                   : b < a  ? b
                                                            : a; })},
      {"mod", rows<T>([](T a, T b) INLINE { return a - b * std::floor(a / b); })},
      {"pow", rows<T>([](T a, T b) INLINE { return maths::pow(a, b); })},
      {"round", rows<T>([](T a) INLINE { return std::nearbyint(a); })},
      {"select", rows<T>([](T c, T a, T b) INLINE { return c != T(0) ? a : b; })},
      {"sign", rows<T>([](T a) INLINE { return a > T(0)   ? T(1)
                                               : a < T(0) ? T(-1)
                                                          : a; })},
      {"sin", rows<T>([](T a) INLINE { return maths::sin(a); })},
      {"sqrt", rows<T>([](T a) INLINE { return std::sqrt(a); })},
      {"tan", rows<T>([](T a) INLINE { return maths::tan(a); })},
  };
}

#undef INLINE

/// In the order of `operations()`.
template <class T>
const std::vector<Rows<T>>& rows_of_operations() {
  static const std::vector<Rows<T>> all = [] {
    const std::vector<Named<T>> known = definitions<T>();
    std::vector<Rows<T>> list;
    for (const Operation& o : operations())
      list.push_back(
          std::find_if(known.begin(), known.end(), [&](const Named<T>& n) { return n.name == o.name; })->rows);
    return list;
  }();
  return all;
}

template <class T>
class Evaluator {
 public:
  Evaluator(const Layout& layout, const PixelRow& row) : layout_(layout), row_(row) {
    int depth = 1;
    for (const Program& program : layout.programs) depth = std::max(depth, program.depth());
    if (slots_.size() < static_cast<std::size_t>(depth * block)) slots_.resize(depth * block);
  }

  /// Pixels [first, first + n) of one colour; the result lies in memory of this evaluator or of the row.
  const T* run(const Program& program, int colour, bool channelwise, std::int64_t first, std::int64_t n) {
    operands_.clear();
    for (const Instruction& i : program.code) {
      const std::size_t place = operands_.size() - static_cast<std::size_t>(i.arity());
      T* own = slots_.data() + place * block;  // may be the operation's first operand: it goes pixel by pixel
      if (i.source == Instruction::Source::sample) {
        const int channel = channelwise ? 0 : layout_.channel_of(i, colour);
        operands_.push_back(row_.in<T>(i.image, channel) + first);
        continue;
      }
      if (i.source == Instruction::Source::operation)
        rows_of_operations<T>()[i.operation](operands_.data() + place, own, n);
      else
        leaf(i, first, own, n);
      operands_.resize(place);
      operands_.push_back(own);
    }
    return operands_.back();
  }

 private:
  void leaf(const Instruction& i, std::int64_t first, T* out, std::int64_t n) const {
    using Source = Instruction::Source;
    if (i.source == Source::x) {
      for (std::int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(row_.x + first + k);
      return;
    }
    const Extent& e = row_.extent;
    const T value = i.source == Source::y        ? static_cast<T>(row_.y)
                    : i.source == Source::z      ? static_cast<T>(row_.z)
                    : i.source == Source::width  ? static_cast<T>(e.width)
                    : i.source == Source::height ? static_cast<T>(e.height)
                    : i.source == Source::depth  ? static_cast<T>(e.depth)
                                                 : static_cast<T>(i.constant);
    std::fill(out, out + n, value);
  }

  const Layout& layout_;
  const PixelRow& row_;
  static thread_local std::vector<T> slots_;
  std::vector<const T*> operands_;
};
template <class T>
thread_local std::vector<T> Evaluator<T>::slots_;

}  // namespace

template <class T>
void evaluate_channel(const Layout& layout, const PixelRow& row) {
  Evaluator<T> evaluator(layout, row);
  for (std::int64_t first = 0; first < row.count; first += block) {
    const std::int64_t n = std::min(block, row.count - first);
    const T* values = evaluator.run(layout.programs[0], 0, true, first, n);
    std::memmove(row.out<T>() + first, values, n * sizeof(T));
  }
}

/// Output rows may be input rows: all colours of a block are computed before the first is stored.
template <class T>
void evaluate(const Layout& layout, const PixelRow& row) {
  Evaluator<T> evaluator(layout, row);
  static thread_local std::vector<T> results;
  const int outputs = layout.colours + (layout.alpha ? 1 : 0);
  results.resize(outputs * block);
  for (std::int64_t first = 0; first < row.count; first += block) {
    const std::int64_t n = std::min(block, row.count - first);
    for (int c = 0; c < outputs; ++c) {
      const T* values =
          c < layout.colours ? evaluator.run(layout.of(c), c, false, first, n) : row.in<T>(0, *layout.alpha) + first;
      std::copy(values, values + n, results.data() + c * block);
    }
    for (int c = 0; c < outputs; ++c)
      std::copy(results.data() + c * block, results.data() + c * block + n, row.out<T>(c) + first);
  }
}

template void evaluate<float>(const Layout&, const PixelRow&);
template void evaluate<double>(const Layout&, const PixelRow&);
template void evaluate_channel<float>(const Layout&, const PixelRow&);
template void evaluate_channel<double>(const Layout&, const PixelRow&);

}  // namespace imgpipe::expr
