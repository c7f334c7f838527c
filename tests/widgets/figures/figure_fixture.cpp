#include "tests/widgets/figures/figure_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "engine/evaluate/evaluate.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/schedule_comparison.h"

namespace roofscape::widgets::testing {

using engine::ChipField;
using engine::OperationKind;
using engine::Q;

namespace {

constexpr double kGb = 1e9;

engine::Scenario scenario_405b() {
  engine::Scenario s;
  s.model.name = "LLaMA-3.1 405B";
  s.model.n_layers = 126;
  s.cluster.chip.name = "H100 SXM";
  s.cluster.chip.interconnect = engine::Interconnect::switched;
  const auto set = [&](ChipField field, double value) { s.cluster.chip[field].value = value; };
  set(ChipField::l2_bytes_per_s, 5.5e12);
  set(ChipField::peak_bf16_dense_flops_per_s, 989e12);
  set(ChipField::register_bytes_per_sm, 262144);
  set(ChipField::sm_count, 132);
  set(ChipField::smem_l1_bytes_per_sm, 256000);
  set(ChipField::smem_bytes_per_cycle_per_sm, 128);
  set(ChipField::clock_hz_boost, 1.83e9);
  set(ChipField::l2_bytes_per_chip, 50e6);
  set(ChipField::hbm_bytes, 80e9);
  set(ChipField::hbm_bytes_per_s, 3.35e12);
  set(ChipField::scaleup_bytes_per_s_per_chip_oneway, 450e9);
  set(ChipField::scaleout_bytes_per_s_per_chip_oneway, 50e9);
  s.cluster.nodes = 2048;
  s.parallelism.fsdp = 128;
  s.parallelism.tensor = 8;
  s.parallelism.pipeline = 16;
  s.parallelism.zero_stage = 1;
  return s;
}

void add_operation(engine::Report& r, OperationKind kind, double intensity, double share, double step_s) {
  const double peak = *r.quantities[Q::peak_flops], bandwidth = *r.quantities[Q::hbm_bandwidth];
  engine::OperationRow row;
  row.kind = kind;
  row.intensity_flop_per_byte = intensity;
  row.achieved_flop_per_s = std::min(peak, intensity * bandwidth);
  row.time_s = share * step_s;
  row.flops = row.achieved_flop_per_s * row.time_s;
  row.hbm_bytes = row.flops / intensity;
  row.share_of_step = share;
  r.operations.push_back(row);
}

void add_operations(engine::Report& r, double step_s) {
  add_operation(r, OperationKind::qkv, 1638, 0.04, step_s);
  add_operation(r, OperationKind::attention, 4040, 0.02, step_s);
  add_operation(r, OperationKind::attention_out, 1490, 0.03, step_s);
  add_operation(r, OperationKind::gate_up, 4100, 0.22, step_s);
  add_operation(r, OperationKind::down, 2900, 0.11, step_s);
  add_operation(r, OperationKind::logits, 4300, 0.004, step_s);
  add_operation(r, OperationKind::norms, 1.25, 0.006, step_s);
  add_operation(r, OperationKind::rope, 1.0, 0.002, step_s);
  add_operation(r, OperationKind::activation, 1.5, 0.006, step_s);
  add_operation(r, OperationKind::residual, 0.17, 0.008, step_s);
  add_operation(r, OperationKind::optimizer, 0.43, 0.002, step_s);
}

void add_stage(engine::Report& r, int first_layer, int layers, double in_flight,
               std::array<double, engine::kMemoryPartCount> gb) {
  engine::StageRow row;
  row.first_layer = first_layer;
  row.layers = layers;
  row.in_flight_microbatches = in_flight;
  for (std::size_t i = 0; i < gb.size(); ++i) {
    row.memory_bytes[i] = gb[i] * kGb;
    row.memory_total_bytes += row.memory_bytes[i];
  }
  r.stages.push_back(row);
  const auto here = static_cast<int>(r.stages.size()) - 1;
  if (row.memory_total_bytes > r.stages[static_cast<std::size_t>(r.fullest_stage)].memory_total_bytes)
    r.fullest_stage = here;
}

void simulate_into(engine::PipelineReport& p, const engine::ScheduleShape& shape, engine::Tick f, engine::Tick b,
                   engine::Tick w) {
  p.shape = shape;
  p.status = engine::check_schedule(shape);
  if (!p.status.legal()) return;
  engine::make_orders(shape, p.orders);
  p.times = engine::even_times(shape, f, b, w);
  engine::SimulationScratch scratch;
  engine::simulate(p.orders, p.times, scratch, p.timeline);
}

void add_memory_quantities(engine::Report& r, double capacity_gb) {
  r.quantities.set(Q::hbm_capacity, capacity_gb * kGb);
  const double most = r.stages[static_cast<std::size_t>(r.fullest_stage)].memory_total_bytes;
  r.quantities.set(Q::memory_total, most);
  r.quantities.set(Q::memory_free, capacity_gb * kGb - most);
}

FigureCase sixteen(double activations) {
  FigureCase c;
  c.scenario = scenario_405b();
  engine::Report& r = c.report;
  r.quantities.clear();
  r.quantities.set(Q::peak_flops, 989e12);
  r.quantities.set(Q::hbm_bandwidth, 3.35e12);
  r.quantities.set(Q::chips_used, 16384);
  add_operations(r, 9.23);
  for (int stage = 0; stage < 16; ++stage) {
    const bool outer = stage == 0 || stage == 15;
    const double flight = 16 - stage;
    add_stage(
        r, std::max(0, 8 * stage - 1), outer ? 7 : 8, flight,
        {outer ? 6.1 : 6.4, outer ? 12.2 : 12.7, 0.3, flight * (outer ? 2.258 : 2.5833) * activations, 2.3, 2.4});
  }
  add_memory_quantities(r, 80);
  simulate_into(r.pipeline, {engine::ScheduleKind::one_f_one_b, 16, 16, 1, 0}, 92'000'000'000, 95'000'000'000,
                96'000'000'000);
  r.pipeline.step_end_s = 0.125;
  r.quantities.set(Q::pipeline_bubble_fraction,
                   engine::bubbles(r.pipeline.orders, r.pipeline.times, r.pipeline.timeline).idle_fraction);
  return c;
}

}  // namespace

FigureCase sixteen_stages() { return sixteen(1); }
FigureCase too_full() { return sixteen(1.76); }

FigureCase one_stage(int microbatches) {
  FigureCase c;
  engine::Scenario& s = c.scenario;
  s.model.name = "LLaMA-3 70B";
  s.model.n_layers = 80;
  s.cluster.chip.name = "TPU v5p";
  const auto set = [&](ChipField field, double value) { s.cluster.chip[field].value = value; };
  set(ChipField::vmem_bytes_per_s, 40e12);
  set(ChipField::vmem_bytes_per_chip, 128e6);
  set(ChipField::vreg_bytes_per_chip, 524288);
  set(ChipField::peak_bf16_dense_flops_per_s, 459e12);
  set(ChipField::hbm_bytes, 96e9);
  set(ChipField::hbm_bytes_per_s, 2.8e12);
  set(ChipField::ici_bytes_per_s_per_link_oneway, 90e9);
  set(ChipField::dcn_bytes_per_s_per_chip, 6.25e9);
  s.cluster.slice = {16, 20, 28};
  s.parallelism.fsdp = 1024;
  s.parallelism.tensor = 4;
  s.parallelism.context = 2;
  engine::Report& r = c.report;
  r.quantities.clear();
  r.quantities.set(Q::peak_flops, 459e12);
  r.quantities.set(Q::hbm_bandwidth, 2.8e12);
  r.quantities.set(Q::chips_used, 8192);
  r.quantities.set(Q::microbatches, microbatches);
  add_operations(r, 1.2);
  add_stage(r, 0, 80, 1, {0.0172, 0, 0.069, 1.342, 2.52, 0});
  add_memory_quantities(r, 96);
  return c;
}

namespace {

// Evaluated, the scenario has the even stages of this shape to the tick: a forward as long as either half of a
// backward, and nothing but matrix multiplications. An output head of one word takes no tick of layers so wide.
void make_even(const engine::ScheduleShape& shape, engine::Tick forward, engine::Scenario& s) {
  constexpr int kLayersOfADevice = 4;  // for as many chunks
  s.model = {};
  s.model.n_layers = kLayersOfADevice * shape.stages;
  s.model.d_model = s.model.n_heads = s.model.n_kv_heads = s.model.d_head = s.model.vocab_size = 1;
  s.model.d_ff = 2'000'000'000;
  s.parallelism = {};
  s.parallelism.pipeline = shape.stages;
  s.cluster.nodes = 1;
  s.cluster.node_size = shape.stages;
  s.pipeline.schedule = shape.kind;
  s.pipeline.virtual_stages = shape.virtual_stages;
  s.pipeline.microbatch_sequences = 1;
  s.workload.global_batch_sequences = shape.microbatches;
  s.workload.sequence_length = 1;
  s.checkpointing.policy = engine::CheckpointPolicy::none;
  const auto set = [&](ChipField field, double value) { s.cluster.chip[field].value = value; };
  for (const ChipField field :
       {ChipField::hbm_bytes_per_s, ChipField::hbm_bytes, ChipField::scaleup_bytes_per_s_per_chip_oneway,
        ChipField::scaleout_bytes_per_s_per_chip_oneway})
    set(field, 1e30);
  const double layer = static_cast<double>(forward) * 1e-12 / kLayersOfADevice;
  const double flops = engine::evaluate(engine::scenario_under(s, engine::ScheduleKind::one_f_one_b))
                           .quantities.value_or(Q::layer_flops_forward, 0);
  set(ChipField::peak_bf16_dense_flops_per_s, flops / layer);
}

}  // namespace

FigureCase scheduled(const engine::ScheduleShape& shape, engine::Tick forward, engine::Tick input,
                     engine::Tick weight) {
  FigureCase c = sixteen_stages();
  if (forward == input && forward == weight) make_even(shape, forward, c.scenario);
  c.report.pipeline = {};
  simulate_into(c.report.pipeline, shape, forward, input, weight);
  c.scenario.parallelism.pipeline = shape.stages;
  c.report.stages.clear();
  c.report.fullest_stage = 0;
  for (int stage = 0; stage < std::max(1, shape.stages); ++stage)
    add_stage(c.report, stage, 1, 1, {6.1, 12.2, 0.3, 30.0 * (shape.stages - stage) / shape.stages, 2.3, 2.4});
  add_memory_quantities(c.report, 80);
  const engine::PipelineReport& p = c.report.pipeline;
  if (p.drawn())
    c.report.quantities.set(Q::pipeline_bubble_fraction,
                            engine::bubbles(p.orders, p.times, p.timeline).idle_fraction);
  return c;
}

std::span<const engine::Chip> sample_chips() {
  static const std::vector<engine::Chip> chips = [] {
    struct Row {
      const char *name, *vendor;
      double year, fp32, half, fp8, fp4, hbm, link;
    };
    constexpr double kNone = 0;
    std::vector<engine::Chip> out;
    for (const Row& row : {Row{"NVIDIA K40", "NVIDIA", 2013, 5e12, kNone, kNone, kNone, 288e9, kNone},
                           {"NVIDIA V100", "NVIDIA", 2017, 15.7e12, 125e12, kNone, kNone, 900e9, 150e9},
                           {"TPU v3", "Google", 2018, kNone, 123e12, kNone, kNone, 900e9, 280e9},
                           {"NVIDIA A100 80 GB", "NVIDIA", 2020, 19.5e12, 312e12, kNone, kNone, 2e12, 300e9},
                           {"H100 SXM", "NVIDIA", 2022, 66e12, 989e12, 1979e12, kNone, 3.35e12, 450e9},
                           {"TPU v5p", "Google", 2023, kNone, 459e12, kNone, kNone, 2.8e12, 540e9},
                           {"NVIDIA H200", "NVIDIA", 2023, 66e12, 989e12, 1979e12, kNone, 4.8e12, 450e9},
                           {"AMD MI300X", "AMD", 2023, 163e12, 1307e12, 2614e12, kNone, 5.3e12, 448e9},
                           {"NVIDIA B200", "NVIDIA", 2024, 80e12, 2250e12, 4500e12, 9000e12, 8e12, 900e9}}) {
      engine::Chip& chip = out.emplace_back();
      chip.name = row.name;
      chip.vendor = row.vendor;
      chip.interconnect = engine::Interconnect::switched;
      const auto set = [&](ChipField field, double value) {
        if (value > 0) chip[field].value = value;
      };
      set(ChipField::launch_year, row.year);
      set(ChipField::peak_fp32_vector_flops_per_s, row.fp32);
      set(ChipField::peak_bf16_dense_flops_per_s, row.half);
      set(ChipField::peak_fp8_dense_flops_per_s, row.fp8);
      set(ChipField::peak_fp4_dense_flops_per_s, row.fp4);
      set(ChipField::hbm_bytes_per_s, row.hbm);
      set(ChipField::scaleup_bytes_per_s_per_chip_oneway, row.link);
    }
    return out;
  }();
  return chips;
}

const engine::EvidenceSet& sample_evidence() {
  static const engine::EvidenceSet set = [] {
    struct Row {
      const char *id, *family, *model;
      engine::EvidenceKind kind;
      int chips;
      double measured, error;
      bool complete;
    };
    using enum engine::EvidenceKind;
    engine::EvidenceSet out;
    out.ideal.mode = engine::Mode::ideal;
    for (const Row& row : {Row{"a-1", "Paper A", "LLaMA-3.1 405B", step, 16384, 10, -0.2, true},
                           {"a-2", "Paper A", "LLaMA-3.1 405B", step, 8192, 12, 0.05, true},
                           {"a-3", "Paper A", "LLaMA-3.1 405B", step, 8192, 8, 0.1, true},
                           {"b-1", "Recipes B", "GPT-3 175B", step, 4096, 5, 0.0, false},
                           {"b-2", "Recipes B", "GPT-3 175B", step, 4096, 20, -0.04, false},
                           {"b-3", "Recipes B", "GPT-3 175B", step, 4096, 40, 0.3, true},
                           {"c-1", "Thesis C", "GPT-3 1.3B", step, 8, 0.5, 0.02, true},
                           {"c-2", "Thesis C", "GPT-3 1.3B", step, 8, 1, 0.6, true},
                           {"k-1", "Kernels", "gemm", kernel, 1, 600e12, 0.1, true},
                           {"k-2", "Kernels", "gemm", kernel, 1, 300e12, -0.1, true}}) {
      for (engine::Evidence* evidence : {&out.calibrated, &out.ideal}) {
        engine::EvidencePoint p;
        p.id = row.id, p.family = row.family, p.model = row.model, p.chip = "H100 SXM", p.kind = row.kind;
        p.source = std::string("A source of ") + row.family + " (arXiv 0000.00000) Table 5";
        p.published = row.kind == kernel ? "tflops" : "mfu";
        p.published_value = 0.4;
        p.measured = row.measured;
        p.error = evidence == &out.ideal && row.kind == step ? row.error - 0.5 : row.error;
        p.predicted = p.measured * (1 + p.error);
        p.complete = row.complete;
        p.features = engine::evidence_features(sixteen_stages().scenario);
        p.features.chips = row.chips;
        if (row.chips == 8) p.features.pipeline = 1;
        evidence->points.push_back(std::move(p));
      }
    }
    return out;
  }();
  return set;
}

const TextTable& long_words() {
  static const TextTable table = [] {
    auto texts = english().all();
    for (auto& [key, text] : texts) {
      if (!key.starts_with("figure.") || key == "figure.list_separator" || text.find('{') == 0) continue;
      for (std::size_t i = 0, n = text.size() / 2; i < n; ++i) text += "abcdefghij"[i % 10];
    }
    return TextTable(std::move(texts));
  }();
  return table;
}

FigureView view_of(std::string_view figure,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> choices) {
  FigureView view;
  for (const auto& choice : choices) {
    CAPTURE(choice.first);
    CAPTURE(choice.second);
    REQUIRE(choose(*find_figure(figure), choice.first, choice.second, view.choices));
  }
  return view;
}

std::vector<FigureView> views_of(const FigureRow& row) {
  std::vector<FigureView> out{FigureView{}};
  for (std::size_t o = 0; o < row.options.size(); ++o)
    for (std::size_t c = 1; c < row.options[o].choices.size(); ++c) {
      FigureView view;
      view.choices[o] = static_cast<std::uint8_t>(c);
      out.push_back(view);
    }
  return out;
}

// What a search of a small part of the space finds, kept by scenario: the whole space would be searched over and
// over.
static const SearchSeen& searched(const engine::Scenario& scenario) {
  struct Kept {
    engine::Scenario scenario;
    engine::SearchResult result;
    engine::ServingSearchResult serving;
    SearchSeen seen;
  };
  static std::vector<std::unique_ptr<Kept>> all;
  for (const auto& one : all)
    if (one->scenario == scenario) return one->seen;
  if (scenario.workload.kind == engine::WorkloadKind::serving) {
    engine::ServingRequest request = engine::serving_request_of(scenario);
    request.sample = 200;
    request.merge_alike = true;
    Kept& kept =
        *all.emplace_back(std::make_unique<Kept>(Kept{scenario, {}, engine::search_serving(scenario, request), {}}));
    kept.seen.scenario = &kept.scenario;
    kept.seen.serving = &kept.serving;
    return kept.seen;
  }
  engine::SearchRequest request;
  request.space = engine::space_of(scenario);
  request.space.schedule.only = {static_cast<int>(engine::ScheduleKind::one_f_one_b)};
  request.space.microbatch.max = 1;
  request.space.offload_optimizer.max = request.space.offload_activations.max = 0;
  request.sample = 200;
  request.cells = true;
  Kept& kept = *all.emplace_back(std::make_unique<Kept>(Kept{scenario, engine::search(scenario, request), {}, {}}));
  kept.seen.scenario = &kept.scenario;
  kept.seen.result = &kept.result;
  return kept.seen;
}

FigureInput input_of(const FigureCase& c, const Theme& theme, const TextTable& texts) {
  static StudyCache studies;
  static std::map<const FigureCase*, Baseline> ghosts;
  FigureInput input{c.scenario, c.report, texts, theme, studies};
  if (c.baseline) {
    ghosts.erase(c.baseline.get());
    input.baseline =
        &ghosts.emplace(c.baseline.get(), Baseline{c.baseline->scenario, c.baseline->report}).first->second;
  }
  input.measured = c.measured;
  input.chips = sample_chips();
  input.evidence = &sample_evidence();
  input.search = &searched(c.scenario);
  return input;
}

std::unique_ptr<RecordCanvas> drawn(const std::string& figure, const FigureCase& c, const std::string& theme_name,
                                    float em, float width, float height, const FigureView& view) {
  const Theme look = theme(theme_name);
  auto canvas = std::make_unique<RecordCanvas>(fonts(), em, Rect{0, 0, width, height});
  find_figure(figure)->draw(*canvas, canvas->bounds(), input_of(c, look), view);
  return canvas;
}

int strokes_through(const RecordCanvas& canvas, std::string_view text, const std::string& theme_name) {
  const TextRun* run = canvas.find_text(text);
  if (run == nullptr) return 0;
  const Theme colours = theme(theme_name);
  Rect letters{run->corners[0].x, run->corners[0].y, 0, 0};
  for (const Point& c : run->corners)
    letters = rect_between(std::min(letters.x, c.x), std::min(letters.y, c.y), std::max(letters.right(), c.x),
                           std::max(letters.bottom(), c.y));
  int n = 0;
  for (const Primitive& p : canvas.primitives()) {
    if (p.kind != Primitive::Kind::stroke || p.colour == colours.grid) continue;
    for (std::size_t i = 1; i < p.points.size(); ++i) {
      const Point a = p.points[i - 1], b = p.points[i];
      constexpr int kSteps = 200;
      bool inside = false;
      for (int k = 0; k <= kSteps && !inside; ++k)
        inside = letters.contains(a + (b - a) * (static_cast<float>(k) / kSteps));
      if (!inside) continue;
      ++n;
      break;
    }
  }
  return n;
}

std::string takeaway(const char* figure, const FigureCase& c) {
  const Theme dark = theme("dark");
  return find_figure(figure)->head(input_of(c, dark), {}).takeaway;
}

float between_ticks(const RecordCanvas& canvas, const char* low_text, double low, const char* high_text, double high,
                    double value, bool vertical) {
  const TextRun *a = canvas.find_text(low_text), *b = canvas.find_text(high_text);
  REQUIRE(a);
  REQUIRE(b);
  const auto place = [&](const TextRun& run) { return vertical ? run.anchor.y : run.anchor.x; };
  const double t = std::log10(value / low) / std::log10(high / low);
  return static_cast<float>(place(*a) + (place(*b) - place(*a)) * t);
}

}  // namespace roofscape::widgets::testing
