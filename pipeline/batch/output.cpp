#include "pipeline/batch/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "filters/base/nearest.h"
#include "io/formats/format.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::mutex temporaries_mutex;
std::set<std::string> temporaries;

/// A temporary file that is gone unless it was renamed.
class Temporary {
 public:
  explicit Temporary(const std::string& target) {
    static std::atomic<unsigned> serial{0};
    const fs::path path(target);
    // The suffix stays last: some formats have several.
    name_ =
        (path.parent_path() / fmt::format(".imgpipe-{}-{}{}", getpid(), serial++, path.extension().string())).string();
    const std::lock_guard lock(temporaries_mutex);
    temporaries.insert(name_);
  }
  ~Temporary() {
    if (!kept_) unlink(name_.c_str());
    const std::lock_guard lock(temporaries_mutex);
    temporaries.erase(name_);
  }
  const std::string& name() const { return name_; }
  void rename_to(const std::string& target) {
    const int file = open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    const bool flushed = file >= 0 && fsync(file) == 0;
    if (file >= 0) close(file);
    if (!flushed) throw InputError(target, std::string("cannot be flushed to disk: ") + std::strerror(errno));
    if (rename(name_.c_str(), target.c_str()) != 0)
      throw InputError(target, std::string("cannot be put in place: ") + std::strerror(errno));
    kept_ = true;
  }

 private:
  std::string name_;
  bool kept_ = false;
};

std::vector<std::string> all_suffixes() {
  std::vector<std::string> suffixes;
  for (const Format& format : all_formats())
    if (format.write) suffixes.insert(suffixes.end(), format.suffixes.begin(), format.suffixes.end());
  return suffixes;
}

}  // namespace

std::string cannot_write(const std::string& path, const ImageDesc& desc, std::size_t pages) {
  const Format* format = format_for_output(path);
  if (!format || !format->write) {
    const std::string suffix = fs::path(path).extension().string();
    return (suffix.empty() ? "the name has no suffix that says the format" : "no format writes " + suffix) +
           did_you_mean(suffix, all_suffixes()) + "; known: " + listing(all_suffixes());
  }
  return format->cannot_hold(path, desc, pages).value_or("");
}

void write_output(const std::string& path, std::span<const Image> pages) {
  const std::string reason = cannot_write(path, pages[0].desc(), pages.size());
  if (!reason.empty()) throw InputError(path, reason);
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && !fs::is_directory(folder))
    throw InputError(folder.string(), "cannot be made a folder: " + error.message());
  Temporary temporary(path);
  try {
    format_for_output(path)->write(temporary.name(), pages, {});
  } catch (const InputError& failure) {
    throw InputError(path, failure.reason);
  }
  temporary.rename_to(path);
}

void remove_temporaries() {
  const std::lock_guard lock(temporaries_mutex);
  for (const std::string& name : temporaries) unlink(name.c_str());
}

}  // namespace imgpipe
