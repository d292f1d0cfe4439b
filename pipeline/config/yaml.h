// YAML text -> Node, with the place of every key and value.
#pragma once

#include <string>

#include "filters/base/node.h"

namespace imgpipe {

/// Parses one YAML 1.2 document (so also JSON). Throws NodeError for text that is not UTF-8, tabs as indentation,
/// duplicate keys at any depth, anchors, aliases and tags, a second document, an empty text, or what is no YAML.
Node parse_yaml(const std::string& text);

}  // namespace imgpipe
