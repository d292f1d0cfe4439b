#include "pipeline/config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

namespace imgpipe {
namespace {

constexpr std::size_t max_bytes = 1 << 20;
constexpr std::size_t max_depth = 32;

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

struct Alias : NodeError {
  explicit Alias(Mark mark)
      : NodeError(mark, "aliases (*name) are not supported: write the value out, or quote a glob: \"*.tif\"") {}
};

/// Builds Nodes from the parser's events; unlike its document tree, these keep duplicate keys and quoting.
class NodeBuilder : public YAML::EventHandler {
 public:
  Node root;
  int documents = 0;

  void OnDocumentStart(const YAML::Mark&) override { ++documents; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    Node node;
    node.mark = mark_of(mark);
    add(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw Alias(mark_of(mark)); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    if (!tag.empty() && tag != "?" && tag != "!")
      throw NodeError(mark_of(mark), "tags (" + tag + ") are not supported");
    Node node;
    node.mark = mark_of(mark);
    node.text = value;
    node.quoted = tag == "!";
    const bool null =
        !node.quoted && (value == "null" || value == "Null" || value == "NULL" || value == "~" || value.empty());
    node.kind = null ? Node::Kind::null : Node::Kind::scalar;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    Node node;
    Node::Key key;
    bool has_key = false;
    std::set<std::string> keys;
  };

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor) throw NodeError(mark_of(mark), "anchors (&name) are not supported: write the value out");
  }

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    refuse_anchor(mark, anchor);
    if (open_.size() >= max_depth)
      throw NodeError(mark_of(mark), "is nested deeper than " + std::to_string(max_depth) + " levels");
    Open open;
    open.node.kind = kind;
    open.node.mark = mark_of(mark);
    open_.push_back(std::move(open));
  }

  void end() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Open& open = open_.back();
    if (open.node.kind == Node::Kind::list) {
      open.node.items.push_back(std::move(node));
    } else if (!open.has_key) {
      if (node.kind != Node::Kind::scalar) throw NodeError(node.mark, "a key must be a word");
      if (!open.keys.insert(node.text).second) throw NodeError(node.mark, "duplicate key '" + node.text + "'");
      open.key = {node.text, node.mark};
      open.has_key = true;
    } else {
      open.node.entries.emplace_back(open.key, std::move(node));
      open.has_key = false;
    }
  }

  std::vector<Open> open_;
};

Mark place_of(const std::string& text, std::size_t offset) {
  Mark mark{1, 1};
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++mark.line;
      mark.column = 1;
    } else if ((text[i] & 0xc0) != 0x80) {
      ++mark.column;
    }
  }
  return mark;
}

void check_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80                ? 1
                               : c >= 0xc2 && c < 0xe0 ? 2
                               : c >= 0xe0 && c < 0xf0 ? 3
                               : c >= 0xf0 && c < 0xf5 ? 4
                                                       : 0;
    bool good = length > 0 && i + length <= text.size() && c != 0;
    for (std::size_t k = 1; good && k < length; ++k) good = (text[i + k] & 0xc0) == 0x80;
    if (!good) throw NodeError(place_of(text, i), "is not UTF-8 text: save the file as UTF-8");
    i += length;
  }
}

/// True for the first line of a block of text: "description: |" or "- >-".
bool begins_block_text(const std::string& line) {
  const std::size_t end = line.find_last_not_of(" \t\r+-0123456789");
  return end != std::string::npos && end > 0 && (line[end] == '|' || line[end] == '>') &&
         (line[end - 1] == ' ' || line[end - 1] == '\t');
}

/// Tabs that indent. They are fine in blocks of text, and where braces make the structure, as in JSON.
void check_tabs(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || text[begin] == '{' || text[begin] == '[') return;
  std::istringstream lines(text);
  std::string line;
  std::optional<std::size_t> block;  // the indent of the line that began a block of text
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t\r"), indent = line.find_first_not_of(' ');
    if (first == std::string::npos || (block && indent > *block)) continue;
    block.reset();
    if (indent < first) throw NodeError({number, static_cast<int>(indent) + 1}, "is indented with a tab: use spaces");
    if (begins_block_text(line)) block = first;
  }
}

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number && std::getline(lines, line);) ++i;
  return line;
}

[[noreturn]] void ask_for_quotes(const std::string& line, int number, std::size_t begin, std::size_t end,
                                 const std::string& what) {
  throw NodeError({number, place_of(line, begin).column},
                  what + " must be quoted: \"" + line.substr(begin, end - begin) + "\"");
}

/// The parser's own words for an unquoted glob or pattern help nobody: says what to quote when that is the slip.
void explain_glob(const std::string& line, Mark mark) {
  const std::size_t value = line.find_first_of("*%", std::min<std::size_t>(std::max(mark.column - 1, 0), line.size()));
  if (value == std::string::npos || (value > 0 && line[value - 1] != ' ' && line[value - 1] != '[')) return;
  const std::size_t end = std::min(line.find_first_of(" \r,]}", value), line.size());
  ask_for_quotes(line, mark.line, value, end, "a value that begins with " + std::string(1, line[value]));
}

void explain_pattern(const std::string& line, Mark mark) {
  std::size_t brace = std::string::npos;
  for (const char* token : {"{stem}", "{name}", "{ext}", "{dir}", "{index}"}) brace = std::min(brace, line.find(token));
  if (brace == std::string::npos) return;
  const std::size_t before = line.find_last_of(" [,", brace);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  std::size_t end = std::min(line.find_first_of(" \r,]", brace), line.size());
  const auto count = [&](char c) { return std::count(line.begin() + begin, line.begin() + end, c); };
  if (count('\'') + count('"') > 0) return;
  while (count('}') > count('{')) --end;
  ask_for_quotes(line, mark.line, begin, end, "a pattern with braces here");
}

void explain(const std::string& text, Mark mark) {
  const std::string line = line_of(text, mark.line);
  explain_glob(line, mark);
  explain_pattern(line, mark);
}

/// Without the byte order mark, blanks on empty lines, which the parser takes for indentation, and blanks at the end,
/// behind which it would take an open quote for a closed one.
std::string trimmed(const std::string& original) {
  std::istringstream lines(original.compare(0, 3, "\xef\xbb\xbf") == 0 ? original.substr(3) : original);
  std::string text;
  for (std::string line; std::getline(lines, line); text += '\n')
    if (line.find_first_not_of(" \t\r") != std::string::npos) text += line;
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::string words_of(const YAML::Exception& error) {
  return error.msg == YAML::ErrorMsg::EOF_IN_SCALAR ? "a quote is not closed" : error.msg;
}

}  // namespace

Node parse_yaml(const std::string& original) {
  if (original.size() > max_bytes) throw NodeError({1, 1}, "is larger than 1 MiB: that is no pipeline file");
  const std::string text = trimmed(original);
  check_utf8(text);
  check_tabs(text);
  std::istringstream stream(text);
  NodeBuilder builder;
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    if (builder.documents == 0) throw NodeError({1, 1}, "is empty: a pipeline file has at least `steps:`");
    NodeBuilder second;
    if (parser.HandleNextDocument(second))
      throw NodeError(second.root.mark.line > 0 ? second.root.mark : Mark{1, 1},
                      "holds a second document (---): only one is allowed");
  } catch (const Alias& alias) {
    explain(text, alias.mark);
    throw;
  } catch (const YAML::Exception& error) {
    explain(text, mark_of(error.mark));
    throw NodeError(mark_of(error.mark), "is not valid YAML: " + words_of(error));
  }
  return std::move(builder.root);
}

}  // namespace imgpipe
