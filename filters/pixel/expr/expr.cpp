#include "filters/pixel/expr/expr.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "filters/base/nearest.h"
#include "filters/pixel/expr/emit.h"
#include "filters/pixel/expr/evaluate.h"

namespace imgpipe {

expr::Expression ParamType<expr::Expression>::parse(const Node& node) {
  if (node.kind != Node::Kind::scalar) throw NodeError(node.mark, "must be an expression, such as \"1.2 * v + 5\"");
  expr::Expression expression;
  expression.mark = node.mark;
  if (node.quoted && node.mark.line > 0) ++expression.mark.column;
  try {
    expression.terms = expr::parse(node.text);
  } catch (const expr::SyntaxError& error) {
    throw NodeError(expression.place({.column = error.column}), error.what());
  }
  return expression;
}

}  // namespace imgpipe

namespace imgpipe::expr {
namespace {

using Source = Instruction::Source;

constexpr std::pair<std::string_view, Source> positions[] = {{"x", Source::x},           {"y", Source::y},
                                                             {"z", Source::z},           {"width", Source::width},
                                                             {"height", Source::height}, {"depth", Source::depth}};
constexpr std::pair<std::string_view, double> constants[] = {{"pi", 3.14159265358979323846},
                                                             {"e", 2.71828182845904523536},
                                                             {"inf", std::numeric_limits<double>::infinity()},
                                                             {"nan", std::numeric_limits<double>::quiet_NaN()}};
constexpr std::string_view colours[] = {"r", "g", "b"};

/// "c0" … "c99": a channel by number.
std::optional<int> numbered_channel(const std::string& name) {
  if (name.size() < 2 || name.size() > 3 || name[0] != 'c') return std::nullopt;
  if (!std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return std::stoi(name.substr(1));
}

template <class Table>
auto find_in(const Table& table, std::string_view name) {
  return std::find_if(std::begin(table), std::end(table), [&](const auto& entry) { return entry.first == name; });
}

/// Without the channels by number.
std::vector<std::string> own_names() {
  std::vector<std::string> names{"v", "with", "white", "alpha"};
  names.insert(names.end(), std::begin(colours), std::end(colours));
  for (const auto& [name, source] : positions) names.emplace_back(name);
  for (const auto& [name, value] : constants) names.emplace_back(name);
  return names;
}

bool reads(const Params& p, std::string_view name) {
  return std::any_of(p.expression.begin(), p.expression.end(), [&](const Expression& e) {
    return std::any_of(e.terms.begin(), e.terms.end(), [&](const Term& t) { return t.name == name; });
  });
}

/// Gives every name of the expressions its meaning on one image.
class Resolver {
 public:
  Resolver(const Builder& b, const StepInputs& in) : b_(b), in_(in), images_{in.image}, names_{"v"} {
    desc_ = b.info(in.image).desc;
    colours_ = b.info(in.image).colours();
  }

  Layout run(const std::vector<Expression>& expressions) {
    Layout layout;
    for (const Expression& e : expressions) layout.programs.push_back(program(e));
    for (const Value image : images_) layout.channels.push_back(b_.info(image).desc.channels);
    if (desc_.alpha) layout.alpha = colours_;
    const int count = static_cast<int>(expressions.size());
    layout.colours = count > 1 ? count : named_channels_ && !all_channels_ ? 1 : colours_;
    check_channels(layout);
    return layout;
  }

  const std::vector<Value>& images() const { return images_; }
  /// Whether one channel after the other can be computed.
  bool channelwise(const Layout& layout) const {
    return layout.programs.size() == 1 && !named_channels_ &&
           std::all_of(layout.channels.begin(), layout.channels.end(), [&](int n) { return n == layout.channels[0]; });
  }

 private:
  Program program(const Expression& expression) {
    Program program;
    for (const Term& term : expression.terms) {
      try {
        program.code.push_back(term.operation >= 0 ? Instruction{Source::operation, term.operation}
                               : term.name.empty() ? number(term.number)
                                                   : named(term.name));
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(error.what()) + " (at character " + std::to_string(term.column) +
                                    " of the expression)");
      }
    }
    return program;
  }

  static Instruction number(double value) { return {.source = Source::constant, .constant = value}; }

  Instruction named(const std::string& name) {
    if (name == "v") return sample(0, {});
    if (name == "white") return number(nominal_range(desc_.dtype).white);
    if (name == "alpha") return alpha();
    if (const auto channel = numbered_channel(name)) return channel_number(*channel);
    for (int c = 0; c < 3; ++c)
      if (name == colours[c]) return colour(name, c);
    if (const auto p = find_in(positions, name); p != std::end(positions)) return {.source = p->second};
    if (const auto c = find_in(constants, name); c != std::end(constants)) return number(c->second);
    return other_image(name);
  }

  Instruction sample(int image, std::optional<int> channel) {
    const bool one = b_.info(images_[image]).desc.channels == 1;
    named_channels_ |= channel.has_value();
    all_channels_ |= !channel && (image == 0 || !one);
    return {.source = Source::sample, .image = image, .channel = channel};
  }

  Instruction alpha() {
    if (!desc_.alpha) throw std::invalid_argument("`alpha` is read, and the image has none");
    return sample(0, colours_);
  }

  Instruction channel_number(int channel) {
    if (channel >= desc_.channels)
      throw std::invalid_argument("`c" + std::to_string(channel) + "` is read, and the image has channels c0 to c" +
                                  std::to_string(desc_.channels - 1));
    return sample(0, channel);
  }

  Instruction colour(const std::string& name, int channel) {
    if (colours_ != 3)
      throw std::invalid_argument("`" + name + "` needs an RGB or RGBA image, this one has " +
                                  std::to_string(desc_.channels) + " channels: write c0, c1, …");
    return sample(0, channel);
  }

  Instruction other_image(const std::string& name) {
    const auto known = std::find(names_.begin(), names_.end(), name);
    const int image = static_cast<int>(known - names_.begin());
    if (known == names_.end()) {
      names_.push_back(name);
      images_.push_back(name == "with" ? *in_.with : in_.named.at(name));
    }
    return sample(image, {});
  }

  void check_channels(const Layout& layout) const {
    for (std::size_t i = 1; i < layout.channels.size(); ++i) {
      const int n = layout.channels[i];
      if (n != 1 && n != layout.channels[0] && n != layout.colours)
        throw std::invalid_argument("`" + names_[i] + "` has " + std::to_string(n) + " channels, the image " +
                                    std::to_string(desc_.channels) + ": it must have as many, or one");
    }
    if (layout.programs.size() > 1 && all_channels_ && colours_ != 1 && colours_ != layout.colours)
      throw std::invalid_argument(std::to_string(layout.programs.size()) +
                                  " expressions read every channel of an image with " + std::to_string(colours_) +
                                  " colours: name the channels");
  }

  const Builder& b_;
  const StepInputs& in_;
  ImageDesc desc_;
  int colours_;
  std::vector<Value> images_;
  std::vector<std::string> names_;
  bool all_channels_ = false;    ///< a name stands for every channel in turn
  bool named_channels_ = false;  ///< a name stands for one channel
};

PixelOp operation(const Layout& layout, Compute compute, bool channelwise) {
  PixelOp op;
  op.channelwise = channelwise;
  op.reads_position = layout.reads_position();
  op.flops = 0;
  for (const Program& program : layout.programs) op.flops += program.flops() / layout.programs.size();
  op.device = channelwise ? emit_channel(layout, compute) : emit(layout, compute);
  visit_compute(compute, [&](auto t) {
    using T = decltype(t);
    if (channelwise)
      op.cpu = [layout](const PixelRow& row) { evaluate_channel<T>(layout, row); };
    else
      op.cpu = [layout](const PixelRow& row) { evaluate<T>(layout, row); };
  });
  return op;
}

Value build(Builder& b, const StepInputs& in, const Params& p) {
  Resolver resolver(b, in);
  const Layout layout = resolver.run(p.expression);
  const bool channelwise = resolver.channelwise(layout);
  PixelOp op = operation(layout, b.compute(in.image), channelwise);
  if (channelwise) return b.pixel(resolver.images(), std::move(op));
  return b.pixel_to(resolver.images(), std::move(op), layout.colours + (layout.alpha ? 1 : 0),
                    layout.alpha.has_value());
}

void validate(const Params& p, bool has_with) {
  if (p.expression.empty() || p.expression.size() > 16)
    throw std::invalid_argument("expression: must be one expression, or a list of up to 16, one a channel");
  if (reads(p, "with") && !has_with)
    throw std::invalid_argument("`with` is read: name the second image by `with: NAME` or `with: FILE`");
  if (has_with && !reads(p, "with"))
    throw std::invalid_argument("the image named by `with:` is not read: the expression calls it `with`");
}

std::vector<Mention> mentions(const Params& p) {
  const std::vector<std::string> own = own_names();
  std::vector<Mention> list;
  for (const Expression& e : p.expression)
    for (const Term& t : e.terms)
      if (!t.name.empty() && !numbered_channel(t.name) && !std::count(own.begin(), own.end(), t.name))
        list.push_back({"expression", t.name, e.place(t), own});
  return list;
}

std::string reference() {
  std::string text =
      "One expression computes every colour: `v` is the sample. Channels by name (r g b of RGB, alpha, c0 c1 … by "
      "number) make one channel, unless `v` is there too; a list of expressions makes one channel each. Alpha is left "
      "alone.\n"
      "names: v, channels, x y z (from 0), width height depth, white (of the image's dtype), pi, e, inf, nan, with "
      "(the "
      "second image), and earlier results by their `as`.\n"
      "operators: + - * / ^ (or **), < <= > >= == !=, && || ! (or and, or, not), c ? a : b. True is 1, false 0; NaN "
      "counts as true.\n"
      "functions:";
  for (const Operation& f : operations())
    if (f.form != Operation::Form::sign) text += "\n  " + std::string(f.name) + ": " + std::string(f.meaning);
  return text +
         "\nValues are not rounded or clipped before they are written: `convert: float32` after it keeps "
         "fractions and negative numbers.";
}

}  // namespace

FilterSpec spec() {
  return declare(
      "pixel", Filter<Params>{
                   .name = "expr",
                   .summary = "Compute every pixel by an expression.",
                   .kind = Kind::pixel,
                   .params = {required(field("expression", &Params::expression, "",
                                             "Arithmetic on the sample v, or a list of expressions, one a channel."))},
                   .main_param = "expression",
                   .inputs = 2,
                   .result = "that of the image",
                   .formula = reference(),
                   .validate = validate,
                   .mentions = mentions,
                   .build = build,
                   .examples = {"\"clamp(1.2*v + 0.05, 0, white)\"", "\"v > 0.5*white ? sqrt(v) : -v / 3\"",
                                "\"v * (x + 2*y + 3*z) / (width + height + depth)\"", "\"c0 - min(v, 7, c0) ** 1.5\"",
                                "[\"c0\", \"mod(c0, 10) + sin(x)\", \"hypot(c0, y)\"]",
                                "{expression: \"(v - with) / max(with, 1)\", with: other0.tif}"},
               });
}

}  // namespace imgpipe::expr
