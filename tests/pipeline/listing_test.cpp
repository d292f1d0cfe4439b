// Which files a run reads and writes: order, folders, globs, links, odd names, and what is refused before any work.
#include "pipeline/batch/listing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "io/image/errors.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// A folder of its own as the working directory: names in the tests are relative to it.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    home_ = fs::current_path();
    folder_ = fs::temp_directory_path() / ("imgpipe_listing_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(home_);
    fs::remove_all(folder_);
  }

  static void touch(const Names& names) {
    for (const std::string& name : names) {
      if (fs::path(name).has_parent_path()) fs::create_directories(fs::path(name).parent_path());
      std::ofstream(name) << "x";
    }
  }
  static Names found(const Names& patterns, bool stack = false) {
    Names files;
    for (const WorkItem& item : list_inputs(patterns, stack).items)
      files.insert(files.end(), item.files.begin(), item.files.end());
    return files;
  }
  static std::string fault_of(const Names& patterns, bool stack = false) {
    try {
      list_inputs(patterns, stack);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }
  static std::string output_fault(const Names& inputs, const Names& outputs, const Names& kept = {}) {
    Listing listing = list_inputs(inputs, false);
    std::vector<std::pair<std::string, std::string>> patterns;
    for (const std::string& output : outputs) patterns.emplace_back("", output);
    try {
      plan_outputs(listing, patterns, kept);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

 private:
  fs::path home_, folder_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// ---- order

struct Sorted {
  const char* name;
  Names names;
};
void PrintTo(const Sorted& row, std::ostream* out) { *out << row.name; }

class NaturalOrder : public testing::TestWithParam<Sorted> {};

TEST_P(NaturalOrder, IsFoundFromAnyOrder) {
  Names shuffled = GetParam().names;
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::sort(shuffled.begin(), shuffled.end(), natural_less);
    ASSERT_EQ(shuffled, GetParam().names);
  }
}

TEST_P(NaturalOrder, IsStrict) {
  const Names& names = GetParam().names;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j)
      EXPECT_EQ(natural_less(names[i], names[j]), i < j) << names[i] << " " << names[j];
}

INSTANTIATE_TEST_SUITE_P(
    Listing, NaturalOrder,
    testing::Values(Sorted{"numbers", {"s_1", "s_2", "s_9", "s_10", "s_11", "s_100"}},
                    Sorted{"prefix_first", {"", "a", "a1", "a1b", "ab", "b"}},
                    Sorted{"several_numbers", {"t1_z2", "t1_z10", "t2_z1", "t10_z1"}},
                    Sorted{"leading_zeros_break_ties", {"s001", "s01", "s1", "s02", "s2"}},
                    Sorted{"numbers_beyond_64_bits", {"s99999999999999999999", "s100000000000000000000"}},
                    Sorted{"zeros", {"s0", "s00", "s1"}}, Sorted{"bytes_as_unsigned", {"a", "z", "\xc3\xa4"}},
                    Sorted{"suffix_after_the_number", {"1.png", "2.png", "2a.png", "10.png"}}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- what is found

TEST_F(Files, OfAFolderComeInNaturalOrderThenItsFolders) {
  touch({"in/s10.png", "in/s2.png", "in/b/1.tif", "in/a/2.tif", "in/a/10.tif", "in/a10/x.npy", "in/a9/x.npy"});
  EXPECT_EQ(found({"in"}), (Names{"in/s2.png", "in/s10.png", "in/a/2.tif", "in/a/10.tif", "in/a9/x.npy", "in/a10/x.npy",
                                  "in/b/1.tif"}));
}

TEST_F(Files, OfAFolderAreImagesByTheirSuffixInAnyCase) {
  touch({"in/a.PNG", "in/b.Tif", "in/c.TIFF", "in/d.jpeg", "in/notes.txt", "in/e", "in/f.png.bak"});
  EXPECT_EQ(found({"in"}), (Names{"in/a.PNG", "in/b.Tif", "in/c.TIFF", "in/d.jpeg"}));
}

TEST_F(Files, OfTheDesktopArePassedOver) {
  touch({"in/a.png", "in/._a.png", "in/.DS_Store", "in/.hidden.png", "in/Thumbs.db", "in/desktop.ini",
         "in/__MACOSX/a.png", "in/.git/b.png", "in/sub/._c.png", "in/sub/c.png"});
  EXPECT_EQ(found({"in"}), (Names{"in/a.png", "in/sub/c.png"}));
  EXPECT_EQ(found({"in/*"}), (Names{"in/a.png"}));
  EXPECT_EQ(found({"in/**/*.png"}), (Names{"in/a.png", "in/sub/c.png"}));
  EXPECT_EQ(list_inputs({"in"}, false).warnings, Names{}) << "nothing to tell";
}

TEST_F(Files, NamedOutrightAreTakenWhateverTheirName) {
  touch({"in/.hidden.png", "in/noname"});
  EXPECT_EQ(found({"in/.hidden.png", "in/noname"}), (Names{"in/.hidden.png", "in/noname"}));
}

struct Glob {
  const char* name;
  const char* pattern;
  Names files;
};
void PrintTo(const Glob& row, std::ostream* out) { *out << row.name; }

class Globs : public Files, public testing::WithParamInterface<Glob> {};

TEST_P(Globs, Match) {
  touch({"in/a1.png", "in/a2.png", "in/a10.png", "in/b.tif", "in/x/a1.png", "in/x/y/a3.png", "in/z/b.tif"});
  EXPECT_EQ(found({GetParam().pattern}), GetParam().files);
}

INSTANTIATE_TEST_SUITE_P(
    Listing, Globs,
    testing::Values(
        Glob{"star", "in/*.png", {"in/a1.png", "in/a2.png", "in/a10.png"}},
        Glob{"question_mark", "in/a?.png", {"in/a1.png", "in/a2.png"}}, Glob{"set", "in/a[2-9].png", {"in/a2.png"}},
        Glob{"complement", "in/a[!1]*.png", {"in/a2.png"}}, Glob{"folder", "in/*/b.tif", {"in/z/b.tif"}},
        Glob{"all_levels", "in/**/*.png", {"in/a1.png", "in/a2.png", "in/a10.png", "in/x/a1.png", "in/x/y/a3.png"}},
        Glob{"all_levels_once", "in/**/**/a3.png", {"in/x/y/a3.png"}},
        Glob{"first_component", "i*/b.tif", {"in/b.tif"}}, Glob{"dot", "./in/b.*", {"./in/b.tif"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Files, OfAListKeepItsOrderAndComeOnce) {
  touch({"b.png", "a.png", "in/c.png", "in/d.png"});
  EXPECT_EQ(found({"b.png", "a.png", "in"}), (Names{"b.png", "a.png", "in/c.png", "in/d.png"}));
  EXPECT_EQ(found({"in/d.png", "in", "./in/../in/c.png", "in/*.png"}), (Names{"in/d.png", "in/c.png"}));
  EXPECT_EQ(found({"in", "in"}), (Names{"in/c.png", "in/d.png"}));
  EXPECT_EQ(found({".", "in"}).size(), 4u);
}

TEST_F(Files, ThatAreNotThereAreAnError) {
  touch({"in/notes.txt"});
  fs::create_directories("empty");
  EXPECT_TRUE(has(fault_of({"missing.png"}), "missing.png: no such file or folder"));
  EXPECT_TRUE(has(fault_of({"empty"}), "empty: no image files in this folder"));
  EXPECT_TRUE(has(fault_of({"in"}), "no image files"));
  EXPECT_TRUE(has(fault_of({"in/*.tif"}), "in/*.tif: matches no file"));
  EXPECT_TRUE(has(fault_of({"in/notes.txt", "missing"}), "missing"));
}

TEST_F(Files, ThatAreNoFilesAreNeverOpened) {
  ASSERT_EQ(mkfifo("pipe.png", 0600), 0);
  touch({"in/a.png"});
  ASSERT_EQ(mkfifo("in/pipe.png", 0600), 0);
  EXPECT_TRUE(has(fault_of({"pipe.png"}), "pipe.png: is neither a file nor a folder"));
  EXPECT_EQ(found({"in"}), Names{"in/a.png"});
  EXPECT_EQ(found({"in/*"}), Names{"in/a.png"});
}

// ---- links

TEST_F(Files, OfALoopComeOnce) {
  touch({"outside.png", "in/a.png", "in/sub/b.png"});
  fs::create_directory_symlink(".", "in/loop");
  fs::create_directory_symlink("..", "in/up");
  fs::create_directory_symlink("../..", "in/sub/top");
  fs::create_directory_symlink("../sub", "in/sub/self");
  EXPECT_EQ(found({"in"}), (Names{"in/a.png", "in/sub/b.png"}));
  EXPECT_EQ(found({"in/**/*.png"}), (Names{"in/a.png", "in/sub/b.png"}));
}

TEST_F(Files, OfALinkedFolderComeOnceUnderTheirOwnName) {
  touch({"in/real/a.png", "elsewhere/b.png"});
  fs::create_directory_symlink("real", "in/alias");
  fs::create_directory_symlink("../elsewhere", "in/far");
  EXPECT_EQ(found({"in"}), (Names{"in/real/a.png", "in/far/b.png"}));
}

TEST_F(Files, ThatAreLinksKeepTheirOwnName) {
  touch({"in/a.png", "store/0001.png"});
  fs::create_symlink("a.png", "in/l.png");
  fs::create_symlink("../store/0001.png", "in/m.png");
  EXPECT_EQ(found({"in"}), (Names{"in/a.png", "in/l.png", "in/m.png"}));
}

TEST_F(Files, ThatAreDeadLinksAreToldAndLeftOut) {
  touch({"in/a.png"});
  fs::create_symlink("nowhere", "in/dead.png");
  fs::create_symlink("self.png", "in/self.png");
  for (const char* pattern : {"in", "in/*.png", "in/**/*.png"}) {
    const Listing listing = list_inputs({pattern}, false);
    EXPECT_EQ(listing.items.size(), 1u) << pattern;
    EXPECT_EQ(listing.warnings, (Names{"in/dead.png: a link to nothing", "in/self.png: a link to nothing"})) << pattern;
  }
}

// ---- names

const Names odd_names = {"a%d",
                         "a%%",
                         "b[0]",
                         "c:d",
                         "-e",
                         "f\ng",
                         "*",
                         "?",
                         "{stem}",
                         "%s%n",
                         "\xc3\xa4 1's",
                         "cafe\xcc\x81",
                         "caf\xc3\xa9",
                         "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\x93",
                         "\xf0\x9f\x8c\x8d",
                         "latin\xe9",
                         "trailing ",
                         " leading",
                         "a.b.c",
                         "\"",
                         "\\",
                         std::string(200, 'n')};

TEST_F(Files, NamesAreLiteral) {
  for (const std::string& name : odd_names) {
    touch({"in/" + name + ".png"});
    EXPECT_EQ(found({"in/" + name + ".png"}), Names{"in/" + name + ".png"});
  }
  const Names all = found({"in"});
  EXPECT_EQ(all.size(), odd_names.size());
  for (const std::string& name : odd_names) EXPECT_EQ(std::count(all.begin(), all.end(), "in/" + name + ".png"), 1);
}

TEST_F(Files, LiteralNamesWinOverGlobs) {
  touch({"b[0].png", "b0.png", "d[0]/x.png", "d0/x.png", "*/y.png", "e/y.png"});
  EXPECT_EQ(found({"b[0].png"}), Names{"b[0].png"});
  EXPECT_EQ(found({"b[0]*"}), Names{"b0.png"});
  EXPECT_EQ(found({"d[0]/*.png"}), Names{"d[0]/x.png"}) << "a folder that exists is literal too";
  EXPECT_EQ(found({"d[0]"}), Names{"d[0]/x.png"});
  EXPECT_EQ(found({"*/y.png"}), Names{"*/y.png"});
}

TEST_F(Files, AGlobMatchesCharactersNotBytes) {
  touch({"caf\xc3\xa9.png", "cafe.png", "caf\xe9.png", "cafes.png"});
  const Names one = found({"caf?.png"});
  EXPECT_EQ(std::count(one.begin(), one.end(), "caf\xc3\xa9.png"), 1);
  EXPECT_EQ(std::count(one.begin(), one.end(), "cafe.png"), 1);
  EXPECT_EQ(std::count(one.begin(), one.end(), "cafes.png"), 0);
  EXPECT_EQ(found({"caf[\xc3\xa9\xc3\xa8].png"}), Names{"caf\xc3\xa9.png"});
  EXPECT_EQ(found({"caf*.png"}).size(), 4u) << "names that are not UTF-8 too";
}

TEST_F(Files, NamesPassIntoOutputsUnchanged) {
  for (const std::string& name : odd_names) touch({"in/" + name + ".png"});
  Listing listing = list_inputs({"in"}, false);
  plan_outputs(listing, {{"", "out/{stem}.tif"}});
  for (const WorkItem& item : listing.items)
    EXPECT_EQ(item.outputs[0], "out/" + fs::path(item.files[0]).stem().string() + ".tif");
}

// ---- outputs

struct Template {
  const char* name;
  const char* input;
  const char* pattern;
  const char* output;
};
void PrintTo(const Template& row, std::ostream* out) { *out << row.name; }

class Templates : public Files, public testing::WithParamInterface<Template> {};

TEST_P(Templates, Expand) {
  touch({GetParam().input});
  Listing listing = list_inputs({GetParam().input}, false);
  plan_outputs(listing, {{"", GetParam().pattern}});
  EXPECT_EQ(listing.items.at(0).outputs, Names{GetParam().output});
}

INSTANTIATE_TEST_SUITE_P(Listing, Templates,
                         testing::Values(Template{"stem", "in/a.tif", "out/{stem}.png", "out/a.png"},
                                         Template{"stem_keeps_inner_dots", "in/a.b.tif", "out/{stem}.png",
                                                  "out/a.b.png"},
                                         Template{"name", "in/a.tif", "out/{name}", "out/a.tif"},
                                         Template{"ext", "in/a.TIF", "out/x.{ext}", "out/x.TIF"},
                                         Template{"no_ext", "in/a", "out/x{ext}.png", "out/x.png"},
                                         Template{"dir", "in/x/a.tif", "out/{dir}/{name}", "out/in/x/a.tif"},
                                         Template{"dir_of_a_bare_name", "a.tif", "out/{dir}/{name}", "out/./a.tif"},
                                         Template{"index", "a.tif", "out/{index}.png", "out/1.png"},
                                         Template{"twice", "a.tif", "{stem}/{stem}.png", "a/a.png"},
                                         Template{"braces", "a.tif", "{{{stem}}}.png", "{a}.png"},
                                         Template{"hidden_stem", "in/.a.png", "out/{stem}.tif", "out/.a.tif"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(Files, AreNumberedFromOneInTheirOrder) {
  touch({"in/s10.png", "in/s9.png", "in/s1.png"});
  Listing listing = list_inputs({"in"}, false);
  plan_outputs(listing, {{"", "out/{index}.png"}, {"mask", "out/{index}_mask.png"}});
  ASSERT_EQ(listing.items.size(), 3u);
  EXPECT_EQ(listing.items[1].label, "in/s9.png");
  EXPECT_EQ(listing.items[1].outputs, (Names{"out/2.png", "out/2_mask.png"}));
  EXPECT_EQ(listing.items[2].outputs, (Names{"out/3.png", "out/3_mask.png"}));
}

TEST_F(Files, ThatWouldBeWrittenTwiceAreRefused) {
  touch({"in/a.png", "in/a.tif", "in/x/a.png"});
  const std::string fault = output_fault({"in/a.png", "in/a.tif"}, {"out/{stem}.png"});
  EXPECT_TRUE(has(fault, "out/a.png: would be written for both in/a.png and in/a.tif")) << fault;
  EXPECT_TRUE(has(fault, "{name}")) << fault;
  EXPECT_EQ(output_fault({"in/a.png", "in/a.tif"}, {"out/{name}.png"}), "");
  EXPECT_TRUE(has(output_fault({"in/a.png", "in/x/a.png"}, {"out/{name}"}), "both"));
  EXPECT_EQ(output_fault({"in/a.png", "in/x/a.png"}, {"out/{dir}/{name}"}), "");
  EXPECT_TRUE(has(output_fault({"in/a.png"}, {"out/{stem}.png", "out/./{stem}.png"}), "both"))
      << "two results, one file";
  EXPECT_TRUE(has(output_fault({"in"}, {"out.png"}), "both"));
}

TEST_F(Files, ThatAreOneByALinkAreRefusedAsTwo) {
  touch({"in/a.png", "real/keep.txt"});
  fs::create_directory_symlink("real", "alias");
  EXPECT_TRUE(has(output_fault({"in/a.png"}, {"real/{name}", "alias/{name}"}), "both"));
}

TEST_F(Files, ThatAreInputsAreNeverOutputs) {
  touch({"in/a.png", "in/b.png", "dark.tif"});
  fs::create_directory_symlink("in", "alias");
  fs::create_symlink("in/a.png", "link.png");
  for (const char* pattern :
       {"in/{name}", "./in/../in/{name}", "alias/{name}", "{dir}/{stem}.png", "in/b.png", "link.png"})
    EXPECT_TRUE(has(output_fault({"in/a.png", "in/b.png"}, {pattern}), "is an input of this run")) << pattern;
  EXPECT_TRUE(has(output_fault({"link.png"}, {"in/a.png"}), "is an input"));
  EXPECT_EQ(output_fault({"in/a.png"}, {"in/c.png"}), "") << "the same folder is no fault";
  EXPECT_TRUE(has(output_fault({"in/a.png"}, {"dark.tif"}, {"dark.tif"}), "is an input")) << "a second image";
}

// ---- stacks

TEST_F(Files, OfAStackAreOneItemAFolder) {
  touch({"in/a/z2.png", "in/a/z10.png", "in/a/z3.png", "in/a/z4.png", "in/b/1.tif", "in/b/2.tif"});
  fs::remove("in/a/z10.png");
  Listing listing = list_inputs({"in"}, true);
  ASSERT_EQ(listing.items.size(), 2u);
  EXPECT_EQ(listing.items[0].files, (Names{"in/a/z2.png", "in/a/z3.png", "in/a/z4.png"}));
  EXPECT_EQ(listing.items[0].label, "in/a");
  plan_outputs(listing, {{"", "out/{dir}_{stem}_{name}_{ext}_{index}.tif"}});
  EXPECT_EQ(listing.items[1].outputs, Names{"out/in_b_b__2.tif"});
  EXPECT_EQ(list_inputs({"in/a/*.png"}, true).items.size(), 1u);
}

TEST_F(Files, OfAStackInTheWorkingFolderAreNamedAfterIt) {
  touch({"z1.png", "z2.png"});
  Listing listing = list_inputs({"."}, true);
  plan_outputs(listing, {{"", "out/{stem}.tif"}});
  EXPECT_EQ(listing.items.at(0).outputs, Names{"out/" + fs::current_path().filename().string() + ".tif"});
}

struct Slices {
  const char* name;
  Names names;
  const char* fault;  ///< "" for none
};
void PrintTo(const Slices& row, std::ostream* out) { *out << row.name; }

class Holes : public Files, public testing::WithParamInterface<Slices> {};

TEST_P(Holes, AreToldByBothNeighbours) {
  for (const std::string& name : GetParam().names) touch({"in/" + name});
  const std::string fault = fault_of({"in"}, true);
  if (std::string(GetParam().fault).empty())
    EXPECT_EQ(fault, "");
  else
    EXPECT_TRUE(has(fault, GetParam().fault)) << fault;
  EXPECT_EQ(fault_of({"in"}, false), "") << "only the slices of a stack follow each other";
}

INSTANTIATE_TEST_SUITE_P(
    Listing, Holes,
    testing::Values(
        Slices{"none", {"z9.png", "z10.png", "z11.png"}, ""},
        Slices{"from_zero_padded", {"z008.png", "z009.png", "z010.png"}, ""},
        Slices{"one_missing", {"z1.png", "z2.png", "z4.png"}, "z4.png follows z2.png"},
        Slices{"twice", {"z1.png", "z01.png", "z2.png"}, "z1.png follows z01.png"},
        Slices{"number_before_a_word", {"z1_gray.png", "z2_gray.png", "z4_gray.png"}, "z4_gray.png follows"},
        Slices{
            "number_before_a_constant_number", {"z1_c0.png", "z2_c0.png", "z4_c0.png"}, "z4_c0.png follows z2_c0.png"},
        Slices{"constant_number_first", {"t7_z1.png", "t7_z2.png", "t7_z5.png"}, "t7_z5.png follows"},
        Slices{"two_numbers_vary", {"t1_z1.png", "t1_z2.png", "t2_z1.png", "t2_z2.png"}, ""},
        Slices{"words", {"a.png", "b.png", "d.png"}, ""}, Slices{"other_words", {"a1.png", "b2.png", "c4.png"}, ""},
        Slices{"dates", {"20240131235959123456789.png", "20240201000000123456789.png"}, ""}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace imgpipe
