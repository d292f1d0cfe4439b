// The arrows of the layout: pipeline -> filters -> io/image, pipeline -> io/formats -> io/image; libraries in their
// rooms.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

struct Rule {
  const char* room;                      ///< files below this folder…
  std::vector<const char*> forbidden;    ///< …include nothing that begins so
  std::vector<const char*> except = {};  ///< but in these folders
};

const std::vector<Rule> rules = {
    {"io/image", {"io/formats", "filters/", "pipeline/", "tests/"}},
    {"io/formats", {"filters/", "pipeline/", "tests/"}},
    {"filters", {"io/formats", "pipeline/", "tests/"}},
    {"pipeline", {"tests/"}},
    {"io", {"opencv2/", "yaml-cpp/", "boost/", "tbb/", "cuda", "nvrtc", "nlohmann/"}},
    {"filters", {"opencv2/", "yaml-cpp/", "boost/", "tbb/", "cuda", "nvrtc", "nlohmann/", "tiff", "png", "jpeg"}},
    {"pipeline", {"boost/"}, {"pipeline/commands"}},
    {"pipeline", {"cuda.h", "nvrtc.h"}, {"pipeline/exec/cuda"}},
    {"pipeline", {"yaml-cpp/"}, {"pipeline/config"}},
    {"pipeline", {"tiffio", "png.h", "jpeglib", "opencv2/"}},
};

std::vector<std::string> includes_of(const fs::path& path) {
  std::ifstream file(path);
  const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::vector<std::string> names;
  std::smatch match;
  for (std::string line; std::getline(file, line);)
    if (std::regex_search(line, match, include)) names.push_back(match[1]);
  return names;
}

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

TEST(Includes, FollowTheArrows) {
  const fs::path root = IMGPIPE_SOURCE_DIR;
  int files = 0;
  for (const Rule& rule : rules)
    for (const auto& entry : fs::recursive_directory_iterator(root / rule.room)) {
      const std::string suffix = entry.path().extension().string(), name = fs::relative(entry.path(), root).string();
      if (suffix != ".h" && suffix != ".cpp" && suffix != ".cuh" && suffix != ".cu") continue;
      if (std::any_of(rule.except.begin(), rule.except.end(), [&](const char* e) { return begins(name, e); })) continue;
      ++files;
      for (const std::string& include : includes_of(entry.path()))
        for (const char* forbidden : rule.forbidden)
          EXPECT_FALSE(begins(include, forbidden)) << name << " includes " << include;
    }
  EXPECT_GT(files, 100);
}

TEST(Includes, DeviceHeadersNeedNoSystemHeaders) {
  const fs::path root = IMGPIPE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "filters"))
    if (entry.path().extension() == ".cuh")
      for (const std::string& include : includes_of(entry.path()))
        EXPECT_TRUE(begins(include, "filters/") || include == "cstdint") << entry.path() << " includes " << include;
}

/// The executors know kinds, halos and functions, never a filter.
TEST(Includes, NoFilterIsNamedOutsideFilters) {
  const fs::path root = IMGPIPE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "pipeline"))
    if (entry.is_regular_file())
      for (const std::string& include : includes_of(entry.path()))
        EXPECT_TRUE(!begins(include, "filters/") || begins(include, "filters/base/"))
            << entry.path() << " includes " << include;
}

}  // namespace
}  // namespace imgpipe
