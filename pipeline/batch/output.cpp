#include "pipeline/batch/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
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
// Never destroyed: a signal may want it while the process ends.
std::set<std::string>& temporaries = *new std::set<std::string>;

constexpr const char* temporary_prefix = ".imgpipe-";

/// Temporary files that a killed process left in this folder: a living one holds a lock on its own.
void remove_abandoned(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().rfind(temporary_prefix, 0) != 0) continue;
    const int file = open(it->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(it->path().c_str());
    close(file);
  }
}

/// Once for each folder that this process writes to.
void tidy(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<std::string> tidied;
  const std::lock_guard lock(mutex);
  if (tidied.insert(folder.string()).second) remove_abandoned(folder);
}

/// A temporary file that is gone unless it was renamed. The lock says that its writer lives.
class Temporary {
 public:
  explicit Temporary(const std::string& target) {
    static std::atomic<unsigned> serial{0};
    const fs::path path(target);
    tidy(path.parent_path());
    // The suffix stays last: some formats have several.
    name_ =
        (path.parent_path() / fmt::format("{}{}-{}{}", temporary_prefix, getpid(), serial++, path.extension().string()))
            .string();
    const std::lock_guard lock(temporaries_mutex);
    file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw InputError(target, std::string("cannot be written: ") + std::strerror(errno));
    flock(file_, LOCK_EX | LOCK_NB);  // not every file system has locks
    temporaries.insert(name_);
  }
  Temporary(const Temporary&) = delete;
  ~Temporary() {
    if (!kept_) unlink(name_.c_str());
    close(file_);
    const std::lock_guard lock(temporaries_mutex);
    temporaries.erase(name_);
  }
  const std::string& name() const { return name_; }
  void rename_to(const std::string& target) {
    // By name: whoever took the file away has not taken this writer's data.
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
  int file_ = -1;
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
  write_whole(path, [&](const std::string& temporary) { format_for_output(path)->write(temporary, pages, {}); });
}

void write_whole(const std::string& path, const std::function<void(const std::string& temporary)>& write) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && !fs::is_directory(folder))
    throw InputError(folder.string(), "cannot be made a folder: " + error.message());
  Temporary temporary(path);
  try {
    write(temporary.name());
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
