// Runs: time, utilisation, cost.
#include "engine/blocks/spec.h"
#include "engine/model/parameters.h"
#include "engine/training/run.h"

namespace roofscape::engine::block_table {

namespace {

template <Scalar S>
void run(BlockRun<S>& io) {
  const S P = io[Q::state_parameters], B = io[Q::tokens], n = io[Q::job_chips], C = io[Q::peak_flops],
          u = io[Q::job_mfu];
  const S six = constant<S>(6, unit::flop_each);
  // Of a model preset a token's FLOPs are known, of its active parameters; parameters that are typed in win over them.
  const BlockCall& call = io.call();
  const bool is_token =
      io.knows(Q::job_flops_token) && (call.is_typed("flops_per_token") || !call.is_typed("parameters"));
  const S token = io.out(Q::job_flops_each, is_token ? io[Q::job_flops_token] * one<S>() : six * P);
  const S flops = io.out(Q::job_flops, io.knows(Q::job_given_flops) ? io[Q::job_given_flops] * one<S>() : token * B);
  io.out(Q::job_cluster, n * C);
  io.out(Q::job_rate, n * C * u);
  io.out(Q::job_chip_rate, C * u);
  const S seconds = io.out(Q::job_seconds, run_seconds(flops, n, C, u));
  const S days = io.out(Q::job_days, days_of(seconds));
  io.out(Q::job_years, years_of(seconds));
  const S hours = io.out(Q::job_chip_hours, n * hours_of(seconds));
  io.out(Q::job_cost, hours * io[Q::price]);
  io.out(Q::job_flops_dollar, C * constant<S>(3600, unit::seconds_each) / io[Q::price]);
  io.out(Q::job_tokens_s, B / seconds);
  (void)days;
  // What a measured run made of its chips.
  const S given = io.out(Q::job_measured_mfu, utilisation(flops, n, C, io[Q::job_given_seconds]));
  (void)given;
  const S available =
      io.out(Q::job_available, io[Q::job_given_chip_hours] * constant<S>(3600, unit::seconds_each) * C);
  io.out(Q::job_hours_mfu, flops / available);
  io.out(Q::job_rate_mfu, io[Q::job_achieved] / C);
  io.out(Q::job_aggregate, n * io[Q::job_achieved]);
  io.out(Q::job_hfu, u * io[Q::job_hardware] / six);
  // A run of known length on another number of chips, as fast a chip.
  const S scaled = io.out(Q::job_scaled_days, io[Q::job_known_days] * io[Q::job_known_chips] / n);
  io.out(Q::job_scaled_years, scaled / constant<S>(365.25));
}

}  // namespace

std::vector<BuildingBlock> run_blocks() {
  return {
      {"run",
       "scaling book ch. 4, 6 and 12",
       inputs(parameters_input(), number("tokens", Q::tokens), number("flops", Q::job_given_flops),
              number("flops_per_token", Q::job_flops_token).model([](const TransformerShape& m) {
                return std::optional(6 * count_parameters(make_model_dims<double>(m, nullptr)).active);
              }),
              whole("chips", Q::job_chips).def(1), dtype_input(), peak_input(), fraction("mfu", Q::job_mfu).def(1),
              number("price_usd_per_hour", Q::price).of("price_usd_per_chip_hour"),
              number("measured_s", Q::job_given_seconds), number("chip_hours", Q::job_given_chip_hours),
              number("achieved_flops_per_s", Q::job_achieved),
              number("hardware_flops_per_parameter", Q::job_hardware).def(8), number("known_days", Q::job_known_days),
              whole("known_chips", Q::job_known_chips)),
       {out("flops", Q::job_flops),
        out("flops_per_token", Q::job_flops_each),
        out("cluster_flops_per_s", Q::job_cluster),
        out("flops_per_s", Q::job_rate),
        out("flops_per_s_per_chip", Q::job_chip_rate),
        out("time_s", Q::job_seconds),
        out("days", Q::job_days),
        out("years", Q::job_years),
        out("chip_hours", Q::job_chip_hours),
        out("cost_usd", Q::job_cost),
        out("flops_per_usd", Q::job_flops_dollar),
        out("tokens_per_s", Q::job_tokens_s),
        out("measured_mfu", Q::job_measured_mfu),
        out("available_flops", Q::job_available),
        out("mfu_of_chip_hours", Q::job_hours_mfu),
        out("mfu_of_rate", Q::job_rate_mfu),
        out("aggregate_flops_per_s", Q::job_aggregate),
        out("hfu", Q::job_hfu),
        out("scaled_days", Q::job_scaled_days),
        out("scaled_years", Q::job_scaled_years)},
       run<double>,
       run<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
