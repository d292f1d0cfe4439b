#include "io/image/errors.h"
#include "pipeline/config/config.h"
#include "tests/support/oracle.h"

namespace imgpipe::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

Image floats(const std::vector<double>& values) {
  return image_of<double>(static_cast<std::int64_t>(values.size()), 1, values);
}

double value_of(const std::string& expression, double v = 3) {
  return sample(run("- expr: \"" + expression + "\"", floats({v})), 0, 0);
}

std::string refusal(const std::string& step) {
  try {
    parse_config("steps:\n- " + step + "\n", "p.yaml", {});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// A chain of one step that reads a second image.
Image run_with(const std::string& step, const Image& image, const Image& other) {
  std::vector<Image> others;
  others.push_back(copy_of(other));
  return run(step, image, others);
}

}  // namespace

struct Arithmetic {
  std::string expression;
  double v, expected;
};
class ExprValue : public testing::TestWithParam<Arithmetic> {};
TEST_P(ExprValue, IsThatOfTheLanguage) {
  const double got = value_of(GetParam().expression, GetParam().v);
  if (std::isnan(GetParam().expected))
    EXPECT_TRUE(std::isnan(got)) << GetParam().expression << " gave " << got;
  else
    EXPECT_DOUBLE_EQ(got, GetParam().expected) << GetParam().expression;
}
INSTANTIATE_TEST_SUITE_P(
    Precedence, ExprValue,
    testing::Values(Arithmetic{"1 + 2 * v", 3, 7}, Arithmetic{"(1 + 2) * v", 3, 9}, Arithmetic{"10 - 4 - v", 3, 3},
                    Arithmetic{"16 / 4 / v", 2, 2}, Arithmetic{"2 ^ 3 ^ 2", 0, 512}, Arithmetic{"-2 ^ 2", 0, -4},
                    Arithmetic{"2 ** -1", 0, 0.5}, Arithmetic{"(-2) ** 2", 0, 4}, Arithmetic{"2 * 3 ** 2", 0, 18},
                    Arithmetic{"--v", 3, 3}, Arithmetic{"+v - -v", 3, 6}, Arithmetic{"1 + 1 == 2", 0, 1},
                    Arithmetic{"v < 4 && v > 2", 3, 1}, Arithmetic{"v > 4 || v > 2 && v > 9", 3, 0},
                    Arithmetic{"not v > 4 and v", 3, 1}, Arithmetic{"!v", 3, 0}, Arithmetic{"!v + 1", 0, 2},
                    Arithmetic{"!(v > 2) or 0", 3, 0}, Arithmetic{"v > 2 ? 10 : 20", 3, 10},
                    Arithmetic{"v > 5 ? 1 : v > 2 ? 2 : 3", 3, 2}, Arithmetic{"(v != 3) + (v >= 3) * 10", 3, 10},
                    Arithmetic{"v <= 3", 3, 1}, Arithmetic{"1e3 + .5 + 2.", 0, 1002.5},
                    Arithmetic{"max(1, v, 7, 2)", 3, 7}, Arithmetic{"min(5, v, 7) - min(8, 9)", 3, -5}));
INSTANTIATE_TEST_SUITE_P(
    Functions, ExprValue,
    testing::Values(Arithmetic{"abs(v)", -3, 3}, Arithmetic{"ceil(v)", 2.1, 3}, Arithmetic{"floor(v)", -2.1, -3},
                    Arithmetic{"round(v)", 2.5, 2}, Arithmetic{"round(v)", 3.5, 4}, Arithmetic{"round(v)", -0.4, -0.0},
                    Arithmetic{"clamp(v, 0, 1)", 3, 1}, Arithmetic{"clamp(v, 0, 1)", -3, 0},
                    Arithmetic{"clamp(v, 0, 1)", 0.25, 0.25}, Arithmetic{"hypot(v, 4)", 3, 5},
                    Arithmetic{"isnan(v / v)", 0, 1}, Arithmetic{"isnan(v)", 0, 0}, Arithmetic{"mod(v, 3)", 7, 1},
                    Arithmetic{"mod(v, 3)", -7, 2}, Arithmetic{"mod(v, -3)", 7, -2},
                    Arithmetic{"select(v, 5, 6)", 3, 5}, Arithmetic{"select(v, 5, 6)", 0, 6},
                    Arithmetic{"sign(v)", -9, -1}, Arithmetic{"sign(v)", 0, 0}, Arithmetic{"sign(v)", 0.1, 1},
                    Arithmetic{"sqrt(v)", 9, 3}, Arithmetic{"pow(v, 3)", 2, 8}, Arithmetic{"exp(0)", 0, 1},
                    Arithmetic{"exp2(v)", 3, 8}, Arithmetic{"log2(v)", 8, 3}, Arithmetic{"log(e)", 0, 1},
                    Arithmetic{"sin(0) + cos(0)", 0, 1}, Arithmetic{"atan2(1, 1) * 4 - pi", 0, 0}));
INSTANTIATE_TEST_SUITE_P(NotNumbers, ExprValue,
                         testing::Values(Arithmetic{"v / 0", 1, inf}, Arithmetic{"v / 0", -1, -inf},
                                         Arithmetic{"v / 0", 0, nan}, Arithmetic{"sqrt(v)", -1, nan},
                                         Arithmetic{"max(v, 1)", nan, nan}, Arithmetic{"min(1, v)", nan, nan},
                                         Arithmetic{"clamp(v, 0, 1)", nan, nan}, Arithmetic{"sign(v)", nan, nan},
                                         Arithmetic{"v < 1", nan, 0}, Arithmetic{"v >= 1", nan, 0},
                                         Arithmetic{"v != v", nan, 1}, Arithmetic{"v ? 1 : 2", nan, 1},
                                         Arithmetic{"inf - inf", 0, nan}, Arithmetic{"nan", 0, nan},
                                         Arithmetic{"-inf", 0, -inf}));

TEST(Expr, FunctionsAreThoseOfTheMathLibrary) {
  const std::vector<double> values{-0.9, -0.3, 0.2, 0.7, 0.99, 2.5, 40};
  const std::vector<std::pair<std::string, double (*)(double)>> functions{
      {"acos", std::acos}, {"asin", std::asin}, {"atan", std::atan}, {"cos", std::cos},
      {"exp", std::exp},   {"exp2", std::exp2}, {"log", std::log},   {"log10", std::log10},
      {"log2", std::log2}, {"sin", std::sin},   {"sqrt", std::sqrt}, {"tan", std::tan}};
  for (const auto& [name, function] : functions)
    for (double v : values) {
      const double expected = function(v), got = value_of(name + "(v)", v);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(got)) << name << v;
      else
        EXPECT_NEAR(got, expected, 1e-14 * std::max(1.0, std::abs(expected))) << name << "(" << v << ")";
    }
}

TEST(Expr, ComputesEveryDtypeAndLeavesAlphaAlone) {
  const auto define = [](double v, DType dtype) {
    const double white = nominal_range(dtype).white;
    return v > 0.5 * white ? 0.5 * v + 1 : white / 4;
  };
  expect_definition("- expr: \"v > 0.5 * white ? 0.5 * v + 1 : white / 4\"", define, 1e-6, 0);
}

TEST(Expr, KnowsThePlaceOfEveryPixel) {
  ImageDesc desc = make_desc(DType::f32, {700, 5, 3}, 1, false, true);
  const Image out =
      run("- expr: \"x + 1000*y + 10000*z + 0.5*(width == 700 && height == 5 && depth == 3)\"", random_image(desc, 3));
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 700; ++x) ASSERT_EQ(sample(out, x, y, z), x + 1000 * y + 10000 * z + 0.5);
}

TEST(Expr, ChannelsByNameMakeOneChannel) {
  const Image rgb = image_of<float>(2, 1, {1, 2, 4, 10, 30, 20}, 3);
  const Image out = run("- expr: \"(g - r) / (g + r)\"", rgb);
  ASSERT_EQ(out.desc().channels, 1);
  EXPECT_FLOAT_EQ(sample(out, 0, 0), 1.0f / 3);
  EXPECT_FLOAT_EQ(sample(out, 1, 0), 0.5f);
}

TEST(Expr, ChannelsAndTheSampleKeepTheChannels) {
  const Image rgba = image_of<std::uint8_t>(1, 1, {10, 20, 30, 77}, 4, true);
  expect_values(run("- expr: \"v + r\"", rgba), {20, 30, 40, 77});
  expect_values(run("- expr: \"v + alpha\"", rgba), {87, 97, 107, 77});
  expect_values(run("- expr: \"b\"", rgba), {30, 77});
}

TEST(Expr, AListMakesOneChannelEach) {
  const Image rgb = image_of<std::uint16_t>(2, 1, {1, 2, 3, 4, 5, 6}, 3);
  expect_values(run("- expr: [b, g, r]", rgb), {3, 2, 1, 6, 5, 4});
  expect_values(run("- expr: [\"c0 * 2\", \"v + 10\", c2]", rgb), {2, 12, 3, 8, 15, 6});
  expect_values(run("- expr: [v, \"v + 1\", \"x\"]", image_of<std::uint8_t>(2, 1, {7, 8})), {7, 8, 0, 8, 9, 1});
  expect_values(run("- expr: [r, g]", rgb), {1, 2, 4, 5});
}

TEST(Expr, ReadsEarlierResultsAndASecondImage) {
  const Image image = image_of<float>(3, 1, {1, 2, 4});
  expect_values(
      run("- linear: 10\n  as: big\n- linear: 2\n  from: input\n  as: twice\n- expr: \"big - twice + input / 2 + v\"",
          image),
      {10.5, 21, 42});
  expect_values(
      run_with("- expr: {expression: \"v / with\", with: other0.tif}", image, image_of<float>(3, 1, {2, 4, 8})),
      {0.5, 0.5, 0.5});
}

TEST(Expr, AGrayImageServesEveryColour) {
  const Image rgb = image_of<std::uint8_t>(1, 1, {1, 2, 3}, 3);
  expect_values(
      run_with("- expr: {expression: \"v * with\", with: other0.tif}", rgb, image_of<std::uint8_t>(1, 1, {5})),
      {5, 10, 15});
  EXPECT_THROW(
      run_with("- expr: {expression: \"v * with\", with: other0.tif}", rgb, image_of<std::uint8_t>(1, 1, {5, 6}, 2)),
      UsageError);
}

TEST(Expr, ValuesAreRoundedOnlyWhenWritten) {
  const Image image = image_of<std::uint8_t>(3, 1, {10, 20, 30});
  expect_values(run("- expr: \"v / 4 - 5\"", image), {0, 0, 2});  // -2.5, 0, 2.5
  expect_values(run("- expr: \"v / 4 - 5\"\n- convert: float32", image), {-2.5, 0, 2.5});
}

struct Refused {
  std::string step, text;
};
class ExprRefuses : public testing::TestWithParam<Refused> {};
TEST_P(ExprRefuses, WithThePlace) {
  const std::string text = refusal(GetParam().step);
  EXPECT_NE(text.find(GetParam().text), std::string::npos) << GetParam().step << " said: " << text;
}
INSTANTIATE_TEST_SUITE_P(
    Texts, ExprRefuses,
    testing::Values(
        Refused{"expr: \"v +\"", "p.yaml:2:13: expr.expression: ends where a value is needed"},
        Refused{"expr: \"v + * 2\"", "p.yaml:2:14: expr.expression: expected a number, a name or '(' instead of '*'"},
        Refused{"expr: \"(v + 1\"", "expected ')' before the end"}, Refused{"expr: \"v + 1)\"", "unexpected ')'"},
        Refused{"expr: \"v v\"", "p.yaml:2:12: expr.expression: unexpected 'v': an operator is needed before it"},
        Refused{"expr: \"v = 1\"", "unexpected '=': did you mean ==?"}, Refused{"expr: \"v & 1\"", "did you mean &&?"},
        Refused{"expr: \"1 < v < 2\"", "comparisons do not chain"}, Refused{"expr: \"\"", "is empty"},
        Refused{"expr: \"   \"", "is empty"},
        Refused{"expr: \"sqr(v)\"", "unknown function 'sqr' (did you mean sqrt?)"},
        Refused{"expr: \"sqrt(v, 2)\"", "sqrt takes 1 values, got 2"},
        Refused{"expr: \"max(v)\"", "max takes 2 or more values, got 1"},
        Refused{"expr: \"clamp(v, 1)\"", "clamp takes 3 values, got 2"},
        Refused{"expr: \"sqrt()\"", "expected a number, a name or '(' instead of ')'"},
        Refused{"expr: \"v ? 1\"", "expected ':'"}, Refused{"expr: \"1.2.3\"", "not a number"},
        Refused{"expr: \"2v\"", "not a number"}, Refused{"expr: \"1e999\"", "out of range"},
        Refused{"expr: \"widht + v\"", "p.yaml:2:10: expr.expression: unknown name 'widht' (did you mean width?)"},
        Refused{"expr: \"v - background\"", "p.yaml:2:14: expr.expression: unknown name 'background'"},
        Refused{"expr: \"v + with\"", "`with` is read"},
        Refused{"expr: {expression: \"v\", with: other.tif}", "is not read"}, Refused{"expr: []", "up to 16"},
        Refused{"expr: {}", "expression"}, Refused{"expr: {expression: {a: 1}}", "must be one value or a list"},
        Refused{"expr: \"" + std::string(65, '(') + "v" + std::string(65, ')') + "\"", "nested deeper than 64"},
        Refused{"expr: \"" + std::string(200, '-') + "v\"", "nested deeper than 64"},
        Refused{"expr: \"v" + std::string(4096, ' ') + "\"", "at most 4096 characters"},
        Refused{"expr: \"1" +
                    [] {
                      std::string s;
                      for (int i = 0; i < 600; ++i) s += "+v";
                      return s;
                    }() +
                    "\"",
                "more than 512 terms"}));

TEST(Expr, RefusesChannelsThatTheImageLacks) {
  const Image gray = image_of<std::uint8_t>(1, 1, {1}), rgb = image_of<std::uint8_t>(1, 1, {1, 2, 3}, 3);
  EXPECT_THROW(run("- expr: \"r + g\"", gray), UsageError);
  EXPECT_THROW(run("- expr: \"alpha\"", rgb), UsageError);
  EXPECT_THROW(run("- expr: \"c3\"", rgb), UsageError);
  EXPECT_THROW(run("- expr: [v, v]", rgb), UsageError);
}

}  // namespace imgpipe::test
