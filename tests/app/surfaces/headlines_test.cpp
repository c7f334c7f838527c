// Headlines of figures tell what evaluate() computes: each number in one is a claim, and each claim equals the
// report, the figure's own table or its stated definition. Over random scenarios of both workloads in all modes, on
// every chip, with default and other options.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/app/surfaces/headline_definitions.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using engine::Q;
using engine::Report;
using engine::Scenario;
using widgets::Claim;
using widgets::FigureHead;
using widgets::FigureRow;
using From = Claim::From;
using tests::Columns;
using tests::near;
using Shown = tests::ShownFigure;

namespace {

int headline_cases() {
  const char* wanted = std::getenv("ROOFSCAPE_HEADLINE_CASES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 60;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// A number as it is written: its value, and half a unit of its last digit.
struct Printed {
  double value = 0, half = 0;
};

// Of what stands behind a number the prefix of its unit: "GB", "µs", "k tokens/s"; of a count or of dollars "B" are billions.
double factor_of(std::string_view unit, bool has_billions) {
  struct Prefix {
    std::string_view text;
    double factor;
  };
  constexpr std::array kLarge{Prefix{"Y", 1e24}, Prefix{"Z", 1e21}, Prefix{"E", 1e18}, Prefix{"P", 1e15},
                              Prefix{"T", 1e12}, Prefix{"G", 1e9},  Prefix{"M", 1e6},  Prefix{"k", 1e3}};
  constexpr std::array kSmall{Prefix{"ms", 1e-3}, Prefix{"\u00b5s", 1e-6}, Prefix{"ns", 1e-9}, Prefix{"ps", 1e-12}};
  if (unit.starts_with("%")) return 0.01;
  if (unit == "B" && has_billions) return 1e9;
  for (const Prefix& p : kSmall)
    if (unit == p.text) return p.factor;
  for (const Prefix& p : kLarge)
    if (unit.starts_with(p.text)) return p.factor;
  return 1;
}

// Nothing where it is no plain number: "< 1 %", powers of ten.
std::optional<Printed> printed(std::string text, bool counts) {
  replace_all(text, "\u2212", "-");
  replace_all(text, " \u2020", "");  // of what nobody verified
  if (text.find("\u00d710") != std::string::npos || text.find('<') != std::string::npos) return std::nullopt;
  replace_all(text, "\u202f", " ");
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string::npos) return std::nullopt;
  std::string digits =
      first > 0 && (text[first - 1] == '-' || text[first - 1] == '+') ? text.substr(first - 1, 1) : "";
  std::size_t at = first;
  const auto digit = [&](std::size_t i) {
    return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
  };
  for (; digit(at) || (at < text.size() && text[at] == '.' && digit(at + 1)) ||
         (at < text.size() && text[at] == ' ' && digit(at + 1) && digit(at + 2) && digit(at + 3));
       ++at)
    if (text[at] != ' ') digits += text[at];
  while (at < text.size() && text[at] == ' ') ++at;
  const bool dollars = first > 0 && text[first - 1] == '$';
  const double factor = factor_of(std::string_view(text).substr(at), counts || dollars);
  const std::size_t point = digits.find('.');
  const double last =
      point == std::string::npos ? 1 : std::pow(10.0, -static_cast<double>(digits.size() - point - 1));
  return Printed{std::strtod(digits.c_str(), nullptr) * factor, 0.5 * last * factor};
}

bool says(const Claim& claim) {
  if (claim.shown.find('<') != std::string::npos) return claim.value < 0.01;
  const bool counts = !claim.of.empty() && engine::quantity(claim.of[0]).unit == engine::unit::parameters;
  const auto number = printed(claim.shown, counts);
  if (!number) return claim.shown.find_first_of("0123456789") != std::string::npos;
  // What is too much is written without its sign.
  const bool signless = claim.shown.find("\u2212") == std::string::npos && claim.shown.find('+') == std::string::npos;
  const double value = signless ? std::abs(claim.value) : claim.value;
  return std::abs(number->value - value) <= number->half * (1 + 1e-6) + 1e-9 * std::abs(value);
}

// What a figure copies, by column.
Columns table_of(std::string data) {
  replace_all(data, " \u2020", "");
  return Columns(data);
}

// What a claim says that is not so; empty: all of it is.
std::string wrong(const Claim& claim, const Shown& x, const Report* baseline) {
  if (claim.from == From::name) return {};
  if (!says(claim)) return fmt::format("writes {} as \"{}\"", claim.value, claim.shown);
  if (const auto value = widgets::claimed(x.r, baseline, claim))
    return near(claim.value, *value) ? std::string() : fmt::format("says {}, the report {}", claim.value, *value);
  if (claim.from == From::data)
    return x.table.has(claim.source, claim.value)
               ? std::string()
               : fmt::format("{} is not in the column \"{}\"", claim.value, claim.source);
  const auto definition = tests::headline_definitions().find(claim.source);
  if (definition == tests::headline_definitions().end()) return fmt::format("\"{}\" is no definition", claim.source);
  if (!definition->second(x, claim.value)) return fmt::format("{} is not {}", claim.value, claim.source);
  return {};
}

// What is left of a sentence without what is claimed.
std::string unclaimed(std::string text, std::vector<Claim> claims) {
  std::stable_sort(claims.begin(), claims.end(),
                   [](const Claim& a, const Claim& b) { return a.shown.size() > b.shown.size(); });
  for (const Claim& claim : claims)
    if (!claim.shown.empty()) replace_all(text, claim.shown, "#");
  for (const std::string_view word : {"16-bit", "\u00d72"}) replace_all(text, word, "#");  // a format, doubling
  return text;
}

bool has_raw_key(std::string_view text) {
  for (const std::string_view stem :
       {"figure.", "part.", "quantity.", "operation.", "choice.", "bound.", "diagnostic."})
    if (text.find(stem) != std::string_view::npos) return true;
  return false;
}

std::string first_fault(const FigureRow& row, const widgets::FigureInput& input, const widgets::FigureView& view) {
  const FigureHead head = widgets::figure_head(row, input, view);
  const Columns table = table_of(widgets::figure_data(row, input, view));
  const Shown x{input, view, table};
  for (const std::string& text : {head.title, head.takeaway, head.brief})
    if (has_raw_key(text)) return "a raw key: " + text;
  for (const Claim& claim : head.claims) {
    const std::string fault = wrong(claim, x, input.baseline ? &input.baseline->report : nullptr);
    if (!fault.empty()) return fault + ": " + head.takeaway;
    if (head.takeaway.find(claim.shown) == std::string::npos) return "claims what is not said: " + claim.shown;
  }
  for (const std::string& text : {head.takeaway, head.brief})
    if (const std::string rest = unclaimed(text, head.claims); rest.find_first_of("0123456789") != std::string::npos)
      return "unclaimed: " + rest + " of " + text;
  return {};
}

widgets::FigureView any_view(const FigureRow& row, std::mt19937& rng) {
  widgets::FigureView view;
  for (std::size_t i = 0; i < row.options.size(); ++i)
    view.choices[i] = static_cast<std::uint8_t>(rng() % row.options[i].choices.size());
  return view;
}

// Of two plans the rows of compare, under the names that the step has for them, add up to the difference.
std::string compare_fault(const widgets::FigureInput& input) {
  const Columns table = table_of(widgets::figure_data(*widgets::find_figure("compare"), input, {}));
  const Columns step = table_of(widgets::figure_data(*widgets::find_figure("step"), input, {}));
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string& name = table.rows[i][0];
    (name == engine::quantity(Q::step_time).id ? total : sum) += table["difference"][i];
    const bool told =
        std::any_of(step.rows.begin(), step.rows.end(), [&](const auto& row) { return row[0] == name; });
    if ((table["baseline seconds"][i] > 0 || table["seconds"][i] > 0) && !told)
      return name + " is no part of the step";
  }
  const double scale = std::max(input.report.quantities.value_or(Q::step_time, 0),
                                input.baseline->report.quantities.value_or(Q::step_time, 0));
  return std::abs(sum - total) <= 1e-9 * scale ? std::string() : fmt::format("adds up to {}, not {}", sum, total);
}

// Kernels as a profile has them, at half of what the roofline allows and at less.
const std::vector<engine::MeasuredOperation>& measured_kernels() {
  static const std::vector<engine::MeasuredOperation> some{{"wide", 4e14, 1e9, 1.0}, {"narrow", 1e12, 4e11, 0.7}};
  return some;
}

void check_headlines(engine::WorkloadKind kind, unsigned seed) {
  std::mt19937 rng(seed);
  const widgets::Theme theme = widgets::testing::theme("dark");
  std::optional<widgets::testing::FigureCase> before;
  std::map<std::string_view, int> told;
  int faults = 0, drawn = 0;
  for (int i = 0; drawn < headline_cases() && faults < 12; ++i) {
    const Scenario s = tests::any_scenario(rng, kind);
    widgets::testing::FigureCase c{s, engine::evaluate(s)};
    if (!c.report.quantities[s.serves() ? Q::decode_step : Q::step_time]) continue;
    ++drawn;
    widgets::StudyCache studies;
    const widgets::FigureInput kept = widgets::testing::input_of(c, theme);
    const widgets::FigureInput input{s,       c.report, kept.texts, theme,         studies,
                                     nullptr, {},       kept.chips, kept.evidence, kept.search};
    std::optional<widgets::Baseline> ghost;
    if (before) ghost.emplace(widgets::Baseline{before->scenario, before->report});
    for (const FigureRow& row : widgets::figures()) {
      if (!widgets::shows(row, s)) continue;
      for (const bool compared : {false, true}) {
        if (compared && !ghost) continue;
        for (const widgets::FigureView& view : {widgets::FigureView{}, any_view(row, rng)}) {
          widgets::FigureInput shown = input;
          if (compared) shown.baseline = &*ghost;
          if (drawn % 4 == 0) shown.measured = measured_kernels();
          const FigureHead head = widgets::figure_head(row, shown, view);
          told[row.name] += static_cast<int>(head.claims.size());
          const std::string fault = first_fault(row, shown, view);
          if (fault.empty()) continue;
          INFO("case " << i << ", " << s.model.id << " on " << s.cluster.chip.id << ", mode "
                       << static_cast<int>(s.assumptions.mode) << ", " << std::string(row.name)
                       << std::string(compared ? " with a baseline" : "") << ": " << fault);
          CHECK(fault.empty());
          ++faults;
          break;
        }
      }
    }
    if (ghost && !s.serves()) {
      widgets::FigureInput shown = input;
      shown.baseline = &*ghost;
      INFO("case " << i);
      CHECK(compare_fault(shown) == "");
    }
    before = std::move(c);
  }
  // A figure without a single number has not been checked.
  for (const FigureRow& row : widgets::figures())
    if (row.subject == widgets::Subject::any ||
        (row.subject == widgets::Subject::serving) == (kind == engine::WorkloadKind::serving)) {
      CAPTURE(row.name);
      CHECK(told[row.name] > 0);
    }
}

}  // namespace

TEST_CASE("each number in a headline of a plan that trains is what eval says") {
  check_headlines(engine::WorkloadKind::training, 20261124);
}
TEST_CASE("each number in a headline of a plan that serves is what eval says") {
  check_headlines(engine::WorkloadKind::serving, 20261125);
}
