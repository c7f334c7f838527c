#include "engine/evaluate/critical_path_parts.h"

#include "engine/pipeline/timeline_analysis.h"
#include "engine/training/stage_time.h"

namespace roofscape::engine {

std::vector<CriticalPathPart> critical_path_parts(const PipelineReport& pipeline) {
  std::vector<CriticalPathPart> out;
  if (!pipeline.drawn()) return out;
  std::vector<CriticalStep> path;
  critical_path(pipeline.orders, pipeline.times, pipeline.timeline, path);
  struct Sum {
    int count = 0;
    Tick time = 0;
  };
  std::array<Sum, kPathPartIds.size()> sums{};
  const auto add = [&sums](PathPart part, Tick time) {
    Sum& sum = sums[static_cast<std::size_t>(part)];
    ++sum.count;
    sum.time += time;
  };
  Tick end = 0;
  for (const CriticalStep& step : path) {
    const Tick start = pipeline.timeline.start[step.op];
    if (start > end) add(PathPart::transfer, start - end);
    const Tick duration = op_duration(pipeline.orders, pipeline.times, step.op);
    add(static_cast<PathPart>(pipeline.orders.ops[step.op].kind()), duration);
    end = start + duration;
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].count > 0)
      out.push_back({static_cast<PathPart>(i), sums[i].count, static_cast<double>(sums[i].time) * kTickSeconds});
  return out;
}

}  // namespace roofscape::engine
