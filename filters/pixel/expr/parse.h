// The text of an expression as a program in postfix order, with the column of every term.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe::expr {

/// An operator or a function of the language, known by its name everywhere.
struct Operation {
  std::string_view name;  ///< "+", "negate", "sqrt"
  int arity;
  enum class Form { sign, function, function_of_many } form;
  double flops;
  std::string_view meaning;  ///< of functions, for the reference
};
std::span<const Operation> operations();

/// A number, a name, or an operation on the latest results that are not consumed yet.
struct Term {
  int operation = -1;  ///< index into `operations()`; -1 for a number or a name
  double number = 0;
  std::string name;  ///< "" for a number
  int column = 0;    ///< in the text, from 1
};

struct SyntaxError : std::runtime_error {
  SyntaxError(int column, const std::string& text) : std::runtime_error(text), column(column) {}
  int column;
};

constexpr std::size_t longest_text = 4096;
constexpr std::size_t most_terms = 512;
constexpr int deepest_nesting = 64;

/// Grammar, weakest first: c ? a : b, || or, && and, not, comparisons (which do not chain), + -, * /, signs and !,
/// ^ ** (from the right, and stronger than a sign before it), calls and parentheses. Functions of many are applied from
/// left to right, two at a time. Throws SyntaxError.
std::vector<Term> parse(const std::string& text);

}  // namespace imgpipe::expr
