// Pipeline files: what is accepted, and every fault with its place.
#include "pipeline/config/config.h"

#include <gtest/gtest.h>

#include "io/image/errors.h"

namespace imgpipe {
namespace {

std::string fault_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_config(text, "p.yaml", overrides);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

struct Fault {
  const char* text;
  const char* begins;    // place
  const char* contains;  // what is wrong, or allowed
};

class Refused : public testing::TestWithParam<Fault> {};

TEST_P(Refused, WithItsPlaceInOneLine) {
  const std::string fault = fault_of(GetParam().text);
  EXPECT_EQ(fault.rfind(GetParam().begins, 0), 0u) << fault;
  EXPECT_NE(fault.find(GetParam().contains), std::string::npos) << fault;
  EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, Refused,
    testing::Values(
        Fault{"steps:\n  - gaussian: {sigam: 3}\n", "p.yaml:2:16: ", "did you mean sigma"},
        Fault{"Steps: []\n", "p.yaml:1:1: ", "did you mean steps"},
        Fault{"steps: []\nbordr: reflect\n", "p.yaml:2:1: ", "did you mean border"},
        Fault{"steps:\n  - gausian: 2\n", "p.yaml:2:5: ", "did you mean gaussian"},
        Fault{"steps:\n  - median: {radius: 1, radius: 2}\n", "p.yaml:2:25: ", "duplicate key"},
        Fault{"steps: []\nsteps: []\n", "p.yaml:2:1: ", "duplicate key"},
        Fault{"steps: []\n---\nsteps: []\n", "p.yaml:", "second document"},
        Fault{"input: *.tif\nsteps: []\n", "p.yaml:1:8: ", "must be quoted: \"*.tif\""},
        Fault{"input: %d.tif\nsteps: []\n", "p.yaml:1:8: ", "must be quoted"},
        Fault{"input: a.png\n", "p.yaml:1:1: ", "`steps` is missing"}, Fault{"steps:\n", "p.yaml:", "steps: []"},
        Fault{"", "p.yaml:1:1: ", "empty"}, Fault{"hello\n", "p.yaml:1:1: ", "must be a map"},
        Fault{"- a\n- b\n", "p.yaml:1:1: ", "must be a map"}, Fault{"steps:\n\t- invert\n", "p.yaml:2:1: ", "tab"},
        Fault{"steps:\n  - median: 010\n", "p.yaml:2:13: ", "octal"},
        Fault{"steps:\n  - median: \"3\"\n", "p.yaml:2:13: ", "number"},
        Fault{"steps:\n  - gaussian: 1_000\n", "p.yaml:2:15: ", "must be"},
        Fault{"steps:\n  - gaussian: .nan\n", "p.yaml:2:15: ", "must be"},
        Fault{"steps:\n  - gaussian: -1\n", "p.yaml:2:15: ", "must be in [0, 1000000], got -1"},
        Fault{"steps:\n  - gaussian\n", "p.yaml:2:5: ", "sigma: is required"},
        Fault{"steps:\n  - gamma: [1]\n", "p.yaml:2:12: ", "must be a number, got a list"},
        Fault{"steps:\n  - invert: 3\n", "p.yaml:2:13: ", "takes no parameters"},
        Fault{"steps:\n  - invert: {border: mirro}\n", "p.yaml:2:22: ", "must be one of"},
        Fault{"steps:\n  - convert: uint9\n", "p.yaml:2:14: ", "did you mean uint8"},
        Fault{"steps:\n  - subtract: {with: backgrund}\n  - invert\n    \n", "p.yaml:2:22: ", "no earlier step"},
        Fault{"steps:\n  - invert: {with: a.png}\n", "p.yaml:2:14: ", "takes no second image"},
        Fault{"steps:\n  - invert:\n    from: x\n", "p.yaml:3:11: ", "known: input"},
        Fault{"steps:\n  - invert:\n    as: a\n  - invert:\n    as: a\n", "p.yaml:5:9: ", "taken"},
        Fault{"steps:\n  - invert:\n    median: 1\n", "p.yaml:3:5: ", "one filter"},
        Fault{"output: out/{stm}.png\nsteps: []\n", "p.yaml:1:9: ", "did you mean {stem}"},
        Fault{"output: {mask: a.png}\nsteps: []\n", "p.yaml:1:10: ", "no step has `as: mask`"},
        Fault{"volume: maybe\nsteps: []\n", "p.yaml:1:9: ", "auto, stack, pages"},
        Fault{"a: &x 1\nsteps: []\n", "p.yaml:1:", "anchors"}, Fault{"steps: [}\n", "p.yaml:1:", "YAML"},
        Fault{"input: caf\xe9.png\nsteps: []\n", "p.yaml:1:11: ", "UTF-8"}));

TEST(Accepted, ByteOrderMarkAndWindowsLineEnds) { EXPECT_EQ(fault_of("\xef\xbb\xbfsteps:\r\n  - median: 1\r\n"), ""); }
TEST(Accepted, Json) {
  EXPECT_EQ(fault_of("{\"input\": \"*.tif\", \"steps\": [{\"median\": {\"radius\": 2}}, \"invert\"]}"), "");
}
TEST(Accepted, NumbersOfEverySpelling) {
  for (const char* number : {"1", "+3", "1e-3", "1E3", ".5", "5.", "3.0"})
    EXPECT_EQ(fault_of(std::string("steps: [{gaussian: ") + number + "}]"), "") << number;
  EXPECT_EQ(fault_of("steps: [{median: 3.0}]"), "");
  EXPECT_NE(fault_of("steps: [{median: 1.5}]"), "");
}
TEST(Accepted, NamedStepsAndSecondImages) {
  const Config config = parse_config(
      "steps:\n  - median: 1\n    as: clean\n  - gaussian: {sigma: 9, as: background}\n  - subtract: {with: "
      "background, from: clean}\n  - add: {with: flat.tif}\n",
      "p.yaml", {});
  ASSERT_EQ(config.steps.size(), 4u);
  EXPECT_EQ(config.steps[0].as, "clean");
  EXPECT_EQ(config.steps[1].as, "background");
  EXPECT_EQ(config.steps[2].from, "clean");
  EXPECT_EQ(config.steps[3].with, "flat.tif");
}
TEST(Accepted, BorderAliases) {
  for (const auto& [word, border] : {std::pair("mirror", Border::reflect101), std::pair("symmetric", Border::reflect),
                                     std::pair("nearest", Border::replicate), std::pair("edge", Border::replicate),
                                     std::pair("clamp", Border::replicate)})
    EXPECT_EQ(parse_config(std::string("border: ") + word + "\nsteps: []\n", "p.yaml", {}).border, border);
}
TEST(Overrides, ChangeStepsAndKeys) {
  const std::string text = "steps:\n  - median: 1\n  - gaussian: {sigma: 2}\n";
  EXPECT_EQ(fault_of(text, {"steps.2.sigma=3", "steps.1=4", "border=wrap", "steps.2.gaussian.truncate=3"}), "");
  EXPECT_NE(fault_of(text, {"steps.9.sigma=3"}).find("there are 2 steps"), std::string::npos);
  EXPECT_NE(fault_of(text, {"steps.2.sigma=-3"}).find("must be in"), std::string::npos);
  EXPECT_NE(fault_of(text, {"sigma"}).find("PATH=VALUE"), std::string::npos);
  EXPECT_NE(fault_of(text, {"steps.2.sgima=3"}).find("did you mean sigma"), std::string::npos);
}
TEST(Outputs, ExpandTheirTokens) {
  const OutputFacts facts{"a", "a.tif", "tif", "in/x", 7};
  EXPECT_EQ(expand_output("out/{dir}/{stem}_{index}.{ext}", facts), "out/in/x/a_7.tif");
  EXPECT_EQ(expand_output("{{{name}}}", facts), "{a.tif}");
  EXPECT_ANY_THROW(expand_output("{steem}", facts));
  EXPECT_ANY_THROW(expand_output("{stem", facts));
}

}  // namespace
}  // namespace imgpipe
