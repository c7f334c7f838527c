// Layers of the virtual stages in the rail: dragged, typed, dealt again.
#include <doctest/doctest.h>

#include <vector>

#include "app/core/layers_text.h"
#include "tests/app/window/ui_harness.h"

using namespace roofscape;
using test::Harness;
using widgets::Key;

namespace {

using Layers = std::vector<int>;
constexpr std::string_view kStrip = "pipeline.layers_per_stage";

// 32 layers on four stages.
struct FourStages : Harness {
  FourStages() : Harness(in_stages(), "", 1920, 1080) { REQUIRE(reach(kStrip)); }
  static engine::Scenario in_stages() {
    engine::Scenario s = test::preset("llama3-8b-8-h100");
    s.parallelism.fsdp = 2, s.parallelism.pipeline = 4, s.parallelism.tensor = 1;
    s.pipeline.schedule = engine::ScheduleKind::one_f_one_b, s.pipeline.virtual_stages = 1;
    return s;
  }
  const Layers& listed() const { return scenario().pipeline.layers_per_stage; }
  widgets::Point middle() const { return place(kStrip)->rect.centre(); }
};

}  // namespace

TEST_CASE("a boundary dragged to the right gives the stage on its left the layers it passes, in the same frame") {
  FourStages h;
  const double before = h.report().stages[1].forward_s;
  h.drag(kStrip, 0.5f, 0.5f + 2.0f / 33.6f);
  CHECK(h.listed() == Layers{8, 10, 6, 8});
  CHECK(h.report().stages[1].layers == 10);
  CHECK(h.report().stages[1].forward_s > before);
  h.key({Key{'Z'}, true});
  CHECK(h.listed().empty());
}

TEST_CASE("a drag leaves a stage between two others one layer, and the last one none") {
  FourStages h;
  h.drag(kStrip, 0.5f, 0.99f);
  CHECK(h.listed() == Layers{8, 15, 1, 8});
  FourStages end;
  end.drag(kStrip, 0.75f, 1.2f);
  CHECK(end.listed() == Layers{8, 8, 16, 0});
  CHECK_FALSE(end.report().has_errors());
}

TEST_CASE("a right click deals the layers evenly again") {
  FourStages h;
  h.drag(kStrip, 0.5f, 0.6f);
  REQUIRE_FALSE(h.listed().empty());
  h.click(kStrip, 1);
  CHECK(h.listed().empty());
}

TEST_CASE("a list is typed after a double click, and Escape leaves it as it was") {
  FourStages h;
  const auto open = [&h] {
    h.move(h.middle());
    for (int i = 0; i < 2; ++i) h.press(), h.release();
    h.key({Key{'A'}, true});
  };
  open();
  h.type("9 8 8 7");
  h.key({Key::enter});
  CHECK(h.listed() == Layers{9, 8, 8, 7});
  h.wait(1);
  open();
  h.type("1 2");
  h.key({Key::escape});
  CHECK(h.listed() == Layers{9, 8, 8, 7});
  h.wait(1);
  open();
  h.type("9 eight");
  h.key({Key::enter});
  CHECK(h.listed() == Layers{9, 8, 8, 7});
}

TEST_CASE("a list for other stages is kept, dealt meanwhile, and used again when the stages are back") {
  FourStages h;
  h.drag(kStrip, 0.5f, 0.5f + 2.0f / 33.6f);
  const Layers layers = h.listed();
  h.drag("parallelism.pipeline", 0.3f, 0.1f);
  REQUIRE(h.scenario().parallelism.pipeline != 4);
  CHECK(h.listed() == layers);
  CHECK_FALSE(h.report().has_errors());
}

TEST_CASE("layers are read with blanks or commas, and as so many of a kind") {
  CHECK(app::read_layers_text("8 9, 9;8") == Layers{8, 9, 9, 8});
  CHECK(app::read_layers_text("0 1x3 0") == Layers{0, 1, 1, 1, 0});
  for (const char* wrong : {"", " , ", "8 x", "-1", "8.5", "1x99999999", "8x", "x8", "99999"})
    CHECK_MESSAGE(!app::read_layers_text(wrong), wrong);
  CHECK(app::read_layers_text(app::layers_text({7, 0, 12})) == Layers{7, 0, 12});
}
