#include "filters/pixel/expr/emit.h"

#include <fmt/format.h>

namespace imgpipe::expr {
namespace {

std::string call_of(const Operation& operation, const std::vector<std::string>& a) {
  const std::string_view name = operation.name;
  if (operation.form != Operation::Form::sign) {
    std::string list;
    for (const std::string& operand : a) list += (list.empty() ? "" : ", ") + operand;
    return fmt::format("expr::{}({})", name, list);
  }
  if (name == "negate") return "-" + a[0];
  if (name == "!") return fmt::format("T({} == T(0))", a[0]);
  if (name == "^") return fmt::format("expr::pow({}, {})", a[0], a[1]);
  if (name == "&&" || name == "||") return fmt::format("T({} != T(0) {} {} != T(0))", a[0], name, a[1]);
  const bool arithmetic = name == "+" || name == "-" || name == "*" || name == "/";
  return arithmetic ? fmt::format("{} {} {}", a[0], name, a[1]) : fmt::format("T({} {} {})", a[0], name, a[1]);
}

/// The body of a functor, one statement an operation.
class Body {
 public:
  Body(const Layout& layout, bool channelwise) : layout_(layout), channelwise_(channelwise) {}

  /// Appends the statements and returns the expression of the result.
  std::string add(const Program& program, int colour) {
    std::vector<std::string> waiting;
    for (const Instruction& i : program.code) {
      const auto operands = waiting.end() - i.arity();
      std::string value = i.source == Instruction::Source::operation
                              ? statement(call_of(operations()[i.operation], {operands, waiting.end()}))
                              : leaf(i, colour);
      waiting.erase(operands, waiting.end());
      waiting.push_back(std::move(value));
    }
    return waiting.back();
  }
  void line(const std::string& text) { text_ += "    " + text + "\n"; }
  const std::string& text() const { return text_; }
  const std::vector<double>& constants() const { return constants_; }

 private:
  std::string statement(const std::string& value) {
    const std::string name = fmt::format("t{}", statements_++);
    line(fmt::format("const T {} = {};", name, value));
    return name;
  }

  std::string leaf(const Instruction& i, int colour) {
    using Source = Instruction::Source;
    static constexpr const char* positions[] = {"x", "y", "z", "width", "height", "depth"};
    if (i.is_position())
      return fmt::format("T(p.{})", positions[static_cast<int>(i.source) - static_cast<int>(Source::x)]);
    if (i.source == Source::sample)
      return channelwise_ ? fmt::format("i{}", i.image)
                          : fmt::format("i{}[{}]", i.image, layout_.channel_of(i, colour));
    constants_.push_back(i.constant);
    return fmt::format("k[{}]", constants_.size() - 1);
  }

  const Layout& layout_;
  const bool channelwise_;
  std::string text_;
  std::vector<double> constants_;
  int statements_ = 0;
};

std::string hashed(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("Expr_{:016x}", hash);
}

DeviceCode functor(const Layout& layout, Compute compute, bool channelwise, const std::string& result,
                   const std::string& last_parameter, const Body& body) {
  std::string parameters;
  for (std::size_t i = 0; i < layout.channels.size(); ++i)
    parameters += fmt::format("{}{}i{}", i ? ", " : "", channelwise ? "T " : "const T* ", i);
  parameters += last_parameter;
  if (layout.reads_position()) parameters += ", Position p";
  const std::size_t room = std::max<std::size_t>(1, body.constants().size());
  const std::string members =
      fmt::format("  using T = {};\n  T k[{}];\n  IMGPIPE_FN {} operator()({}) const {{\n{}  }}\n", c_name(compute),
                  room, result, parameters, body.text());
  const std::string name = hashed(members);
  DeviceCode code;
  visit_compute(compute, [&](auto t) {
    std::vector<decltype(t)> values(body.constants().begin(), body.constants().end());
    values.resize(room);
    code = device_array<decltype(t)>("filters/pixel/expr/expr.cuh", name, values);
  });
  code.source = fmt::format("struct {} {{\n{}}};", name, members);
  return code;
}

}  // namespace

DeviceCode emit_channel(const Layout& layout, Compute compute) {
  Body body(layout, true);
  const std::string value = body.add(layout.programs[0], 0);
  body.line("return " + value + ";");
  return functor(layout, compute, true, "T", "", body);
}

DeviceCode emit(const Layout& layout, Compute compute) {
  Body body(layout, false);
  std::vector<std::string> values;
  for (int c = 0; c < layout.colours; ++c) values.push_back(body.add(layout.of(c), c));
  for (int c = 0; c < layout.colours; ++c) body.line(fmt::format("out[{}] = {};", c, values[c]));
  if (layout.alpha) body.line(fmt::format("out[{}] = i0[{}];", layout.colours, *layout.alpha));
  return functor(layout, compute, false, "void", ", T* out", body);
}

}  // namespace imgpipe::expr
