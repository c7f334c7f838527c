// Shared by the schedule generators; not for users of the engine. Each generator fills the list of one device at a
// time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/pipeline/schedule.h"

namespace roofscape::engine::orders {

// Appends operations to a vector sized up front. Counts are exact by construction, see make_orders.
class OrderWriter {
 public:
  explicit OrderWriter(Orders& out) : begin_(out.ops.data()), next_(begin_) {}
  void forward(std::uint32_t stage, std::uint32_t k) { *next_++ = Op(OpKind::forward, stage, k); }
  void backward(std::uint32_t stage, std::uint32_t k) { *next_++ = Op(OpKind::backward, stage, k); }
  void backward_input(std::uint32_t stage, std::uint32_t k) { *next_++ = Op(OpKind::backward_input, stage, k); }
  void backward_weight(std::uint32_t stage, std::uint32_t k) { *next_++ = Op(OpKind::backward_weight, stage, k); }
  void overlapped(std::uint32_t forward_stage, std::uint32_t forward_k, std::uint32_t backward_stage,
                  std::uint32_t backward_k) {
    *next_++ = Op(OpKind::forward, forward_stage, forward_k, true);
    *next_++ = Op(OpKind::backward, backward_stage, backward_k);
  }
  std::size_t size() const { return static_cast<std::size_t>(next_ - begin_); }

 private:
  Op* begin_;
  Op* next_;
};

// The order in which a device with looped chunks meets (chunk, microbatch): a group of microbatches through chunk 0,
// the same group through chunk 1, ...; then the next group. The last group may be smaller.
class ChunkSequence {
 public:
  ChunkSequence(std::uint32_t microbatches, std::uint32_t chunks, std::uint32_t group)
      : microbatches_(microbatches), chunks_(chunks), group_(group), group_end_(std::min(group, microbatches)) {}
  std::uint32_t chunk() const { return chunk_; }
  std::uint32_t microbatch() const { return microbatch_; }
  void advance() {
    if (++microbatch_ < group_end_) return;
    if (++chunk_ < chunks_) {
      microbatch_ = group_begin_;
      return;
    }
    chunk_ = 0;
    group_begin_ = microbatch_;
    group_end_ = std::min(group_begin_ + group_, microbatches_);
  }

 private:
  std::uint32_t microbatches_, chunks_, group_;
  std::uint32_t group_begin_ = 0, group_end_;
  std::uint32_t chunk_ = 0, microbatch_ = 0;
};

struct DeviceShape {
  std::uint32_t device, devices, microbatches, chunks, group;
  BackwardOrder backward_order = BackwardOrder::first_in;
  // The microbatch whose backward is the n-th.
  std::uint32_t nth_backward(std::uint32_t n) const {
    return backward_order == BackwardOrder::first_in ? n : microbatches - 1 - n;
  }
};

}  // namespace roofscape::engine::orders
