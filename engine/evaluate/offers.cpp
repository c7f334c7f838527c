#include "engine/evaluate/offers.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/evaluate/provenance.h"
#include "engine/evaluate/service_level.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::engine {
namespace {

constexpr double kLeastGain = 1e-3;      // below that a fix of a finding gains nothing
constexpr std::size_t kMostEdits = 8;    // of one fix
constexpr std::size_t kSecondSteps = 6;  // plans from which a second change is tried

bool touches_only(const Fix& fix, std::string_view group) {
  return std::all_of(fix.begin(), fix.end(),
                     [group](const FieldEdit& e) { return e.field != nullptr && e.field->path.starts_with(group); });
}

// Evaluates changed scenarios one after the other, in the same memory.
class Prices {
 public:
  const Report& of(const Scenario& s) {
    evaluate(s, scratch_, report_);
    return report_;
  }

 private:
  EvaluationScratch scratch_;
  Report report_;
};

bool has_finding(const Report& report, std::string_view code) {
  return std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                     [code](const Diagnostic& d) { return d.code == code; });
}

bool same_rank(const Standing& a, const Standing& b) {
  return a.runs == b.runs && a.fits == b.fits && a.keeps_up == b.keeps_up && a.keeps_promise == b.keeps_promise;
}

// A plan that does not fit is no plan: it is no remedy for one that neither runs nor fits. And a promise that is kept
// is not given up for arrivals or tokens.
bool serves_its_end(const Standing& was, const Standing& now) {
  if (!was.runs || !was.fits) return now.runs && now.fits;
  return better(now, was) && now.keeps_promise >= was.keeps_promise;
}

// One change after another as one: each field once, and none that the second takes back.
Fix both(const Scenario& s, const Fix& first, const Fix& second) {
  Fix whole;
  const auto add = [&](const FieldEdit& e) {
    if (e.field->get(s) != e.value) whole.push_back(e);
  };
  for (const FieldEdit& e : first)
    if (std::none_of(second.begin(), second.end(), [&](const FieldEdit& later) { return later.field == e.field; }))
      add(e);
  for (const FieldEdit& e : second) add(e);
  return whole;
}

// Whether it is a rank higher, or has so much more of the rate.
bool pays(const Standing& was, const Standing& now, double least) {
  return serves_its_end(was, now) && (!same_rank(was, now) || now.rate > was.rate * (1 + least));
}
// The same, or the rate as it was and requests served sooner, or as soon in less memory.
bool helps(const Standing& was, const Standing& now, double least) {
  if (pays(was, now, least)) return true;
  if (!serves_its_end(was, now) || now.rate != was.rate) return false;
  return now.request_s < was.request_s * (1 - least) ||
         (now.request_s == was.request_s && now.memory_bytes < was.memory_bytes * (1 - least));
}

// `same_work`: steps of both take the same tokens.
Gain gain_between(const Standing& was, const Standing& now, bool same_work) {
  Gain gain;
  gain.memory_bytes = now.memory_bytes;
  const bool training = now.step_s > 0;
  gain.timed = training && same_work;
  gain.before = !was.runs ? 0 : gain.timed ? was.step_s : was.rate;
  gain.after = gain.timed ? now.step_s : now.rate;
  if (!was.runs)
    gain.measure = GainMeasure::runs;
  else if (!was.fits)
    gain.measure = GainMeasure::fits;
  else if (!was.keeps_up && now.keeps_up)
    gain.measure = GainMeasure::keeps_up;
  else if (!was.keeps_promise && now.keeps_promise)
    gain.measure = GainMeasure::promise;
  else if (now.rate != was.rate)
    gain.measure = gain.timed ? GainMeasure::step_time
                   : training ? GainMeasure::train_rate
                              : GainMeasure::serving_rate;
  else if (now.request_s < was.request_s)
    gain = {GainMeasure::request_time, true, was.request_s, now.request_s, now.memory_bytes};
  else
    gain = {GainMeasure::memory, false, was.memory_bytes, now.memory_bytes, now.memory_bytes};
  return gain;
}

// A setting of how it is counted is no other plan: it settles the finding, or it is not worth a word.
bool settles(const Standing& was, const Standing& now, const Report& after, std::string_view code) {
  return now.runs && was.runs && now.fits >= was.fits && !has_finding(after, code);
}

}  // namespace

Standing standing(const Scenario& s, const Report& report) {
  const auto quantity = [&report](Q q) { return report.quantities.value_or(q, 0); };
  Standing out;
  out.runs = !report.has_errors();
  out.memory_bytes = quantity(Q::memory_total);
  out.fits = report.fits();
  if (!s.serves()) {
    out.keeps_up = out.keeps_promise = true;
    out.rate = quantity(Q::tokens_per_s);
    out.step_s = quantity(Q::step_time);
    return out;
  }
  out.keeps_up = quantity(Q::steady_load) < 1;
  out.keeps_promise = keeps_promise(s, report);
  const double chips = quantity(Q::cluster_chips);
  out.rate = chips > 0 ? quantity(Q::sustained_tokens) / chips : 0;
  out.request_s = quantity(Q::request_time);
  return out;
}

bool better(const Standing& a, const Standing& b) {
  if (a.runs != b.runs) return a.runs;
  if (a.fits != b.fits) return a.fits;
  if (!a.fits) return a.memory_bytes < b.memory_bytes;
  if (a.keeps_up != b.keeps_up) return a.keeps_up;
  if (a.keeps_promise != b.keeps_promise) return a.keeps_promise;
  if (a.rate != b.rate) return a.rate > b.rate;
  if (a.request_s != b.request_s) return a.request_s < b.request_s;
  return a.memory_bytes < b.memory_bytes;
}

struct BestEdit::State {
  struct Candidate {
    Fix fix;
    Standing standing;
    bool same_work = true;
  };
  // A plan from which changes are tried: the present one, or one that a first change led to.
  struct Start {
    Scenario scenario;
    Fix fix;
    std::vector<Fix> changes;
  };
  Scenario scenario;
  Standing was;
  Prices prices;
  Start start;
  std::size_t next = 0;
  std::vector<Candidate> seen;  // after the first change, the least bad first once they are sorted
  std::size_t starts = 0;       // of `seen` that second changes were tried from
  bool second = false;
  std::optional<Candidate> best;

  std::optional<Offer> offer(const Candidate& one) const {
    if (!pays(was, one.standing, kWorthOffering)) return std::nullopt;
    return Offer{one.fix, gain_between(was, one.standing, one.same_work), one.standing};
  }
  // Where second changes begin, or go on from another plan; false when there are no more.
  bool go_on() {
    if ((was.runs && was.fits) || (best && !second)) return false;
    if (!second) {
      second = true;
      std::stable_sort(seen.begin(), seen.end(),
                       [](const Candidate& a, const Candidate& b) { return better(a.standing, b.standing); });
      seen.resize(std::min(seen.size(), kSecondSteps));
    }
    if (starts == seen.size()) return false;
    start.fix = seen[starts++].fix;
    start.scenario = after_fix(scenario, start.fix);
    start.changes = single_edits(start.scenario, prices.of(start.scenario));
    next = 0;
    return true;
  }
  // Returns the operations that it simulated.
  std::int64_t try_next() {
    const Fix& change = start.changes[next++];
    if (start.fix.size() + change.size() > kMostEdits) return 0;
    const Scenario changed = after_fix(start.scenario, change);
    Fix whole = both(scenario, start.fix, change);
    if (after_fix(scenario, whole) != changed) return 0;
    const Report& report = prices.of(changed);
    const Candidate now{whole, standing(changed, report), changed.workload == scenario.workload};
    if (!second) seen.push_back(now);
    if (serves_its_end(was, now.standing) && (!best || better(now.standing, best->standing))) best = now;
    return static_cast<std::int64_t>(report.pipeline.orders.ops.size());
  }
};

BestEdit::BestEdit(const Scenario& s, const Report& report) : state_(std::make_unique<State>()) {
  state_->scenario = s;
  state_->was = standing(s, report);
  state_->start = {s, {}, single_edits(s, report)};
}
BestEdit::~BestEdit() = default;
BestEdit::BestEdit(BestEdit&&) noexcept = default;
BestEdit& BestEdit::operator=(BestEdit&&) noexcept = default;

bool BestEdit::step(int plans, std::int64_t& operations_left) {
  State& at = *state_;
  for (int i = 0; i < plans && operations_left > 0; ++i) {
    while (at.next == at.start.changes.size())
      if (!at.go_on()) return true;
    operations_left -= at.try_next();
  }
  return false;
}

void BestEdit::finish() {
  auto operations = std::numeric_limits<std::int64_t>::max();
  while (!step(1024, operations)) {
  }
}

std::optional<Offer> BestEdit::offer() const { return state_->best ? state_->offer(*state_->best) : std::nullopt; }

std::vector<Offer> BestEdit::offers() const {
  std::vector<Offer> out;
  const auto add = [&out](const std::optional<Offer>& offer) {
    if (offer) out.push_back(*offer);
  };
  if (state_->second)
    add(offer());
  else
    for (const State::Candidate& one : state_->seen) add(state_->offer(one));
  return out;
}

std::vector<Offer> best_offers(std::vector<Offer> edits, const std::vector<OfferedFinding>& findings,
                               std::size_t most) {
  // Of a plan that runs and fits, another work is no edit, nor is another way to count.
  const auto is_edit = [](GainMeasure measure) {
    return measure != GainMeasure::settles && measure != GainMeasure::train_rate;
  };
  for (const OfferedFinding& finding : findings)
    if (finding.gain && is_edit(finding.gain->measure))
      edits.push_back({finding.diagnostic.fix, *finding.gain, finding.leads_to});
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Offer& a, const Offer& b) { return better(a.leads_to, b.leads_to); });
  const auto alike = [](const Offer& a, const Offer& b) {
    return !better(a.leads_to, b.leads_to) && !better(b.leads_to, a.leads_to);
  };
  edits.erase(std::unique(edits.begin(), edits.end(), alike), edits.end());
  if (edits.size() > most) edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(most), edits.end());
  return edits;
}

std::optional<Offer> best_edit(const Scenario& s, const Report& report) {
  BestEdit search(s, report);
  search.finish();
  return search.offer();
}

std::vector<OfferedFinding> vetted_findings(const Scenario& s, const Report& report) {
  Prices prices;
  std::vector<OfferedFinding> out;
  const Standing was = standing(s, report);
  for (const Diagnostic& d : report.diagnostics) {
    const bool advice = d.code.starts_with("advice.");
    OfferedFinding finding{d};
    if (const Scenario changed = after_fix(s, d.fix); changed != s) {
      const Report& after = prices.of(changed);
      finding.leads_to = standing(changed, after);
      const Standing& now = finding.leads_to;
      if (was.runs && touches_only(d.fix, "assumptions.")) {
        if (settles(was, now, after, d.code))
          finding.gain = Gain{.measure = GainMeasure::settles, .memory_bytes = now.memory_bytes};
      } else if (advice ? pays(was, now, kWorthOffering) : helps(was, now, kLeastGain)) {
        finding.gain = gain_between(was, now, changed.workload == s.workload);
      }
    }
    if (!finding.gain) finding.diagnostic.fix.clear();
    if (advice && !finding.gain) continue;
    out.push_back(std::move(finding));
  }
  if (const Provenance doubts = unverified_inputs(s, report); !doubts.inputs.empty())
    out.push_back({{Severity::note,
                    "provenance.unverified",
                    {{static_cast<double>(doubts.inputs.size()), unit::count}},
                    {},
                    {}}});
  return out;
}

void add_best_edit(const std::optional<Offer>& best, std::vector<OfferedFinding>& findings) {
  if (!best) return;
  for (const OfferedFinding& finding : findings)
    if (finding.gain && finding.gain->measure != GainMeasure::settles && !better(best->leads_to, finding.leads_to))
      return;
  findings.push_back({{Severity::note, "advice.best_edit", {}, best->fix.front().field->path, best->fix},
                      best->gain,
                      best->leads_to});
}

std::vector<OfferedFinding> offered_findings(const Scenario& s, const Report& report) {
  std::vector<OfferedFinding> findings = vetted_findings(s, report);
  add_best_edit(best_edit(s, report), findings);
  return findings;
}

}  // namespace roofscape::engine
