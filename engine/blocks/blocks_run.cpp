// Runs: time, utilisation, cost; what a published utilisation may mean.
#include <array>
#include <cmath>
#include <string>

#include "engine/base/time_units.h"
#include "engine/blocks/spec.h"
#include "engine/model/layer_operations.h"
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
  io.out(Q::job_flops_dollar, C * constant<S>(kSecondsPerHour, unit::seconds_each) / io[Q::price]);
  io.out(Q::job_tokens_s, B / seconds);
  (void)days;
  // What a measured run made of its chips.
  const S given = io.out(Q::job_measured_mfu, utilisation(flops, n, C, io[Q::job_given_seconds]));
  (void)given;
  const S available =
      io.out(Q::job_available, io[Q::job_given_chip_hours] * constant<S>(kSecondsPerHour, unit::seconds_each) * C);
  io.out(Q::job_hours_mfu, flops / available);
  io.out(Q::job_rate_mfu, io[Q::job_achieved] / C);
  io.out(Q::job_aggregate, n * io[Q::job_achieved]);
  io.out(Q::job_hfu, u * io[Q::job_hardware] / six);
  // A run of known length on another number of chips, as fast a chip.
  const S scaled = io.out(Q::job_scaled_days, io[Q::job_known_days] * io[Q::job_known_chips] / n);
  io.out(Q::job_scaled_years, scaled / constant<S>(kDaysPerYear));
}

// What is counted as the FLOPs of a token: the ways in which publications count, model FLOPs first, then those of the
// hardware where all layers are computed again.
struct Reading {
  std::string_view id, of_sparse_peak;
  Q flops, share;
};
constexpr std::array<Reading, 6> kReadings{
    {{"6p", "6p-of-sparse-peak", Q::mfu_flops_6p, Q::mfu_6p},
     {"full-attention", "full-attention-of-sparse-peak", Q::mfu_flops_full, Q::mfu_full},
     {"causal-attention", "causal-attention-of-sparse-peak", Q::mfu_flops_causal, Q::mfu_causal},
     {"8p", "8p-of-sparse-peak", Q::mfu_flops_8p, Q::mfu_hfu_8p},
     {"full-attention-recomputed", "full-attention-recomputed-of-sparse-peak", Q::mfu_flops_full_again,
      Q::mfu_hfu_full},
     {"causal-attention-recomputed", "causal-attention-recomputed-of-sparse-peak", Q::mfu_flops_causal_again,
      Q::mfu_hfu_causal}}};
constexpr auto kReadingWords = [] {
  std::array<std::string_view, 2 * kReadings.size()> words;
  for (std::size_t i = 0; i < kReadings.size(); ++i)
    words[i] = kReadings[i].id, words[kReadings.size() + i] = kReadings[i].of_sparse_peak;
  return words;
}();

// What is published of a run; NaN: it is not.
struct PublishedRun {
  double tokens_per_s, share, flops_per_s, peak, sparse_peak;
  bool any() const { return std::isfinite(share) || std::isfinite(flops_per_s); }
  // How far a reading is from it, as a factor's logarithm.
  double apart(double flops, double of_peak) const {
    double sum = 0;
    if (std::isfinite(share)) sum += std::abs(std::log(flops * tokens_per_s / of_peak / share));
    if (std::isfinite(flops_per_s)) sum += std::abs(std::log(flops * tokens_per_s / flops_per_s));
    return sum;
  }
};

void list_readings(const std::array<double, kReadings.size()>& flops, const PublishedRun& run, BlockTable& table) {
  const bool rate = std::isfinite(run.tokens_per_s), peak = std::isfinite(run.peak);
  const bool from_share = std::isfinite(run.share) && peak, from_rate = std::isfinite(run.flops_per_s);
  table.columns = {"reading", "flops_per_token"};
  if (rate) table.columns.push_back("flops_per_s_per_chip");
  if (rate && peak) table.columns.push_back("mfu"), table.columns.push_back("mfu_of_sparse_peak");
  if (from_share) table.columns.push_back("tokens_per_s_per_chip_of_published_mfu");
  if (from_rate) table.columns.push_back("tokens_per_s_per_chip_of_published_flops");
  for (std::size_t i = 0; i < kReadings.size(); ++i) {
    if (!std::isfinite(flops[i])) continue;
    std::vector<Cell> row{std::string(kReadings[i].id), flops[i]};
    const double achieved = flops[i] * run.tokens_per_s;
    if (rate) row.emplace_back(achieved);
    if (rate && peak) row.emplace_back(achieved / run.peak), row.emplace_back(achieved / run.sparse_peak);
    if (from_share) row.emplace_back(run.share * run.peak / flops[i]);
    if (from_rate) row.emplace_back(run.flops_per_s / flops[i]);
    table.rows.push_back(std::move(row));
  }
}

template <Scalar S>
void mfu(BlockRun<S>& io) {
  if (!is_possible(io)) return;
  const ModelDims<S> m = dims_of(io);
  const Parameters<S> p = count_parameters(m);
  const S six = constant<S>(6, unit::flop_each), eight = constant<S>(8, unit::flop_each), three = constant<S>(3);
  const S T = io[Q::flops_query], P = io[Q::dec_active];
  const Inputs<S> in = alone(io, m, T);
  const S logits = six * m.d_model * m.vocab_size;
  const S full = training_flops_per_token(in, p, FlopsConvention::exact),
          causal = training_flops_per_token(in, p, FlopsConvention::exact_causal);
  const std::array<S, kReadings.size()> flops{
      six * P, full, causal, eight * P, full + (full - logits) / three, causal + (causal - logits) / three};
  const S tokens = io[Q::mfu_tokens], peak = io[Q::peak_flops];
  std::array<double, kReadings.size()> counted{};
  for (std::size_t i = 0; i < kReadings.size(); ++i) {
    const S each = io.out(kReadings[i].flops, flops[i]);
    counted[i] = value_of(each);
    io.out(kReadings[i].share, each * tokens / peak);
  }
  const PublishedRun run{value_of(tokens), value_of(io[Q::mfu_published]), value_of(io[Q::mfu_published_rate]),
                         value_of(peak), value_of(peak) * value_of(io[Q::mfu_sparse_factor])};
  list_readings(counted, run, io.table);
  if (!std::isfinite(run.tokens_per_s)) return io.rest_needs("tokens_per_s_per_chip");
  if (!run.any()) return io.rest_needs("published_mfu");
  if (std::isfinite(run.share) && !std::isfinite(run.peak)) return io.rest_needs("peak_flops_per_s");
  for (const char* size :
       {"sequence_length", "active_parameters", "n_layers", "d_model", "d_ff", "n_heads", "d_head", "vocab_size"})
    if (!io.value(size).is_known()) return io.rest_needs(size);
  std::string_view nearest;
  double least = std::numeric_limits<double>::infinity(), off = 0;
  for (const bool sparse : {false, true}) {
    if (sparse && !std::isfinite(run.share)) break;  // FLOP/s are of no peak
    const double of_peak = sparse ? run.sparse_peak : run.peak;
    for (std::size_t i = 0; i < kReadings.size(); ++i) {
      const double apart = run.apart(counted[i], of_peak);
      if (apart >= least) continue;
      least = apart;
      nearest = sparse ? kReadings[i].of_sparse_peak : kReadings[i].id;
      off = counted[i] * run.tokens_per_s / (std::isfinite(run.share) ? run.share * of_peak : run.flops_per_s) - 1;
    }
  }
  io.say("reading", std::string(nearest));
  io.simulated(Q::mfu_apart, -1, off);
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
      {"mfu",
       "Chowdhery 2022, appendix B",
       inputs(model_inputs(), expert_inputs(), window_inputs(), whole("sequence_length", Q::flops_query),
              parameters_input(), active_parameters_input(), dtype_input(), peak_input(),
              number("tokens_per_s_per_chip", Q::mfu_tokens), fraction("published_mfu", Q::mfu_published),
              number("published_achieved_flops_per_s", Q::mfu_published_rate),
              number("sparse_factor", Q::mfu_sparse_factor).def(2)),
       {out_said("reading", kReadingWords), out("apart", Q::mfu_apart), out("mfu_6p", Q::mfu_6p),
        out("mfu_full_attention", Q::mfu_full), out("mfu_causal_attention", Q::mfu_causal),
        out("hfu_8p", Q::mfu_hfu_8p), out("hfu_full_attention", Q::mfu_hfu_full),
        out("hfu_causal_attention", Q::mfu_hfu_causal), out("flops_6p", Q::mfu_flops_6p),
        out("flops_full_attention", Q::mfu_flops_full), out("flops_causal_attention", Q::mfu_flops_causal),
        out("flops_8p", Q::mfu_flops_8p), out("flops_full_attention_recomputed", Q::mfu_flops_full_again),
        out("flops_causal_attention_recomputed", Q::mfu_flops_causal_again), out_table("readings")},
       mfu<double>,
       mfu<Traced>},
  };
}

}  // namespace roofscape::engine::block_table
