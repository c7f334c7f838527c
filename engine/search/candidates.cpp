#include "engine/search/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/search/plan_dimensions.h"
#include "engine/training/run.h"

namespace roofscape::engine {
namespace {

// Simulating early what is kept says soon what the others have to beat; sorting long lists again and again costs more
// than that saves.
constexpr std::size_t kFewCandidates = 128, kManyCandidates = 4096;

}  // namespace

void KnownBest::lower(std::atomic<double>& known, double score) {
  double old = known.load(std::memory_order_relaxed);
  while (score < old && !known.compare_exchange_weak(old, score, std::memory_order_relaxed)) {
  }
}

void KnownBest::add_front(std::vector<Candidate>& to) {
  const std::lock_guard lock(front_mutex_);
  to.insert(to.end(), front_.begin(), front_.end());
}

void KnownBest::set_front(const std::vector<Candidate>& front) {
  const std::lock_guard lock(front_mutex_);
  front_ = front;
}

void KnownBest::keep_seeds(std::vector<Candidate> seeds) {
  seeds_ = std::move(seeds);
  std::ranges::sort(seeds_, {}, &Candidate::plan);
}

const Candidate* KnownBest::seed(const Plan& plan) const {
  const auto at = std::ranges::lower_bound(seeds_, plan, {}, &Candidate::plan);
  return at != seeds_.end() && at->plan == plan ? &*at : nullptr;
}

Candidates::Candidates(const SearchRequest& request, std::size_t cells, Pricer& pricer, KnownBest& known,
                       const std::atomic<bool>* stop)
    : objective_(request.objective),
      limit_(request.limit),
      merge_alike_(request.merge_alike),
      pricer_(&pricer),
      known_(&known),
      stop_(stop),
      cells_(cells) {
  take_known_front();
  const Scenario& s = pricer.scenario();
  tokens_ = pricer.flops().tokens_per_step;
  steps_ = s.workload.train_tokens / tokens_;
  price_usd_ = s.cluster.chip[ChipField::price_usd_per_chip_hour].value.value_or(1);
}

Plan shape_without_knobs(Plan plan) {
  const Plan plain{
      .microbatch_sequences = 1, .zero_stage = 0, .sequence_parallel = false, .policy = CheckpointPolicy::none};
  for (const PlanDimension& dimension : plan_dimensions())
    if (dimension.is_knob) dimension.set(plan, dimension.get(plain));
  return plan;
}

// As evaluate() computes what the objective is called by, so that no two plans stand the other way round in a list of
// these numbers. Each rises with the step time, also in its last bit.
double Candidates::score(double step_time_s, double memory_bytes, double chips) const {
  switch (objective_) {
    case Objective::step_time:
      return step_time_s;
    case Objective::throughput:
      return -(tokens_ / step_time_s / chips);
    case Objective::cost:
      return chips * hours_of(steps_ * step_time_s) * price_usd_;
    case Objective::memory:
      return memory_bytes;
  }
  return step_time_s;
}

Candidates::Key Candidates::key(const Candidate& c) const {
  return {score(c.price.step_time_s, c.price.memory_bytes, c.chips), c.price.step_time_s, c.price.memory_bytes,
          c.plan};
}

bool Candidates::wants(double step_time_s, double memory_bytes, double chips, std::size_t cell) const {
  const bool lists = limit_ > 0, maps = !cells_.empty();
  if (lists || maps) {
    const Level mine{score(step_time_s, memory_bytes, chips), step_time_s};
    if (lists && mine.first <= known_->score()) {
      if ((merge_alike_ ? shapes_ : best_.size()) < limit_) return true;
      if (mine <= (merge_alike_ ? levels_.rbegin()->first : level(best_.back()))) return true;
    }
    if (maps && mine.first <= known_->score_of_cell(cell) && (!cells_[cell] || mine <= level(*cells_[cell])))
      return true;
  }
  if (rival_.memory_bytes <= memory_bytes && rival_.step_time_s < step_time_s) return false;
  // The fastest on the front that is no larger.
  const auto above =
      std::ranges::upper_bound(front_, memory_bytes, {}, [](const Candidate& c) { return c.price.memory_bytes; });
  if (above == front_.begin()) return true;
  rival_ = std::prev(above)->price;
  return step_time_s < rival_.step_time_s ||
         (step_time_s == rival_.step_time_s && memory_bytes == rival_.memory_bytes);
}

void Candidates::take_seeds(std::vector<Candidate> seeds) {
  // As many scores as there are rows; of plans that are one row the first alone counts.
  std::vector<std::pair<Level, Plan>> rows;
  for (const Candidate& seed : seeds) {
    rows.emplace_back(level(seed), merge_alike_ ? shape_without_knobs(seed.plan) : seed.plan);
    if (!cells_.empty()) known_->found_in_cell(seed.cell, level(seed).first);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  if (limit_ > 0 && rows.size() >= limit_) known_->found_enough(rows[limit_ - 1].first.first);
  pool_ = seeds;
  known_->add_front(pool_);
  settle_front();
  pool_.clear();
  known_->keep_seeds(std::move(seeds));
  known_->set_front(front_);
}

double Candidates::fastest_s() const {
  return front_.empty() ? std::numeric_limits<double>::infinity() : front_.back().price.step_time_s;
}

void Candidates::add(const Candidate& candidate) {
  pool_.push_back(candidate);
  const std::size_t many = limit_ < kManyCandidates / 2 ? std::max(kFewCandidates, 2 * limit_) : kManyCandidates;
  if (pool_.size() >= many) settle();
}

template <class Wanted>
bool Candidates::simulate(Candidate& c, const Wanted& wanted) {
  if (const Candidate* seed = c.price.exact ? nullptr : known_->seed(c.plan)) c.price = seed->price;
  if (!c.price.exact) {
    pricer_->simulate(c.plan, c.price, wanted);
    if (!c.price.exact) return false;
    ++simulated_;
  }
  return std::isfinite(c.price.step_time_s);
}

void Candidates::settle() {
  if (merge_alike_)
    settle_alike();
  else
    settle_best();
  settle_cells();
  known_->add_front(pool_);
  settle_front();
  known_->set_front(front_);
  pool_.clear();
}

void Candidates::settle_best() {
  for (const auto* kept : {&best_, &front_})
    for (const Candidate& c : *kept) pool_.push_back(c);
  const auto before = [this](const Candidate& a, const Candidate& b) { return key(a) < key(b); };
  // The same plan can be in both lists.
  std::sort(pool_.begin(), pool_.end(), before);
  pool_.erase(std::unique(pool_.begin(), pool_.end(),
                          [](const Candidate& a, const Candidate& b) {
                            return a.plan == b.plan && a.price.exact == b.price.exact;
                          }),
              pool_.end());
  best_.clear();
  for (Candidate& c : pool_) {
    const auto wanted = [&] {
      return !enough_are_better(c) && (best_.size() < limit_ || (limit_ > 0 && key(c) <= key(best_.back())));
    };
    if (!wanted()) break;
    if (!c.price.exact && stopped()) continue;
    if (!simulate(c, wanted)) continue;
    const auto place = std::upper_bound(best_.begin(), best_.end(), c, before);
    // A seed on the front is met again on the way.
    if (place != best_.begin() && std::prev(place)->plan == c.plan) continue;
    best_.insert(place, c);
    if (best_.size() > limit_) best_.pop_back();
  }
  if (limit_ > 0 && best_.size() == limit_) known_->found_enough(level(best_.back()).first);
}

// Every plan of the space comes here at most once, so that those alike can be counted; the front's, which come again,
// only matter to the front.
void Candidates::settle_alike() {
  std::sort(pool_.begin(), pool_.end(), [this](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  for (Candidate& c : pool_) {
    const auto wanted = [&] {
      return limit_ > 0 && !enough_are_better(c) && (shapes_ < limit_ || level(c) <= levels_.rbegin()->first);
    };
    if (!wanted()) break;
    if (!c.price.exact && stopped()) continue;
    if (!simulate(c, wanted)) continue;
    take({c, 1, c.plan, c.price.memory_bytes});
  }
  if (limit_ > 0 && shapes_ >= limit_) known_->found_enough(levels_.rbegin()->first.first);
  for (const Candidate& c : front_) pool_.push_back(c);
}

void Candidates::take(const Alike& one) {
  const Level at = level(one.simplest);
  if (shapes_ >= limit_ && at > levels_.rbegin()->first) return;
  auto& shapes = levels_[at];
  const auto [place, is_new] = shapes.try_emplace(shape_without_knobs(one.simplest.plan), one);
  if (is_new) {
    ++shapes_;
  } else {
    Alike& known = place->second;
    known.count += one.count;
    if (std::tie(one.least_bytes, one.smallest) < std::tie(known.least_bytes, known.smallest))
      known.least_bytes = one.least_bytes, known.smallest = one.smallest;
    if (one.simplest.plan < known.simplest.plan) known.simplest = one.simplest;
  }
  // A level goes as a whole, when there are enough without it.
  while (shapes_ - levels_.rbegin()->second.size() >= limit_) {
    shapes_ -= levels_.rbegin()->second.size();
    levels_.erase(std::prev(levels_.end()));
  }
}

void Candidates::take_cell(const Candidate& c) {
  std::optional<Candidate>& best = cells_[c.cell];
  if (best && !(key(c) < key(*best))) return;
  best = c;
  known_->found_in_cell(c.cell, level(c).first);
}

// The pool is in the order of the bounds, so that few of a cell are simulated.
void Candidates::settle_cells() {
  if (cells_.empty()) return;
  for (Candidate& c : pool_) {
    if (stopped()) return;
    const std::optional<Candidate>& best = cells_[c.cell];
    const auto wanted = [&] {
      return level(c).first <= known_->score_of_cell(c.cell) && (!best || key(c) <= key(*best));
    };
    if (!wanted() || !simulate(c, wanted)) continue;
    take_cell(c);
  }
}

void Candidates::merge(const Candidates& other) {
  for (const std::optional<Candidate>& best : other.cells_)
    if (best) take_cell(*best);
  for (const auto& [at, shapes] : other.levels_)
    for (const auto& [shape, alike] : shapes) take(alike);
  for (const Candidate& c : other.best_) pool_.push_back(c);
  if (merge_alike_) {
    for (const Candidate& c : other.front_) pool_.push_back(c);
    for (const Candidate& c : front_) pool_.push_back(c);
    settle_front();
    pool_.clear();
  } else {
    for (const Candidate& c : other.front_) pool_.push_back(c);
  }
}

std::vector<Alike> Candidates::best() const {
  std::vector<Alike> out;
  for (const Candidate& c : best_) out.push_back({c, 1, c.plan, c.price.memory_bytes});
  for (const auto& [at, shapes] : levels_) {
    const std::size_t first = out.size();
    for (const auto& [shape, alike] : shapes) out.push_back(alike);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
              [this](const Alike& a, const Alike& b) { return key(a.simplest) < key(b.simplest); });
  }
  if (out.size() > limit_) out.resize(limit_);
  return out;
}

void Candidates::settle_front() {
  std::sort(pool_.begin(), pool_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.price.memory_bytes, a.price.step_time_s, a.plan) <
           std::tie(b.price.memory_bytes, b.price.step_time_s, b.plan);
  });
  front_.clear();
  for (Candidate& c : pool_) {
    if (!c.price.exact && stopped()) continue;
    const bool same_memory = !front_.empty() && front_.back().price.memory_bytes == c.price.memory_bytes;
    const auto wanted = [&] { return front_.empty() || c.price.step_time_s <= front_.back().price.step_time_s; };
    if (!wanted() || !simulate(c, wanted)) continue;
    if (!front_.empty()) {
      const Candidate& last = front_.back();
      if (c.price.step_time_s > last.price.step_time_s) continue;
      if (c.price.step_time_s == last.price.step_time_s && (!same_memory || last.plan < c.plan)) continue;
      if (same_memory) front_.pop_back();
    }
    front_.push_back(c);
  }
}

}  // namespace roofscape::engine
