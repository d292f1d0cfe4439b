#include "filters/base/params.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "filters/base/nearest.h"

namespace imgpipe {
namespace {

const std::vector<std::string> length_units = {"px", "mm", "um", "nm", "m"};

std::string quoted(const Node& node) {
  if (node.kind == Node::Kind::list) return "a list";
  if (node.kind == Node::Kind::map) return "a map";
  if (node.kind == Node::Kind::null) return "nothing";
  return "'" + node.text + "'";
}

[[noreturn]] void refuse(const Node& node, const std::string& wanted) {
  throw NodeError(node.mark, "must be " + wanted + ", got " + quoted(node));
}

bool looks_octal(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) return true;
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

std::optional<double> number(std::string_view text) {
  const bool has_plus = text.starts_with('+');
  if (has_plus) text.remove_prefix(1);
  const std::string_view digits = !has_plus && text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || !(digits[0] == '.' || (digits[0] >= '0' && digits[0] <= '9'))) return std::nullopt;
  if (looks_octal(digits) || digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number and what follows it: "1.5 mm" is 1.5 and "mm".
std::pair<std::optional<double>, std::string> number_and_unit(const std::string& text) {
  std::size_t end = text.find_last_of("0123456789.");
  if (end == std::string::npos) return {std::nullopt, text};
  std::string unit = text.substr(end + 1);
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size() : unit.find_first_not_of(' '));
  return {number(text.substr(0, end + 1)), unit};
}

}  // namespace

double parse_number(const Node& node) {
  if (node.kind != Node::Kind::scalar || node.quoted) refuse(node, "a number");
  if (looks_octal(node.text))
    throw NodeError(node.mark,
                    "'" + node.text + "' looks octal or hexadecimal: write a decimal number without leading zeros");
  if (const auto value = number(node.text)) return *value;
  refuse(node, "a number");
}

long long parse_integer(const Node& node) {
  const double value =
      node.kind == Node::Kind::scalar && !node.quoted ? parse_number(node) : (refuse(node, "a whole number"), 0.0);
  if (value != std::floor(value) || std::abs(value) > 9.0e15) refuse(node, "a whole number");
  return static_cast<long long>(value);
}

bool parse_bool(const Node& node) {
  if (node.kind == Node::Kind::scalar && !node.quoted) {
    if (node.text == "true" || node.text == "True" || node.text == "TRUE") return true;
    if (node.text == "false" || node.text == "False" || node.text == "FALSE") return false;
  }
  refuse(node, "true or false");
}

std::string parse_string(const Node& node) {
  if (node.kind != Node::Kind::scalar) refuse(node, "text");
  return node.text;
}

std::size_t parse_choice(const Node& node, const std::string_view* names, std::size_t count) {
  const std::vector<std::string> all(names, names + count);
  if (node.kind != Node::Kind::scalar) refuse(node, "one of " + listing(all));
  for (std::size_t i = 0; i < count; ++i)
    if (node.text == names[i]) return i;
  throw NodeError(node.mark, "must be one of " + listing(all) + ", got " + quoted(node) + did_you_mean(node.text, all));
}

Border parse_border(const Node& node) {
  constexpr std::pair<std::string_view, Border> aliases[] = {
      {"mirror", Border::reflect101}, {"symmetric", Border::reflect}, {"nearest", Border::replicate},
      {"edge", Border::replicate},    {"clamp", Border::replicate},
  };
  for (const auto& [alias, border] : aliases)
    if (node.text == alias) return border;
  return static_cast<Border>(parse_choice(node, EnumNames<Border>::value, std::size(EnumNames<Border>::value)));
}

DType parse_dtype(const Node& node) {
  std::vector<std::string> all;
  for (DType type : all_dtypes) all.emplace_back(name(type));
  if (node.kind == Node::Kind::scalar)
    if (const auto type = dtype_from_name(node.text)) return *type;
  throw NodeError(node.mark, "must be one of " + listing(all) + ", got " + quoted(node) + did_you_mean(node.text, all));
}

Length parse_length(const Node& node) {
  if (node.kind != Node::Kind::scalar) refuse(node, "a length such as 2, 1.5 mm or 0.5 um");
  if (!node.quoted)
    if (const auto value = number(node.text); value && !looks_octal(node.text)) return {*value, "px"};
  const auto [value, unit] = number_and_unit(node.text);
  if (value && std::count(length_units.begin(), length_units.end(), unit)) return {*value, unit};
  if (value && !unit.empty()) throw NodeError(node.mark, "unknown unit '" + unit + "': write px, mm, um, nm or m");
  refuse(node, "a length such as 2, 1.5 mm or 0.5 um");
}

Level parse_level(const Node& node) {
  if (node.kind == Node::Kind::scalar && !node.text.empty() && node.text.back() == '%') {
    const auto [value, unit] = number_and_unit(node.text);
    if (!value || unit != "%") refuse(node, "a number or a percentage");
    if (*value < 0 || *value > 100) throw NodeError(node.mark, "must be in [0%, 100%], got " + node.text);
    return {*value, true};
  }
  if (node.kind != Node::Kind::scalar || node.quoted) refuse(node, "a number or a percentage");
  return {parse_number(node), false};
}

namespace {
void fill_kernel(const Node& node, int depth, Kernel& kernel, std::array<int, 3>& counts) {
  if (node.kind != Node::Kind::list || node.items.empty())
    throw NodeError(node.mark, "must be a list of numbers, of rows, or of planes of rows");
  const int axis = kernel.rank - 1 - depth;
  if (counts[axis] == 0) counts[axis] = static_cast<int>(node.items.size());
  if (counts[axis] != static_cast<int>(node.items.size()))
    throw NodeError(node.mark, "rows must have one length: " + std::to_string(counts[axis]) + " before, " +
                                   std::to_string(node.items.size()) + " here");
  for (const Node& item : node.items) {
    if (axis > 0)
      fill_kernel(item, depth + 1, kernel, counts);
    else
      kernel.values.push_back(parse_number(item));
  }
}
}  // namespace

Kernel parse_kernel(const Node& node) {
  Kernel kernel;
  for (const Node* n = &node; n->kind == Node::Kind::list; n = &n->items[0]) {
    ++kernel.rank;
    if (n->items.empty()) break;
  }
  if (kernel.rank < 1 || kernel.rank > 3)
    throw NodeError(node.mark, "must be a list of numbers, of rows, or of planes of rows");
  std::array<int, 3> counts{0, 0, 0};
  fill_kernel(node, 0, kernel, counts);
  for (int a = 0; a < 3; ++a) kernel.size[a] = std::max(1, counts[a]);
  return kernel;
}

Lengths ParamType<Lengths>::parse(const Node& n) {
  Lengths lengths;
  if (n.kind != Node::Kind::list) {
    lengths.axes = {parse_length(n)};
    return lengths;
  }
  if (n.items.size() < 2 || n.items.size() > 3) throw NodeError(n.mark, "must be one length, [x, y] or [x, y, z]");
  for (const Node& item : n.items) lengths.axes.push_back(parse_length(item));
  return lengths;
}

std::string ParamType<Lengths>::text(const Lengths& v) {
  if (v.axes.empty()) return "";
  std::string text;
  for (const Length& l : v.axes)
    text += (text.empty() ? "" : ", ") + number_text(l.value) + (l.unit == "px" ? "" : " " + l.unit);
  return v.axes.size() == 1 ? text : "[" + text + "]";
}

std::array<double, 3> in_pixels(const Lengths& lengths, const Geometry& geometry) {
  const auto metres = [](const std::string& unit) {
    return unit == "mm" ? 1e-3 : unit == "um" ? 1e-6 : unit == "nm" ? 1e-9 : 1.0;
  };
  std::array<double, 3> pixels{0, 0, 0};
  for (int a = 0; a < 3; ++a) {
    if (lengths.axes.size() > 1 && a >= static_cast<int>(lengths.axes.size())) continue;
    const Length& length = lengths.axes.size() == 1 ? lengths.axes[0] : lengths.axes[a];
    pixels[a] = length.value;
    if (length.unit == "px") continue;
    if (geometry.unit == "pixel")
      throw std::invalid_argument(
          "a length in " + length.unit +
          " needs an image with a physical pixel size, and this one has none: give it in pixels");
    pixels[a] = length.value * metres(length.unit) / (geometry.spacing[a] * metres(geometry.unit));
  }
  return pixels;
}

std::string number_text(double value) {
  char buffer[64];
  const bool plain = std::abs(value) < 1e15 && value == std::floor(value);
  const auto [end, error] = plain ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed)
                                  : std::to_chars(buffer, buffer + sizeof buffer, value);
  (void)error;
  return std::string(buffer, end);
}

std::string range_words(const Range& range) {
  if (std::isinf(range.max)) return "at least " + number_text(range.min);
  if (std::isinf(range.min)) return "at most " + number_text(range.max);
  return "in [" + number_text(range.min) + ", " + number_text(range.max) + "]";
}

void check_range(const Node& node, const Range& range, double value) {
  if (value >= range.min && value <= range.max) return;
  throw NodeError(node.mark, "must be " + range_words(range) + ", got " + number_text(value));
}

void parse_params(const std::vector<ParamDef>& defs, const std::string& main_param, void* params, const Node& node,
                  const std::string& filter) {
  std::vector<std::string> names;
  for (const ParamDef& def : defs) names.push_back(def.name);
  const auto find = [&](const std::string& name) {
    return std::find_if(defs.begin(), defs.end(), [&](const ParamDef& d) { return d.name == name; });
  };
  std::set<std::string> given;
  if (node.kind == Node::Kind::scalar || node.kind == Node::Kind::list) {
    const auto def = find(main_param);
    if (def == defs.end())
      throw NodeError(node.mark, names.empty() ? "takes no parameters" : "takes parameters by name: " + listing(names));
    def->set(params, node);
    given.insert(main_param);
  }
  for (const auto& [key, value] : node.entries) {
    const auto def = find(key.text);
    if (def == defs.end())
      throw NodeError(key.mark, "unknown parameter '" + key.text + "'" + did_you_mean(key.text, names) +
                                    (names.empty() ? ": " + filter + " takes none" : "; allowed: " + listing(names)));
    def->set(params, value);
    given.insert(key.text);
  }
  for (const ParamDef& def : defs)
    if (def.required && !given.count(def.name))
      throw NodeError(node.mark, def.name + ": is required (" + def.help + ")");
}

}  // namespace imgpipe
