#include "filters/pixel/expr/parse.h"

#include <algorithm>
#include <charconv>

#include "filters/base/nearest.h"

namespace imgpipe::expr {
namespace {

using Form = Operation::Form;

constexpr Operation table[] = {
    {"+", 2, Form::sign, 1, ""},
    {"-", 2, Form::sign, 1, ""},
    {"*", 2, Form::sign, 1, ""},
    {"/", 2, Form::sign, 8, ""},
    {"^", 2, Form::sign, 40, ""},
    {"<", 2, Form::sign, 1, ""},
    {"<=", 2, Form::sign, 1, ""},
    {">", 2, Form::sign, 1, ""},
    {">=", 2, Form::sign, 1, ""},
    {"==", 2, Form::sign, 1, ""},
    {"!=", 2, Form::sign, 1, ""},
    {"&&", 2, Form::sign, 2, ""},
    {"||", 2, Form::sign, 2, ""},
    {"!", 1, Form::sign, 1, ""},
    {"negate", 1, Form::sign, 1, ""},
    {"abs", 1, Form::function, 1, "magnitude"},
    {"acos", 1, Form::function, 60, "arc cosine, in radians"},
    {"asin", 1, Form::function, 60, "arc sine, in radians"},
    {"atan", 1, Form::function, 40, "arc tangent, in radians"},
    {"atan2", 2, Form::function, 50, "angle of (y, x), in radians"},
    {"ceil", 1, Form::function, 1, "next whole number up"},
    {"clamp", 3, Form::function, 2, "v within low and high, NaN stays"},
    {"cos", 1, Form::function, 40, "cosine of radians"},
    {"exp", 1, Form::function, 20, "e to the power v"},
    {"exp2", 1, Form::function, 20, "2 to the power v"},
    {"floor", 1, Form::function, 1, "next whole number down"},
    {"hypot", 2, Form::function, 10, "square root of a*a + b*b"},
    {"isnan", 1, Form::function, 1, "1 for NaN, else 0"},
    {"log", 1, Form::function, 20, "natural logarithm"},
    {"log10", 1, Form::function, 40, "logarithm to base 10"},
    {"log2", 1, Form::function, 20, "logarithm to base 2"},
    {"max", 2, Form::function_of_many, 2, "largest, NaN when one is"},
    {"min", 2, Form::function_of_many, 2, "smallest, NaN when one is"},
    {"mod", 2, Form::function, 12, "a - b * floor(a / b)"},
    {"pow", 2, Form::function, 40, "a to the power b"},
    {"round", 1, Form::function, 1, "nearest whole number, half to even"},
    {"select", 3, Form::function, 2, "a where the condition c is not 0, else b"},
    {"sign", 1, Form::function, 2, "-1, 0 or 1"},
    {"sin", 1, Form::function, 40, "sine of radians"},
    {"sqrt", 1, Form::function, 10, "square root"},
    {"tan", 1, Form::function, 80, "tangent of radians"},
};

int index_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(table); ++i)
    if (table[i].name == name) return static_cast<int>(i);
  return -1;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// How an operator may be written.
struct Infix {
  std::string_view sign, word, operation;
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {
    if (text.size() > longest_text)
      throw SyntaxError(
          1, "must have at most " + std::to_string(longest_text) + " characters, got " + std::to_string(text.size()));
  }

  std::vector<Term> run() {
    choice();
    skip_space();
    if (at_ < text_.size()) fail("unexpected " + what_is_here() + advice());
    return std::move(terms_);
  }

 private:
  /// Counts the nesting of what is parsed while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > deepest_nesting)
        parser_.fail("is nested deeper than " + std::to_string(deepest_nesting) + " levels");
    }
    ~Level() { --parser_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  void choice() {
    const Level level(*this);
    disjunction();
    const int column = here();
    if (!take("?")) return;
    choice();
    if (!take(":")) fail("expected ':' of `condition ? a : b` before " + what_is_here());
    choice();
    append("select", column);
  }

  void disjunction() { left_to_right({{"||", "or", "||"}}, &Parser::conjunction); }
  void conjunction() { left_to_right({{"&&", "and", "&&"}}, &Parser::negation); }

  void negation() {
    const int column = here();
    if (!take_word("not")) return comparison();
    const Level level(*this);
    negation();
    append("!", column);
  }

  void comparison() {
    sum();
    const int column = here();
    const Infix* found = take_comparison();
    if (!found) return;
    sum();
    append(found->operation, column);
    if (take_comparison()) fail("comparisons do not chain: write `a < b && b < c`");
  }

  const Infix* take_comparison() {
    static constexpr Infix signs[] = {{"<=", "", "<="}, {">=", "", ">="}, {"==", "", "=="},
                                      {"!=", "", "!="}, {"<", "", "<"},   {">", "", ">"}};
    for (const Infix& infix : signs)
      if (take(infix.sign)) return &infix;
    return nullptr;
  }

  void sum() { left_to_right({{"+", "", "+"}, {"-", "", "-"}}, &Parser::product); }
  void product() { left_to_right({{"*", "", "*"}, {"/", "", "/"}}, &Parser::sign); }

  void left_to_right(std::initializer_list<Infix> operators, void (Parser::*operand)()) {
    (this->*operand)();
    for (;;) {
      const int column = here();
      const auto found = std::find_if(operators.begin(), operators.end(), [&](const Infix& infix) {
        return !starts("**") && (take(infix.sign) || (!infix.word.empty() && take_word(infix.word)));
      });
      if (found == operators.end()) return;
      (this->*operand)();
      append(found->operation, column);
    }
  }

  void sign() {
    const int column = here();
    const bool minus = take("-"), bang = !minus && take_bang();
    if (!minus && !bang && !take("+")) return power();
    const Level level(*this);
    sign();
    if (minus || bang) append(minus ? "negate" : "!", column);
  }

  void power() {
    primary();
    const int column = here();
    if (!take("^") && !take("**")) return;
    const Level level(*this);
    sign();
    append("^", column);
  }

  void primary() {
    skip_space();
    if (at_ == text_.size()) fail(terms_.empty() ? "is empty" : "ends where a value is needed");
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name_or_call();
    if (!take("(")) fail("expected a number, a name or '(' instead of " + what_is_here());
    choice();
    if (!take(")")) fail("expected ')' before " + what_is_here());
  }

  void number() {
    const int column = here();
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("the number is out of range");
    if (error != std::errc() || (end < text_.data() + text_.size() && (is_letter(*end) || *end == '.')))
      fail("not a number: " + what_is_here());
    at_ = static_cast<std::size_t>(end - text_.data());
    append(Term{-1, value, "", column});
  }

  void name_or_call() {
    const int column = here();
    const std::string name = word_here();
    at_ += name.size();
    if (name == "and" || name == "or") fail_at(column, "'" + name + "' needs a value before it");
    if (take("(")) return call(name, column);
    append(Term{-1, 0, name, column});
  }

  void call(const std::string& name, int column) {
    const int operation = index_of(name);
    if (operation < 0 || table[operation].form == Form::sign) fail_at(column, unknown_function(name));
    const Operation& f = table[operation];
    int count = 0;
    do {
      if (f.form == Form::function_of_many && count == f.arity) {
        append(f.name, column);
        --count;
      }
      choice();
      ++count;
    } while (take(","));
    if (!take(")")) fail("expected ',' or ')' before " + what_is_here());
    if (count != f.arity)
      fail_at(column, name + " takes " + std::to_string(f.arity) +
                          (f.form == Form::function_of_many ? " or more values" : " values") + ", got " +
                          std::to_string(count));
    append(f.name, column);
  }

  static std::string unknown_function(const std::string& name) {
    std::vector<std::string> names;
    for (const Operation& f : table)
      if (f.form != Form::sign) names.emplace_back(f.name);
    return "unknown function '" + name + "'" + did_you_mean(name, names) + "; known: " + listing(names);
  }

  void append(std::string_view operation, int column) { append(Term{index_of(operation), 0, "", column}); }
  void append(Term term) {
    if (terms_.size() == most_terms) fail_at(term.column, "has more than " + std::to_string(most_terms) + " terms");
    terms_.push_back(std::move(term));
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool starts(std::string_view sign) {
    skip_space();
    return std::string_view(text_).substr(at_, sign.size()) == sign;
  }
  bool take(std::string_view sign) {
    if (!starts(sign)) return false;
    at_ += sign.size();
    return true;
  }
  std::string word_here() const {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (word_here() != word) return false;
    at_ += word.size();
    return true;
  }
  bool take_bang() { return !starts("!=") && take("!"); }

  /// What was probably meant by what is left over.
  std::string advice() const {
    const char c = text_[at_];
    if (is_letter(c) || is_digit(c) || c == '(') return ": an operator is needed before it";
    if (c == '=' || c == '&' || c == '|') return std::string(": did you mean ") + c + c + "?";
    return "";
  }

  int here() {
    skip_space();
    return static_cast<int>(at_) + 1;
  }
  std::string what_is_here() {
    skip_space();
    if (at_ == text_.size()) return "the end";
    const std::string word = word_here();
    return "'" + (word.empty() ? text_.substr(at_, 1) : word) + "'";
  }
  [[noreturn]] void fail(const std::string& text) { fail_at(here(), text); }
  [[noreturn]] static void fail_at(int column, const std::string& text) { throw SyntaxError(column, text); }

  const std::string& text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::vector<Term> terms_;
};

}  // namespace

std::span<const Operation> operations() { return table; }

std::vector<Term> parse(const std::string& text) { return Parser(text).run(); }

}  // namespace imgpipe::expr
