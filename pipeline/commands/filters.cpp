#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "filters/base/filter.h"
#include "filters/base/nearest.h"
#include "io/image/errors.h"
#include "pipeline/commands/options.h"

namespace imgpipe::commands {
namespace {

using Json = nlohmann::ordered_json;

Json param_json(const ParamDef& p, const FilterSpec& filter) {
  Json json = {{"name", p.name},
               {"type", p.type},
               {"help", p.help},
               {"required", p.required},
               {"main", p.name == filter.main_param}};
  if (!p.default_text.empty()) json["default"] = p.default_text;
  if (!p.unit.empty()) json["unit"] = p.unit;
  if (p.min) json["minimum"] = *p.min;
  if (p.max) json["maximum"] = *p.max;
  if (!p.choices.empty()) json["choices"] = p.choices;
  return json;
}

Json filter_json(const FilterSpec& filter) {
  Json params = Json::array();
  for (const ParamDef& p : filter.params) params.push_back(param_json(p, filter));
  const Json dimensions = {2, 3};
  return {{"name", filter.name},       {"family", filter.family},   {"summary", filter.summary},
          {"kind", name(filter.kind)}, {"dimensions", dimensions},  {"inputs", filter.inputs},
          {"result", filter.result},   {"formula", filter.formula}, {"parameters", params}};
}

Json value_schema(const ParamDef& p) {
  Json schema = {{"description", p.help}};
  if (!p.choices.empty() && p.type == "choice")
    schema["enum"] = p.choices;
  else if (p.type == "integer" || p.type == "number" || p.type == "boolean") {
    schema["type"] = p.type;
    if (p.min && std::abs(*p.min) < 1e300) schema["minimum"] = *p.min;
    if (p.max && std::abs(*p.max) < 1e300) schema["maximum"] = *p.max;
  } else if (p.type == "text") {
    schema["type"] = {"string", "number"};
  }
  return schema;
}

/// JSON Schema of a pipeline file, for editors.
Json schema() {
  Json steps = Json::array();
  const Json borders = {"reflect101", "reflect",   "replicate", "wrap", "constant",
                        "mirror",     "symmetric", "nearest",   "edge", "clamp"};
  for (const FilterSpec& filter : all_filters()) {
    Json properties;
    Json needed = Json::array();
    for (const ParamDef& p : filter.params) {
      properties[p.name] = value_schema(p);
      if (p.required) needed.push_back(p.name);
    }
    properties["border"] = {{"enum", borders}};
    properties["constant"] = {{"type", "number"}};
    properties["as"] = properties["from"] = {{"type", "string"}};
    if (filter.inputs > 1) properties["with"] = {{"type", "string"}};
    Json named = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!needed.empty()) named["required"] = needed;
    Json forms = Json::array({named});
    if (needed.empty()) forms.push_back({{"type", "null"}});
    if (!filter.main_param.empty()) forms.push_back({{"not", {{"type", {"object", "null"}}}}});
    Json step = {{"type", "object"},
                 {"properties",
                  {{filter.name, {{"anyOf", forms}, {"description", filter.summary}}},
                   {"border", {{"enum", borders}}},
                   {"constant", {{"type", "number"}}},
                   {"as", {{"type", "string"}}},
                   {"from", {{"type", "string"}}},
                   {"with", {{"type", "string"}}}}},
                 {"required", {filter.name}},
                 {"additionalProperties", false}};
    steps.push_back(step);
    if (needed.empty()) steps.push_back({{"const", filter.name}});
  }
  const Json text_or_list = {{"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "imgpipe pipeline"},
          {"type", "object"},
          {"required", {"steps"}},
          {"additionalProperties", false},
          {"properties",
           {{"name", {{"type", "string"}}},
            {"description", {{"type", "string"}}},
            {"input", text_or_list},
            {"output", {{"type", {"string", "object"}}}},
            {"border", {{"enum", borders}}},
            {"constant", {{"type", "number"}}},
            {"volume", {{"enum", {"auto", "stack", "pages"}}}},
            {"on_error", {{"enum", {"continue", "stop"}}}},
            {"steps", {{"type", "array"}, {"items", {{"anyOf", steps}}}}}}}};
}

void print_reference(const FilterSpec& filter) {
  std::printf("%s: %s\n\nkind    %s, 2D and 3D\nresult  %s\n", filter.name.c_str(), filter.summary.c_str(),
              std::string(name(filter.kind)).c_str(), filter.result.c_str());
  if (filter.inputs > 1) std::printf("inputs  the image, and a second one by `with: NAME` or `with: FILE`\n");
  if (!filter.params.empty()) std::printf("\nParameters:\n");
  for (const ParamDef& p : filter.params) {
    std::string facts = p.type;
    if (!p.choices.empty() && p.type == "choice") facts = listing(p.choices);
    if (!p.range_text.empty()) facts += ", " + p.range_text;
    if (!p.unit.empty()) facts += ", in " + p.unit;
    facts += p.required ? ", required" : p.default_text.empty() ? "" : ", default " + p.default_text;
    std::printf("  %-12s %s\n  %-12s (%s)%s\n", p.name.c_str(), p.help.c_str(), "", facts.c_str(),
                p.name == filter.main_param ? " may stand alone" : "");
  }
  std::printf("\n%s\n", filter.formula.c_str());
  if (!filter.examples.empty())
    std::printf("\nExample:\n  - %s: %s\n", filter.name.c_str(), filter.examples[0].c_str());
}

void print_list() {
  std::map<std::string, std::vector<const FilterSpec*>> families;
  for (const FilterSpec& filter : all_filters()) families[filter.family].push_back(&filter);
  for (const auto& [family, list] : families) {
    std::printf("%s\n", family.c_str());
    for (const FilterSpec* filter : list) std::printf("  %-12s %s\n", filter->name.c_str(), filter->summary.c_str());
  }
}

}  // namespace

int filters(const Arguments& arguments) {
  CommandLine line("imgpipe filters [NAME] [OPTIONS]", "Lists the filters, or prints the reference of one.");
  line.positional("name", 1);
  line.add()("json", "print JSON: an array of filters, or one")("schema",
                                                                "print the JSON Schema of pipeline files, for editors");
  const auto values = line.parse(arguments);
  if (!values) return done;
  if (values->count("schema")) {
    std::puts(schema().dump(2).c_str());
  } else if (values->count("name")) {
    const std::string wanted = (*values)["name"].as<std::vector<std::string>>()[0];
    const FilterSpec* filter = find_filter(wanted);
    std::vector<std::string> names;
    for (const FilterSpec& f : all_filters()) names.push_back(f.name);
    if (!filter) throw UsageError("unknown filter '" + wanted + "'" + did_you_mean(wanted, names));
    if (values->count("json"))
      std::puts(filter_json(*filter).dump(2).c_str());
    else
      print_reference(*filter);
  } else if (values->count("json")) {
    Json all = Json::array();
    for (const FilterSpec& filter : all_filters()) all.push_back(filter_json(filter));
    std::puts(all.dump(2).c_str());
  } else {
    print_list();
  }
  return done;
}

}  // namespace imgpipe::commands
