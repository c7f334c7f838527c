#include <doctest/doctest.h>

#include "tests/widgets/support.h"
#include "widgets/figures/training/time_bars.h"

using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {
constexpr const char* kThemes[] = {"dark", "light", "print", "projector", "high_contrast"};
constexpr double kText = 4.5, kGraphics = 3;
}  // namespace

TEST_CASE("text tokens reach 4.5:1 on every ground they are used on") {
  for (const char* name : kThemes) {
    CAPTURE(name);
    const Theme t = theme(name);
    for (const Colour ink : {t.ink, t.ink2, t.ink3, t.ok, t.warn, t.err}) {
      CHECK(contrast(ink, t.panel) >= kText);
      CHECK(contrast(ink, t.win) >= kText);
    }
    CHECK(contrast(t.ink, t.ctl) >= kText);
    CHECK(contrast(t.ink2, t.ctl) >= kText);
    CHECK(contrast(t.inv, t.ink) >= kText);
  }
}

TEST_CASE("borders, axes, idle hatch and data reach 3:1 on the panel") {
  for (const char* name : kThemes) {
    CAPTURE(name);
    const Theme t = theme(name);
    for (const Colour c : {t.edge, t.axis, t.bub}) CHECK(contrast(c, t.panel) >= kGraphics - 0.05);
    for (std::size_t h = 0; h < kHueCount; ++h) CHECK(contrast(t.lines[h], t.panel) >= kGraphics);
  }
}

TEST_CASE("a fill below 3:1 has a darker or lighter edge, any other has none") {
  for (const char* name : kThemes) {
    CAPTURE(name);
    const Theme t = theme(name);
    for (std::size_t i = 0; i < kMemoryPartCount; ++i) {
      const Fill f = fill_of(t, static_cast<MemoryPart>(i), 15);
      CAPTURE(name_of(static_cast<MemoryPart>(i)));
      if (contrast(f.colour, t.panel) >= kGraphics)
        CHECK_FALSE(f.edge.visible());
      else
        CHECK(contrast(f.edge, t.panel) > contrast(f.colour, t.panel));
    }
  }
}

TEST_CASE("text on any fill is readable in black or white") {
  for (const char* name : kThemes) {
    const Theme t = theme(name);
    for (std::size_t h = 0; h < kHueCount; ++h) CHECK(contrast(text_on(t.fills[h]), t.fills[h]) >= kText);
  }
  CHECK(text_on(Colour{230, 159, 0, 255}) == Colour{0, 0, 0, 255});
}

TEST_CASE("memory parts differ in colour and hatch, axes in at least one") {
  const Theme t = theme("dark");
  const auto distinct = [](const Fill& a, const Fill& b) {
    return a.colour != b.colour && (a.hatch != b.hatch || a.hatch == Hatch::cross);
  };
  for (std::size_t i = 0; i < kMemoryPartCount; ++i)
    for (std::size_t k = 0; k < i; ++k)
      CHECK(distinct(fill_of(t, static_cast<MemoryPart>(i), 15), fill_of(t, static_cast<MemoryPart>(k), 15)));
  for (std::size_t i = 0; i < kStepPartCount; ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const Fill a = fill_of(t, static_cast<StepPart>(i), 15), b = fill_of(t, static_cast<StepPart>(k), 15);
      CHECK((a.colour != b.colour || a.hatch != b.hatch));
    }
}

TEST_CASE("the mesh axes have six different dashes, scaled by the width of the line") {
  const StepPart axes[] = {StepPart::data,    StepPart::fsdp,   StepPart::tensor,
                           StepPart::context, StepPart::expert, StepPart::pipeline};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK(dash_of(axes[i], 2) != dash_of(axes[k], 2));
  CHECK(dash_of(StepPart::fsdp, 2) == Dash{10, 4});
  CHECK(dash_of(StepPart::fsdp, 4) == Dash{20, 8});
  CHECK(dash_of(StepPart::compute, 2).solid());
}

TEST_CASE("a colour shared by two families names the same thing moved") {
  const Theme t = theme("light");
  CHECK(line_of(t, StepPart::fsdp) == line_of(t, MemoryPart::weights));
  CHECK(line_of(t, StepPart::data) == line_of(t, MemoryPart::gradients));
  CHECK(line_of(t, StepPart::tensor) == line_of(t, MemoryPart::activations));
  CHECK(line_of(t, StepPart::context) == line_of(t, MemoryPart::kv_cache));
}

TEST_CASE("a theme file has exactly the keys a theme needs") {
  for (const char* name : kThemes) {
    const auto tokens = theme_tokens(name);
    CHECK(tokens.size() == Theme::keys().size());
    for (const std::string& key : Theme::keys()) CHECK(tokens.count(key) == 1);
  }
}

TEST_CASE("a theme that lacks keys or has bad ones says which") {
  auto tokens = theme_tokens("dark");
  tokens.erase("panel");
  tokens.erase("hue.sky.line");
  CHECK_THROWS_WITH_AS(Theme::from_tokens(tokens), "theme lacks panel, hue.sky.line", ThemeError);
  tokens = theme_tokens("dark");
  tokens["ink"] = "white";
  tokens["width.data"] = "-1";
  CHECK_THROWS_WITH_AS(
      Theme::from_tokens(tokens),
      "theme: ink is \"white\", not a colour like #14181D; width.data is \"-1\", not a number of at least 0",
      ThemeError);
}

TEST_CASE("later chunks of a device are paler, up to half") {
  const Theme t = theme("dark");
  const Fill f = fill_of(t, TimelinePart::forward, 15);
  CHECK(chunk_of(t, f, 0, 4).colour == f.colour);
  CHECK(contrast(chunk_of(t, f, 1, 4).colour, t.panel) > contrast(chunk_of(t, f, 3, 4).colour, t.panel));
  CHECK(chunk_of(t, f, 3, 4).colour == mix(f.colour, t.panel, 0.5f));
}

TEST_CASE("a later chunk's forward is not taken for recomputation in any theme") {
  for (const char* name : kThemes) {
    CAPTURE(name);
    const Theme t = theme(name);
    const Fill later = chunk_of(t, fill_of(t, TimelinePart::forward, 15), 1, 2);
    CHECK(contrast(later.colour, fill_of(t, TimelinePart::recompute, 15).colour) >= 1.4);
    CHECK(contrast(later.colour, fill_of(t, TimelinePart::forward, 15).colour) >= 1.4);
  }
}

TEST_CASE("the edge of a later chunk is as clear as it must be and no clearer than the whole colour") {
  for (const char* name : kThemes) {
    const Theme t = theme(name);
    for (const TimelinePart kind :
         {TimelinePart::forward, TimelinePart::backward, TimelinePart::backward_weight, TimelinePart::recompute}) {
      CAPTURE(name);
      CAPTURE(name_of(kind));
      const Fill later = chunk_of(t, fill_of(t, kind, 15), 1, 2);
      if (contrast(later.colour, t.panel) >= kGraphics) {
        CHECK_FALSE(later.edge.visible());
        continue;
      }
      CHECK(contrast(later.edge, t.panel) >= kGraphics);
      CHECK(contrast(later.edge, t.panel) < kGraphics + 0.4);
    }
  }
}

TEST_CASE("what is faded because it is hidden has an edge of 3:1 in every theme") {
  for (const char* name : kThemes) {
    const Theme t = theme(name);
    for (const StepPart axis : {StepPart::data, StepPart::fsdp, StepPart::tensor, StepPart::context, StepPart::expert,
                                StepPart::pipeline}) {
      CAPTURE(name);
      CAPTURE(name_of(axis));
      const Fill hidden = hidden_fill(t, fill_of(t, axis, 15), {});
      CHECK(contrast(hidden.edge, t.panel) >= kGraphics);
      CHECK(hidden.edge_width > 0);
    }
  }
}

TEST_CASE("text in the colour of a series reads at 4.5:1 in every theme, in that colour itself where it can") {
  for (const char* name : kThemes) {
    const Theme t = theme(name);
    for (std::size_t h = 0; h < kHueCount; ++h) {
      CAPTURE(name);
      CAPTURE(name_of(static_cast<Hue>(h)));
      const Colour text = readable(t.lines[h], t.panel);
      CHECK(contrast(text, t.panel) >= kText);
      if (contrast(t.lines[h], t.panel) >= kText) CHECK(text == t.lines[h]);
    }
  }
}

TEST_CASE("hex colours are read in both lengths and nothing else is") {
  CHECK(parse_colour("#14181d") == Colour{0x14, 0x18, 0x1d, 255});
  CHECK(parse_colour("#14181D80") == Colour{0x14, 0x18, 0x1d, 0x80});
  for (const char* bad : {"", "#", "#1", "14181D", "#14181G", "#14181D8", "#é4181D"}) CHECK_FALSE(parse_colour(bad));
}

TEST_CASE("viridis runs from its dark to its light end and is clamped") {
  CHECK(viridis(-1) == Colour{68, 1, 84, 255});
  CHECK(viridis(2) == Colour{253, 231, 37, 255});
  double before = 0;
  for (int i = 0; i <= 20; ++i) {
    const double l = luminance(viridis(i / 20.0));
    CHECK(l > before);
    before = l;
  }
}

TEST_CASE("lines in shades reach 3:1 on the panel of every theme, the best the most") {
  for (const char* name : kThemes) {
    CAPTURE(name);
    const Theme t = theme(name);
    const LineShades shade(t);
    double before = kGraphics;
    for (int i = 0; i <= 20; ++i) {
      const double here = contrast(shade(i / 20.0), t.panel);
      CHECK(here >= before);
      before = here;
    }
    CHECK(shade(1) == viridis(t.dark() ? 1 : 0));
    CHECK(shade(-1) == shade(0));
  }
}

TEST_CASE("in high contrast text reaches 7:1 and graphics 4.5:1") {
  const Theme t = theme("high_contrast");
  for (const Colour ink : {t.ink, t.ink2, t.ink3, t.ok, t.warn, t.err}) CHECK(contrast(ink, t.panel) >= 7);
  for (const Colour c : {t.edge, t.axis, t.bub, t.line}) CHECK(contrast(c, t.panel) >= 4.5);
  for (std::size_t h = 0; h < kHueCount; ++h) {
    CHECK(contrast(t.lines[h], t.panel) >= 7);
    CHECK(contrast(t.fills[h], t.panel) >= 4.5);
  }
}
