// The cache of compiled kernels on disk: what is stored comes back whole or not at all.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "pipeline/exec/cuda/cache.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;
using namespace cuda;

/// Sets a variable of the environment, or removes it, for the life of the object.
class Variable {
 public:
  Variable(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> old_;
};

class CudaCache : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "imgpipe_cache_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = (root_ / "cache").string();
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string made_folder() {
    const Variable own("IMGPIPE_CACHE_DIR", folder_);
    return cache_folder().value();
  }
  static std::vector<fs::path> files_in(const fs::path& folder) {
    return {fs::directory_iterator(folder), fs::directory_iterator()};
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  fs::path root_;
  std::string folder_;
};

const std::string binary(
    "\x7f"
    "ELF\0\n\xff and \0 more",
    17);

TEST_F(CudaCache, GivesBackWhatWasStored) {
  const std::string folder = made_folder();
  cache_write(folder, "key", binary);
  cache_write(folder, "other", "");
  EXPECT_EQ(cache_read(folder, "key"), binary);
  EXPECT_EQ(cache_read(folder, "other"), "");
  EXPECT_EQ(cache_read(folder, "keys"), std::nullopt);
  EXPECT_EQ(cache_read(folder, ""), std::nullopt);
  EXPECT_EQ(cache_read((root_ / "nowhere").string(), "key"), std::nullopt);
}

TEST_F(CudaCache, ReplacesAnEntry) {
  const std::string folder = made_folder();
  cache_write(folder, "key", "a longer payload");
  cache_write(folder, "key", "new");
  EXPECT_EQ(cache_read(folder, "key"), "new");
  EXPECT_EQ(files_in(folder).size(), 1u);
}

TEST_F(CudaCache, RefusesEveryFlippedByteAndEveryCutAndRecovers) {
  const std::string folder = made_folder();
  cache_write(folder, "key", binary);
  const fs::path file = files_in(folder).at(0);
  const std::string whole = read(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 1;
    write(file, flipped);
    EXPECT_EQ(cache_read(folder, "key"), std::nullopt) << "byte " << i;
    write(file, whole.substr(0, i));
    EXPECT_EQ(cache_read(folder, "key"), std::nullopt) << "cut at " << i;
  }
  write(file, whole + "x");
  EXPECT_EQ(cache_read(folder, "key"), std::nullopt);
  cache_write(folder, "key", binary);
  EXPECT_EQ(cache_read(folder, "key"), binary);
}

TEST_F(CudaCache, RefusesAnEntryUnderAnotherName) {
  const std::string folder = made_folder();
  cache_write(folder, "one", "first");
  const fs::path first = files_in(folder).at(0);
  cache_write(folder, "two", "second");
  for (const fs::path& file : files_in(folder))
    if (file != first) fs::copy_file(first, file, fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache_read(folder, "two"), std::nullopt);
}

TEST_F(CudaCache, WritersAtOnceLeaveOneWholeEntry) {
  const std::string folder = made_folder();
  const auto payload = [](int k) { return std::string(100 + 977 * k, static_cast<char>('a' + k)); };
  std::atomic<int> broken{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 25; ++i) {
        cache_write(folder, "key", payload(k));
        const auto found = cache_read(folder, "key");
        const int from = found && !found->empty() ? found->front() - 'a' : -1;
        if (from < 0 || from >= 8 || *found != payload(from)) ++broken;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(files_in(folder).size(), 1u);
}

TEST_F(CudaCache, MakesItsFolderForItsUserAlone) {
  struct stat status {};
  ASSERT_EQ(lstat(made_folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(status.st_uid, geteuid());
}

TEST_F(CudaCache, FollowsTheEnvironment) {
  const Variable home("HOME", root_ / "home"), none("IMGPIPE_CACHE_DIR", std::nullopt);
  {
    const Variable xdg("XDG_CACHE_HOME", root_ / "xdg");
    EXPECT_EQ(cache_folder(), (root_ / "xdg/imgpipe").string());
  }
  const Variable no_xdg("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(cache_folder(), (root_ / "home/.cache/imgpipe").string());
  const Variable no_home("HOME", std::nullopt);
  EXPECT_EQ(cache_folder(), std::nullopt);
}

TEST_F(CudaCache, TakesNoFolderThatOthersCanWrite) {
  const Variable own("IMGPIPE_CACHE_DIR", made_folder());
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(cache_folder(), std::nullopt);
  ASSERT_EQ(chmod(folder_.c_str(), 0770), 0);
  EXPECT_EQ(cache_folder(), std::nullopt);
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  EXPECT_EQ(cache_folder(), folder_);
}

TEST_F(CudaCache, TakesNoFolderOfSomebodyElse) {
  const bool root = geteuid() == 0;
  ASSERT_EQ(root ? chown(made_folder().c_str(), 12345, 12345) : 0, 0);
  const Variable own("IMGPIPE_CACHE_DIR", root ? folder_ : "/usr");
  EXPECT_EQ(cache_folder(), std::nullopt);
}

TEST_F(CudaCache, TakesNoLinkAndNoFile) {
  fs::create_directory_symlink(made_folder(), root_ / "link");
  const Variable link("IMGPIPE_CACHE_DIR", root_ / "link");
  EXPECT_EQ(cache_folder(), std::nullopt);
  write(root_ / "file", "text");
  const Variable file("IMGPIPE_CACHE_DIR", root_ / "file");
  EXPECT_EQ(cache_folder(), std::nullopt);
}

}  // namespace
}  // namespace imgpipe::test
