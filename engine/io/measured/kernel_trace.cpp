#include "engine/io/measured/kernel_trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace roofscape::io {

using engine::kEnumCount;
using engine::MeasuredCollective;
using engine::MeasuredKernels;
using engine::MeasuredRun;
using engine::WorkKind;

namespace {

constexpr std::size_t kWork = kEnumCount<WorkKind>, kMoves = kEnumCount<MeasuredCollective>;
constexpr std::size_t kMostLanes = 64;

// The stretch of time that is looked at, and how many steps it holds.
struct TraceWindow {
  double from = 0, to = 0;
  int steps = 1;
  double last = 0;  // where the last of them begins
};

TraceWindow window_of(const RankTrace& trace, int steps) {
  TraceWindow out{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 1};
  if (!trace.steps.empty()) {
    for (const StepMark& step : trace.steps) {
      out.from = std::min(out.from, step.start_us);
      out.to = std::max(out.to, step.end_us);
      out.last = std::max(out.last, step.start_us);
    }
    out.steps = static_cast<int>(trace.steps.size());
    return out;
  }
  for (const TracedKernel& kernel : trace.kernels) {
    out.from = std::min(out.from, kernel.start_us);
    out.to = std::max(out.to, kernel.end_us);
  }
  out.steps = std::max(1, steps);
  out.last = out.to - (out.to - out.from) / out.steps;
  return out;
}

// The last step of a rank as it is passed through from its beginning to its end.
class LaneWriter {
 public:
  explicit LaneWriter(const TraceWindow& window)
      : from_(window.last), bin_((window.to - window.last) / engine::kMeasuredBins) {
    lane_.bins.resize(engine::kMeasuredBins);
    lane_.step_s = (window.to - window.last) * 1e-6;
  }
  // One kind of work, by its place in Boundary::kind.
  void add(std::size_t kind, double from, double to) {
    from = std::max(from, from_);
    if (!(bin_ > 0) || !(to > from)) return;
    if (kind == static_cast<std::size_t>(WorkKind::matmul) || kind == static_cast<std::size_t>(WorkKind::attention))
      lane_.optimizer_s.reset();
    else if (kind == static_cast<std::size_t>(WorkKind::optimizer) && !lane_.optimizer_s)
      lane_.optimizer_s = (from - from_) * 1e-6;
    const auto work = static_cast<std::size_t>(work_of_lane(kind));
    for (auto bin = static_cast<std::size_t>((from - from_) / bin_); bin < engine::kMeasuredBins; ++bin) {
      const double begin = from_ + static_cast<double>(bin) * bin_;
      if (begin >= to) break;
      lane_.bins[bin][work] += static_cast<float>((std::min(to, begin + bin_) - std::max(from, begin)) / bin_);
    }
  }
  engine::MeasuredLane take(std::optional<int> rank) {
    lane_.rank = rank;
    return std::move(lane_);
  }

 private:
  static engine::LaneWork work_of_lane(std::size_t kind) {
    if (kind == static_cast<std::size_t>(WorkKind::optimizer)) return engine::LaneWork::optimizer;
    if (kind < kWork) return engine::LaneWork::compute;
    return kind == kWork + static_cast<std::size_t>(MeasuredCollective::send_recv) ? engine::LaneWork::send_recv
                                                                                   : engine::LaneWork::collective;
  }
  engine::MeasuredLane lane_;
  double from_, bin_;
};

// A kernel begins or ends; of those at one time ends come first.
struct Boundary {
  double at;
  std::uint16_t kind;  // work kinds, then kinds of collectives
  bool begins;
  std::int64_t correlation;
};

engine::MeasuredLane add_rank(const RankTrace& trace, const TraceWindow& window, MeasuredKernels& sum,
                              std::map<std::string, double>& unknown) {
  LaneWriter lane(window);
  std::vector<Boundary> boundaries;
  boundaries.reserve(trace.kernels.size() * 2);
  const double to_s = 1e-6 / window.steps;
  for (const TracedKernel& kernel : trace.kernels) {
    const double from = std::max(kernel.start_us, window.from), to = std::min(kernel.end_us, window.to);
    if (!(to > from)) continue;
    const KernelName& name = trace.names[kernel.name];
    const double seconds = (to - from) * to_s;
    std::size_t kind;
    if (name.collective) {
      engine::CollectiveTime& time = sum.collectives[static_cast<std::size_t>(*name.collective)];
      time.seconds += seconds;
      time.count += 1.0 / window.steps;
      kind = kWork + static_cast<std::size_t>(*name.collective);
    } else {
      engine::WorkTime& time = sum.work[static_cast<std::size_t>(name.work)];
      time.seconds += seconds;
      time.count += 1.0 / window.steps;
      kind = static_cast<std::size_t>(name.work);
      if (name.work == WorkKind::unknown) unknown[name.text] += seconds;
    }
    boundaries.push_back({from, static_cast<std::uint16_t>(kind), true, kernel.correlation});
    boundaries.push_back({to, static_cast<std::uint16_t>(kind), false, -1});
  }
  std::sort(boundaries.begin(), boundaries.end(),
            [](const Boundary& a, const Boundary& b) { return a.at != b.at ? a.at < b.at : a.begins < b.begins; });
  std::unordered_map<std::int64_t, double> launched(trace.launches.begin(), trace.launches.end());
  std::array<int, kWork + kMoves> running{};
  double last = window.from;
  const auto pass = [&](double until, const Boundary* next) {
    const double length = (until - last) * to_s;
    if (length <= 0) return;
    for (std::size_t kind = 0; kind < running.size(); ++kind)
      if (running[kind] > 0) {
        if (kind < kWork)
          sum.work[kind].own_s += length;
        else
          sum.collectives[kind - kWork].exposed_s += length;
        lane.add(kind, last, until);
        return;
      }
    const auto call = next != nullptr ? launched.find(next->correlation) : launched.end();
    if (call == launched.end()) {
      sum.idle_s += length;
      return;
    }
    const double host = std::clamp(call->second - last, 0.0, until - last) * to_s;
    sum.idle_host_s += host;
    sum.idle_launch_s += length - host;
  };
  for (const Boundary& boundary : boundaries) {
    pass(boundary.at, boundary.begins ? &boundary : nullptr);
    running[boundary.kind] += boundary.begins ? 1 : -1;
    last = boundary.at;
  }
  pass(window.to, nullptr);
  return lane.take(trace.rank);
}

// Of the ranks of one group the fastest in each call did not wait. Calls are told apart by their order.
void split_waiting(const std::vector<RankTrace>& ranks, const std::vector<TraceWindow>& windows,
                   MeasuredKernels& sum) {
  struct Calls {
    std::vector<std::vector<double>> seconds;  // by rank that has any
  };
  std::map<std::pair<std::string, std::size_t>, Calls> groups;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<const TracedKernel*> moves;
    for (const TracedKernel& kernel : ranks[r].kernels)
      if (ranks[r].names[kernel.name].collective && kernel.start_us >= windows[r].from &&
          kernel.end_us <= windows[r].to)
        moves.push_back(&kernel);
    std::sort(moves.begin(), moves.end(),
              [](const TracedKernel* a, const TracedKernel* b) { return a->start_us < b->start_us; });
    std::map<std::pair<std::string, std::size_t>, std::vector<double>> own;
    for (const TracedKernel* kernel : moves)
      own[{ranks[r].groups[kernel->group], static_cast<std::size_t>(*ranks[r].names[kernel->name].collective)}]
          .push_back((kernel->end_us - kernel->start_us) * 1e-6 / windows[r].steps);
    for (auto& [key, seconds] : own) groups[key].seconds.push_back(std::move(seconds));
  }
  std::array<double, kMoves> link{}, split{};
  for (const auto& group : groups) {
    const std::vector<std::vector<double>>& calls = group.second.seconds;
    const std::size_t n = calls.size(), kind = group.first.second, each = calls.front().size();
    if (n < 2 || !std::all_of(calls.begin(), calls.end(), [each](const auto& one) { return one.size() == each; }))
      continue;
    for (std::size_t i = 0; i < each; ++i) {
      double least = calls.front()[i];
      for (const std::vector<double>& one : calls) {
        least = std::min(least, one[i]);
        split[kind] += one[i];
      }
      link[kind] += least * static_cast<double>(n);
    }
  }
  const auto count = static_cast<double>(ranks.size());
  for (std::size_t kind = 0; kind < kMoves; ++kind)
    // What could not be told apart counts as time on the link.
    if (split[kind] > 0)
      sum.collectives[kind].link_s = sum.collectives[kind].seconds - (split[kind] - link[kind]) / count;
}

}  // namespace

MeasuredRun measured_of(std::vector<RankTrace> ranks, int steps) {
  MeasuredRun out;
  MeasuredKernels& sum = out.kernels.emplace();
  sum.timeline = true;
  sum.ranks = static_cast<int>(ranks.size());
  std::map<std::string, double> unknown;
  std::vector<TraceWindow> windows;
  double step_s = 0;
  for (const RankTrace& rank : ranks) {
    const TraceWindow window = window_of(rank, steps);
    windows.push_back(window);
    sum.steps = window.steps;
    step_s += (window.to - window.from) * 1e-6 / window.steps;
    engine::MeasuredLane lane = add_rank(rank, window, sum, unknown);
    if (out.lanes.size() < kMostLanes && lane.step_s > 0) out.lanes.push_back(std::move(lane));
    if (rank.allocated_bytes) out.allocated_bytes = std::max(out.allocated_bytes.value_or(0), *rank.allocated_bytes);
    if (rank.reserved_bytes) out.reserved_bytes = std::max(out.reserved_bytes.value_or(0), *rank.reserved_bytes);
  }
  const auto n = static_cast<double>(ranks.size());
  out.step_s = step_s / n;
  std::stable_sort(out.lanes.begin(), out.lanes.end(),
                   [](const engine::MeasuredLane& a, const engine::MeasuredLane& b) { return a.rank < b.rank; });
  for (engine::WorkTime& time : sum.work) time = {time.seconds / n, time.own_s / n, time.count / n};
  for (engine::CollectiveTime& time : sum.collectives) {
    time.seconds /= n;
    time.exposed_s /= n;
    time.count /= n;
  }
  for (double* idle : {&sum.idle_host_s, &sum.idle_launch_s, &sum.idle_s}) *idle /= n;
  if (ranks.size() > 1) split_waiting(ranks, windows, sum);
  for (const auto& [name, seconds] : unknown) sum.unknown.emplace_back(name, seconds / n);
  sum.keep_longest_unknown();
  return out;
}

}  // namespace roofscape::io
