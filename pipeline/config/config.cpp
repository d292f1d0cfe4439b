#include "pipeline/config/config.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "filters/base/nearest.h"
#include "io/image/errors.h"
#include "pipeline/config/overrides.h"
#include "pipeline/config/yaml.h"

namespace imgpipe {
namespace {

const std::vector<std::string> top_keys = {"input",    "output", "border", "constant",   "volume",
                                           "on_error", "steps",  "name",   "description"};
const std::vector<std::string> step_keys = {"as", "from", "with", "border", "constant"};

bool is_step_key(const std::string& key) { return std::count(step_keys.begin(), step_keys.end(), key) > 0; }

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const FilterSpec& filter : all_filters()) names.push_back(filter.name);
  return names;
}

bool is_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool names_a_file(const std::string& text) { return text.find_first_of("./") != std::string::npos; }

template <class E>
E choice(const Node& node, const std::vector<std::pair<std::string, E>>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) {
    if (node.kind == Node::Kind::scalar && node.text == name) return value;
    names.push_back(name);
  }
  throw NodeError(node.mark,
                  "must be one of " + listing(names) + ", got '" + node.text + "'" + did_you_mean(node.text, names));
}

class Reader {
 public:
  explicit Reader(Config& config) : config_(config) {}

  void read(const Node& root) {
    if (root.kind != Node::Kind::map) throw NodeError(root.mark, "must be a map with the keys " + listing(top_keys));
    const Node* steps = nullptr;
    for (const auto& [key, value] : root.entries) {
      if (key.text == "steps")
        steps = &value;
      else
        in_key(key, [&, &key = key, &value = value] { top(key, value); });
    }
    if (!steps) throw NodeError(root.mark, "`steps` is missing: write `steps: []` for a plain format conversion");
    if (steps->kind != Node::Kind::list)
      throw NodeError(steps->mark, "steps: must be a list of steps; write `steps: []` for a plain format conversion");
    for (const Node& item : steps->items) step(item);
    check_outputs();
  }

 private:
  template <class F>
  static void in_key(const Node::Key& key, F&& f) {
    try {
      f();
    } catch (const NodeError& error) {
      const std::string text = error.what();
      throw NodeError(error.mark, text.compare(0, 8, "unknown ") == 0 ? text : key.text + ": " + text);
    }
  }

  void top(const Node::Key& key, const Node& value) {
    const std::string& k = key.text;
    if (k == "input")
      inputs(value);
    else if (k == "output")
      outputs(value);
    else if (k == "border")
      config_.border = parse_border(value);
    else if (k == "constant")
      config_.constant = parse_number(value);
    else if (k == "volume")
      config_.volume = choice<Config::Volume>(
          value,
          {{"auto", Config::Volume::automatic}, {"stack", Config::Volume::stack}, {"pages", Config::Volume::pages}});
    else if (k == "on_error")
      config_.on_error =
          choice<Config::OnError>(value, {{"continue", Config::OnError::go_on}, {"stop", Config::OnError::stop}});
    else if (k == "name" || k == "description")
      parse_string(value);
    else
      throw NodeError(key.mark,
                      "unknown key '" + k + "'" + did_you_mean(k, top_keys) + "; allowed: " + listing(top_keys));
  }

  void inputs(const Node& value) {
    if (value.kind == Node::Kind::list) {
      if (value.items.empty()) throw NodeError(value.mark, "must not be an empty list");
      for (const Node& item : value.items) config_.inputs.push_back(text_of(item));
    } else {
      config_.inputs = {text_of(value)};
    }
  }

  static std::string text_of(const Node& node) {
    const std::string text = parse_string(node);
    if (text.empty()) throw NodeError(node.mark, "must not be empty");
    return text;
  }

  void outputs(const Node& value) {
    if (value.kind == Node::Kind::map) {
      for (const auto& [key, pattern] : value.entries) {
        config_.outputs.emplace_back(key.text, checked_pattern(pattern));
        output_marks_.push_back(key.mark);
      }
    } else {
      config_.outputs = {{"", checked_pattern(value)}};
      output_marks_ = {value.mark};
    }
  }

  static std::string checked_pattern(const Node& node) {
    const std::string pattern = text_of(node);
    try {
      expand_output(pattern, {});
    } catch (const std::invalid_argument& error) {
      throw NodeError(node.mark, error.what());
    }
    return pattern;
  }

  void check_outputs() {
    for (std::size_t i = 0; i < config_.outputs.size(); ++i) {
      const std::string& name = config_.outputs[i].first;
      if (name.empty() || name == "result" || named_.count(name)) continue;
      std::vector<std::string> names(named_.begin(), named_.end());
      names.push_back("result");
      throw NodeError(output_marks_[i], "output: no step has `as: " + name + "`" + did_you_mean(name, names) +
                                            "; known: " + listing(names));
    }
  }

  void step(const Node& item) {
    Step step;
    step.mark = item.mark;
    if (item.kind == Node::Kind::scalar) {
      step.filter = find(item.text, item.mark);
      Node none;
      none.mark = item.mark;
      finish(std::move(step), none);
      return;
    }
    if (item.kind != Node::Kind::map || item.entries.empty())
      throw NodeError(item.mark, "a step must be a filter's name or a map such as `gaussian: {sigma: 2}`");
    const Node* params = nullptr;
    for (const auto& [key, value] : item.entries) {
      if (is_step_key(key.text)) continue;
      if (step.filter)
        throw NodeError(key.mark, find_filter(key.text)
                                      ? "a step has one filter: begin a new step with `- " + key.text + ":`"
                                      : "unknown key '" + key.text + "' in a step" + did_you_mean(key.text, step_keys) +
                                            "; allowed beside the filter: " + listing(step_keys));
      step.filter = find(key.text, key.mark);
      step.mark = key.mark;
      params = &value;
    }
    if (!step.filter) throw NodeError(item.mark, "a step needs a filter; known: " + listing(filter_names()));
    for (const auto& [key, value] : item.entries)
      if (is_step_key(key.text)) option(step, key, value);
    Node own = *params;
    if (own.kind == Node::Kind::map) {
      std::erase_if(own.entries, [&](const auto& entry) {
        if (!is_step_key(entry.first.text) || takes(step, entry.first.text)) return false;
        option(step, entry.first, entry.second);
        return true;
      });
    }
    finish(std::move(step), own);
  }

  static bool takes(const Step& step, const std::string& name) {
    return std::any_of(step.filter->params.begin(), step.filter->params.end(),
                       [&](const ParamDef& d) { return d.name == name; });
  }

  const FilterSpec* find(const std::string& name, Mark mark) {
    if (const FilterSpec* filter = find_filter(name)) return filter;
    const std::vector<std::string> names = filter_names();
    throw NodeError(mark,
                    "unknown filter '" + name + "'" + did_you_mean(name, names) + "; `imgpipe filters` lists them");
  }

  void option(Step& step, const Node::Key& key, const Node& value) {
    const auto once = [&](bool given) {
      if (given) throw NodeError(key.mark, "is given twice");
    };
    try {
      if (key.text == "border") {
        once(step.border.has_value());
        step.border = parse_border(value);
      } else if (key.text == "constant") {
        once(step.constant.has_value());
        step.constant = parse_number(value);
      } else if (key.text == "as") {
        once(!step.as.empty());
        step.as = text_of(value);
        if (!is_name(step.as))
          throw NodeError(value.mark, "must be a name of letters, digits and _, got '" + step.as + "'");
        if (step.as == "input" || named_.count(step.as))
          throw NodeError(value.mark, "the name '" + step.as + "' is taken");
      } else if (key.text == "from") {
        once(!step.from.empty());
        step.from = known_name(value);
      } else {
        once(!step.with.empty());
        step.with = text_of(value);
        if (!names_a_file(step.with)) known_name(value);
        if (step.filter->inputs < 2) throw NodeError(key.mark, step.filter->name + " takes no second image");
      }
    } catch (const NodeError& error) {
      throw NodeError(error.mark, step.filter->name + "." + key.text + ": " + error.what());
    }
  }

  std::string known_name(const Node& value) const {
    const std::string name = text_of(value);
    if (is_known(name)) return name;
    const std::vector<std::string> names = known_names({});
    throw NodeError(value.mark, "no earlier step has `as: " + name + "`" + did_you_mean(name, names) +
                                    "; known: " + listing(names));
  }

  bool is_known(const std::string& name) const { return name == "input" || named_.count(name) > 0; }

  std::vector<std::string> known_names(std::vector<std::string> names) const {
    names.push_back("input");
    names.insert(names.end(), named_.begin(), named_.end());
    return names;
  }

  void check_mention(const Mention& mention) const {
    if (is_known(mention.name)) return;
    const std::vector<std::string> names = known_names(mention.own_names);
    throw NodeError(mention.mark, mention.parameter + ": unknown name '" + mention.name + "'" +
                                      did_you_mean(mention.name, names) + "; known: " + listing(names));
  }

  void finish(Step step, const Node& params) {
    const FilterSpec& filter = *step.filter;
    std::shared_ptr<void> values = filter.new_params();
    try {
      parse_params(filter.params, filter.main_param, values.get(), params, filter.name);
      filter.validate(values.get(), !step.with.empty());
      for (const Mention& mention : filter.mentions(values.get())) check_mention(mention);
    } catch (const NodeError& error) {
      throw NodeError(error.mark.line > 0 ? error.mark : step.mark, filter.name + "." + error.what());
    } catch (const std::invalid_argument& error) {
      throw NodeError(step.mark, filter.name + ": " + error.what());
    }
    step.params = std::move(values);
    if (!step.as.empty()) named_.insert(step.as);
    config_.steps.push_back(std::move(step));
  }

  Config& config_;
  std::set<std::string> named_;
  std::vector<Mark> output_marks_;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Config parse_config(const std::string& text, const std::string& path, const std::vector<std::string>& overrides) {
  Config config;
  config.path = path;
  try {
    Node root = parse_yaml(text);
    for (const std::string& override_text : overrides) apply_override(root, override_text);
    Reader(config).read(root);
  } catch (const NodeError& error) {
    const Mark mark = error.mark;
    const std::string place =
        mark.line > 0 ? path + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column) : path;
    throw UsageError(one_line(place + ": " + error.what()));
  }
  return config;
}

Config load_config(const std::string& path, const std::vector<std::string>& overrides) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + ": cannot be opened for reading");
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) throw UsageError(path + ": cannot be read");
  return parse_config(text.str(), path, overrides);
}

std::string expand_output(const std::string& pattern, const OutputFacts& facts) {
  const std::vector<std::pair<std::string, std::string>> tokens = {{"stem", facts.stem},
                                                                   {"name", facts.name},
                                                                   {"ext", facts.ext},
                                                                   {"dir", facts.dir},
                                                                   {"index", std::to_string(facts.index)}};
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
      result += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = pattern.find('}', i);
      const std::string word = pattern.substr(i + 1, end == std::string::npos ? std::string::npos : end - i - 1);
      const auto token = std::find_if(tokens.begin(), tokens.end(), [&](const auto& t) { return t.first == word; });
      std::vector<std::string> names;
      for (const auto& t : tokens) names.push_back("{" + t.first + "}");
      if (end == std::string::npos || token == tokens.end())
        throw std::invalid_argument("unknown {" + word + (end == std::string::npos ? "" : "}") +
                                    did_you_mean("{" + word + "}", names) + "; allowed: " + listing(names) +
                                    ", and {{ }} for braces");
      result += token->second;
      i = end;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace imgpipe
