#include "widgets/figures/common/doubts.h"

#include <algorithm>

namespace roofscape::widgets {

using engine::Q;
using From = Claim::From;

namespace {

Q plan_time(const engine::Scenario& s) { return s.serves() ? Q::mixed_token_time_q : Q::step_time; }

// A column of seconds or of something per second.
bool is_time_or_rate(std::string_view column) {
  return column.ends_with(" s") || column == "seconds" || column.ends_with(" seconds") ||
         column.find("/s") != std::string_view::npos || column.find("per s") != std::string_view::npos;
}

bool in_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// The first place that is not marked yet and no piece of a longer number: "1" is not in "184 GB".
void mark(std::string& text, const std::string& shown) {
  if (shown.empty()) return;
  for (std::size_t at = text.find(shown); at != std::string::npos; at = text.find(shown, at + 1)) {
    const std::string_view after = std::string_view(text).substr(at + shown.size());
    if (after.starts_with(kDoubtMark) || (at > 0 && in_number(text[at - 1])) ||
        (!after.empty() && in_number(after[0]) && in_number(shown.back())))
      continue;
    text.insert(at + shown.size(), kDoubtMark);
    return;
  }
}

// Degrees, batches and stages that a table lists are choices, not results.
bool is_choice(const Claim& claim) {
  return claim.from == From::data && claim.shown.find_first_not_of("0123456789\u202f") == std::string::npos;
}

}  // namespace

const engine::Provenance* doubts_of(const FigureInput& input) {
  if (!engine::has_unverified_source(input.scenario)) return nullptr;
  const auto& doubts = input.studies.get<engine::Provenance>(
      input.scenario, [&] { return engine::unverified_inputs(input.scenario, input.report); });
  return doubts.inputs.empty() ? nullptr : &doubts;
}

std::optional<Q> quantity_of(Rests rests, const engine::Scenario& scenario) {
  switch (rests) {
    case Rests::time:
      return plan_time(scenario);
    case Rests::memory:
      return Q::memory_total;
    case Rests::parameters:
      return Q::params_total;
    case Rests::nothing:
      break;
  }
  return std::nullopt;
}

bool doubted(const engine::Provenance& doubts, std::string_view id, std::optional<Q> own) {
  const auto q = engine::find_quantity(id);
  return q ? doubts.reaches(*q) : own && doubts.reaches(*own);
}

void mark_doubts(FigureHead& head, const FigureInput& input) {
  const engine::Provenance* doubts = doubts_of(input);
  if (doubts == nullptr) return;
  const auto reached = [&](Q q) { return doubts->reaches(q); };
  const Q time = plan_time(input.scenario);
  for (Claim& claim : head.claims) {
    if (is_choice(claim)) continue;
    if (claim.from == From::name || claim.from == From::baseline || claim.from == From::beside) continue;
    const bool doubtful = claim.of.empty() ? reached(time)
                                           : std::any_of(claim.of.begin(), claim.of.end(), reached) ||
                                                 (claim.over && reached(*claim.over));
    if (!doubtful) continue;
    mark(head.takeaway, claim.shown);
    mark(head.brief, claim.shown);
    claim.shown += kDoubtMark;
  }
}

std::string marked_data(std::string_view data, const engine::Provenance& doubts, std::optional<Q> own) {
  std::string out;
  bool first_row = true, first_cell = true;
  while (!data.empty()) {
    const std::size_t end = std::min(data.find_first_of("\t\n"), data.size());
    const std::string_view cell = data.substr(0, end);
    out += cell;
    const auto rest_on = first_row && is_time_or_rate(cell) ? own : std::nullopt;
    if ((first_row || first_cell) && doubted(doubts, cell, rest_on)) out += kDoubtMark;
    if (end == data.size()) break;
    out += data[end];
    first_cell = data[end] == '\n';
    first_row = first_row && !first_cell;
    data.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace roofscape::widgets
