#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "io/image/errors.h"
#include "pipeline/batch/comparison.h"
#include "pipeline/batch/output.h"
#include "pipeline/batch/source.h"
#include "pipeline/commands/message.h"
#include "pipeline/commands/options.h"

namespace imgpipe::commands {
namespace {

namespace fs = std::filesystem;

struct Pair {
  std::string name, a, b;
};

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> names;
  const Listing listing = list_inputs({folder}, false);
  for (const std::string& warning : listing.warnings) tell("warning: " + warning);
  for (const WorkItem& item : listing.items)
    names.push_back(fs::path(item.files[0]).lexically_relative(folder).string());
  return names;
}

/// Files of two folders by their relative names; those on one side only are told, and count as not comparable.
std::vector<Pair> pairs_of(const std::string& a, const std::string& b, int& worst) {
  if (!fs::is_directory(a) && !fs::is_directory(b)) return {{printable(a), a, b}};
  if (!fs::is_directory(a) || !fs::is_directory(b))
    throw UsageError("compare a file with a file, or a folder with a folder");
  const std::vector<std::string> left = files_below(a), right = files_below(b);
  const std::set<std::string> in_left(left.begin(), left.end()), in_right(right.begin(), right.end());
  const auto alone = [&](const std::string& name, const std::string& folder) {
    std::printf("%s: only in %s\n", printable(name).c_str(), printable(folder).c_str());
    worst = not_comparable;
  };
  std::vector<Pair> pairs;
  for (const std::string& name : left)
    if (in_right.count(name))
      pairs.push_back({printable(name), (fs::path(a) / name).string(), (fs::path(b) / name).string()});
    else
      alone(name, a);
  for (const std::string& name : right)
    if (!in_left.count(name)) alone(name, b);
  return pairs;
}

std::string words(double value) { return fmt::format("{:.6g}", value); }

void print(const std::string& name, const ImageDesc& desc, const Comparison& c) {
  if (c.equal() && c.largest == 0) {
    std::printf("%s: equal (%s; PSNR inf, SSIM 1)\n", name.c_str(), describe(desc).c_str());
    return;
  }
  std::printf("%s: %lld of %lld samples differ%s; max %s, mean %s, RMSE %s, PSNR %s dB, SSIM %.6f\n", name.c_str(),
              static_cast<long long>(c.different), static_cast<long long>(c.samples),
              c.different == 0 ? " by more than the tolerance" : "", words(c.largest).c_str(), words(c.mean).c_str(),
              words(c.rmse).c_str(), words(c.psnr).c_str(), c.ssim);
  if (c.first) {
    const std::string z = desc.extent.depth > 1 ? fmt::format(", {}", c.first->z) : "";
    std::printf("  first at (%lld, %lld%s) channel %s: %.9g against %.9g\n", static_cast<long long>(c.first->x),
                static_cast<long long>(c.first->y), z.c_str(), channel_name(desc, c.first->channel).c_str(), c.first->a,
                c.first->b);
  }
}

/// Where each pair's differences are shown: refused when it cannot be, or would replace a file compared or another map.
std::vector<std::string> plan_maps(const std::vector<Pair>& pairs, const std::string& pattern) {
  Listing listing;
  std::vector<std::string> compared;
  for (const Pair& pair : pairs) {
    listing.items.push_back({{pair.a}, pair.name, {}});
    compared.push_back(pair.b);
  }
  try {
    plan_outputs(listing, {{"", pattern}}, compared);
  } catch (const std::exception& error) {
    throw UsageError(std::string("--heatmap: ") + error.what());
  }
  std::vector<std::string> maps;
  for (const WorkItem& item : listing.items) maps.push_back(item.outputs[0]);
  const std::string reason = maps.empty() ? "" : cannot_write(maps[0], {DType::u8, {1, 1}, 3}, 1);
  if (!reason.empty()) throw UsageError("--heatmap: " + maps[0] + ": " + reason);
  return maps;
}

int compare_pair(const Pair& pair, const CompareOptions& options, const std::string& map) {
  const SourceImages a = read_source({{pair.a}, pair.a, {}}, Config::Volume::automatic),
                     b = read_source({{pair.b}, pair.b, {}}, Config::Volume::automatic);
  if (a.images.size() != b.images.size()) {
    std::printf("%s: not comparable: %zu pages against %zu\n", pair.name.c_str(), a.images.size(), b.images.size());
    return not_comparable;
  }
  int worst = done;
  std::vector<Image> maps;
  for (std::size_t i = 0; i < a.images.size(); ++i) {
    const Comparison c = compare_images(a.images[i], b.images[i], options);
    const std::string name = a.images.size() > 1 ? fmt::format("{} page {}", pair.name, i + 1) : pair.name;
    if (!c.mismatch.empty()) {
      std::printf("%s: not comparable: %s\n", name.c_str(), c.mismatch.c_str());
      worst = not_comparable;
      continue;
    }
    print(name, a.images[i].desc(), c);
    if (!c.equal()) worst = std::max<int>(worst, some_failed);
    if (!map.empty()) maps.push_back(heatmap(a.images[i], b.images[i]));
  }
  if (maps.empty()) return worst;
  try {
    write_output(map, maps);
  } catch (const InputError& error) {
    tell(std::string("error: ") + error.what());
    worst = std::max<int>(worst, some_failed);
  }
  return worst;
}

}  // namespace

int compare(const Arguments& arguments) {
  CommandLine line(
      "imgpipe compare A B [OPTIONS]",
      "Compares two files, or two folders file by file: size, channels, dtype, pages and spacing first, then samples.\n"
      "NaN equals NaN; alpha counts. Exit code 0: equal, 1: samples differ, 4: not comparable, 2: usage.");
  line.positional("path", 2);
  line.add()("tolerance,t", po::value<double>()->default_value(0),
             "largest difference that still counts as equal, in units of the samples")(
      "heatmap", po::value<std::string>(),
      "write where they differ as an image; for folders a pattern such as maps/{stem}.png")(
      "ignore-dtype", "compare values of different dtypes")("ignore-spacing", "compare samples whatever the spacing");
  const auto values = line.parse(arguments);
  if (!values) return done;
  if (!values->count("path") || (*values)["path"].as<std::vector<std::string>>().size() != 2)
    throw UsageError("compare: name two files or two folders");
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  for (const std::string& path : paths)
    if (!fs::exists(path)) throw UsageError(path + ": no such file or folder");
  CompareOptions options;
  options.tolerance = (*values)["tolerance"].as<double>();
  if (!(options.tolerance >= 0) || std::isinf(options.tolerance))
    throw UsageError("--tolerance: must be a finite number, at least 0");
  options.ignore_dtype = values->count("ignore-dtype") > 0;
  options.ignore_spacing = values->count("ignore-spacing") > 0;
  int worst = done;
  const std::vector<Pair> pairs = pairs_of(paths[0], paths[1], worst);
  std::vector<std::string> maps(pairs.size());
  if (values->count("heatmap")) maps = plan_maps(pairs, (*values)["heatmap"].as<std::string>());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    try {
      worst = std::max(worst, compare_pair(pairs[i], options, maps[i]));
    } catch (const InputError& error) {
      tell(std::string("error: ") + error.what());
      worst = not_comparable;
    }
  }
  return worst;
}

}  // namespace imgpipe::commands
