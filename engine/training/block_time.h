// How long one block (a layer, the embedding, the output head) takes for one microbatch, forward and backward: its
// arithmetic and HBM traffic overlap perfectly, and communication is hidden under them as far as it goes (scaling
// book, chapters 1 and 5). Which axes wait for each other is told by the wires (hardware/wires.h): the busiest one
// decides, and what it exposes is shared in proportion among the axes it carries. Calibrated, memory-bound kernels
// follow the others and only a share of each axis hides; what is not issued under the work stands alone, and what is
// sent once a step (gradients that were added up, updated weights) hides under the work of one microbatch, not of all.
// Overlap is judged per block and direction, as the book does; whole-step totals would hide more.
#pragma once

#include <array>

#include "engine/base/scalar.h"
#include "engine/hardware/wires.h"
#include "engine/inputs/inputs.h"

namespace roofscape::engine {

using AxisMask = AxisArray<bool>;

template <Scalar S>
struct Block {
  S math_forward, math_backward;             // seconds at peak; backward with recomputation
  S hbm_forward, hbm_backward;               // seconds at HBM bandwidth
  AxisArray<S> comm_forward, comm_backward;  // seconds of each mesh axis
};

// Seconds that the chip idles in a layer for its host, which waits for each kernel or starts them more slowly than they
// run.
template <Scalar S>
struct HostWaits {
  S forward{}, backward{};
};

template <Scalar S>
struct BlockTime {
  S work_forward, work_backward;        // the longer of arithmetic and HBM traffic; calibrated both, and the host's
  S network_forward, network_backward;  // of the busiest wire
  S exposed_forward, exposed_backward;  // what the network takes beyond the work
  S hidden_forward, hidden_backward;    // what it takes under the work; calibrated only, else the difference
  S forward, backward;                  // work and exposed communication
  S hbm_exposed;                        // HBM traffic beyond the arithmetic, both directions
  AxisArray<S> exposed;                 // communication beyond the work by axis, both directions
};

// Of a block's transfers those that are sent once a step: their share of a microbatch, in the mean, is part of the
// block's, but they are under way in one of the microbatches alone.
template <Scalar S>
struct OnceAStep {
  AxisArray<S> forward, backward;
  AxisMask axes{};    // that have such transfers; the others' times are not read
  AxisMask shared{};  // of these, those that every microbatch uses too
  S microbatches;
};

// The rows of the quantity table that the times of a block are; index -1 for layers, else which block.
struct BlockNames {
  Q work_forward, work_backward, network_forward, network_backward, exposed_forward, exposed_backward, forward,
      backward, hbm_exposed, exposed;
  Q hidden_forward, hidden_backward, outlast_forward, outlast_backward;  // calibrated: what is sent under the work
  int index = -1;
};
BlockNames layer_names();
BlockNames vocabulary_names(int block);  // kEmbeddingBlock, kHeadBlock

// `communicates`: the axes that move anything. `waits`: null where there are none.
template <Scalar S>
BlockTime<S> block_time(const Inputs<S>&, const Block<S>&, const AxisMask& communicates, const OnceAStep<S>&,
                        const Wires<S>&, const BlockNames&, const HostWaits<S>* waits = nullptr);
extern template BlockTime<double> block_time<double>(const Inputs<double>&, const Block<double>&, const AxisMask&,
                                                     const OnceAStep<double>&, const Wires<double>&,
                                                     const BlockNames&, const HostWaits<double>*);
extern template BlockTime<Traced> block_time<Traced>(const Inputs<Traced>&, const Block<Traced>&, const AxisMask&,
                                                     const OnceAStep<Traced>&, const Wires<Traced>&,
                                                     const BlockNames&, const HostWaits<Traced>*);

}  // namespace roofscape::engine
