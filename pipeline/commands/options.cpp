#include "pipeline/commands/options.h"

#include <fmt/format.h>

#include <iostream>

#include "filters/base/nearest.h"
#include "io/image/errors.h"

namespace imgpipe::commands {

CommandLine::CommandLine(std::string usage, std::string text) : usage_(std::move(usage)), text_(std::move(text)) {
  options_.add_options()("help,h", "print this help");
}

void CommandLine::positional(const std::string& name, int most) {
  hidden_.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
  positional_.add(name.c_str(), most);
}

std::optional<po::variables_map> CommandLine::parse(const Arguments& arguments) {
  po::options_description all;
  all.add(options_).add(hidden_);
  po::variables_map values;
  try {
    using Style = po::command_line_style::style_t;
    const int style = Style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing);
    po::store(po::command_line_parser(arguments).options(all).positional(positional_).style(style).run(), values);
    if (values.count("help")) {
      std::cout << "Usage: " << usage_ << "\n\n" << text_ << "\n\n" << options_;
      return std::nullopt;
    }
    po::notify(values);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> names;
    for (const auto& option : options_.options()) names.push_back("--" + option->long_name());
    throw UsageError(fmt::format("unknown option '{}'{}; `--help` lists them", error.get_option_name(),
                                 did_you_mean(error.get_option_name(), names)));
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + "; `--help` describes the options");
  }
  return values;
}

void add_backend_options(CommandLine& line) {
  line.add()("backend", po::value<std::string>()->default_value("auto"),
             "auto, cuda, cpu or simple; auto takes the GPU when there is one")(
      "device", po::value<int>()->default_value(0), "number of the GPU");
}

BackendOptions backend_options(const po::variables_map& values) {
  const std::string name = values["backend"].as<std::string>();
  const std::vector<std::string> names = {"auto", "simple", "cpu", "cuda"};
  const Backend backends[] = {Backend::automatic, Backend::simple, Backend::cpu, Backend::cuda};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return {backends[i], values["device"].as<int>()};
  throw UsageError("--backend: must be one of " + listing(names) + ", got '" + name + "'" + did_you_mean(name, names));
}

std::string human_bytes(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} s", seconds);
}

}  // namespace imgpipe::commands
