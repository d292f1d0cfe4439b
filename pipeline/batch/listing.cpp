#include "pipeline/batch/listing.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <locale.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
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

const char* const dead_link = ": a link to nothing";

std::vector<std::string> sorted_names(const fs::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::string name = it->path().filename().string(); !passed_over(name)) names.push_back(std::move(name));
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

/// Walks one tree, each folder of it once (by device and inode), in natural order; linked folders come last, so that
/// a folder is found under its own name. A link to a folder above the tree is a loop like any other.
class Walker {
 public:
  explicit Walker(Listing& listing) : listing_(listing) {}

  std::vector<std::string> files_of(const std::string& root) {
    std::error_code error;
    for (fs::path above = fs::canonical(root, error); !error && above != above.root_path();) {
      above = above.parent_path();
      first_visit(above.string());
    }
    walk(root);
    for (std::size_t i = 0; i < links_.size(); ++i) walk(std::string(links_[i]));
    return std::move(files_);
  }

 private:
  bool first_visit(const std::string& folder) {
    struct stat status {};
    return stat(folder.c_str(), &status) == 0 && seen_.insert({status.st_dev, status.st_ino}).second;
  }

  void walk(const std::string& folder) {
    if (!first_visit(folder)) return;
    std::error_code error;
    const std::vector<std::string> names = sorted_names(folder, error);
    if (error) listing_.warnings.push_back(folder + ": " + error.message());
    std::vector<std::string> folders;
    for (const std::string& name : names) {
      const std::string path = (fs::path(folder) / name).string();
      struct stat status {};
      if (stat(path.c_str(), &status) != 0)
        listing_.warnings.push_back(path + (errno == ENOENT || errno == ELOOP ? dead_link : ": cannot be looked at"));
      else if (S_ISDIR(status.st_mode))
        (fs::is_symlink(path, error) ? links_ : folders).push_back(path);
      else if (S_ISREG(status.st_mode))
        files_.push_back(path);
    }
    for (const std::string& next : folders) walk(next);
  }

  Listing& listing_;
  std::vector<std::string> files_, links_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

bool is_glob(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// While it lives, a character of a pattern is one of UTF-8, on this thread.
class Utf8Characters {
 public:
  Utf8Characters() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_) before_ = uselocale(utf8_);
  }
  Utf8Characters(const Utf8Characters&) = delete;
  ~Utf8Characters() {
    if (!utf8_) return;
    uselocale(before_);
    freelocale(utf8_);
  }

 private:
  locale_t utf8_, before_ = nullptr;
};

/// Files that match a pattern, component by component; a component that exists as it is written is literal.
class Glob {
 public:
  Glob(const std::string& pattern, Listing& listing) : listing_(listing) {
    fs::path base;
    for (const fs::path& part : fs::path(pattern)) {
      if (part == "/")
        base = part;
      else if (parts_.empty() || part != "**" || parts_.back() != "**")
        parts_.push_back(part.string());
    }
    const Utf8Characters characters;
    match(base, 0, 0);
  }

  std::vector<std::string> files;

 private:
  void match(const fs::path& base, std::size_t at, int depth) {
    std::error_code error;
    if (at == parts_.size()) {
      if (fs::is_regular_file(base, error))
        files.push_back(base.string());
      else if (fs::is_symlink(base, error) && !fs::exists(base, error))
        listing_.warnings.push_back(base.string() + dead_link);
      return;
    }
    if (depth > 64) return;
    const std::string& part = parts_[at];
    if (part == "**") match(base, at + 1, depth + 1);
    if (!is_glob(part) || fs::exists(base / part, error)) return match(base / part, at + 1, depth + 1);
    const fs::path folder = base.empty() ? fs::path(".") : base;
    for (const std::string& name : sorted_names(folder, error)) {
      if (part == "**") {
        if (fs::is_directory(folder / name, error) && !fs::is_symlink(folder / name, error))
          match(base / name, at, depth + 1);
      } else if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) {
        match(base / name, at + 1, depth + 1);
      }
    }
  }

  Listing& listing_;
  std::vector<std::string> parts_;
};

std::vector<std::string> image_files_of(const std::string& folder, Listing& listing) {
  std::vector<std::string> files = Walker(listing).files_of(folder);
  std::erase_if(files, [](const std::string& file) { return !has_image_suffix(file); });
  return files;
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

/// A name as its runs of digits and what stands around them: "t7_z12" is {"7", "12"} and {"t", "_z", ""}.
struct Numbered {
  std::vector<std::string> numbers, texts{""};
  explicit Numbered(const std::string& name) {
    bool digits = false;
    for (const char c : name) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !digits) numbers.emplace_back();
      if (!digit && digits) texts.emplace_back();
      (digit ? numbers : texts).back() += c;
      digits = digit;
    }
    if (digits) texts.emplace_back();
  }
};

/// The one number in which all the names differ, or nothing when they differ otherwise.
std::vector<long long> numbers_of(const std::vector<std::string>& files) {
  std::vector<Numbered> names;
  for (const std::string& file : files) names.emplace_back(fs::path(file).stem().string());
  std::set<std::size_t> varying;
  for (const Numbered& name : names) {
    if (name.texts != names[0].texts) return {};
    for (std::size_t k = 0; k < name.numbers.size(); ++k)
      if (name.numbers[k] != names[0].numbers[k]) varying.insert(k);
  }
  if (varying.size() != 1) return {};
  std::vector<long long> numbers;
  for (const Numbered& name : names) {
    const std::string& digits = name.numbers[*varying.begin()];
    if (digits.size() > 18) return {};
    numbers.push_back(std::stoll(digits));
  }
  return numbers;
}

void check_holes(const WorkItem& item) {
  const std::vector<long long> numbers = numbers_of(item.files);
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - 1] + 1)
      throw UsageError(fmt::format("{}: the slices have a hole: {} follows {}", item.label,
                                   fs::path(item.files[i]).filename().string(),
                                   fs::path(item.files[i - 1]).filename().string()));
}

/// The same for every way to write this name; a link has a name of its own.
std::string spelled_once(const std::string& path) {
  const fs::path whole = fs::path(path).is_absolute() ? fs::path(path) : fs::current_path() / path;
  return normal_path(whole.parent_path().string()) + "/" + whole.filename().string();
}

/// Files that one input names; sets `folder` when it is one.
std::vector<std::string> files_named(const std::string& pattern, Listing& listing, bool& folder) {
  std::error_code error;
  folder = fs::is_directory(pattern, error);
  std::vector<std::string> files;
  if (folder)
    files = image_files_of(pattern, listing);
  else if (fs::is_regular_file(pattern, error))
    files = {pattern};
  else if (fs::exists(pattern, error))
    throw UsageError(pattern + ": is neither a file nor a folder");
  else if (is_glob(pattern))
    files = Glob(pattern, listing).files;
  else
    throw UsageError(pattern + ": no such file or folder");
  if (files.empty()) throw UsageError(pattern + (folder ? ": no image files in this folder" : ": matches no file"));
  return files;
}

OutputFacts facts_of(const WorkItem& item, std::size_t index) {
  const bool stack = item.files.size() > 1;
  const fs::path source = stack ? fs::path(item.label) : fs::path(item.files[0]);
  const bool unnamed = source.filename().empty() || source.filename() == "." || source.filename() == "..";
  const fs::path path = unnamed ? fs::canonical(source) : source;
  OutputFacts facts;
  facts.name = path.filename().string();
  facts.stem = stack ? facts.name : path.stem().string();
  facts.ext = stack ? "" : path.extension().string();
  if (!facts.ext.empty()) facts.ext.erase(0, 1);
  facts.dir = path.parent_path().empty() ? "." : path.parent_path().string();
  facts.index = index;
  return facts;
}

}  // namespace

std::string normal_path(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(path, error), error).string();
}

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
  std::set<std::string> known;
  for (const std::string& pattern : patterns) {
    bool folder = false;
    std::vector<std::string> files = files_named(pattern, listing, folder);
    std::erase_if(files, [&](const std::string& file) { return !known.insert(spelled_once(file)).second; });
    add_files(listing, files, stack && files.size() > 1 && (folder || is_glob(pattern)));
  }
  for (const WorkItem& item : listing.items)
    if (item.files.size() > 1) check_holes(item);
  return listing;
}

void plan_outputs(Listing& listing, const std::vector<std::pair<std::string, std::string>>& patterns,
                  const std::vector<std::string>& others) {
  std::map<std::string, std::string> writers;
  std::set<std::string> inputs;
  for (const WorkItem& item : listing.items)
    for (const std::string& file : item.files) inputs.insert(normal_path(file));
  for (const std::string& file : others) inputs.insert(normal_path(file));
  std::size_t index = 0;
  for (WorkItem& item : listing.items) {
    const OutputFacts facts = facts_of(item, ++index);
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
