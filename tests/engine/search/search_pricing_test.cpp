// Pricing of plans: the same numbers as evaluate(), to the last bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/given_order.h"
#include "engine/pipeline/in_flight.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/search/pricing.h"
#include "engine/studies/nearest_plan.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/invariants.h"
#include "tests/engine/search/random_space.h"

using namespace roofscape;
using namespace roofscape::engine;

TEST_CASE("microbatches in flight by formula are those of the written order") {
  Orders orders;
  std::vector<double> peaks;
  int shapes = 0;
  for (int kind = 0; kind < kScheduleKinds; ++kind)
    for (const int p : {2, 3, 4, 5, 8})
      for (int v = 1; v <= 4; ++v)
        for (int m = 1; m <= 40; ++m) {
          const ScheduleShape shape{static_cast<ScheduleKind>(kind), p, m, v, 0};
          if (!check_schedule(shape).legal()) continue;
          make_orders(shape, orders);
          peak_microbatches(orders, KeptUntil::weight_gradient, peaks);
          for (int r = 0; r < p; ++r) {
            REQUIRE_MESSAGE(peak_in_flight(shape, r) == peaks[static_cast<std::size_t>(r)], schedule_id(shape.kind),
                            " p ", p, " v ", v, " m ", m, " device ", r);
          }
          ++shapes;
        }
  CHECK(shapes > 1500);
}

TEST_CASE("what is held and put off at the peaks by formula is what the written order has, whatever either weighs") {
  Orders orders;
  ActivationSizes sizes;
  PipelineTimes times;
  std::vector<MemoryPoint> trace;
  SimulationScratch scratch;
  Timeline timeline;
  int shapes = 0;
  for (int kind = 0; kind < kScheduleKinds; ++kind)
    for (const int p : {2, 3, 4, 6, 7})
      for (int v = 1; v <= 3; ++v)
        for (int m = 1; m <= 30; ++m) {
          const ScheduleShape shape{static_cast<ScheduleKind>(kind), p, m, v, 0};
          if (!check_schedule(shape).legal()) continue;
          ++shapes;
          make_orders(shape, orders);
          times = even_times(shape, 6, 6, 6);
          REQUIRE(simulate(orders, times, scratch, timeline).finished());
          for (const double more : {0.0, 0.3, 1.0, 7.0, 100.0}) {  // than what is kept before, of that
            const auto stages = static_cast<std::size_t>(virtual_stage_count(shape));
            sizes.freed_after_input.assign(stages, -more);
            sizes.freed_after_weight.assign(stages, 1 + more);
            for (int r = 0; r < p; ++r) {
              memory_trace(orders, times, timeline, sizes, static_cast<std::uint32_t>(r), trace);
              double there = 0, here = 0;
              for (const MemoryPoint& point : trace) there = std::max(there, point.amount);
              for (const HeldMicrobatches& held : held_moments(shape, r))
                here = std::max(here, held.all + more * held.postponed);
              const double passes = passes_per_device(shape);
              REQUIRE_MESSAGE(here * passes == doctest::Approx(there), schedule_id(shape.kind), " p ", p, " v ", v,
                              " m ", m, " device ", r, " more ", more);
              REQUIRE(held_moments(shape, r).front().all == peak_in_flight(shape, r));
            }
          }
        }
  CHECK(shapes > 800);
}

TEST_CASE("pairs by formula are those of the written order") {
  Orders orders;
  int joined = 0;
  for (const ScheduleKind kind : kSchedules)
    for (const int p : {2, 3, 4, 6, 8})
      for (int m = 2; m <= 40; ++m)
        for (const int chunks : {default_virtual_stages(kind), 1, 3})
          for (const int group : {0, p + 1, m}) {
            const ScheduleShape shape{kind, p, m, chunks, group};
            if (!check_schedule(shape).legal()) continue;
            make_orders(shape, orders);
            const int partners = pair_partners(shape);
            std::map<std::pair<int, int>, std::int64_t> written;
            for (std::size_t i = 0; i < orders.ops.size(); ++i)
              if (orders.ops[i].joined_with_next())
                ++written[{static_cast<int>(orders.ops[i].stage()), static_cast<int>(orders.ops[i + 1].stage())}];
            std::vector<std::int64_t> counts(static_cast<std::size_t>(partners));
            for (int s = 0; s < virtual_stage_count(shape); ++s) {
              overlapped_pairs(shape, s, counts);
              for (int n = 0; n < partners; ++n) {
                const std::pair<int, int> pair{s, pair_partner(shape, s, n)};
                REQUIRE(device_of(shape, pair.first) == device_of(shape, pair.second));
                REQUIRE(counts[static_cast<std::size_t>(n)] == written[pair]);
                written.erase(pair);
              }
            }
            REQUIRE(written.empty());
            joined += orders.ops.empty() ? 0 : overlaps_forward_backward(kind);
          }
  CHECK(joined > 800);
}

TEST_CASE("of the devices named the fullest one takes what the fullest of all devices takes") {
  std::mt19937 rng(17);
  tests::Dice dice(rng);
  Orders orders;
  std::vector<int> layers, dense;
  std::vector<double> peaks;
  std::vector<DeviceMoments> fullest;
  DeviceKinds kinds;
  int shapes = 0;
  while (shapes < 3000) {
    const ScheduleShape shape{static_cast<ScheduleKind>(dice.pick(0, kScheduleKinds - 1)), dice.pick(2, 9),
                              dice.pick(1, 40), dice.pick(1, 4), 0};
    if (!check_schedule(shape)) continue;
    const int stages = shape.stages * passes_per_device(shape), n_layers = stages + dice.pick(0, 3 * stages);
    ++shapes;
    // Of layers of either kind: what one weighs, and what it keeps of a microbatch.
    const double dense_layer = dice.pick(0, 9), other_layer = dice.pick(0, 9), dense_kept = dice.pick(0, 9),
                 other_kept = dice.pick(0, 9), embedding = dice.pick(0, 9), head = dice.pick(0, 9),
                 more = dice.pick(0, 3);  // as much again where a weight gradient is put off
    // Every device as the order has it.
    make_orders(shape, orders);
    peak_microbatches(orders, KeptUntil::weight_gradient, peaks);
    const LayerSplit split{n_layers, dice.pick(0, 4), dice.pick(0, 4), {}, dice.pick(0, 4)};
    split_layers(split, shape.kind, stages, layers);
    first_layers(layers, split.first_dense, dense);
    std::vector<double> bytes(static_cast<std::size_t>(shape.stages));
    std::vector<double> held(bytes.size());
    for (std::size_t i = 0; i < orders.device_of.size(); ++i) {
      const std::size_t device = orders.device_of[i], stage = i % static_cast<std::size_t>(stages);
      const int others = layers[stage] - dense[stage];
      held[device] += dense[stage] * dense_kept + others * other_kept;
      bytes[device] += dense[stage] * dense_layer + others * other_layer;
      if (stage == 0) bytes[device] += embedding;
      if (stage + 1 == static_cast<std::size_t>(stages)) bytes[device] += head;
    }
    const bool doubled = shape.kind == ScheduleKind::dualpipe;
    const auto at_peak = [&](const HeldMoments& moments) {
      double most = 0;
      for (const HeldMicrobatches& one : moments) most = std::max(most, one.all + more * one.postponed);
      return most;
    };
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      REQUIRE(held_moments(shape, static_cast<int>(r)).front().all == peaks[r]);
      bytes[r] += at_peak(held_moments(shape, static_cast<int>(r))) * (doubled ? held[r] / 2 : held[r]);
    }
    find_device_kinds(shape.kind, shape.stages, shape.virtual_stages, split, layers, kinds);
    HeldKinds numbers;
    fullest_devices(kinds, shape, numbers, fullest);
    double most = 0;
    for (const DeviceMoments& device : fullest) {
      const DeviceKinds::Held& has = device.held;
      const int others = has.layers - has.dense;
      const double kept = has.dense * dense_kept + others * other_kept;
      most = std::max(most, has.dense * dense_layer + others * other_layer + has.embedding * embedding +
                                has.head * head + at_peak(device.moments) * (device.doubled ? kept / 2 : kept));
    }
    CAPTURE(schedule_id(shape.kind));
    REQUIRE(most == doctest::Approx(*std::max_element(bytes.begin(), bytes.end())).epsilon(1e-12));
  }
}

TEST_CASE("what several schedules take lies in their range: the most exactly, the least no more than any") {
  std::mt19937 rng(18);
  tests::Dice dice(rng);
  std::vector<int> layers;
  std::vector<DeviceMoments> fullest;
  int schedules = 0;
  for (int i = 0; i < 400; ++i) {
    const int p = dice.pick(2, 9), m = dice.pick(1, 40), n_layers = 4 * p + dice.pick(0, 3 * p);
    const double layer = dice.pick(0, 9), kept = dice.pick(0, 9), embedding = dice.pick(0, 9), head = dice.pick(0, 9),
                 more = dice.pick(0, 3);
    const auto taken = [&](const DeviceMoments& device) {
      const DeviceKinds::Held& has = device.held;
      double held = 0;
      for (const HeldMicrobatches& one : device.moments) held = std::max(held, one.all + more * one.postponed);
      return has.layers * (layer + held * (device.doubled ? kept / 2 : kept)) + has.embedding * embedding +
             has.head * head;
    };
    const auto fullest_takes = [&](const std::vector<DeviceMoments>& devices) {
      double most = 0;
      for (const DeviceMoments& device : devices) most = std::max(most, taken(device));
      return most;
    };
    DeviceRange range;
    HeldKinds numbers;
    double most = 0;
    std::vector<double> each;
    for (const ScheduleKind kind : kSchedules)
      for (int v = 1; v <= 3; ++v) {
        const ScheduleShape shape{kind, p, m, v, 0};
        if (!check_schedule(shape) || dice.one_in(3)) continue;
        DeviceKinds kinds;
        find_device_kinds(kind, p, v, {.n_layers = n_layers}, layers, kinds);
        fullest_devices(kinds, shape, numbers, fullest);
        range.add(fullest);
        each.push_back(fullest_takes(fullest));
        most = std::max(most, each.back());
        ++schedules;
      }
    if (each.empty()) continue;
    REQUIRE(fullest_takes(range.most) == most);
    for (const double one : each)
      REQUIRE(std::any_of(range.least.begin(), range.least.end(),
                          [&](const DeviceMoments& device) { return taken(device) <= one; }));
  }
  CHECK(schedules > 2000);
}

TEST_CASE(
    "the memory of many schedules priced at once is that of each priced alone, and what a layer keeps is made anew") {
  std::mt19937 rng(19);
  tests::Dice dice(rng);
  PlacedMesh mesh;
  PricedLayer layer;
  std::vector<int> layers;
  std::vector<double> bytes;
  int schedules = 0, of_several = 0, put_off = 0, gathered = 0, calibrated = 0;
  for (int i = 0; i < 3000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    if (s.serves()) continue;
    Plan plan = plan_of(s);
    const int m = microbatches_of(plan, s.workload.global_batch_sequences);
    if (m == 0 || plan.pipeline > s.model.n_layers) continue;
    Pricer pricer(tests::without_plan(s));
    PricedState state(pricer), alone(pricer);
    pricer.place(plan, mesh);
    HeldKinds numbers;
    DistinctMoments moments;
    std::vector<std::vector<DeviceMoments>> devices;
    std::vector<DistinctMoments::Rows> rows;
    for (const ScheduleKind kind : kSchedules)
      for (int v = 1; v <= (plan.pipeline > 1 ? 3 : 1); ++v) {
        const ScheduleShape shape = schedule_shape(s.pipeline, kind, plan.pipeline, m, v);
        if (plan.pipeline > 1 && !check_schedule(shape)) continue;
        DeviceKinds kinds;
        find_device_kinds(kind, plan.pipeline, v, pricer.layer_split(), layers, kinds);
        if (!kinds.layers_suffice) continue;
        fullest_devices(kinds, shape, numbers, devices.emplace_back());
        rows.push_back(moments.add(devices.back()));
      }
    HeldByKind held;
    for (const CheckpointPolicy policy : {CheckpointPolicy::none, CheckpointPolicy::block, plan.policy})
      for (const bool offload : {false, true}) {
        plan.policy = policy;
        plan.offload_activations = offload;
        pricer.price_layer(mesh, plan, layer);
        pricer.price_buffers(mesh, layer, plan, state, &held);
        pricer.memories(mesh, layer, state, moments, bytes);
        for (std::size_t k = 0; k < rows.size(); ++k) {
          pricer.price_buffers(mesh, layer, plan, alone);
          CAPTURE(i);
          REQUIRE(moments.fullest(rows[k], bytes) == pricer.memory(mesh, layer, alone, devices[k]));
          ++schedules, of_several += rows.size() > 3, gathered += state.buffers.keeps_gathered;
          put_off += std::ranges::any_of(moments.rows(rows[k]),
                                         [&](std::uint16_t row) { return moments.postponed()[row] > 0; });
          calibrated += mesh.in.calibrated;
        }
      }
  }
  CHECK(schedules > 5000);
  CHECK(of_several > 3000);
  CHECK(put_off > 300);
  CHECK(gathered > 300);
  CHECK(calibrated > 2000);
}

TEST_CASE("a plan whose time lacks a figure of the chip has no price") {
  std::mt19937 rng(12);
  int without = 0, pipelined = 0;
  for (int i = 0; i < 12000; ++i) {
    const Scenario s = tests::random_small_scenario(rng);
    const Report report = evaluate(s);
    if (report.quantities[Q::step_time] || !runs(report)) continue;
    const Plan plan = plan_of(s);
    Pricer pricer(tests::without_plan(s));
    CAPTURE(i);
    CAPTURE(schedule_id(plan.schedule));
    CHECK(std::isnan(pricer.price(plan, true).step_time_s));
    ++without, pipelined += plan.pipeline > 1;
  }
  CHECK(without > 50);
  CHECK(pipelined > 10);
}

TEST_CASE("a priced plan has the step time and the memory of its evaluation to the last bit") {
  std::mt19937 rng(9);
  EvaluationScratch scratch;
  Report report;
  int pipelined = 0, moe = 0, context = 0, hybrid = 0;
  for (int i = 0; i < 6000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    evaluate(s, scratch, report);
    const auto step = report.quantities[Q::step_time], memory = report.quantities[Q::memory_total];
    if (!step || !memory) continue;
    const Plan plan = plan_of(s);
    Pricer pricer(tests::without_plan(s));
    const Price price = pricer.price(plan, true);
    CAPTURE(i);
    REQUIRE(price.step_time_s == *step);
    REQUIRE(price.memory_bytes == *memory);
    pipelined += plan.pipeline > 1, moe += plan.expert > 1, context += plan.context > 1;
    hybrid += plan.data > 1 && plan.fsdp > 1;
    Price bound = pricer.price(plan, false);
    REQUIRE(bound.memory_bytes == *memory);
    REQUIRE_MESSAGE(bound.step_time_s <= *step, schedule_id(plan.schedule), " p ", plan.pipeline, " v ",
                    plan.virtual_stages, " layers ", s.model.n_layers, " m ",
                    microbatches_of(plan, s.workload.global_batch_sequences), " by ", bound.step_time_s - *step);
    if (plan.pipeline == 1) REQUIRE(bound.step_time_s == *step);
    pricer.simulate(plan, bound, [] { return true; });
    REQUIRE(bound.exact);
    REQUIRE(bound.step_time_s == *step);
    REQUIRE(bound.memory_bytes == *memory);
  }
  CHECK(pipelined > 1000);
  CHECK(moe > 200);
  CHECK(context > 1000);
  CHECK(hybrid > 1000);
}

TEST_CASE("a plan whose order is given is priced as it is evaluated, and bounded below, whichever order that is") {
  std::mt19937 rng(10);
  EvaluationScratch scratch;
  Report report;
  int given = 0, slower = 0;
  for (int i = 0; i < 4000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    if (s.serves() || s.parallelism.pipeline < 2) continue;
    const ScheduleShape own = stage_key(s).shape;
    if (!check_schedule(own) || std::int64_t{own.microbatches} * virtual_stage_count(own) > 4096) continue;
    // Of a schedule that can stand in the other's place, as far as there is one.
    ScheduleShape made = own;
    if (own.kind == ScheduleKind::one_f_one_b) made.kind = ScheduleKind::gpipe;
    if (own.kind == ScheduleKind::interleaved_1f1b)
      made = {ScheduleKind::looped_bfs, own.stages, own.microbatches, own.virtual_stages, 0};
    if (own.kind == ScheduleKind::zb_h1 && own.virtual_stages == 1) made.kind = ScheduleKind::one_f_one_b;
    Orders orders;
    make_orders(made, orders);
    const ListedOrderResult read = read_listed_order(order_csv(orders), own.kind);
    if (read.fault) continue;
    evaluate(s, scratch, report);
    const auto before = report.quantities[Q::step_time];
    s.pipeline.order = read.order;
    evaluate(s, scratch, report);
    const auto step = report.quantities[Q::step_time], memory = report.quantities[Q::memory_total];
    if (!before || !step || !memory) continue;
    CAPTURE(i);
    CAPTURE(schedule_id(own.kind));
    REQUIRE(report.pipeline.shape.order);
    if (made == own) REQUIRE(*step == *before);
    ++given;
    slower += *step != *before;
    const Plan plan = plan_of(s);
    Pricer pricer(tests::without_plan(s));
    const Price price = pricer.price(plan, true);
    REQUIRE(price.step_time_s == *step);
    REQUIRE(price.memory_bytes == *memory);
    const Price bound = pricer.price(plan, false);
    REQUIRE(bound.memory_bytes == *memory);
    REQUIRE(bound.step_time_s <= *step);
  }
  CHECK(given > 300);
  CHECK(slower > 50);
}

TEST_CASE(
    "bounds of several pipelines at once are each one's, and another choice of a layer lends its end of the step") {
  std::mt19937 rng(37);
  tests::Dice dice(rng);
  PlacedMesh mesh;
  PricedLayer layer;
  DeviceKinds kinds;
  std::vector<int> layers;
  int offloaded = 0, reduced = 0, on_muon = 0, calibrated = 0;
  for (int i = 0; i < 6000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    const Plan plan = plan_of(s);
    if (s.serves() || plan.pipeline == 1 || overlaps_forward_backward(plan.schedule)) continue;
    if (!check_schedule(shape_of(plan, microbatches_of(plan, s.workload.global_batch_sequences), s.pipeline)))
      continue;
    Pricer pricer(tests::without_plan(s));
    PricedState own(pricer), lent(pricer), lender(pricer);
    CAPTURE(i);
    pricer.place(plan, mesh);
    Plan other = plan;
    other.policy = plan.policy == CheckpointPolicy::none ? CheckpointPolicy::block : CheckpointPolicy::none;
    other.sequence_parallel = plan.tensor > 1 && !plan.sequence_parallel;
    pricer.price_layer(mesh, other, layer);
    Pricer::set_microbatch(mesh, 1);
    pricer.price_state(mesh, layer, other, lender);
    Pricer::set_microbatch(mesh, plan.microbatch_sequences);
    pricer.price_layer(mesh, plan, layer);
    pricer.price_state(mesh, layer, plan, own);
    pricer.price_buffers(mesh, layer, plan, lent);
    pricer.price_step(mesh, layer, lent, &lender.own_end);
    const ScheduleShape shape = shape_of(plan, static_cast<int>(mesh.counts.microbatches), s.pipeline);
    find_device_kinds(plan.schedule, plan.pipeline, shape.virtual_stages, pricer.layer_split(), layers, kinds);
    const double makespan = pricer.least_makespan(mesh, layer, own, kinds, shape);
    std::vector<double> makespans{makespan, makespan * 2, makespan * 1.01, makespan}, steps(4);
    pricer.bounds(mesh, layer, lent, makespans, steps);
    for (std::size_t k = 0; k < makespans.size(); ++k) {
      Price price;
      pricer.bound(mesh, layer, own, kinds, shape, price, makespans[k]);
      const bool same = steps[k] == price.step_time_s || (std::isnan(steps[k]) && std::isnan(price.step_time_s));
      REQUIRE_MESSAGE(same, schedule_id(plan.schedule), ": ", steps[k], " for ", price.step_time_s);
    }
    offloaded += plan.offload_optimizer || plan.offload_activations, calibrated += mesh.in.calibrated;
    reduced += value_of(own.end->end_reduction[Axis::data]) > 0, on_muon += own.end->muon.on;
  }
  CHECK(offloaded > 300);
  CHECK(reduced > 300);
  CHECK(on_muon > 50);
  CHECK(calibrated > 500);
}

TEST_CASE("no step is shorter than its layers' work, its pipeline, and what follows them") {
  std::mt19937 rng(33);
  PlacedMesh mesh;
  PricedLayer layer;
  DeviceKinds kinds;
  std::vector<int> layers;
  OrderSpans orders;
  int pipelined = 0, on_host = 0, overlapped = 0, reduced = 0, hosted = 0, idle = 0, chained = 0, decided = 0;
  for (int i = 0; i < 6000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    if (s.serves()) continue;
    const Plan plan = plan_of(s);
    Pricer pricer(tests::without_plan(s));
    PricedState state(pricer), still(pricer);
    pricer.lend_orders(orders);
    if (!check_schedule(shape_of(plan, microbatches_of(plan, s.workload.global_batch_sequences), s.pipeline)))
      continue;
    const double step = pricer.price(plan, true).step_time_s;
    if (!(step > 0)) continue;  // a link that is not known
    pricer.place(plan, mesh);
    pricer.price_layer(mesh, plan, layer);
    pricer.price_state(mesh, layer, plan, state);
    const bool overlaps = plan.pipeline > 1 && overlaps_forward_backward(plan.schedule);
    const double work = pricer.least_work(mesh, layer, overlaps), end = Pricer::least_end(mesh, layer, state);
    CAPTURE(i);
    REQUIRE(end >= 0);
    REQUIRE_MESSAGE(work + end <= step, schedule_id(plan.schedule), ": ", work, " and ", end, " of ", step);
    const double without_pipeline = Pricer::with_host(mesh, work + end);
    REQUIRE(without_pipeline <= step);
    hosted += without_pipeline > 1.001 * (work + end);
    if (plan.pipeline > 1) {
      // The pipeline of a schedule without any training state that moves.
      const ScheduleShape shape = shape_of(plan, static_cast<int>(mesh.counts.microbatches), s.pipeline);
      find_device_kinds(plan.schedule, plan.pipeline, shape.virtual_stages, pricer.layer_split(), layers, kinds);
      pricer.price_still(mesh, layer, plan, still);
      REQUIRE(still.hops == Pricer::hops(mesh, layer, plan.sequence_parallel));
      const double makespan = pricer.least_makespan(mesh, layer, still, kinds, shape);
      const double least = Pricer::with_host(mesh, std::max(work, makespan) + end);
      REQUIRE_MESSAGE(least <= step, schedule_id(plan.schedule), ": ", makespan, " and ", end, " of ", step);
      idle += least > 1.05 * without_pipeline;
      // Nor than what has decided steps of its shape, of whatever other plans.
      const Tick chain = pricer.least_simulated(mesh, layer, still, shape);
      const double of_chain = Pricer::least_of_slower(chain, shape);
      REQUIRE(Pricer::with_host(mesh, std::max(work, of_chain) + end) <= step);
      Price refined;
      pricer.bound(mesh, layer, state, kinds, shape, refined, of_chain);
      REQUIRE(refined.step_time_s <= step);
      chained += chain > 0, decided += refined.step_time_s > 0.9999 * step;
    }
    // Offloaded activations change nothing of it, nor does what a layer keeps.
    Plan other = plan;
    other.offload_activations = !plan.offload_activations;
    other.policy = plan.policy == CheckpointPolicy::none ? CheckpointPolicy::block : CheckpointPolicy::none;
    pricer.price_layer(mesh, other, layer);
    pricer.price_state(mesh, layer, other, state);
    REQUIRE(Pricer::least_end(mesh, layer, state) == end);
    pipelined += plan.pipeline > 1, on_host += plan.offload_optimizer, overlapped += overlaps;
    reduced += end > 0.1 * step;
  }
  CHECK(pipelined > 1000);
  CHECK(on_host > 300);
  CHECK(overlapped > 30);
  CHECK(reduced > 300);
  CHECK(hosted > 300);
  CHECK(idle > 300);
  CHECK(chained > 300);
  CHECK(decided > 100);
}

TEST_CASE("the bound of a zero-bubble schedule is never above its step, and near it where microbatches are few") {
  std::mt19937 rng(31);
  tests::Dice dice(rng);
  int few = 0, all = 0;
  for (int i = 0; i < 3000; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (i % 2 == 1) s = tests::with(s, {"assumptions.mode=calibrated"});
    Plan plan = plan_of(s);
    constexpr ScheduleKind kKinds[] = {ScheduleKind::zb_h1, ScheduleKind::zb_h2, ScheduleKind::zb_v};
    plan.schedule = kKinds[i % 3];
    plan.virtual_stages = default_virtual_stages(plan.schedule);
    plan.pipeline = 1 << dice.pick(1, 4);
    if (plan.pipeline * plan.virtual_stages > s.model.n_layers) continue;
    const int microbatches = dice.one_in(2) ? dice.pick(1, plan.pipeline) : dice.pick(1, 6 * plan.pipeline);
    s.workload.global_batch_sequences = plan.data * plan.fsdp * plan.microbatch_sequences * microbatches;
    if (!check_schedule(shape_of(plan, microbatches, s.pipeline))) continue;
    Pricer pricer(s);
    const double step = pricer.price(plan, true).step_time_s, bound = pricer.price(plan, false).step_time_s;
    if (!(step > 0)) continue;  // a link that is not known
    CAPTURE(i);
    REQUIRE(bound <= step);
    ++all;
    if (microbatches > 1) continue;
    ++few;
    CHECK(bound > 0.65 * step);
  }
  CHECK(all > 1000);
  CHECK(few > 100);
}

TEST_CASE("a mesh is priced alike with the layer of any mesh that shares it, in every mode") {
  std::mt19937 rng(41);
  int shared = 0, several_axes = 0, same_pipeline = 0;
  DeviceKinds kinds;
  std::vector<int> layers;
  for (int i = 0; i < 800; ++i) {
    tests::Dice dice(rng);
    const Scenario s = tests::random_small_scenario(rng);
    const PlanSpace space = space_of(s);
    const SpaceChoices choices(s, space);
    if (choices.groups.empty()) continue;
    const Plan group = any_of(dice, choices.groups).mesh;
    std::vector<Plan> plans;
    for (const int pipeline : choices.data_divisors)
      for (const int fsdp : choices.data_divisors) {
        Plan plan = group;
        plan.pipeline = pipeline, plan.fsdp = fsdp;
        if (group.data % (pipeline * fsdp) != 0 || pipeline > s.model.n_layers) continue;
        plan.data = group.data / pipeline / fsdp;
        plan.zero_stage = static_cast<std::uint8_t>(dice.pick(0, 3));
        plan.policy = any_of(dice, choices.policies);
        if (!choices.reject_group(plan) && !choices.reject_mesh(plan)) plans.push_back(plan);
      }
    if (plans.size() < 2) continue;
    CAPTURE(i);
    Pricer pricer(s);
    PlacedMesh mesh, other;
    PricedLayer own, lent;
    PricedState with_own(pricer), with_lent(pricer);
    for (int k = 0; k < 4; ++k) {
      const Plan &plan = any_of(dice, plans), &from = any_of(dice, plans);
      pricer.place(plan, mesh), pricer.place(from, other);
      if (!share_layers(mesh, other)) continue;
      pricer.price_layer(mesh, plan, own), pricer.price_layer(other, plan, lent);
      pricer.price_state(mesh, own, plan, with_own), pricer.price_state(mesh, lent, plan, with_lent);
      const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      for (const bool overlaps : {false, true})
        REQUIRE(same(pricer.least_time(mesh, own, with_own, overlaps),
                     pricer.least_time(mesh, lent, with_lent, overlaps)));
      REQUIRE(same(Pricer::least_end(mesh, own, with_own), Pricer::least_end(mesh, lent, with_lent)));
      ++shared;
      several_axes += plan.pipeline > 1 && plan.data > 1 && plan.fsdp > 1;
      // What the pipeline takes at least is the same for all meshes with its stages and hops.
      if (plan.pipeline == 1 || from.pipeline != plan.pipeline || plan.data * plan.fsdp != from.data * from.fsdp)
        continue;
      const ScheduleShape shape = shape_of(plan, static_cast<int>(mesh.counts.microbatches), s.pipeline);
      if (!check_schedule(shape)) continue;
      find_device_kinds(plan.schedule, plan.pipeline, shape.virtual_stages, pricer.layer_split(), layers, kinds);
      pricer.price_still(mesh, own, plan, with_own), pricer.price_still(other, lent, plan, with_lent);
      if (!same(with_own.hops.least, with_lent.hops.least)) continue;
      REQUIRE(same(pricer.least_makespan(mesh, own, with_own, kinds, shape),
                   pricer.least_makespan(other, lent, with_lent, kinds, shape)));
      ++same_pipeline;
    }
  }
  CHECK(same_pipeline > 20);
  CHECK(shared > 200);
  CHECK(several_axes > 20);
}
