#include "engine/training/paired_stages.h"

#include <algorithm>
#include <cstddef>

#include "engine/hardware/wires.h"
#include "engine/pipeline/in_flight.h"

namespace roofscape::engine {
namespace {

// Which of the two is of the first stage or of the last, where the vocabulary's blocks are.
struct PairEnds {
  bool forward_first, forward_last, backward_first, backward_last;
};

// Of a forward through so many layers and a backward through others.
template <Scalar S>
S pair_time(const Inputs<S>& in, const LinkRates<S>& rates, const StageBlocks<S>& blocks,
            const StageLayers<S>& forward_layers, const StageLayers<S>& backward_layers, const PairEnds& ends) {
  S work = blocks.sum(forward_layers, &BlockTime<S>::work_forward) +
           blocks.sum(backward_layers, &BlockTime<S>::work_backward);
  AxisArray<S> sent;
  sent.fill(in.zero);
  unsigned talks = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (!blocks.communicates[i]) continue;
    sent[i] =
        blocks.sum(forward_layers, blocks.comm_forward[i], [i](const auto& kind) { return kind.comm_forward[i]; }) +
        blocks.sum(backward_layers, blocks.comm_backward[i], [i](const auto& kind) { return kind.comm_backward[i]; });
    talks |= 1u << i;
  }
  S network = busiest(rates.wires, sent, talks, in.zero).time;
  const auto add = [&](const S& w, const S& n) { work = work + w, network = network + n; };
  if (ends.forward_first) add(blocks.embedding.work_forward, blocks.embedding.network_forward);
  if (ends.backward_last) add(blocks.head.work_backward, blocks.head.network_backward);
  if (ends.forward_last) add(blocks.head.work_forward, blocks.head.network_forward);
  if (ends.backward_first) add(blocks.embedding.work_backward, blocks.embedding.network_backward);
  const bool whole = in.calibrated || in.full_overlap;
  return work + max(whole ? network - work : network - in.overlap * work, in.zero);
}

}  // namespace

template <Scalar S>
void paired_stages(const Inputs<S>& in, const LinkRates<S>& rates, const StageBlocks<S>& blocks,
                   const ScheduleShape& shape, const std::vector<S>& forward, const std::vector<S>& backward,
                   const std::vector<StageLayers<S>>& layers, PairedStages<S>& out) {
  const std::size_t stages = layers.size(), last = stages - 1;
  const int positions = virtual_stage_count(shape), partners = pair_partners(shape);
  std::vector<std::int64_t>& counts = out.counts;
  counts.resize(static_cast<std::size_t>(partners));
  out.pair.clear();
  out.hidden = in.zero;
  for (std::size_t s = 0; s < stages; ++s) {
    const std::size_t first_pair = out.pair.size();
    for (int n = 0; n < partners; ++n) {
      const auto other = static_cast<std::size_t>(pair_partner(shape, static_cast<int>(s), n)) % stages;
      // Nothing runs beside a kernel that is waited for.
      const S pair = named(Q::stage_pair, static_cast<int>(out.pair.size()),
                           in.calibration.waits ? S(forward[s] + backward[other])
                                                : pair_time(in, rates, blocks, layers[s], layers[other],
                                                            {s == 0, s == last, other == 0, other == last}));
      out.pair.push_back(pair);
    }
    // Of both directions, where there are two.
    for (int i = static_cast<int>(s); i < positions; i += static_cast<int>(stages)) {
      overlapped_pairs(shape, i, counts);
      for (int n = 0; n < partners; ++n) {
        const auto other = static_cast<std::size_t>(pair_partner(shape, static_cast<int>(s), n)) % stages;
        const S count = constant<S>(static_cast<double>(counts[static_cast<std::size_t>(n)]));
        const S& pair = out.pair[first_pair + static_cast<std::size_t>(n)];
        out.hidden = out.hidden + count * (forward[s] + backward[other] - pair);
      }
    }
  }
  out.hidden = out.hidden / in.degree(Axis::pipeline).x;
}

template <Scalar S>
void hide_in_pairs(const Inputs<S>& in, const StepCounts<S>& counts, const StageBlocks<S>& blocks,
                   const PairedStages<S>& paired, StageWork<S>& work) {
  S exposed = in.zero;
  for (std::size_t i = 0; i < blocks.vocab_exposed.size(); ++i)
    if (blocks.communicates[i])
      exposed = exposed + (work.layer_passes * blocks.layer.exposed[i] +
                           counts.microbatches * blocks.vocab_exposed[i] / counts.stages);
  work.pairs = value_of(exposed) > 0;
  if (work.pairs) {
    work.hidden = named(Q::pairs_hidden, min(max(paired.hidden, in.zero), exposed));
    work.exposed_left = named(Q::exposed_left, constant<S>(1) - work.hidden / exposed);
    work.work = named(Q::pipeline_work, work.work - work.hidden);
  } else {
    work.work = named(Q::pipeline_work, S(work.work));
  }
}

double least_paired_work(const LinkRates<double>& rates, const StepCounts<double>& counts,
                         const StageBlocks<double>& blocks, const StageWork<double>& work) {
  AxisArray<double> sent{};
  unsigned talks = 0;
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (blocks.communicates[i]) sent[i] = blocks.comm_forward[i] + blocks.comm_backward[i], talks |= 1u << i;
  const double network = busiest(rates.wires, sent, talks, 0.0).time;
  const double alone = work.layer_passes * (blocks.layer.work_forward + blocks.layer.work_backward) +
                       counts.microbatches / counts.stages *
                           (blocks.embedding.work_forward + blocks.embedding.work_backward +
                            blocks.head.work_forward + blocks.head.work_backward);
  return std::max(alone, work.layer_passes * network) * (1 - 1e-9);  // sums in another order than a step's
}

template <Scalar S>
void pair_times(const PairedStages<S>& paired, const ScheduleShape& shape, PipelineTimes& times) {
  times.overlapped.clear();
  const int positions = virtual_stage_count(shape), partners = pair_partners(shape);
  for (int i = 0; i < positions; ++i)
    for (int n = 0; n < partners; ++n) {
      const auto other = static_cast<std::size_t>(pair_partner(shape, i, n));
      const Tick backward = times.backward_input[other] + times.backward_weight[other];
      // DualPipe: the second direction again.
      const std::size_t which = times.overlapped.size() % paired.pair.size();
      times.overlapped.push_back(
          std::min(ticks_of(value_of(paired.pair[which])), times.forward[static_cast<std::size_t>(i)] + backward));
    }
}

template void paired_stages<double>(const Inputs<double>&, const LinkRates<double>&, const StageBlocks<double>&,
                                    const ScheduleShape&, const std::vector<double>&, const std::vector<double>&,
                                    const std::vector<StageLayers<double>>&, PairedStages<double>&);
template void hide_in_pairs<double>(const Inputs<double>&, const StepCounts<double>&, const StageBlocks<double>&,
                                    const PairedStages<double>&, StageWork<double>&);
template void paired_stages<Traced>(const Inputs<Traced>&, const LinkRates<Traced>&, const StageBlocks<Traced>&,
                                    const ScheduleShape&, const std::vector<Traced>&, const std::vector<Traced>&,
                                    const std::vector<StageLayers<Traced>>&, PairedStages<Traced>&);
template void hide_in_pairs<Traced>(const Inputs<Traced>&, const StepCounts<Traced>&, const StageBlocks<Traced>&,
                                    const PairedStages<Traced>&, StageWork<Traced>&);
template void pair_times<double>(const PairedStages<double>&, const ScheduleShape&, PipelineTimes&);
template void pair_times<Traced>(const PairedStages<Traced>&, const ScheduleShape&, PipelineTimes&);

}  // namespace roofscape::engine
