#include <doctest/doctest.h>

#include "tests/engine/pipeline/pipeline_fixture.h"
#include "tests/english.h"

namespace roofscape::engine::test {

Step run_step(const ScheduleShape& shape, const PipelineTimes& times) {
  Step step;
  make_orders(shape, step.orders);
  step.times = times;
  SimulationScratch scratch;
  step.status = simulate(step.orders, step.times, scratch, step.timeline);
  return step;
}

ScheduleShape shape_of(ScheduleKind kind, int stages, int microbatches, int virtual_stages) {
  return {kind, stages, microbatches, virtual_stages > 0 ? virtual_stages : default_virtual_stages(kind), 0};
}

PipelineTimes unit_times(const ScheduleShape& shape, double f, double b, double w, double transfer,
                         double overlapped) {
  const auto ticks = [](double units) { return static_cast<Tick>(units * static_cast<double>(kUnit)); };
  return even_times(shape, ticks(f), ticks(b), ticks(w), ticks(transfer), ticks(overlapped));
}

int random_int(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

ScheduleShape random_shape(Random& random, ScheduleKind kind, int most_stages, int most_microbatches) {
  // One number a statement: the order in which a compiler evaluates arguments is its own.
  const int stages = random_int(random, 1, most_stages);
  ScheduleShape shape = shape_of(kind, stages, random_int(random, 1, most_microbatches));
  const bool chunks =
      varies_chunks(kind) || (facts_of(kind).fixed_chunks == kAnyChunks && random_int(random, 0, 1) == 1);
  if (chunks) shape.virtual_stages = random_int(random, 1, 4);
  if (directions(kind) == 2) shape.stages = 2 * random_int(random, 1, most_stages / 2);
  if (facts_of(kind).takes_groups && random_int(random, 0, 2) == 0)
    shape.group_size = random_int(random, shape.stages, shape.stages + 6);
  if (facts_of(kind).orders_backwards && random_int(random, 0, 1) == 1) shape.backward_order = BackwardOrder::last_in;
  // Mend what is illegal with what the check offers.
  for (int i = 0; i < 4; ++i) {
    const ScheduleStatus status = check_schedule(shape);
    if (status.legal()) break;
    const int mended = status.above > 0 ? status.above : status.below;
    if (status.field == ShapeField::microbatches) shape.microbatches = mended;
    if (status.field == ShapeField::group_size) shape.group_size = mended;
  }
  REQUIRE(check_schedule(shape).legal());
  return shape;
}

PipelineTimes random_times(Random& random, const ScheduleShape& shape, bool even, bool transfers) {
  const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
  PipelineTimes times;
  const auto fill = [&](std::vector<Tick>& out) {
    out.assign(stages, random_int(random, 1, 30));
    if (!even)
      for (Tick& t : out) t = random_int(random, 0, 30);
  };
  fill(times.forward);
  fill(times.backward_input);
  fill(times.backward_weight);
  if (random_int(random, 0, 1) == 1) {
    fill(times.overlapped);
    // One for each partner, in half of the cases.
    if (const int partners = pair_partners(shape); partners > 1 && random_int(random, 0, 1) == 1) {
      times.overlapped.resize(stages * static_cast<std::size_t>(partners), times.overlapped.front());
      if (!even)
        for (Tick& t : times.overlapped) t = random_int(random, 0, 30);
    }
  }
  if (transfers) times.transfer = random_int(random, 0, 12);
  if (transfers && random_int(random, 0, 2) == 0) {
    times.node_devices = static_cast<std::uint32_t>(random_int(random, 2, 4));
    times.transfer_in_node = random_int(random, 0, 12);
  }
  return times;
}

std::string words_of(const OrderFault& fault) { return ::roofscape::test::in_english(in_words(fault)); }

}  // namespace roofscape::engine::test
