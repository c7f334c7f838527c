#include "engine/studies/sweep.h"

#include <algorithm>
#include <utility>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"

namespace roofscape::engine {

std::optional<std::vector<SweepRow>> sweep(const Scenario& base, std::span<const std::size_t> sizes,
                                           std::span<const Q> quantities, const SetChoice& set) {
  std::vector<SweepRow> rows;
  std::vector<std::size_t> choice(sizes.size(), 0);
  EvaluationScratch scratch;
  Report report;
  while (true) {
    Scenario scenario = base;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (!set(scenario, i, choice[i])) return std::nullopt;
    evaluate(scenario, scratch, report);
    // Few sweeps ask for what only a derivation has.
    const auto is_left_out = [&](Q q) { return report.quantities.absence(q) == Absence::not_applicable; };
    if (std::any_of(quantities.begin(), quantities.end(), is_left_out))
      report.quantities = all_quantities(scenario, report);
    SweepRow row;
    row.choice = choice;
    for (const Q q : quantities) {
      row.quantities.push_back(report.quantities[q]);
      row.absences.push_back(report.quantities.absence(q));
    }
    row.fits = report.fits();
    row.bound = report.bound.id();
    if (report.has_errors()) row.error = report.diagnostics.front().code;  // errors come first
    rows.push_back(std::move(row));
    std::size_t i = sizes.size();
    while (i > 0 && ++choice[i - 1] == sizes[i - 1]) choice[--i] = 0;
    if (i == 0) return rows;
  }
}

}  // namespace roofscape::engine
