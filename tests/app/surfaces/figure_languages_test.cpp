// Every figure in Korean and Russian: no text cut or on another, none that is a key, none left in English.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/core/strings.h"
#include "engine/blocks/block_picture.h"
#include "tests/engine/blocks/filled_call.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/figures/blocks/block_figure.h"
#include "widgets/figures/blocks/block_text.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

// Three words of small Latin letters in a row and no letter of another alphabet: a sentence that was not translated.
bool is_english(std::string_view text) {
  int words = 0, letters = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0xd0) return false;
    letters = c >= 'a' && c <= 'z' ? letters + 1 : 0;
    words += letters == 3 ? 1 : 0;
  }
  return words >= 3;
}

bool is_key(std::string_view text) {
  return text.starts_with("figure.") || text.starts_with("quantity.") || text.starts_with("choice.") ||
         text.starts_with("ui.");
}

struct Page {
  const char* theme;
  float em, width, height;
  bool print;
};
constexpr Page kPages[]{
    {"dark", 15, 480, 320, false}, {"projector", 45, 1840, 860, false}, {"print", 9, 425, 272, true}};

}  // namespace

TEST_CASE("in Korean and Russian no text of a figure is cut, on another, a key or English") {
  for (const std::string language : {"ko", "ru"}) {
    const auto texts = app::load_texts(language);
    REQUIRE(texts.ok());
    for (const char* preset :
         {"llama3-405b-16k-h100-8k", "llama3-70b-v5p-pod", "llama3-70b-serving-8-h100", "llama3-70b-lora-8-h100"}) {
      FigureCase c = case_of(preset);
      if (!c.scenario.serves())
        c.baseline =
            std::make_shared<const FigureCase>(evaluated(tests::with(c.scenario, {"checkpointing.policy=none"})));
      for (const FigureRow& row : figures()) {
        // A search takes its time, and what it draws are numbers.
        if (!shows(row, c.scenario) || (row.needs == Needs::baseline && !c.baseline) || row.about == About::search ||
            row.about == About::runs)
          continue;
        for (const Page& page : kPages) {
          CAPTURE(language);
          CAPTURE(preset);
          CAPTURE(row.name);
          CAPTURE(page.width);
          const Theme colours = theme(page.theme);
          FigureView view;
          view.print = page.print;
          RecordCanvas canvas(fonts(), page.em, {0, 0, page.width, page.height});
          row.draw(canvas, canvas.bounds(), input_of(c, colours, texts.value()), view);
          CHECK(canvas.audit_text() == "");
          for (const TextRun& run : canvas.texts()) {
            CHECK_MESSAGE(!is_key(run.text), run.text);
            CHECK_MESSAGE(!is_english(run.text), run.text);
          }
        }
      }
    }
  }
}

TEST_CASE("figures of all blocks have their names in the language, and a multiplication sign between numbers") {
  const Theme print = theme("print");
  for (const std::string language : {"en", "ko", "ru"}) {
    const auto texts = app::load_texts(language);
    REQUIRE(texts.ok());
    std::vector<std::string> names;
    for (const engine::BuildingBlock& block : engine::blocks()) {
      CAPTURE(language);
      CAPTURE(block.id);
      const engine::BlockCall call = tests::filled_call(block);
      const engine::PictureData data = engine::picture_data(call, engine::picture_of(block));
      const BlockFigure figure{call, data, texts.value(), print};
      const FigureHead head = block_figure_head(figure);
      const std::string name = block_name(texts.value(), block);
      CHECK(head.title.starts_with(name));
      CHECK(name != block.id);
      CHECK(std::find(names.begin(), names.end(), name) == names.end());
      names.push_back(name);
      CHECK(head.context.find(" x ") == std::string::npos);
      if (language != "en") CHECK_FALSE(is_english(head.title));
      RecordCanvas canvas(fonts(), 9, {0, 0, 425, 283});
      draw_block_figure(canvas, canvas.bounds(), figure, true);
      CHECK(canvas.audit_text() == "");
    }
  }
}
