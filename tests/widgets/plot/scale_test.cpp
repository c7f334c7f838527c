#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "widgets/plot/scale.h"
#include "widgets/plot/ticks.h"

using namespace roofscape::widgets;

namespace {

std::size_t majors(const std::vector<Tick>& ts) {
  std::size_t n = 0;
  for (const Tick& t : ts) n += t.major;
  return n;
}

std::vector<std::string> labels(const Scale& s, TickOptions o = {}) {
  std::vector<std::string> out;
  for (const Tick& t : ticks(s, o))
    if (t.major) out.push_back(t.label);
  return out;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("a scale's inverse is exact to rounding, and exact at the ends") {
  for (const Scale& s : {Scale(ScaleKind::linear, -3, 12, 10, 500), Scale(ScaleKind::log10, 1e-3, 1e15, 400, 20),
                         Scale(ScaleKind::log2, 8, 8192, 0, 313.7), Scale(ScaleKind::linear, 5, 1, 0, 100)}) {
    CHECK(s.value(s.begin()) == s.from());
    CHECK(s.value(s.end()) == s.to());
    CHECK(s.position(s.from()) == s.begin());
    CHECK(s.position(s.to()) == s.end());
    for (int i = 0; i <= 100; ++i) {
      const double p = s.begin() + (s.end() - s.begin()) * i / 100;
      CHECK(s.position(s.value(p)) == doctest::Approx(p).epsilon(1e-12));
      const double v = s.value(p);
      CHECK(s.value(s.position(v)) == doctest::Approx(v).epsilon(1e-12));
    }
  }
}

TEST_CASE("an unusable domain is repaired") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const Scale& s : {Scale(ScaleKind::linear, 0, 0, 0, 100), Scale(ScaleKind::log10, 0, 100, 0, 100),
                         Scale(ScaleKind::log10, -5, -1, 0, 100), Scale(ScaleKind::log2, 7, 7, 0, 100),
                         Scale(ScaleKind::linear, nan, inf, 0, 100), Scale(ScaleKind::linear, 0, 1, 50, 50)}) {
    CHECK(std::isfinite(s.from()));
    CHECK(std::isfinite(s.to()));
    CHECK(s.from() != s.to());
    CHECK(std::isfinite(s.position(s.value(30))));
    CHECK(majors(ticks(s)) >= 2);
  }
}

TEST_CASE("a value no logarithm has lies far before the axis") {
  const Scale s(ScaleKind::log10, 1, 100, 0, 200);
  CHECK(s(0) < -1e5f);
  CHECK(s(-4) < -1e5f);
}

TEST_CASE("zooming keeps the value under the cursor") {
  for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::log10}) {
    const Scale s(kind, 1, 1000, 0, 300);
    const double v = s.value(120);
    CHECK(s.zoomed(120, 1.1).position(v) == doctest::Approx(120));
  }
}

TEST_CASE("rounding widens a domain to whole steps") {
  const Scale s = rounded(Scale(ScaleKind::log10, 0.3, 4500, 0, 1));
  CHECK(s.from() == doctest::Approx(0.1));
  CHECK(s.to() == doctest::Approx(10000));
  const Scale l = rounded(Scale(ScaleKind::linear, 0, 78, 0, 1));
  CHECK(l.from() == 0);
  CHECK(l.to() == 80);
}

TEST_CASE("linear ticks are multiples of 1, 2 or 5 with one number of decimals") {
  CHECK(labels({ScaleKind::linear, 0, 80, 0, 1}, {.about = 4}) == Labels{"0", "20", "40", "60", "80"});
  CHECK(labels({ScaleKind::linear, 0, 1, 0, 1}, {.about = 5}) == Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(labels({ScaleKind::linear, -0.1, 0.1, 0, 1}, {.about = 4}) ==
        Labels{"\u22120.10", "\u22120.05", "0.00", "0.05", "0.10"});
  CHECK(labels({ScaleKind::linear, 0, 20000, 0, 1}, {.about = 4}) ==
        Labels{"0", "5000", "10\u202f000", "15\u202f000", "20\u202f000"});
}

TEST_CASE("logarithmic ticks are decades with minors, and powers of two on a binary axis") {
  CHECK(labels({ScaleKind::log10, 0.1, 1e4, 0, 1}) == Labels{"0.1", "1", "10", "100", "1000", "10\u202f000"});
  CHECK(labels({ScaleKind::log10, 0.1, 1e4, 0, 1}, {.labels = TickLabels::si}) ==
        Labels{"0.1", "1", "10", "100", "1\u202fk", "10\u202fk"});
  CHECK(labels({ScaleKind::log10, 1e12, 1e15, 0, 1}, {.labels = TickLabels::si}) ==
        Labels{"1\u202fT", "10\u202fT", "100\u202fT", "1\u202fP"});
  CHECK(labels({ScaleKind::log10, 1e5, 1e10, 0, 1}, {.labels = TickLabels::counts}) ==
        Labels{"100\u202f000", "1\u202fM", "10\u202fM", "100\u202fM", "1\u202fB", "10\u202fB"});
  CHECK(ticks({ScaleKind::log10, 1, 100, 0, 1}).size() == 3 + 16);
  CHECK(labels({ScaleKind::log2, 8, 8192, 0, 1}) == Labels{"8", "32", "128", "512", "2048", "8192"});
}

TEST_CASE("a logarithmic axis too short for three multiples is marked in even steps") {
  CHECK(labels({ScaleKind::log10, 0.9, 2.3, 0, 1}) == Labels{"1.0", "1.2", "1.4", "1.6", "1.8", "2.0", "2.2"});
}

TEST_CASE("below a decade a logarithmic axis is marked at 1-2-5 multiples") {
  CHECK(labels({ScaleKind::log10, 1.5, 7, 0, 1}) == Labels{"2", "5"});
  CHECK(majors(ticks({ScaleKind::log10, 3.1, 4.2, 0, 1})) >= 2);
}

TEST_CASE("no axis is ever empty, and its ticks are inside it in order") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-12, 18), width(-6, 12);
  for (int i = 0; i < 3000; ++i) {
    const auto kind = static_cast<ScaleKind>(i % 3);
    const double low = std::pow(10, exponent(random));
    const double high = low * (1 + std::pow(10, width(random)));
    const Scale s(kind, low, high, 0, 300);
    const auto ts = ticks(s, {.about = 1 + i % 12});
    CAPTURE(low);
    CAPTURE(high);
    CAPTURE(i);
    CHECK(majors(ts) >= 2);
    CHECK(ts.size() < 500);
    for (std::size_t k = 0; k < ts.size(); ++k) {
      CHECK(ts[k].value >= low - (high - low) * 1e-6);
      CHECK(ts[k].value <= high + (high - low) * 1e-6);
      if (k > 0) CHECK(ts[k].value > ts[k - 1].value);
      CHECK(ts[k].label.empty() != ts[k].major);
    }
  }
}
