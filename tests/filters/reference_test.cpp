// Filters against what NumPy, SciPy and scikit-image give: reference/values.json, written by reference/values.py.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "filters/base/filter.h"
#include "tests/support/oracle.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

const Json& reference() {
  static const Json json = Json::parse(std::ifstream(IMGPIPE_SOURCE_DIR "/tests/filters/reference/values.json"));
  return json;
}

/// How far a result may be from the library's, which is kept unrounded: `roundings` half units in the last place of the
/// compute type, of the largest number in the case. Integers may be half a level further off: that is their rounding.
/// 0 roundings: the very value.
struct Corridor {
  double roundings;
  const char* why;
};

const std::map<std::string, Corridor> corridors = {
    {"add", {2, "the operand and the sum"}},
    {"box", {2, "sums are taken in float64: the quotient and its rounding"}},
    {"box/u8_rgba", {6, "products with alpha, their mean, the quotient"}},
    {"clamp", {1, "the limits"}},
    {"close", {0, "exact"}},
    {"convert", {0, "exact"}},
    {"convolve", {12, "8 weights of magnitudes that sum up to 12, whose roundings partly cancel"}},
    {"correlate1d", {6, "4 weights of magnitudes that sum up to 7, whose roundings partly cancel"}},
    {"crop", {0, "exact"}},
    {"dilate", {0, "exact"}},
    {"divide", {2, "the operand and the quotient"}},
    {"erode", {0, "exact"}},
    {"expr", {24, "one rounding an operation, of terms that partly cancel"}},
    {"flip", {0, "exact"}},
    {"gamma", {6, "2.3 units of the power, each two halves, and its scale"}},
    {"gaussian", {8, "one rounding a tap of a partial mean, over at most 13 taps along each axis: measured 1.3"}},
    {"gray", {6, "3 weights and 3 operations"}},
    {"gray/rec709", {3370, "scikit-image has 0.2125, 0.7154, 0.0721 for 0.2126, 0.7152, 0.0722: 2e-4, or 3356 more"}},
    {"invert", {1, "the difference, for floats"}},
    {"linear", {5, "gain, offset and one operation, on 1.7 times the value"}},
    {"median", {0, "exact"}},
    {"multiply", {2, "the operand and the product"}},
    {"normalize",
     {6, "two limits, their distance, the scale and the product, in a range that magnifies up to 2 times"}},
    {"open", {0, "exact"}},
    {"otsu", {0, "exact: no sample lies between the library's threshold and ours"}},
    {"rescale", {3, "the difference, the scale and the product"}},
    {"sobel", {8, "6 additions, of numbers below the result's or exact: measured 2.1"}},
    {"stats", {4, "sums in another order"}},
    {"subtract", {2, "the operand and the difference"}},
    {"threshold", {0, "exact"}},
    {"unsharp", {12, "the blur's 8, times amount"}},
    {"window", {4, "two limits, their distance and the quotient"}},
};

/// Filters without a reference, and why.
const std::map<std::string, std::string> without_reference = {};

std::string filter_of(const std::string& name) { return name.substr(0, name.find('/')); }

/// Of the longest entry whose words are all in the name.
double roundings_of(const std::string& name) {
  const std::string filter = filter_of(name);
  std::string best = filter;
  for (const auto& [key, corridor] : corridors)
    if (key.size() > best.size() && filter_of(key) == filter && name.find(key.substr(filter.size() + 1)) != name.npos)
      best = key;
  return corridors.at(best).roundings;
}

double number(const Json& value) { return value.is_null() ? nan_value : value.get<double>(); }
std::vector<double> numbers(const Json& values) {
  std::vector<double> all;
  for (const Json& value : values) all.push_back(number(value));
  return all;
}

Image image_named(const std::string& name) {
  for (const Json& entry : reference()["images"]) {
    if (entry["name"] != name) continue;
    const int depth = entry["depth"];
    Image image(make_desc(*dtype_from_name(entry["dtype"].get<std::string>()), {entry["width"], entry["height"], depth},
                          entry.value("channels", 1), entry.value("alpha", false), depth > 1));
    const std::vector<double> values = numbers(entry["values"]);
    visit_dtype(image.desc().dtype, [&](auto t) {
      for (std::size_t i = 0; i < values.size(); ++i)
        image.samples<decltype(t)>()[i] = static_cast<decltype(t)>(values[i]);
    });
    return image;
  }
  throw std::out_of_range("no image " + name);
}

double half_unit(DType type) { return compute_type(type) == Compute::f64 ? 0x1p-53 : 0x1p-24; }

double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (double v : values) most = std::max(most, std::abs(v));
  return most;
}

/// Values that rounding to `type` may have made of `expected`, give or take `slack`.
void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, DType type, double slack) {
  ASSERT_EQ(actual.size(), expected.size());
  const NominalRange range = nominal_range(type);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (slack == 0 || std::isnan(expected[i])) {
      EXPECT_TRUE(actual[i] == as_written(expected[i], type) || (std::isnan(actual[i]) && std::isnan(expected[i])))
          << "sample " << i << ": " << actual[i] << " for " << expected[i];
      continue;
    }
    const double want = is_float(type) ? expected[i] : std::clamp(expected[i], range.black, range.white);
    EXPECT_NEAR(actual[i], want, slack + (is_float(type) ? 0 : 0.5)) << "sample " << i;
  }
}

class Reference : public testing::Test {
 public:
  explicit Reference(const Json& entry) : case_(entry) {}

  void TestBody() override {
    const std::string source = case_["in"];
    const Image in = image_named(source);
    std::vector<Image> others;
    std::vector<const Image*> pointers;
    if (case_.contains("with")) others.push_back(image_named(case_["with"]));
    for (const Image& other : others) pointers.push_back(&other);
    const double largest = std::max(largest_of(samples(in)), others.empty() ? 0 : largest_of(samples(others[0])));
    for (const auto& executor : {make_simple_executor(), make_cpu_executor()}) {
      SCOPED_TRACE(executor->name() + ": " + case_["step"].get<std::string>() + ", by " +
                   reference()["functions"][case_["by"].get<int>()].get<std::string>());
      const RunResult result = run_on(*executor, "- " + case_["step"].get<std::string>(), in, pointers);
      case_.contains("report") ? expect_reports(result) : expect_image(result.images.at(0), in.desc().dtype, largest);
    }
  }

 private:
  double roundings() const { return roundings_of(case_["name"]); }

  void expect_image(const Image& out, DType source, double largest) const {
    const std::vector<double> expected = numbers(case_["out"]);
    ASSERT_EQ(name(out.desc().dtype), case_["dtype"].get<std::string>());
    // The coarser of the types that the value passes through.
    const double unit = std::max(half_unit(source), out.desc().dtype == DType::f32 ? half_unit(DType::f32) : 0);
    expect_near(samples(out), expected, out.desc().dtype, roundings() * unit * std::max(largest_of(expected), largest));
  }

  void expect_reports(const RunResult& result) const {
    ASSERT_EQ(result.reports.size(), case_["report"].size());
    for (std::size_t r = 0; r < result.reports.size(); ++r) {
      const std::vector<double> expected = numbers(case_["report"][r]);
      expect_near(result.reports[r], expected, DType::f64, roundings() * 0x1p-53 * largest_of(expected));
    }
  }

  const Json& case_;
};

/// Each case is a test of its own: reference.gaussian/f32_3d_mirror.
const bool registered = [] {
  for (const Json& entry : reference()["cases"])
    testing::RegisterTest("Reference", entry["name"].get<std::string>().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&entry]() -> testing::Test* { return new Reference(entry); });
  return true;
}();

TEST(ReferenceTable, HasEveryFilterWithItsCorridor) {
  ASSERT_TRUE(registered);
  std::set<std::string> covered;
  for (const Json& entry : reference()["cases"]) covered.insert(filter_of(entry["name"]));
  for (const FilterSpec& filter : all_filters()) {
    EXPECT_NE(covered.contains(filter.name), without_reference.contains(filter.name))
        << filter.name << " needs a case in reference/values.py, or a reason in without_reference";
    EXPECT_NE(corridors.contains(filter.name), without_reference.contains(filter.name)) << filter.name;
  }
  for (const std::string& filter : covered) EXPECT_NE(find_filter(filter), nullptr) << filter;
}

TEST(ReferenceTable, HasEveryWindowInTwoAndInThreeDimensions) {
  for (const FilterSpec& filter : all_filters()) {
    if (filter.kind != Kind::neighbourhood && filter.kind != Kind::composite) continue;
    std::set<bool> volumes;
    for (const Json& entry : reference()["cases"])
      if (filter_of(entry["name"]) == filter.name) volumes.insert(image_named(entry["in"]).desc().volume);
    EXPECT_EQ(volumes.size(), 2u) << filter.name;
  }
}

}  // namespace
}  // namespace imgpipe::test
