// Expressions as text, and derivations as they are printed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>

#include "app/core/derivation_text.h"
#include "app/core/export.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/base/read_number.h"
#include "engine/evaluate/explain.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "widgets/plot/formula_text.h"

namespace roofscape {
namespace {

using engine::Expression;
using Kind = Expression::Kind;

Expression named(const char* symbol, double value, engine::Unit unit = engine::unit::seconds) {
  Expression e;
  e.kind = Kind::operand;
  e.symbol = symbol;
  e.value = value;
  e.unit = unit;
  return e;
}
Expression constant(double value) {
  Expression e;
  e.value = value;
  e.unit = engine::unit::one;
  return e;
}
Expression node(Kind kind, double value, std::vector<Expression> children, int winner = -1) {
  Expression e;
  e.kind = kind;
  e.value = value;
  e.children = std::move(children);
  e.winner = winner;
  return e;
}
std::string symbols(const Expression& e) { return widgets::formula_in_symbols(e); }

const Expression a = named("a", 1), b = named("b", 2), third = named("c", 3);

TEST_CASE("parentheses stand where they are needed and nowhere else") {
  const Expression sum = node(Kind::add, 3, {a, b});
  const Expression difference = node(Kind::subtract, 1, {b, a});
  const Expression product = node(Kind::multiply, 2, {a, b});
  const Expression quotient = node(Kind::divide, 0.5, {a, b});
  CHECK(symbols(node(Kind::add, 0, {sum, third})) == "a + b + c");
  CHECK(symbols(node(Kind::multiply, 0, {sum, third})) == "(a + b) * c");
  CHECK(symbols(node(Kind::divide, 0, {third, product})) == "c / (a * b)");
  CHECK(symbols(node(Kind::divide, 0, {product, third})) == "a * b / c");
  CHECK(symbols(node(Kind::divide, 0, {third, quotient})) == "c / (a / b)");
  CHECK(symbols(node(Kind::divide, 0, {sum, sum})) == "(a + b) / (a + b)");
  CHECK(symbols(node(Kind::subtract, 0, {third, sum})) == "c \u2212 (a + b)");
  CHECK(symbols(node(Kind::subtract, 0, {sum, third})) == "a + b \u2212 c");
  CHECK(symbols(node(Kind::subtract, 0, {third, difference})) == "c \u2212 (b \u2212 a)");
  CHECK(symbols(node(Kind::add, 0, {product, quotient})) == "a * b + a / b");
  CHECK(symbols(node(Kind::max, 2, {sum, third}, 1)) == "max(a + b, c)");
  CHECK(symbols(node(Kind::multiply, 0, {node(Kind::ceil, 1, {quotient}), third})) == "ceil(a / b) * c");
  CHECK(symbols(node(Kind::sqrt, 1, {node(Kind::choose, 2, {a, sum}, 1)})) == "sqrt(a + b)");
}

TEST_CASE("numbers carry units that can be mixed up, counts and constants stand alone") {
  const Expression tokens = named("B", 4194304, engine::unit::tokens);
  const Expression peak = named("C", 459e12, engine::unit::flop_per_s);
  CHECK(widgets::formula_in_numbers(node(Kind::divide, 0, {node(Kind::multiply, 0, {constant(6), tokens}), peak})) ==
        "6 * 4\u202f194\u202f304 / 459\u202fTFLOP/s");
  CHECK(widgets::formula_in_numbers(constant(0.5)) == "0.5");
  CHECK(widgets::format(1.0483e-3, engine::unit::seconds, widgets::kDerivedDigits) == "1.048\u202fms");
}

TEST_CASE("a maximum says which side decided and by how much") {
  const auto texts = app::load_texts("en");
  REQUIRE(texts.ok());
  const auto decided = [&](Kind kind, const Expression& x, const Expression& y, int winner) {
    return app::decision_text(node(kind, 0, {x, y}, winner), texts.value());
  };
  CHECK(decided(Kind::max, named("x", 1.023), named("y", 1.0), 0) == "x decides, 2.3\u202f% above y");
  CHECK(decided(Kind::max, a, third, 1) == "c decides, 3 times a");
  CHECK(decided(Kind::min, a, b, 0) == "a decides, 50.0\u202f% less than b");
  CHECK(decided(Kind::max, constant(0), named("x", -1), 0) == "0 decides");
  CHECK(decided(Kind::max, a, a, 0) == "both sides are equal");
  CHECK(decided(Kind::add, a, b, -1).empty());
}

TEST_CASE("a derivation lists each line once, its inputs at the end with their sources") {
  const auto texts = app::load_texts("en");
  const auto scenario = io::load_scenario("llama3-70b-v5p-pod", test::shipped());
  REQUIRE(texts.ok());
  REQUIRE(scenario.ok());
  const auto derivation = engine::explain(scenario.value(), "step.time_s");
  REQUIRE(derivation);
  const std::string text = app::derivation_text(*derivation, texts.value());
  CHECK(text.starts_with("step time: "));
  CHECK(text.find("\nT_step = sum of 13 parts = ") != std::string::npos);
  CHECK(text.find("zero here: ") != std::string::npos);
  const std::size_t inputs = text.find("\nInputs\n");
  REQUIRE(inputs != std::string::npos);
  CHECK(text.find("459\u202fTFLOP/s  chip.peak_flops_per_s", inputs) != std::string::npos);
  for (const engine::DerivationLine& line : derivation->lines) {
    CAPTURE(line.id);
    const std::string mark = line.is_input ? "  " + line.id + "  " : "(" + line.id + ";";
    const std::size_t at = text.find(mark);
    CHECK(at != std::string::npos);
    CHECK(text.find(mark, at + 1) == std::string::npos);
  }
}

// Whether the text has the word on its own, as a number that is none has: "nan", not the "nan" of "Narayanan".
bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [](char at_edge) { return std::isalpha(static_cast<unsigned char>(at_edge)) != 0; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}
bool all_finite(const engine::Expression& e) {
  return std::isfinite(e.value) && std::all_of(e.children.begin(), e.children.end(), all_finite);
}

TEST_CASE("a word is found on its own, not within another") {
  CHECK(has_word("T = nan s", "nan"));
  CHECK(has_word("(-nan)", "nan"));
  CHECK_FALSE(has_word("Narayanan et al. 2021", "nan"));
}

// Where the last word of a line begins, of all lines the farthest: a word that is longer than the line is not broken.
std::size_t last_word_at(const std::string& text) {
  std::istringstream lines(text);
  std::size_t farthest = 0;
  for (std::string line; std::getline(lines, line);)
    farthest = std::max(farthest, app::display_width(line.substr(0, line.find_last_of(' ') + 1)));
  return farthest;
}

TEST_CASE("every quantity of every preset can be printed") {
  const auto texts = app::load_texts("en");
  REQUIRE(texts.ok());
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::scenario)) {
    const auto scenario = io::load_scenario(preset.id, test::shipped());
    REQUIRE(scenario.ok());
    const engine::Recording recording(scenario.value());
    for (const std::string& id : recording.explainable()) {
      const auto derivation = recording.explain(id);
      REQUIRE_MESSAGE(derivation, id);
      const std::string text = app::derivation_text(*derivation, texts.value());
      CHECK_MESSAGE(!has_word(text, "nan"), preset.id << " " << id);
      CHECK_MESSAGE(last_word_at(text) <= 110, preset.id << " " << id);
      CHECK_MESSAGE(!has_word(text, "inf"), preset.id << " " << id);
      for (const engine::DerivationLine& line : derivation->lines)
        CHECK_MESSAGE((std::isfinite(line.value) && all_finite(line.expression)), preset.id << " " << line.id);
    }
  }
}

// What somebody makes of a printed right side: sums, products, brackets and functions of numbers with units.
class Redo {
 public:
  explicit Redo(std::string_view text) : text_(text) {}
  double value() {
    const double x = sum();
    REQUIRE_MESSAGE(at_ == text_.size(), "cannot be read from: ", std::string(text_.substr(at_)));
    return x;
  }

 private:
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  double sum() {
    double x = product();
    for (;;) {
      if (take(" + "))
        x += product();
      else if (take(" \u2212 "))
        x -= product();
      else
        return x;
    }
  }
  double product() {
    double x = factor();
    for (;;) {
      if (take(" * "))
        x *= factor();
      else if (take(" / "))
        x /= factor();
      else
        return x;
    }
  }
  double enclosed() {
    const double x = sum();
    REQUIRE(take(")"));
    return x;
  }
  double factor() {
    if (take("(")) return enclosed();
    if (take("ceil(")) return std::ceil(enclosed());
    if (take("floor(")) return std::floor(enclosed());
    if (take("sqrt(")) return std::sqrt(enclosed());
    const bool is_max = take("max(");
    if (is_max || take("min(")) {
      double x = sum();
      while (take(", ")) {
        const double next = sum();
        x = is_max ? std::max(x, next) : std::min(x, next);
      }
      REQUIRE(take(")"));
      return x;
    }
    std::size_t end = text_.size();
    for (const std::string_view stop : {" + ", " \u2212 ", " * ", " / ", ", ", ")"})
      end = std::min(end, text_.find(stop, at_));
    const std::string_view number = text_.substr(at_, end - at_);
    at_ = end;
    return read(number);
  }
  static double read(std::string_view number) {
    using namespace engine::unit;
    // Not as bare numbers first: "1 B" of those is a billion.
    for (const engine::Unit& u : {seconds, bytes, flop, flop_per_s, bytes_per_s, flop_per_byte, tokens_per_s,
                                  requests_per_s, hertz, dollars, flop_per_dollar, watts, one})
      if (const auto x = engine::read_number(number, u)) return *x;
    FAIL_CHECK("no number: " << std::string(number));
    return std::nan("");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

TEST_CASE("whoever redoes a printed line from its numbers comes to the printed value, in training and serving") {
  std::size_t redone = 0;
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::scenario)) {
    const auto scenario = io::load_scenario(preset.id, test::shipped());
    REQUIRE(scenario.ok());
    const engine::Recording recording(scenario.value());
    for (const std::string& quantity : recording.explainable()) {
      const auto derivation = recording.explain(quantity);
      REQUIRE(derivation);
      const engine::DerivationLine& line = derivation->lines.front();
      if (line.is_input || line.is_simulated || line.expression.children.empty() || line.value == 0) continue;
      CAPTURE(preset.id);
      CAPTURE(quantity);
      const std::string numbers = widgets::formula_in_numbers(line.expression, widgets::digits_to_redo(line));
      CAPTURE(numbers);
      const double last = std::pow(10, std::floor(std::log10(std::abs(line.value))) - 3);
      CHECK(std::abs(Redo(numbers).value() - line.value) <= 1.0001 * last);
      ++redone;
    }
  }
  CHECK(redone > 1000);
}

TEST_CASE("columns and wrapping count characters") {
  app::Columns columns({false, true});
  columns.add({"\u00b5s", "1"});
  columns.add({"longer", "100"});
  CHECK(columns.text(1) == " \u00b5s        1\n longer  100\n");
  CHECK(app::wrapped("  ab ", "one two three", 12) == "  ab one two\n     three");
}

}  // namespace
}  // namespace roofscape
