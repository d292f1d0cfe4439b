#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "io/formats/format.h"
#include "io/image/errors.h"
#include "pipeline/commands/message.h"
#include "pipeline/commands/options.h"

namespace imgpipe::commands {
namespace {

using Json = nlohmann::ordered_json;

Json page_json(const ImageDesc& desc) {
  return {{"width", desc.extent.width}, {"height", desc.extent.height},     {"depth", desc.extent.depth},
          {"volume", desc.volume},      {"channels", desc.channels},        {"alpha", desc.alpha},
          {"dtype", name(desc.dtype)},  {"spacing", desc.geometry.spacing}, {"origin", desc.geometry.origin},
          {"unit", desc.geometry.unit}};
}

Json file_json(const std::string& path) {
  const Format& format = format_of_file(path);
  const FileInfo info = format.read_info(path);
  Json pages = Json::array();
  for (const ImageDesc& page : info.pages) pages.push_back(page_json(page));
  return {{"file", path},
          {"format", format.name},
          {"compression", info.compression},
          {"declares_volume", info.declares_volume},
          {"pages", pages},
          {"notes", info.notes}};
}

void print_file(const std::string& path) {
  const Format& format = format_of_file(path);
  const FileInfo info = format.read_info(path);
  std::printf("%s\n  format   %s%s\n", printable(path).c_str(), format.name.c_str(),
              info.compression.empty() ? "" : (", " + info.compression).c_str());
  std::size_t shown = 0;
  for (std::size_t i = 0; i < info.pages.size();) {
    std::size_t same = i + 1;
    while (same < info.pages.size() && info.pages[same] == info.pages[i]) ++same;
    const std::string label = info.pages.size() == 1 ? "image"
                              : same - i == 1        ? fmt::format("page {}", i + 1)
                                                     : fmt::format("pages {}-{}", i + 1, same);
    std::printf("  %-8s %s\n", label.c_str(), describe(info.pages[i]).c_str());
    const Geometry& g = info.pages[i].geometry;
    if (g.unit != "pixel")
      std::printf("  spacing  %g x %g x %g %s\n", g.spacing[0], g.spacing[1], g.spacing[2], g.unit.c_str());
    i = same;
    if (++shown == 20) {
      std::printf("  …\n");
      break;
    }
  }
  if (info.pages.size() > 1)
    std::printf("  volume   %s\n", info.declares_volume ? "yes, the file says so"
                                                        : "the file does not say (volume: stack takes it as one)");
  for (const std::string& note : info.notes) std::printf("  note     %s\n", note.c_str());
}

}  // namespace

int info(const Arguments& arguments) {
  CommandLine line("imgpipe info FILE... [OPTIONS]", "Says what files hold, from their headers.");
  line.positional("file", -1);
  line.add()("json", "print a JSON array");
  const auto values = line.parse(arguments);
  if (!values) return done;
  if (!values->count("file")) throw UsageError("info: name a file; `imgpipe info --help` shows how");
  int worst = done;
  Json all = Json::array();
  for (const std::string& path : (*values)["file"].as<std::vector<std::string>>()) {
    try {
      if (values->count("json"))
        all.push_back(file_json(path));
      else
        print_file(path);
    } catch (const InputError& error) {
      tell(std::string("error: ") + error.what());
      worst = some_failed;
    }
  }
  if (values->count("json")) std::puts(all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return worst;
}

}  // namespace imgpipe::commands
