// Pipeline files: what is accepted, and every fault with its place.
#include "pipeline/config/config.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "filters/base/params.h"
#include "io/image/errors.h"
#include "pipeline/config/yaml.h"
#include "pipeline/plan/chain.h"
#include "tests/support/chain.h"

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

void PrintTo(const Fault& row, std::ostream* out) { *out << testing::PrintToString(row.text); }

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
        Fault{"steps:\n  - gaussian: 010 mm\n", "p.yaml:2:15: ", "must be"},
        Fault{"steps:\n  - normalize: {low: 010%}\n", "p.yaml:2:22: ", "must be"},
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

// ---- scalars: what each spelling is as a boolean, a whole number and a number

struct Scalar {
  const char* text;
  std::optional<bool> boolean;
  std::optional<int> whole;
  std::optional<double> number;
};

void PrintTo(const Scalar& row, std::ostream* out) { *out << testing::PrintToString(row.text); }

class Scalars : public testing::TestWithParam<Scalar> {
 protected:
  static Node node() { return parse_yaml(std::string("value: ") + GetParam().text + "\n").entries.at(0).second; }
  template <class T>
  static void expect(const std::optional<T>& wanted) {
    if (wanted)
      EXPECT_EQ(imgpipe::ParamType<T>::parse(node()), *wanted);
    else
      EXPECT_THROW(imgpipe::ParamType<T>::parse(node()), NodeError);
  }
};

TEST_P(Scalars, AsBoolean) { expect<bool>(GetParam().boolean); }
TEST_P(Scalars, AsWholeNumber) { expect<int>(GetParam().whole); }
TEST_P(Scalars, AsNumber) { expect<double>(GetParam().number); }

constexpr auto no = std::nullopt;

INSTANTIATE_TEST_SUITE_P(
    Config, Scalars,
    testing::Values(
        Scalar{"true", true, no, no}, Scalar{"True", true, no, no}, Scalar{"TRUE", true, no, no},
        Scalar{"false", false, no, no}, Scalar{"tRue", no, no, no}, Scalar{"yes", no, no, no}, Scalar{"no", no, no, no},
        Scalar{"on", no, no, no}, Scalar{"off", no, no, no}, Scalar{"y", no, no, no}, Scalar{"\"true\"", no, no, no},
        Scalar{"0", no, 0, 0.0}, Scalar{"1", no, 1, 1.0}, Scalar{"-1", no, -1, -1.0}, Scalar{"+3", no, 3, 3.0},
        Scalar{"3.0", no, 3, 3.0}, Scalar{"1e3", no, 1000, 1000.0}, Scalar{"1E3", no, 1000, 1000.0},
        Scalar{"1e-3", no, no, 0.001}, Scalar{".5", no, no, 0.5}, Scalar{"5.", no, 5, 5.0}, Scalar{"1.5", no, no, 1.5},
        Scalar{"2147483647", no, 2147483647, 2147483647.0}, Scalar{"2147483648", no, no, 2147483648.0},
        Scalar{"-2147483648", no, -2147483647 - 1, -2147483648.0}, Scalar{"1e9", no, 1000000000, 1e9},
        Scalar{"1e99", no, no, 1e99}, Scalar{"1e999", no, no, no}, Scalar{"0.1", no, no, 0.1},
        Scalar{"010", no, no, no}, Scalar{"-010", no, no, no}, Scalar{"00", no, no, no}, Scalar{"0o10", no, no, no},
        Scalar{"0x1F", no, no, no}, Scalar{"0b11", no, no, no}, Scalar{"01.5", no, no, no}, Scalar{".nan", no, no, no},
        Scalar{".inf", no, no, no}, Scalar{"-.inf", no, no, no}, Scalar{"nan", no, no, no}, Scalar{"inf", no, no, no},
        Scalar{"1_000", no, no, no}, Scalar{"1,5", no, no, no}, Scalar{"0.5f", no, no, no}, Scalar{"1 2", no, no, no},
        Scalar{"1e", no, no, no}, Scalar{"--1", no, no, no}, Scalar{"-", no, no, no}, Scalar{".", no, no, no},
        Scalar{"'3'", no, no, no}, Scalar{"~", no, no, no}, Scalar{"null", no, no, no}, Scalar{"", no, no, no},
        Scalar{"[1]", no, no, no}, Scalar{"{a: 1}", no, no, no}));

TEST(Ranges, OutOfRangeSayTheRange) {
  EXPECT_EQ(fault_of("steps: [{median: -1}]"), "p.yaml:1:18: median.radius: must be in [0, 127], got -1");
  EXPECT_EQ(fault_of("steps: [{median: 1e9}]"), "p.yaml:1:18: median.radius: must be in [0, 127], got 1000000000");
  EXPECT_EQ(fault_of("steps: [{median: 127}]"), "");
  EXPECT_EQ(fault_of("steps: [{median: 128}]"), "p.yaml:1:18: median.radius: must be in [0, 127], got 128");
}

// ---- encodings

struct Encoding {
  const char* name;
  std::string text;
  const char* fault;  // "" when it is read
};
void PrintTo(const Encoding& row, std::ostream* out) { *out << row.name; }

class Encodings : public testing::TestWithParam<Encoding> {};

TEST_P(Encodings, AreReadOrNamed) {
  const std::string fault = fault_of(GetParam().text);
  if (!*GetParam().fault) {
    ASSERT_EQ(fault, "");
    const Config config = parse_config(GetParam().text, "p.yaml", {});
    EXPECT_EQ(config.inputs, std::vector<std::string>{"in/\xc3\xa4.png"});
    EXPECT_EQ(config.steps.size(), 1u);
  } else {
    EXPECT_EQ(fault.rfind(GetParam().fault, 0), 0u) << fault;
  }
}

std::string wide(const std::string& mark, const std::string& text, bool big) {
  std::string wide = mark;
  for (const char c : text) wide += big ? std::string{'\0', c} : std::string{c, '\0'};
  return wide;
}

INSTANTIATE_TEST_SUITE_P(
    Config, Encodings,
    testing::Values(
        Encoding{"plain", "input: in/\xc3\xa4.png\nsteps:\n  - invert\n", ""},
        Encoding{"byte_order_mark", "\xef\xbb\xbfinput: in/\xc3\xa4.png\nsteps:\n  - invert\n", ""},
        Encoding{"windows_line_ends", "input: in/\xc3\xa4.png\r\nsteps:\r\n  - invert\r\n", ""},
        Encoding{"no_last_line_end", "input: in/\xc3\xa4.png\nsteps:\n  - invert", ""},
        Encoding{"tab_before_a_value", "input:\tin/\xc3\xa4.png\t\nsteps:\n  -\tinvert\n", ""},
        Encoding{"tab_on_an_empty_line", "input: in/\xc3\xa4.png\n\t\nsteps:\n\t \n  - invert\n", ""},
        Encoding{"json_with_tabs", "{\n\t\"input\": \"in/\xc3\xa4.png\",\n\t\"steps\": [\n\t\t\"invert\"\n\t]\n}\n",
                 ""},
        Encoding{"tab_indent", "input: in/a.png\nsteps:\n\t- invert\n", "p.yaml:3:1: is indented with a tab"},
        Encoding{"tab_after_blanks", "steps:\n  - gaussian:\n  \tsigma: 2\n", "p.yaml:3:3: is indented with a tab"},
        Encoding{"utf16_little", wide("\xff\xfe", "steps: []\n", false), "p.yaml:1:1: is not UTF-8 text"},
        Encoding{"utf16_big", wide("\xfe\xff", "steps: []\n", true), "p.yaml:1:1: is not UTF-8 text"},
        Encoding{"utf16_no_mark", wide("", "steps: []\n", false), "p.yaml:1:2: is not UTF-8 text"},
        Encoding{"latin1", "name: x\ninput: in/\xe4.png\nsteps: []\n", "p.yaml:2:11: is not UTF-8 text"},
        Encoding{"zero_byte", std::string("steps: []\n\0", 11), "p.yaml:2:1: is not UTF-8 text"}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- text that is not what it seems

TEST(Accepted, TextThatOnlyLooksLikeAFault) {
  EXPECT_EQ(fault_of("# input: *.tif\nsteps: []\n"), "") << "a comment";
  EXPECT_EQ(fault_of("description: |\n  * keeps 50 %\n  \ta tab\n  % of: *all*\nsteps: []\n"), "") << "a block of text";
  EXPECT_EQ(fault_of("description: \"see: *.tif\"\nsteps: []\n"), "") << "a quoted text";
  EXPECT_EQ(parse_config("input: \"*.tif\"\nsteps: []\n", "p.yaml", {}).inputs[0], "*.tif");
  EXPECT_EQ(parse_config("input: in/*.tif\nsteps: []\n", "p.yaml", {}).inputs[0], "in/*.tif");
  EXPECT_EQ(fault_of("---\nsteps: []\n...\n"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Parts, Refused,
    testing::Values(
        Fault{"input:\n  - a.png\n  - *.tif\nsteps: []\n", "p.yaml:3:5: ", "must be quoted: \"*.tif\""},
        Fault{"input: [a.png, *.tif]\nsteps: []\n", "p.yaml:1:16: ", "must be quoted: \"*.tif\""},
        Fault{"steps: []\ninput: *.tif # all\n", "p.yaml:2:8: ", "must be quoted: \"*.tif\""},
        Fault{"output: {result: out/{stem}.png}\nsteps: []\n", "p.yaml:1:18: ", "must be quoted: \"out/{stem}.png\""},
        Fault{"output: {stem}.png\nsteps: []\n", "p.yaml:1:9: ", "must be quoted: \"{stem}.png\""},
        Fault{"steps: []\noutput: {result: {stem}}\n", "p.yaml:2:18: ", "output: must be text, got a map"},
        Fault{"\xc3\xa4\xc3\xb6: *.tif\nsteps: []\n", "p.yaml:1:5: ", "must be quoted"},
        Fault{"input: \"a.png\nsteps: []\n", "p.yaml:2:", "a quote is not closed"},
        Fault{"steps: []\noutput: 'a.png\n", "p.yaml:2:", "a quote is not closed"},
        Fault{"steps: []\n---\n", "p.yaml:", "second document"}, Fault{"---\n---\n", "p.yaml:", "second document"},
        Fault{"{\"steps\": []} x\n", "p.yaml:1:", "second document"}, Fault{"\n\n", "p.yaml:1:1: ", "empty"},
        Fault{"# nothing\n", "p.yaml:1:1: ", "empty"}, Fault{"\xef\xbb\xbf", "p.yaml:1:1: ", "empty"},
        Fault{"~\n", "p.yaml:1:1: ", "must be a map"}, Fault{"3\n", "p.yaml:1:1: ", "must be a map"},
        Fault{"{}\n", "p.yaml:1:1: ", "`steps` is missing"}, Fault{"steps: ~\n", "p.yaml:1:8: ", "must be a list"},
        Fault{"steps: {}\n", "p.yaml:1:8: ", "must be a list"},
        Fault{"steps: invert\n", "p.yaml:1:8: ", "must be a list"},
        Fault{"steps: [~]\n", "p.yaml:1:9: ", "a step must be"},
        Fault{"steps: [[]]\n", "p.yaml:1:9: ", "a step must be"},
        Fault{"steps: [{}]\n", "p.yaml:1:9: ", "a step must be"},
        Fault{"steps: [{as: x}]\n", "p.yaml:1:9: ", "needs a filter"},
        Fault{"steps: []\nname: [1]\n", "p.yaml:2:7: ", "name: must be text, got a list"},
        Fault{"steps: []\ninput: []\n", "p.yaml:2:8: ", "input: must not be an empty list"},
        Fault{"steps: []\ninput: \"\"\n", "p.yaml:2:8: ", "input: must not be empty"},
        Fault{"steps: []\ninput: [a.png, ~]\n", "p.yaml:2:16: ", "input: must be text, got nothing"},
        Fault{"steps: []\ninput:\n", "p.yaml:2:", "input: must be text"},
        Fault{"steps: []\noutput: [a.png]\n", "p.yaml:2:9: ", "output: must be text"},
        Fault{"steps: []\nborder: reflect_101\n", "p.yaml:2:9: ", "did you mean reflect101"},
        Fault{"steps: []\non_error: halt\n", "p.yaml:2:11: ", "continue, stop"},
        Fault{"steps: []\nconstant: none\n", "p.yaml:2:11: ", "must be a number, got 'none'"}));

INSTANTIATE_TEST_SUITE_P(
    Typos, Refused,
    testing::Values(Fault{"Steps: []\n", "p.yaml:1:1: ", "allowed: input, output, border"},
                    Fault{"steps: []\nstep: []\n", "p.yaml:2:1: ", "did you mean steps"},
                    Fault{"steps: []\nvolumes: auto\n", "p.yaml:2:1: ", "did you mean volume"},
                    Fault{"steps: []\ninput: [a.png]\noutptu: b\n", "p.yaml:3:1: ", "did you mean output"},
                    Fault{"steps: []\nvolume: stak\n", "p.yaml:2:9: ", "did you mean stack"},
                    Fault{"steps: [{gaussian: {sigma: 1, sigam: 3}}]\n", "p.yaml:1:31: ", "allowed: sigma"},
                    Fault{"steps: [{Gaussian: 1}]\n", "p.yaml:1:10: ", "did you mean gaussian"},
                    Fault{"steps: [{invert: {x: 1}}]\n", "p.yaml:1:19: ", "invert takes none"},
                    Fault{"steps: [{invert: , fron: x}]\n", "p.yaml:1:20: ", "did you mean from"},
                    Fault{"steps:\n  - invert\n  - gaussian: {sgima: 2, as: unused}\n  - invert\n",
                          "p.yaml:3:16: ", "did you mean sigma"},
                    Fault{"output: {reslt: a.png}\nsteps: []\n", "p.yaml:1:10: ", "did you mean result"},
                    Fault{"output: \"{index:03}.png\"\nsteps: []\n", "p.yaml:1:9: ", "allowed: {stem}, {name}"}));

INSTANTIATE_TEST_SUITE_P(
    Duplicates, Refused,
    testing::Values(Fault{"steps: []\n\"steps\": []\n", "p.yaml:2:1: ", "duplicate key 'steps'"},
                    Fault{"{\"steps\": [], \"name\": \"a\", \"name\": \"b\"}\n",
                          "p.yaml:1:28: ", "duplicate key 'name'"},
                    Fault{"steps:\n  - invert:\n    as: a\n    as: b\n", "p.yaml:4:5: ", "duplicate key 'as'"},
                    Fault{"steps:\n  - gaussian:\n      sigma: 1\n      sigma: 1\n", "p.yaml:4:7: ", "duplicate key"},
                    Fault{"steps: [{invert: [{a: [{b: 1, b: 2}]}]}]\n", "p.yaml:1:31: ", "duplicate key 'b'"},
                    Fault{"output: {result: a.png, result: b.png}\nsteps: []\n", "p.yaml:1:25: ", "duplicate key"},
                    Fault{"steps:\n  - gaussian: {sigma: 1, border: wrap}\n    border: wrap\n",
                          "p.yaml:2:26: ", "gaussian.border: is given twice"}));

// ---- overrides

/// What a file's steps make of one small image.
Image result_of(const Config& config) {
  ImageDesc desc = test::make_desc(DType::u8, {9, 7});
  desc.geometry.unit = "mm";
  const Image image = test::random_image(desc, 1);
  const std::vector<ImageDesc> others(with_files(config).size(), desc);
  const std::vector<const Image*> inputs(1 + others.size(), &image);
  const auto executor = make_simple_executor();
  const Plan plan = make_plan(build_graph(config, desc, others), executor->machine());
  return std::move(executor->run(plan, inputs).images.at(0));
}

/// A file changed by --set is the file that says so from the start.
void expect_same(const std::string& text, const std::vector<std::string>& overrides, const std::string& meant) {
  const Config set = parse_config(text, "p.yaml", overrides), written = parse_config(meant, "p.yaml", {});
  EXPECT_EQ(test::difference(result_of(set), result_of(written)), "");
  EXPECT_EQ(with_files(set), with_files(written));
  EXPECT_EQ(set.inputs, written.inputs);
  EXPECT_EQ(set.outputs, written.outputs);
  EXPECT_EQ(set.border, written.border);
  EXPECT_EQ(set.volume, written.volume);
}

struct Override {
  const char* name;
  const char* text;
  std::vector<std::string> overrides;
  const char* meant;
};
void PrintTo(const Override& row, std::ostream* out) { *out << row.name; }

class Overridden : public testing::TestWithParam<Override> {};

TEST_P(Overridden, IsAsIfWritten) { expect_same(GetParam().text, GetParam().overrides, GetParam().meant); }

INSTANTIATE_TEST_SUITE_P(
    Config, Overridden,
    testing::Values(
        Override{
            "parameter", "steps: [{gaussian: {sigma: 2}}]", {"steps.1.sigma=3"}, "steps: [{gaussian: {sigma: 3}}]"},
        Override{"new_parameter",
                 "steps: [{gaussian: {sigma: 2}}]",
                 {"steps.1.truncate=3"},
                 "steps: [{gaussian: {sigma: 2, truncate: 3}}]"},
        Override{"with_the_filters_name",
                 "steps: [{gaussian: {sigma: 2, truncate: 3}}]",
                 {"steps.1.gaussian.sigma=5"},
                 "steps: [{gaussian: {sigma: 5, truncate: 3}}]"},
        Override{"main_parameter", "steps: [{gaussian: 2}]", {"steps.1=3"}, "steps: [{gaussian: 3}]"},
        Override{"main_parameter_by_name", "steps: [{gaussian: 2}]", {"steps.1.sigma=3"}, "steps: [{gaussian: 3}]"},
        Override{"beside_the_main_parameter",
                 "steps: [{gaussian: 2}]",
                 {"steps.1.truncate=3"},
                 "steps: [{gaussian: {sigma: 2, truncate: 3}}]"},
        Override{"beside_a_list",
                 "steps: [{gaussian: [2, 3]}]",
                 {"steps.1.truncate=3"},
                 "steps: [{gaussian: {sigma: [2, 3], truncate: 3}}]"},
        Override{"list", "steps: [{gaussian: 2}]", {"steps.1=[1, 2]"}, "steps: [{gaussian: [1, 2]}]"},
        Override{"unit", "steps: [{gaussian: 2}]", {"steps.1=1.5 mm"}, "steps: [{gaussian: 1.5 mm}]"},
        Override{"bare_filter", "steps: [median]", {"steps.1.radius=2"}, "steps: [{median: 2}]"},
        Override{"parameter_named_as_its_filter",
                 "steps: [{gamma: {gamma: 2}}]",
                 {"steps.1.gamma=3"},
                 "steps: [{gamma: 3}]"},
        Override{"option_in_the_map",
                 "steps: [{gaussian: {sigma: 2}}]",
                 {"steps.1.border=wrap"},
                 "steps: [{gaussian: {sigma: 2, border: wrap}}]"},
        Override{"option_beside_the_filter",
                 "steps: [{gaussian: 2, border: reflect}]",
                 {"steps.1.border=wrap"},
                 "steps: [{gaussian: 2, border: wrap}]"},
        Override{"option_of_a_main_parameter",
                 "steps: [{gaussian: 2}]",
                 {"steps.1.border=wrap"},
                 "steps: [{gaussian: 2, border: wrap}]"},
        Override{
            "second_image", "steps: [{add: {with: a.tif}}]", {"steps.1.with=b.tif"}, "steps: [{add: {with: b.tif}}]"},
        Override{"the_last_wins", "steps: [{median: 1}]", {"steps.1=2", "steps.1=3"}, "steps: [{median: 3}]"},
        Override{"keys",
                 "input: a.png\nborder: reflect\nsteps: []",
                 {"border=wrap", "input=[b.png, c.png]", "output=out/{stem}.png", "volume=stack"},
                 "input: [b.png, c.png]\nborder: wrap\noutput: out/{stem}.png\nvolume: stack\nsteps: []"},
        Override{"equals_in_the_value", "steps: []", {"input=a=b.png"}, "input: a=b.png\nsteps: []"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Overrides, ThatMakeNoSenseSayWhatDoes) {
  const std::string text = "steps:\n  - median: 1\n  - gaussian: {sigma: 2}\n";
  const std::pair<const char*, const char*> faults[] = {
      {"steps.0.sigma=1", "there are 2 steps, counted from 1"},
      {"steps.3=1", "there are 2 steps"},
      {"steps.-1=1", "steps count from 1"},
      {"steps.x.sigma=1", "steps count from 1"},
      {"steps.99999999999999999999=1", "steps count from 1"},
      {"steps=[]", "write steps.NUMBER"},
      {"steps.2.sigma.x=1", "write steps.NUMBER"},
      {"border.x=wrap", "KEY=VALUE"},
      {"=3", "PATH=VALUE"},
      {"bordr=wrap", "did you mean border"},
      {"steps.2.sigma=", "got nothing"},
      {"steps.2.sigma=[", "not valid YAML"},
      {"steps.1=010", "octal"},
      {"steps.2.sigma='3'", "length"},
      {"steps.1=1.5", "whole number"},
      {"steps.1.border=wrapp", "did you mean wrap"},
  };
  for (const auto& [override_text, words] : faults) {
    const std::string fault = fault_of(text, {override_text});
    EXPECT_NE(fault.find(words), std::string::npos) << override_text << " -> " << fault;
    EXPECT_EQ(fault.rfind("p.yaml", 0), 0u) << fault;
  }
  EXPECT_NE(fault_of("hello", {"steps.1=2"}).find("must be a map"), std::string::npos) << "no pipeline file is made up";
  EXPECT_NE(fault_of("[]", {"border=wrap"}).find("must be a map"), std::string::npos);
}

/// A text with a few random slips of the pen.
std::string damaged(std::string text, std::mt19937& random) {
  static const std::vector<std::string> slips = {"{",  "}",   "[",        "]",    ": ",  "- ",  "\n", "\t", "'",
                                                 "\"", " #",  "&a ",      "*a",   "| ",  "> ",  "%",  "!",  "? ",
                                                 "~",  "010", "\xc3\xa9", "\xff", "---", "...", ",",  "  "};
  for (int count = 1 + random() % 4; count > 0; --count) {
    const std::size_t at = random() % (text.size() + 1);
    if (random() % 3 == 0)
      text.erase(at, random() % 9);
    else
      text.insert(at, slips[random() % slips.size()]);
  }
  return text;
}

TEST(Pipelines, WithAnySlipAreReadOrRefusedInOneLine) {
  const std::string text =
      "input: [\"*.tif\", in]\noutput: {result: \"out/{stem}.png\", clean: c.tif}\ndescription: |\n  * all\nborder: "
      "wrap\n"
      "steps:\n  - median: {radius: 1}\n    as: clean\n  - gaussian: 1.5 mm\n  - subtract: {with: clean}\n  - gamma: "
      "0.8\n";
  ASSERT_EQ(fault_of(text), "");
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::string slip = damaged(text, random);
    const std::string fault = fault_of(slip, {"steps.1.radius=2"});  // anything but a UsageError ends the test
    refused += !fault.empty();
    EXPECT_TRUE(fault.empty() || fault.rfind("p.yaml", 0) == 0) << fault << "\n" << slip;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 4900);
}

TEST(Pipelines, NestedWithoutEndAreRefused) {
  for (const char* opening : {"[", "{a: ", "- ", "? ", "a:\n "}) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += opening;
    EXPECT_NE(fault_of(text), "") << opening;
  }
  EXPECT_NE(fault_of("steps: []\n#" + std::string(1 << 20, 'x')).find("1 MiB"), std::string::npos);
}

TEST(Pipelines, ThatAreMissingOrFoldersAreUsageErrors) {
  EXPECT_THROW(load_config("missing.yaml", {}), UsageError);
  EXPECT_THROW(load_config(".", {}), UsageError);
}

}  // namespace
}  // namespace imgpipe
