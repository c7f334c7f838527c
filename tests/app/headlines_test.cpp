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
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluate.h"
#include "engine/hardware/roofline.h"
#include "tests/app/any_scenario.h"
#include "tests/widgets/figure_fixture.h"
#include "widgets/claims.h"
#include "widgets/figures.h"

using namespace roofscape;
using engine::Q;
using engine::Report;
using engine::Scenario;
using widgets::Claim;
using widgets::FigureHead;
using widgets::FigureRow;
using From = Claim::From;

namespace {

int cases_of_each_kind() {
  const char* wanted = std::getenv("ROOFSCAPE_HEADLINE_CASES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 60;
}

bool near(double a, double b, double tolerance = 1e-6) {
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), 1e-12});
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// A number as it is written: its value, and half a unit of its last digit.
struct Printed {
  double value = 0, half = 0;
};

// Of what stands behind a number the prefix of its unit: "GB", "µs", "k tokens/s"; of a count "B" are billions.
double factor_of(std::string_view unit, bool counts) {
  struct Prefix {
    std::string_view text;
    double factor;
  };
  constexpr std::array kLarge{Prefix{"Y", 1e24}, Prefix{"Z", 1e21}, Prefix{"E", 1e18}, Prefix{"P", 1e15},
                              Prefix{"T", 1e12}, Prefix{"G", 1e9},  Prefix{"M", 1e6},  Prefix{"k", 1e3}};
  constexpr std::array kSmall{Prefix{"ms", 1e-3}, Prefix{"\u00b5s", 1e-6}, Prefix{"ns", 1e-9}, Prefix{"ps", 1e-12}};
  if (unit.starts_with("%")) return 0.01;
  if (unit == "B" && counts) return 1e9;
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
  const double factor = factor_of(std::string_view(text).substr(at), counts);
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

using Columns = std::map<std::string, std::vector<double>>;
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '\t')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}
// What a figure copies, by column.
Columns table_of(const std::string& data) {
  Columns out;
  std::istringstream lines(data);
  std::string line;
  std::getline(lines, line);
  replace_all(line, " \u2020", "");
  const std::vector<std::string> names = fields(line);
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = fields(line);
    for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i)
      if (!cells[i].empty()) out[names[i]].push_back(std::strtod(cells[i].c_str(), nullptr));
  }
  return out;
}
bool has(const Columns& table, const std::string& column, double value) {
  const auto it = table.find(column);
  return it != table.end() && std::any_of(it->second.begin(), it->second.end(), [&](double v) { return v == value; });
}
// Whether the value is that of one cell of a column over another's.
bool is_ratio(const Columns& table, const std::string& column, const std::string& over, double value) {
  const auto a = table.find(column), b = table.find(over);
  if (a == table.end() || b == table.end()) return false;
  for (const double x : a->second)
    for (const double y : b->second)
      if (y != 0 && near(x / y, value)) return true;
  return false;
}

struct Shown {
  const Scenario& s;
  const Report& r;
  const Columns& table;
  double q(Q id) const { return r.quantities.value_or(id, 0); }
};

double matmul_rate(const Report& r) {
  double flops = 0, seconds = 0;
  for (const engine::OperationRow& op : r.operations)
    if (engine::part_of(op.kind) == Q::step_matmul && op.flops > 0) flops += op.flops, seconds += op.time_s;
  return seconds > 0 ? flops / seconds : 0;
}

// The figures' own definitions, each computed here by another way; null: of a study that no other surface has.
using Definition = std::function<bool(const Shown&, double)>;
const std::map<std::string, Definition>& definitions() {
  static const std::map<std::string, Definition> all{
      {"checkpointing.arithmetic",
       [](const Shown& x, double v) {
         const double work = x.q(Q::step_matmul) + x.q(Q::step_attention);
         return near(v, work > 0 ? (work + x.q(Q::step_recompute)) / work : 1);
       }},
      {"roofline.matmuls", [](const Shown& x, double v) { return near(v, matmul_rate(x.r) / x.q(Q::peak_flops)); }},
      {"roofline.hbm_share",
       [](const Shown& x, double v) {
         double share = 0;
         for (const engine::OperationRow& op : x.r.operations)
           if (!engine::is_vector_operation(op.kind) && op.flops > 0 &&
               op.intensity_flop_per_byte < x.q(Q::peak_flops) / x.q(Q::hbm_bandwidth))
             share += op.share_of_step;
         return near(v, std::min(1.0, share));
       }},
      {"memory-time.stage_bytes",
       [](const Shown& x, double v) {
         return std::any_of(x.r.stages.begin(), x.r.stages.end(),
                            [v](const engine::StageRow& stage) { return stage.memory_total_bytes == v; });
       }},
      {"memory-time.stage",
       [](const Shown& x, double v) { return v >= 0 && v < static_cast<double>(x.r.stages.size()); }},
      {"network.tokens_now",
       [](const Shown& x, double v) {
         return near(v,
                     double(x.s.workload.global_batch_sequences) * x.s.workload.sequence_length / x.q(Q::chips_used));
       }},
      {"pipeline.stages", [](const Shown& x, double v) { return v == x.s.parallelism.pipeline; }},
      {"parameters.largest",
       [](const Shown& x, double v) {
         const auto& params = x.table.at("parameters");
         return near(v, *std::max_element(params.begin(), params.end()) / x.q(Q::params_total));
       }},
      {"scaling.of_linear",
       [](const Shown& x, double v) { return is_ratio(x.table, "tokens per s", "ideal tokens per s", v); }},
      {"schedules.shorter",
       [](const Shown& x, double v) { return is_ratio(x.table, "makespan s", "makespan s", 1 - v); }},
      {"search.against_best",
       [](const Shown& x, double v) {
         const char* column = x.s.serves() ? "tokens per s and chip" : "step s";
         return is_ratio(x.table, column, column, 1 + v);
       }},
      {"serving-memory.more",
       [](const Shown& x, double v) { return v == x.q(Q::max_batch) - static_cast<double>(x.s.workload.batch); }},
      {"prefill-decode.of_best",
       [](const Shown& x, double v) {
         return is_ratio(x.table, "requests per s and chip", "requests per s and chip", v);
       }},
      {"ladder.slower", [](const Shown& x, double v) { return is_ratio(x.table, "bytes/s", "bytes/s", v); }},
      {"collective.crossing", {}},    // bytes at which hops take as long as the wires
      {"collective.exchange", {}},    // bytes a second that a rank exchanges
      {"collective.rate", {}},        // bytes a second that a gather reaches
      {"comm-roofline.forward", {}},  // a forward pass' transfers over its compute
      {"comm-roofline.margin", {}},   // compute of a step over the transfers of its tightest axis
      {"compare.rest", {}},           // small changes together
      {"evidence.longer", {}},        // measured over ideal, in the median
      {"evidence.longer_near", {}},   // the same near this plan
      {"evidence.median", {}},        // median absolute error
      {"evidence.near", {}},          // runs near this plan
      {"evidence.runs", {}},          // runs in all
      {"generations.doubling_years", {}},
      {"kv.equal", {}},              // where the cache is as large as the weights
      {"matmul.critical_rows", {}},  // tokens from which a matmul is compute-bound
      {"matmul.rows", {}},           // tokens of a microbatch on a chip
      {"network.fsdp_from", {}},     // tokens a chip from which FSDP alone hides
      {"network.mixed_from", {}},    // with tensor
      {"network.plan_from", {}},     // this plan's own pass
      {"overlap.elsewhere", {}},     // exposed outside of layers
      {"overlap.exposed", {}},       // in a layer
      {"overlap.exposed_share", {}},
      {"overlap.layer", {}},  // time of a layer
      {"overlap.least_exposed_share", {}},
      {"overlap.network_share", {}},  // transfers of a layer over its work
      {"overlap.plan_exposed_share", {}},
      {"overlap.plan_network_share", {}},
      {"prefill-decode.balance", {}},    // prefill chips a decoding chip at which both keep up
      {"prefill-decode.of_shared", {}},  // of a chip that does both
      {"roofline.measured", {}},
      {"search.plans", {}},  // counted
      {"serving-roofline.critical_batch", {}},
      {"serving-roofline.reached", {}},
      {"sharded-matmul.ranks", {}},
  };
  return all;
}

// What a claim says that is not so; empty: all of it is.
std::string wrong(const Claim& claim, const Shown& x, const Report* baseline) {
  if (claim.from == From::name) return {};
  if (!says(claim)) return fmt::format("writes {} as \"{}\"", claim.value, claim.shown);
  if (const auto value = widgets::claimed(x.r, baseline, claim))
    return near(claim.value, *value) ? std::string() : fmt::format("says {}, the report {}", claim.value, *value);
  if (claim.from == From::data)
    return has(x.table, claim.source, claim.value)
               ? std::string()
               : fmt::format("{} is not in the column \"{}\"", claim.value, claim.source);
  const auto definition = definitions().find(claim.source);
  if (definition == definitions().end()) return fmt::format("\"{}\" is no definition", claim.source);
  if (definition->second && !definition->second(x, claim.value))
    return fmt::format("{} is not {}", claim.value, claim.source);
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
  const Shown x{input.scenario, input.report, table};
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
  const FigureRow& row = *widgets::find_figure("compare");
  std::istringstream lines(widgets::figure_data(row, input, {}));
  std::string line;
  std::getline(lines, line);
  std::string step = "\n" + widgets::figure_data(*widgets::find_figure("step"), input, {});
  replace_all(step, " \u2020", "");
  double sum = 0, total = 0;
  while (std::getline(lines, line)) {
    replace_all(line, " \u2020", "");
    const std::vector<std::string> cells = fields(line);
    const double before = std::strtod(cells[1].c_str(), nullptr), after = std::strtod(cells[2].c_str(), nullptr),
                 change = std::strtod(cells[3].c_str(), nullptr);
    if (cells[0] == engine::quantity(Q::step_time).id)
      total = change;
    else
      sum += change;
    const bool told = step.find("\n" + cells[0] + "\t") != std::string::npos;
    if ((before > 0 || after > 0) && !told) return cells[0] + " is no part of the step";
  }
  const double scale = std::max(input.report.quantities.value_or(Q::step_time, 0),
                                input.baseline->report.quantities.value_or(Q::step_time, 0));
  return std::abs(sum - total) <= 1e-9 * scale ? std::string() : fmt::format("adds up to {}, not {}", sum, total);
}

void check_all(engine::WorkloadKind kind, unsigned seed) {
  std::mt19937 rng(seed);
  const widgets::Theme theme = widgets::testing::theme("dark");
  std::optional<widgets::testing::FigureCase> before;
  std::map<std::string_view, int> told;
  int faults = 0, drawn = 0;
  for (int i = 0; drawn < cases_of_each_kind() && faults < 12; ++i) {
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
  check_all(engine::WorkloadKind::training, 20261124);
}
TEST_CASE("each number in a headline of a plan that serves is what eval says") {
  check_all(engine::WorkloadKind::serving, 20261125);
}
