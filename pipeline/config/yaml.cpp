#include "pipeline/config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace imgpipe {
namespace {

constexpr std::size_t max_bytes = 1 << 20;
constexpr std::size_t max_depth = 32;

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

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
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw NodeError(mark_of(mark),
                    "aliases (*name) are not supported: write the value out, or quote a glob: \"*.tif\"");
  }
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

void check_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    const std::size_t tab = line.substr(0, first).find('\t');
    if (tab != std::string::npos)
      throw NodeError({number, static_cast<int>(tab) + 1}, "is indented with a tab: use spaces");
    if (line[first] == '\t') continue;
    // An unquoted leading * or % is the usual slip with globs; the parser's own words for it help nobody.
    const std::size_t colon = line.find(": ", first);
    std::size_t value = colon == std::string::npos ? first : line.find_first_not_of(' ', colon + 2);
    if (line.compare(first, 2, "- ") == 0 && colon == std::string::npos) value = line.find_first_not_of(' ', first + 2);
    if (value == std::string::npos || (value == first && line[first] == '%')) continue;
    if (line[value] == '*' || line[value] == '%')
      throw NodeError({number, static_cast<int>(value) + 1},
                      "a value that begins with " + std::string(1, line[value]) + " must be quoted: \"" +
                          line.substr(value, line.find_last_not_of(" \r") - value + 1) + "\"");
  }
}

}  // namespace

Node parse_yaml(const std::string& original) {
  if (original.size() > max_bytes) throw NodeError({1, 1}, "is larger than 1 MiB: that is no pipeline file");
  const std::string text = original.compare(0, 3, "\xef\xbb\xbf") == 0 ? original.substr(3) : original;
  check_utf8(text);
  check_lines(text);
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
  } catch (const YAML::Exception& error) {
    throw NodeError(mark_of(error.mark), "is not valid YAML: " + error.msg);
  }
  return std::move(builder.root);
}

}  // namespace imgpipe
