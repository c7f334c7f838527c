#include "tests/widgets/figures/figure_fixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/search/cluster_choice.h"
#include "engine/search/search.h"
#include "engine/search/serving_search.h"
#include "engine/studies/schedule_comparison.h"
#include "tests/engine/fixtures.h"

namespace roofscape::widgets::testing {

using engine::ChipField;

FigureCase evaluated(const engine::Scenario& scenario) { return {scenario, engine::evaluate(scenario)}; }

namespace {

FigureCase case_with(const char* preset, std::initializer_list<std::string_view> assignments) {
  return evaluated(tests::with(tests::preset(preset), assignments));
}

}  // namespace

FigureCase sixteen_stages() {
  static const FigureCase kept = case_with(
      "llama3-405b-16k-h100-8k", {"pipeline.schedule=1f1b", "pipeline.virtual_stages=1", "pipeline.head_as_layers=1",
                                  "pipeline.embedding_as_layers=1", "checkpointing.policy=attention"});
  return kept;
}

FigureCase too_full() {
  static const FigureCase kept =
      evaluated(tests::with(sixteen_stages().scenario, {"workload.sequence_length=12288"}));
  return kept;
}

FigureCase bound_by_hbm() {
  return case_with("llama3-8b-8-h100",
                   {"workload.sequence_length=128", "workload.global_batch_sequences=512",
                    "pipeline.microbatch_sequences=1", "parallelism.zero_stage=1", "checkpointing.policy=none"});
}

FigureCase one_stage(int microbatches) {
  engine::Scenario s = tests::preset("llama3-70b-v5p-pod");
  s.workload.global_batch_sequences *= microbatches;
  return evaluated(s);
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
  set(ChipField::scaleup_hop_latency_s, 1e-15);
  for (const ChipField field :
       {ChipField::hbm_bytes_per_s, ChipField::hbm_bytes, ChipField::scaleup_bytes_per_s_per_chip_oneway,
        ChipField::scaleout_bytes_per_s_per_chip_oneway})
    set(field, 1e30);
  const double layer = static_cast<double>(forward) * 1e-12 / kLayersOfADevice;
  const double flops = engine::evaluate(engine::scenario_under(s, engine::ScheduleKind::one_f_one_b))
                           .quantities.value_or(engine::Q::layer_flops_forward, 0);
  set(ChipField::peak_bf16_dense_flops_per_s, flops / layer);
}

}  // namespace

FigureCase scheduled(const engine::ScheduleShape& shape, engine::Tick forward) {
  engine::Scenario s = tests::preset("llama3-405b-16k-h100-8k");
  make_even(shape, forward, s);
  return evaluated(s);
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

// Of the clusters around a scenario's own, each with the scenario's plan, spread over as many replicas as there are chips
// for: a picture of answers that no search was needed for.
static std::vector<engine::ClusterAnswer> answers_around(const engine::Scenario& scenario) {
  std::vector<engine::ClusterAnswer> answers;
  for (const engine::NamedCluster& one : engine::clusters_around(scenario.cluster, "chip")) {
    engine::Scenario there = scenario;
    there.cluster = one.cluster;
    const auto chips = static_cast<double>(engine::chip_count(one.cluster)),
               own = static_cast<double>(engine::chip_count(scenario.cluster));
    int& replicas = scenario.parallelism.fsdp > 1 ? there.parallelism.fsdp : there.parallelism.data;
    if (const double wanted = replicas * chips / own; wanted == std::floor(wanted))
      replicas = static_cast<int>(wanted);
    answers.push_back(engine::answer_of(one.name, there, engine::evaluate(there)));
  }
  engine::rank(answers, {});
  return answers;
}

// What a search of a small part of the space finds, kept by scenario: the whole space would be searched over and
// over.
static const SearchSeen& searched(const engine::Scenario& scenario) {
  struct Kept {
    engine::Scenario scenario;
    engine::SearchResult result;
    engine::ServingSearchResult serving;
    SearchSeen seen;
    std::vector<engine::ClusterAnswer> clusters = {};
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
    kept.seen.clusters.answers = kept.clusters = answers_around(scenario);
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
  kept.seen.clusters.answers = kept.clusters = answers_around(scenario);
  return kept.seen;
}

FigureInput input_of(const FigureCase& c, const Theme& theme, const TextTable& texts) {
  static StudyCache studies;
  static std::map<const FigureCase*, Baseline> ghosts;
  FigureInput input{c.scenario, c.report, texts, theme, studies};
  if (c.run) input.run = &*c.run;
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
