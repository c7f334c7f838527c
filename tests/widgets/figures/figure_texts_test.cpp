// What every figure says, over all shipped scenarios, both kinds of workload and every mode: words instead of keys,
// numbers that are the report's, and nothing of a plan that cannot run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/step_shares.h"
#include "tests/test_paths.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/step_words.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Mode;
using engine::Q;

namespace {

// Words of a key: letters, digits, "_" and "-", at least two of them, joined by dots, the first without digits.
bool is_key(std::string_view text) {
  std::size_t dots = 0;
  bool word = false;
  for (const char c : text) {
    if (c == '.') {
      if (!word) return false;
      ++dots, word = false;
      continue;
    }
    const bool letter = (c >= 'a' && c <= 'z') || c == '_';
    if (!letter && !(dots > 0 && ((c >= '0' && c <= '9') || c == '-'))) return false;
    word = true;
  }
  return dots > 0 && word;
}
bool has_key(std::string_view text) {
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t to = std::min(text.find_first_of(" ,;:()", from), text.size());
    if (is_key(text.substr(from, to - from))) return true;
    from = to + 1;
  }
  return false;
}

std::vector<std::string> scenarios() {
  std::vector<std::string> ids;
  for (const io::Preset& preset : tests::library().list(io::PresetKind::scenario)) ids.push_back(preset.id);
  return ids;
}

// Nobody verified the chip's peak, which times rest on and bytes do not.
FigureCase unverified_peak_case() {
  engine::Scenario s = tests::preset("llama3-70b-v5p-pod");
  s.cluster.chip[engine::ChipField::peak_bf16_dense_flops_per_s].source = "from memory, not verified";
  return evaluated(s);
}

engine::Scenario scenario_of(const std::string& id, Mode mode) {
  engine::Scenario s = tests::preset(id);
  s.assumptions.mode = mode;
  return s;
}

constexpr std::array kModes{Mode::ideal, Mode::calibrated, Mode::custom};

bool searches(const FigureRow& row) { return row.about == About::search; }

}  // namespace

TEST_CASE("no figure prints a key instead of a text, whatever scenario and mode") {
  const Theme print = theme("print");
  FigureView view;
  view.print = true;
  for (const std::string& id : scenarios())
    for (const Mode mode : kModes) {
      const FigureCase c = evaluated(scenario_of(id, mode));
      for (const FigureRow& row : figures()) {
        if (searches(row)) continue;  // minutes; figure_search_test.cpp
        CAPTURE(id);
        CAPTURE(static_cast<int>(mode));
        CAPTURE(row.name);
        RecordCanvas canvas(fonts(), 9, {0, 0, row.width_pt, row.height_pt});
        FigureInput input = input_of(c, print);
        const Baseline itself{c.scenario, c.report};
        if (row.needs == Needs::baseline) input.baseline = &itself;
        draw_figure(row, canvas, canvas.bounds(), input, view);
        for (const TextRun& run : canvas.texts()) {
          CAPTURE(run.text);
          CHECK_FALSE(has_key(run.text));
        }
        CHECK_FALSE(has_key(figure_head(row, input, view).takeaway));
      }
    }
}

TEST_CASE("numbers of takeaways are the report's") {
  int claims = 0;
  for (const std::string& id : scenarios())
    for (const Mode mode : kModes) {
      const FigureCase c = evaluated(scenario_of(id, mode));
      const Theme dark = theme("dark");
      for (const FigureRow& row : figures()) {
        if (searches(row) || !shows(row, c.scenario)) continue;
        const FigureHead head = figure_head(row, input_of(c, dark), {});
        for (const Claim& claim : head.claims) {
          CAPTURE(row.name);
          CAPTURE(head.takeaway);
          CAPTURE(claim.shown);
          if (const auto value = claimed(c.report, nullptr, claim)) CHECK(claim.value == *value);
          CHECK(head.takeaway.find(claim.shown) != std::string::npos);
          ++claims;
        }
      }
    }
  CHECK(claims > 50);
}

TEST_CASE("what rests on figures that nobody verified is marked in headline, readout and copied data") {
  const FigureCase c = unverified_peak_case();
  const Theme dark = theme("dark");
  StudyCache studies;
  const FigureInput input{c.scenario, c.report, english(), dark, studies};
  const FigureRow &step = *find_figure("step"), &memory = *find_figure("memory");
  const std::string time = format(*c.report.quantities[Q::step_time], engine::unit::seconds);
  CHECK(figure_head(step, input, {}).takeaway.starts_with(time + " \u2020"));
  CHECK(figure_head(memory, input, {}).takeaway.find("\u2020") == std::string::npos);  // no bytes rest on a rate
  const std::string data = figure_data(step, input, {});
  CHECK(data.find("\nstep.time_s \u2020\t") != std::string::npos);
  RecordCanvas canvas(fonts(), 15, {0, 0, 800, 400});
  draw_figure(step, canvas, canvas.bounds(), input, {});
  CHECK(canvas.find_tag("step.time_s")->readout.title.ends_with(" \u2020"));
  FigureView print;
  print.print = true;
  RecordCanvas paper(fonts(), 9, {0, 0, step.width_pt, step.height_pt});
  draw_figure(step, paper, paper.bounds(), input, print);
  CHECK(std::any_of(paper.texts().begin(), paper.texts().end(),
                    [&](const TextRun& run) { return run.text.starts_with(time + " \u2020"); }));
  const FigureCase verified = preset_case("llama3-70b-v5p-pod");
  CHECK(figure_head(step, input_of(verified, dark), {}).takeaway.find("\u2020") == std::string::npos);
}

TEST_CASE("readouts and columns of a figure's own times and rates are marked where the plan's time is") {
  const FigureCase c = unverified_peak_case();
  const Theme dark = theme("dark");
  StudyCache studies;
  const FigureInput input{c.scenario, c.report, english(), dark, studies};
  int own = 0;
  for (const std::string_view name :
       {"network", "collective", "comm-roofline", "overlap", "matmul", "checkpointing"}) {
    CAPTURE(name);
    RecordCanvas canvas(fonts(), 15, {0, 0, 800, 400});
    draw_figure(*find_figure(name), canvas, canvas.bounds(), input, {});
    for (const TagRegion& tag : canvas.tags())
      if (!tag.readout.title.empty() && !engine::find_quantity(tag.id)) {
        CAPTURE(tag.id);
        CHECK(tag.readout.title.ends_with(" \u2020"));
        ++own;
      }
  }
  CHECK(own > 10);
  CHECK(figure_data(*find_figure("network"), input, {}).find("compute s \u2020\t") != std::string::npos);
  // No bytes rest on a rate.
  RecordCanvas canvas(fonts(), 15, {0, 0, 800, 400});
  draw_figure(*find_figure("memory-time"), canvas, canvas.bounds(), input, {});
  for (const TagRegion& tag : canvas.tags())
    if (!engine::find_quantity(tag.id)) CHECK_FALSE(tag.readout.title.ends_with(" \u2020"));
}

TEST_CASE("the roofline and the step tell the same of matrix multiplications") {
  for (const std::string& id : scenarios()) {
    const FigureCase c = evaluated(scenario_of(id, Mode::calibrated));
    if (c.scenario.serves() || c.report.has_errors()) continue;
    const auto q = [&](Q quantity) { return c.report.quantities.value_or(quantity, 0); };
    double share = 0;
    for (const engine::OperationRow& row : c.report.operations)
      if (!engine::is_vector_operation(row.kind) && row.kind != engine::OperationKind::embedding)
        share += row.share_of_step;
    CAPTURE(id);
    CHECK(share ==
          doctest::Approx((q(Q::step_matmul) + q(Q::step_attention) + q(Q::step_recompute)) / q(Q::step_time)));
    if (c.scenario.cluster.chip.calibration.source.empty()) continue;  // made up: all of it is reached
    const FigureHead head = figure_head(*find_figure("roofline"), input_of(c, theme("dark")), {});
    CHECK(head.takeaway.find("100") == std::string::npos);
  }
}

TEST_CASE("the verdict names a group of the step that is as large as a fifth") {
  for (const std::string& id : scenarios())
    for (const Mode mode : kModes) {
      const FigureCase c = evaluated(scenario_of(id, mode));
      if (c.scenario.serves() || c.report.has_errors()) continue;
      const engine::StepShares groups = engine::step_shares(c.report);
      const std::string words = bound_words(c.report, english());
      CAPTURE(id);
      CAPTURE(words);
      if (c.report.bound.kind == engine::BoundKind::mesh_axis) continue;
      CHECK(words.find(format_share(groups[0].share)) != std::string::npos);
      if (groups.size() > 1 && groups[1].share >= 0.2)
        CHECK(words.find(format_share(groups[1].share)) != std::string::npos);
    }
}

TEST_CASE("the table of figures in the README names every figure") {
  const std::string readme = read_file(roofscape::test::source_dir() / "README.md");
  const std::size_t begin = readme.find("| figures | answer |");
  REQUIRE(begin != std::string::npos);
  const std::string table = readme.substr(begin, readme.find("\n\n", begin) - begin);
  for (const FigureRow& figure : figures()) {
    CAPTURE(figure.name);
    CHECK(table.find("`" + std::string(figure.name) + "`") != std::string::npos);
  }
}

TEST_CASE("the line over a figure is of what it shows") {
  const FigureCase c = evaluated(scenario_of("llama3-405b-16k-h100", Mode::calibrated));
  const Theme print = theme("print");
  const FigureInput input = input_of(c, print);
  const auto context = [&](std::string_view name) {
    const FigureHead head = figure_head(*find_figure(name), input, {});
    return head.context.empty() ? context_line(input) : head.context;
  };
  const std::string plan = context("step");
  for (const std::string_view part : {"1F1B", "tokens", "calibrated mode", "bf16", "ZeRO-"}) {
    CAPTURE(plan);
    CHECK(plan.find(part) != std::string::npos);
  }
  for (const std::string_view name : {"ladder", "generations", "parameters"}) {
    CAPTURE(name);
    CHECK(context(name).find("ZeRO") == std::string::npos);
    CHECK(context(name).find("mode") == std::string::npos);
  }
  // The mode of the predictions, not that of the plan.
  const FigureCase ideal = evaluated(scenario_of("llama3-405b-16k-h100", Mode::ideal));
  const FigureView calibrated = view_of("evidence", {{"mode", "calibrated"}});
  const FigureInput of_ideal = input_of(ideal, print);
  CHECK(figure_head(*find_figure("evidence"), of_ideal, calibrated).context.find("calibrated") != std::string::npos);
  // What was compared.
  engine::Scenario other = c.scenario;
  other.pipeline.schedule = engine::ScheduleKind::zb_h1;
  const engine::Report report = engine::evaluate(other);
  const Baseline baseline{other, report};
  FigureInput compared = input_of(c, print);
  compared.baseline = &baseline;
  for (const std::string_view name : {"compare", "pipeline"})
    CHECK(figure_head(*find_figure(name), compared, {}).context.find("ZB-H1") != std::string::npos);
}

TEST_CASE("the line over a figure says which kernels are not the usual ones") {
  const Theme print = theme("print");
  engine::Scenario s = scenario_of("llama3-405b-16k-h100", Mode::calibrated);
  const FigureCase usual = evaluated(s);
  CHECK(context_line(input_of(usual, print)).find("kernel") == std::string::npos);
  s.kernels.attention = engine::AttentionKernel::unfused;
  s.kernels.loss = engine::LossKernel::chunked;
  const FigureCase c = evaluated(s);
  const std::string line = context_line(input_of(c, print));
  CAPTURE(line);
  CHECK(line.find("attention kernel: scores in HBM, loss kernel: in chunks") != std::string::npos);
  CHECK(line.find("elementwise") == std::string::npos);
}

TEST_CASE("figures of a plan that cannot run say why and nothing else") {
  const Theme print = theme("print");
  FigureView view;
  view.print = true;
  for (const char* id : {"llama3-405b-16k-h100", "llama3-70b-v5p-pod"}) {
    engine::Scenario s = scenario_of(id, Mode::calibrated);
    s.parallelism.tensor = 5;
    const FigureCase c = evaluated(s);
    REQUIRE(c.report.has_errors());
    for (const FigureRow& row : figures()) {
      if (row.about != About::plan || !shows(row, s)) continue;
      CAPTURE(row.name);
      RecordCanvas canvas(fonts(), 9, {0, 0, row.width_pt, row.height_pt});
      const FigureInput input = input_of(c, print);
      draw_figure(row, canvas, canvas.bounds(), input, view);
      CHECK(canvas.find_text(cannot_run_text(*cannot_show(row, c.report), english())));
      CHECK(figure_head(row, input, view).takeaway.empty());
      CHECK(figure_data(row, input, view).empty());
    }
  }
}
