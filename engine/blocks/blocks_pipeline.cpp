// Pipelines: closed forms of their bubbles, and any named schedule simulated for times typed in.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/blocks/spec.h"
#include "engine/pipeline/greedy_order.h"
#include "engine/pipeline/pipeline_time.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/pipeline/v_order.h"
#include "engine/studies/made_order.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void bubble(BlockRun<S>& io) {
  const S p = io[Q::bubble_stages], m = io[Q::bubble_microbatches], v = io[Q::bubble_chunks];
  const S f = io[Q::bubble_forward], b = io[Q::bubble_backward];
  const S two = constant<S>(2);
  const S slots = io.out(Q::bubble_slots, m + p - one<S>());
  io.out(Q::bubble_mfu, m / slots);
  io.out(Q::bubble_share, (p - one<S>()) / slots);
  io.out(Q::bubble_over_ideal, (p - one<S>()) / m);
  const S both = named(Q::bubble_both, f + b);
  io.out(Q::bubble_makespan, slots * both);
  io.out(Q::bubble_useful, m * both);
  const S idle = io.out(Q::bubble_idle, (p - one<S>()) * both);
  io.out(Q::bubble_interleaved_idle, idle / v);
  const S over = io.out(Q::bubble_interleaved_over, (p - one<S>()) / (v * m));
  io.out(Q::bubble_interleaved_mfu, one<S>() / (one<S>() + over));
  io.out(Q::bubble_in_flight_gpipe, m * one<S>());
  const S stage = io[Q::bubble_stage];
  if (value_of(stage) >= value_of(p))
    return io.fail("stage", say("error.block.stage"), say("error.block.stage.remedy"));
  io.out(Q::bubble_in_flight, min(p - stage, m));
  // Backward split in input and weight gradient.
  const S bi = io[Q::bubble_input], w = io[Q::bubble_weight];
  io.out(Q::bubble_1f1b, (p - one<S>()) * (f + bi + w));
  io.out(Q::bubble_zb1, (p - one<S>()) * (f + bi - w));
  // Of the makespan as the others, and of a device's own span: what is lost if the next step may start skewed.
  const S skewed = f + bi - two * w;
  io.out(Q::bubble_zb2_makespan, (p - one<S>()) * max(f, skewed));
  io.out(Q::bubble_zb2, (p - one<S>()) * skewed);
  const S overlapped = io[Q::bubble_overlapped];
  if (io.integer(Q::bubble_stages) % 2 != 0 && io.knows(Q::bubble_stages))
    io.without(Q::bubble_dualpipe, "two_directions");
  else
    io.out(Q::bubble_dualpipe, (p / two - one<S>()) * (overlapped + (bi + w) - constant<S>(3) * w));
  io.out(Q::bubble_dualpipe_in_flight, p + one<S>());
  // Activations between stages (B tokens of the replica in a step).
  const S hop =
      io.out(Q::bubble_hop, io[Q::element_width] * io[Q::tokens] * io[Q::d_model] / (io[Q::context_link] * m));
  const S hops = io.out(Q::bubble_hops, m + p - two);
  io.out(Q::bubble_comms, hop * hops);
}

std::string_view kind_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
      return "forward";
    case OpKind::backward:
      return "backward";
    case OpKind::backward_input:
      return "backward_input";
    case OpKind::backward_weight:
      return "backward_weight";
  }
  return "";
}

// The schedules, then the orders that are made for given times.
std::vector<std::string_view> order_names() {
  std::vector<std::string_view> names(kScheduleIds.ids().begin(), kScheduleIds.ids().end());
  names.insert(names.end(), kOrderRecipes.ids().begin(), kOrderRecipes.ids().end());
  return names;
}

ScheduleKind kind_of(const BlockCall& c) {
  const std::string_view name = c.word("schedule");
  if (const auto recipe = kOrderRecipes.parse(name)) return schedule_of(*recipe);
  return *parse_schedule(name);
}

ScheduleShape shape_of(const BlockCall& c) {
  ScheduleShape shape;
  shape.kind = kind_of(c);
  const auto integer = [&](std::string_view name) { return static_cast<int>(c.number(name)); };
  shape.stages = integer("stages"), shape.microbatches = integer("microbatches");
  shape.virtual_stages = integer("virtual_stages"), shape.group_size = integer("group_size");
  return shape;
}

// The order of the schedule, or the one that is made for these times. False: the block has failed.
template <Scalar S>
bool take_orders(BlockRun<S>& io, const BlockCall& call, const ScheduleShape& shape, const PipelineTimes& times,
                 Orders& orders) {
  const auto recipe = kOrderRecipes.parse(call.word("schedule"));
  if (!recipe) {
    make_orders(shape, orders);
    return true;
  }
  const auto refuse = [&io](std::string_view input, Sentence message, Sentence remedy) {
    io.fail(input, std::move(message), std::move(remedy));
    return false;
  };
  if (3 * std::int64_t{virtual_stage_count(shape)} * shape.microbatches > kMostGreedyOps)
    return refuse("microbatches", say("error.block.order_too_long", kMostGreedyOps),
                  say("error.block.order_too_long.remedy"));
  if (const auto memory = v_memory_of(*recipe)) {
    make_v_order(shape.stages, shape.microbatches, *memory, orders);
    return true;
  }
  GreedyLimit limit;
  if (const auto most = most_microbatches_of(*recipe, shape.stages))
    limit.microbatches = *most;
  else if (call.value("held_microbatches").is_known())
    limit.microbatches = call.number("held_microbatches");
  else
    return refuse("held_microbatches", say("error.block.held_microbatches", kOrderRecipes[*recipe]),
                  say("error.block.held_microbatches.remedy"));
  const bool on_v = facts_of(shape.kind).placement == StagePlacement::v;
  std::optional<Orders> made = greedy_order({shape.stages, on_v}, shape.microbatches, times, limit);
  if (!made) return refuse("t_forward", say("error.block.times"), say("error.block.times.remedy"));
  orders = std::move(*made);
  return true;
}

Sentence rule_words(ScheduleRule rule) {
  switch (rule) {
    case ScheduleRule::legal:
      break;
    case ScheduleRule::stages_positive:
      return say("error.rule.stages_positive");
    case ScheduleRule::stages_even:
      return say("error.rule.stages_even");
    case ScheduleRule::virtual_stages_positive:
      return say("error.rule.virtual_stages_positive");
    case ScheduleRule::one_chunk:
      return say("error.rule.one_chunk");
    case ScheduleRule::two_chunks:
      return say("error.rule.two_chunks");
    case ScheduleRule::microbatches_positive:
      return say("error.rule.microbatches_positive");
    case ScheduleRule::microbatches_even:
      return say("error.rule.microbatches_even");
    case ScheduleRule::microbatches_fill_stages:
      return say("error.rule.microbatches_fill_stages");
    case ScheduleRule::microbatches_at_least:
      return say("error.rule.microbatches_at_least");
    case ScheduleRule::group_size_interleaved_only:
      return say("error.rule.group_size_interleaved_only");
    case ScheduleRule::group_size_range:
      return say("error.rule.group_size_range");
    case ScheduleRule::last_group_fills_stages:
      return say("error.rule.last_group_fills_stages");
    case ScheduleRule::too_large:
      return say("error.rule.too_large");
  }
  return {};
}

// Ticks a typed-in second: a power of ten, so that decimals stay exact, that leaves room for a long step.
double ticks_each(double longest, int parts) {
  const double exponent = std::floor(9 - std::log10(std::max(longest, 1e-300)));
  return std::pow(10.0, std::clamp(exponent, -290.0, 290.0)) * parts;
}

template <Scalar S>
void pipeline(BlockRun<S>& io, const BlockCall& call) {
  for (const char* name : {"stages", "microbatches", "t_forward", "t_backward_input"})
    if (!call.value(name).is_known()) return io.rest_needs(name);
  const ScheduleShape shape = shape_of(call);
  const ScheduleStatus status = check_schedule(shape);
  if (!status.legal()) {
    constexpr std::string_view kFields[] = {"stages", "microbatches", "virtual_stages", "group_size"};
    const auto below = status.below, above = status.above;
    Sentence remedy;
    if (below > 0 && above > 0)
      remedy = say("error.nearest_two", below, above);
    else if (below > 0 || above > 0)
      remedy = say("error.nearest", std::max(below, above));
    return io.fail(kFields[static_cast<std::size_t>(status.field)], rule_words(status.rule), std::move(remedy));
  }
  const bool made = kOrderRecipes.parse(call.word("schedule")).has_value();
  if (const int chunks = default_virtual_stages(shape.kind); made && shape.virtual_stages != chunks)
    return io.fail("virtual_stages", rule_words(ScheduleRule::one_chunk), say("error.nearest", chunks));
  const double f = call.number("t_forward"), bi = call.number("t_backward_input"),
               w = call.number("t_backward_weight");
  const double send = call.number("transfer"), send_in_node = call.number("transfer_in_node"),
               joined = call.number("t_overlapped_forward_backward");
  const auto& scale_of = call.value("device_scale").numbers;
  if (!scale_of.empty() && scale_of.size() != static_cast<std::size_t>(shape.stages))
    return io.fail("device_scale", say("error.block.device_scale"), say("error.block.device_scale.remedy"));
  const double top = scale_of.empty() ? 1 : std::max(1.0, *std::max_element(scale_of.begin(), scale_of.end()));
  const bool has_joined = std::isfinite(joined);
  const double scale =
      ticks_each(std::max({f, bi, w, send, send_in_node, has_joined ? joined : 0.0}) * top, passes_per_device(shape));
  const auto ticks = [scale](double t) { return static_cast<Tick>(std::llround(t * scale)); };
  PipelineTimes times = even_times(shape, ticks(f), ticks(bi), ticks(w), ticks(send), has_joined ? ticks(joined) : 0);
  times.node_devices = static_cast<std::uint32_t>(call.number("node_devices"));
  times.transfer_in_node = ticks(send_in_node);
  times.blocking_send = call.number("blocking_send") > 0.5;
  std::vector<std::uint16_t> device_of;
  place_stages(shape, device_of);
  if (!scale_of.empty())
    for (std::vector<Tick>* list : {&times.forward, &times.backward_input, &times.backward_weight, &times.overlapped})
      for (std::size_t s = 0; s < list->size(); ++s)
        (*list)[s] = static_cast<Tick>(std::llround(static_cast<double>((*list)[s]) * scale_of[device_of[s]]));
  Orders orders;
  if (!take_orders(io, call, shape, times, orders)) return;
  SimulationScratch scratch;
  Timeline timeline;
  const SimulationStatus ran = simulate(orders, times, scratch, timeline);
  if (!ran.finished()) return io.fail("t_forward", say("error.block.times"), say("error.block.times.remedy"));
  const auto out_time = [&](Q q, int index, double t) { return io.simulated(q, index, t / scale); };
  out_time(Q::sim_makespan, -1, static_cast<double>(timeline.makespan));
  const Bubbles b = bubbles(orders, times, timeline);
  out_time(Q::sim_bubble, -1, b.bubble_time);
  io.simulated(Q::sim_idle_fraction, -1, b.idle_fraction);
  io.simulated(Q::sim_ratio, -1, b.ratio_to_work);
  const double makespan = static_cast<double>(timeline.makespan), work = makespan - b.bubble_time;
  io.simulated(Q::sim_mfu, -1, 1 - b.idle_fraction);
  out_time(Q::sim_work, -1, work);
  if (makespan > 0) io.simulated(Q::sim_speedup, -1, work * shape.stages / makespan);
  out_time(Q::sim_each, -1, makespan / shape.microbatches);
  out_time(Q::sim_span_bubble, -1, static_cast<double>(b.span_bubble));
  if (made)
    io.without(Q::sim_lower_bound, "made_order");
  else
    out_time(Q::sim_lower_bound, -1, static_cast<double>(pipeline_lower_bound(shape, times)));
  std::vector<Tick> idle;
  idle_per_device(timeline, idle);
  for (std::size_t d = 0; d < idle.size(); ++d)
    out_time(Q::sim_idle, static_cast<int>(d), static_cast<double>(idle[d]));
  std::vector<double> peak;
  peak_microbatches(orders, KeptUntil::weight_gradient, peak);
  for (std::size_t d = 0; d < peak.size(); ++d) io.simulated(Q::sim_peak_weight, static_cast<int>(d), peak[d]);
  if (!peak.empty()) io.simulated(Q::sim_most, -1, *std::max_element(peak.begin(), peak.end()));
  peak_microbatches(orders, KeptUntil::input_gradient, peak);
  for (std::size_t d = 0; d < peak.size(); ++d) io.simulated(Q::sim_peak_input, static_cast<int>(d), peak[d]);
  if (call.number("ops") < 0.5) return;
  if (orders.ops.size() > 200'000) return io.fail("ops", say("error.block.ops"), say("error.block.ops.remedy"));
  io.table.columns = {"device", "kind", "microbatch", "stage", "start", "end"};
  for (std::uint32_t i = 0; i < orders.ops.size(); ++i) {
    const Op op = orders.ops[i];
    io.table.rows.push_back({static_cast<double>(device_of_op(orders, i)), std::string(kind_of(op.kind())),
                             static_cast<double>(op.microbatch()) + 1, static_cast<double>(op.stage()),
                             static_cast<double>(timeline.start[i]) / scale,
                             static_cast<double>(op_end(orders, times, timeline, i)) / scale});
  }
}

template <Scalar S>
void simulated(BlockRun<S>& io) {
  pipeline(io, io.call());
}

}  // namespace

std::vector<BuildingBlock> pipeline_blocks() {
  const auto time = [](std::string_view name, Q q) { return number(name, q).at_least(0); };
  return {
      {"pipeline-bubble",
       "scaling book ch. 5 and 12; Narayanan et al. 2021; Qi et al. 2023",
       inputs(
           whole("stages", Q::bubble_stages), whole("microbatches", Q::bubble_microbatches),
           whole("virtual_stages", Q::bubble_chunks).def(1), number("t_forward", Q::bubble_forward).def(1),
           number("t_backward", Q::bubble_backward)
               .from("2 t_forward", [](const BlockCall& c) { return std::optional(2 * c.number("t_forward")); }),
           number("t_backward_input", Q::bubble_input)
               .from("t_backward / 2", [](const BlockCall& c) { return std::optional(c.number("t_backward") / 2); }),
           number("t_backward_weight", Q::bubble_weight)
               .from("t_backward - t_backward_input",
                     [](const BlockCall& c) {
                       return std::optional(c.number("t_backward") - c.number("t_backward_input"));
                     }),
           number("t_overlapped_forward_backward", Q::bubble_overlapped)
               .from(
                   "t_forward + t_backward",
                   [](const BlockCall& c) { return std::optional(c.number("t_forward") + c.number("t_backward")); }),
           whole("stage", Q::bubble_stage).def(0).at_least(0), number("tokens", Q::tokens), size_input("d_model"),
           element_input(), neighbour_link_input()),
       {out("max_mfu", Q::bubble_mfu),
        out("bubble_share", Q::bubble_share),
        out("bubble_over_ideal", Q::bubble_over_ideal),
        out("slots", Q::bubble_slots),
        out("makespan", Q::bubble_makespan),
        out("useful", Q::bubble_useful),
        out("idle_per_stage", Q::bubble_idle),
        out("interleaved_idle_per_stage", Q::bubble_interleaved_idle),
        out("interleaved_bubble_over_ideal", Q::bubble_interleaved_over),
        out("interleaved_max_mfu", Q::bubble_interleaved_mfu),
        out("in_flight_gpipe", Q::bubble_in_flight_gpipe),
        out("in_flight_1f1b", Q::bubble_in_flight),
        out("split_1f1b_idle", Q::bubble_1f1b),
        out("zb_h1_idle", Q::bubble_zb1),
        out("zb_h2_idle", Q::bubble_zb2_makespan),
        out("zb_h2_span_idle", Q::bubble_zb2),
        out("dualpipe_idle", Q::bubble_dualpipe),
        out("dualpipe_in_flight", Q::bubble_dualpipe_in_flight),
        out("hop_s", Q::bubble_hop),
        out("hops", Q::bubble_hops),
        out("comms_s", Q::bubble_comms)},
       bubble<double>,
       bubble<Traced>},
      {"pipeline",
       "simulated; schedules of Huang 2019, Narayanan 2021, Qi 2023, DeepSeek 2024",
       inputs(choice("schedule", order_names(), kScheduleIds[ScheduleKind::one_f_one_b]),
              whole("stages", Q::bubble_stages).up_to(4096), whole("microbatches", Q::bubble_microbatches).up_to(1e6),
              whole("virtual_stages", Q::bubble_chunks)
                  .up_to(4096)
                  .from("of the schedule",
                        [](const BlockCall& c) { return std::optional<double>(default_virtual_stages(kind_of(c))); }),
              whole("group_size", Q::sim_group).def(0).at_least(0).up_to(1e6),
              number("held_microbatches", Q::sim_limit).at_least(1).up_to(1e6),
              time("t_forward", Q::bubble_forward).def(1),
              time("t_backward_input", Q::bubble_input)
                  .from("t_forward", [](const BlockCall& c) { return std::optional(c.number("t_forward")); }),
              time("t_backward_weight", Q::bubble_weight)
                  .from("t_forward", [](const BlockCall& c) { return std::optional(c.number("t_forward")); }),
              time("t_overlapped_forward_backward", Q::bubble_overlapped), time("transfer", Q::sim_transfer).def(0),
              whole("node_devices", Q::sim_node_devices).def(1).up_to(4096),
              time("transfer_in_node", Q::sim_transfer_in_node)
                  .from("transfer", [](const BlockCall& c) { return std::optional(c.number("transfer")); }),
              flag("blocking_send", false), numbers("device_scale", Q::sim_scale).entries(4096), flag("ops", false)),
       {out("makespan", Q::sim_makespan), out("bubble_time", Q::sim_bubble),
        out("idle_fraction", Q::sim_idle_fraction), out("ratio_to_work", Q::sim_ratio),
        out("span_bubble", Q::sim_span_bubble), out("lower_bound", Q::sim_lower_bound), out("max_mfu", Q::sim_mfu),
        out("work_per_device", Q::sim_work), out("speedup", Q::sim_speedup), out("time_per_microbatch", Q::sim_each),
        out("most_held", Q::sim_most), out_list("idle_per_device", Q::sim_idle),
        out_list("peak_until_weight_gradient", Q::sim_peak_weight),
        out_list("peak_until_input_gradient", Q::sim_peak_input), out_table("ops")},
       simulated<double>,
       simulated<Traced>,
       BlockTopic::pipeline,
       true},
  };
}

}  // namespace roofscape::engine::block_table
