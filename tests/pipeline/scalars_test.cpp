// How the scalars of a pipeline file are read as a boolean, a whole number and a number.
#include <gtest/gtest.h>

#include <optional>

#include "filters/base/params.h"
#include "pipeline/config/yaml.h"

namespace imgpipe {
namespace {

constexpr auto refused = std::nullopt;

struct Scalar {
  const char* text;
  std::optional<bool> boolean;
  std::optional<int> integer;
  std::optional<double> number;
};

template <class T>
std::optional<T> parsed(const Node& node) {
  try {
    return ParamType<T>::parse(node);
  } catch (const NodeError& error) {
    EXPECT_NE(std::string(error.what()), "");
    EXPECT_EQ(error.mark.line, 1);
    return std::nullopt;
  }
}

class Scalars : public testing::TestWithParam<Scalar> {};

TEST_P(Scalars, AreWhatTheyAreOrRefused) {
  const Scalar& s = GetParam();
  const Node root = parse_yaml(std::string("v: ") + s.text + "\n");
  const Node& node = root.entries.at(0).second;
  EXPECT_EQ(parsed<bool>(node), s.boolean) << s.text;
  EXPECT_EQ(parsed<int>(node), s.integer) << s.text;
  EXPECT_EQ(parsed<double>(node), s.number) << s.text;
}

INSTANTIATE_TEST_SUITE_P(
    Booleans, Scalars,
    testing::Values(Scalar{"true", true, refused, refused}, Scalar{"false", false, refused, refused},
                    Scalar{"True", true, refused, refused}, Scalar{"FALSE", false, refused, refused},
                    Scalar{"yes", refused, refused, refused}, Scalar{"no", refused, refused, refused},
                    Scalar{"on", refused, refused, refused}, Scalar{"off", refused, refused, refused},
                    Scalar{"y", refused, refused, refused}, Scalar{"\"true\"", refused, refused, refused}));
INSTANTIATE_TEST_SUITE_P(
    Numbers, Scalars,
    testing::Values(Scalar{"1", refused, 1, 1}, Scalar{"0", refused, 0, 0}, Scalar{"-1", refused, -1, -1},
                    Scalar{"+3", refused, 3, 3}, Scalar{"3.0", refused, 3, 3}, Scalar{"5.", refused, 5, 5},
                    Scalar{"1e3", refused, 1000, 1000}, Scalar{"1E3", refused, 1000, 1000},
                    Scalar{"2147483647", refused, 2147483647, 2147483647}, Scalar{"3.5", refused, refused, 3.5},
                    Scalar{".5", refused, refused, 0.5}, Scalar{"1e-3", refused, refused, 1e-3},
                    Scalar{"2147483648", refused, refused, 2147483648.0}, Scalar{"1e9", refused, 1000000000, 1e9}));
INSTANTIATE_TEST_SUITE_P(
    Neither, Scalars,
    testing::Values(Scalar{"017", refused, refused, refused}, Scalar{"0x1F", refused, refused, refused},
                    Scalar{"0o17", refused, refused, refused}, Scalar{"1_000", refused, refused, refused},
                    Scalar{"1,5", refused, refused, refused}, Scalar{"0.5f", refused, refused, refused},
                    Scalar{".nan", refused, refused, refused}, Scalar{".inf", refused, refused, refused},
                    Scalar{"-.inf", refused, refused, refused}, Scalar{"~", refused, refused, refused},
                    Scalar{"null", refused, refused, refused}, Scalar{"\"3\"", refused, refused, refused},
                    Scalar{"1e400", refused, refused, refused}, Scalar{"--1", refused, refused, refused},
                    Scalar{"+-1", refused, refused, refused}, Scalar{"e3", refused, refused, refused},
                    Scalar{"1e", refused, refused, refused}, Scalar{"NaN", refused, refused, refused}));

std::string utf16(const std::string& text, bool big_endian) {
  std::string out;
  for (char c : text) out += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

TEST(Encodings, Utf16IsReadOrRefusedByName) {
  const std::string text = "steps: []\n";
  for (const std::string& bytes :
       {"\xff\xfe" + utf16(text, false), "\xfe\xff" + utf16(text, true), utf16(text, false), utf16(text, true)}) {
    try {
      const Node root = parse_yaml(bytes);
      ASSERT_EQ(root.entries.size(), 1u);
      EXPECT_EQ(root.entries[0].first.text, "steps");
    } catch (const NodeError& error) {
      EXPECT_NE(std::string(error.what()).find("UTF-8"), std::string::npos) << error.what();
    }
  }
}

TEST(Depth, DuplicateKeysAreFoundAtAny) {
  EXPECT_THROW(parse_yaml("a: [{b: {c: 1, d: 2, c: 3}}]\n"), NodeError);
  EXPECT_THROW(parse_yaml("{\"a\": {\"b\": 1, \"b\": 2}}"), NodeError);
  EXPECT_NO_THROW(parse_yaml("a: [{b: 1}, {b: 2}]\n"));
}

}  // namespace
}  // namespace imgpipe
