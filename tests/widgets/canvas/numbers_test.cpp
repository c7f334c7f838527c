#include <doctest/doctest.h>

#include <clocale>
#include <limits>

#include "widgets/canvas/number_format.h"

using namespace roofscape::widgets;
namespace unit = roofscape::engine::unit;

// "_" stands for the narrow space, to keep the table readable.
static std::string open(std::string text) {
  for (std::size_t at; (at = text.find('_')) != std::string::npos;) text.replace(at, 1, kNarrowSpace);
  return text;
}

TEST_CASE("values are written as people expect them") {
  struct Row {
    double value;
    roofscape::engine::Unit unit;
    const char* text;
  };
  const Row rows[] = {
      {62.9e9, unit::bytes, "62.9_GB"},
      {80e9, unit::bytes, "80.0_GB"},
      {512, unit::bytes, "512_B"},
      {999'960, unit::bytes, "1.00_MB"},
      {0, unit::bytes, "0_B"},
      {989e12, unit::flop_per_s, "989_TFLOP/s"},
      {3.35e12, unit::bytes_per_s, "3.35_TB/s"},
      {1.82e6, unit::tokens_per_s, "1.82_M tokens/s"},
      {4.23e19, unit::flop, "42.3_EFLOP"},
      {3.8e25, unit::flop, "38.0_YFLOP"},
      {9.234, unit::seconds, "9.23_s"},
      {0.544, unit::seconds, "544_ms"},
      {0.0043, unit::seconds, "4.30_ms"},
      {11e-6, unit::seconds, "11.0_\u00b5s"},
      {0.99996, unit::seconds, "1.00_s"},
      {12345, unit::seconds, "12_345_s"},
      {0, unit::seconds, "0_s"},
      {0.283, unit::fraction, "28.3_%"},
      {1, unit::fraction, "100.0_%"},
      {75.3e6, unit::dollars, "$75_M"},
      {1.64e6, unit::dollars, "$1.6_M"},
      {2, unit::dollars, "$2.00"},
      {75'400, unit::dollars, "$75_400"},
      {1.2e9, unit::dollars, "$1.2_B"},
      {70'553'706'496, unit::parameters, "70_553_706_496_parameters"},
      {16384, unit::chips, "16_384_chips"},
      {8192, unit::count, "8192"},
      {295.4, unit::flop_per_byte, "295_FLOP/B"},
      {0.0027126, unit::one, "0.00271"},
      {9.996, unit::one, "10.0"},
      {8192, unit::one, "8192"},
      {94.6, unit::days, "94.6_days"},
      {-2.5e9, unit::bytes, "\u22122.50_GB"},
      {-0.0, unit::one, "0"},
  };
  for (const Row& r : rows) CHECK(format(r.value, r.unit) == open(r.text));
}

TEST_CASE("half of the last whole digit goes up, in a value as in a count") {
  CHECK(format_significant(12312.5) == "12\u202f313");
  CHECK(format_significant(12313.5) == "12\u202f314");
}

TEST_CASE("inputs are written without padded zeros, differences with a sign") {
  CHECK(format(80e9, unit::bytes, {.trim_zeros = true}) == open("80_GB"));
  CHECK(format(2.5e9, unit::bytes, {.trim_zeros = true}) == open("2.5_GB"));
  CHECK(format_difference(12.3e9, unit::bytes) == open("+12.3_GB"));
  CHECK(format_difference(-0.02, unit::fraction) == open("\u22122.0_%"));
  CHECK(format_difference(64, unit::chips) == open("+64_chips"));
  CHECK(format_difference(0, unit::chips) == open("0_chips"));
}

TEST_CASE("bytes are decimal unless binary is asked for") {
  CHECK(format(80.0 * 1073741824.0, unit::bytes) == open("85.9_GB"));
  CHECK(format(80.0 * 1073741824.0, unit::bytes, {.bytes = BytePrefix::binary}) == open("80.0_GiB"));
}

TEST_CASE("shares under one percent say so, ratios have a multiplication sign") {
  CHECK(format_share(0.223) == open("22_%"));
  CHECK(format_share(0.004) == open("<_1_%"));
  CHECK(format_share(0) == open("0_%"));
  CHECK(format_ratio(1.333) == "1.33\u00d7");
  CHECK(format_scientific(4.23e19) == open("4.23_\u00d7_10\u00b9\u2079"));
  CHECK(format_scientific(1e-5) == "10\u207b\u2075");
}

TEST_CASE("a number and its unit come apart for value boxes") {
  const NumberText t = format_parts(62.9e9, unit::bytes);
  CHECK(t.number == "62.9");
  CHECK(t.unit == "GB");
  CHECK(format_parts(0.283, unit::fraction, {.unit = false}).unit == "");
}

TEST_CASE("what is not finite is a dash in every notation, and huge or tiny values stay short") {
  for (const double v : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity()}) {
    for (const auto& u : {unit::one, unit::count, unit::fraction, unit::seconds, unit::bytes, unit::dollars})
      CHECK(format(v, u) == kNoValue);
    CHECK(format_share(v) == kNoValue);
    CHECK(format_ratio(v) == kNoValue);
  }
  for (const double v : {1e300, -1e300, 1e-300, 5e-324, 1.7e308})
    for (const auto& u :
         {unit::one, unit::count, unit::fraction, unit::seconds, unit::bytes, unit::dollars, unit::days}) {
      CAPTURE(v);
      CHECK(format(v, u).size() < 60);
    }
}

TEST_CASE("the locale of the process changes nothing") {
  const char* changed = std::setlocale(LC_ALL, "de_DE.UTF-8");
  CHECK(format(62.9e9, unit::bytes) == open("62.9_GB"));
  if (changed) std::setlocale(LC_ALL, "C");
}

TEST_CASE("energy is written in watt-hours with the prefix that fits") {
  const auto written = [](double kwh) { return format(kwh, roofscape::engine::unit::kilowatt_hours); };
  CHECK(written(0.5) == "500\u202fWh");
  CHECK(written(120) == "120\u202fkWh");
  CHECK(written(14'224'645) == "14.2\u202fGWh");
}
