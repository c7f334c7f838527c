// How long the pipeline figure takes to fill a draw list of the window: 64 stages x 1024 microbatches x 4 chunks at
// every zoom, plain and with all of its tools. Budget: 2 ms. What is computed once per report (first_frame) stands
// apart.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "app/core/strings.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/pipeline/simulate.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/studies/schedule_comparison.h"
#include "widgets/figures/figures.h"
#include "widgets/ui/canvas_screen.h"
#include "widgets/ui/imgui_compat.h"

namespace {

using namespace roofscape;
using namespace roofscape::widgets;
using engine::ScheduleKind;

constexpr engine::Tick kMs = 1'000'000'000;
constexpr Rect kArea{340, 180, 1196, 860};  // the figure alone in a window of 1920 x 1080

engine::Report report_of(const engine::ScheduleShape& shape) {
  engine::Report r;
  r.quantities.clear();
  engine::PipelineReport& p = r.pipeline;
  p.shape = shape;
  engine::make_orders(shape, p.orders);
  p.times = engine::even_times(shape, 4 * kMs, 8 * kMs, 4 * kMs, kMs / 50);
  p.times.forward.back() += kMs / 2;  // logits
  p.recompute.assign(p.times.forward.size(), p.times.forward.front());
  engine::SimulationScratch scratch;
  engine::simulate(p.orders, p.times, scratch, p.timeline);
  engine::peak_microbatches(p.orders, engine::KeptUntil::weight_gradient, p.peak_microbatches);
  for (int stage = 0; stage < shape.stages; ++stage) {
    engine::StageRow row;
    row.memory_bytes.fill(1e9 * p.peak_microbatches[static_cast<std::size_t>(stage)]);
    r.stages.push_back(row);
  }
  return r;
}

// A window without a display.
class Screen {
 public:
  Screen() : context_(ImGui::CreateContext()), atlas_(fonts_), canvas_(fonts_, atlas_) {
    atlas_.add_characters("0123456789");
    atlas_.update(15);
    canvas_.set_tagging(Tagging::near_pointer);
  }
  ~Screen() { ImGui::DestroyContext(context_); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  template <class Draw>
  double frame(Point pointer, Draw draw) {
    compat::headless_frame_begin(1920, 1080, 1.0f / 60);
    canvas_.begin(ImGui::GetBackgroundDrawList(), 15, {0, 0, 1920, 1080});
    canvas_.set_pointer(pointer, 8);
    const auto from = std::chrono::steady_clock::now();
    draw(canvas_);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - from;
    compat::headless_frame_end();
    vertices = compat::audit_draw_data().vertices;
    return passed.count();
  }
  int vertices = 0;

 private:
  FontStack fonts_;
  ImGuiContext* context_;
  ScreenFonts atlas_;
  ScreenCanvas canvas_;
};

const TextTable& texts() {
  static const TextTable table = app::load_texts("en").value();
  return table;
}

void gantt(benchmark::State& state, ScheduleKind kind, bool tools) {
  const engine::Scenario scenario;
  const engine::Report report = report_of({kind, 64, 1024,
                                           engine::default_virtual_stages(kind) > 1 && kind != ScheduleKind::zb_v
                                               ? 4
                                               : engine::default_virtual_stages(kind),
                                           0});
  const Theme theme = app::load_theme("dark").value();
  StudyCache studies;
  const FigureInput input{scenario, report, texts(), theme, studies};
  Screen screen;
  FigureView view;
  const double width = std::pow(2.0, -static_cast<double>(state.range(0)));
  view.from = 0.45 * (1 - width);
  view.to = view.from + width;
  const Point pointer{kArea.centre()};
  if (tools) {
    view.critical_path = view.memory_trace = true;
    view.cursor = view.from + 0.6 * width;
    view.pointer = pointer;
  }
  const FigureRow& figure = *find_figure("pipeline");
  const auto draw = [&](Canvas& canvas) { figure.draw(canvas, kArea, input, view); };
  state.counters["first_ms"] = 1e3 * screen.frame(pointer, draw);
  for (auto _ : state) state.SetIterationTime(screen.frame(pointer, draw));
  state.counters["ops"] = static_cast<double>(report.pipeline.orders.ops.size());
  state.counters["vertices"] = screen.vertices;
}

// A preset's model on so many stages, with so many microbatches.
engine::Scenario plan_of(int stages, int microbatches) {
  static const io::PresetLibrary library;
  engine::Scenario s = io::load_scenario("llama3-405b-16k-h100-8k", library).value();
  s.parallelism.data = s.parallelism.fsdp = 1;
  s.parallelism.pipeline = stages;
  s.pipeline.schedule = ScheduleKind::one_f_one_b;
  s.pipeline.virtual_stages = 1;
  s.workload.global_batch_sequences = microbatches * s.pipeline.microbatch_sequences;
  return s;
}

// All of a study after an edit: of new orders, or of times alone (`kept`).
template <class Kept, class Study>
void study(benchmark::State& state, bool keeps, Study make) {
  engine::Scenario plan = plan_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  auto kept = std::make_shared<Kept>();
  for (auto _ : state) {
    if (!keeps) kept = std::make_shared<Kept>();
    plan.workload.sequence_length ^= 1;
    auto all = make(plan, kept);
    std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    benchmark::DoNotOptimize(all.advance(unlimited));
  }
}
void compared(benchmark::State& state, bool keeps) {
  study<engine::ScheduleReports>(
      state, keeps, [](const auto& plan, const auto& kept) { return engine::ScheduleComparison(plan, kept); });
}
engine::BubbleStudy curves_of(const engine::Scenario& plan, std::shared_ptr<engine::OrderSpans> spans) {
  return {plan, engine::microbatches_to_show(engine::shape_under(plan, plan.pipeline.schedule)), std::move(spans)};
}
void curves(benchmark::State& state, bool keeps) { study<engine::OrderSpans>(state, keeps, curves_of); }
// The longest frame of a window in which the study goes on by its budget.
template <class Kept, class Study>
void longest_frame(benchmark::State& state, Study make) {
  const engine::Scenario plan = plan_of(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  auto kept = std::make_shared<Kept>();
  double longest = 0;
  for (auto _ : state) {
    auto all = make(plan, kept);
    while (!all.done()) {
      std::int64_t budget = 80'000;
      const auto from = std::chrono::steady_clock::now();
      all.advance(budget);
      longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    }
  }
  state.counters["longest_ms"] = 1e3 * longest;
}
void longest_frame_of_curves(benchmark::State& state) { longest_frame<engine::OrderSpans>(state, curves_of); }
void longest_frame_of_schedules(benchmark::State& state) {
  longest_frame<engine::ScheduleReports>(
      state, [](const auto& plan, const auto& kept) { return engine::ScheduleComparison(plan, kept); });
}

BENCHMARK_CAPTURE(gantt, interleaved, ScheduleKind::interleaved_1f1b, false)
    ->DenseRange(0, 12)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gantt, interleaved_tools, ScheduleKind::interleaved_1f1b, true)
    ->DenseRange(0, 12)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gantt, zb_v_tools, ScheduleKind::zb_v, true)
    ->DenseRange(0, 12)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
void sizes(benchmark::internal::Benchmark* b) {
  b->Args({16, 64})->Args({16, 1024})->Args({64, 1024})->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(compared, new_orders, false)->Apply(sizes);
BENCHMARK_CAPTURE(compared, new_times, true)->Apply(sizes);
BENCHMARK_CAPTURE(curves, new_orders, false)->Apply(sizes);
BENCHMARK_CAPTURE(curves, new_times, true)->Apply(sizes);
BENCHMARK(longest_frame_of_curves)->Apply(sizes);
BENCHMARK(longest_frame_of_schedules)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
