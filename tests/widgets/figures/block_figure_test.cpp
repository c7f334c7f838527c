// Figures of building blocks: readable at any size, with the block's own numbers.
#include <doctest/doctest.h>

#include "engine/blocks/block_picture.h"
#include "tests/engine/blocks/filled_call.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/blocks/block_figure.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

struct Asked {
  engine::BlockCall call;
  engine::PictureData data;
};

Asked asked(const engine::BuildingBlock& block) {
  engine::BlockCall call = tests::filled_call(block);
  engine::PictureData data = engine::picture_data(call, engine::picture_of(block));
  return {std::move(call), std::move(data)};
}

std::vector<std::string> words_of(const RecordCanvas& canvas) {
  std::vector<std::string> out;
  for (const TextRun& run : canvas.texts()) out.push_back(run.text);
  return out;
}

bool has(const RecordCanvas& canvas, std::string_view word) {
  const auto all = words_of(canvas);
  return std::any_of(all.begin(), all.end(),
                     [word](const std::string& w) { return w.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("the figure of every block is clean at any size, on screen and on paper") {
  struct Look {
    const char* theme;
    float em, width, height;
    bool print;
  };
  for (const engine::BuildingBlock& block : engine::blocks()) {
    const Asked a = asked(block);
    for (const Look& look : {Look{"dark", 15, 330, 190, false}, Look{"light", 15, 480, 320, false},
                             Look{"print", 9, 425, 283, true}, Look{"projector", 32, 1920, 1000, true}}) {
      CAPTURE(block.id);
      CAPTURE(look.width);
      const Theme colours = theme(look.theme);
      RecordCanvas canvas(fonts(), look.em, {0, 0, look.width, look.height});
      draw_block_figure(canvas, canvas.bounds(), {a.call, a.data, english(), colours}, look.print);
      CHECK(canvas.audit_text() == "");
      CHECK_FALSE(canvas.texts().empty());
      for (const std::string& word : words_of(canvas)) CHECK_FALSE(word.starts_with("calc."));
    }
  }
}

TEST_CASE("a figure of a block states what was given, on paper") {
  const engine::BuildingBlock& block = *engine::find_block("matmul");
  engine::BlockCall call(block);
  for (const auto& [name, text] : {std::pair{"batch", "256"}, {"d_in", "8192"}, {"d_out", "28672"}})
    REQUIRE_FALSE(call.set(name, text).has_value());
  call.complete(tests::library().find_chip("h100-sxm"), nullptr);
  const engine::PictureData data = engine::picture_data(call, engine::picture_of(block));
  const Theme print = theme("print");
  const BlockFigure figure{call, data, english(), print};
  const FigureHead head = block_figure_head(figure);
  CHECK(head.title == "Matrix multiplication: FLOP/s reached over rows");
  CHECK(head.takeaway.starts_with("824\u202fTFLOP/s at 256"));
  for (const char* given :
       {"NVIDIA H100 SXM 80", ", rows 256", ", contracting dimension 8192", ", output columns 28"})
    CHECK(head.context.find(given) != std::string::npos);
  RecordCanvas canvas(fonts(), 9, {0, 0, 425, 283});
  draw_block_figure(canvas, canvas.bounds(), figure, true);
  CHECK(has(canvas, "824\u202fTFLOP/s"));
}

TEST_CASE("a figure over a choice has a bar for each word that has an answer, the present one bold") {
  const Asked a = asked(*engine::find_block("pipeline"));
  const Theme dark = theme("dark");
  RecordCanvas canvas(fonts(), 15, {0, 0, 700, 420});
  draw_block_figure(canvas, canvas.bounds(), {a.call, a.data, english(), dark}, false);
  for (const char* schedule : {"1F1B", "GPipe", "interleaved 1F1B", "ZB-H1", "DualPipe"})
    CHECK(has(canvas, schedule));
  for (const TextRun& run : canvas.texts())
    if (run.text == "1F1B") CHECK(run.style.weight == Weight::bold);
}

TEST_CASE("a figure of a block without its inputs says which it needs") {
  engine::BlockCall call(*engine::find_block("decode"));
  call.complete(nullptr, nullptr);
  const engine::PictureData data = engine::picture_data(call, engine::picture_of(call.block()));
  const Theme dark = theme("dark");
  RecordCanvas canvas(fonts(), 15, {0, 0, 700, 420});
  draw_block_figure(canvas, canvas.bounds(), {call, data, english(), dark}, false);
  CHECK(has(canvas, "The figure needs more"));
}

TEST_CASE("the data of a block's figure is the curve, and the same point as its head says") {
  const Asked a = asked(*engine::find_block("kv-cache"));
  const Theme dark = theme("dark");
  const std::string data = block_figure_data({a.call, a.data, english(), dark});
  CHECK(data.starts_with("sequence_length tokens\tbytes B\n"));
  CHECK(static_cast<std::size_t>(std::count(data.begin(), data.end(), '\n')) == a.data.x.size() + 1);
}

TEST_CASE("a bandwidth stands on an axis of tens") {
  engine::BlockCall call(*engine::find_block("array"));
  for (const auto& [name, text] : {std::pair{"shape", "200000000000"}, {"shards", "32"}, {"element_bytes", "2"}})
    REQUIRE_FALSE(call.set(name, text).has_value());
  call.complete(tests::library().find_chip("tpu-v4p"), nullptr);
  const engine::PictureData data = engine::picture_data(call, {.over = "hbm_bytes_per_s", .outputs = {"load_s"}});
  const Theme dark = theme("dark");
  RecordCanvas canvas(fonts(), 15, {0, 0, 700, 420});
  draw_block_figure(canvas, canvas.bounds(), {call, data, english(), dark}, false);
  for (const char* tick : {"10\u202fG", "100\u202fG", "1\u202fT", "10\u202fT"}) CHECK(canvas.find_text(tick));
}
