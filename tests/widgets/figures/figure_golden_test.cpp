// Every figure as text, against its golden. The verbs of one picture of each figure of the table, of some figures of
// other plans too, and of three figures every stroke. All are drawn of evaluated presets, with characters of one width,
// so that a golden changes where a figure does and not with the release of a font.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/widgets/figures/golden.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "tests/widgets/figures/verb_canvas.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

const FontStack& even_characters() {
  static const FontStack stack = FontStack::monospaced(0.55f);
  return stack;
}

// LLaMA-3 8B in four stages on the eight H100 of a node.
engine::Scenario in_stages() {
  return tests::with(tests::preset("llama3-8b-8-h100"),
                     {"parallelism.fsdp=2", "parallelism.pipeline=4", "workload.global_batch_sequences=8"});
}

FigureCase against_fsdp() {
  FigureCase c = evaluated(in_stages());
  c.baseline = std::make_shared<const FigureCase>(preset_case("llama3-8b-8-h100"));
  return c;
}

// What the golden of a figure shows.
FigureCase usual_case(const FigureRow& row) {
  if (row.subject == Subject::serving) return preset_case("llama3-70b-serving-8-h100");
  if (row.needs == Needs::baseline) return against_fsdp();
  if (is_searched(row.needs)) return preset_case("llama3-8b-8-h100");
  return evaluated(in_stages());
}

struct GoldenLook {
  std::string theme = "print";
  float em = kPrintEm, width = 0, height = 0;  // 0: those of the row
};

template <class CanvasType>
std::unique_ptr<CanvasType> drawn_with(std::string_view figure, const FigureCase& c, const GoldenLook& look) {
  const FigureRow& row = *find_figure(figure);
  const Theme colours = theme(look.theme);
  const float width = look.width > 0 ? look.width : row.width_pt,
              height = look.height > 0 ? look.height : row.height_pt;
  auto canvas = std::make_unique<CanvasType>(even_characters(), look.em, Rect{0, 0, width, height});
  FigureView view;
  view.print = look.theme == "print";
  row.draw(*canvas, canvas->bounds(), input_of(c, colours), view);
  return canvas;
}

std::string golden_name(std::string_view figure) {
  std::string name = "figure_" + std::string(figure);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

TEST_CASE("figures are as their goldens") {
  for (const FigureRow& row : figures())
    check_golden(golden_name(row.name), drawn_with<VerbCanvas>(row.name, usual_case(row), {})->lines());
}

TEST_CASE("figures are as their goldens: on the screen, of one stage and of a torus") {
  const GoldenLook window{"dark", 15, 560, 400};
  const FigureCase pod = preset_case("llama3-70b-v5p-pod");
  for (const char* figure : {"roofline", "memory", "ladder", "topology", "network", "collective"})
    check_golden(golden_name(figure) + "_pod", drawn_with<VerbCanvas>(figure, pod, window)->lines());
}

TEST_CASE("figures are as their goldens: chunks that fold, a schedule that cannot run") {
  const FigureCase folded =
      evaluated(tests::with(in_stages(), {"pipeline.schedule=zb-v", "pipeline.virtual_stages=2"}));
  check_golden("figure_pipeline_zb_v", drawn_with<VerbCanvas>("pipeline", folded, {})->lines());
  const FigureCase illegal =
      evaluated(tests::with(in_stages(), {"pipeline.schedule=interleaved-1f1b", "pipeline.virtual_stages=2",
                                          "workload.global_batch_sequences=12"}));
  check_golden("figure_schedules_illegal",
               drawn_with<VerbCanvas>("schedules", illegal, {"dark", 15, 900, 300})->lines());
}

TEST_CASE("figures are as their goldens: a promised time, a search of plans that serve") {
  const engine::Scenario serving = tests::preset("llama3-70b-serving-8-h100");
  const FigureCase promised = evaluated(tests::with(serving, {"workload.slo.time_per_output_token_s=0.01"}));
  check_golden("figure_latency_throughput_slo", drawn_with<VerbCanvas>("latency-throughput", promised, {})->lines());
  check_golden("figure_frontier_serving", drawn_with<VerbCanvas>("frontier", evaluated(serving), {})->lines());
}

TEST_CASE("figures are as their goldens: each stroke of hatches, dashes and arcs") {
  const FigureCase stages = evaluated(in_stages());
  for (const char* figure : {"memory", "checkpointing"})
    check_golden(golden_name(figure) + "_strokes", drawn_with<RecordCanvas>(figure, stages, {})->to_text());
  check_golden("figure_topology_strokes",
               drawn_with<RecordCanvas>("topology", preset_case("llama3-70b-v5p-pod"), {})->to_text());
}
