#include "pipeline/config/overrides.h"

#include <algorithm>

#include "filters/base/filter.h"
#include "pipeline/config/yaml.h"

namespace imgpipe {
namespace {

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t dot; (dot = path.find('.', begin)) != std::string::npos; begin = dot + 1)
    parts.push_back(path.substr(begin, dot - begin));
  parts.push_back(path.substr(begin));
  return parts;
}

void clear_marks(Node& node) {
  node.mark = {};
  for (Node& item : node.items) clear_marks(item);
  for (auto& [key, value] : node.entries) {
    key.mark = {};
    clear_marks(value);
  }
}

Node* find(Node& map, const std::string& key) {
  for (auto& [k, value] : map.entries)
    if (k.text == key) return &value;
  return nullptr;
}

void put(Node& map, const std::string& key, Node value) {
  if (Node* known = find(map, key)) {
    value.mark = known->mark;
    *known = std::move(value);
  } else {
    map.kind = Node::Kind::map;
    map.entries.push_back({{key, map.mark}, std::move(value)});
  }
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw NodeError({}, "--set " + text + ": " + why);
}

/// The step as a map from its filter's name.
Node& step_map(Node& step) {
  if (step.kind == Node::Kind::scalar) {
    Node map;
    map.kind = Node::Kind::map;
    map.mark = step.mark;
    Node none;
    none.mark = step.mark;
    map.entries.push_back({{step.text, step.mark}, none});
    step = std::move(map);
  }
  return step;
}

/// `gaussian: 2` as `gaussian: {sigma: 2}`.
void name_main_param(const std::string& filter, Node& params) {
  const FilterSpec* spec = find_filter(filter);
  if (!spec || spec->main_param.empty()) return;
  Node map;
  map.kind = Node::Kind::map;
  map.mark = params.mark;
  map.entries.push_back({{spec->main_param, params.mark}, std::move(params)});
  params = std::move(map);
}

void set_in_step(Node& step, std::vector<std::string> rest, Node value, const std::string& text) {
  Node& map = step_map(step);
  const auto is_option = [](const std::string& key) {
    return key == "as" || key == "from" || key == "with" || key == "border" || key == "constant";
  };
  auto filter =
      std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& e) { return !is_option(e.first.text); });
  if (filter == map.entries.end()) refuse(text, "that step has no filter");
  Node& params = filter->second;
  const bool own_name = !rest.empty() && rest[0] == filter->first.text && !(rest.size() == 1 && find(params, rest[0]));
  if (own_name) rest.erase(rest.begin());
  if (rest.empty()) {
    value.mark = params.mark;
    params = std::move(value);
    return;
  }
  if (rest.size() > 1) refuse(text, "write steps.NUMBER.PARAMETER=VALUE");
  const bool alone = params.kind == Node::Kind::scalar || params.kind == Node::Kind::list;
  if (is_option(rest[0]) && (alone || find(map, rest[0]))) return put(map, rest[0], std::move(value));
  if (alone) name_main_param(filter->first.text, params);
  put(params, rest[0], std::move(value));
}

}  // namespace

void apply_override(Node& root, const std::string& text) {
  if (root.kind != Node::Kind::map) return;  // no pipeline file: its reader says so
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse(text, "write PATH=VALUE, such as steps.2.sigma=3");
  std::vector<std::string> path = split(text.substr(0, equals));
  Node value;
  try {
    const std::string given = text.substr(equals + 1);
    if (!given.empty()) value = parse_yaml(given);
  } catch (const NodeError& error) {
    refuse(text, std::string("the value ") + error.what());
  }
  clear_marks(value);
  if (path[0] != "steps") {
    if (path.size() > 1) refuse(text, "write steps.NUMBER.PARAMETER=VALUE or KEY=VALUE");
    return put(root, path[0], std::move(value));
  }
  Node* steps = find(root, "steps");
  const std::size_t count = steps ? steps->items.size() : 0;
  if (path.size() < 2 || path[1].empty() || path[1].find_first_not_of("0123456789") != std::string::npos ||
      path[1].size() > 6)
    refuse(text, "write steps.NUMBER.PARAMETER=VALUE, steps count from 1");
  const std::size_t number = std::stoul(path[1]);
  if (number < 1 || number > count)
    refuse(text, "there " + std::string(count == 1 ? "is 1 step" : "are " + std::to_string(count) + " steps") +
                     ", counted from 1");
  set_in_step(steps->items[number - 1], {path.begin() + 2, path.end()}, std::move(value), text);
}

}  // namespace imgpipe
