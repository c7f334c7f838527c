// Pipeline schedules as data: for every device the list of operations it runs, strictly in that order. A schedule
// says nothing about time; simulate.h turns an order and operation times into a timeline. What is legal is decided
// here; which schedules there are is in schedules.h.
//
// Words: a *device* is one of the p pipeline stages of the plan. With v *chunks* a device holds v *virtual stages*,
// numbered 0 .. pv-1 along the way of a microbatch. Placement: "looped" (device r holds r, r+p, r+2p, ...) or, for
// the V schedules with two chunks, "V" (device r holds r and 2p-1-r).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/pipeline/schedules.h"

namespace roofscape::engine {

struct ListedOrder;

// An order that was given instead of made (given_order.h), shared by all who use it; none by default. Two are the
// same when their operations and the schedule they stand for are.
class GivenOrder {
 public:
  GivenOrder() = default;
  explicit GivenOrder(std::shared_ptr<const ListedOrder> order) : order_(std::move(order)) {}
  explicit operator bool() const { return order_ != nullptr; }
  const ListedOrder& operator*() const { return *order_; }
  const ListedOrder* operator->() const { return order_.get(); }
  friend bool operator==(const GivenOrder& a, const GivenOrder& b) { return a.order_ == b.order_ || same(a, b); }

 private:
  static bool same(const GivenOrder& a, const GivenOrder& b);
  std::shared_ptr<const ListedOrder> order_;
};

struct ScheduleShape {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  int stages = 1;          // pipeline devices p
  int microbatches = 1;    // m of one step; DualPipe: of both directions together
  int virtual_stages = 1;  // chunks per device v
  int group_size = 0;      // interleaved-1f1b: microbatches of a chunk before the next chunk's turn; 0: the least
                           // that does, group_size_of
  GivenOrder order = {};   // of exactly this shape (order_of); none: the one that `kind` makes
  BackwardOrder backward_order = BackwardOrder::first_in;  // of schedules that have the choice (orders_backwards)
  friend bool operator==(const ScheduleShape&, const ScheduleShape&) = default;
};

// Microbatches of a chunk before the next chunk's turn. Megatron-LM wants at least the stages, and in the last group
// what is left or, again, at least the stages: where nothing is said, the least that does, which is the stages where
// microbatches are a multiple of them. Fewer microbatches than stages are one group, as in torch.
int group_size_of(const ScheduleShape& shape);
// Interleaved 1F1B in groups of as many microbatches as stages. Unlike group_size_of, of shapes that are not legal too.
inline bool runs_in_groups_of_stages(const ScheduleShape& shape) {
  return shape.kind == ScheduleKind::interleaved_1f1b && !shape.order && shape.microbatches % shape.stages == 0 &&
         (shape.group_size == 0 || shape.group_size == shape.stages);
}
// The group size of a plan that wants one: itself where it is legal, else the next larger one that is; 0 for schedules
// without groups, and where none is wanted.
int group_under(ScheduleKind kind, int wanted, int stages, int microbatches);
// Parts into which one microbatch's pass through one device is cut: v, and 1 for DualPipe (whose unit is one stage).
int passes_per_device(const ScheduleShape& shape);
// Virtual stages that hold weights, over all devices: pv; DualPipe 2p (stage s of the second direction is p + s).
int virtual_stage_count(const ScheduleShape& shape);

// Of a schedule that overlaps: with backwards of how many stages of its device a forward may be joined, and of which.
// On a V, and of two directions, of the other stage alone; of looped chunks of any of them.
int pair_partners(const ScheduleShape& shape);
int pair_partner(const ScheduleShape& shape, int virtual_stage, int nth);

// ---- what is legal ----

enum class ScheduleRule : std::uint8_t {
  legal,
  stages_positive,              // at least one device
  stages_even,                  // dualpipe: the two directions meet in the middle
  virtual_stages_positive,      // at least one chunk
  one_chunk,                    // the schedule is defined for one chunk per device
  two_chunks,                   // a V needs exactly two chunks per device
  microbatches_positive,        // at least one microbatch
  microbatches_even,            // dualpipe: half of them enter at each end
  microbatches_fill_stages,     // zb-h1 with chunks: a multiple of the stages
  microbatches_at_least,        // too few to fill the pipeline: 2p-1 for zb-h2, 2p for dualpipe and dualpipev
  group_size_interleaved_only,  // only interleaved-1f1b has groups
  group_size_range,             // at least the stages, as far as there are microbatches, and at most these
  last_group_fills_stages,      // what is left for the last group is at least the stages
  too_large,                    // more operations than kMaxOps
};

enum class ShapeField : std::uint8_t { stages, microbatches, virtual_stages, group_size };

// Which rule a shape breaks, if any, and how to mend it. `below` and `above` are the nearest legal values of `field`
// with everything else unchanged; 0 where there is none on that side. "18 microbatches do not fill 16 stages evenly:
// 16 or 32" is {microbatches_fill_stages, microbatches, 18, 16, 32}. The first broken rule in the order of the enum's
// fields (stages, chunks, microbatches, group) is reported.
struct ScheduleStatus {
  ScheduleRule rule = ScheduleRule::legal;
  ShapeField field = ShapeField::stages;
  int value = 0;
  int below = 0;
  int above = 0;
  bool legal() const { return rule == ScheduleRule::legal; }
  explicit operator bool() const { return legal(); }
};

// Largest order that is generated: 64 M operations (half a gigabyte). A guard against absurd input, not a display
// cap.
inline constexpr std::int64_t kMaxOps = std::int64_t{1} << 26;
inline constexpr int kMostDevices = 1024;          // of a plan's pipeline, and the rows of an order from a file
inline constexpr int kMaxVirtualStages = 1 << 16;  // device numbers are 16 bits wide

ScheduleStatus check_schedule(const ScheduleShape& shape);

// ---- the order ----

enum class OpKind : std::uint8_t {
  forward = 0,
  backward = 1,         // whole: input and weight gradient in one piece; neighbours see the result when all is done
  backward_input = 2,   // input gradient only
  backward_weight = 3,  // weight gradient only; needs its own backward_input and nothing else
};

// One operation in 64 bits. All 32 bits of the microbatch and 29 of the virtual stage are available, so no legal
// shape overflows.
class Op {
 public:
  Op() = default;
  constexpr Op(OpKind kind, std::uint32_t stage, std::uint32_t microbatch, bool joined_with_next = false)
      : bits_((stage << 2) | static_cast<std::uint32_t>(kind) | (joined_with_next ? kJoined : 0u)),
        microbatch_(microbatch) {}
  constexpr OpKind kind() const { return static_cast<OpKind>(bits_ & 3u); }
  constexpr std::uint32_t stage() const { return (bits_ & ~kJoined) >> 2; }  // virtual stage
  constexpr std::uint32_t microbatch() const { return microbatch_; }
  // This operation (a forward) and the next (a whole backward) run as one overlapped operation.
  constexpr bool joined_with_next() const { return (bits_ & kJoined) != 0; }
  constexpr std::uint32_t stage_and_kind() const { return bits_ & ~kJoined; }  // 4 * stage + kind
  // The same; of an operation joined with the next, above that of any stage.
  constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(Op, Op) = default;

 private:
  static constexpr std::uint32_t kJoined = 1u << 31;
  std::uint32_t bits_ = 0;
  std::uint32_t microbatch_ = 0;
};
static_assert(sizeof(Op) == 8);

// The lists of all devices, one after the other: device r runs ops[first[r]] .. ops[first[r + 1] - 1].
struct Orders {
  std::vector<std::uint32_t> first;  // devices + 1 entries
  std::vector<Op> ops;
  std::vector<std::uint16_t> device_of;  // by virtual stage
  std::uint32_t microbatches = 0;        // numbers run over 0 .. microbatches-1
  std::uint32_t route_length = 0;  // virtual stages one microbatch passes: stages 0 .. route_length-1, or for the
                                   // second direction of DualPipe route_length .. 2 route_length-1
  std::uint32_t passes_per_device = 1;  // see the function of that name
  std::size_t devices() const { return first.empty() ? 0 : first.size() - 1; }
  // The devices of the stages before and behind one on the way of a microbatch; at its ends, the stage's own.
  std::uint32_t device_before(std::size_t stage) const {
    return device_of[stage % route_length == 0 ? stage : stage - 1];
  }
  std::uint32_t device_behind(std::size_t stage) const {
    return device_of[stage % route_length + 1 == route_length ? stage : stage + 1];
  }
};

// Which device holds a virtual stage, and each; of any shape.
int device_of(const ScheduleShape& shape, int virtual_stage);
void place_stages(const ScheduleShape& shape, std::vector<std::uint16_t>& devices);

// Fills `out` with the order of a legal shape, reusing its vectors. An illegal shape leaves `out` empty.
// DualPipe: microbatches 0 .. m/2-1 enter at device 0 through stages 0 .. p-1, the others at device p-1 through
// stages p .. 2p-1 (stage p+s is on device p-1-s).
void make_orders(const ScheduleShape& shape, Orders& out);

}  // namespace roofscape::engine
