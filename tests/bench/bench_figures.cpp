// What a figure costs: its draw list for the window (budget 1 ms) and its PDF (budget 20 ms), on the largest preset
// that it has something to show of. What a figure studies first, and keeps, is not in it: it is drawn once before.
#include <benchmark/benchmark.h>

#include "app/core/export.h"
#include "app/core/strings.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evidence/evidence_points.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/ui/canvas_screen.h"

using namespace roofscape;

namespace {

constexpr const char* kLargest = "llama3-405b-16k-h100-8k";
constexpr const char* kOther = "llama3-405b-16k-h100";  // to compare with
constexpr const char* kServing = "deepseek-v3-h800-wide-expert";
constexpr float kWidth = 900, kHeight = 520, kEm = 15;

struct Case {
  Case(const char* preset, const io::PresetLibrary& library)
      : scenario(io::load_scenario(preset, library).value()), report(engine::evaluate(scenario)) {}
  engine::Scenario scenario;
  engine::Report report;
};

struct Desk {
  Desk() {
    context = ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
  }
  ~Desk() { ImGui::DestroyContext(context); }
  widgets::FigureInput input(const widgets::FigureRow& figure, const widgets::Theme& theme) {
    const Case& c = widgets::shows(figure, training.scenario) ? training : serving;
    const bool compares = figure.needs == widgets::Needs::baseline;
    return {c.scenario, c.report,        texts,    theme, studies, compares ? &baseline : nullptr,
            {},         library.chips(), &evidence};
  }

  io::PresetLibrary library;
  Case training{kLargest, library}, other{kOther, library}, serving{kServing, library};
  widgets::Baseline baseline{other.scenario, other.report};
  engine::EvidenceSet evidence = evidence::evidence_set(io::load_evidence(library).value(), library);
  widgets::TextTable texts = app::load_texts("en").value();
  widgets::Theme dark = app::load_theme("dark").value(), paper = app::load_theme("print").value();
  widgets::FontStack fonts;
  widgets::StudyCache studies;
  ImGuiContext* context = nullptr;
};

Desk& desk() {
  static Desk all;
  return all;
}

void draw_list(benchmark::State& state, const widgets::FigureRow* figure) {
  Desk& d = desk();
  widgets::ScreenFonts atlas(d.fonts);
  for (const auto& [key, text] : d.texts.all()) atlas.add_characters(text);
  atlas.update(kEm);
  widgets::ScreenCanvas canvas(d.fonts, atlas);
  const widgets::FigureInput input = d.input(*figure, d.dark);
  const auto frame = [&] {
    widgets::compat::headless_frame_begin(kWidth, kHeight, 1.0f / 60);
    canvas.begin(ImGui::GetBackgroundDrawList(), kEm, {0, 0, kWidth, kHeight});
    canvas.set_tagging(widgets::Tagging::near_pointer);
    canvas.set_pointer({kWidth / 2, kHeight / 2}, 8);
    figure->draw(canvas, canvas.bounds(), input, {});
    benchmark::DoNotOptimize(canvas.tags().size());
    widgets::compat::headless_frame_end();
  };
  frame();
  for (auto _ : state) frame();
}

void pdf(benchmark::State& state, const widgets::FigureRow* figure) {
  Desk& d = desk();
  const widgets::FigureInput input = d.input(*figure, d.paper);
  const app::ExportOptions options = app::default_size(*figure);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto file = app::drawing_bytes(app::drawing_of(*figure, input), app::FileFormat::pdf, options, d.fonts);
    bytes = file.value().size();
    benchmark::DoNotOptimize(bytes);
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  for (const widgets::FigureRow& figure : widgets::figures()) {
    benchmark::RegisterBenchmark(("draw_list/" + std::string(figure.name)).c_str(), draw_list, &figure)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("pdf/" + std::string(figure.name)).c_str(), pdf, &figure)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
