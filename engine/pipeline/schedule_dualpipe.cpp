// DualPipe (DeepSeek-V3 technical report 2024): microbatches enter the pipeline at both ends, each device holds a
// stage of either direction, and in the steady state a forward of one direction runs overlapped with a backward of
// the other, so that each hides the communication of the other. DualPipeV folds it: half the devices, two stages of
// one direction each.
#include "engine/pipeline/order_writer.h"

namespace roofscape::engine::orders {
namespace {

// One device of either variant. Direction 0 is the one whose way reaches this device early (fed from the nearer end,
// or the first pass of the V); `from_end` counts devices from that end, `half` is the distance to the turning point.
class DualPipeDevice {
 public:
  struct Direction {
    std::uint32_t stage, first_microbatch;
  };
  DualPipeDevice(Direction zero, Direction one, OrderWriter& out) : direction_{zero, one}, out_(out) {}

  void write(std::uint32_t half, std::uint32_t from_end, std::uint32_t microbatches) {
    const std::uint32_t inward = half - 1 - from_end;  // devices between this one and the turning point
    const std::uint32_t pairs = from_end + 1;
    for (std::uint32_t i = 0; i < 2 * inward; ++i) forward(0);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      forward(0);
      forward(1);
    }
    for (std::uint32_t i = 0; i < inward; ++i) {
      weights_[1] = backwards_[1];
      input(1);
      weight(1);
      forward(1);
    }
    for (std::uint32_t i = 0; i < microbatches + pairs - 2 * half; ++i) {
      if (i == 0 && inward == 0) {  // the turning point has nothing to overlap its first backward with
        forward(0);
        backward(1);
      } else {
        overlapped(0, 1);
      }
      overlapped(1, 0);
    }
    for (std::uint32_t i = 0; i < inward; ++i) {
      backward(1);
      overlapped(1, 0);
    }
    // Draining, directions 1 and 0 in turn: from the middle on, weight gradients are put off so that input gradients
    // come early. They are made up for in the order in which they were put off.
    const auto drained = [](std::uint32_t i) { return i % 2 == 0 ? 1 : 0; };
    for (std::uint32_t i = 0; i < pairs; ++i) backward(drained(i));
    weights_[0] = backwards_[0];
    weights_[1] = backwards_[1];
    for (std::uint32_t i = pairs; i < 2 * pairs; ++i) input(drained(i));
    std::uint32_t put_off = pairs;
    const auto next_weight = [&] {
      weight(put_off < 2 * pairs ? drained(put_off) : 0);
      ++put_off;
    };
    for (std::uint32_t i = 0; i < inward; ++i) {
      next_weight();
      input(0);
    }
    for (std::uint32_t i = 0; i < pairs; ++i) next_weight();
  }

 private:
  std::uint32_t stage(int d) const { return direction_[d].stage; }
  std::uint32_t take(std::uint32_t (&counter)[2], int d) { return direction_[d].first_microbatch + counter[d]++; }
  void forward(int d) { out_.forward(stage(d), take(forwards_, d)); }
  void backward(int d) { out_.backward(stage(d), take(backwards_, d)); }
  void input(int d) { out_.backward_input(stage(d), take(backwards_, d)); }
  void weight(int d) { out_.backward_weight(stage(d), take(weights_, d)); }
  void overlapped(int f, int b) {
    const std::uint32_t k = take(forwards_, f);
    out_.overlapped(stage(f), k, stage(b), take(backwards_, b));
  }

  Direction direction_[2];
  OrderWriter& out_;
  std::uint32_t forwards_[2] = {0, 0}, backwards_[2] = {0, 0}, weights_[2] = {0, 0};
};

}  // namespace

void write_dualpipe(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, r = shape.device, per_direction = shape.microbatches / 2;
  // Stage r of the way from device 0, and stage p-1-r of the way from device p-1 (numbered from p on).
  const DualPipeDevice::Direction down{r, 0}, up{2 * p - 1 - r, per_direction};
  const bool near_zero = r < p / 2;
  DualPipeDevice device(near_zero ? down : up, near_zero ? up : down, out);
  device.write(p / 2, near_zero ? r : p - 1 - r, per_direction);
}

void write_dualpipe_v(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, r = shape.device;
  DualPipeDevice device({r, 0}, {2 * p - 1 - r, 0}, out);
  device.write(p, r, shape.microbatches);
}

}  // namespace roofscape::engine::orders
