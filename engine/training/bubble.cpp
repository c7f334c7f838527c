#include "engine/training/bubble.h"

namespace roofscape::engine {

template <Scalar S>
void bubble(const Inputs<S>& in, const StageTime<S>& stage, Bubble<S>& out) {
  const bool pipelined = in.degree(Axis::pipeline).n > 1;
  const S one = constant<S>(1);
  out.bubble_fraction =
      named(Q::pipeline_bubble_fraction, pipelined ? (stage.makespan - stage.work) / stage.makespan : in.zero);
  out.idle_even = out.idle_imbalance = in.zero;
  if (stage.simulated) {
    const S waits = max(stage.makespan - stage.work - stage.in_transfer, in.zero);
    out.idle_even = named(Q::pipeline_idle_even, min(stage.even_stages_idle, waits));
    out.idle_imbalance = named(Q::pipeline_idle_imbalance, waits - out.idle_even);
  }
  out.bubble_even = named(Q::pipeline_bubble_ideal, (stage.stages - one) / (stage.microbatches + stage.stages - one));
}

template void bubble<double>(const Inputs<double>&, const StageTime<double>&, Bubble<double>&);
template void bubble<Traced>(const Inputs<Traced>&, const StageTime<Traced>&, Bubble<Traced>&);

}  // namespace roofscape::engine
