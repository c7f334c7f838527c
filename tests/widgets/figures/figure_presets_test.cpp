// Figures of shipped presets at all sizes: nothing cut, nothing over anything. (Hand-made reports are in
// figure_layout_test.cpp; these have every quantity, and studies to draw.)
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "engine/evaluate/explain.h"
#include "tests/widgets/figures/preset_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

constexpr std::string_view kNames[]{"step",          "parameters", "memory-time", "overlap",
                                    "checkpointing", "scaling",    "mesh-map"};
constexpr const char* kTrainingPresets[]{"llama3-70b-v5p-pod", "llama3-405b-16k-h100", "deepseek-v3-2048-h800",
                                         "llama3-8b-8-h100"};

struct PresetLook {
  const char* theme;
  float em, width, height;
  bool print, compact;
};
constexpr PresetLook kLooks[]{{"dark", 15, 320, 240, false, false},      {"dark", 15, 480, 320, false, false},
                              {"light", 13.125f, 400, 270, false, true}, {"dark", 15, 900, 500, false, false},
                              {"dark", 15, 3840, 2160, false, false},    {"projector", 32, 1920, 1000, false, false},
                              {"print", 9, 320, 220, true, false},       {"print", 9, 425, 255, true, false}};

}  // namespace

TEST_CASE("figures of presets are clean at any size and with long words") {
  for (const char* preset : kTrainingPresets) {
    const FigureCase c = preset_case(preset);
    for (const std::string_view name : kNames)
      for (const FigureView& choice : views_of(*find_figure(name)))
        for (const PresetLook& look : kLooks)
          for (const bool longer : {false, true}) {
            if (longer && (look.print || look.width < 480)) continue;
            const std::string at =
                fmt::format("{}, {}, {} {}x{}{}, choices {} {}", preset, name, look.theme, look.width, look.height,
                            longer ? ", long words" : "", choice.choices[0], choice.choices[1]);
            CAPTURE(at);
            FigureView view = choice;
            view.print = look.print;
            view.compact = look.compact;
            const Theme colours = theme(look.theme);
            RecordCanvas canvas(fonts(), look.em, {0, 0, look.width, look.height});
            find_figure(name)->draw(canvas, canvas.bounds(), input_of(c, colours, longer ? long_words() : english()),
                                    view);
            CHECK(canvas.audit_text() == "");
            for (const TextRun& run : canvas.texts()) CHECK_FALSE(run.text.starts_with("figure."));
          }
  }
}

TEST_CASE("copy-data of presets is a table: as many fields in every line as in the first") {
  for (const char* preset : kTrainingPresets) {
    const FigureCase c = preset_case(preset);
    for (const std::string_view name : kNames)
      for (const FigureView& view : views_of(*find_figure(name))) {
        const std::string data = find_figure(name)->data(input_of(c, theme("dark")), view);
        CAPTURE(name);
        CAPTURE(data);
        std::istringstream lines(data);
        std::string line;
        std::ptrdiff_t fields = -1;
        int rows = 0;
        while (std::getline(lines, line)) {
          const auto n = std::count(line.begin(), line.end(), '\t');
          if (fields < 0) fields = n;
          CHECK(n == fields);
          ++rows;
        }
        CHECK(rows > 1);
      }
  }
}

TEST_CASE("the heads of presets' figures have a takeaway with a number") {
  for (const char* preset : kTrainingPresets) {
    const FigureCase c = preset_case(preset);
    for (const std::string_view name : kNames)
      for (const FigureView& view : views_of(*find_figure(name))) {
        const FigureHead head = find_figure(name)->head(input_of(c, theme("dark")), view);
        CAPTURE(name);
        // A plain strategy that cannot run has no number, nor has a plan that no number of chips runs.
        if (head.takeaway.empty() || head.takeaway.starts_with("no number of chips")) continue;
        CHECK(head.takeaway.find_first_of("0123456789") != std::string::npos);
      }
  }
}

TEST_CASE("on paper of any width the head is whole: the takeaway, or the brief one where that is too long") {
  FigureView view;
  view.print = true;
  for (const char* preset : kTrainingPresets)
    for (const FigureRow& row : figures()) {
      const FigureCase& c = case_of(preset);
      if (!shows(row, c.scenario) || row.needs == Needs::baseline) continue;
      const Theme print = theme("print");
      const FigureHead head = row.head(input_of(c, print), view);
      for (const float width : {340.0f, row.width_pt}) {
        CAPTURE(preset);
        CAPTURE(row.name);
        CAPTURE(width);
        const auto canvas = drawn(std::string(row.name), c, "print", 9, width, width * 2 / 3, view);
        CHECK(canvas->find_text(head.title));
        if (!head.takeaway.empty()) CHECK((canvas->find_text(head.takeaway) || canvas->find_text(head.brief)));
      }
    }
}

TEST_CASE("at the width of a column no word of a figure is cut, in either mode") {
  FigureView view;
  view.print = true;
  for (const auto& entry : tests::library().list(io::PresetKind::scenario)) {
    const std::string& preset = entry.id;
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated}) {
      engine::Scenario s = tests::preset(preset);
      s.assumptions.mode = mode;
      const FigureCase c = evaluated(s);
      for (const FigureRow& row : figures()) {
        if (!shows(row, c.scenario) || row.needs == Needs::baseline || row.about == About::search) continue;
        CAPTURE(preset);
        CAPTURE(static_cast<int>(mode));
        CAPTURE(row.name);
        const float width = 238.1f;
        const auto canvas =
            drawn(std::string(row.name), c, "print", 9, width, std::max(row.height_pt, width * 0.75f), view);
        CHECK(canvas->audit_text() == "");
        for (const TextRun& run : canvas->texts()) {
          CAPTURE(run.text);
          CHECK((run.text == "\u2026" || !run.text.ends_with("\u2026")));  // alone it stands between nodes
        }
      }
    }
  }
}

TEST_CASE("in a column no total of a ZeRO stage reaches the time beside it, whatever is free of the capacity") {
  FigureView view;
  view.print = true;
  for (const char* preset : {"llama3-70b-v5p-4-pods", "llama3-405b-16k-h100", "deepseek-v3-2048-h800"})
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated})
      for (const int tokens : {1024, 2048, 4096, 8192, 16384}) {  // more or less of it is taken
        engine::Scenario s = tests::preset(preset);
        s.assumptions.mode = mode;
        s.workload.sequence_length = tokens;
        CAPTURE(preset);
        CAPTURE(static_cast<int>(mode));
        CAPTURE(tokens);
        CHECK(drawn("zero-stages", evaluated(s), "print", 9, 238.1f, 240, view)->audit_text() == "");
      }
}

TEST_CASE("tags of presets' figures are quantities that can be explained, or say whose they are") {
  for (const char* preset : kTrainingPresets) {
    const FigureCase c = preset_case(preset);
    std::vector<std::string> known = engine::explainable(c.scenario);
    std::sort(known.begin(), known.end());
    for (const std::string_view name : kNames) {
      const auto canvas = drawn(std::string(name), c, "dark", 15, 900, 500);
      CHECK(canvas->tags().size() > 1);
      for (const TagRegion& tag : canvas->tags()) {
        const auto q = engine::find_quantity(tag.id);
        CAPTURE(preset);
        CAPTURE(tag.id);
        if (!q) {
          CHECK(tag.id.starts_with(std::string(name.substr(0, 4))));
          continue;
        }
        std::string id = tag.id;
        if (engine::index_kind(engine::quantity(*q)) == engine::IndexKind::axis && tag.index >= 0)
          id += "[" + std::string(engine::kAxisIds[static_cast<std::size_t>(tag.index)]) + "]";
        CHECK(std::binary_search(known.begin(), known.end(), id));
      }
    }
  }
}
