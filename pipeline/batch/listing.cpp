#include "pipeline/batch/listing.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "io/formats/format.h"
#include "io/image/errors.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

bool passed_over(const std::string& name) {
  return name.empty() || name[0] == '.' || name == "Thumbs.db" || name == "desktop.ini" || name == "__MACOSX";
}

bool has_image_suffix(const std::string& path) { return format_for_output(path) != nullptr; }

/// Walks folders once each (by device and inode), in natural order.
class Walker {
 public:
  explicit Walker(Listing& listing) : listing_(listing) {}

  void walk(const std::string& folder, std::vector<std::string>& files) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0 || !seen_.insert({status.st_dev, status.st_ino}).second) return;
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      names.push_back(it->path().filename().string());
    if (error) {
      listing_.warnings.push_back(folder + ": " + error.message());
      return;
    }
    std::sort(names.begin(), names.end(), natural_less);
    std::vector<std::string> folders;
    for (const std::string& name : names) {
      if (passed_over(name)) continue;
      const std::string path = (fs::path(folder) / name).string();
      if (stat(path.c_str(), &status) != 0)
        listing_.warnings.push_back(path + ": a link to nothing");
      else if (S_ISDIR(status.st_mode))
        folders.push_back(path);
      else if (S_ISREG(status.st_mode))
        files.push_back(path);
    }
    for (const std::string& next : folders) walk(next, files);
  }

 private:
  Listing& listing_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

bool is_glob(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// Matches component by component from `base`.
void match(const fs::path& base, const std::vector<std::string>& parts, std::size_t at, std::vector<std::string>& files,
           int depth = 0) {
  if (at == parts.size()) {
    std::error_code error;
    if (fs::is_regular_file(base, error)) files.push_back(base.string());
    return;
  }
  if (depth > 64) return;
  const std::string& part = parts[at];
  if (part == "**") match(base, parts, at + 1, files, depth + 1);
  if (!is_glob(part)) return match(base / part, parts, at + 1, files, depth + 1);
  std::error_code error;
  const fs::path folder = base.empty() ? fs::path(".") : base;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end(), natural_less);
  for (const std::string& name : names) {
    if (passed_over(name)) continue;
    if (part == "**") {
      if (fs::is_directory(folder / name, error) && !fs::is_symlink(folder / name, error))
        match(base / name, parts, at, files, depth + 1);
    } else if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) {
      match(base / name, parts, at + 1, files, depth + 1);
    }
  }
}

std::vector<std::string> glob_files(const std::string& pattern) {
  std::vector<std::string> parts, files;
  fs::path base;
  for (const fs::path& part : fs::path(pattern)) {
    if (part == "/")
      base = part;
    else
      parts.push_back(part.string());
  }
  match(base, parts, 0, files);
  return files;
}

std::vector<std::string> image_files_of(const std::string& folder, Walker& walker) {
  std::vector<std::string> all, images;
  walker.walk(folder, all);
  std::copy_if(all.begin(), all.end(), std::back_inserter(images), has_image_suffix);
  return images;
}

void add_files(Listing& listing, const std::vector<std::string>& files, bool stack) {
  if (!stack) {
    for (const std::string& file : files) listing.items.push_back({{file}, file, {}});
    return;
  }
  std::map<std::string, std::vector<std::string>> folders;
  std::vector<std::string> order;
  for (const std::string& file : files) {
    const std::string folder = fs::path(file).parent_path().string();
    if (!folders.count(folder)) order.push_back(folder);
    folders[folder].push_back(file);
  }
  for (const std::string& folder : order) listing.items.push_back({folders[folder], folder.empty() ? "." : folder, {}});
}

/// Numbers in names, when all names are the same but for one number; used to find holes.
void check_holes(const WorkItem& item) {
  std::vector<std::pair<long long, std::string>> numbers;
  for (const std::string& file : item.files) {
    const std::string stem = fs::path(file).stem().string();
    const std::size_t end = stem.find_last_of("0123456789");
    if (end == std::string::npos) return;
    std::size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(stem[begin - 1]))) --begin;
    if (end - begin > 15) return;
    numbers.emplace_back(std::stoll(stem.substr(begin, end - begin + 1)), stem.substr(0, begin));
  }
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i].second != numbers[0].second) return;
    if (numbers[i].first != numbers[i - 1].first + 1)
      throw UsageError(fmt::format("{}: the slices have a hole: {} follows {}", item.label,
                                   fs::path(item.files[i]).filename().string(),
                                   fs::path(item.files[i - 1]).filename().string()));
  }
}

std::string normal_path(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(path, error), error).string();
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t ie = i, je = j;
      while (ie < a.size() && digit(a[ie])) ++ie;
      while (je < b.size() && digit(b[je])) ++je;
      std::size_t is = i, js = j;
      while (is + 1 < ie && a[is] == '0') ++is;
      while (js + 1 < je && b[js] == '0') ++js;
      if (ie - is != je - js) return ie - is < je - js;
      if (const int order = a.compare(is, ie - is, b, js, je - js)) return order < 0;
      i = ie;
      j = je;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

Listing list_inputs(const std::vector<std::string>& patterns, bool stack) {
  Listing listing;
  Walker walker(listing);
  std::set<std::string> known;
  for (const std::string& pattern : patterns) {
    std::error_code error;
    std::vector<std::string> files;
    bool folder = false;
    if (fs::is_directory(pattern, error)) {
      files = image_files_of(pattern, walker);
      folder = true;
    } else if (fs::exists(pattern, error)) {
      files = {pattern};
    } else if (is_glob(pattern)) {
      files = glob_files(pattern);
    } else {
      throw UsageError(pattern + ": no such file or folder");
    }
    if (files.empty()) throw UsageError(pattern + (folder ? ": no image files in this folder" : ": matches no file"));
    std::erase_if(files, [&](const std::string& file) { return !known.insert(normal_path(file)).second; });
    const bool slices = stack && (folder || is_glob(pattern) || patterns.size() > 1);
    if (slices && files.size() > 1)
      add_files(listing, files, true);
    else
      add_files(listing, files, false);
  }
  for (const WorkItem& item : listing.items)
    if (item.files.size() > 1) check_holes(item);
  return listing;
}

void plan_outputs(Listing& listing, const std::vector<std::pair<std::string, std::string>>& patterns) {
  std::map<std::string, std::string> writers;
  std::set<std::string> inputs;
  for (const WorkItem& item : listing.items)
    for (const std::string& file : item.files) inputs.insert(normal_path(file));
  std::size_t index = 0;
  for (WorkItem& item : listing.items) {
    ++index;
    const fs::path source = item.files.size() > 1 ? fs::path(item.label) : fs::path(item.files[0]);
    const fs::path path = source.filename().empty() || source == "." ? fs::absolute(source).lexically_normal() : source;
    OutputFacts facts;
    facts.name = path.filename().string();
    facts.stem = item.files.size() > 1 ? facts.name : path.stem().string();
    facts.ext = item.files.size() > 1 ? "" : path.extension().string();
    if (!facts.ext.empty()) facts.ext.erase(0, 1);
    facts.dir = path.parent_path().empty() ? "." : path.parent_path().string();
    facts.index = index;
    for (const auto& [name, pattern] : patterns) {
      const std::string output = expand_output(pattern, facts);
      const std::string normal = normal_path(output);
      if (inputs.count(normal)) throw UsageError(output + ": is an input of this run; outputs never replace inputs");
      const auto [other, fresh] = writers.emplace(normal, item.label);
      if (!fresh)
        throw UsageError(fmt::format(
            "{}: would be written for both {} and {}; use {{stem}}, {{name}}, {{dir}} or {{index}} in the output",
            output, other->second, item.label));
      item.outputs.push_back(output);
    }
  }
}

}  // namespace imgpipe
