// Zero bubble schedules (Qi et al. 2023; V placement Qi et al. 2024): the backward is split into the input gradient
// B, which the neighbour waits for, and the weight gradient W, which nobody waits for and which therefore fills
// bubbles.
//   ZB-H1: the warm-up of 1F1B; W lags r behind B on device r, so every device keeps at most p microbatches.
//   ZB-H2: about twice the warm-up, so no device waits between its first and its last operation; 2p-1 microbatches.
//   ZB-V:  two chunks in a V (device r holds r and 2p-1-r): the same without the extra memory.
#include <algorithm>

#include "engine/pipeline/order_rules.h"

namespace roofscape::engine::orders {
namespace {

void write_zb_h1(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, v = shape.chunks, r = shape.device;
  const std::uint32_t passes = shape.microbatches * v;
  const std::uint32_t ahead = std::min(passes, (v - 1) * p + p - 1 - r);
  const std::uint32_t lag = std::min(passes, r);
  ChunkSequence forwards(shape.microbatches, v, p);
  ChunkSequence inputs = forwards, weights = forwards;
  const auto forward = [&] {
    out.forward(forwards.chunk() * p + r, forwards.microbatch());
    forwards.advance();
  };
  const auto weight = [&] {
    out.backward_weight((v - 1 - weights.chunk()) * p + r, weights.microbatch());
    weights.advance();
  };
  for (std::uint32_t i = 0; i < ahead; ++i) forward();
  for (std::uint32_t i = 0; i < passes; ++i) {
    if (i + ahead < passes) forward();
    out.backward_input((v - 1 - inputs.chunk()) * p + r, inputs.microbatch());
    inputs.advance();
    if (i >= lag) weight();
  }
  for (std::uint32_t i = 0; i < lag; ++i) weight();
}

void write_zb_h2(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t m = shape.microbatches, r = shape.device;
  const std::uint32_t ahead = std::min(m, 2 * (shape.devices - r) - 1);
  const std::uint32_t lag = std::min(m, 2 * r);
  for (std::uint32_t k = 0; k < ahead; ++k) out.forward(r, k);
  for (std::uint32_t k = 0; k < m; ++k) {
    out.backward_input(r, k);
    if (k >= lag) out.backward_weight(r, k - lag);
    if (k + ahead < m) out.forward(r, k + ahead);
  }
  for (std::uint32_t k = m - lag; k < m; ++k) out.backward_weight(r, k);
}

// Written for at least 2p-1 microbatches; of a shorter step the microbatches that do not exist are left out.
void write_zb_v(const DeviceShape& shape, OrderWriter& out) {
  const std::uint32_t p = shape.devices, r = shape.device, exists = shape.microbatches;
  const std::uint32_t m = std::max(exists, 2 * p - 1);
  const std::uint32_t stage[2] = {r, 2 * p - 1 - r};
  std::uint32_t f[2] = {0, 0}, b[2] = {0, 0}, w[2] = {0, 0};
  const auto forward = [&](int chunk) {
    if (f[chunk] < exists) out.forward(stage[chunk], f[chunk]);
    ++f[chunk];
  };
  const auto input = [&](int chunk) {
    if (b[chunk] < exists) out.backward_input(stage[chunk], b[chunk]);
    ++b[chunk];
  };
  const auto weight = [&](int chunk) {
    if (w[chunk] < exists) out.backward_weight(stage[chunk], w[chunk]);
    ++w[chunk];
  };
  for (std::uint32_t i = 0; i < 2 * (p - r) - 1; ++i) forward(0);
  for (std::uint32_t i = 0; i < r; ++i) {
    forward(1);
    forward(0);
  }
  for (std::uint32_t i = 0; i < p - r; ++i) {
    forward(1);
    input(1);
    weight(1);
  }
  while (f[1] < m) {
    if (f[0] < m) forward(0);
    input(0);
    weight(0);
    forward(1);
    input(1);
    weight(1);
  }
  for (std::uint32_t i = 0; i < r; ++i) {
    input(0);
    input(1);
  }
  for (std::uint32_t i = 0; i < p - r; ++i) {
    input(0);
    weight(0);
  }
  while (w[1] < m) weight(1);
  while (w[0] < m) weight(0);
}

// ---- what devices hold ----

double zb_h1_in_flight(const ScheduleShape& shape, int) {
  // Warm-up, the lag of the weight gradients and one more.
  return held_passes(shape, std::int64_t{shape.virtual_stages} * shape.stages);
}

double zb_h2_in_flight(const ScheduleShape& shape, int) {
  return static_cast<double>(std::min(shape.microbatches, 2 * shape.stages - 1));
}

double zb_v_in_flight(const ScheduleShape& shape, int device) {  // both chunks before the first backward
  const int p = shape.stages, m = shape.microbatches, after = p - 1 - device;
  return static_cast<double>(std::min(m, p + after) + std::min(m, device + 1)) / 2;
}

// ---- what they have put off: weight gradients of the lag, and the one whose input gradient was the last ----

HeldMoments zb_h1_moments(const ScheduleShape& shape, int device) {
  return {{zb_h1_in_flight(shape, device), held_passes(shape, device + 1)}};
}

HeldMoments zb_h2_moments(const ScheduleShape& shape, int device) {
  return {{zb_h2_in_flight(shape, device), held_passes(shape, 2 * device + 1)}};
}

// Most is held after the warm-up, most is put off when the drain begins to make up for it.
HeldMoments zb_v_moments(const ScheduleShape& shape, int device) {
  const int p = shape.stages, m = shape.microbatches, r = device;
  const int generated = std::max(m, 2 * p - 1);  // of which those from m on are dropped
  const int first = std::min(m, generated - p), last = std::min(m, generated - r);  // done by then, of either chunk
  const int put_off = std::min(m, generated - p + r + 1) - first + (m - last);
  HeldMoments out{{zb_v_in_flight(shape, r), 0.5}};
  if (put_off > 1) out.push_back({(2 * m - first - last) / 2.0, put_off / 2.0});
  return out;
}

// ---- closed forms ----

// Where the weight gradient takes no longer than the forward that runs in its place.
bool fits_even_form(const EvenTimes& t) { return t.c == 0 && t.w <= t.f; }

std::optional<Tick> zb_h1_time(const ScheduleShape&, const EvenTimes& t) {
  if (!fits_even_form(t) || t.m < t.p) return std::nullopt;
  return t.m * t.v * t.s + (t.p - 1) * (t.f + std::max<Tick>(0, t.b - t.w));
}

std::optional<Tick> zb_h2_time(const ScheduleShape&, const EvenTimes& t) {
  if (!fits_even_form(t)) return std::nullopt;
  return t.m * t.v * t.s + (t.p - 1) * std::max(t.f, t.f + t.b - 2 * t.w);
}

std::optional<Tick> zb_v_time(const ScheduleShape&, const EvenTimes& t) {
  if (!fits_even_form(t) || t.m < 2 * t.p || t.f > t.b) return std::nullopt;
  return t.m * t.v * t.s + (t.p - 1) * std::max(t.b, 2 * (t.b - t.w));
}

// ---- repetition ----

std::optional<RepeatedMiddle> zb_h1_middle(const ScheduleShape& shape) {
  if (shape.virtual_stages > 1) return std::nullopt;
  // Forwards, then pairs without a weight gradient.
  return RepeatedMiddle{.length = 3,
                        .first_microbatches = shape.stages - 1,
                        .before = [](const ScheduleShape& of, int r) { return of.stages - 1 - r + 2 * r; }};
}

std::optional<RepeatedMiddle> zb_h2_middle(const ScheduleShape& shape) {
  return RepeatedMiddle{
      .length = 3, .first_microbatches = 2 * shape.stages - 1, .before = [](const ScheduleShape& of, int r) {
        return 2 * (of.stages - r) - 1 + 2 * (2 * r);
      }};
}

std::optional<RepeatedMiddle> zb_v_middle(const ScheduleShape& shape) {
  return RepeatedMiddle{
      .length = 6, .first_microbatches = 2 * shape.stages - 1, .before = [](const ScheduleShape& of, int r) {
        return 2 * (of.stages - r) - 1 + 2 * r + 3 * (of.stages - r);
      }};
}

// ---- bounds ----

Tick zb_h1_weights_at_end(const ScheduleShape& shape, const PipelineTimes& times, std::size_t r) {
  return static_cast<Tick>(std::min(static_cast<std::size_t>(shape.microbatches), r + 1)) * times.backward_weight[r];
}

Tick zb_h2_weights_at_end(const ScheduleShape& shape, const PipelineTimes& times, std::size_t r) {
  const auto m = static_cast<std::size_t>(shape.microbatches);
  return static_cast<Tick>(std::min(m, 2 * r + 1)) * times.backward_weight[r];
}

Tick zb_v_weights_at_end(const ScheduleShape& shape, const PipelineTimes& times, std::size_t r) {
  const Tick first = times.backward_weight[r];
  const Tick second = times.backward_weight[2 * static_cast<std::size_t>(shape.stages) - 1 - r];
  if (shape.microbatches < 2 * shape.stages - 1) return shape.microbatches * (first + second);
  return static_cast<Tick>(r + 1) * first + static_cast<Tick>(r) * second;
}

std::optional<WorkBeforeReturn> zb_h1_before_return(const ScheduleShape& shape) {
  if (shape.virtual_stages > 1) return std::nullopt;
  return WorkBeforeReturn{.first_chunk = zb_h1_in_flight(shape, 0)};
}

std::optional<WorkBeforeReturn> zb_h2_before_return(const ScheduleShape& shape) {
  return WorkBeforeReturn{.first_chunk = zb_h2_in_flight(shape, 0)};
}

std::optional<WorkBeforeReturn> zb_v_before_return(const ScheduleShape& shape) {
  const double m = shape.microbatches, p = shape.stages;
  return WorkBeforeReturn{.first_chunk = std::min(m, 2 * p - 1), .last_chunk = std::min(m, p)};
}

}  // namespace

const OrderRules zb_h1{.write = write_zb_h1,
                       .in_flight = zb_h1_in_flight,
                       .moments = zb_h1_moments,
                       .even_time = zb_h1_time,
                       .middle = zb_h1_middle,
                       .weights_at_end = zb_h1_weights_at_end,
                       .before_return = zb_h1_before_return};

const OrderRules zb_h2{.write = write_zb_h2,
                       .in_flight = zb_h2_in_flight,
                       .moments = zb_h2_moments,
                       .even_time = zb_h2_time,
                       .middle = zb_h2_middle,
                       .weights_at_end = zb_h2_weights_at_end,
                       .before_return = zb_h2_before_return};

const OrderRules zb_v{.write = write_zb_v,
                      .in_flight = zb_v_in_flight,
                      .moments = zb_v_moments,
                      .even_time = zb_v_time,
                      .middle = zb_v_middle,
                      .weights_at_end = zb_v_weights_at_end,
                      .before_return = zb_v_before_return};

}  // namespace roofscape::engine::orders
