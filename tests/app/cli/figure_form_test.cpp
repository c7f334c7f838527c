// The form of a figure's file as it is typed, and what becomes of it.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

#include "app/core/export.h"
#include "app/core/figure_caption.h"
#include "app/core/figure_form.h"
#include "tests/capture_binding.h"
#include "tests/english.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/plot/plot.h"

namespace roofscape {
namespace {

app::ExportOptions sized(std::string_view text, double dpi = 0) {
  app::ExportOptions options;
  return app::set_size(text, options, dpi) ? app::ExportOptions{} : options;
}

std::string refused(const app::FormWords& asked, std::string_view theme = "print") {
  const auto form = app::form_of(app::block_figure_size(), asked, theme);
  return form ? std::string() : test::in_english(form.error());
}

app::ExportOptions form(const app::FormWords& asked, std::string_view theme = "print") {
  const auto read = app::form_of(app::block_figure_size(), asked, theme);
  REQUIRE(read.ok());
  return read.value();
}

TEST_CASE("a size is read in each of its units") {
  struct Case {
    const char* text;
    double width, height;
  };
  for (const Case& c : {Case{"170x110mm", 481.89, 311.81},
                        {"17x11cm", 481.89, 311.81},
                        {"3.25x2in", 234, 144},
                        {"240x160pt", 240, 160},
                        {"1280x720px", 960, 540},
                        {"170mmx11cm", 481.89, 311.81}}) {
    CAPTURE(c.text);
    CHECK(sized(c.text).width == doctest::Approx(c.width));
    CHECK(sized(c.text).height == doctest::Approx(c.height));
  }
}

TEST_CASE("a width alone leaves the height open") {
  CHECK(sized("84mm").width == doctest::Approx(238.11));
  CHECK(sized("84mm").height == 0);
  CHECK(sized("800px").height == 0);
}

TEST_CASE("what is no size is refused") {
  for (const char* wrong : {"", "x", "100", "170x110", "100x", "x100mm", "1x1mm", "1e9x1e9mm", "-100x100mm",
                            "nanxnanmm", "100x100x100mm", "100x100em", "84 mm", "84mm ", "100pxx100mm", "infmm"})
    CHECK_MESSAGE(sized(wrong).width == 0, wrong);
  CHECK(refused({.size = "170x110"}) ==
        "--size: \"170x110\" has no unit; write 170x110mm for millimetres or 170x110px for pixels; cm, in and pt are "
        "units "
        "too");
}

TEST_CASE("a size in pixels is the pixels of a PNG") {
  CHECK(sized("1280x720px").pixels_per_point == doctest::Approx(4.0 / 3));
  CHECK(form({.size = "1600x500px", .dpi = "300"}).width == doctest::Approx(384));
  CHECK(form({.size = "1600x500px", .dpi = "300"}).pixels_per_point == doctest::Approx(300.0 / 72));
  CHECK(refused({.size = "1600x500px", .scale = "1"}) ==
        "--scale: the size is in pixels already; leave it out, or give the size in mm");
}

TEST_CASE("text grows with a picture in pixels, not on paper nor at a stated resolution, and never shrinks") {
  const auto em = [](std::string_view text, double dpi = 0) {
    app::ExportOptions options;
    options.width = 480, options.height = 300, options.em = 9;
    REQUIRE_FALSE(app::set_size(text, options, dpi));
    return options.em;
  };
  CHECK(em("1280x1200px") == 18);  // 960 x 900 points: twice as wide, three times as high
  CHECK(em("480x320px") == 9);
  CHECK(em("500x400mm") == 9);
  CHECK(em("1280x1200px", 300) == 9);
}

TEST_CASE("resolutions and scales are read, and two of them are refused") {
  CHECK(form({.dpi = "600"}).pixels_per_point == doctest::Approx(600.0 / 72));
  CHECK(form({.scale = "2.5"}).pixels_per_point == 2.5);
  for (const char* wrong : {"0", "-1", "nan", "1e9", "2x", "17"}) CHECK_MESSAGE(refused({.dpi = wrong}) != "", wrong);
  for (const char* wrong : {"0", "-1", "nan", "1e9", "2x"}) CHECK_MESSAGE(refused({.scale = wrong}) != "", wrong);
  CHECK(refused({.dpi = "300", .scale = "2"}) == "--scale: does not go with --dpi; leave it out");
}

TEST_CASE("the size of text is that of labels") {
  CHECK(form({.text_size = "8pt"}).em * widgets::kSmallText == doctest::Approx(8));
  CHECK(form({.text_size = "3mm"}).em * widgets::kSmallText == doctest::Approx(8.504));
  for (const char* wrong : {"8", "8px", "1pt", "100pt", "pt", "8 pt"})
    CHECK_MESSAGE(refused({.text_size = wrong}) != "", wrong);
}

TEST_CASE("what of the head stands over a figure is chosen, and without all of it the height follows") {
  const app::ExportOptions bare = form({.bare = true});
  CHECK(!bare.head.any());
  CHECK(bare.height == 0);
  const app::ExportOptions some = form({.head = "title,takeaway"});
  CHECK((some.head.title && some.head.takeaway && !some.head.context));
  CHECK(!form({.head = "none"}).head.any());
  CHECK(refused({.head = "caption"}) ==
        "--head: \"caption\" is no part of a figure's head; give title, takeaway or context, several with commas, or "
        "none");
  CHECK(refused({.head = "title", .bare = true}) == "--head: does not go with --bare; leave it out");
}

TEST_CASE("no venue's figures have text under its least") {
  for (const app::Venue& venue : app::venues()) {
    CAPTURE(venue.id);
    const app::ExportOptions there = form({.venue = std::string(venue.id)});
    CHECK(there.width == doctest::Approx(venue.width_mm * 72 / 25.4));
    CHECK(there.em * widgets::kCaptionText >= venue.least_pt);
    CHECK(there.em * widgets::kSmallText == doctest::Approx(venue.label_pt));
  }
  CHECK(refused({.venue = "icml", .text_size = "5pt"}) ==
        "--text-size: icml takes no text under 6 pt, and the smallest text of the figure would be; give at least "
        "6.6pt");
  CHECK(refused({.venue = "icml", .text_size = "6.6pt"}) == "");
  CHECK(refused({.venue = "imcl"}).starts_with("--venue: \"imcl\" is no venue; there are: aaai, "));
}

TEST_CASE("a slide's text grows with its height") {
  CHECK(app::wall_em(1440, 810) == 33.75f);  // 1080 pixels at 96 an inch: 45 pixels
  CHECK(app::wall_em(1080, 810) < 33.75f);   // too few to a line
  CHECK(form({.size = "1920x1080px"}, "projector").em == app::wall_em(1440, 810));
}

TEST_CASE("formats are read from extensions and words") {
  CHECK(app::format_of("a.SVG") == app::FileFormat::svg);
  CHECK(app::format_of("a.csv") == app::FileFormat::csv);
  CHECK(!app::format_of("svg"));
  CHECK(app::parse_format("png").value() == app::FileFormat::png);
  CHECK(test::in_english(app::parse_format("jpg").error()) ==
        "--format: \"jpg\" is no format; take svg, pdf, png, html, csv or json");
}

TEST_CASE("a caption is sentences, and in LaTeX nothing of it is a command") {
  widgets::FigureHead head;
  head.title = "Step_time";
  head.takeaway = "12.4\u202f% idle & 2 \u00d7 slower";
  head.context = "{a}~\\b";
  CHECK(app::caption_text(head) == "Step_time. 12.4\u202f% idle & 2 \u00d7 slower. {a}~\\b.");
  CHECK(app::caption_latex(head) ==
        "Step\\_time. 12.4\\,\\% idle \\& 2 $\\times$ slower. \\{a\\}\\textasciitilde{}\\textbackslash{}b.");
  const auto begins = [](const char* takeaway) {
    widgets::FigureHead of;
    of.takeaway = takeaway;
    return app::caption_text(of);
  };
  CHECK(begins("matmuls run at 67\u202f% of peak") == "Matmuls run at 67\u202f% of peak.");
  CHECK(begins("tensor 8: hidden") == "Tensor 8: hidden.");
  CHECK(begins("bf16 is compute-bound here") == "bf16 is compute-bound here.");
  CHECK(begins("fsdp 8: hidden") == "fsdp 8: hidden.");
  CHECK(begins("\u043f\u043b\u0430\u043d") == "\u041f\u043b\u0430\u043d.");
  CHECK(begins("\u0448\u0430\u0433") == "\u0428\u0430\u0433.");
  CHECK(test::in_english(app::caption_file(head, "caption.doc").error()) ==
        "caption.doc: is no name for a caption; end it in .tex or .txt");
}

}  // namespace
}  // namespace roofscape
