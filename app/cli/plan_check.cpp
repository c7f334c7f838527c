#include "app/cli/plan_check.h"

#include <algorithm>

#include "app/cli/workers.h"
#include "engine/base/read_number.h"
#include "engine/search/search.h"

namespace roofscape::app::cli {

using engine::say;

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

std::optional<FoundDecoding> found_decoding(const engine::Scenario& scenario) {
  if (!scenario.serves()) return std::nullopt;
  engine::ServingRequest request = engine::serving_request_of(scenario);
  request.limit = 1;
  const engine::ServingSearchResult result = engine::search_serving(scenario, request, nullptr, run_workers);
  if (!result.finished || result.best.empty()) return std::nullopt;
  FoundDecoding found{result.best.front(), std::nullopt};
  if (result.present_legal && !result.present.rejected) found.present_tokens_per_s = result.present.tokens_per_s;
  return found;
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
