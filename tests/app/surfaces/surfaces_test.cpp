// A plan has one answer: every surface that shows a number of a scenario shows the one evaluate() gives, to the last
// bit where it is the same number. Checked over random scenarios of both workloads in all modes, on every chip.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/core/report_text.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/explain.h"
#include "engine/io/export/report_json.h"
#include "engine/io/export/sweep.h"
#include "engine/io/export/trace_json.h"
#include "engine/io/import/import_launch.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "tests/app/surfaces/any_scenario.h"
#include "tests/app/surfaces/figure_table.h"
#include "tests/engine/fixtures.h"
#include "tests/english.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/doubts.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using engine::Mode;
using engine::Q;
using engine::Report;
using engine::Scenario;
using tests::copied_table;
using tests::FigureTable;
using tests::number_in;
using Json = nlohmann::json;

namespace {

// A surface's first number that is not the report's, in words; empty: none.
using Difference = std::string;

int surface_cases() {
  const char* wanted = std::getenv("ROOFSCAPE_SURFACE_CASES");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 100;
}

bool has_slot(Q q) { return !engine::is_indexed(engine::quantity(q)); }

std::string shown(std::optional<double> x) { return x ? fmt::format("{}", *x) : "nothing"; }

Difference difference(std::string_view surface, std::string_view what, std::optional<double> there,
                      std::optional<double> here) {
  if (there == here) return {};
  return fmt::format("{}: {} is {}, evaluate() says {}", surface, what, shown(there), shown(here));
}
// The same number by another route of arithmetic, or in whole picoseconds.
Difference near_difference(std::string_view surface, std::string_view what, double there, double here,
                           double tolerance = 1e-9) {
  if (std::abs(there - here) <= tolerance * std::max(std::abs(here), 1e-9)) return {};
  return fmt::format("{}: {} is {}, evaluate() says {}", surface, what, there, here);
}

Difference eval_json(const Scenario& s, const Report& r) {
  const Json whole = Json::parse(io::report_json(s, r, tests::library()));
  const Json& quantities = whole.at("quantities");
  const Json& collectives = whole.at("collectives");
  if (collectives.size() != r.collectives.size()) return "eval --json: collectives are missing";
  for (std::size_t i = 0; i < r.collectives.size(); ++i) {
    const engine::CollectiveRow& row = r.collectives[i];
    const std::pair<std::string, double> cells[]{
        {"bytes", row.bytes}, {"experts_bytes", row.experts_bytes}, {"time_s", row.time_s}};
    for (const auto& [name, here] : cells)  // of experts where they send some
      if (Difference d = difference("eval --json", name, collectives[i].value(name, 0.0), here); !d.empty()) return d;
  }
  const engine::QuantityValues values = engine::all_quantities(s, r);
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i) {
    const Q q = static_cast<Q>(i);
    const auto it = quantities.find(engine::quantity(q).id);
    if (it == quantities.end()) {
      if (has_slot(q) && r.quantities[q]) return fmt::format("eval --json: {} is missing", engine::quantity(q).id);
      continue;
    }
    const Json& value = it->at("value");
    const auto there = value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
    if (Difference d = difference("eval --json", engine::quantity(q).id, there, values[q]); !d.empty()) return d;
    if (value.is_null() && !it->contains("reason"))
      return fmt::format("eval --json: {} has no reason", engine::quantity(q).id);
  }
  return {};
}

// A saved scenario is the same plan.
Difference saved_file(const Scenario& s, const Report& r) {
  const auto again = io::read_scenario(io::write_scenario(s, tests::library()), "saved.json", tests::library());
  if (!again) return "saved file: " + test::in_english(again.error());
  const Report there = engine::evaluate(again.value());
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i)
    if (Difference d = difference("saved file", engine::kQuantities[i].id, there.quantities[static_cast<Q>(i)],
                                  r.quantities[static_cast<Q>(i)]);
        !d.empty())
      return d;
  return {};
}

Difference sweep(const Scenario& s, const Report& r) {
  std::vector<Q> quantities;
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i)
    if (has_slot(static_cast<Q>(i))) quantities.push_back(static_cast<Q>(i));
  const std::string own = std::to_string(s.parallelism.tensor);
  const auto table = io::run_sweep(s, {{"parallelism.tensor", {own}}}, quantities, tests::library());
  if (!table || table->rows.size() != 1) return "sweep: no row";
  const engine::SweepRow& row = table->rows[0];
  const engine::QuantityValues values = engine::all_quantities(s, r);
  for (std::size_t i = 0; i < quantities.size(); ++i)
    if (Difference d =
            difference("sweep", engine::quantity(quantities[i]).id, row.quantities[i], values[quantities[i]]);
        !d.empty())
      return d;
  if (row.error.empty() == r.has_errors()) return "sweep: an error that is none, or none where there is one";
  if (!r.has_errors() && row.bound != r.bound.id()) return "sweep: bound by " + row.bound;
  if (!r.has_errors() && row.fits != r.fits()) return "sweep: fits";
  return {};
}

Difference derivations(const Scenario& s, const Report& r) {
  const engine::Recording recording(s);
  for (const Q q :
       {Q::step_time, Q::mfu, Q::hfu, Q::memory_total, Q::tokens_per_s, Q::run_cost, Q::time_per_output_token,
        Q::serving_tokens_per_s, Q::ttft, Q::params_total, Q::mixed_token_time_q, Q::sustained_tokens,
        Q::sustained_tokens_per_chip, Q::sustained_cost, Q::steady_batch}) {
    const auto d = recording.explain(engine::quantity(q).id);
    const auto there = d && !d->lines.empty() ? std::optional(d->lines[0].value) : std::nullopt;
    if (Difference wrong = difference("explain", engine::quantity(q).id, there, r.quantities[q]); !wrong.empty())
      return wrong;
  }
  return {};
}

// What the table for a terminal says in numbers is the report's value as a person reads it.
Difference eval_text(const Scenario& s, const Report& r) {
  const std::string text = app::report_text(s, r, widgets::testing::english());
  if (text.find("nan") != std::string::npos || text.find("inf ") != std::string::npos) return "eval: NaN or infinity";
  for (const Q q : {Q::step_time, Q::mfu, Q::memory_total, Q::time_per_output_token, Q::serving_tokens_per_s,
                    Q::mixed_token_time_q, Q::sustained_tokens, Q::sustained_tokens_per_chip, Q::steady_batch}) {
    const auto value = r.quantities[q];
    if (!value) continue;
    const std::string wanted = widgets::testing::english().amount(*value, engine::quantity(q).unit);
    if (text.find(wanted) == std::string::npos)
      return fmt::format("eval: {} {} is not there", engine::quantity(q).id, wanted);
  }
  return {};
}

void pin(engine::Allowed& dimension, double value) { dimension = {value, value, {}}; }

Difference training_search(const Scenario& s, const Report& r) {
  engine::SearchRequest request;
  request.space = engine::space_of(s);
  const engine::Plan plan = engine::plan_of(s);
  engine::PlanSpace& space = request.space;
  pin(space.data, plan.data), pin(space.fsdp, plan.fsdp), pin(space.tensor, plan.tensor);
  pin(space.context, plan.context), pin(space.pipeline, plan.pipeline), pin(space.expert, plan.expert);
  pin(space.microbatch, plan.microbatch_sequences), pin(space.virtual_stages, plan.virtual_stages);
  pin(space.zero_stage, plan.zero_stage), pin(space.sequence_parallel, plan.sequence_parallel);
  pin(space.offload_optimizer, plan.offload_optimizer), pin(space.offload_activations, plan.offload_activations);
  pin(space.schedule, static_cast<int>(plan.schedule)), pin(space.policy, static_cast<int>(plan.policy));
  space.tensor_across_nodes = true;
  const engine::SearchResult result = engine::search(s, request);
  std::vector<const engine::RankedPlan*> rows{&result.present};
  for (const engine::RankedPlan& one : result.best)
    if (one.plan == plan) rows.push_back(&one);
  for (const engine::RankedPlan& one : result.front)
    if (one.plan == plan) rows.push_back(&one);
  const auto chunkings = engine::SpaceChoices(s, request.space).chunkings(plan.pipeline);
  const bool in_space = std::any_of(chunkings.begin(), chunkings.end(), [&](const auto& c) {
    return c.kind == plan.schedule && c.virtual_stages == plan.virtual_stages;
  });
  if (result.finished && !r.has_errors() && r.fits() && rows.size() == 1 && plan.pipeline > 1 && in_space)
    return "search: the plan is not found where nothing else is allowed";
  const bool runs = !r.has_errors();
  if (result.finished && result.present_legal != runs) return "search: whether the present plan can run";
  for (const engine::RankedPlan* row : rows) {
    const auto check = [&](std::string_view what, double there, Q q) {
      return difference("search row", what, there, r.quantities.value_or(q, 0));
    };
    for (Difference d : {check("step time", row->step_time_s, Q::step_time),
                         check("memory", row->memory_bytes, Q::memory_total), check("MFU", row->mfu, Q::mfu),
                         check("tokens per second per chip", row->tokens_per_s_per_chip, Q::tokens_per_s_per_chip)})
      if (!d.empty()) return d;
    for (std::size_t i = 0; i < engine::kStepParts.size(); ++i)
      if (Difference d = check(engine::quantity(engine::kStepParts[i]).id, row->step_parts[i], engine::kStepParts[i]);
          !d.empty())
        return d;
  }
  return {};
}

Difference serving_search(const Scenario& s, const Report& r) {
  engine::ServingRequest request;
  const engine::DecodingPlan plan = engine::decoding_plan_of(s);
  pin(request.data, plan.data), pin(request.tensor, plan.tensor), pin(request.expert, plan.expert);
  pin(request.pipeline, plan.pipeline), pin(request.batch, plan.batch);
  const engine::ServingSearchResult result = engine::search_serving(s, request);
  if (!result.finished) return {};
  std::vector<const engine::RankedDecoding*> rows;
  if (!r.has_errors()) rows.push_back(&result.present);
  for (const engine::RankedDecoding& one : result.best)
    if (one.plan == plan && s.parallelism.fsdp == 1) rows.push_back(&one);
  for (const engine::RankedDecoding* row : rows)
    for (const auto& [value, q] : {std::pair{row->chip_bytes, Q::memory_total},
                                   {row->ttft_s, Q::ttft},
                                   {row->token_s, Q::mixed_token_time_q},
                                   {row->tokens_per_s, Q::sustained_tokens},
                                   {row->tokens_per_s_per_chip, Q::sustained_tokens_per_chip},
                                   {row->decode_token_s, Q::time_per_output_token},
                                   {row->decode_tokens_per_s, Q::serving_tokens_per_s},
                                   {row->in_flight, Q::steady_batch}})
      if (Difference d = difference("serving search row", engine::quantity(q).id, value, r.quantities.value_or(q, 0));
          !d.empty())
        return d;
  return {};
}

// Every figure: where a cell or a column names a quantity of the report, its number is the report's.
Difference figures_by_id(const Scenario& s, const Report& r, const widgets::FigureInput& input) {
  for (const widgets::FigureRow& row : widgets::figures()) {
    if (!widgets::shows(row, s) || widgets::is_searched(row.needs) || row.name == "mesh-map" || row.name == "queue")
      continue;
    const FigureTable table = copied_table(row, input);
    for (const auto& cells : table.rows) {
      const auto q = engine::find_quantity(cells[0]);
      if (!q || cells.size() < 2) continue;
      if (Difference d = difference(row.name, cells[0], number_in(cells[1]), r.quantities.value_or(*q, 0));
          !d.empty())
        return d;
    }
    if (row.name != "memory" || table.rows.empty()) continue;
    const auto& fullest = table.rows[static_cast<std::size_t>(r.fullest_stage)];
    for (std::size_t i = 0; i < table.head.size(); ++i)
      if (const auto q = engine::find_quantity(table.head[i]))
        if (Difference d = difference("memory", table.head[i], number_in(fullest[i]), r.quantities.value_or(*q, 0));
            !d.empty())
          return d;
  }
  return {};
}

// Figures whose rows are other plans or points: that of the scenario itself has its numbers.
Difference training_figures(const Scenario& s, const Report& r, const widgets::FigureInput& input) {
  const auto table = [&](const char* name) { return copied_table(*widgets::find_figure(name), input); };
  const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
  const FigureTable roofline = table("roofline");
  double share = 0;
  for (std::size_t i = 0; i < r.operations.size(); ++i) {
    const engine::OperationRow& op = r.operations[i];
    for (Difference d : {difference("roofline", "time", number_in(roofline.rows[i][5]), op.time_s),
                         difference("roofline", "FLOP/s", number_in(roofline.rows[i][4]), op.achieved_flop_per_s)})
      if (!d.empty()) return d;
    if (Difference d = difference("roofline", "share of an operation", op.share_of_step, op.time_s / q(Q::step_time));
        !d.empty())
      return d;
    // Where kernels have times of their own, looking up embeddings is HBM traffic.
    const bool lookup = op.kind == engine::OperationKind::embedding;
    const Q part = engine::part_of(op.kind);
    if ((part == Q::step_matmul && !lookup) || part == Q::step_attention) share += op.share_of_step;
  }
  const double worked = q(Q::step_matmul) + q(Q::step_attention) + q(Q::step_recompute);
  // At peak rates an operation that waits for HBM takes longer than its part of the step, which lists that apart.
  if (s.assumptions.mode != Mode::ideal)
    if (Difference d = near_difference("roofline", "share of the step", share, worked / q(Q::step_time)); !d.empty())
      return d;
  for (const auto& row : table("scaling").rows)
    if (number_in(row[0]) == q(Q::chips_used) && row[6].empty())
      for (Difference d : {difference("scaling", "tokens per s", number_in(row[1]), q(Q::tokens_per_s)),
                           difference("scaling", "MFU", number_in(row[2]), q(Q::mfu))})
        if (!d.empty()) return d;
  for (const auto& row : table("schedules").rows)
    if (row[0] == engine::schedule_id(s.pipeline.schedule) && number_in(row[1]) == s.pipeline.virtual_stages &&
        row[2] == "yes")
      for (Difference d : {difference("schedules", "makespan", number_in(row[3]),
                                      static_cast<double>(r.pipeline.timeline.makespan) * 1e-12),
                           difference("schedules", "idle share", number_in(row[4]), q(Q::pipeline_bubble_fraction)),
                           difference("schedules", "step", number_in(row[6]), q(Q::step_time)),
                           difference("schedules", "memory", number_in(row[7]), q(Q::memory_total))})
        if (!d.empty()) return d;
  const bool by_segments = engine::facts_of(s.checkpointing.policy).count == engine::CheckpointCount::segments;
  const std::string segments = by_segments ? std::to_string(s.checkpointing.segments) : std::string();
  for (const auto& row : table("checkpointing").rows)
    if (row[0] == engine::policy_id(s.checkpointing.policy) && row[1] == segments)
      for (Difference d : {difference("checkpointing", "memory", number_in(row[2]), q(Q::memory_total)),
                           difference("checkpointing", "recomputation", number_in(row[3]), q(Q::step_recompute)),
                           difference("checkpointing", "step", number_in(row[4]), q(Q::step_time))})
        if (!d.empty()) return d;
  double most = 0;
  for (const auto& row : table("memory-time").rows) most = std::max(most, number_in(row[2]));
  if (most > 0 && s.parallelism.pipeline == 1)
    if (Difference d = near_difference("memory-time", "peak", most, q(Q::memory_total)); !d.empty()) return d;
  const FigureTable topology = table("topology");
  for (const auto& row : topology.rows)
    for (const engine::AxisPlacement& p : r.placement)
      if (row[0] == engine::kAxisIds[p.axis])
        if (Difference d = difference("topology", row[0], number_in(row[6]), p.bandwidth_bytes_per_s); !d.empty())
          return d;
  double params = 0;
  for (const auto& row : table("parameters").rows) params += number_in(row[1]);
  return near_difference("parameters", "total", params, q(Q::params_total));
}

Difference serving_figures(const Scenario& s, const Report& r, const widgets::FigureInput& input) {
  const auto q = [&r](Q id) { return r.quantities.value_or(id, 0); };
  const FigureTable trade = copied_table(*widgets::find_figure("latency-throughput"), input);
  for (const auto& row : trade.rows)
    if (number_in(row[0]) == s.parallelism.tensor && number_in(row[1]) == s.parallelism.data &&
        number_in(row[2]) == s.workload.batch)
      for (const auto& [cell, id] : {std::pair{std::size_t{3}, Q::mixed_token_time_q},
                                     {std::size_t{4}, Q::sustained_tokens_per_chip},
                                     {std::size_t{5}, Q::memory_total},
                                     {std::size_t{6}, Q::ttft},
                                     {std::size_t{7}, Q::time_per_output_token},
                                     {std::size_t{8}, Q::serving_tokens_per_chip}})
        if (Difference d = difference("latency-throughput", engine::quantity(id).id, number_in(row[cell]), q(id));
            !d.empty())
          return d;
  return {};
}

// The last slice of a trace ends when the step does.
Difference trace(const Scenario& s, const Report& r) {
  const auto text = io::trace_json(s, r);
  const auto step = r.quantities[Q::step_time];
  if (!text) return {};
  if (!step) return "trace: of a plan that has no step";
  double end = 0;
  const Json written = Json::parse(text.value());
  for (const Json& e : written.at("traceEvents"))
    if (e.at("ph") == "X") end = std::max(end, e.at("ts").get<double>() + e.at("dur").get<double>());
  if (std::abs(end * 1e-6 - *step) <= 1e-6 * *step + 1e-9) return {};
  return fmt::format("trace: ends at {} s, the step takes {} s", end * 1e-6, *step);
}

Difference first_difference(const Scenario& s) {
  const Report r = engine::evaluate(s);
  using Surface = Difference (*)(const Scenario&, const Report&);
  constexpr Surface kBoth[]{eval_json, saved_file, sweep, derivations, eval_text};
  for (const Surface surface : kBoth)
    if (Difference d = surface(s, r); !d.empty()) return d;
  if (s.workload.global_batch_sequences <= 256)  // longer traces take their time to read
    if (Difference d = trace(s, r); !d.empty()) return d;
  const auto searched = s.serves() ? serving_search : training_search;
  if (Difference d = searched(s, r); !d.empty()) return d;
  if (r.has_errors() || !r.quantities[s.serves() ? Q::decode_step : Q::step_time]) return {};
  widgets::StudyCache studies;
  const widgets::Theme theme = widgets::testing::theme("dark");
  const widgets::FigureInput input{s, r, widgets::testing::english(), theme, studies};
  if (Difference d = figures_by_id(s, r, input); !d.empty()) return d;
  if (s.serves()) return serving_figures(s, r, input);
  if (Difference d = training_figures(s, r, input); !d.empty()) return d;
  return {};
}

void check_surfaces(engine::WorkloadKind kind, unsigned seed, void (*edit)(Scenario&, int) = nullptr) {
  std::mt19937 rng(seed);
  int wrong = 0;
  for (int i = 0; i < surface_cases() && wrong < 10; ++i) {
    Scenario s = tests::any_scenario(rng, kind);
    if (edit != nullptr) edit(s, i);
    const Difference d = first_difference(s);
    if (d.empty()) continue;
    ++wrong;
    INFO("case " << i << ", " << s.model.id << " on " << s.cluster.chip.id << ", mode "
                 << static_cast<int>(s.assumptions.mode) << ": " << d);
    CHECK(d.empty());
  }
}

}  // namespace

TEST_CASE("surfaces agree about plans that train") { check_surfaces(engine::WorkloadKind::training, 20261122); }
TEST_CASE("surfaces agree about plans that update a share of the parameters on the host") {
  check_surfaces(engine::WorkloadKind::training, 20261130, [](Scenario& s, int i) {
    s.offload.optimizer = true, s.offload.optimizer_fraction = (i % 19 + 1) / 20.0;
  });
}
TEST_CASE(
    "surfaces agree about ranks and mesh axes that are placed by hand, on switches and a torus, in both modes") {
  for (const engine::WorkloadKind kind : {engine::WorkloadKind::training, engine::WorkloadKind::serving})
    check_surfaces(kind, 20261202, [](Scenario& s, int i) {
      s.assumptions.mode = i % 2 == 0 ? engine::Mode::ideal : engine::Mode::calibrated;
      s.placement.order = i / 2 % 2 == 0 ? engine::RankOrder::pipeline_last : engine::RankOrder::data_last;
      for (std::size_t axis = 0; axis < s.placement.on.size(); ++axis)
        s.placement.on[axis] = static_cast<engine::TorusAxes>((static_cast<std::size_t>(i) + 3 * axis) % 8);
    });
}
TEST_CASE(
    "surfaces agree about launches of any kind and heads of any width, on switches and a torus, in both modes") {
  for (const engine::WorkloadKind kind : {engine::WorkloadKind::training, engine::WorkloadKind::serving})
    check_surfaces(kind, 20261203, [](Scenario& s, int i) {
      s.assumptions.mode = i % 3 == 0 ? engine::Mode::ideal : engine::Mode::calibrated;
      s.kernels.launch = static_cast<engine::KernelLaunch>(i / 3 % 3);
      s.kernels.attention = i / 6 % 2 == 0 ? engine::AttentionKernel::unfused : engine::AttentionKernel::automatic;
      if (!s.model.is_mla()) s.model.d_head += i % 8;
    });
}
TEST_CASE("surfaces agree about software of any generation and experts with biases, on switches and a torus") {
  for (const engine::WorkloadKind kind : {engine::WorkloadKind::training, engine::WorkloadKind::serving})
    check_surfaces(kind, 20261204, [](Scenario& s, int i) {
      s.assumptions.mode = i % 4 == 0 ? engine::Mode::ideal : engine::Mode::calibrated;
      s.assumptions.stack = static_cast<engine::StackChoice>(i % (1 + static_cast<int>(engine::kSoftwareStacks)));
      s.model.mlp_bias = s.model.is_moe() || i % 2 == 0;
      s.pipeline.microbatch_sequences = 1;  // as few tokens as a host has reason to be slow for
    });
}
TEST_CASE("surfaces agree about plans that serve") { check_surfaces(engine::WorkloadKind::serving, 20261123); }
TEST_CASE("surfaces agree about model presets on switches and a torus, in both modes") {
  for (const engine::WorkloadKind kind : {engine::WorkloadKind::training, engine::WorkloadKind::serving})
    check_surfaces(kind, 20261201, [](Scenario& s, int i) {
      const auto models = tests::library().list(io::PresetKind::model);
      const io::ImportRequest request{i % 2 == 0 ? "h100-sxm:16" : "tpu-v5p:16",
                                      {s.serves() ? "workload.kind=serving" : "workload.kind=training",
                                       i / 2 % 2 == 0 ? "assumptions.mode=ideal" : "assumptions.mode=calibrated"},
                                      {}};
      const auto read =
          io::import_model(models[static_cast<std::size_t>(i) % models.size()], request, tests::library());
      REQUIRE(read);
      REQUIRE(read->complete());
      s = read->scenario;
    });
}
