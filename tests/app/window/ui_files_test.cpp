// Files dropped onto the window: a model's config.json becomes the model of the present scenario, or the strip says
// why not.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "app/session/file_list.h"
#include "engine/base/utf8.h"
#include "tests/app/window/ui_harness.h"
#include "tests/engine/io/io_fixture.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;

namespace {

// A file of this run alone, gone when the test is over.
class Written {
 public:
  Written(const std::string& name, const std::string& text) : file_(folder_.write(name, text)) {}
  std::string path() const { return file_.string(); }

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path file_;
};

constexpr const char* kLlama = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048,
  "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
  "vocab_size": 128256})";

}  // namespace

TEST_CASE("a model preset is opened on one node of the chips that are open, each with a plan that can run") {
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  for (const io::Preset& preset : test::presets().list(io::PresetKind::model)) {
    if (test::presets().meant(io::PresetKind::scenario, preset.id) != nullptr) continue;
    CAPTURE(preset.id);
    h.workspace.open(preset.id);
    h.step();
    CHECK(h.scenario().model == *test::presets().find_model(preset.id));
    CHECK(h.scenario().cluster.chip.id == "h100-sxm");
    CHECK(engine::chip_count(h.scenario().cluster) == 8);
    CHECK(h.report().quantities[engine::Q::step_time]);
    CHECK_FALSE(h.parts.session.message().has_value());
  }
}

TEST_CASE("a dropped config.json becomes the model of the scenario, as one step of undo") {
  const Written file("config.json", kLlama);
  Harness h("llama3-405b-16k-h100-8k", 1280, 720);
  const engine::Scenario before = h.scenario();
  h.workspace.open(file.path());
  h.step(2);
  CHECK(h.scenario().model.n_layers == 16);
  CHECK(h.scenario().model.d_model == 2048);
  CHECK(h.scenario().parallelism == before.parallelism);
  CHECK(h.scenario().cluster == before.cluster);
  REQUIRE(h.parts.session.message().has_value());
  const app::Message& message = *h.parts.session.message();
  CHECK_FALSE(message.is_error);
  CHECK(message.strip());
  CHECK(message.text.find("llama") != std::string::npos);
  CHECK(message.detail.find("tie_word_embeddings") != std::string::npos);  // not in the file: of the class
  CHECK(h.place("message.dismiss") != nullptr);
  CHECK(widgets::compat::audit_draw_data().outside == 0);
  CHECK(h.parts.session.history().undo_depth() == 1);
  h.key({widgets::key_of('Z'), true, false, false});
  CHECK(h.scenario() == before);
}

TEST_CASE("a config that cannot be read is told in the strip and changes nothing") {
  const std::string unsupported =
      R"({"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768})";
  const std::string incomplete = R"({"model_type": "llama", "hidden_size": 2048})";
  const std::string broken = std::string(kLlama).substr(0, 90);
  for (const std::string& text : {unsupported, incomplete, broken}) {
    CAPTURE(text);
    const Written file("config.json", text);
    Harness h;
    const engine::Scenario before = h.scenario();
    h.workspace.open(file.path());
    h.step(2);
    REQUIRE(h.parts.session.message().has_value());
    CHECK(h.parts.session.message()->is_error);
    CHECK(h.parts.session.message()->text.find(file.path()) != std::string::npos);
    CHECK(h.scenario() == before);
    CHECK(h.parts.session.history().undo_depth() == 0);
    CHECK(h.place("message.dismiss") != nullptr);
  }
}

TEST_CASE("what was just done is told in the status bar of a small window, before keys and facts") {
  Harness h("llama3-405b-16k-h100-8k", 1024, 700);
  const std::string path(60, 'x');
  h.parts.session.say({false, "Exported /home/" + path + ".svg, .pdf and .png", {}});
  h.step(2);
  bool told = false;
  for (const auto& t : h.canvas.drawn_texts())
    told = told || t.text.find(path + ".svg, .pdf and .png") != std::string::npos;
  CHECK(told);
}

TEST_CASE("an alias typed into a list goes to the preset of that name before those that contain it") {
  Harness h("llama3-70b-v5p-pod", 1280, 720);
  h.click("cluster");
  h.type("h100");
  h.step(2);
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().cluster.chip.id == "h100-sxm");
}

TEST_CASE("a long list is searched by typing") {
  Harness h("llama3-70b-v5p-pod", 1280, 720);
  h.click("cluster");
  REQUIRE(h.parts.interaction.popup_open("cluster"));
  CHECK(h.parts.interaction.popup().searched());
  h.type("h800");
  h.step(2);
  int shown = 0;
  for (const auto& entry : h.parts.probe.all())
    if (entry.first.starts_with("cluster#")) ++shown;
  CHECK(shown == 1);
  h.key({Key::enter});
  h.step(2);
  CHECK(h.scenario().cluster.chip.name.find("H800") != std::string::npos);
  CHECK(engine::chip_count(h.scenario().cluster) > 8000);
  CHECK(h.parts.session.history().undo_depth() == 1);
  // What nothing has: the list says so, Escape takes the letters back first.
  h.click("model");
  h.type("zzz");
  h.key({Key::enter});
  CHECK(h.parts.interaction.popup_open("model"));
  h.key({Key::escape});
  CHECK(h.parts.interaction.popup().typed.empty());
  h.key({Key::escape});
  CHECK_FALSE(h.parts.interaction.blocked());
}

TEST_CASE("the rail offers a field where it applies") {
  Harness dense("llama3-8b-8-h100");
  CHECK(dense.place("parallelism.expert") != nullptr);
  CHECK(dense.place("parallelism.expert.track") == nullptr);  // a model without experts: the reason instead
  Harness experts("mixtral-8x7b-64-h100");
  CHECK(experts.place("parallelism.expert.track") != nullptr);
  CHECK(dense.place("offload.optimizer") != nullptr);
  CHECK(dense.place("assumptions.overlap.track") != nullptr);
  CHECK(dense.place("checkpointing.blocks.track") == nullptr);
  engine::Scenario s = test::preset("llama3-8b-8-h100");
  s.checkpointing.policy = engine::CheckpointPolicy::some_blocks;
  CHECK(Harness(s, "", 1920, 1080).place("checkpointing.blocks.track") != nullptr);
  s.checkpointing.policy = engine::CheckpointPolicy::segments;
  CHECK(Harness(s, "", 1920, 1080).place("checkpointing.segments.track") != nullptr);
}

TEST_CASE("Tab in the folder line of the export sheet goes on with a folder's name, and leaves files alone") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "pictures");
  std::ofstream(folder.path() / "pics.json") << "{}";
  CHECK(app::completed(folder.path().string() + "/pic", folder.path(), true) ==
        folder.path().string() + "/pictures/");
  CHECK(app::completed(folder.path().string() + "/pic", folder.path()) == folder.path().string() + "/pic");
  CHECK(app::completed(folder.path().string() + "/none", folder.path()) == folder.path().string() + "/none");
  Harness h("llama3-8b-8-h100");
  h.parts.export_current_figure();
  h.step(2);
  h.click("export.folder");
  h.key({widgets::key_of('A'), true, false, false});
  h.type(folder.path().string() + "/pic");
  h.key({widgets::Key::tab});
  CHECK(h.parts.interaction.entry().text == folder.path().string() + "/pictures/");
  h.key({widgets::Key::enter});
  CHECK(h.parts.settings.export_as.folder == folder.path().string() + "/pictures/");
}

TEST_CASE("the stem of a file's name ends with a whole character") {
  for (std::size_t letters = 76; letters < 81; ++letters)
    for (const std::string_view tail : {"가나다", "яяя", "\U0001f600\U0001f600"}) {
      const std::string stem = app::file_stem(std::string(letters, 'a') + std::string(tail));
      CAPTURE(stem);
      CHECK(engine::first_invalid_utf8(stem) == std::string_view::npos);
      CHECK(stem.size() <= 80);
      CHECK(stem.size() >= 76);
    }
  CHECK(app::file_stem(std::string(77, 'a') + "가나") == std::string(77, 'a') + "가");
}
