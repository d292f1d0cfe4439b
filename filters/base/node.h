// A piece of a pipeline file with the place it was written at: what parameters are parsed from.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace imgpipe {

/// A place in a pipeline file, counted from 1; line 0 means "not from a file".
struct Mark {
  int line = 0;
  int column = 0;
};

struct Node {
  enum class Kind { null, scalar, list, map };
  struct Key {
    std::string text;
    Mark mark;
  };
  Kind kind = Kind::null;
  std::string text;                           ///< of a scalar, as written without its quotes
  bool quoted = false;                        ///< a quoted scalar is never a number, a boolean or null
  std::vector<Node> items;                    ///< of a list
  std::vector<std::pair<Key, Node>> entries;  ///< of a map, in file order, keys unique
  Mark mark;
};

/// Something is wrong at a place of the pipeline file; the text says what, and what is allowed.
struct NodeError : std::runtime_error {
  NodeError(Mark mark, const std::string& text) : std::runtime_error(text), mark(mark) {}
  Mark mark;
};

}  // namespace imgpipe
