// The editor of the model and of the chip and network: every field has its control, says what it departs from and
// finds back; edits are edits of the scenario, answered by the report, undone, saved and shared.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "app/core/strings.h"
#include "app/session/editor.h"
#include "engine/io/json/files.h"
#include "engine/io/presets/preset_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/io/scenario/session_json.h"
#include "engine/scenario/domains.h"
#include "engine/scenario/scenario_title.h"
#include "tests/app/window/ui_checks.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;
using app::EditorPart;
using engine::ChipField;
using engine::Q;
using test::drawn;
using test::Harness;
using widgets::Key;
using widgets::key_of;

namespace {

constexpr double kTera = 1e12;

void open(Harness& h, EditorPart part) {
  h.parts.panels.editor.open = true;
  h.parts.panels.editor.part = part;
  h.step(3);
}

void type_at(Harness& h, const std::string& name, const std::string& text) {
  h.click(name);
  h.type(text);
  h.key({Key::enter});
}

const app::EditorRow& row_of(const std::vector<app::EditorRow>& rows, std::string_view path) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const app::EditorRow& r) { return r.path == path; });
  REQUIRE(found != rows.end());
  return *found;
}

}  // namespace

TEST_CASE(
    "every field of the model, of both kinds of cluster and every figure of the chip has a row with words of its "
    "own") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100"}) {
    Harness h(id);
    std::set<std::string> rows;
    for (const EditorPart part : {EditorPart::model, EditorPart::cluster})
      for (const app::EditorRow& row : app::editor_rows(part, h.scenario())) {
        CAPTURE(row.path);
        CHECK(rows.insert(row.path).second);
        CHECK(h.workspace.texts().has("ui.editor.section." + std::string(row.section)));
        if (row.of == app::EditorRow::Of::level) continue;
        CHECK((h.workspace.texts().has("field." + row.path + ".label") ||
               h.workspace.texts().has("quantity." + row.path + ".label")));
        CHECK((h.workspace.texts().has("field." + row.path + ".about") ||
               h.workspace.texts().has("quantity." + row.path + ".about")));
      }
    for (const engine::Field& field : engine::scenario_fields())
      if (field.path.starts_with("model.")) CHECK_MESSAGE(rows.contains(std::string(field.path)), field.path);
    for (const engine::ChipFieldRow& figure : engine::kChipFields)
      CHECK_MESSAGE(rows.contains("cluster.chip." + std::string(figure.id)), figure.id);
    const bool torus = h.scenario().cluster.chip.interconnect == engine::Interconnect::torus;
    CHECK(rows.contains("cluster.slice.2") == torus);
    CHECK(rows.contains("cluster.slices") == torus);
    CHECK(rows.contains("cluster.nodes") != torus);
    CHECK(rows.contains("cluster.node_size") != torus);
  }
}

TEST_CASE("every row is drawn with its control, and no text is cut or lies on another, at every size") {
  for (const auto& [w, hgt] : {std::pair{1024.0f, 700.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}})
    for (const char* id : {"llama3-70b-v5p-pod", "deepseek-v3-2048-h800"}) {
      Harness h(id, w, hgt);
      for (const EditorPart part : {EditorPart::model, EditorPart::cluster}) {
        open(h, part);
        for (const app::EditorRow& row : app::editor_rows(part, h.scenario()))
          CHECK_MESSAGE(h.place("edit." + row.path) != nullptr, row.path);
        CHECK(widgets::compat::audit_draw_data().outside == 0);
        for (int i = 0; i < 12; ++i) {
          test::check_texts(h, w);
          test::check_overlaps(h);
          h.move({w * 0.5f, hgt * 0.6f});
          widgets::compat::turn_wheel(-6);
          h.step(2);
          h.move({5, 5});  // no hint lies over the rows
        }
      }
    }
}

TEST_CASE("the pencils of the rail, the keys and the palette open the editor, Escape closes it") {
  Harness h;
  h.click("editor.model");
  CHECK(h.parts.panels.editor.open);
  CHECK(h.place("edit.model.d_ff") != nullptr);
  h.click("editor.cluster");
  CHECK(h.place("edit.cluster.chip.hbm_bytes") != nullptr);
  h.key({Key::escape});
  CHECK_FALSE(h.parts.panels.editor.open);
  h.key({Key::f2});
  CHECK(h.place("edit.model.d_ff") != nullptr);
  h.key({Key::f4});
  CHECK(h.place("edit.cluster.chip.hbm_bytes") != nullptr);
  h.key({Key::f4});
  CHECK_FALSE(h.parts.panels.editor.open);
  h.key({key_of('P'), true, false, false});
  h.type("edit the model");
  h.step();
  h.key({Key::enter});
  CHECK(h.place("edit.model.d_ff") != nullptr);
  h.click(h.place("editor.close")->visible.centre());
  CHECK_FALSE(h.parts.panels.editor.open);
}

TEST_CASE(
    "a typed width is an edit of the scenario: the report answers, the row says what the preset has, one undo takes "
    "it back") {
  Harness h;
  const engine::Scenario before = h.scenario();
  const double params = *h.report().quantities[Q::params_total];
  open(h, EditorPart::model);
  type_at(h, "edit.model.d_ff.box", "14336");
  CHECK(h.scenario().model.d_ff == 14336);
  // Three matrices of 80 layers and width 8192 lost half of 28 672 columns.
  CHECK(*h.report().quantities[Q::params_total] == params - 3.0 * 80 * 8192 * 14336);
  CHECK(engine::model_source(h.scenario().model) == before.model.source + "; edited by hand: d_ff");
  CHECK(h.place("edit.reset.model.d_ff") != nullptr);
  CHECK(drawn(h, "preset: 28\u202f672"));
  CHECK(drawn(h, "One field departs from " + before.model.name));
  CHECK(drawn(h, before.model.name + " (edited)"));
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
  CHECK(h.place("edit.reset.model.d_ff") == nullptr);
}

TEST_CASE("a row is reset by its arrow, by a right click, or with all others") {
  Harness h;
  const engine::Scenario before = h.scenario();
  open(h, EditorPart::model);
  type_at(h, "edit.model.n_layers.box", "40");
  h.click(h.place("edit.reset.model.n_layers")->visible.centre());
  CHECK(h.scenario() == before);
  type_at(h, "edit.model.n_layers.box", "40");
  h.click(h.place("edit.model.n_layers.track")->visible.centre(), 1);
  CHECK(h.scenario() == before);
  type_at(h, "edit.model.n_layers.box", "40");
  type_at(h, "edit.model.d_model.box", "4096");
  h.click("edit.model.tied_embeddings");
  CHECK(app::departures(EditorPart::model, h.scenario(), app::editor_preset(h.parts.session)) == 3);
  h.click(h.place("editor.reset")->visible.centre());
  CHECK(h.scenario() == before);
  CHECK(h.place("editor.reset") == nullptr);
}

TEST_CASE("a figure of the chip that is typed is the report's, with the source that it was set by hand") {
  Harness h;
  open(h, EditorPart::cluster);
  const double before = *h.report().quantities[Q::hbm_capacity];
  type_at(h, "edit.cluster.chip.hbm_bytes.box", "192 G");
  CHECK(h.scenario().cluster.chip[ChipField::hbm_bytes].value == 192e9);
  CHECK(h.scenario().cluster.chip[ChipField::hbm_bytes].source == engine::kSetByHand);
  CHECK(*h.report().quantities[Q::hbm_capacity] == 192e9);
  h.click(h.place("edit.reset.cluster.chip.hbm_bytes")->visible.centre());
  CHECK(*h.report().quantities[Q::hbm_capacity] == before);
  CHECK(h.scenario() == test::preset(test::kBookScenario));
}

TEST_CASE("a figure that is not known is typed in, and made unknown again") {
  Harness h;
  open(h, EditorPart::cluster);
  REQUIRE_FALSE(h.scenario().cluster.chip[ChipField::peak_int4_dense_ops_per_s].value);
  type_at(h, "edit.cluster.chip.peak_int4_dense_ops_per_s", "1.8 P");
  CHECK(h.scenario().cluster.chip[ChipField::peak_int4_dense_ops_per_s].value == 1800 * kTera);
  h.click("edit.reset.cluster.chip.peak_int4_dense_ops_per_s");
  CHECK(h.scenario() == test::preset(test::kBookScenario));
  REQUIRE(h.scenario().cluster.chip[ChipField::vmem_bytes_per_chip].value);
  h.click("edit.cluster.chip.vmem_bytes_per_chip.box");
  h.key({Key::del});
  h.key({Key::enter});
  CHECK_FALSE(h.scenario().cluster.chip[ChipField::vmem_bytes_per_chip].value);
}

TEST_CASE("what is no value of a field is refused beside it, and the scenario stays") {
  Harness h;
  const engine::Scenario before = h.scenario();
  open(h, EditorPart::model);
  type_at(h, "edit.model.d_ff.box", "wide");
  CHECK(h.scenario() == before);
  CHECK(drawn(h, "\u201cwide\u201d is not valid here: give a whole number from 1 to 4194304."));
  type_at(h, "edit.model.d_ff.box", "28672");
  h.step(2);
  type_at(h, "edit.model.n_layers.box", "-3");
  CHECK(h.scenario().model.n_layers == 1);  // the nearest that can stand there
  CHECK(drawn(h, "\u201c-3\u201d is not valid here: give a whole number from 1 to 10000."));
  open(h, EditorPart::cluster);
  type_at(h, "edit.cluster.chip.peak_int4_dense_ops_per_s", "none");
  CHECK(drawn(h, "\u201cnone\u201d is not valid here: give a number above 0, at most 1e+21."));
}

TEST_CASE("a box that is opened and left with Enter changes nothing, however few digits it shows") {
  Harness h("llama3-405b-16k-h100");
  const engine::Scenario before = h.scenario();
  open(h, EditorPart::cluster);
  for (const engine::ChipFieldRow& figure : engine::kChipFields) {
    if (!h.scenario().cluster.chip[figure.field].value) continue;
    CAPTURE(figure.id);
    h.click("edit.cluster.chip." + std::string(figure.id) + ".box");
    h.key({Key::enter});
    CHECK(h.scenario() == before);
  }
}

TEST_CASE("a finding about the model stands beside its field") {
  Harness h;
  open(h, EditorPart::model);
  type_at(h, "edit.model.n_kv_heads.box", "7");
  REQUIRE(h.report().has_errors());
  const engine::Diagnostic* finding = nullptr;
  for (const engine::Diagnostic& d : h.report().diagnostics)
    if (d.field_path == "model.n_kv_heads") finding = &d;
  REQUIRE(finding != nullptr);
  CHECK(drawn(h, app::diagnostic_text(*finding, h.workspace.texts()).substr(0, 20)));
}

TEST_CASE("arrows step a row, and a switch and a choice take a click") {
  Harness h;
  open(h, EditorPart::model);
  h.click("edit.model.n_layers.box");
  h.key({Key::escape});
  h.key({Key::right});
  CHECK(h.scenario().model.n_layers == 81);
  h.key({Key::left});
  CHECK(h.scenario().model.n_layers == 80);
  h.click("edit.model.gated_mlp");
  CHECK_FALSE(h.scenario().model.gated_mlp);
  // A dense model becomes one of experts, from nothing by one step.
  h.click("edit.model.moe.n_routed_experts.box");
  h.key({Key::escape});
  h.key({Key::right});
  CHECK(h.scenario().model.moe.n_routed_experts == 1);
  open(h, EditorPart::cluster);
  h.click("edit.cluster.chip.interconnect");
  h.click(h.place("edit.cluster.chip.interconnect#1")->rect.centre());
  h.step(2);
  CHECK(h.scenario().cluster.chip.interconnect == engine::Interconnect::switched);
  CHECK(h.place("edit.cluster.nodes") != nullptr);
  h.click(h.place("editor.reset")->visible.centre());
  CHECK(h.scenario().cluster == test::preset(test::kBookScenario).cluster);
}

TEST_CASE("levels of switches are added, edited and removed") {
  Harness h("llama3-405b-16k-h100");
  const engine::Scenario before = h.scenario();
  REQUIRE(before.cluster.fabric.empty());
  open(h, EditorPart::cluster);
  h.click("edit.level.add");
  REQUIRE(h.scenario().cluster.fabric.size() == 1);
  CHECK(h.scenario().cluster.fabric[0].bytes_per_s_per_child ==
        *before.cluster.chip[ChipField::scaleout_bytes_per_s_per_node_oneway].value);
  type_at(h, "edit.cluster.fabric.0.degree.box", "32");
  h.click("edit.cluster.fabric.0.in_network_reduction");
  type_at(h, "edit.cluster.fabric.0.name", "leaf");
  h.click("edit.level.add");
  REQUIRE(h.scenario().cluster.fabric.size() == 2);
  CHECK(h.scenario().cluster.fabric[0] == engine::FabricLevel{"leaf", 32, 400e9, true});
  CHECK(h.scenario().cluster.fabric[1].bytes_per_s_per_child == 32 * 400e9);
  h.click("edit.level.remove");
  h.click("edit.level.remove");
  CHECK(h.scenario() == before);
}

TEST_CASE("presets are searched by words and chosen by a click or Enter") {
  Harness h;
  open(h, EditorPart::model);
  h.click(h.place("editor.search")->visible.centre());
  h.type("405b");
  h.step(2);
  CHECK(h.place("editor.preset.llama3-405b") != nullptr);
  CHECK(h.place("editor.preset.llama3-70b") == nullptr);
  h.key({Key::enter});
  CHECK(h.scenario().model == *test::presets().find_model("llama3-405b"));
  open(h, EditorPart::cluster);
  h.parts.panels.editor.search.clear();
  h.step();
  h.click(h.place("editor.search")->visible.centre());
  h.type("h100 sxm");
  h.step(2);
  h.click(h.place("editor.preset.h100-sxm")->visible.centre());
  CHECK(h.scenario().cluster.chip.id == "h100-sxm");
}

TEST_CASE("an edited model, chip and network are saved with the scenario and kept with the session") {
  Harness h("llama3-405b-16k-h100");
  open(h, EditorPart::model);
  type_at(h, "edit.model.d_ff.box", "50000");
  open(h, EditorPart::cluster);
  type_at(h, "edit.cluster.chip.hbm_bytes.box", "96 G");
  h.click("edit.level.add");
  const auto read = io::read_scenario(io::write_scenario(h.scenario(), test::presets()), "here", test::presets());
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : test::in_english(read.error())));
  CHECK(read.value() == h.scenario());
  Harness later;
  REQUIRE(later.workspace.restore(h.workspace.session_text(), "session"));
  CHECK(later.scenario() == h.scenario());
  // It still departs from the preset it came from.
  open(later, EditorPart::model);
  CHECK(later.place("edit.reset.model.d_ff") != nullptr);
}

TEST_CASE("an edited model and cluster become presets that read back as they are") {
  const test::TemporaryFolder folder;
  const auto presets = std::make_shared<const io::PresetLibrary>(folder.path());
  const io::PresetLibrary& library = *presets;
  app::Session session(presets, test::preset("llama3-405b-16k-h100"), "");
  engine::TransformerShape model = session.scenario().model;
  model.d_ff = 50000;
  model.id = "mine";
  model.name = "Mine";
  engine::Cluster cluster = session.scenario().cluster;
  cluster.chip[ChipField::hbm_bytes] = {96e9, std::string(engine::kSetByHand)};
  app::add_level(cluster);
  folder.write("models/mine.json", io::write_model_preset(model, library));
  folder.write("clusters/wide.json", io::write_cluster_preset(cluster, "Wide", library));
  const io::PresetLibrary again(folder.path());
  CHECK(again.problems().empty());
  REQUIRE(again.find_model("mine") != nullptr);
  CHECK(*again.find_model("mine") == model);
  REQUIRE(again.find_cluster("wide") != nullptr);
  CHECK(*again.find_cluster("wide") == cluster);
  CHECK(again.find_preset(io::PresetKind::cluster, "wide")->name == "Wide");
}

TEST_CASE("Save as preset writes the model's file into the user's folder under the name that was typed") {
  const test::TemporaryFolder folder;
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  Harness h;
  h.workspace.start_evidence();  // it goes on with the presets it was started with
  open(h, EditorPart::model);
  type_at(h, "edit.model.n_layers.box", "40");
  h.click(h.place("editor.save")->visible.centre());
  h.key({key_of('A'), true, false, false});
  h.type("Half a llama");
  h.key({Key::enter});
  h.step(2);
  ::unsetenv("XDG_DATA_HOME");
  CHECK(h.parts.session.library().find_model("half-a-llama") != nullptr);
  CHECK(test::presets().find_model("half-a-llama") == nullptr);
  h.workspace.finish_evidence();
  CHECK(h.parts.evidence != nullptr);
  CHECK(h.scenario().model.id == "half-a-llama");
  CHECK(std::filesystem::exists(folder.path() / "roofscape/presets/models/half-a-llama.json"));
  const io::PresetLibrary library(folder.path() / "roofscape/presets");
  REQUIRE(library.find_model("half-a-llama") != nullptr);
  CHECK(*library.find_model("half-a-llama") == h.scenario().model);
}

TEST_CASE("a model that was imported departs from what its file says") {
  Harness h;
  engine::Scenario s = h.scenario();
  s.model.id.clear();
  s.model.name = "imported";
  h.parts.session.remember_model(s.model);
  s.model.n_layers = 7;
  h.parts.session.update(s, false);
  const app::EditorPreset preset = app::editor_preset(h.parts.session);
  CHECK(preset.model);
  const auto rows = app::editor_rows(EditorPart::model, s);
  CHECK(app::departs(row_of(rows, "model.n_layers"), s, preset));
  app::reset_part(EditorPart::model, s, preset);
  CHECK(s.model.n_layers == 80);
}

TEST_CASE("a scenario called after its model is called after the next one") {
  Harness h("llama3-70b-v5p-pod");
  REQUIRE(h.scenario().name == "LLaMA-3 70B on one v5p pod");
  h.click("model");
  h.type("qwen3-32");  // as its id; the list has "Qwen3 32B"
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().model.id == "qwen3-32b");
  CHECK(engine::scenario_title(h.scenario()) == "Qwen3 32B on 8960 TPU v5p");
}

TEST_CASE(
    "a scenario called after its model and its cluster is called after the next cluster, so is one with a name of "
    "its "
    "own, which was given to another") {
  Harness h("llama3-70b-v5p-pod");
  h.click("cluster");
  h.type("8 h100 in one");
  h.key({Key::enter});
  h.step(2);
  CHECK(engine::chip_count(h.scenario().cluster) == 8);
  CHECK(engine::scenario_title(h.scenario()) == "LLaMA-3 70B on 8 NVIDIA H100 SXM 80 GB");
  h.click("cluster");
  h.type("v5e pod");
  h.key({Key::enter});
  h.step(2);
  CHECK(engine::scenario_title(h.scenario()) == "LLaMA-3 70B on 256 TPU v5e");
  h.click("cluster");
  h.type("mi300x");
  h.key({Key::enter});
  h.step(2);
  CHECK(engine::scenario_title(h.scenario()) == "LLaMA-3 70B on 256 AMD MI300X");
  engine::Scenario own = h.scenario();
  engine::set_name(own, "Friday's lecture");
  h.parts.session.update(own, false);
  CHECK(engine::scenario_title(h.scenario()) == "Friday's lecture");
  h.click("cluster");
  h.type("v5e pod");
  h.key({Key::enter});
  h.step(2);
  CHECK(engine::scenario_title(h.scenario()) == "LLaMA-3 70B on 256 TPU v5e");
  h.key({key_of('Z'), true, false, false});
  CHECK(engine::scenario_title(h.scenario()) == "Friday's lecture");
}

TEST_CASE("a plan that is not possible is not said to fit") {
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  s.parallelism.fsdp = 64;
  Harness h(s, "", 1920, 1080);
  REQUIRE(h.report().has_errors());
  CHECK_FALSE(drawn(h, "Fits"));
  CHECK(drawn(h, ", were it possible"));
}

TEST_CASE("edits of the model and the chip since the baseline are listed in words, and taken back one by one") {
  Harness h("llama3-405b-16k-h100");
  h.key({key_of('B')});
  const engine::Scenario before = h.scenario();
  open(h, EditorPart::model);
  type_at(h, "edit.model.d_ff.box", "50000");
  open(h, EditorPart::cluster);
  type_at(h, "edit.cluster.chip.hbm_bytes.box", "96 G");
  h.click("edit.level.add");
  h.parts.panels.editor.open = false;
  h.step(2);
  CHECK(drawn(h, "MLP width"));
  CHECK(drawn(h, "96\u202fGB"));
  CHECK(drawn(h, "levels of switches"));
  h.click(h.place("change.cluster.chip.hbm_bytes")->visible.centre());
  h.click(h.place("change.cluster.fabric")->visible.centre());
  CHECK(h.scenario().cluster == before.cluster);
  CHECK(h.scenario().model.d_ff == 50000);
}
