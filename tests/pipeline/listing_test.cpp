// Which files a run takes, in which order, and where its results go.
#include "pipeline/batch/listing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "io/image/errors.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(NaturalOrder, ComparesDigitsAsNumbers) {
  Names names{
      "s10", "s2", "s1", "s02", "a", "s2b", "s2a10", "s2a9", "B", "s99999999999999999999", "s100000000000000000000",
      ""};
  std::sort(names.begin(), names.end(), natural_less);
  const auto before = [&](const char* a, const char* b) {
    return std::find(names.begin(), names.end(), a) < std::find(names.begin(), names.end(), b);
  };
  for (const auto& [a, b] : {std::pair("s1", "s2"), std::pair("s2", "s10"), std::pair("s2a9", "s2a10"),
                             std::pair("s10", "s99999999999999999999"),
                             std::pair("s99999999999999999999", "s100000000000000000000"), std::pair("", "a")})
    EXPECT_TRUE(before(a, b)) << a << " " << b;
  for (const std::string& a : names) {
    EXPECT_FALSE(natural_less(a, a));
    for (const std::string& b : names)
      if (a != b) {
        EXPECT_NE(natural_less(a, b), natural_less(b, a)) << a << " " << b;
      }
  }
}

class Inputs : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("imgpipe_listing_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
    old_ = fs::current_path();
    fs::current_path(root_);
  }
  void TearDown() override {
    fs::current_path(old_);
    fs::remove_all(root_);
  }
  static void touch(const Names& names) {
    for (const std::string& name : names) {
      if (fs::path(name).has_parent_path()) fs::create_directories(fs::path(name).parent_path());
      std::ofstream(name) << "x";
    }
  }
  static Names files(const Names& patterns, bool stack = false) {
    Names names;
    for (const WorkItem& item : list_inputs(patterns, stack).items)
      names.insert(names.end(), item.files.begin(), item.files.end());
    for (std::string& name : names) name = fs::path(name).lexically_normal().string();
    return names;
  }
  static std::string refusal(const Names& patterns, bool stack = false) {
    try {
      list_inputs(patterns, stack);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  fs::path root_, old_;
};

TEST_F(Inputs, OfAFolderAreAllLevelsInNaturalOrder) {
  touch({"in/s10.png", "in/s2.png", "in/sub/b.png", "in/sub/deeper/c.png", "in/a.png"});
  const Names found = files({"in"});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), natural_less));
}

TEST_F(Inputs, OfGlobs) {
  touch({"in/a1.png", "in/a2.png", "in/a10.png", "in/b.tif", "in/sub/a3.png", "in/.hidden.png"});
  EXPECT_EQ(files({"in/a*.png"}), (Names{"in/a1.png", "in/a2.png", "in/a10.png"}));
  EXPECT_EQ(files({"in/a?.png"}), (Names{"in/a1.png", "in/a2.png"}));
  EXPECT_EQ(files({"in/[b-z].tif"}), (Names{"in/b.tif"}));
  EXPECT_EQ(files({"in/**/a3.png"}), (Names{"in/sub/a3.png"}));
  EXPECT_EQ(files({"in/*.png"}).size(), 3u) << "hidden files are passed over";
}

TEST_F(Inputs, NamesThatExistAreLiteral) {
  touch({"in/b[0].png", "in/b0.png", "in/*.png", "in/a%d.png"});
  EXPECT_EQ(files({"in/b[0].png"}), (Names{"in/b[0].png"}));
  EXPECT_EQ(files({"in/*.png"}), (Names{"in/*.png"}));
  EXPECT_EQ(files({"in/a%d.png"}), (Names{"in/a%d.png"}));
}

TEST_F(Inputs, OfListsKeepTheOrderOfTheListAndNameEachFileOnce) {
  touch({"b.png", "a.png", "in/c.png"});
  EXPECT_EQ(files({"b.png", "a.png", "in"}), (Names{"b.png", "a.png", "in/c.png"}));
  EXPECT_EQ(files({"a.png", "*.png"}), (Names{"a.png", "b.png"}));
}

TEST_F(Inputs, ThatDoNotExistAreNamed) {
  touch({"in/a.png"});
  EXPECT_NE(refusal({"nothing.png"}).find("nothing.png"), std::string::npos);
  EXPECT_NE(refusal({"in/*.tif"}).find("in/*.tif"), std::string::npos);
  fs::create_directories("empty");
  EXPECT_NE(refusal({"empty"}), "");
}

TEST_F(Inputs, DesktopFilesAndFolderLoopsAreNoInputs) {
  touch({"in/a.png", "in/._a.png", "in/.DS_Store", "in/Thumbs.db", "in/desktop.ini", "in/__MACOSX/a.png"});
  fs::create_directory_symlink(".", "in/loop");
  fs::create_directory_symlink("..", "in/up");
  fs::create_symlink("a.png", "in/link.png");
  fs::create_symlink("nowhere", "in/dead.png");
  const Listing listing = list_inputs({"in"}, false);
  ASSERT_EQ(listing.warnings.size(), 1u);
  EXPECT_NE(listing.warnings[0].find("dead.png"), std::string::npos);
  for (const WorkItem& item : listing.items)
    EXPECT_TRUE(item.label.ends_with("a.png") || item.label.ends_with("link.png")) << item.label;
}

TEST_F(Inputs, OfAStackAreOneVolumeWithoutHoles) {
  touch({"in/z9.png", "in/z10.png", "in/z11.png"});
  EXPECT_EQ(list_inputs({"in"}, true).items.size(), 1u);
  EXPECT_EQ(files({"in"}, true), (Names{"in/z9.png", "in/z10.png", "in/z11.png"}));
  touch({"in/z14.png"});
  const std::string hole = refusal({"in"}, true);
  EXPECT_NE(hole.find("z14.png"), std::string::npos) << hole;
  EXPECT_NE(hole.find("z11.png"), std::string::npos) << hole;
}

TEST_F(Inputs, OutputsAreExpandedAndCollisionsRefused) {
  touch({"in/a.png", "in/b.png", "in/sub/a.png"});
  Listing listing = list_inputs({"in"}, false);
  plan_outputs(listing, {{"", "out/{index}_{stem}.{ext}"}});
  Names outputs;
  for (const WorkItem& item : listing.items) outputs.push_back(item.outputs.at(0));
  EXPECT_EQ(outputs, (Names{"out/1_a.png", "out/2_b.png", "out/3_a.png"}));
  Listing same = list_inputs({"in"}, false);
  try {
    plan_outputs(same, {{"", "out/{stem}.png"}});
    ADD_FAILURE() << "two files a.png";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("out/a.png"), std::string::npos) << error.what();
  }
  Listing onto = list_inputs({"in"}, false);
  EXPECT_THROW(plan_outputs(onto, {{"", "{dir}/{name}"}}), UsageError);
}

}  // namespace
}  // namespace imgpipe
