// Random events at the whole window: nothing asserts, nothing becomes NaN, no field leaves its domain, and everything
// can be undone. ROOFSCAPE_UI_EVENTS asks for more events than the usual few thousand, ROOFSCAPE_UI_SEED for others.
#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/shell/commands.h"
#include "engine/io/tour/tour.h"
#include "tests/app/window/ui_checks.h"
#include "tests/capture_binding.h"
#include "widgets/canvas/canvas_cairo.h"

#if defined(__SANITIZE_ADDRESS__)  // GCC brings the functions, but not the headers that declare them
extern "C" {
std::size_t __sanitizer_get_current_allocated_bytes();
void __sanitizer_print_memory_profile(std::size_t top_percent, std::size_t most_places);
}
#endif

using namespace roofscape;
using test::Harness;
using widgets::Key;

namespace {

// Clicks may export figures and save scenarios: all of it goes to a folder of its own.
class InScratchFolder {
 public:
  InScratchFolder()
      : before_(std::filesystem::current_path()),
        scratch_(std::filesystem::temp_directory_path() /
                 ("roofscape-ui-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directories(scratch_);
    std::filesystem::current_path(scratch_);
    ::setenv("XDG_DATA_HOME", scratch_.c_str(), 1);
  }
  InScratchFolder(const InScratchFolder&) = delete;
  InScratchFolder& operator=(const InScratchFolder&) = delete;
  ~InScratchFolder() {
    std::error_code ignored;
    ::unsetenv("XDG_DATA_HOME");
    std::filesystem::current_path(before_, ignored);
    std::filesystem::remove_all(scratch_, ignored);
  }

 private:
  std::filesystem::path before_, scratch_;
};

int number_from(const char* variable, int usual) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? usual : std::max(1, std::atoi(wanted));
}

// "nan" as printed numbers have it; not the one in a name.
bool has_nan(std::string_view text) {
  const auto letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find("nan"); at != std::string_view::npos; at = text.find("nan", at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + 3)) return true;
  return false;
}

void check_whole(const Harness& h, bool thorough) {
  for (const engine::Field& field : engine::scenario_fields()) {
    CAPTURE(field.path);
    CHECK(engine::in_domain(field, field.get(h.scenario())));
  }
  const auto audit = widgets::compat::audit_draw_data();
  const bool blank = h.parts.panels.wall.blank != app::WallState::Blank::none;  // one rectangle
  CHECK((blank ? audit.vertices > 0 : audit.vertices > 100));
  for (const auto& t : h.canvas.drawn_texts()) {
    CAPTURE(t.text);
    CHECK((std::isfinite(t.rect.x) && std::isfinite(t.rect.w)));
    CHECK_FALSE(has_nan(t.text));
  }
  // A text that is being typed may be longer than its box.
  if (thorough && !h.parts.interaction.editing_any()) test::check_texts(h, h.width());
}

constexpr const char* kStart = "llama3-8b-8-h100";

// What the program holds of the heap now.
std::size_t allocated_bytes() {
#if defined(__SANITIZE_ADDRESS__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
#endif
}

// Of it the texture of the fonts, which doubles when the characters that were ever drawn no longer fit: every language
// has been shown by then, and every tour opened, at a moment that chance chooses.
std::size_t font_texture_bytes() {
  const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
#if IMGUI_VERSION_NUM >= 19200
  return atlas.TexData == nullptr ? 0 : static_cast<std::size_t>(atlas.TexData->GetSizeInBytes());
#else
  const auto pixels = static_cast<std::size_t>(atlas.TexWidth) * static_cast<std::size_t>(atlas.TexHeight);
  return (atlas.TexPixelsAlpha8 == nullptr ? 0 : pixels) + (atlas.TexPixelsRGBA32 == nullptr ? 0 : 4 * pixels);
#endif
}

// Who allocated most of it, on standard error: what a walk adds is the difference between two of these.
void print_holders() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_print_memory_profile(90, 40);
#endif
}

// The heap with one tab of the plan that the walk begins with in a window of its first size, nothing open over it, no
// work under way, and without what is kept on purpose, up to a limit: plans to undo, tabs to reopen, the last study of
// each figure, room for as many corners as the fullest frame had, and the characters of all languages.
std::size_t allocated_at_rest(Harness& h) {
  h.resize(1280, 720);
  for (int i = 0; i < 8; ++i) h.key({Key::escape});
  while (h.parts.tabs.count() > 1)
    h.parts.run_entry({.kind = app::PaletteKind::command, .title = {}, .detail = {}, .value = "tab.close"});
  h.parts.run_entry({.kind = app::PaletteKind::scenario, .title = {}, .detail = {}, .value = kStart});
  h.parts.tabs = {};
  h.parts.session = app::Session(h.parts.session.presets(), h.scenario(), kStart);
  h.parts.run_entry({.kind = app::PaletteKind::command, .title = {}, .detail = {}, .value = "view.layout_reset"});
  h.wait(1);
  h.step(3);
  h.parts.searching.wait();
  h.parts.choosing.wait();
  h.parts.studies = {};
  h.step(3);
  ImGui::GetBackgroundDrawList()->_ClearFreeMemory();
  return allocated_bytes() - font_texture_bytes();
}

// Cairo keeps glyphs of some hundred fonts that nobody draws with any more, a font for each size of an export. Once it
// has all it keeps, what grows is ours.
void fill_glyph_cache() {
  constexpr int kSizes = 300;  // more than the 256 fonts that it keeps
  std::string letters;
  for (char c = '!'; c <= '~'; ++c) letters += c;
  letters += "абвгдежзийклмнопрстуфхцчшщъыьэюя가나다라마바사아자차카타파하메모리병렬화";
  for (int i = 0; i < kSizes; ++i)
    for (const widgets::Weight weight : {widgets::Weight::regular, widgets::Weight::bold}) {
      const auto canvas =
          widgets::CairoCanvas::png(test::test_fonts(), 6 + 0.05f * static_cast<float>(i), 900, 40, 1, {});
      canvas->text({0, 30}, letters, {.weight = weight, .colour = {255, 255, 255, 255}});
      canvas->finish();
    }
}

// What of the window the events reached, in frames.
struct Reached {
  std::map<std::string, int> frames;
  void count(Harness& h) {
    const app::PanelStates& v = h.parts.panels;
    const auto add = [this](const char* what, bool there) { frames[what] += there ? 1 : 0; };
    add("editor of the model", v.editor.open && v.editor.part == app::EditorPart::model);
    add("editor of the cluster", v.editor.open && v.editor.part == app::EditorPart::cluster);
    add("search", v.search.shows(app::SearchView::About::plans));
    add("clusters", v.search.shows(app::SearchView::About::clusters));
    add("workbench", v.workbench.open);
    add("palette", v.sheets.shown == app::Sheet::palette);
    add("help", v.sheets.shown == app::Sheet::help);
    add("name to save under", v.sheets.shown == app::Sheet::save_as);
    add("tabs", h.parts.tabs.count() > 1);
    add("baseline", h.parts.baseline != nullptr);
    add("projector", v.projector.open);
    add("a blank wall", v.wall.blank != app::WallState::Blank::none);
    add("a figure alone", v.figures.maximised.has_value());
    add("a list", h.parts.interaction.popup().open);
    add("a value being typed", h.parts.interaction.editing_any());
    add("a derivation that was opened", !v.right_rail.derivation.trail.empty());
    add("a plan that is not possible", h.report().has_errors());
    add("a tour", v.tour.open());
    add("what a launch line says", v.sheets.shown == app::Sheet::import);
    add("a measured run", v.sheets.shown == app::Sheet::measured);
    add("a figure being exported", v.sheets.shown == app::Sheet::export_figure);
    add("a file being chosen", v.sheets.shown == app::Sheet::open);
    add("serving", h.scenario().workload.kind == engine::WorkloadKind::serving);
  }
};

// Some thousand events find most of it, the first of these all of it whatever the seed. After the second every language
// has been shown, whose characters the fonts then keep.
constexpr int kEnoughToReachAll = 20'000, kEnoughToShowAll = 200'000;

// The ways to what lies beside or over the figures: found by chance alone they would hardly be entered.
constexpr std::array<std::string_view, 13> kDoors{
    "edit.paste_scenario", "file.open",    "editor.model", "editor.cluster", "view.search", "view.clusters",
    "view.workbench",      "view.palette", "tab.new",      "tab.close",      "tab.next",    "baseline.pin",
    "view.projector"};

// What somebody may have copied: a scenario, launch lines, a line of a log, orders and layouts of a pipeline, nothing.
constexpr std::array<std::string_view, 9> kPasted{
    R"({"format": "roofscape/scenario", "parallelism": {"tensor": 4}})",
    "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads "
    "32 "
    "--seq-length 4096 --global-batch-size 256 --tensor-model-parallel-size 4 --bf16",
    "vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 8 --max-model-len 32768",
    R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})",
    " iteration      100/    1000 | consumed samples: 25600 | elapsed time per iteration (ms): 12345.6 | throughput "
    "per "
    "GPU (TFLOP/s/GPU): 412.3 | global batch size: 256 | lm loss: 2.1",
    "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
    "Et|(tt|)*15tL",
    "\xff\xfe\x00garbage",
    ""};

}  // namespace

TEST_CASE("random events leave no assert, no NaN and a scenario inside its domains") {
  const InScratchFolder scratch;
  Harness h(kStart, 1280, 720);
  h.workspace.actions().copy_text = [](const std::string&) {};
  const int seed = number_from("ROOFSCAPE_UI_SEED", 7);
  CAPTURE(seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto chance = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  h.parts.interaction.read_clipboard = [] {  // one after the other
    static std::size_t next = 0;
    return std::string(kPasted[next++ % kPasted.size()]);
  };
  constexpr std::array kKeys{Key::tab,  Key::enter,   Key::left,      Key::right, Key::up,
                             Key::down, Key::escape,  Key::backspace, Key::home,  Key::end,
                             Key::del,  Key::page_up, Key::page_down, Key::f1,    Key::f2,
                             Key::f4,   Key::f5,      Key::f6,        Key::f7};
  std::vector<io::InputError> problems;
  const std::vector<io::Tour> tours = io::load_tours(test::presets(), problems);
  REQUIRE_FALSE(tours.empty());
  Reached reached;
  float width = 1280, height = 720;
  const int count = number_from("ROOFSCAPE_UI_EVENTS", 3000);
  // What a search has found by an event depends on the machine, so that no two runs are alike: what is no more than
  // likely in few events, and strings that are cut in rare states, are looked at in long runs.
  const bool thorough = count >= kEnoughToReachAll;
  if (thorough) fill_glyph_cache();
  constexpr int kParts = 10;
  std::vector<std::size_t> allocated;
  for (int i = 0; i < count; ++i) {
    h.parts.panels.sheets.files.folder = std::filesystem::current_path();  // whatever was clicked in the file chooser
    bool waits = false;  // for the next event, as those between two frames do
    switch (chance(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        widgets::compat::move_pointer(static_cast<float>(chance(static_cast<int>(width) + 20)),
                                      static_cast<float>(chance(static_cast<int>(height) + 20)));
        waits = chance(2) == 0;
        break;
      case 5:
      case 6:
        widgets::compat::press_pointer(0, true);
        waits = chance(2) == 0;
        break;
      case 7:
      case 8:
        widgets::compat::press_pointer(0, false);
        waits = chance(2) == 0;
        break;
      case 9:
        widgets::compat::press_pointer(1, chance(2) == 0);
        break;
      case 10:
        widgets::compat::turn_wheel(static_cast<float>(chance(5) - 2));
        waits = chance(2) == 0;
        break;
      case 11:
        h.key(
            {kKeys[static_cast<std::size_t>(chance(static_cast<int>(kKeys.size())))], false, chance(4) == 0, false});
        break;
      case 12: {
        // Any command by its key, or as the palette does, but the growth of the text, which makes fonts anew each
        // time.
        const auto all = app::commands();
        const bool door = chance(3) == 0;
        const app::Command& c =
            door ? *app::find_command(kDoors[static_cast<std::size_t>(chance(static_cast<int>(kDoors.size())))])
                 : all[static_cast<std::size_t>(chance(static_cast<int>(all.size())))];
        if (std::string_view(c.id).starts_with("view.zoom") || c.id == "figure.export") break;
        if (c.key.key != Key::none)
          h.key(c.key);
        else
          h.parts.run_entry(
              {.kind = app::PaletteKind::command, .title = {}, .detail = {}, .value = std::string(c.id)});
        break;
      }
      case 13:
        h.type(std::string(1, static_cast<char>(' ' + chance(95))));
        break;
      case 14:
        if (chance(4) == 0)
          h.parts.run_entry({.kind = app::PaletteKind::tour,
                             .title = {},
                             .detail = {},
                             .value = tours[static_cast<std::size_t>(chance(static_cast<int>(tours.size())))].id});
        else
          h.wait(0.5);
        break;
      default:
        if (chance(40) == 0) {
          width = static_cast<float>(800 + chance(1200));
          height = static_cast<float>(560 + chance(600));
          h.resize(width, height);
        } else {
          // A click at something that is there.
          const auto& places = h.parts.probe.all();
          if (places.empty()) break;
          auto at = places.begin();
          std::advance(at, chance(static_cast<int>(places.size())));
          if (at->second.visible.h > 2 && at->first != "menu.file")
            h.click(at->second.visible.centre(), chance(5) == 0 ? 1 : 0);
        }
    }
    const bool part_ends = thorough && (i + 1) % (count / kParts) == 0;
    if (waits && !part_ends) continue;
    h.step();
    reached.count(h);
    if (i % 50 == 0) {
      CAPTURE(i);
      check_whole(h, thorough);
    }
    if (part_ends) {
      allocated.push_back(allocated_at_rest(h));
      width = 1280, height = 720;
      MESSAGE("after " << i + 1 << " events " << allocated.back() / 1'000'000 << " MB are allocated");
      std::cout.flush();  // it takes minutes to the next
      if (allocated.size() == kParts / 2 || allocated.size() == kParts) print_holders();
      h.step();  // draws again what was let go
    }
  }
  check_whole(h, thorough);
  if (!thorough) return;
  // Of what was done nothing is left that is not kept on purpose: the second half of the walk adds nothing.
  if (count >= kEnoughToShowAll) {
    const auto middle = allocated.begin() + kParts / 2;
    CHECK(static_cast<double>(allocated.back()) <=
          1.1 * static_cast<double>(*std::max_element(allocated.begin(), middle)));
  }
  for (const auto& [what, frames] : reached.frames) {
    CAPTURE_BINDING(what);
    CHECK(frames > 0);
  }
}

TEST_CASE("a hundred random edits by hand, of the rail and of the editor, are undone one by one to the start") {
  Harness h("llama3-405b-16k-h100-8k");
  const engine::Scenario start = h.scenario();
  std::mt19937 random(11);
  const auto chance = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int edits = 0, in_editor = 0;
  std::vector<engine::Scenario> states{start};
  for (int tries = 0; edits < 100 && tries < 600; ++tries) {
    // Half of the time the model or the chip is edited beside the rail.
    h.parts.panels.editor.open = chance(2) == 0;
    h.parts.panels.editor.part = chance(2) == 0 ? app::EditorPart::model : app::EditorPart::cluster;
    h.step(2);
    const std::string_view wanted = h.parts.panels.editor.open ? "edit." : "";
    std::vector<std::string> names;
    for (const auto& [name, place] : h.parts.probe.all())
      if (name.ends_with(".track") && name.starts_with(wanted)) names.push_back(name.substr(0, name.size() - 6));
    REQUIRE_FALSE(names.empty());
    const std::string& name = names[static_cast<std::size_t>(chance(static_cast<int>(names.size())))];
    h.drag(name, static_cast<float>(chance(100)) / 100, static_cast<float>(chance(100)) / 100, 2);
    if (h.scenario() == states.back()) continue;
    states.push_back(h.scenario());
    ++edits;
    in_editor += name.starts_with("edit.") ? 1 : 0;
  }
  REQUIRE(edits == 100);
  CHECK(in_editor >= 25);
  CHECK(h.parts.session.history().undo_depth() == 100);
  for (std::size_t i = states.size() - 1; i-- > 0;) {
    h.key({widgets::key_of('Z'), true, false, false});
    CHECK(h.scenario() == states[i]);
  }
  CHECK(h.scenario() == start);
}
