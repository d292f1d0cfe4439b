// Whether a text is a well-formed XML document, by the grammar's rules for tags, attributes and references.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace imgpipe::test {

/// "" when it is, else what is wrong and where. Knows elements, attributes, declarations and the named references;
/// comments, CDATA and DTDs count as faults.
inline std::string xml_fault(const std::string& text) {
  std::size_t at = 0;
  const auto fault = [&](const std::string& what) { return what + " at byte " + std::to_string(at); };
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == ':' || c == '_';
  };
  const auto name = [&] {
    std::string n;
    while (at < text.size() && is_name(text[at])) n += text[at++];
    return n;
  };
  const auto reference = [&] {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
      if (text.compare(at, std::string(known).size(), known) == 0) return true;
    return false;
  };
  if (text.compare(0, 5, "<?xml") == 0) at = text.find("?>") + 2;
  std::vector<std::string> open;
  bool root_seen = false;
  while (at < text.size()) {
    const char c = text[at];
    if (c != '<') {
      if (c == '&' && !reference()) return fault("bare &");
      if (static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' && c != '\r') return fault("control character");
      if (open.empty() && !std::isspace(static_cast<unsigned char>(c))) return fault("text outside the root");
      ++at;
      continue;
    }
    ++at;
    const bool closing = at < text.size() && text[at] == '/';
    if (closing) ++at;
    const std::string tag = name();
    if (tag.empty()) return fault("tag without a name");
    if (closing) {
      if (open.empty() || open.back() != tag) return fault("</" + tag + "> closes nothing");
      open.pop_back();
      if (text[at++] != '>') return fault("bad end tag");
      continue;
    }
    if (open.empty() && root_seen) return fault("second root");
    root_seen = true;
    std::vector<std::string> attributes;
    for (;;) {
      const std::size_t before = at;
      while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
      if (at >= text.size()) return fault("tag without end");
      if (text[at] == '>' || text[at] == '/') break;
      if (at == before) return fault("attributes without space between");
      const std::string attribute = name();
      for (const std::string& other : attributes)
        if (other == attribute) return fault("attribute " + attribute + " twice");
      attributes.push_back(attribute);
      if (attribute.empty() || text.compare(at, 2, "=\"") != 0) return fault("attribute without value");
      for (at += 2; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '<') return fault("< in an attribute");
        if (text[at] == '&' && !reference()) return fault("bare & in an attribute");
      }
      ++at;
    }
    if (text[at] == '/')
      ++at;
    else
      open.push_back(tag);
    if (at >= text.size() || text[at++] != '>') return fault("tag without end");
  }
  if (!open.empty()) return fault("<" + open.back() + "> is not closed");
  return root_seen ? "" : "no root element";
}

}  // namespace imgpipe::test
