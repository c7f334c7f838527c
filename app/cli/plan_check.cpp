#include "app/cli/plan_check.h"

#include <algorithm>

#include "app/cli/workers.h"
#include "engine/base/read_number.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/single_edits.h"
#include "engine/search/search.h"

namespace roofscape::app::cli {

using engine::say;

std::vector<engine::Offer> best_edits(const engine::Scenario& scenario, const engine::Report& report,
                                      std::size_t most) {
  std::vector<engine::Offer> out;
  const engine::Standing was = engine::standing(scenario, report);
  for (const engine::Fix& fix : engine::single_edits(scenario, report)) {
    const engine::Scenario changed = engine::after_fix(scenario, fix);
    if (changed.workload != scenario.workload) continue;  // another work is no edit of the plan
    const engine::Standing now = engine::standing(changed, engine::evaluate(changed));
    // A plan that cannot run has no rate that could be better.
    if (!now.runs || !engine::better(now, was)) continue;
    const bool mends = (now.runs && !was.runs) || (now.fits && !was.fits);
    if (!mends && now.rate < was.rate * (1 + engine::kWorthOffering)) continue;
    engine::Offer offer{fix, {}, now};
    offer.gain.measure = now.runs && !was.runs   ? engine::GainMeasure::runs
                         : now.fits && !was.fits ? engine::GainMeasure::fits
                         : scenario.serves()     ? engine::GainMeasure::serving_rate
                                                 : engine::GainMeasure::step_time;
    offer.gain.timed = offer.gain.measure == engine::GainMeasure::step_time;
    offer.gain.before = offer.gain.timed ? was.step_s : was.rate;
    offer.gain.after = offer.gain.timed ? now.step_s : now.rate;
    offer.gain.memory_bytes = now.memory_bytes;
    out.push_back(std::move(offer));
  }
  std::stable_sort(out.begin(), out.end(), [](const engine::Offer& a, const engine::Offer& b) {
    return engine::better(a.leads_to, b.leads_to);
  });
  // Edits that come to the same are one.
  out.erase(std::unique(out.begin(), out.end(),
                        [](const engine::Offer& a, const engine::Offer& b) {
                          return a.leads_to.rate == b.leads_to.rate &&
                                 a.leads_to.memory_bytes == b.leads_to.memory_bytes;
                        }),
            out.end());
  if (out.size() > most) out.erase(out.begin() + static_cast<std::ptrdiff_t>(most), out.end());
  return out;
}

std::optional<FoundPlan> found_plan(const engine::Scenario& scenario) {
  if (scenario.serves()) return std::nullopt;
  engine::SearchRequest request;
  request.space = engine::space_of(scenario);
  request.limit = 1;
  request.merge_alike = true;
  const engine::SearchResult result = engine::search(scenario, request, nullptr, worker_count(), run_workers);
  if (!result.finished || result.best.empty()) return std::nullopt;
  const engine::RankedPlan& best = result.best.front();
  return FoundPlan{best.plan, best.step_time_s, best.mfu, best.memory_bytes};
}

bool Requirement::met(const engine::Report& report) const {
  if (report.has_errors()) return false;
  if (fits) {
    const auto free = report.quantities[engine::Q::memory_free];
    return free && *free >= 0;
  }
  const auto value = report.quantities[quantity];
  return value && (at_least ? *value >= limit : *value <= limit);
}

io::Result<std::vector<Requirement>> read_requirements(std::string_view text, const engine::Scenario&) {
  constexpr std::pair<std::string_view, engine::Q> kShort[] = {
      {"mfu", engine::Q::mfu},          {"hfu", engine::Q::hfu},
      {"step", engine::Q::step_time},   {"memory", engine::Q::memory_total},
      {"free", engine::Q::memory_free}, {"days", engine::Q::run_days},
      {"ttft", engine::Q::ttft},        {"tpot", engine::Q::time_per_output_token}};
  std::vector<Requirement> out;
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.empty()) continue;
    Requirement requirement;
    requirement.written = std::string(one);
    if (one == "fits") {
      requirement.fits = true;
      out.push_back(std::move(requirement));
      continue;
    }
    const std::size_t at = one.find_first_of("<>");
    if (at == std::string_view::npos)
      return io::InputError{
          "--require", {}, say("error.require.form", io::in_quotes(one)), say("error.require.form.remedy")};
    requirement.at_least = one[at] == '>';
    std::string_view name = one.substr(0, at), value = one.substr(at + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    auto quantity = engine::find_quantity(name);
    for (const auto& [word, q] : kShort)
      if (name == word) quantity = q;
    if (!quantity || static_cast<std::size_t>(*quantity) >= engine::kReportQuantityCount)
      return io::InputError{
          "--require", {}, say("error.require.quantity", io::in_quotes(name)), say("error.require.form.remedy")};
    const engine::NumberReading number = engine::read_number(value, engine::quantity(*quantity).unit);
    if (!number) return io::InputError{"--require", std::string(name), number.problem, number.remedy};
    requirement.quantity = *quantity;
    requirement.limit = *number;
    out.push_back(std::move(requirement));
  }
  if (out.empty() && !whole.empty())
    return io::InputError{
        "--require", {}, say("error.require.form", io::in_quotes(whole)), say("error.require.form.remedy")};
  return out;
}

}  // namespace roofscape::app::cli
