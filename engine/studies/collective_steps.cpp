#include "engine/studies/collective_steps.h"

#include "engine/inputs/inputs.h"

namespace roofscape::engine {
namespace {

class Steps {
 public:
  explicit Steps(CollectiveSteps& out) : out_(out), ranks_(out.ranks) {
    out_.held.assign(static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(ranks_), {});
    now_ = out_.held;
  }
  HeldBlock& at(int rank, int place) {
    return now_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(place)];
  }
  void begin() { out_.held = now_; }
  void end_step() {
    out_.held.insert(out_.held.end(), now_.begin(), now_.end());
    for (HeldBlock& block : now_) block.arrived = false;
    ++out_.steps;
  }
  int on_ring(int rank) const { return (rank % ranks_ + ranks_) % ranks_; }

  // Each rank sends what it got last to the next one, at first its own block; so many contributions are in each.
  void gather(int whole) {
    for (int step = 0; step + 1 < ranks_; ++step) {
      for (int rank = 0; rank < ranks_; ++rank) {
        const int block = on_ring(rank - 1 - step);
        at(rank, block) = {true, true, block, block, whole};
      }
      end_step();
    }
  }
  // Each rank adds its contribution to the sum that comes by, and passes it on; the last one keeps it.
  void reduce() {
    for (int step = 0; step + 1 < ranks_; ++step) {
      for (int rank = 0; rank < ranks_; ++rank) {
        const int block = on_ring(rank - 2 - step);
        at(rank, block).summed += step + 1;
        at(rank, block).arrived = true;
        at(on_ring(rank - 1), block).held = false;
      }
      end_step();
    }
  }
  void exchange() {
    for (int step = 1; step < ranks_; ++step) {
      for (int rank = 0; rank < ranks_; ++rank) at(rank, rank ^ step) = {true, true, rank, rank ^ step, 1};
      end_step();
    }
  }

 private:
  CollectiveSteps& out_;
  int ranks_ = 1;
  std::vector<HeldBlock> now_;
};

void describe_array(const Scenario& s, CollectiveSteps& out) {
  out.array = out.kind == CollectiveKind::all_gather   ? SteppedArray::weights
              : out.kind == CollectiveKind::all_to_all ? SteppedArray::activations
                                                       : SteppedArray::gradients;
  const bool activations = out.array == SteppedArray::activations;
  const int tokens = s.serves() ? s.workload.prompt_tokens : s.workload.sequence_length;
  out.rows = activations ? tokens : s.model.d_model;
  out.columns = activations ? s.model.d_model : s.model.d_ff;
  // A scenario that serves, and one that keeps no gradients, has them in the type of the weights.
  out.dtype = activations                                                                    ? s.precision.compute
              : out.array == SteppedArray::gradients && s.precision.gradients != Dtype::none ? s.precision.gradients
                                                                                             : s.precision.weights;
  out.array_bytes = static_cast<double>(out.rows) * out.columns * bytes_of(out.dtype);
}

}  // namespace

CollectiveSteps collective_steps(const Scenario& s, CollectiveKind kind, int ranks) {
  CollectiveSteps out;
  out.kind = kind, out.ranks = ranks;
  describe_array(s, out);
  Steps steps(out);
  const bool reduces = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_reduce;
  for (int rank = 0; rank < ranks; ++rank)
    for (int place = 0; place < ranks; ++place) {
      HeldBlock& block = steps.at(rank, place);
      block.block = place;
      block.from = reduces ? place : rank;
      block.summed = 1;
      block.held = kind != CollectiveKind::all_gather || place == rank;
    }
  steps.begin();
  if (reduces) steps.reduce();
  if (kind == CollectiveKind::all_gather || kind == CollectiveKind::all_reduce) steps.gather(reduces ? ranks : 1);
  if (kind == CollectiveKind::all_to_all) steps.exchange();
  out.block_bytes = out.array_bytes / ranks;
  out.sent_bytes = out.block_bytes * out.steps;
  return out;
}

}  // namespace roofscape::engine
