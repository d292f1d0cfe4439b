// Parameters of filters: declared once, parsed strictly, described in help and schema from the same declaration.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "filters/base/border.h"
#include "filters/base/node.h"
#include "io/image/image.h"

namespace imgpipe {

/// One parameter of one filter: everything that parser, help and schema need.
struct ParamDef {
  std::string name, help, unit, type, default_text, range_text;
  std::vector<std::string> choices;
  bool required = false;
  std::optional<double> min, max;
  std::function<void(void* params, const Node&)> set;  ///< throws NodeError
};

struct Range {
  double min, max;
};

/// Specialise for an enum: `static constexpr std::string_view value[] = {...}` in the enum's order.
template <class E>
struct EnumNames;
template <>
struct EnumNames<Border> {
  static constexpr std::string_view value[] = {"reflect101", "reflect", "replicate", "wrap", "constant"};
};

/// A length in pixels ("2", "2 px") or in physical units ("1.5 mm", "0.5 um").
struct Length {
  double value = 0;
  std::string unit = "px";
};
/// One length for all axes, or one an axis [x, y] or [x, y, z].
struct Lengths {
  std::vector<Length> axes;
  Lengths() = default;
  Lengths(double pixels) : axes{{pixels, "px"}} {}
};
/// In pixels along x, y, z; z of [x, y] is 0. Throws std::invalid_argument when the image has no physical spacing.
std::array<double, 3> in_pixels(const Lengths& lengths, const Geometry& geometry);

/// An intensity: a value, or a percentage of the image's pixels.
struct Level {
  double value = 0;
  bool percent = false;
};

/// A kernel written as nested lists: rows of numbers, or planes of rows.
struct Kernel {
  std::array<int, 3> size{0, 1, 1};  ///< x, y, z
  std::vector<double> values;        ///< z slowest, x fastest
  int rank = 0;                      ///< depth of the nesting
};

// ---- how each type is parsed and shown

double parse_number(const Node& node);
long long parse_integer(const Node& node);
bool parse_bool(const Node& node);
std::string parse_string(const Node& node);
Border parse_border(const Node& node);
DType parse_dtype(const Node& node);
Length parse_length(const Node& node);
Level parse_level(const Node& node);
Kernel parse_kernel(const Node& node);
std::size_t parse_choice(const Node& node, const std::string_view* names, std::size_t count);
/// "1.5", "3": the shortest text that reads back as the same number.
std::string number_text(double value);

template <class T>
struct ParamType;

template <>
struct ParamType<double> {
  static constexpr const char* name = "number";
  static double parse(const Node& n) { return parse_number(n); }
  static std::string text(double v) { return number_text(v); }
};
template <>
struct ParamType<int> {
  static constexpr const char* name = "integer";
  static int parse(const Node& n) {
    const long long v = parse_integer(n);
    if (v > 2147483647ll || v < -2147483648ll) throw NodeError(n.mark, "is out of range, got " + n.text);
    return static_cast<int>(v);
  }
  static std::string text(int v) { return std::to_string(v); }
};
template <>
struct ParamType<std::int64_t> {
  static constexpr const char* name = "integer";
  static std::int64_t parse(const Node& n) { return parse_integer(n); }
  static std::string text(std::int64_t v) { return std::to_string(v); }
};
template <>
struct ParamType<bool> {
  static constexpr const char* name = "boolean";
  static bool parse(const Node& n) { return parse_bool(n); }
  static std::string text(bool v) { return v ? "true" : "false"; }
};
template <>
struct ParamType<std::string> {
  static constexpr const char* name = "text";
  static std::string parse(const Node& n) { return parse_string(n); }
  static std::string text(const std::string& v) { return v; }
};
template <>
struct ParamType<DType> {
  static constexpr const char* name = "dtype";
  static DType parse(const Node& n) { return parse_dtype(n); }
  static std::string text(DType v) { return std::string(imgpipe::name(v)); }
};
template <>
struct ParamType<Border> {
  static constexpr const char* name = "border";
  static Border parse(const Node& n) { return parse_border(n); }
  static std::string text(Border v) { return std::string(EnumNames<Border>::value[static_cast<int>(v)]); }
};
template <>
struct ParamType<Level> {
  static constexpr const char* name = "number or percentage";
  static Level parse(const Node& n) { return parse_level(n); }
  static std::string text(const Level& v) { return number_text(v.value) + (v.percent ? "%" : ""); }
};
template <>
struct ParamType<Lengths> {
  static constexpr const char* name = "length, or list [x, y, z]";
  static Lengths parse(const Node& n);
  static std::string text(const Lengths& v);
};
template <>
struct ParamType<Kernel> {
  static constexpr const char* name = "nested list of numbers";
  static Kernel parse(const Node& n) { return parse_kernel(n); }
  static std::string text(const Kernel&) { return ""; }
};
template <class T>
struct ParamType<std::optional<T>> {
  static constexpr const char* name = ParamType<T>::name;
  static std::optional<T> parse(const Node& n) { return ParamType<T>::parse(n); }
  static std::string text(const std::optional<T>& v) { return v ? ParamType<T>::text(*v) : ""; }
};
template <class T>
struct ParamType<std::vector<T>> {
  static constexpr const char* name = "list";
  static std::vector<T> parse(const Node& n) {
    std::vector<T> values;
    if (n.kind == Node::Kind::scalar) return {ParamType<T>::parse(n)};
    if (n.kind != Node::Kind::list) throw NodeError(n.mark, "must be one value or a list");
    for (const Node& item : n.items) values.push_back(ParamType<T>::parse(item));
    return values;
  }
  static std::string text(const std::vector<T>& v) {
    std::string text = "[";
    for (std::size_t i = 0; i < v.size(); ++i) text += (i ? ", " : "") + ParamType<T>::text(v[i]);
    return v.empty() ? "" : text + "]";
  }
};
/// One value for all axes, or [x, y], or [x, y, z]; z of [x, y] keeps the default.
template <class T>
struct ParamType<std::array<T, 3>> {
  static constexpr const char* name = "number, or list [x, y, z]";
  static std::array<T, 3> parse(const Node& n) {
    if (n.kind != Node::Kind::list) {
      const T v = ParamType<T>::parse(n);
      return {v, v, v};
    }
    if (n.items.size() < 2 || n.items.size() > 3) throw NodeError(n.mark, "must be one number, [x, y] or [x, y, z]");
    std::array<T, 3> values{};
    for (std::size_t i = 0; i < n.items.size(); ++i) values[i] = ParamType<T>::parse(n.items[i]);
    return values;
  }
  static std::string text(const std::array<T, 3>& v) {
    if (v[0] == v[1] && v[1] == v[2]) return ParamType<T>::text(v[0]);
    return "[" + ParamType<T>::text(v[0]) + ", " + ParamType<T>::text(v[1]) + ", " + ParamType<T>::text(v[2]) + "]";
  }
};
template <class E>
requires std::is_enum_v<E>
struct ParamType<E> {
  static constexpr const char* name = "choice";
  static E parse(const Node& n) {
    return static_cast<E>(parse_choice(n, EnumNames<E>::value, std::size(EnumNames<E>::value)));
  }
  static std::string text(E v) { return std::string(EnumNames<E>::value[static_cast<std::size_t>(v)]); }
};

void check_range(const Node& node, const Range& range, double value);
inline void check_range(const Node& n, const Range& r, const Lengths& v) {
  for (const Length& length : v.axes) check_range(n, r, length.value);
}
inline void check_range(const Node& n, const Range& r, const Level& v) {
  if (!v.percent) check_range(n, r, v.value);
}
template <class T>
void check_range(const Node& n, const Range& r, const std::vector<T>& v) {
  for (const T& value : v) check_range(n, r, value);
}
template <class T>
void check_range(const Node& n, const Range& r, const std::array<T, 3>& v) {
  for (const T& value : v) check_range(n, r, value);
}
template <class T>
void check_range(const Node& n, const Range& r, const std::optional<T>& v) {
  if (v) check_range(n, r, *v);
}
/// Whether values of a type have a range.
template <class T>
inline constexpr bool ranged = std::is_arithmetic_v<T> || std::is_same_v<T, Lengths> || std::is_same_v<T, Level>;
template <class T>
inline constexpr bool ranged<std::optional<T>> = ranged<T>;
template <class T>
inline constexpr bool ranged<std::vector<T>> = ranged<T>;
template <class T>
inline constexpr bool ranged<std::array<T, 3>> = ranged<T>;

std::string range_words(const Range& range);

/// Declares a parameter. Its default text comes from a default-constructed P, so a default is written once.
template <class P, class T>
ParamDef field(const char* name, T P::*member, std::optional<Range> range, const char* unit, const char* help) {
  ParamDef d;
  d.name = name;
  d.help = help;
  d.unit = unit;
  d.type = ParamType<T>::name;
  d.default_text = ParamType<T>::text(P{}.*member);
  if (range) {
    d.min = range->min;
    d.max = range->max;
    d.range_text = range_words(*range);
  }
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>)
    for (std::string_view choice : EnumNames<T>::value) d.choices.emplace_back(choice);
  if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, std::optional<DType>>)
    for (DType type : all_dtypes) d.choices.emplace_back(imgpipe::name(type));
  d.set = [member, range, name](void* p, const Node& node) {
    try {
      T value = ParamType<T>::parse(node);
      if constexpr (ranged<T>)
        if (range) check_range(node, *range, value);
      static_cast<P*>(p)->*member = std::move(value);
    } catch (const NodeError& error) {
      throw NodeError(error.mark, std::string(name) + ": " + error.what());
    }
  };
  return d;
}
template <class P, class T>
ParamDef field(const char* name, T P::*member, const char* unit, const char* help) {
  return field<P, T>(name, member, std::nullopt, unit, help);
}
/// A parameter without a default.
inline ParamDef required(ParamDef def) {
  def.required = true;
  def.default_text.clear();
  return def;
}

/// Fills `params` from a step's node: null (all defaults), a scalar or list (the main parameter alone), or a map.
/// Throws NodeError that names the filter's parameter and what is allowed.
void parse_params(const std::vector<ParamDef>& defs, const std::string& main_param, void* params, const Node& node,
                  const std::string& filter);

}  // namespace imgpipe
