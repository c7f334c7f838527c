// The window's side of first moves: what a gesture makes follow is one step and is said, rows of the rail keep still
// under the pointer, an impossible plan is explained once, and what starts in a mode starts from the right values.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/diagnostic_words.h"
#include "app/session/default_cells.h"
#include "app/session/scenario_edits.h"
#include "app/session/settings.h"
#include "app/session/settle_edit.h"
#include "app/shell/commands.h"
#include "engine/base/text_match.h"
#include "engine/evaluate/custom_mode.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/missing_figures.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/studies/nearest_plan.h"
#include "tests/app/window/ui_harness.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;

namespace {

// Where the middles of the rail's rows stand in its content, whatever is scrolled: a control is lower than its row.
std::map<std::string, float> rows_of(const Harness& h) {
  std::map<std::string, float> rows;
  const auto* first = h.place("model");
  if (first == nullptr) return rows;
  for (const auto& [name, place] : h.parts.probe.all())
    if (place.rect.x < 340 && engine::find_field(name.substr(0, name.rfind(".track"))) != nullptr)
      rows[name] = place.rect.centre().y - first->rect.centre().y;
  return rows;
}

int times_drawn(const Harness& h, const std::string& words) {
  int n = 0;
  for (const auto& t : h.canvas.drawn_texts()) n += t.text.find(words) != std::string::npos ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("a mesh slider moved as far as it goes leaves a picture, and one undo brings all of it back") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100"})
    for (const char* path : {"parallelism.data", "parallelism.tensor", "parallelism.pipeline"}) {
      CAPTURE(id);
      CAPTURE(path);
      Harness h(id);
      const engine::Scenario before = h.scenario();
      h.drag(path, 0.1f, 1.0f, 2);
      CHECK(h.parts.session.drawable());
      if (h.scenario() == before) continue;
      CHECK(h.parts.session.history().undo_depth() == 1);
      h.key({widgets::key_of('Z'), true, false, false});
      CHECK(h.scenario() == before);
    }
}

TEST_CASE("a drag that comes back leaves the mesh as it was, however the others gave way meanwhile") {
  Harness h("llama3-405b-16k-h100");
  const engine::Scenario before = h.scenario();
  REQUIRE(h.reach("parallelism.context"));
  const auto track = h.place("parallelism.context.track")->rect;
  const float at = std::log2(static_cast<float>(before.parallelism.context)) / 8 * track.w;
  h.move({track.x + at, track.centre().y});
  h.press();
  for (const float share : {0.4f, 0.8f, 1.0f}) h.move({track.x + share * track.w, track.centre().y});
  CHECK_FALSE(h.scenario() == before);
  h.move({track.x + at + 2, track.centre().y});
  h.release();
  CHECK(h.scenario() == before);
  CHECK(h.parts.session.history().undo_depth() == 0);
}

TEST_CASE("another cluster takes the nearest plan that runs in one step, says what it set, and the words go stale") {
  Harness h("llama3-405b-16k-h100");
  const engine::Scenario before = h.scenario();
  engine::Scenario edited = before;
  edited.cluster = *test::presets().find_cluster("dgx-h100");
  const app::SettledEdit settled = app::settle_edit(before, before, edited, {}, test::presets().chips());
  CHECK(settled.runs);
  CHECK_FALSE(settled.also.empty());
  h.parts.run_entry({app::PaletteKind::cluster, "DGX H100", {}, "dgx-h100"});
  h.step(2);
  CHECK(h.parts.session.drawable());
  CHECK(engine::chip_count(h.scenario().cluster) == 8);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->text.find("Ctrl+Z") != std::string::npos);
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
  CHECK_FALSE(h.parts.session.message().has_value());
}

TEST_CASE("prefill on its own chips, switched on in the rail, runs at once") {
  Harness h("llama3-70b-serving-8-h100");
  h.click("serving.disaggregated");
  CHECK(h.scenario().serving.disaggregated);
  CHECK(h.parts.session.drawable());
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK_FALSE(h.scenario().serving.disaggregated);
}

TEST_CASE("a value typed to the letter may be impossible: the picture stays dimmed, and one place says why") {
  for (const float width : {1920.0f, 1280.0f}) {
    CAPTURE(width);
    Harness h("llama3-70b-v5p-pod", width, width * 9 / 16);
    h.click("parallelism.tensor.box");
    h.type("12");
    h.key({Key::enter});
    REQUIRE(h.scenario().parallelism.tensor == 12);
    REQUIRE_FALSE(h.parts.session.drawable());
    h.move({width / 2, 30});
    // The mesh is too large and the heads do not divide: the list says both, a card the one that has a remedy.
    int said = 0;
    for (const engine::Diagnostic& why : h.report().diagnostics) {
      if (why.severity != engine::Severity::error) continue;
      const int drawn =
          times_drawn(h, std::string(h.workspace.texts().text("diagnostic." + std::string(why.code) + ".title")));
      CHECK(drawn <= 1);
      said += drawn;
    }
    CHECK(said == (width > 1800 ? 2 : 1));
    const std::string last(h.workspace.texts().text("ui.figure.last_valid"));
    CHECK(times_drawn(h, last) >= 1);
  }
}

TEST_CASE("a plan that was impossible from the first has its reason in every cell, and no picture is spoken of") {
  engine::Scenario plan = io::load_scenario("llama3-405b-16k-h100-8k", test::presets()).value();
  plan.pipeline.schedule = engine::ScheduleKind::dualpipe;
  Harness h(std::move(plan), {}, 1920, 1080);
  REQUIRE_FALSE(h.parts.session.drawable());
  const engine::Diagnostic* why = app::worst_diagnostic(h.report());
  REQUIRE(why != nullptr);
  const std::string title(h.workspace.texts().text("diagnostic." + std::string(why->code) + ".title"));
  const std::string last(h.workspace.texts().text("ui.figure.last_valid"));
  CHECK(times_drawn(h, title) >= 4);
  CHECK(times_drawn(h, last) == 0);
  h.key({Key::f5});
  h.step(2);
  CHECK(times_drawn(h, title) >= 1);
  CHECK(times_drawn(h, last) == 0);
}

TEST_CASE("no row of the rail moves, whatever is edited in it") {
  for (const char* id : {"llama3-70b-v5p-pod", "deepseek-v3-2048-h800", "llama3-70b-serving-8-h100"}) {
    CAPTURE(id);
    Harness h(id, 1024, 2000);
    h.parts.panels.editor.open = true;  // beside the rail, so that no figure is drawn of plans without measure
    h.step(2);
    const auto before = rows_of(h);
    REQUIRE(before.size() > 20);
    std::mt19937 random(5);
    const auto chance = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int i = 0; i < 12; ++i) {
      // Any field of the rail but what it is made for: kind, model, cluster, and the prefill chips that open a mesh.
      std::vector<const engine::Field*> fields;
      for (const engine::Field& f : engine::scenario_fields())
        if (engine::applies(f, h.scenario().workload.kind) && f.path != "workload.kind" &&
            f.path != "serving.disaggregated" && !f.path.starts_with("model.") && !f.path.starts_with("cluster.") &&
            !f.path.starts_with("workload.lengths") && !f.path.starts_with("assumptions.custom"))
          fields.push_back(&f);
      const engine::Field& field = *fields[static_cast<std::size_t>(chance(static_cast<int>(fields.size())))];
      engine::Scenario edited = h.scenario();
      const double value = field.kind == engine::FieldKind::choice    ? chance(static_cast<int>(field.choices.size()))
                           : field.kind == engine::FieldKind::boolean ? chance(2)
                           : field.kind == engine::FieldKind::integer
                               ? std::clamp(std::exp2(chance(9)), field.minimum, field.maximum)
                               : std::clamp(chance(100) / 100.0, field.minimum, field.maximum);
      if (!engine::in_domain(field, value)) continue;
      field.set(edited, value);
      h.parts.session.update(std::move(edited), false);
      h.step(1);
      CAPTURE(field.path);
      for (const auto& row : rows_of(h)) {
        CAPTURE(row.first);
        const auto was = before.find(row.first);
        if (was != before.end()) CHECK(std::abs(row.second - was->second) < 0.5f);
      }
    }
  }
}

TEST_CASE("custom mode starts from the calibrated values of chip and software, from ideal as from calibrated") {
  for (const char* id :
       {"llama3-8b-8-h100", "llama3-70b-v5p-pod", "llama3-405b-16k-h100", "llama3-70b-serving-8-h100"})
    for (const engine::Mode from : {engine::Mode::ideal, engine::Mode::calibrated}) {
      CAPTURE(id);
      engine::Scenario before = test::preset(id);
      before.assumptions.mode = from;
      engine::Scenario edited = before;
      edited.assumptions.mode = engine::Mode::custom;
      const engine::Scenario custom =
          app::settle_edit(before, before, edited, {"assumptions.mode"}, test::presets().chips()).scenario;
      engine::Scenario calibrated = before;
      calibrated.assumptions.mode = engine::Mode::calibrated;
      CHECK(custom.assumptions.custom == engine::calibrated_values(calibrated));
      const engine::Report a = engine::evaluate(custom), b = engine::evaluate(calibrated);
      for (const engine::Q q : {engine::Q::step_time, engine::Q::mfu, engine::Q::memory_total,
                                engine::Q::hbm_capacity, engine::Q::time_per_output_token, engine::Q::ttft})
        CHECK(a.quantities[q] == b.quantities[q]);
      // Values set by hand stay.
      engine::Scenario by_hand = before;
      by_hand.assumptions.custom.values[0] = 0.123;
      edited = by_hand;
      edited.assumptions.mode = engine::Mode::custom;
      CHECK(app::settle_edit(by_hand, by_hand, edited, {"assumptions.mode"}, test::presets().chips())
                .scenario.assumptions.custom.values[0] == 0.123);
    }
  // The host's time of a training step does not come into a decoding step.
  engine::Scenario serving = test::preset("llama3-8b-serving-8-h100");
  serving.cluster.chip = *test::presets().find_chip("tpu-v5p");
  CHECK(engine::calibrated_values(serving)[engine::Calibrated::step_host] == 0);
  Harness h("llama3-8b-8-h100");
  const engine::Scenario before = h.scenario();
  h.click("mode.2");
  CHECK(h.scenario().assumptions.mode == engine::Mode::custom);
  CHECK(h.scenario().assumptions.custom == engine::calibrated_values(before));
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
}

TEST_CASE("settings of before the mesh kept its product are read, and what was their default is today's") {
  const auto folder = std::filesystem::temp_directory_path() / "roofscape-first-moves";
  std::filesystem::create_directories(folder);
  const auto file = folder / "settings.json";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write(R"({"theme": "light", "zoom": "1.25", "mesh.keep_product": "0", "mesh.partner": "data",
            "layout.cell.0": "roofline", "layout.cell.1": "numbers", "layout.cell.2": "memory",
            "layout.cell.3": "pipeline", "layout.serving_cell.0": "kv"})");
  app::Settings read = app::read_settings(file);
  CHECK(read.theme == "light");
  CHECK(read.zoom == 1.25);
  CHECK(read.mesh.partner == engine::Axis::data);
  CHECK(read.mesh.keep_product);
  CHECK(read.arrangement.cells == app::default_cells(engine::WorkloadKind::training));
  CHECK(read.other_cells[0] == "kv");
  // What is chosen now is kept.
  read.mesh.keep_product = false;
  read.arrangement.cells = {"roofline", "numbers", "memory", "pipeline"};
  REQUIRE(app::write_settings(file, read));
  CHECK_FALSE(app::read_settings(file).mesh.keep_product);
  CHECK(app::read_settings(file).arrangement.cells[1] == "numbers");
  std::filesystem::remove_all(folder);
}

TEST_CASE("four figures stand in the start grid, none of them a table or a sentence that there is nothing") {
  for (const io::Preset& p : test::presets().list(io::PresetKind::scenario)) {
    CAPTURE(p.id);
    Harness h(p.id);
    for (const std::string& cell : h.parts.settings.arrangement.cells) {
      CAPTURE(cell);
      const widgets::FigureRow* figure = widgets::find_figure(cell);
      REQUIRE(figure != nullptr);
      CHECK(widgets::shows(*figure, h.scenario()));
      CHECK(figure->needs == widgets::Needs::nothing);
    }
    for (const char* key :
         {"figure.step.empty", "figure.network.empty", "figure.decode-step.empty", "figure.serving-memory.empty",
          "figure.serving-roofline.empty", "figure.latency-throughput.empty"})
      if (h.workspace.texts().has(key)) CHECK(times_drawn(h, std::string(h.workspace.texts().text(key))) == 0);
  }
}

TEST_CASE("every chip trains and serves, or says which figure is missing and where to enter it") {
  for (const char* id : {"llama3-8b-8-h100", "llama3-8b-serving-8-h100"}) {
    CAPTURE(id);
    const engine::Scenario before = test::preset(id);
    for (const io::Preset& p : test::presets().list(io::PresetKind::chip)) {
      CAPTURE(p.id);
      engine::Scenario s = before;
      REQUIRE_FALSE(io::set_field(s, "cluster.chip=" + p.id, test::presets()));
      constexpr std::array<std::string_view, 1> kHeld{"cluster"};
      s = engine::nearest_plan_that_runs(before, s, {kHeld}).scenario;
      const engine::Report report = engine::evaluate(s);
      const engine::Q time = s.serves() ? engine::Q::time_per_output_token : engine::Q::step_time;
      if (report.quantities[time]) {
        CHECK_FALSE(report.has_errors());
        continue;
      }
      engine::Scenario entered = s;
      int said = 0;
      for (const engine::Diagnostic& d : report.diagnostics)
        if (d.code == "chip.missing_figure") {
          ++said;
          REQUIRE_FALSE(io::set_field(entered, std::string(d.field_path) + "=100e9", test::presets()));
        }
      CHECK(said >= 1);
      CHECK(engine::evaluate(entered).quantities[time].has_value());
    }
  }
}

TEST_CASE("a name or an id that is typed finds its own thing first, among all of its kind") {
  using engine::match_of;
  for (const io::PresetKind kind :
       {io::PresetKind::chip, io::PresetKind::cluster, io::PresetKind::model, io::PresetKind::scenario})
    for (const io::Preset& wanted : test::presets().list(kind))
      for (const std::string& typed : {wanted.name, wanted.id}) {
        CAPTURE(typed);
        const io::Preset* best = nullptr;
        engine::Match match = engine::Match::none;
        for (const io::Preset& p : test::presets().list(kind))
          if (const auto m = engine::match_of(typed, p.name, p.id); m > match) best = &p, match = m;
        REQUIRE(best != nullptr);
        CHECK((best->id == wanted.id || best->name == wanted.name));
      }
  CHECK(engine::match_of("H200", "NVIDIA H200") > engine::match_of("H200", "NVIDIA GH200"));
  CHECK(engine::match_of("qwen3-32", "Qwen3 32B") == engine::Match::prefix);
  CHECK(engine::match_of("32b qwen3", "Qwen3 32B") == engine::Match::word_start);
  CHECK(engine::match_of("llama", "Qwen3 32B") == engine::Match::none);
}

TEST_CASE("H200 typed at the list of chips and in the palette is the H200") {
  Harness h("llama3-8b-8-h100");
  h.click("cluster");
  h.type("H200");
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().cluster.chip.id == "h200");
  const auto all = [](const app::Command&) { return true; };
  for (const io::PresetKind kind : {io::PresetKind::chip, io::PresetKind::cluster, io::PresetKind::model})
    for (const io::Preset& p : test::presets().list(kind))
      for (const std::string& typed : {p.name, p.id}) {
        CAPTURE(typed);
        const auto found = app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), typed, all, 5);
        REQUIRE_FALSE(found.empty());
        CHECK((found.front().value == p.id || found.front().title == p.name));
      }
}

TEST_CASE("an axis of the torus is given to a mesh axis in the rail, and an unused one is said with its mend") {
  Harness h;
  engine::Scenario s = h.scenario();
  CHECK(s.placement == engine::Placement{});  // the start preset leaves the placement to the engine
  s.placement = app::with_torus_axis(s, 0, engine::Axis::tensor);
  CHECK(s.placement.on[engine::Axis::tensor] == engine::TorusAxes::x);
  s.placement = app::with_torus_axis(s, 0, std::nullopt);
  CHECK(s.placement == engine::Placement{});

  REQUIRE(h.reach("placement.x"));
  s = h.scenario();
  s.parallelism.tensor = 1;
  s.placement.axes[engine::Axis::fsdp] = 1;
  s.parallelism.context = 1;
  const engine::Report report = engine::evaluate(s);
  const auto said = std::find_if(report.diagnostics.begin(), report.diagnostics.end(),
                                 [](const engine::Diagnostic& d) { return d.code == "torus.unused_axis"; });
  REQUIRE(said != report.diagnostics.end());
  REQUIRE_FALSE(said->fix.empty());
  engine::Scenario mended = s;
  for (const engine::FieldEdit& edit : said->fix) engine::apply(mended, edit);
  const engine::Report after = engine::evaluate(mended);
  CHECK(std::none_of(after.diagnostics.begin(), after.diagnostics.end(),
                     [](const engine::Diagnostic& d) { return d.code == "torus.unused_axis"; }));
  CHECK(after.quantities.value_or(engine::Q::step_time, 0) <= report.quantities.value_or(engine::Q::step_time, 0));
}

TEST_CASE("Tab after a value was typed goes on to the next control, which shows that it has the focus") {
  Harness h("llama3-8b-8-h100");
  h.click("parallelism.tensor.box");
  h.type("2");
  h.key({Key::tab});
  CHECK(h.scenario().parallelism.tensor == 2);
  REQUIRE(h.parts.interaction.focus_rect().has_value());
  CHECK(h.parts.interaction.focus_rect()->y == h.place("parallelism.context")->rect.y);
}

TEST_CASE("the mesh axis that gives way has ranks to give, whichever was preferred before") {
  for (const char* id : {"llama3-70b-serving-8-h100", "llama3-405b-16k-h100", "llama3-70b-16-v5e"}) {
    CAPTURE(id);
    const engine::Scenario s = test::preset(id);
    for (const engine::Axis preferred : app::kPartners) {
      const engine::Axis giving = app::giving_partner(s.parallelism, preferred);
      CHECK(s.parallelism.degree(giving) > 1);
      if (s.parallelism.degree(preferred) > 1) CHECK(giving == preferred);
    }
    Harness h(id);
    h.click("mesh.partner");
    REQUIRE(h.parts.interaction.popup().open);
    for (std::size_t i = 0; i < app::kPartners.size(); ++i)
      CHECK(h.parts.interaction.popup().options[i].enabled == (s.parallelism.degree(app::kPartners[i]) > 1));
  }
}

TEST_CASE("a mesh slider dragged to either end leaves a plan that runs and a picture of it, in both kinds") {
  for (const char* id : {"llama3-70b-serving-8-h100", "llama3-405b-16k-h100", "llama3-70b-v5p-pod"})
    for (const char* path : {"parallelism.data", "parallelism.tensor", "parallelism.pipeline"})
      for (const float end : {0.0f, 1.0f}) {
        CAPTURE(id);
        CAPTURE(path);
        CAPTURE(end);
        Harness h(id);
        h.drag(path, 0.5f, end);
        CHECK(h.parts.session.drawable());
        REQUIRE(h.place("verdict.bound") != nullptr);
      }
}

TEST_CASE("the price of a chip is set in the rail, with its unit, and costs follow") {
  Harness h("llama3-8b-8-h100");
  const auto before = h.report().quantities[engine::Q::run_cost];
  h.click("cluster.chip.price_usd_per_chip_hour.box");
  h.type("1.5");
  h.key({Key::enter});
  CHECK(h.scenario().cluster.chip[engine::ChipField::price_usd_per_chip_hour].value == 1.5);
  CHECK(h.report().quantities[engine::Q::run_cost] != before);
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.report().quantities[engine::Q::run_cost] == before);
}
