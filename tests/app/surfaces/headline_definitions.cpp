#include "tests/app/surfaces/headline_definitions.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>

#include "engine/evaluate/evaluate.h"
#include "engine/hardware/roofline.h"
#include "engine/studies/cache_growth.h"
#include "engine/studies/layer_overlap.h"
#include "widgets/figures/figures.h"

namespace roofscape::tests {

using engine::CollectiveRow;
using engine::Q;
using engine::Report;
using engine::Scenario;
using engine::Strategy;

Columns::Columns(const std::string& data) : FigureTable(data) {
  for (const std::vector<std::string>& cells : rows)
    for (std::size_t i = 0; i < std::min(head.size(), cells.size()); ++i)
      if (!cells[i].empty())
        numbers[head[i]].push_back(cells[i] == "yes" ? 1 : std::strtod(cells[i].c_str(), nullptr));
}
const std::vector<double>& Columns::operator[](const std::string& column) const {
  static const std::vector<double> none;
  const auto it = numbers.find(column);
  return it == numbers.end() ? none : it->second;
}
bool Columns::has(const std::string& column, double value) const {
  const auto& all = (*this)[column];
  return std::find(all.begin(), all.end(), value) != all.end();
}
bool Columns::is_ratio(const std::string& column, const std::string& over, double value) const {
  for (const double x : (*this)[column])
    for (const double y : (*this)[over])
      if (y != 0 && near(x / y, value)) return true;
  return false;
}

namespace {

using Shown = ShownFigure;
using Definition = HeadlineDefinition;

double matmul_rate(const Report& r) {
  double flops = 0, seconds = 0;
  for (const engine::OperationRow& op : r.operations)
    if (engine::part_of(op.kind) == Q::step_matmul && op.flops > 0) flops += op.flops, seconds += op.time_s;
  return seconds > 0 ? flops / seconds : 0;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// ---- overlap: of the plan, or of a plain strategy that evaluate() is asked for ----

// The index of what is chosen for the option with this key.
std::size_t chosen(const Shown& x, std::string_view figure, std::string_view key) {
  const auto options = widgets::find_figure(figure)->options;
  const auto option = std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.key == key; });
  return x.view.choices[static_cast<std::size_t>(option - options.begin())];
}

Strategy strategy_of(const Shown& x) { return static_cast<Strategy>(chosen(x, "overlap", "strategy")); }
Report report_of(const Shown& x, Strategy strategy) {
  return strategy == Strategy::plan ? x.r : engine::evaluate(engine::with_strategy(x.s, strategy));
}
double both(const Report& r, Q forward, Q backward) {
  return r.quantities.value_or(forward, 0) + r.quantities.value_or(backward, 0);
}
double layer_seconds(const Report& r) { return both(r, Q::layer_time_forward, Q::layer_time_backward); }
double layer_exposed(const Report& r) { return both(r, Q::layer_exposed_forward, Q::layer_exposed_backward); }
// Of what layers expose, what a schedule of pairs hides: all that is exposed alone less what of it is left.
double share_in_pairs(const Report& r) { return 1 - r.quantities.value_or(Q::exposed_left, 1); }

double exposed_share(const Report& r) { return layer_exposed(r) / layer_seconds(r); }
double network_share(const Report& r) {
  return both(r, Q::layer_network_forward, Q::layer_network_backward) /
         both(r, Q::layer_work_forward, Q::layer_work_backward);
}

// ---- network: where arithmetic and transfers of a pass take as long as each other ----

bool backward_asked(const Shown& x) { return chosen(x, "network", "pass") == 1; }
bool book_asked(const Shown& x) { return chosen(x, "network", "layer") == 1; }

// The plan with so many times the tokens on a chip, microbatches as many as they are: larger ones, or where attention
// counts nothing longer ones. None where that is no whole number of sequences or tokens.
std::optional<Scenario> with_tokens(const Scenario& s, double factor, bool up) {
  Scenario out = s;
  const auto whole = [up](double v) { return up ? std::ceil(v) : std::floor(v); };
  const double sequences = whole(s.pipeline.microbatch_sequences * factor);
  if (s.pipeline.microbatch_sequences * factor >= 8 && sequences < 1e5) {
    out.pipeline.microbatch_sequences = static_cast<int>(sequences);
    out.workload.global_batch_sequences =
        out.workload.global_batch_sequences / s.pipeline.microbatch_sequences * out.pipeline.microbatch_sequences;
    return out;
  }
  if (s.assumptions.flops != engine::FlopsConvention::six_p) return std::nullopt;
  const double step = s.parallelism.context * s.parallelism.tensor;
  const double tokens = step * whole(s.workload.sequence_length * factor / step);
  if (tokens < step || tokens > 1e8) return std::nullopt;
  out.workload.sequence_length = static_cast<int>(tokens);
  return out;
}

// Whether a layer's transfers outlast its arithmetic just below so many tokens per chip, and do not just above: by
// evaluate() in ideal mode, where neither has parts that do not grow with the tokens but weights and gradients. A
// backward pass is twice the forward's arithmetic; what is reduced behind a pipeline hides under no layer.
bool is_crossing(const Shown& x, double tokens) {
  const bool backward = backward_asked(x);
  if (x.s.assumptions.mode != engine::Mode::ideal) return true;
  const double now = double(x.s.workload.global_batch_sequences) * x.s.workload.sequence_length / x.q(Q::chips_used);
  for (const bool above : {false, true}) {
    const auto beside = with_tokens(x.s, tokens / now, above);
    if (!beside) continue;
    const Report r = engine::evaluate(*beside);
    const auto network = r.quantities[backward ? Q::layer_network_backward : Q::layer_network_forward],
               arithmetic = r.quantities[Q::layer_math_forward];
    if (!network || !arithmetic) continue;
    const double math = *arithmetic * (backward ? 2 : 1);
    if (above ? *network > math * (1 + 1e-6) : *network < math * (1 - 1e-6)) return false;
  }
  return true;
}

// The book's block is what the report's bounds are of.
bool is_bound(const Shown& x, double tokens, bool mixed) {
  if (!book_asked(x) || backward_asked(x) || x.s.assumptions.mode != engine::Mode::ideal) return true;
  // All strategies use as many chips as the plan has; a bound is of the links that its own shards span.
  Scenario alone = x.s;
  alone.parallelism = {};
  alone.parallelism.fsdp = static_cast<int>(x.q(Q::chips_used));
  alone.placement = {};
  const Report r = engine::evaluate(alone);
  const auto bound = [&r](Q q) { return r.quantities.value_or(q, 0); };
  if (x.s.cluster.chip.interconnect == engine::Interconnect::torus) {
    std::vector<Q> any{Q::bound_fsdp_1, Q::bound_fsdp_2, Q::bound_fsdp_3};
    if (mixed) any.insert(any.end(), {Q::bound_mixed_sum, Q::bound_mixed_max});
    return std::any_of(any.begin(), any.end(), [&](Q q) { return near(tokens, bound(q), 1e-3); });
  }
  // Of switches the book counts an array whole, the figure without the part of n that a node or rank has: 1 - 1/n of
  // it. Of few nodes that can be the part inside a node, over its faster links. For splits of FSDP and tensor the book
  // has no bound; they need no more than FSDP alone.
  const double share = tokens / bound(Q::bound_fsdp_1);
  if (near(share, 1, 1e-3) || mixed) return near(share, 1, 1e-3) || share < 1;
  const double inside = bound(Q::nvlink_bandwidth) / bound(Q::node_bandwidth);
  return std::ranges::any_of(std::array{1.0, inside}, [share](double faster) {
    const double ranks = 1 / (1 - share * faster);
    return ranks > 1.5 && near(ranks, std::round(ranks), 1e-3);
  });
}

// ---- transfers of a step, axis by axis, from the report's collectives ----

engine::AxisArray<double> axis_seconds(const Shown& x) {
  engine::AxisArray<double> out{};
  for (const CollectiveRow& row : x.r.collectives) {
    // State that is sharded over context alone moves over context.
    const bool over_context = row.axis == engine::Axis::fsdp && x.s.parallelism.fsdp == 1;
    out[static_cast<std::size_t>(over_context ? engine::Axis::context : row.axis)] += row.time_s * row.calls_per_step;
  }
  return out;
}

// ---- the rest ----

// A collective's time over the bytes: hops alone at first, then bytes over a rate.
struct Regimes {
  double latency = 0, rate = 0;
};
std::vector<Regimes> regimes_of(const Columns& table) {
  std::vector<Regimes> out;
  const auto& bytes = table["bytes"];
  for (std::size_t i = 1; i < table.head.size() && !bytes.empty(); ++i) {
    const auto& seconds = table[table.head[i]];
    // The slopes at both ends: a latency is the longer of two regimes, or comes before the bytes.
    const std::size_t n = bytes.size();
    if (seconds.size() != n || n < 2) continue;
    const double early = (seconds[1] - seconds[0]) / (bytes[1] - bytes[0]);
    out.push_back({seconds[0] - early * bytes[0], (bytes[n - 1] - bytes[n - 2]) / (seconds[n - 1] - seconds[n - 2])});
  }
  return out;
}

// Of the line through the best chip of each year.
double years_to_double(const Columns& table, const std::string& rate) {
  std::map<double, double> best;
  for (const auto& row : table.rows)
    if (row.size() > 3 && row[2] == rate) {
      double& value = best[std::strtod(row[1].c_str(), nullptr)];
      value = std::max(value, std::log2(std::strtod(row[3].c_str(), nullptr)));
    }
  const double n = static_cast<double>(best.size());
  double x = 0, y = 0, xy = 0, xx = 0;
  for (const auto& [year, value] : best) x += year / n, y += value / n;
  for (const auto& [year, value] : best) xy += (year - x) * (value - y), xx += (year - x) * (year - x);
  return xx / xy;
}

std::vector<double> errors_near(const Columns& table) {
  std::vector<double> out;
  const auto &errors = table["error"], &near_plan = table["near"];
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (near_plan[i] == 1) out.push_back(errors[i]);
  return out;
}

// The first batch, or length, whose cache is no smaller than the weights.
bool cache_equals(const Shown& x, double at) {
  const auto cache_over_weights = [&](double v) {
    Scenario beside = x.s;
    if (x.table.head[1] == "batch")
      beside.workload.batch = static_cast<int>(v);
    else
      beside = engine::with_length(x.s, v);
    const Report r = engine::evaluate(beside);
    return r.quantities.value_or(Q::memory_kv_cache, 0) / r.quantities.value_or(Q::memory_weights, 1);
  };
  return cache_over_weights(at) >= 1 - 1e-9 && (at <= 1 || cache_over_weights(at - 1) < 1 + 1e-9);
}

// Of the differences of a comparison the smallest few.
bool is_small_rest(const Columns& table, double value) {
  std::vector<double> all = table["difference"];
  if (!all.empty()) all.pop_back();  // of the step
  std::sort(all.begin(), all.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  double sum = 0;
  for (const double one : all)
    if (std::abs((sum += one) - value) <= 1e-9 + 1e-6 * std::abs(value)) return true;
  return false;
}

// From so many rows on a matrix multiplication is at its peak, and under it with fewer.
bool is_critical_batch(const Columns& table, double critical) {
  const auto& rows = table["rows"];
  return std::any_of(table.head.begin() + 1, table.head.end(), [&](const std::string& name) {
    const auto& rate = table[name];
    const double peak = *std::max_element(rate.begin(), rate.end());
    for (std::size_t i = 0; i < rate.size(); ++i) {
      if (rows[i] < critical * (1 - 1e-6) && rate[i] >= peak) return false;
      if (rows[i] > critical * (1 + 1e-6) && rate[i] < peak * (1 - 1e-6)) return false;
    }
    return true;
  });
}

Definition between_errors() {
  return [](const Shown& x, double v) {
    const std::vector<double> errors = errors_near(x.table);
    if (errors.empty()) return false;
    const auto [low, high] = std::minmax_element(errors.begin(), errors.end());
    return v >= 1 / (1 + *high) * (1 - 1e-9) && v <= 1 / (1 + *low) * (1 + 1e-9);
  };
}

std::map<std::string, Definition> training_definitions() {
  return {
      {"checkpointing.arithmetic",
       [](const Shown& x, double v) {
         const double work = x.q(Q::step_matmul) + x.q(Q::step_attention);
         return near(v, work > 0 ? (work + x.q(Q::step_recompute)) / work : 1);
       }},
      {"comm-roofline.margin",
       [](const Shown& x, double v) {
         const double math = x.table["FLOP/byte"][0] * x.table["bytes per step"][0] / x.q(Q::peak_flops);
         double most = 0;
         for (const double seconds : axis_seconds(x)) most = std::max(most, seconds);
         return near(v, math / most);
       }},
      {"comm-roofline.forward",
       [](const Shown& x, double v) {
         double most = 0;
         for (const engine::AxisTransfers& axis : x.r.transfers) most = std::max(most, axis.forward_s);
         return near(v, most / x.q(Q::layer_work_forward));
       }},
      {"compare.rest", [](const Shown& x, double v) { return is_small_rest(x.table, v); }},
      {"memory-time.stage_bytes",
       [](const Shown& x, double v) {
         return std::any_of(x.r.stages.begin(), x.r.stages.end(),
                            [v](const engine::StageRow& stage) { return stage.memory_total_bytes == v; });
       }},
      {"memory-time.stage",
       [](const Shown& x, double v) { return v >= 0 && v < static_cast<double>(x.r.stages.size()); }},
      {"network.tokens_now",
       [](const Shown& x, double v) {
         return near(v,
                     double(x.s.workload.global_batch_sequences) * x.s.workload.sequence_length / x.q(Q::chips_used));
       }},
      {"network.plan_from", is_crossing},
      // Of a step, after its last microbatch and before the update.
      {"network.hidden_in_pairs", [](const Shown& x, double v) { return near(v, share_in_pairs(x.r)); }},
      {"overlap.hidden_in_pairs",
       [](const Shown& x, double v) { return near(v, share_in_pairs(report_of(x, strategy_of(x)))); }},
      {"network.end",
       [](const Shown& x, double v) { return near(v, x.r.pipeline.step_end_s - x.q(Q::step_optimizer)); }},
      {"network.fsdp_from", [](const Shown& x, double v) { return is_bound(x, v, false); }},
      {"network.mixed_from", [](const Shown& x, double v) { return is_bound(x, v, true); }},
      {"overlap.layer",
       [](const Shown& x, double v) { return near(v, layer_seconds(report_of(x, strategy_of(x)))); }},
      {"overlap.exposed",
       [](const Shown& x, double v) { return near(v, layer_exposed(report_of(x, strategy_of(x)))); }},
      {"overlap.exposed_share",
       [](const Shown& x, double v) { return near(v, exposed_share(report_of(x, strategy_of(x)))); }},
      {"overlap.network_share",
       [](const Shown& x, double v) { return near(v, network_share(report_of(x, strategy_of(x)))); }},
      {"overlap.plan_exposed_share", [](const Shown& x, double v) { return near(v, exposed_share(x.r)); }},
      {"overlap.plan_network_share", [](const Shown& x, double v) { return near(v, network_share(x.r)); }},
      {"overlap.least_exposed_share",
       [](const Shown& x, double v) {
         double least = std::numeric_limits<double>::infinity();
         for (const Strategy one : {Strategy::data, Strategy::fsdp, Strategy::hybrid, Strategy::tensor})
           if (const Report r = report_of(x, one); !r.has_errors()) least = std::min(least, exposed_share(r));
         return near(v, least);
       }},
      // Of a step, after its layers: gradients, embedding and output head.
      {"overlap.elsewhere",
       [](const Shown& x, double v) {
         return near(v, x.q(Q::step_data) + x.q(Q::step_fsdp) + x.q(Q::step_tensor) + x.q(Q::step_context) +
                            x.q(Q::step_expert));
       }},
      {"pipeline.stages", [](const Shown& x, double v) { return v == x.s.parallelism.pipeline; }},
      {"scaling.of_linear",
       [](const Shown& x, double v) { return x.table.is_ratio("tokens per s", "ideal tokens per s", v); }},
      {"schedules.shorter", [](const Shown& x, double v) { return x.table.is_ratio("step s", "step s", 1 - v); }},
  };
}

std::map<std::string, Definition> serving_definitions() {
  return {
      {"kv.equal", cache_equals},
      {"prefill-decode.balance",
       [](const Shown& x, double v) {
         const double prefill = x.table["prefill requests per s"][0] / x.table["prefill chips"][0],
                      decode = x.table["decoding requests per s"][0] / x.table["decoding chips"][0];
         return near(v, decode / prefill);
       }},
      {"prefill-decode.of_best",
       [](const Shown& x, double v) {
         return x.table.is_ratio("requests per s and chip", "requests per s and chip", v);
       }},
      {"prefill-decode.of_shared",
       [](const Shown& x, double v) {
         const auto& all = x.table["requests per s and chip"];
         return near(v, *std::max_element(all.begin(), all.end()) * x.q(Q::decode_chips) / x.q(Q::capacity_requests));
       }},
      {"serving-memory.more",
       [](const Shown& x, double v) { return v == x.q(Q::max_batch) - static_cast<double>(x.s.workload.batch); }},
      // From there on FLOPs take longer than the weights that they need.
      {"serving-roofline.critical_batch",
       [](const Shown& x, double v) {
         return x.s.assumptions.mode != engine::Mode::ideal || near(v, x.q(Q::critical_sequences));
       }},
      {"serving-roofline.reached",
       [](const Shown& x, double v) {
         return x.s.assumptions.mode != engine::Mode::ideal ||
                near(v, x.q(Q::decode_flops_time) / x.q(Q::decode_linear));
       }},
  };
}

// Of the rows for whole kinds of runs: one column over another.
double covered(const Columns& table, const std::string& inside, const std::string& banded) {
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(table.head.begin(), table.head.end(), name) - table.head.begin());
  };
  double n = 0, of = 0;
  for (const std::vector<std::string>& row : table.rows)
    if (row.front().find(' ') == std::string::npos)
      n += std::strtod(row[column(inside)].c_str(), nullptr), of += std::strtod(row[column(banded)].c_str(), nullptr);
  return n / of;
}

std::map<std::string, Definition> other_definitions() {
  return {
      {"collective.crossing",
       [](const Shown& x, double v) {
         const std::vector<Regimes> all = regimes_of(x.table);
         return std::any_of(all.begin(), all.end(), [v](const Regimes& r) { return near(v, r.latency * r.rate); });
       }},
      {"collective.rate",
       [](const Shown& x, double v) {
         const std::vector<Regimes> all = regimes_of(x.table);
         return std::any_of(all.begin(), all.end(), [v](const Regimes& r) { return near(v, r.rate); });
       }},
      // What the plan's own exchanges of tokens or heads reach.
      {"collective.exchange",
       [](const Shown& x, double v) {
         if (x.s.assumptions.mode != engine::Mode::ideal || x.s.serves()) return true;
         return std::any_of(x.r.collectives.begin(), x.r.collectives.end(), [v](const CollectiveRow& row) {
           return row.kind == engine::CollectiveKind::all_to_all && near(v, row.bytes / row.time_s);
         });
       }},
      {"evidence.runs", [](const Shown& x, double v) { return v == static_cast<double>(x.table["error"].size()); }},
      {"evidence.inside", [](const Shown& x, double v) { return near(v, covered(x.table, "inside", "with band")); }},
      {"evidence.held",
       [](const Shown& x, double v) {
         return near(v, covered(x.table, "inside without model", "with band without model"));
       }},
      {"evidence.near",
       [](const Shown& x, double v) { return v == static_cast<double>(errors_near(x.table).size()); }},
      {"evidence.median",
       [](const Shown& x, double v) {
         std::vector<double> errors = x.table["error"];
         for (double& e : errors) e = std::abs(e);
         return near(v, median(std::move(errors)));
       }},
      {"evidence.longer", [](const Shown& x, double v) { return near(v, 1 / (1 + median(x.table["error"]))); }},
      {"evidence.longer_near", between_errors()},
      {"generations.doubling_years",
       [](const Shown& x, double v) {
         return std::any_of(x.table.rows.begin(), x.table.rows.end(),
                            [&](const auto& row) { return near(v, years_to_double(x.table, row[2])); });
       }},
      {"ladder.slower", [](const Shown& x, double v) { return x.table.is_ratio("bytes/s", "bytes/s", v); }},
      {"matmul.critical_rows", [](const Shown& x, double v) { return is_critical_batch(x.table, v); }},
      {"matmul.rows",
       [](const Shown& x, double v) {
         return x.s.serves() || near(v, double(x.s.pipeline.microbatch_sequences) * x.s.workload.sequence_length /
                                            x.s.parallelism.context);
       }},
      {"parameters.largest",
       [](const Shown& x, double v) {
         const auto& params = x.table["parameters"];
         return near(v, *std::max_element(params.begin(), params.end()) / x.q(Q::params_total));
       }},
      {"roofline.matmuls", [](const Shown& x, double v) { return near(v, matmul_rate(x.r) / x.q(Q::peak_flops)); }},
      {"roofline.hbm_share",
       [](const Shown& x, double v) {
         double share = 0;
         for (const engine::OperationRow& op : x.r.operations)
           if (!engine::is_vector_operation(op.kind) && op.flops > 0 &&
               op.intensity_flop_per_byte < x.q(Q::peak_flops) / x.q(Q::hbm_bandwidth))
             share += op.share_of_step;
         return near(v, std::min(1.0, share));
       }},
      {"roofline.measured",
       [](const Shown& x, double v) {
         double least = 0, taken = 0;
         for (const engine::MeasuredOperation& op : x.input.measured) {
           least += std::max(op.flops / x.q(Q::peak_flops), op.bytes / x.q(Q::hbm_bandwidth));
           taken += op.seconds;
         }
         return near(v, least / taken);
       }},
      {"search.against_best",
       [](const Shown& x, double v) {
         // Of all chips together where plans use several numbers of them.
         const bool together = x.table.numbers.contains("tokens per s");
         const char* column = !x.s.serves() ? "step s" : together ? "tokens per s" : "tokens per s and chip";
         return x.table.is_ratio(column, column, 1 + v);
       }},
      // Counted by the search; its own tests enumerate the spaces.
      {"search.plans", [](const Shown&, double v) { return v > 0 && v == std::floor(v); }},
      {"sharded-matmul.ranks",
       [](const Shown& x, double v) { return v == (x.s.parallelism.tensor > 1 ? x.s.parallelism.tensor : 4); }},
  };
}

}  // namespace

const std::map<std::string, HeadlineDefinition>& headline_definitions() {
  static const std::map<std::string, HeadlineDefinition> all = [] {
    auto out = other_definitions();
    out.merge(training_definitions());
    out.merge(serving_definitions());
    return out;
  }();
  return all;
}

}  // namespace roofscape::tests
