#include "engine/serving/batching_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

#include "engine/base/stats.h"
#include "engine/serving/decode_cost.h"

namespace roofscape::engine {

namespace {

constexpr double kShareOfCapacity = 0.8;  // arrivals where none are given
constexpr double kSettlingShare = 0.25;   // requests before those that are counted
constexpr double kMostEvents = 2e7;       // a runaway guard
constexpr double kSpare = 1e-9;           // of a token, for sums of fractions

// SplitMix64 (Steele, Lea, Flood 2014): the same on every machine, unlike the distributions of the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() {  // in (0, 1)
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 0.5) * 0x1p-53;
  }
  double exponential(double rate) { return -std::log(uniform()) / rate; }

 private:
  std::uint64_t state_;
};

struct Request {
  double arrival = 0, first_token = 0, end = 0;
  double left = 0;  // tokens to decode
  int chunks_left = 0;
  std::size_t kind = 0;
};

Percentiles percentiles(std::vector<double> values) {
  Percentiles out;
  if (values.empty()) return out;
  out.p99 = nearest_rank(values, 0.99);
  out.p90 = nearest_rank(values, 0.9);
  out.p50 = nearest_rank(values, 0.5);
  double sum = 0;
  for (const double v : values) sum += v;
  out.mean = sum / static_cast<double>(values.size());
  return out;
}

class Simulation {
 public:
  Simulation(const BatchingModel& model, const SimulationLength& length)
      : m_(model), counted_(std::max(1, length.requests)), random_(length.seed) {
    settling_ = static_cast<int>(kSettlingShare * counted_);
    for (const BatchingModel::Class& c : m_.classes) shares_ += c.share;
  }

  BatchingResult run() {
    make_requests();
    if (m_.disaggregated) prefill_elsewhere();
    decode();
    return result();
  }

 private:
  std::size_t pick_class() {
    double at = random_.uniform() * shares_;
    for (std::size_t i = 0; i + 1 < m_.classes.size(); ++i) {
      if (at < m_.classes[i].share) return i;
      at -= m_.classes[i].share;
    }
    return m_.classes.size() - 1;
  }

  void make_requests() {
    double time = 0;
    for (int i = 0; i < settling_ + counted_; ++i) {
      time += random_.exponential(m_.arrivals_per_s);
      Request r;
      r.arrival = time;
      r.kind = pick_class();
      r.left = m_.classes[r.kind].output_tokens - 1.0;  // the first comes out of prefill
      r.chunks_left = std::max(1, m_.classes[r.kind].chunks);
      requests_.push_back(r);
    }
  }

  // Prompts go to the prefill replica that is free first; ready_ is when their caches have arrived.
  void prefill_elsewhere() {
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (int i = 0; i < std::max(1, static_cast<int>(std::ceil(m_.prefill_servers))); ++i) free.push(0);
    for (Request& r : requests_) {
      const double start = std::max(r.arrival, free.top());
      free.pop();
      const double done = start + m_.classes[r.kind].prefill_s;
      free.push(done);
      r.first_token = done + m_.transfer_s;
      r.chunks_left = 0;
    }
    order_.resize(requests_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return requests_[a].first_token < requests_[b].first_token;
    });
  }

  double ready(std::size_t place) const {
    return m_.disaggregated ? requests_[order_[place]].first_token : requests_[place].arrival;
  }
  std::size_t request_at(std::size_t place) const { return m_.disaggregated ? order_[place] : place; }

  double step_of(double batch) const {
    if (m_.steps.empty()) return m_.step_fixed_s + m_.step_each_s * batch;
    const auto next = std::lower_bound(m_.steps.begin(), m_.steps.end(), batch,
                                       [](const BatchingModel::Step& s, double b) { return s.sequences < b; });
    if (next == m_.steps.begin()) return next->seconds;
    if (next == m_.steps.end()) return m_.steps.back().seconds;
    const BatchingModel::Step &a = *(next - 1), &b = *next;
    return a.seconds + (b.seconds - a.seconds) * (batch - a.sequences) / (b.sequences - a.sequences);
  }

  // How many steps bring a request its last token.
  double steps_of(const Request& r) const { return std::ceil((r.left - kSpare) / m_.tokens_per_step); }

  // From event to event: a request arrives, one has its last token, a chunk of a prompt runs. Between two of them the
  // steps are alike, and are counted rather than made.
  void decode() {
    double now = 0, steps = 0;  // steps: since the start
    std::size_t next = 0;       // by ready()
    std::deque<std::size_t> waiting;
    const auto slots = static_cast<std::size_t>(std::max(1, m_.slots));
    for (double event = 0; event < kMostEvents; ++event) {
      while (next < requests_.size() && ready(next) <= now) waiting.push_back(request_at(next++));
      if (active_.empty() && waiting.empty()) {
        if (next >= requests_.size()) break;
        now = ready(next);
        continue;
      }
      // Slots are taken in the order of arrival; where prefill shares the chips the first that waits is prefilled.
      std::size_t joining = requests_.size();
      double prefill = 0;
      if (m_.disaggregated) {
        while (!waiting.empty() && active_.size() < slots) {
          start(waiting.front(), requests_[waiting.front()].first_token, steps);
          waiting.pop_front();
        }
      } else if (!waiting.empty() && active_.size() < slots) {
        joining = waiting.front();
        const BatchingModel::Class& c = m_.classes[requests_[joining].kind];
        prefill = c.prefill_s / std::max(1, c.chunks);
      }
      const auto batch = static_cast<double>(active_.size());
      const double step = active_.empty() ? 0 : step_of(batch);
      const double duration = std::max(step + prefill, 1e-12);
      double alike = 1;
      if (joining == requests_.size() && !active_.empty()) {
        alike = active_.top().first - steps;
        if (next < requests_.size()) alike = std::min(alike, std::ceil((ready(next) - now) / duration));
        alike = std::max(alike, 1.0);
      }
      busy_ += alike * duration;
      batch_time_ += batch * alike * duration;
      queue_time_ += static_cast<double>(waiting.size()) * alike * duration;
      now += alike * duration;
      steps += alike;
      while (!active_.empty() && active_.top().first <= steps) {
        requests_[active_.top().second].end = now;
        active_.pop();
      }
      if (joining < requests_.size() && --requests_[joining].chunks_left == 0) {
        waiting.pop_front();
        requests_[joining].first_token = now;
        start(joining, now, steps);
      }
      if (next >= requests_.size() && queue_when_all_arrived_ < 0)
        queue_when_all_arrived_ = static_cast<double>(waiting.size());
    }
    end_ = now;
  }

  // A request takes its slot, unless its first token was all it wanted.
  void start(std::size_t i, double now, double steps) {
    if (requests_[i].left <= kSpare)
      requests_[i].end = now;
    else
      active_.emplace(steps + steps_of(requests_[i]), i);
  }

  BatchingResult result() const {
    BatchingResult out;
    std::vector<double> ttft, token, whole;
    double tokens = 0, last = 0;
    const double from = requests_[static_cast<std::size_t>(settling_)].arrival;
    for (std::size_t i = static_cast<std::size_t>(settling_); i < requests_.size(); ++i) {
      const Request& r = requests_[i];
      if (r.end <= 0) continue;
      ++out.requests;
      ttft.push_back(r.first_token - r.arrival);
      whole.push_back(r.end - r.arrival);
      const double outputs = m_.classes[r.kind].output_tokens;
      if (outputs > 1) token.push_back((r.end - r.first_token) / (outputs - 1));
      tokens += outputs;
      last = std::max(last, r.end);
    }
    out.ttft_s = percentiles(std::move(ttft));
    out.time_per_token_s = percentiles(std::move(token));
    out.request_s = percentiles(std::move(whole));
    if (last > from) out.tokens_per_s = tokens / (last - from), out.requests_per_s = out.requests / (last - from);
    if (end_ > 0)
      out.busy_fraction = busy_ / end_, out.mean_batch = batch_time_ / end_, out.mean_queue = queue_time_ / end_;
    // What still waits when the last has arrived is more than a slot's worth of what was counted: it never caught up.
    out.overloaded = queue_when_all_arrived_ > 0.1 * counted_;
    return out;
  }

  const BatchingModel& m_;
  int counted_, settling_ = 0;
  Random random_;
  double shares_ = 0;
  std::vector<Request> requests_;
  std::vector<std::size_t> order_;  // disaggregated: by arrival of the cache
  // Requests that are decoded, by the step that brings their last token.
  using Ending = std::pair<double, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> active_;
  double busy_ = 0, batch_time_ = 0, queue_time_ = 0, end_ = 0, queue_when_all_arrived_ = -1;
};

}  // namespace

namespace {

// Of one replica: from one sequence for each of its stages in doublings up to its slots.
std::vector<BatchingModel::Step> steps_of(const Scenario& s, int slots) {
  ServingInputs<double> si;
  read_serving_inputs(s, nullptr, si);
  const Parameters<double> params = count_parameters(si.in.model);
  const double replicas = double(s.parallelism.data) * s.parallelism.fsdp;
  std::vector<BatchingModel::Step> out;
  for (double sequences = s.parallelism.pipeline; out.empty() || out.back().sequences < slots; sequences *= 2) {
    sequences = std::min<double>(sequences, std::max(slots, s.parallelism.pipeline));
    si.batch = sequences * replicas;
    out.push_back({sequences, decode_cost(si, params).step});
  }
  return out;
}

}  // namespace

BatchingModel batching_model(const Scenario& s, const Report& r, double arrivals_per_s) {
  BatchingModel m;
  const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
  // Of one prompt, where several go through a pass together.
  const double replicas = q(Q::replicas), together = s.serving.prefill_prompts;
  const double prefill = q(Q::prefill_stage_time) / together;
  if (!s.serves() || !(replicas >= 1) || !(q(Q::time_per_output_token) > 0) || !(prefill > 0)) return m;
  if (!(arrivals_per_s > 0)) arrivals_per_s = s.workload.arrivals_per_s;
  if (!(arrivals_per_s > 0)) arrivals_per_s = kShareOfCapacity * q(Q::capacity_requests);
  m.arrivals_per_s = arrivals_per_s / replicas;
  m.slots = std::max(1, static_cast<int>(std::floor(q(Q::replica_sequences))));
  m.tokens_per_step = std::max(1.0, q(Q::accepted_per_step));
  m.steps = steps_of(s, m.slots);
  m.disaggregated = s.serving.disaggregated;
  m.prefill_servers = q(Q::prefill_replicas) / replicas;
  m.transfer_s = q(Q::ttft_transfer) + q(Q::ttft_host);
  const int chunks = std::max(1, static_cast<int>(q(Q::prefill_chunks_q) / together));
  const auto add = [&](double share, double prompt, int output) {
    // The mean request's prefill, in proportion to the prompt.
    const double mean = s.workload.has_lengths() ? q(Q::prompt_mean) : q(Q::prompt_tokens);
    const double part = mean > 0 ? prompt / mean : 1;
    m.classes.push_back({share, output, prefill * part, std::max(1, static_cast<int>(std::lround(chunks * part)))});
  };
  if (!s.workload.has_lengths()) {
    add(1, s.workload.prompt_tokens, s.workload.output_tokens);
    return m;
  }
  for (const LengthBin& bin : s.workload.lengths)
    if (bin.share > 0) add(bin.share, bin.prompt_tokens, bin.output_tokens);
  return m;
}

BatchingResult simulate_batching(const BatchingModel& model, const SimulationLength& length) {
  if (model.classes.empty() || !(model.arrivals_per_s > 0)) return {};
  return Simulation(model, length).run();
}

}  // namespace roofscape::engine
