// Numbers as people type them: one reader for boxes, palette, command line and building blocks.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "engine/base/read_number.h"
#include "engine/base/unit.h"
#include "engine/base/utf8.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/english.h"

using namespace roofscape::engine;
namespace test = roofscape::test;

namespace {

double read(std::string_view text, const Unit& unit) {
  const NumberReading number = read_number(text, unit);
  INFO(std::string(text), ": ", test::in_english(number.problem), "; ", test::in_english(number.remedy));
  REQUIRE(number);
  CHECK(number.problem.empty());
  return *number;
}

// Refused, with words that name what to type.
void refuses(std::string_view text, const Unit& unit, std::string_view told = {}) {
  const NumberReading number = read_number(text, unit);
  INFO(std::string(text));
  CHECK_FALSE(number);
  CHECK_FALSE(number.problem.empty());
  CHECK_FALSE(number.remedy.empty());
  const std::string words = test::in_english(number.problem) + "; " + test::in_english(number.remedy);
  INFO(words);
  CHECK(words.find(told) != std::string::npos);
}

}  // namespace

TEST_CASE("what is refused is quoted in whole characters, wherever it is cut") {
  for (std::size_t before = 0; before < 4; ++before) {
    std::string text(before, 'x');
    for (int i = 0; i < 60; ++i) text += "\u20ac";
    const std::string words = test::in_english(read_number(text, unit::count).problem);
    CHECK(first_invalid_utf8(words) == std::string::npos);
    CHECK(words.find(text) == std::string::npos);  // it was cut
  }
}

TEST_CASE("numbers with a prefix or grouped digits") {
  for (const Unit& unit : {unit::count, unit::tokens, unit::parameters, unit::one}) {
    CAPTURE(std::string(unit.symbol));
    CHECK(read("13B", unit) == 13e9);
    CHECK(read("13 b", unit) == 13e9);
    CHECK(read("8,960", unit) == 8960);
    CHECK(read("16 384", unit) == 16384);
    CHECK(read("16\u202f384", unit) == 16384);
    CHECK(read("70_553_706_496", unit) == 70553706496.0);
    CHECK(read("1.5e12", unit) == 1.5e12);
    CHECK(read("2k", unit) == 2000);
    CHECK(read("15 T", unit) == 15e12);
    CHECK(read("15t", unit) == 15e12);
    CHECK(read("128Ki", unit) == 131072);
    CHECK(read("\u22123", unit) == -3);
    CHECK(read(" 5 ", unit) == 5);
    CHECK(read(".5", unit) == 0.5);
    CHECK(read("4.23\u202f\u00d7\u202f10\u00b9\u2078", unit) == 4.23e18);
    CHECK(read("10^12", unit) == 1e12);
  }
  CHECK(read("15 T tokens", unit::tokens) == 15e12);
  CHECK(read("70B params", unit::parameters) == 70e9);
  CHECK(read("1.2k tokens/s", unit::tokens_per_s) == 1200);
  CHECK(read("30.8 M chip h", unit::chip_hours) == 30.8e6);
  CHECK(read("1.33\u00d7", unit::one) == 1.33);
}

TEST_CASE("times, bytes, rates and money with their units") {
  CHECK(read("500 ms", unit::seconds) == 0.5);
  CHECK(read("30 ms", unit::seconds) == 0.03);
  CHECK(read("30 us", unit::seconds) == 30e-6);
  CHECK(read("4.3\u202f\u00b5s", unit::seconds) == 4.3e-6);
  CHECK(read("0.5", unit::seconds) == 0.5);
  CHECK(read("2 min", unit::seconds) == 120);
  CHECK(read("3 days", unit::seconds) == 3 * 86400);
  CHECK(read("3 days", unit::days) == 3);
  CHECK(read("36 h", unit::days) == 1.5);
  CHECK(read("2 weeks", unit::days) == 14);
  CHECK(read("80 GB", unit::bytes) == 80e9);
  CHECK(read("80GB", unit::bytes) == 80e9);
  CHECK(read("64 GiB", unit::bytes) == 64 * 0x1p30);
  CHECK(read("64 Gi", unit::bytes) == 64 * 0x1p30);
  CHECK(read("80 G", unit::bytes) == 80e9);
  CHECK(read("192e9", unit::bytes) == 192e9);
  CHECK(read("13B", unit::bytes) == 13);
  CHECK(read("1.2 TB/s", unit::bytes_per_s) == 1.2e12);
  CHECK(read("400 Gb/s", unit::bytes_per_s) == 50e9);
  CHECK(read("400 Gbps", unit::bytes_per_s) == 50e9);
  CHECK(read("50 GBps", unit::bytes_per_s) == 50e9);
  CHECK(read("989 TFLOP/s", unit::flop_per_s) == 989e12);
  CHECK(read("989 TFLOPs", unit::flop_per_s) == 989e12);
  CHECK(read("989 tflops", unit::flop_per_s) == 989e12);
  CHECK(read("5 EFLOP/s", unit::flop_per_s) == 5e18);
  CHECK(read("$2.50", unit::dollars) == 2.5);
  CHECK(read("2.5 USD", unit::dollars) == 2.5);
  CHECK(read("$75 M", unit::dollars) == 75e6);
  CHECK(read("$10.80/h", unit::dollars) == 10.8);
  CHECK(read("1.8 GHz", unit::hertz) == 1.8e9);
  CHECK(read("1 kW", unit::watts) == 1000);
  CHECK(read("120 kWh", unit::kilowatt_hours) == 120);
}

TEST_CASE("a share is a fraction or a percentage, never one read as the other") {
  CHECK(read("40%", unit::fraction) == 0.4);
  CHECK(read("40 %", unit::fraction) == 0.4);
  CHECK(read("40\u202f%", unit::one) == 0.4);
  CHECK(read("0.5", unit::fraction) == 0.5);
  CHECK(read("1", unit::fraction) == 1);
  CHECK(read("1 %", unit::fraction) == 0.01);
  CHECK(read("35", unit::fraction) == 0.35);
  refuses("1.5", unit::fraction, "1.5 %");
  refuses("40 %", unit::tokens, "tokens");
  refuses("40 %", unit::seconds, "time");
}

TEST_CASE("what is ambiguous or of another kind is refused with what to type instead") {
  refuses("30 m", unit::seconds, "30 ms");
  refuses("30m", unit::count, "30M");
  refuses("30m", unit::bytes, "30M");
  refuses("2k", unit::seconds, "a time");
  refuses("500 ms", unit::bytes, "bytes, such as 80 GB");
  refuses("500 ms", unit::bytes, "is a time");
  refuses("500 ms", unit::tokens, "is a time");
  refuses("80 GB", unit::seconds, "an amount of bytes");
  refuses("3.35 TB", unit::bytes_per_s, "bytes per second");
  refuses("80 Gb", unit::bytes, "GB for bytes or Gbit for bits");
  refuses("80 gb", unit::bytes);
  refuses("$3", unit::seconds, "money");
  refuses("5 parsecs", unit::seconds, "no unit");
  refuses("1,5", unit::count, "1.5");
  refuses("0,500", unit::count, "point");
  refuses("1,5000", unit::count);
  refuses("12 8", unit::count);
  refuses("1.234.5", unit::count);
  for (const std::string_view text : {"", " ", "abc", "nan", "inf", "1e999", "-", ".", "e5", "%", "--5", "0x10"})
    for (const Unit& unit : {unit::count, unit::seconds, unit::bytes, unit::fraction}) refuses(text, unit);
  CHECK(names_unit("30 ms"));
  CHECK(names_unit("40%"));
  CHECK_FALSE(names_unit("8,960"));
  CHECK_FALSE(names_unit("1.5e12"));
}

TEST_CASE("every field of a scenario takes its own values back as plain digits") {
  for (const Field& field : scenario_fields()) {
    if (field.kind != FieldKind::integer && field.kind != FieldKind::number) continue;
    for (const double value : {field.minimum, field.maximum, (field.minimum + field.maximum) / 2}) {
      if (field.unit.notation == Notation::percent && value > 1) continue;
      const std::string text = std::to_string(value);
      CAPTURE(field.path);
      CHECK(std::abs(read(text, field.unit) - value) <= 1e-6 + 1e-12 * std::abs(value));
    }
  }
}
