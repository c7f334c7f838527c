#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/widgets/figures/figure_fixture.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

const Primitive* find_roof(const RecordCanvas& canvas) {
  const Theme dark = theme("dark");
  for (const Primitive& p : canvas.primitives())
    if (p.kind == Primitive::Kind::stroke && p.points.size() == 3 && p.colour == dark.ink) return &p;
  return nullptr;
}

}  // namespace

TEST_CASE("the roofs meet where intensity is peak over bandwidth") {
  const auto canvas = drawn("roofline", sixteen_stages(), "dark", 15, 900, 500);
  const Primitive* roof = find_roof(*canvas);
  REQUIRE(roof);
  const double peak = 990e12, ridge = 990e12 / 3.35e12;
  CHECK(roof->points[1].x ==
        doctest::Approx(between_ticks(*canvas, "1", 1, "100", 100, ridge, false)).epsilon(0.001));
  CHECK(roof->points[1].y ==
        doctest::Approx(between_ticks(*canvas, "1\u202fT", 1e12, "100\u202fT", 100e12, peak, true)).epsilon(0.001));
  CHECK(roof->points[2].y == roof->points[1].y);
  // One decade of intensity is one decade of speed on the slope.
  const double low = 0.5;
  const Point a = roof->points[0], b = roof->points[1];
  const float x = between_ticks(*canvas, "1", 1, "100", 100, low, false);
  const float y = a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
  CHECK(y == doctest::Approx(between_ticks(*canvas, "1\u202fT", 1e12, "100\u202fT", 100e12, low * 3.35e12, true))
                 .epsilon(0.002));
}

TEST_CASE("the roofs carry their numbers") {
  const auto gpu = drawn("roofline", sixteen_stages(), "dark", 15, 900, 500);
  for (const char* text : {"bf16 peak 990\u202fTFLOP/s", "HBM 3.35\u202fTB/s", "L2 5.5\u202fTB/s", "ridge 296"}) {
    CAPTURE(text);
    CHECK(gpu->find_text(text));
  }
  const auto tpu = drawn("roofline", one_stage(), "dark", 15, 900, 500);
  for (const char* text : {"bf16 peak 459\u202fTFLOP/s", "HBM 2.8\u202fTB/s", "VMEM 40\u202fTB/s", "ridge 164"}) {
    CAPTURE(text);
    CHECK(tpu->find_text(text));
  }
}

TEST_CASE("the marks are named in a corner where there are several kinds") {
  const auto canvas = drawn("roofline", sixteen_stages(), "dark", 15, 900, 500);
  for (const char* text : {"matmul", "vector and optimizer", "share of step"}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("a peak is not named on the line of another, and no name is on a slope") {
  const FigureCase c = sixteen_stages();
  for (const float height : {320.0f, 400.0f, 500.0f}) {
    CAPTURE(height);
    const auto canvas = drawn("roofline", c, "dark", 15, 700, height);
    const TextRun* own = canvas->find_text("bf16 peak 990\u202fTFLOP/s");
    REQUIRE(own);
    CHECK(strokes_through(*canvas, own->text) == 0);
    CHECK(strokes_through(*canvas, "fp8 peak 1.98\u202fPFLOP/s") == 0);
  }
}

TEST_CASE("a chip of a torus is a chip, a switched one a GPU") {
  CHECK(drawn("roofline", one_stage(), "dark", 15, 900, 500)->find_text("\u2191 achieved FLOP/s per chip"));
  CHECK(drawn("roofline", sixteen_stages(), "dark", 15, 900, 500)->find_text("\u2191 achieved FLOP/s per GPU"));
}

TEST_CASE("every operation with FLOPs and bytes has one dot at its place") {
  const FigureCase c = sixteen_stages();
  CHECK(std::any_of(c.report.operations.begin(), c.report.operations.end(),
                    [](const engine::OperationRow& row) { return row.flops <= 0 && row.hbm_bytes > 0; }));
  const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
  for (const engine::OperationRow& row : c.report.operations) {
    const std::string id = "operation." + std::string(engine::kOperationIds[row.kind]);
    CAPTURE(id);
    REQUIRE(canvas->count_tags(id) == (row.flops > 0 ? 1u : 0u));
    if (row.flops <= 0) continue;
    const Rect r = canvas->find_tag(id)->rect;
    CHECK(r.centre().x ==
          doctest::Approx(between_ticks(*canvas, "1", 1, "100", 100, row.intensity_flop_per_byte, false))
              .epsilon(0.002));
    CHECK(r.centre().y == doctest::Approx(between_ticks(*canvas, "1\u202fT", 1e12, "100\u202fT", 100e12,
                                                        row.achieved_flop_per_s, true))
                              .epsilon(0.002));
    CHECK_FALSE(canvas->find_tag(id)->readout.empty());
    CHECK(canvas->find_tag(id)->readout.rows.size() <= 4);
  }
}

TEST_CASE("the area of a dot is its share of the step") {
  const auto canvas = drawn("roofline", sixteen_stages(), "dark", 15, 900, 500);
  const float big = canvas->find_tag("operation.gate_up")->rect.w, half = canvas->find_tag("operation.down")->rect.w;
  CHECK(big * big / (half * half) == doctest::Approx(2).epsilon(0.01));
}

TEST_CASE("the roofline's takeaway says what bounds the matrix multiplications") {
  const Theme dark = theme("dark");
  const auto said = [&](const FigureCase& c) {
    return find_figure("roofline")->head(input_of(c, dark), {}).takeaway;
  };
  CHECK(said(sixteen_stages()) == "matmuls run at 100\u202f% of peak");
  CHECK(said(bound_by_hbm()) == "94\u202f% of the step is bound by HBM");
}

TEST_CASE("a chip without a known bandwidth says so instead of drawing") {
  engine::Scenario s = sixteen_stages().scenario;
  s.cluster.chip[engine::ChipField::hbm_bytes_per_s].value.reset();
  const FigureCase c = evaluated(s);
  const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
  CHECK(canvas->find_text("The peak or the HBM bandwidth of this chip is not known."));
  CHECK(canvas->count_tags("roofline.ridge") == 0);
}

TEST_CASE("roofs of other number types stand at their peaks") {
  FigureCase c = sixteen_stages();
  const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
  REQUIRE(canvas->find_text("fp8 peak 1.98\u202fPFLOP/s"));
  const Primitive* roof = find_roof(*canvas);
  REQUIRE(roof);
  const float y = canvas->find_text("fp8 peak 1.98\u202fPFLOP/s")->anchor.y;
  CHECK(y ==
        doctest::Approx(between_ticks(*canvas, "1\u202fT", 1e12, "100\u202fT", 100e12, 1979e12, true)).epsilon(0.01));
  CHECK(y < roof->points[2].y);
  CHECK(canvas->find_text("bf16 peak 990\u202fTFLOP/s"));
  c.scenario.cluster.chip[engine::ChipField::peak_fp8_dense_flops_per_s].value = 990e12;  // no faster: the same line
  CHECK(!drawn("roofline", c, "dark", 15, 900, 500)->find_text("fp8 peak 990\u202fTFLOP/s"));
}

TEST_CASE("measured operations stand where they were measured, hollow and named, and the takeaway is theirs") {
  FigureCase c = sixteen_stages();
  c.measured = {{"half of the slope", 3.35e12, 335e9, 0.2}, {"at the peak", 990e12, 1e12, 1}};
  const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
  REQUIRE(canvas->count_tags("measured") == 2);
  const TagRegion* low = canvas->find_tag("measured", 0);
  CHECK(low->rect.centre().x ==
        doctest::Approx(between_ticks(*canvas, "1", 1, "100", 100, 10, false)).epsilon(0.002));
  CHECK(
      low->rect.centre().y ==
      doctest::Approx(between_ticks(*canvas, "1\u202fT", 1e12, "100\u202fT", 100e12, 16.75e12, true)).epsilon(0.002));
  CHECK(low->readout.title == "half of the slope, measured 16.8\u202fTFLOP/s");
  CHECK(low->readout.rows.front().second == "50\u202f%");
  CHECK(canvas->find_text("half of the slope"));
  CHECK(canvas->audit_text() == "");
  // 0.1 s and 1 s allowed, 0.2 s and 1 s taken.
  CHECK(find_figure("roofline")->head(input_of(c, theme("dark")), {}).takeaway ==
        "measured operations reach 92\u202f% of the roofs");
}

TEST_CASE(
    "where too many operations are measured for their marks, the longest of a place stands for those that are "
    "there") {
  FigureCase c = sixteen_stages();
  for (int i = 0; i < 20'000; ++i) c.measured.push_back({"short", 3.35e12, 335e9, 0.2});
  c.measured.push_back({"long", 3.35e15, 335e12, 200});  // at the same place
  c.measured.push_back({"elsewhere", 990e12, 1e12, 1});
  const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
  REQUIRE(canvas->count_tags("measured") == 2);
  const Readout& readout = canvas->find_tag("measured", 0)->readout;
  CHECK(readout.title == "long, measured 16.8\u202fTFLOP/s");
  CHECK(readout.rows[readout.rows.size() - 2] ==
        std::pair<std::string, std::string>("operations in this place", "20\u202f001"));
  CHECK(readout.rows.back().first == "their time");
  CHECK(canvas->find_text("long"));
  CHECK(canvas->audit_text() == "");
}

TEST_CASE("no words lie on a measured operation, wherever one was measured under the roof") {
  for (const double intensity : {350.0, 600.0, 1000.0, 1400.0, 2000.0})
    for (const double share : {0.8, 0.55, 0.4, 0.25, 0.15}) {
      CAPTURE(intensity);
      CAPTURE(share);
      FigureCase c = sixteen_stages();
      c.measured = {{"kernel", intensity * 1e9, 1e9, intensity * 1e9 / (share * 990e12)}};
      const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
      REQUIRE(canvas->count_tags("measured") == 1);
      const Rect mark = canvas->find_tag("measured", 0)->rect.inset(2);  // the region that answers is larger
      for (const TextRun& run : canvas->texts())
        CHECK_MESSAGE(
            !rect_between(run.corners[0].x, run.corners[0].y, run.corners[2].x, run.corners[2].y).intersects(mark),
            run.text);
    }
}

TEST_CASE("a measured operation beside the mark of a computed one is named nearer to its own, or not at all") {
  const FigureCase computed = sixteen_stages();
  int named = 0;
  for (const engine::OperationRow& row : computed.report.operations) {
    if (!(row.flops > 0) || !(row.achieved_flop_per_s > 0)) continue;
    for (const double aside : {0.8, 1.25})
      for (const double slower : {1.2, 1.6}) {
        FigureCase c = computed;
        const double flop_per_s = row.achieved_flop_per_s / slower;
        c.measured = {{"kernel", 1e12, 1e12 / (row.intensity_flop_per_byte * aside), 1e12 / flop_per_s}};
        const auto canvas = drawn("roofline", c, "dark", 15, 900, 500);
        const TextRun* name = canvas->find_text("kernel");
        if (name == nullptr || canvas->count_tags("measured") == 0) continue;
        const auto distance = [&](const Rect& mark) {
          const Point at = mark.centre();
          const float x = std::clamp(at.x, name->bounds.x, name->bounds.right()),
                      y = std::clamp(at.y, name->bounds.y, name->bounds.bottom());
          return std::hypot(at.x - x, at.y - y);
        };
        const float own = distance(canvas->find_tag("measured", 0)->rect);
        ++named;
        for (std::size_t kind = 0; kind < engine::kOperationIds.ids().size(); ++kind) {
          const TagRegion* other =
              canvas->find_tag("operation." + std::string(engine::kOperationIds.ids()[kind]), static_cast<int>(kind));
          if (other != nullptr) CHECK(own < distance(other->rect));
        }
      }
  }
  CHECK(named > 10);
}
