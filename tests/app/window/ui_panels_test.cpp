#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/shell/commands.h"
#include "engine/evaluate/offers.h"
#include "tests/app/window/ui_checks.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using test::check_overlaps;
using test::check_texts;
using test::Harness;
using widgets::Key;

namespace {

constexpr test::WindowSize kPanelSizes[] = {{1024, 700}, {1280, 720}, {1920, 1080}, {3840, 2160}};

std::vector<std::string> scenario_ids() {
  std::vector<std::string> ids;
  for (const io::Preset& p : test::presets().list(io::PresetKind::scenario)) ids.push_back(p.id);
  return ids;
}

const widgets::TagRegion* find_tag(const Harness& h, std::string_view id) {
  for (const widgets::TagRegion& tag : h.canvas.tags())
    if (tag.id == id && tag.rect.w > 4 && tag.rect.h > 4) return &tag;
  return nullptr;
}

}  // namespace

TEST_CASE("all panels draw inside the window and cut no text, for every scenario at four sizes") {
  for (const std::string& id : scenario_ids())
    for (const test::WindowSize size : kPanelSizes)
      for (const bool open : {false, true}) {
        Harness h(id, size.width, size.height);
        h.parts.panels.right_rail.open = open;
        h.step(3);
        CAPTURE(id);
        CAPTURE(size.width);
        CAPTURE(open);
        const auto audit = widgets::compat::audit_draw_data();
        CHECK(audit.vertices > 5000);
        CHECK(audit.outside == 0);
        check_texts(h, size.width);
        check_overlaps(h);
      }
}

TEST_CASE("each figure draws maximised at every size") {
  for (const test::WindowSize size : kPanelSizes) {
    Harness h("llama3-405b-16k-h100", size.width, size.height, "light");
    for (std::size_t i = 0; i < widgets::figures().size(); ++i) {
      h.parts.panels.figures.maximised = i;
      h.step(2);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      check_texts(h, size.width);
    }
  }
}

TEST_CASE("clicking a memory segment opens its derivation") {
  Harness h("llama3-405b-16k-h100");
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  const widgets::TagRegion* tag = find_tag(h, "memory.activations_bytes");
  REQUIRE(tag != nullptr);
  const widgets::Point at = tag->rect.centre();
  h.canvas.set_tagging(widgets::Tagging::none);
  h.click(at);
  REQUIRE_FALSE(h.parts.panels.right_rail.derivation.trail.empty());
  CHECK(h.parts.panels.right_rail.derivation.trail.back() == "memory.activations_bytes");
  REQUIRE(h.parts.panels.right_rail.derivation.derived.has_value());
  REQUIRE(h.parts.panels.right_rail.derivation.derived->derivation.has_value());
  CHECK(h.parts.panels.right_rail.derivation.derived->derivation->lines.front().id == "memory.activations_bytes");
}

TEST_CASE("before anything was clicked, the rail of a plan that does not fit derives its memory") {
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  s.model = *test::presets().find_model("llama3-70b");
  Harness h(s, "", 1920, 1080);
  REQUIRE_FALSE(h.report().has_errors());
  REQUIRE_FALSE(h.report().fits());
  REQUIRE(h.parts.panels.right_rail.derivation.derived.has_value());
  CHECK(h.parts.panels.right_rail.derivation.derived->id == "memory.chip_total_bytes");
}

TEST_CASE("the rail says why a number is zero, and what fills a makespan") {
  Harness h("llama3-8b-8-h100", 1920, 1080);
  const auto says = [](Harness& window, const char* id, std::string_view words) {
    window.parts.panels.right_rail.derivation.open(id);
    window.step(2);
    const auto& all = window.canvas.drawn_texts();
    return std::any_of(all.begin(), all.end(), [&](const auto& t) { return t.text.starts_with(words); });
  };
  CHECK(says(h, "step.bubble_s", "Zero: there is one pipeline stage."));
  CHECK_FALSE(says(h, "step.time_s", "Zero: "));
  Harness staged("llama3-405b-16k-h100", 1920, 1080);
  CHECK(says(staged, "pipeline.makespan_s", "critical path: "));
}

TEST_CASE("of a plan that is not possible the rail says why and derives the number that is wrong, no time") {
  struct Case {
    void (*spoil)(engine::Scenario&);
    std::string_view code, derived, words;
  };
  for (const Case& c : {Case{[](engine::Scenario& s) { s.parallelism.fsdp = 64; }, "mesh.too_many_chips",
                             "mesh.chips", "the cluster has"},
                        Case{[](engine::Scenario& s) { s.workload.global_batch_sequences = 2; },
                             "batch.too_few_sequences", "mesh.data_ranks", "cannot feed"},
                        Case{[](engine::Scenario& s) { s.parallelism.fsdp = 1, s.parallelism.expert = 8; },
                             "expert.dense_model", "", "the model is dense"}}) {
    CAPTURE(c.code);
    engine::Scenario s = test::preset("llama3-8b-8-h100");
    c.spoil(s);
    Harness h(s, "", 1920, 1080);
    REQUIRE(h.report().has_errors());
    REQUIRE(h.report().diagnostics.front().code == c.code);
    const auto says = [&h](std::string_view words) {
      return std::any_of(h.canvas.drawn_texts().begin(), h.canvas.drawn_texts().end(),
                         [&](const auto& t) { return t.text.find(words) != std::string::npos; });
    };
    CHECK(says("Why not possible?"));
    CHECK(says(c.words));
    REQUIRE(h.parts.panels.right_rail.derivation.derived.has_value());
    CHECK(h.parts.panels.right_rail.derivation.derived->id == c.derived);
    check_texts(h, 1920);
    // Asked for a time all the same: there is none, and the panel says so, with the way to plans that have one.
    h.parts.panels.right_rail.derivation.trail = {"step.time_s"};
    h.step(2);
    REQUIRE(h.parts.panels.right_rail.derivation.derived.has_value());
    CHECK_FALSE(h.parts.panels.right_rail.derivation.derived->derivation.has_value());
    CHECK(says("This plan is not possible"));
    CHECK(says(c.words));
    CHECK(h.place("why.search") != nullptr);
    check_texts(h, 1920);
    check_overlaps(h);
  }
}

TEST_CASE("where a figure of the chip is missing the button leads to the editor, since no plan has the figure") {
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  REQUIRE_FALSE(io::set_field(s, "cluster.chip=gaudi2", test::presets()));
  Harness h(s, "", 1920, 1080);
  REQUIRE(h.report().has_errors());
  CHECK(h.place("why.search") == nullptr);
  h.click("why.enter_figure");
  h.step(2);
  CHECK(h.parts.panels.editor.open);
}

TEST_CASE("from a plan that is not possible one button leads to the search of those that are") {
  struct Impossible {
    const char* preset;
    int engine::Parallelism::*axis;
  };
  for (const Impossible& c : {Impossible{"llama3-8b-8-h100", &engine::Parallelism::fsdp},
                              {"llama3-70b-serving-8-h100", &engine::Parallelism::tensor}}) {
    CAPTURE(c.preset);
    engine::Scenario s = test::preset(c.preset);
    s.parallelism.*c.axis = 64;
    Harness h(s, "", 1920, 1080);
    REQUIRE(h.report().has_errors());
    h.click(h.place("why.search")->visible.centre());
    h.step(2);
    CHECK(h.parts.panels.search.open);
  }
}

TEST_CASE("what the numbers are headed by is what the network figure says of the plan") {
  engine::Scenario s = test::preset("llama3-70b-v5p-pod");
  const auto headed = [](const Harness& h, std::string_view words) {
    return std::any_of(h.canvas.drawn_texts().begin(), h.canvas.drawn_texts().end(),
                       [&](const auto& t) { return t.text == words; });
  };
  Harness h(s, "", 1920, 1080);
  h.show_numbers();
  CHECK(headed(h, "512 tokens: network-bound"));  // no room for all of it
  Harness wide(s, "", 2560, 1080);
  wide.show_numbers();
  CHECK(headed(wide, "512 tokens per chip: this plan's forward pass is network-bound below 534"));
}

TEST_CASE("the verdict of a plan that is not validated says so of MFU once") {
  Harness h("llama3-70b-v5p-pod");
  h.workspace.finish_evidence();
  h.step(2);
  const auto* mfu = h.place("verdict.mfu");
  const auto* step = h.place("verdict.step");
  REQUIRE(mfu != nullptr);
  REQUIRE(step != nullptr);
  const auto said = std::count_if(h.canvas.drawn_texts().begin(), h.canvas.drawn_texts().end(), [&](const auto& t) {
    return t.text.find("not validated") != std::string::npos && t.rect.x >= mfu->rect.x - 2 &&
           t.rect.x < step->rect.x;
  });
  CHECK(said == 1);
}

TEST_CASE("in the projector a plan that is not possible is not said to fit") {
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  s.parallelism.fsdp = 64;
  Harness h(s, "", 1920, 1080);
  h.key({Key::f5});
  const auto says = [&h](std::string_view words) {
    return std::any_of(h.canvas.drawn_texts().begin(), h.canvas.drawn_texts().end(),
                       [&](const auto& t) { return t.text == words; });
  };
  CHECK(says("Not possible"));
  CHECK_FALSE(says("Fits"));
}

TEST_CASE("a derivation can be followed down to its inputs and back") {
  Harness h;
  h.click("verdict.mfu");
  REQUIRE(h.parts.panels.right_rail.derivation.trail.back() == "mfu");
  // Click operands until an input is reached.
  for (int depth = 0; depth < 12; ++depth) {
    const auto& lines = h.parts.panels.right_rail.derivation.derived->derivation->lines;
    if (lines.front().is_input) break;
    std::string next;
    for (const auto& entry : h.parts.probe.all())
      if (entry.first.starts_with("why.") && entry.first.find(lines.front().id) == std::string::npos &&
          entry.second.visible.h > 8) {
        next = entry.first;
        break;
      }
    REQUIRE_FALSE(next.empty());
    h.click(h.place(next)->visible.centre());
  }
  CHECK(h.parts.panels.right_rail.derivation.derived->derivation->lines.front().is_input);
  const std::size_t depth = h.parts.panels.right_rail.derivation.trail.size();
  REQUIRE(depth > 1);
  h.click("why.back");
  CHECK(h.parts.panels.right_rail.derivation.trail.size() == depth - 1);
}

TEST_CASE("every number of the verdict opens a derivation") {
  Harness h("llama3-405b-16k-h100");
  for (const char* name :
       {"verdict.memory", "verdict.bound", "verdict.mfu", "verdict.step", "verdict.run", "verdict.cost"}) {
    CAPTURE(name);
    h.parts.panels.right_rail.derivation.trail.clear();
    h.click(name);
    REQUIRE(h.parts.panels.right_rail.derivation.trail.size() == 1);
    CHECK(h.parts.panels.right_rail.derivation.derived->derivation.has_value());
  }
}

TEST_CASE("hovering a stage of the memory figure lights the same stage of the pipeline") {
  Harness h("llama3-405b-16k-h100");
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  const widgets::TagRegion* tag = nullptr;
  for (const widgets::TagRegion& t : h.canvas.tags())
    if (t.id == "memory.weights_bytes" && t.index == 6) tag = &t;
  REQUIRE(tag != nullptr);
  const widgets::Point at = tag->rect.centre();
  h.canvas.set_tagging(widgets::Tagging::none);
  h.move(at);
  CHECK(h.parts.hovered.stage == 6);
  h.wait(0.2);
  CHECK(h.parts.interaction.current_hint().show);
  CHECK_FALSE(h.parts.interaction.current_hint().readout.title.empty());
}

TEST_CASE("the readout of a large region stands by the pointer and inside its figure") {
  Harness h("llama3-70b-v5p-pod", 3840, 2160);
  const auto all = widgets::figures();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == "memory-time") h.parts.panels.figures.maximised = i;
  h.step();
  const widgets::Rect figure = h.place("figure.memory-time")->visible;
  for (const float share : {0.3f, 0.5f, 0.9f}) {
    CAPTURE(share);
    const widgets::Point at{figure.x + share * figure.w, figure.y + 0.75f * figure.h};
    h.move(at);
    h.wait(0.5);
    const auto& hint = h.parts.interaction.current_hint();
    REQUIRE(hint.show);
    CHECK(hint.within == figure);
    const float near = 60 * h.workspace.em_px({0, 0, 3840, 2160}) / 15;
    CHECK(std::abs(hint.avoid.centre().x - at.x) < near);
    CHECK(std::abs(hint.avoid.centre().y - at.y) < near);
  }
}

TEST_CASE("a click that opens the right rail draws it in its own width, not in that of the folded strip") {
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  REQUIRE_FALSE(h.parts.panels.right_rail.open);
  const widgets::Point at = h.place("verdict.mfu")->visible.centre();
  h.move(at);
  h.press();
  widgets::compat::press_pointer(0, false);
  h.step();  // the frame of the click
  CHECK(h.parts.panels.right_rail.open);
  check_texts(h, 1280);
  h.step();
  CHECK(h.place("right.fold") != nullptr);
}

TEST_CASE("a fix button applies the change it names, a finding whose change would not help has none") {
  std::vector<engine::Scenario> plans;
  for (const std::string& id : scenario_ids()) plans.push_back(test::preset(id));
  plans.push_back(test::preset("llama3-70b-v5p-pod"));
  plans.back().parallelism.tensor = 64;  // a mesh larger than the cluster
  int clicked = 0;
  for (const engine::Scenario& plan : plans) {
    Harness h(plan, "", 1920, 1080);
    const std::vector<engine::OfferedFinding> offered = engine::vetted_findings(h.scenario(), h.report());
    for (const engine::OfferedFinding& f : offered) {
      const std::string button = "fix." + std::string(f.diagnostic.code);
      CAPTURE(button);
      if (f.diagnostic.fix.empty()) CHECK(h.place(button) == nullptr);
    }
    const auto with_fix =
        std::find_if(offered.begin(), offered.end(), [](const auto& f) { return !f.diagnostic.fix.empty(); });
    if (with_fix == offered.end()) continue;
    h.click("fix." + std::string(with_fix->diagnostic.code));
    for (const engine::FieldEdit& edit : with_fix->diagnostic.fix) CHECK(edit.field->get(h.scenario()) == edit.value);
    CHECK(h.parts.session.history().undo_depth() == 1);
    ++clicked;
  }
  CHECK(clicked > 0);
}

TEST_CASE("try four stages gives a pipeline and keeps the chips in use") {
  Harness h;
  h.show_numbers();
  const auto chips = h.report().quantities[engine::Q::chips_used];
  h.click("pipeline.try_stages");
  CHECK(h.scenario().parallelism.pipeline == 4);
  CHECK(h.report().quantities[engine::Q::chips_used] == chips);
}

TEST_CASE("figures of schedules offer four stages too where there is one") {
  for (const char* name : {"bubble", "schedules"}) {
    CAPTURE(name);
    Harness h("llama3-8b-8-h100");
    const auto all = widgets::figures();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) h.parts.panels.figures.maximised = i;
    h.step();
    h.click(std::string(name) + ".try_stages");
    CHECK(h.scenario().parallelism.pipeline == 4);
  }
}

TEST_CASE("the verdict says what the share of its bound counts") {
  const auto says = [](const Harness& h, std::string_view words) {
    const auto texts = h.canvas.drawn_texts();
    return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t.text == words; });
  };
  const auto ideal = [](const std::string& id) {
    engine::Scenario s = test::preset(id);
    s.assumptions.mode = engine::Mode::ideal;
    return s;
  };
  engine::Scenario again = ideal("llama3-405b-16k-h100-8k");
  again.checkpointing.policy = engine::CheckpointPolicy::attention;
  CHECK(says(Harness(again, "", 1920, 1080), "76\u202f% with recomputation"));
  engine::Scenario every_copy = ideal("deepseek-v3-2048-h800");
  every_copy.model.moe.groups_per_token = 0;
  CHECK(says(Harness(every_copy, "", 1920, 1080), "busy 82\u202f%, 12\u202f% exposed"));
}

TEST_CASE("a tall cell of the limits shows the network figure below their rows") {
  Harness h("llama3-405b-16k-h100-8k", 3840, 2160);
  h.show_numbers();
  REQUIRE(h.place("figure.network") != nullptr);
  REQUIRE(h.place("number.run.chip_hours") != nullptr);
  CHECK(h.place("figure.network")->rect.y > h.place("number.run.chip_hours")->rect.bottom());
  CHECK(widgets::compat::audit_draw_data().outside == 0);
  check_texts(h, 3840);
  h.resize(1920, 1080);
  CHECK(h.place("figure.network") == nullptr);
}

TEST_CASE("a cell of the limits shows no network figure that stands elsewhere") {
  Harness h("llama3-405b-16k-h100-8k", 3840, 2160);
  h.show_numbers();
  h.parts.settings.arrangement.cells[0] = "network";
  h.step(2);
  REQUIRE(h.place("figure.network") != nullptr);
  CHECK(h.place("figure.network")->rect.x < h.place("number.run.chip_hours")->rect.x);
}

TEST_CASE("a tall cell of the limits shows the network figure of a plan that leaves chips idle") {
  engine::Scenario s = test::preset("llama3-405b-16k-h100-8k");
  s.parallelism.fsdp = 64;  // of 128
  Harness h(s, "", 3840, 2160);
  h.show_numbers();
  CHECK(h.place("figure.network") != nullptr);
}

TEST_CASE(
    "rows of the limits move apart in a cell that is a little too tall for them, and lose no row in a low one") {
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  h.show_numbers();
  const auto pitch = [&h] {
    const auto* first = h.place("number.flops.run");
    const auto* last = h.place("number.run.chip_hours");
    REQUIRE(first != nullptr);
    REQUIRE(last != nullptr);
    return (last->rect.y - first->rect.y) / 3 / h.workspace.em_px({0, 0, h.width(), h.width() * 9 / 16});
  };
  const float low = pitch();
  CHECK(low >= 1.6f - 0.1f);
  h.resize(1920, 1080);
  CHECK(pitch() > 1.2f * low);
  CHECK(pitch() <= 1.4f * 1.6f);
}

TEST_CASE("a control of the rail carries the mark of its finding, and says it when it is pointed at") {
  engine::Scenario s = test::preset("llama3-70b-v5p-pod");
  s.parallelism.fsdp = 65536;
  Harness h(s, "", 1920, 1080);
  REQUIRE(h.report().has_errors());
  CHECK(widgets::compat::audit_draw_data().outside == 0);
  check_texts(h, 1920);
  const auto says = [&h](std::string_view words) {
    return std::any_of(h.canvas.drawn_texts().begin(), h.canvas.drawn_texts().end(),
                       [&](const auto& t) { return t.text.starts_with(words); });
  };
  REQUIRE(h.reach("parallelism.fsdp"));
  const widgets::Rect row = h.place("parallelism.fsdp")->rect;
  h.move({row.x + 4, row.centre().y});
  h.wait(1.5);
  CHECK(says("The mesh needs"));
}

TEST_CASE("a file that cannot be read is told in the strip and the scenario stays") {
  Harness h;
  const engine::Scenario before = h.scenario();
  h.workspace.open("/no/such/file.json");
  h.step(2);
  REQUIRE(h.parts.session.message().has_value());
  CHECK(h.parts.session.message()->is_error);
  CHECK(h.parts.session.message()->text.find("/no/such/file.json") != std::string::npos);
  CHECK(h.scenario() == before);
  h.click("message.dismiss");
  CHECK_FALSE(h.parts.session.message().has_value());
}

TEST_CASE("a saved scenario opens again as it was") {
  Harness h;
  h.drag("parallelism.tensor", 0.2f, 0.6f);
  CHECK_FALSE(h.parts.session.saved());
  const auto file = std::filesystem::temp_directory_path() / "roofscape-ui-test.json";
  h.parts.save_as(file.string());
  CHECK(h.parts.session.saved());
  const engine::Scenario kept = h.scenario();
  h.key({widgets::key_of('2'), false, false, true});
  CHECK_FALSE(h.scenario() == kept);
  h.workspace.open(file.string());
  CHECK(h.scenario() == kept);
  std::filesystem::remove(file);
}

TEST_CASE("every command has a title, and those that need no window run") {
  Harness h("llama3-405b-16k-h100");
  for (const app::Command& c : app::commands()) {
    CAPTURE(c.id);
    CHECK(h.workspace.texts().has("command." + std::string(c.id)));
    if (c.id == "figure.export") continue;  // writes files
    if (app::enabled(c, h.workspace)) c.run(h.workspace);
    h.step(2);
    h.parts.interaction.close_popup();
    h.parts.panels.sheets.shown = app::Sheet::none;
    CHECK(widgets::compat::audit_draw_data().outside == 0);
  }
}

TEST_CASE("the sheets of keys and of saving draw and close with Escape") {
  for (const test::WindowSize size : kPanelSizes) {
    Harness h("llama3-8b-8-h100", size.width, size.height);
    h.key({Key::f1});
    CHECK(h.parts.panels.sheets.shown == app::Sheet::help);
    check_texts(h, size.width);
    h.key({Key::escape});
    CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
    h.key({widgets::key_of('S'), true, true, false});
    CHECK(h.parts.panels.sheets.shown == app::Sheet::save_as);
    h.key({Key::escape});
    CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  }
}

TEST_CASE("menus open from the bar and slide to their neighbour") {
  Harness h;
  h.click("menu.file");
  CHECK(h.parts.interaction.popup_open("menu.file"));
  h.move(h.place("menu.view")->rect.centre());
  CHECK(h.parts.interaction.popup_open("menu.view"));
  h.key({Key::escape});
  CHECK_FALSE(h.parts.interaction.blocked());
  const bool dark = h.workspace.theme().dark();
  h.key({widgets::key_of('T'), true, false, false});
  CHECK(h.workspace.theme().dark() != dark);
}

TEST_CASE("zoom rebuilds the text and everything still fits") {
  Harness h("llama3-405b-16k-h100");
  for (int i = 0; i < 10; ++i) {
    h.key({Key::equal, true, false, false});
    CHECK(widgets::compat::audit_draw_data().outside == 0);
  }
  CHECK(h.parts.settings.zoom > 2);
  h.key({widgets::key_of('0'), true, false, false});
  CHECK(h.parts.settings.zoom == 0);
}

TEST_CASE("data of a figure is copied as a table") {
  Harness h("llama3-405b-16k-h100");
  std::string copied;
  h.workspace.actions().copy_text = [&](const std::string& text) { copied = text; };
  h.parts.panels.figures.maximised = 1;
  h.step();
  h.key({widgets::key_of('C'), true, false, false});
  CHECK(copied.starts_with("stage\t"));
  CHECK(std::count(copied.begin(), copied.end(), '\n') == 17);
}
