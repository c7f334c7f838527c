// The command palette finds everything by words and does it by keyboard; projector mode shows one figure a time.
#include <doctest/doctest.h>

#include "app/session/palette_entries.h"
#include "app/shell/commands.h"
#include "tests/app/window/ui_checks.h"
#include "tests/capture_binding.h"
#include "widgets/figures/figures.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;
using widgets::key_of;

namespace {

constexpr widgets::KeyPress kPalette{key_of('P'), true, false, false};

void ask(Harness& h, const std::string& words) {
  h.key(kPalette);
  REQUIRE(h.parts.panels.sheets.shown == app::Sheet::palette);
  h.type(words);
  h.step();
}

void do_first(Harness& h, const std::string& words) {
  ask(h, words);
  CAPTURE(words);
  REQUIRE_FALSE(h.parts.panels.palette.entries.empty());
  h.key({Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
}

app::PaletteEntry first(const Harness& h, std::string_view words) {
  const auto all = app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), words, {});
  REQUIRE_FALSE(all.empty());
  return all.front();
}

}  // namespace

TEST_CASE("a field and a value set it, as one step of undo") {
  Harness h("llama3-405b-16k-h100-8k");
  const engine::Scenario before = h.scenario();
  do_first(h, "tensor 4");
  CHECK(h.scenario().parallelism.tensor == 4);
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
  do_first(h, "schedule gpipe");
  CHECK(h.scenario().pipeline.schedule != before.pipeline.schedule);
  do_first(h, "sequence length 16k");
  CHECK(h.scenario().workload.sequence_length == 16000);
  do_first(h, "calibrated");
  CHECK(h.scenario().assumptions.mode == engine::Mode::calibrated);
  do_first(h, "offload optimizer on");
  CHECK(h.scenario().offload.optimizer != before.offload.optimizer);
}

TEST_CASE("what can be done with a word stands before the presets that are named with it") {
  Harness h("llama3-405b-16k-h100-8k");
  for (const char* typed : {"megatron", "megatron script", "megatron-lm"}) {
    CAPTURE(typed);
    CHECK(first(h, typed).kind == app::PaletteKind::command);
    CHECK(first(h, typed).value == "edit.copy_for.megatron");
  }
  // No command begins a word with it.
  CHECK(first(h, "llama3 70b").kind != app::PaletteKind::command);
  // Just this name goes before all.
  CHECK(first(h, "megatron-h100-70b").kind == app::PaletteKind::model);
}

TEST_CASE("a field is found by a framework's name for it") {
  Harness h;
  for (const char* typed : {"TP 4", "tensor-model-parallel-size 4", "ici_tensor_parallelism 4"}) {
    CAPTURE(typed);
    const auto all = app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), typed, {});
    const auto found = std::find_if(all.begin(), all.end(), [](const app::PaletteEntry& entry) {
      return entry.kind == app::PaletteKind::field && entry.value == "parallelism.tensor" && entry.number == 4;
    });
    CHECK(found != all.end());
  }
}

TEST_CASE("letters and Enter in one frame choose from the list they make, or nothing where it is empty") {
  Harness h("llama3-405b-16k-h100-8k");
  const engine::Scenario before = h.scenario();
  h.key(kPalette);
  h.type_and_press("zzzz", {Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::palette);
  CHECK(h.scenario() == before);
  h.key({Key::escape});
  h.key(kPalette);
  h.type_and_press("tensor 4", {Key::enter});
  CHECK(h.scenario().parallelism.tensor == 4);
  // A long list over which the highlight was far down, then one with a single hit.
  for (const char* word : {"zzzz", "projector mode", "q"})
    for (const Key k : {Key::enter, Key::tab, Key::down, Key::up, Key::page_down}) {
      h.key({Key::escape});
      h.key({Key::escape});
      if (h.parts.panels.projector.open) h.key({Key::escape});
      h.key(kPalette);
      for (int i = 0; i < 5; ++i) h.key({Key::page_down});
      h.type_and_press(word, {k});
    }
}

TEST_CASE("letters and Enter in one frame are safe in every list that is searched by typing") {
  Harness h("llama3-405b-16k-h100-8k");
  for (const char* word : {"zzzz", "h100", "qwen3-8b"}) {
    CAPTURE(word);
    h.click("cluster");
    h.type_and_press(word, {Key::enter});
    h.key({Key::escape});
    h.key({Key::escape});
    for (const Key editor : {Key::f2, Key::f4}) {
      h.key({editor});
      h.click("editor.search");
      h.type_and_press(word, {Key::enter});
      h.key({editor});
    }
    h.key({Key::f6});
    h.click("bench.search");
    h.type_and_press(word, {Key::enter});
    h.key({Key::f6});
  }
}

TEST_CASE("the palette reads numbers with their units, and a share as it is written") {
  Harness h("llama3-70b-v5p-pod");
  do_first(h, "assumptions.overlap 0.5");
  CHECK(h.scenario().assumptions.overlap == 0.5);
  do_first(h, "assumptions.overlap 40%");
  CHECK(h.scenario().assumptions.overlap == 0.4);
  do_first(h, "train tokens 15 T");
  CHECK(h.scenario().workload.train_tokens == 15e12);
  do_first(h, "global batch 1,024");
  CHECK(h.scenario().workload.global_batch_sequences == 1024);
  do_first(h, "reserve 2 GiB");
  CHECK(h.scenario().assumptions.reserve_bytes == 0x1p31);
  // Refused, with what to type instead.
  const app::PaletteEntry refused = first(h, "reserve 30 ms");
  CHECK(refused.kind == app::PaletteKind::complete);
  CHECK(refused.title.find("80 GB") != std::string::npos);
  Harness serving("llama3-70b-serving-8-h100");
  do_first(serving, "workload.slo.ttft_s 500 ms");
  CHECK(serving.scenario().workload.slo.ttft_s == 0.5);
}

TEST_CASE("a value outside the domain of a field is not offered") {
  Harness h;
  for (const auto& e : app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), "tensor -4", {}))
    CHECK(e.kind != app::PaletteKind::field);
  for (const auto& e :
       app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), "zero stage 9", {}))
    CHECK(e.kind != app::PaletteKind::field);
}

TEST_CASE("a field alone is completed to be given its value") {
  Harness h;
  ask(h, "set tensor");
  CHECK(h.parts.panels.palette.entries.front().kind == app::PaletteKind::complete);
  h.key({Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::palette);
  h.type("8");
  h.step();
  h.key({Key::enter});
  CHECK(h.scenario().parallelism.tensor == 8);
}

TEST_CASE("numbers are explained, scenarios and models opened, figures shown by their names") {
  Harness h;
  do_first(h, "explain mfu");
  CHECK(h.parts.panels.right_rail.derivation.trail.back() == "mfu");
  do_first(h, "model qwen3-8b");
  CHECK(h.scenario().model.name.find("Qwen3") != std::string::npos);
  const auto scenarios = h.parts.session.library().list(io::PresetKind::scenario);
  do_first(h, "open " + scenarios.back().id);
  CHECK(h.parts.session.preset_id() == scenarios.back().id);
}

TEST_CASE("every command, figure, scenario, model and cluster is found by its own title") {
  Harness h;
  const auto found = [&](std::string_view title, app::PaletteKind kind, std::string_view value) {
    CAPTURE(std::string(title));
    const auto all = app::palette_entries(h.parts.session, h.workspace.texts(), app::commands(), title, {}, 400);
    CHECK(std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.kind == kind && e.value == value; }));
  };
  for (const app::Command& c : app::commands())
    if (c.category != app::Category::hidden)
      found(h.workspace.texts().text("command." + std::string(c.id)), app::PaletteKind::command, c.id);
  for (const auto& [preset, kind] : {std::pair{io::PresetKind::scenario, app::PaletteKind::scenario},
                                     {io::PresetKind::model, app::PaletteKind::model},
                                     {io::PresetKind::cluster, app::PaletteKind::cluster}})
    for (const io::Preset& p : h.parts.session.library().list(preset)) found(p.id, kind, p.id);
  CHECK(first(h, "projector mode").value == "view.projector");
}

TEST_CASE("the palette works by keyboard alone and leaves no key for the window below") {
  Harness h;
  const engine::Scenario before = h.scenario();
  ask(h, "2");
  CHECK(h.scenario() == before);  // no preset was opened
  h.key({Key::down});
  CHECK(h.parts.panels.palette.highlighted == 1);
  h.key({Key::up});
  h.key({Key::up});
  CHECK(h.parts.panels.palette.highlighted == static_cast<int>(h.parts.panels.palette.entries.size()) - 1);
  h.key({Key::escape});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK_FALSE(h.parts.interaction.editing_any());
  ask(h, "zzzz");
  CHECK(h.parts.panels.palette.entries.empty());
  h.key({Key::enter});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::palette);
  h.click({5, 500});
  CHECK(h.parts.panels.sheets.shown == app::Sheet::none);
  CHECK(h.scenario() == before);
}

TEST_CASE("the palette is readable at every size") {
  for (const auto& [w, hgt] : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {3840.0f, 2160.0f}})
    for (const char* words : {"", "step", "set tensor", "bandwidth 4"}) {
      Harness h("llama3-70b-v5p-pod", w, hgt);
      ask(h, words);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      test::check_texts(h, w);
    }
}

TEST_CASE("a number in a name is found in one piece, though it is written in groups") {
  const Harness h;
  const app::PaletteEntry found = first(h, "16384 h100 in 2048");
  CHECK(found.value == "h100-16k");
  CHECK(found.title.find("16\u202f384") != std::string::npos);
}

TEST_CASE("projector mode shows each figure over the window with no small text, and Escape ends it") {
  for (const std::pair<float, float>& size :
       {std::pair{1920.0f, 1080.0f}, {1280.0f, 720.0f}, {1024.0f, 768.0f}, {3840.0f, 2160.0f}}) {
    const float w = size.first, hgt = size.second;  // no binding: clang takes none into the capture
    Harness h("llama3-405b-16k-h100-8k", w, hgt);
    const widgets::Colour before = h.workspace.theme().panel;
    h.key({Key::f5});
    REQUIRE(h.parts.panels.projector.open);
    CHECK_FALSE(h.workspace.theme().panel == before);
    CHECK(h.place("parallelism.pipeline") == nullptr);  // no rail
    const float least = std::min(hgt, w * 24 / 34) / 40;
    const auto all = widgets::figures();
    const auto shown = [&](std::size_t i) { return widgets::shows(all[i], h.scenario()); };
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(all[h.parts.panels.projector.figure].name);
      CHECK(shown(h.parts.panels.projector.figure));
      CAPTURE(w);
      CHECK(widgets::compat::audit_draw_data().outside == 0);
      test::check_texts(h, w);
      const widgets::FontStack& fonts = test::test_fonts();
      for (const auto& t : h.canvas.drawn_texts())
        if (t.upright && !widgets::intersection(t.rect, t.clip).empty())
          CHECK(t.rect.h >= least * 0.95f * (fonts.ascent() + fonts.descent()));
      const std::size_t now = h.parts.panels.projector.figure;
      h.key({Key::right});
      std::size_t next = (now + 1) % all.size();
      while (!shown(next)) next = (next + 1) % all.size();  // figures of the other kind of workload are passed over
      CHECK(h.parts.panels.projector.figure == next);
    }
    h.key({Key::left});
    h.key({Key::escape});
    CHECK_FALSE(h.parts.panels.projector.open);
    CHECK(h.workspace.theme().panel == before);
  }
}

TEST_CASE("two figures stand side by side on the wall, with no text cut or on another") {
  for (const auto& [w, hgt] : {std::pair{1920.0f, 1080.0f}, {1280.0f, 720.0f}}) {
    Harness h("llama3-405b-16k-h100-8k", w, hgt);
    h.workspace.finish_evidence();
    const auto& projector = h.parts.panels.projector;
    h.key({Key::f5});
    h.key({widgets::key_of('T')});
    REQUIRE(projector.beside);
    const auto all = widgets::figures();
    const std::size_t first = *projector.beside;
    std::size_t shown = 0;
    do {
      CAPTURE(all[*projector.beside].name);
      CAPTURE_BINDING(w);
      CHECK(*projector.beside != projector.figure);
      CHECK(widgets::shows(all[*projector.beside], h.scenario()));
      test::check_texts(h, w);
      h.key({Key::right, false, true});
      ++shown;
    } while (*projector.beside != first && shown < all.size());
    CHECK(shown > all.size() / 2);
    h.key({Key::left, false, true});
    CHECK(*projector.beside != first);
    h.key({widgets::key_of('T')});
    CHECK_FALSE(projector.beside);
  }
}

TEST_CASE("a small window projects whole figures, with the keys that its cells leave out") {
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  h.workspace.finish_evidence();
  h.key({Key::f5});
  while (widgets::figures()[h.parts.panels.projector.figure].name != "roofline") h.key({Key::right});
  h.step();
  const auto texts = h.canvas.drawn_texts();
  CHECK(std::any_of(texts.begin(), texts.end(), [](const auto& t) { return t.text == "vector and optimizer"; }));
}

TEST_CASE("the projector lists every key of the help and says what was just done until the next figure") {
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  const auto says = [&](std::string_view words) {
    const auto texts = h.canvas.drawn_texts();
    return std::any_of(texts.begin(), texts.end(),
                       [&](const auto& t) { return t.text.starts_with(words) && t.rect.bottom() < t.clip.bottom(); });
  };
  h.key({Key::f5});
  h.key({Key::f1});
  CHECK(says(h.workspace.texts().text("command.projector.previous")));
  h.key({Key::f1});
  h.parts.session.say({false, "Done", {}});
  h.step();
  CHECK(says("Done"));
  h.key({Key::right});
  CHECK_FALSE(says("Done"));
}

TEST_CASE("in projector mode the command of a figure projects it, and its title is whole") {
  Harness h("llama3-405b-16k-h100-8k", 1920, 1080);
  h.key({Key::f5});
  for (const widgets::FigureRow& row : widgets::figures()) {
    if (!widgets::shows(row, h.scenario())) continue;
    CAPTURE(row.name);
    const app::Command* c = app::find_command("figure." + std::string(row.name));
    REQUIRE(c != nullptr);
    c->run(h.workspace);
    h.step(2);
    CHECK(widgets::figures()[h.parts.panels.projector.figure].name == row.name);
    CHECK_FALSE(h.parts.panels.figures.maximised);
    const auto texts = h.canvas.drawn_texts();
    CHECK(std::none_of(texts.begin(), texts.end(),
                       [](const auto& t) { return t.rect.y < 100 && t.text.ends_with("\u2026"); }));
  }
}

// Where a figure answers a pointer: in the middle of its largest region.
widgets::Point over_a_part(Harness& h) {
  h.canvas.set_tagging(widgets::Tagging::all);
  h.step();
  widgets::Rect largest{};
  for (const widgets::TagRegion& t : h.canvas.tags())
    if (!t.readout.empty() && t.rect.w * t.rect.h > largest.w * largest.h) largest = t.rect;
  h.canvas.set_tagging(widgets::Tagging::none);
  return largest.centre();
}

TEST_CASE("a pointer that rests points at nothing in the projector until it moves") {
  Harness h("llama3-405b-16k-h100-8k", 1920, 1080);
  const auto shown = [&] { return h.parts.interaction.current_hint().show; };
  h.move({960, 540});
  h.wait(0.5);
  h.key({Key::f5});
  do_first(h, "memory over time");
  const widgets::Point at = over_a_part(h);
  REQUIRE(at.x > 0);
  h.move(at);
  h.wait(0.5);
  REQUIRE(shown());
  h.key({Key::right});
  h.wait(1);
  CHECK_FALSE(shown());
  h.key({Key::left});
  h.wait(1);
  CHECK_FALSE(shown());
  h.move({at.x + 1, at.y});
  h.wait(0.5);
  CHECK(shown());
  h.key({Key::escape});
  h.wait(1);
  CHECK_FALSE(shown());
}

TEST_CASE("a figure maximised by a command is not pointed at by a pointer that rests on it, but can be clicked") {
  Harness h("llama3-405b-16k-h100-8k", 1920, 1080);
  do_first(h, "memory over time");
  REQUIRE(h.parts.panels.figures.maximised);
  const widgets::Point at = over_a_part(h);
  REQUIRE(at.x > 0);
  h.parts.panels.figures.maximised.reset();
  h.move(at);
  do_first(h, "memory over time");
  h.wait(1);
  CHECK_FALSE(h.parts.interaction.current_hint().show);
  h.press();
  CHECK(h.parts.interaction.pointer().x > 0);
}

TEST_CASE("each theme of the menu is taken and marked") {
  Harness h;
  for (const char* name : {"light", "print", "high_contrast", "dark"}) {
    const app::Command* c = app::find_command("theme." + std::string(name));
    REQUIRE(c != nullptr);
    c->run(h.workspace);
    h.step(2);
    CHECK(c->on(h.workspace));
    CHECK(h.parts.settings.theme == name);
    CHECK(widgets::compat::audit_draw_data().outside == 0);
  }
}
