#include "engine/training/block_time.h"

namespace roofscape::engine {

namespace {

constexpr unsigned bits_of(const AxisMask& communicates) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < communicates.size(); ++i) bits |= communicates[i] ? 1u << i : 0u;
  return bits;
}

// Spreads the exposed time over the axes of the busiest wire, in proportion.
template <Scalar S>
void add_shares(AxisArray<S>& shares, AxisArray<bool>& filled, const S& exposed, const S& network,
                const AxisArray<S>& comm, const Wires<S>& wires, const Busiest<S>& wire) {
  if (value_of(exposed) <= 0) return;
  for (std::size_t i = 0; i < comm.size(); ++i) {
    if (((wire.whole | wire.part) >> i & 1u) == 0) continue;
    const S share = wire.alone() ? exposed : exposed * load_of(wires, wire, comm, i) / network;
    shares[i] = filled[i] ? shares[i] + share : share;
    filled[i] = true;
  }
}

// Calibrated: of each axis's transfers a share is issued under the work, the rest stands alone; what is issued under
// it and outlasts it is exposed too, in proportion.
template <Scalar S>
void calibrated_exposure(const Inputs<S>& in, const Block<S>& block, const AxisMask& communicates,
                         const OnceAStep<S>& once, const Wires<S>& wires, const BlockNames& names,
                         BlockTime<S>& time) {
  constexpr std::array kHidden{Calibrated::hidden_data, Calibrated::hidden_fsdp, Calibrated::hidden_tensor,
                               Calibrated::hidden_context, Calibrated::hidden_expert};
  time.exposed.fill(in.zero);
  AxisArray<bool> filled{};
  const auto name = [&names](Q q, const S& x) { return named(q, names.index, x); };
  const auto direction = [&](const AxisArray<S>& comm, const AxisArray<S>& comm_once, const S& work, Q issued, Q late,
                             S& under_work) {
    // What every microbatch sends, under its work; and what is sent once a step, under the work of one of them.
    AxisArray<S> sent, sent_once;
    sent.fill(in.zero), sent_once.fill(in.zero);
    unsigned talks = 0, once_talks = 0;
    for (std::size_t i = 0; i < kHidden.size(); ++i) {
      if (!communicates[i] || !hides(in, static_cast<Axis>(i))) continue;
      const S& share = in.calibration[kHidden[i]];
      if (once.axes[i]) {
        sent_once[i] = share * comm_once[i];
        once_talks |= 1u << i;
        if (!once.shared[i]) continue;
        sent[i] = share * (comm[i] - comm_once[i]);
      } else {
        sent[i] = share * comm[i];
      }
      talks |= 1u << i;
    }
    Busiest<S> wire = busiest(wires, sent, talks, in.zero),
               wire_once = busiest(wires, sent_once, once_talks, in.zero);
    S beyond_each = max(wire.time - work, in.zero), beyond_once = in.zero;
    if (once_talks != 0) beyond_once = max(wire_once.time - work / once.microbatches, in.zero);
    const bool both = talks != 0 && once_talks != 0;
    const S under = name(issued, both ? S(wire.time + wire_once.time) : once_talks != 0 ? wire_once.time : wire.time);
    const S beyond = name(late, both ? S(beyond_each + beyond_once) : once_talks != 0 ? beyond_once : beyond_each);
    if (!both) {  // so that what follows is told by these names
      (once_talks != 0 ? wire_once.time : wire.time) = under;
      (once_talks != 0 ? beyond_once : beyond_each) = beyond;
    }
    under_work = value_of(beyond) > 0 ? S(under - beyond) : under;
    S exposed = in.zero;
    const auto late_share = [&](const S& part, const Busiest<S>& of, const AxisArray<S>& loads, std::size_t i,
                                S& to) {
      if (value_of(part) > 0 && ((of.whole | of.part) >> i & 1u) != 0)
        to = to + part * load_of(wires, of, loads, i) / of.time;
    };
    for (std::size_t i = 0; i < kHidden.size(); ++i) {
      if (!communicates[i]) continue;
      const S& hidden = in.calibration[kHidden[i]];
      S share = hides(in, static_cast<Axis>(i)) ? (constant<S>(1) - hidden) * comm[i] : comm[i];
      late_share(beyond_each, wire, sent, i, share);
      late_share(beyond_once, wire_once, sent_once, i, share);
      time.exposed[i] = filled[i] ? time.exposed[i] + share : share;
      filled[i] = true;
      exposed = exposed + share;
    }
    return exposed;
  };
  time.exposed_forward =
      name(names.exposed_forward, direction(block.comm_forward, once.forward, time.work_forward, names.hidden_forward,
                                            names.outlast_forward, time.hidden_forward));
  time.exposed_backward =
      name(names.exposed_backward, direction(block.comm_backward, once.backward, time.work_backward,
                                             names.hidden_backward, names.outlast_backward, time.hidden_backward));
  time.forward = name(names.forward, time.work_forward + time.exposed_forward);
  time.backward = name(names.backward, time.work_backward + time.exposed_backward);
  time.hbm_exposed = name(names.hbm_exposed, block.hbm_forward + block.hbm_backward);
  const int first = names.index < 0 ? 0 : names.index * kAxisCount;
  for (std::size_t i = 0; i < time.exposed.size(); ++i)
    time.exposed[i] = named(names.exposed, first + static_cast<int>(i), time.exposed[i]);
}

}  // namespace

BlockNames layer_names() {
  return {Q::layer_work_forward,     Q::layer_work_backward,    Q::layer_network_forward,
          Q::layer_network_backward, Q::layer_exposed_forward,  Q::layer_exposed_backward,
          Q::layer_time_forward,     Q::layer_time_backward,    Q::layer_hbm_exposed,
          Q::layer_exposed,          Q::layer_hidden_forward,   Q::layer_hidden_backward,
          Q::layer_outlast_forward,  Q::layer_outlast_backward, -1};
}

BlockNames vocabulary_names(int block) {
  return {Q::block_work_forward,     Q::block_work_backward,    Q::block_network_forward,
          Q::block_network_backward, Q::block_exposed_forward,  Q::block_exposed_backward,
          Q::block_forward,          Q::block_backward,         Q::block_hbm_exposed,
          Q::block_exposed,          Q::block_hidden_forward,   Q::block_hidden_backward,
          Q::block_outlast_forward,  Q::block_outlast_backward, block};
}

template <Scalar S>
BlockTime<S> block_time(const Inputs<S>& in, const Block<S>& block, const AxisMask& communicates,
                        const OnceAStep<S>& once, const Wires<S>& wires, const BlockNames& names,
                        const HostWaits<S>* waits) {
  const auto name = [&names](Q q, const S& x) { return named(q, names.index, x); };
  BlockTime<S> time;
  const auto work = [&](const S& math, const S& hbm, S HostWaits<S>::*pass) {
    if (waits != nullptr) return S(math + hbm + waits->*pass);
    return in.calibrated ? S(math + hbm) : S(max(math, hbm));
  };
  time.work_forward = name(names.work_forward, work(block.math_forward, block.hbm_forward, &HostWaits<S>::forward));
  time.work_backward =
      name(names.work_backward, work(block.math_backward, block.hbm_backward, &HostWaits<S>::backward));
  const unsigned talks = bits_of(communicates);
  const Busiest<S> forward = busiest(wires, block.comm_forward, talks, in.zero),
                   backward = busiest(wires, block.comm_backward, talks, in.zero);
  time.network_forward = name(names.network_forward, forward.time);
  time.network_backward = name(names.network_backward, backward.time);
  const auto exposed = [&in](const S& network, const S& under) {
    return max(in.full_overlap ? network - under : network - in.overlap * under, in.zero);
  };
  if (in.calibrated) {
    calibrated_exposure(in, block, communicates, once, wires, names, time);
    return time;
  }
  time.exposed_forward = name(names.exposed_forward, exposed(time.network_forward, time.work_forward));
  time.exposed_backward = name(names.exposed_backward, exposed(time.network_backward, time.work_backward));
  time.forward = name(names.forward, time.work_forward + time.exposed_forward);
  time.backward = name(names.backward, time.work_backward + time.exposed_backward);
  time.hbm_exposed =
      name(names.hbm_exposed, (time.work_forward - block.math_forward) + (time.work_backward - block.math_backward));
  AxisArray<bool> filled{};
  time.exposed.fill(in.zero);
  add_shares(time.exposed, filled, time.exposed_forward, time.network_forward, block.comm_forward, wires, forward);
  add_shares(time.exposed, filled, time.exposed_backward, time.network_backward, block.comm_backward, wires,
             backward);
  const int first = names.index < 0 ? 0 : names.index * kAxisCount;
  for (std::size_t i = 0; i < time.exposed.size(); ++i)
    time.exposed[i] = named(names.exposed, first + static_cast<int>(i), time.exposed[i]);
  return time;
}

template BlockTime<double> block_time<double>(const Inputs<double>&, const Block<double>&, const AxisMask&,
                                              const OnceAStep<double>&, const Wires<double>&, const BlockNames&,
                                              const HostWaits<double>*);
template BlockTime<Traced> block_time<Traced>(const Inputs<Traced>&, const Block<Traced>&, const AxisMask&,
                                              const OnceAStep<Traced>&, const Wires<Traced>&, const BlockNames&,
                                              const HostWaits<Traced>*);

}  // namespace roofscape::engine
