// Bad files among good ones.
#include <algorithm>

#include "tests/cli/program.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

class BadInput : public Cli {};

TEST_F(BadInput, EveryCorruptFileIsToldByItsOwnName) {
  const char* suffixes[] = {".tif", ".png", ".jpg", ".npy"};
  for (int i = 0; i < 30; ++i) {
    const std::string name = "in/" + std::to_string(i);
    save(at(name + "_good.tif"), random_image(make_desc(DType::u8, {30 + i, 20}), i));
    const std::string bad = at(name + "_bad" + suffixes[i % 4]);
    save(bad, random_image(make_desc(DType::u8, {30 + i, 20}), i));
    fs::resize_file(bad, fs::file_size(bad) / 2);
  }
  pipeline("input: in\noutput: out/{index}/deep/{stem}_{ext}.tif\nsteps: [invert]\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --jobs 16 --report r.json");
  EXPECT_EQ(outcome.code, 1);
  const Json many = report();
  EXPECT_EQ(many["done"], 30);
  EXPECT_EQ(many["failed"], 30);
  for (const Json& file : many["files"]) {
    const std::string input = file["input"];
    EXPECT_EQ(file["status"], has(input, "good") ? "done" : "failed") << input;
    if (has(input, "good"))
      EXPECT_TRUE(fs::exists(at(file["outputs"][0]))) << input;
    else
      EXPECT_EQ(file["error"].get<std::string>().rfind(input + ": ", 0), 0u) << file["error"];
  }
  const auto lines = lines_of(outcome.err);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](auto& l) { return l.rfind("error: in/", 0) == 0; }), 30);
  EXPECT_EQ(bytes_below("out").size(), 30u);
  ASSERT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --report r.json").code, 1);
  const Json one = report();
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_EQ(many["files"][i].value("error", ""), one["files"][i].value("error", ""));
}

TEST_F(BadInput, TruncatedAndDamagedFilesGiveNoOutput) {
  const Image photo = random_image(make_desc(DType::u8, {64, 64}, 3), 1);
  for (const char* name : {"half.jpg", "whole.jpg", "noend.jpg", "half.png", "flipped.png", "half.tif", "half.npy"})
    save(at(std::string("in/") + name), photo);
  for (const char* name : {"half.jpg", "half.png", "half.tif", "half.npy"})
    fs::resize_file(at(std::string("in/") + name), fs::file_size(at(std::string("in/") + name)) / 2);
  fs::resize_file(at("in/noend.jpg"), fs::file_size(at("in/noend.jpg")) - 2);
  std::string png = get(at("in/flipped.png"));
  png[png.size() / 2] ^= 0x10;
  put(at("in/flipped.png"), png);
  pipeline("input: in\noutput: out/{name}.tif\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  for (const char* name : {"half.jpg", "half.png", "flipped.png", "half.tif", "half.npy"}) {
    EXPECT_TRUE(has(outcome.err, std::string("error: in/") + name + ": ")) << outcome.err;
    EXPECT_FALSE(fs::exists(at(std::string("out/") + name + ".tif"))) << name;
  }
  EXPECT_TRUE(has(outcome.err, "in/noend.jpg: warning: ")) << "all pixels are there, so they are kept: " << outcome.err;
  EXPECT_EQ(get(at("out/noend.jpg.tif")), get(at("out/whole.jpg.tif")));
  EXPECT_EQ(leftovers(), 0u);
}

TEST_F(BadInput, EmptyAndTinyFilesAreErrorsOfTheirOwn) {
  save(at("in/zz_good.png"), gray_);
  std::size_t bad = 0;
  for (const char* suffix : {".png", ".jpg", ".tif", ".npy"}) {
    save(at(std::string("whole") + suffix), gray_);
    const std::string whole = get(at(std::string("whole") + suffix));
    for (std::size_t size = 0; size <= 32; ++size, ++bad)
      put(at("in/" + std::to_string(size) + suffix), whole.substr(0, size));
  }
  pipeline("input: in\noutput: out/{name}.tif\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  const Json report = this->report();
  EXPECT_EQ(report["failed"], bad);
  EXPECT_EQ(report["done"], 1);
  for (const Json& file : report["files"]) {
    const std::string input = file["input"], error = file.value("error", "");
    if (has(input, "good")) continue;
    EXPECT_EQ(error.rfind(input + ": ", 0), 0u) << error;
    EXPECT_EQ(has(error, "empty file"), has(input, "/0.")) << error;
  }
  EXPECT_EQ(bytes_below("out").size(), 1u);
}

TEST_F(BadInput, ContentDecidesAndTextIsAnError) {
  save(at("in/a.jpg"), gray_);
  save(at("x.png"), gray_);
  fs::rename(at("x.png"), at("in/b.jpg"));
  save(at("in/c.JPG"), gray_);
  put(at("in/d.png"), "some text that is no image\n");
  save(at("in/E.TIF"), gray_);
  pipeline("input: in\noutput: out/{name}.npy\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(bytes_below("out").size(), 4u);
  EXPECT_EQ(difference(gray_, load(at("out/b.jpg.npy"))), "");
  EXPECT_TRUE(has(outcome.err, "error: in/d.png: "));
  EXPECT_TRUE(has(outcome.err, "in/b.jpg: warning: b.jpg is named as jpeg but holds png")) << outcome.err;
  for (const char* rightly : {"a.jpg is named", "c.JPG is named", "E.TIF is named"})
    EXPECT_FALSE(has(outcome.err, rightly)) << outcome.err;
}

TEST_F(BadInput, AnImageThatThePipelineCannotTakeIsItsOwnErrorWhereverItStands) {
  const Image deep = random_image(make_desc(DType::u16, {8, 8}), 1);
  pipeline("input: in\noutput: out/{stem}.jpg\nsteps: []\n");
  for (const char* odd : {"in/a.png", "in/c.png"}) {
    for (const char* name : {"in/a.png", "in/b.png", "in/c.png"})
      save(at(name), odd == std::string(name) ? deep : gray_);
    const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "JPEG holds")) << outcome.err;
    EXPECT_EQ(report()["done"], 2);
    EXPECT_EQ(report()["failed"], 1);
    fs::remove_all(at("out"));
  }
  for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) save(at(name), deep);
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu").code, 2) << "where it can take none, nothing is done";
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(BadInput, AStepThatCannotTakeAnImageIsToldWithTheImagesName) {
  ImageDesc spaced = make_desc(DType::u8, {8, 8});
  spaced.geometry.unit = "mm";
  save(at("in/a.png"), gray_);
  save(at("in/b.tif"), random_image(spaced, 1));
  pipeline("input: in\noutput: out/{stem}.tif\nsteps:\n  - gaussian: 1.5 mm\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.err, "error: in/a.png: p.yaml:4:5: gaussian: a length in mm needs")) << outcome.err;
  EXPECT_TRUE(fs::exists(at("out/b.tif")));
  EXPECT_EQ(imgpipe("check p.yaml --inputs").code, 1);
  EXPECT_TRUE(has(get(at("stderr")), "error: in/a.png: p.yaml:4:5: ")) << get(at("stderr"));
}

TEST_F(BadInput, StopsAtTheFirstErrorWhenAsked) {
  for (int i = 1; i <= 40; ++i) save(at("in/" + std::to_string(i) + ".png"), gray_);
  put(at("in/3.png"), "x");
  pipeline("input: in\noutput: out/{stem}.png\non_error: stop\nsteps: []\n");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --report r.json").code, 1);
  EXPECT_EQ(report()["done"], 2);
  EXPECT_EQ(report()["failed"], 1);
  EXPECT_EQ(report()["skipped"], 37);
  EXPECT_EQ(report()["files"][39]["status"], "skipped");
  EXPECT_EQ(imgpipe("run p.yaml --backend cpu --jobs 1 --set on_error=continue --report r.json").code, 1);
  EXPECT_EQ(report()["done"], 39);
}

TEST_F(BadInput, ReadsOddPathsAndSaysThemInFull) {
  const std::string folder =
      "\xc3\xa4 \xc3\xb6/\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\x93 1's/\xf0\x9f\x8c\x8d /" + std::string(200, 'n');
  const std::string composed = "caf\xc3\xa9", decomposed = "cafe\xcc\x81";
  save(at(folder + "/" + composed + ".png"), gray_);
  save(at(folder + "/" + decomposed + ".png"), random_image(make_desc(DType::u8, {5, 5}), 1));
  put(at(folder + "/bad.png"), "x");
  pipeline("input: \"" + folder + "\"\noutput: \"out/{dir}/{name}\"\nsteps: []\n");
  const Outcome outcome = imgpipe("run p.yaml --backend cpu --report r.json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(has(outcome.err, "error: " + folder + "/bad.png: ")) << outcome.err;
  EXPECT_EQ(load(at("out/" + folder + "/" + composed + ".png")).desc().extent.width, 40);
  EXPECT_EQ(load(at("out/" + folder + "/" + decomposed + ".png")).desc().extent.width, 5);
  EXPECT_EQ(report()["files"].size(), 3u);
}

}  // namespace
}  // namespace imgpipe::test
