// The ladder of memories and the generations of chips: what they must show.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/hardware/generations.h"
#include "engine/hardware/memory_ladder.h"
#include "tests/engine/fixtures.h"
#include "tests/widgets/figures/figure_fixture.h"
#include "widgets/figures/common/figure_head.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;
using engine::Memory;

TEST_CASE("an H100's ladder: capacities and bandwidths from its multiprocessors to the fabric") {
  // 132 SMs of 256 KiB and 128 B per cycle at 1.98 GHz, L2 5.5 TB/s, HBM 3.35 TB/s, NVLink 450 GB/s, fabric 50 GB/s per
  // GPU, 990 TFLOP/s.
  const auto rungs = engine::memory_ladder(sixteen_stages().scenario.cluster);
  REQUIRE(rungs.size() == 6);
  CHECK(rungs[0].memory == Memory::registers);
  CHECK(*rungs[0].bytes == 132 * 262144.0);
  CHECK(!rungs[0].bytes_per_s);
  CHECK(rungs[1].memory == Memory::shared_memory);
  CHECK(*rungs[1].bytes_per_s == doctest::Approx(132 * 128 * 1.98e9));
  CHECK(rungs[2].memory == Memory::l2);
  CHECK(rungs[3].memory == Memory::hbm);
  CHECK(*rungs[3].flop_per_byte == doctest::Approx(990 / 3.35).epsilon(0.001));
  CHECK(rungs[4].memory == Memory::node);
  CHECK(*rungs[4].bytes == 640e9);
  CHECK(*rungs[4].flop_per_byte == doctest::Approx(2200).epsilon(0.001));
  CHECK(rungs[5].memory == Memory::fabric);
  CHECK(*rungs[5].bytes == 16384 * 80e9);
}

TEST_CASE("a ladder counts FLOPs in the format asked for, where its peak is published") {
  engine::Cluster cluster = sixteen_stages().scenario.cluster;
  using enum engine::ChipField;
  cluster.chip[peak_fp8_dense_flops_per_s].value = 1979e12;
  CHECK(*engine::memory_ladder(cluster, peak_fp8_dense_flops_per_s)[3].flop_per_byte ==
        doctest::Approx(1979e12 / 3.35e12));
  cluster.chip[peak_fp8_dense_flops_per_s].value.reset();
  CHECK(engine::ladder_peak(cluster.chip, peak_fp8_dense_flops_per_s) == peak_bf16_dense_flops_per_s);
}

TEST_CASE("levels of a stated fabric are rungs of their own, each with its share per chip") {
  engine::Cluster cluster = sixteen_stages().scenario.cluster;
  cluster.nodes = 128;
  cluster.fabric = {{"leaf", 32, 400e9, false}, {"spine", 4, 6.4e12, false}};
  const auto rungs = engine::memory_ladder(cluster);
  REQUIRE(rungs.size() == 7);
  CHECK(rungs[5].level == "leaf");
  CHECK(rungs[5].chips == 256);
  CHECK(*rungs[5].bytes_per_s == 50e9);
  CHECK(rungs[6].level == "spine");
  CHECK(rungs[6].chips == 1024);
  CHECK(*rungs[6].bytes_per_s == 25e9);  // 6.4 TB/s of a leaf over its 256 GPUs
}

TEST_CASE("a torus: all links of a chip, and the data-centre network even where there is one slice") {
  engine::Cluster cluster = one_stage().scenario.cluster;
  auto rungs = engine::memory_ladder(cluster);
  REQUIRE(rungs.size() == 5);
  CHECK(rungs[3].memory == Memory::torus);
  CHECK(*rungs[3].bytes_per_s == 6 * 90e9);
  CHECK(rungs[3].chips == 8960);
  CHECK(!rungs[4].bytes);
  cluster.slices = 2;
  rungs = engine::memory_ladder(cluster);
  CHECK(*rungs[4].bytes == 2 * 8960 * 96e9);
  cluster.slice = {16, 2, 1};
  CHECK(*engine::memory_ladder(cluster)[3].bytes_per_s ==
        3 * 90e9);  // two ways along the first axis, one along the second
}

TEST_CASE("rungs stand at their bandwidth and reach to their capacity, near ones first and higher") {
  const auto canvas = drawn("ladder", sixteen_stages(), "dark", 15, 900, 500);
  const auto right = [&](const char* id) {
    REQUIRE(canvas->find_tag(id));
    return canvas->find_tag(id)->rect.right();
  };
  const auto height = [&](const char* id) { return canvas->find_tag(id)->rect.centre().y; };
  CHECK(right("ladder.shared_memory") < right("ladder.l2"));
  CHECK(right("ladder.l2") < right("chip.hbm_bytes_per_s"));
  CHECK(right("chip.hbm_bytes_per_s") < right("chip.scaleup_bytes_per_s"));
  CHECK(height("ladder.shared_memory") < height("ladder.l2"));
  CHECK(height("chip.scaleup_bytes_per_s") < height("ladder.fabric"));
  // One decade of bytes and one of bandwidth are as long as those between ticks: 80 GB to 640 GB, 450 to 50 GB/s.
  const auto tick = [&](const char* text) {
    REQUIRE(canvas->find_text(text));
    return canvas->find_text(text)->anchor;
  };
  const float decade_x = (tick("1\u202fP").x - tick("10\u202fM").x) / 8;
  CHECK(right("chip.scaleup_bytes_per_s") - right("chip.hbm_bytes_per_s") ==
        doctest::Approx(decade_x * std::log10(8.0)).epsilon(0.01));
  for (const char* text :
       {"HBM", "80\u202fGB, 3.35\u202fTB/s, 296\u202fFLOP/B", "node, 8 GPUs", "fabric, 16\u202f384 GPUs",
        "Not drawn, bandwidth not published: registers 34.6\u202fMB."}) {
    CAPTURE(text);
    CHECK(canvas->find_text(text));
  }
}

TEST_CASE("the ladder's takeaway compares the farthest rung with HBM") {
  const Theme dark = theme("dark");
  CHECK(find_figure("ladder")->head(input_of(sixteen_stages(), dark), {}).takeaway ==
        "fabric, 16\u202f384 GPUs: 67\u00d7 slower than HBM");
}

TEST_CASE("a chip with one known bandwidth has no ladder and says so") {
  FigureCase c = one_stage();
  for (engine::Sourced& figure : c.scenario.cluster.chip.fields) figure.value.reset();
  const auto canvas = drawn("ladder", c, "dark", 15, 900, 500);
  CHECK(canvas->find_text("Too few memories of this chip have a published bandwidth to draw a ladder."));
}

TEST_CASE("a rate that doubles every two years is said to") {
  std::vector<engine::Chip> chips(5);
  for (std::size_t i = 0; i < chips.size(); ++i) {
    chips[i][engine::ChipField::launch_year].value = 2014 + 2 * static_cast<double>(i);
    chips[i][engine::ChipField::peak_bf16_dense_flops_per_s].value = 1e14 * std::exp2(static_cast<double>(i));
  }
  chips.push_back(chips[2]);  // a slower chip of the same year does not count
  chips.back()[engine::ChipField::peak_bf16_dense_flops_per_s].value = 1e13;
  const auto all = engine::generations(chips);
  const auto& half = all[static_cast<std::size_t>(engine::Rate::half)];
  CHECK(half.chips.size() == 6);
  CHECK(*half.doubling_years == doctest::Approx(2));
  CHECK(half.at_first_year == doctest::Approx(1e14));
  CHECK(!all[static_cast<std::size_t>(engine::Rate::hbm)].doubling_years);
}

TEST_CASE("generations: a mark for every published rate, the plan's own chip named, growth said") {
  const auto canvas = drawn("generations", sixteen_stages(), "dark", 15, 900, 600);
  CHECK(canvas->count_tags("generations.half") == 8);
  CHECK(canvas->count_tags("generations.fp4") == 1);
  CHECK(canvas->count_tags("generations.hbm") == 9);
  CHECK(canvas->find_text("H100 SXM"));
  CHECK(canvas->find_text("2013"));
  CHECK(canvas->find_text("2024"));
  const auto head = find_figure("generations")->head(input_of(sixteen_stages(), theme("dark")), {});
  CHECK(head.takeaway == "16-bit peaks double every 1.6 years, HBM bandwidth every 2.3");
}

TEST_CASE("generations: the plan's own chip is named, whichever it is") {
  const auto chips = tests::library().chips();
  const auto histories = engine::generations(chips);
  const Theme dark = theme("dark");
  FigureCase c = sixteen_stages();
  for (const engine::Chip& chip : chips) {
    c.scenario.cluster.chip = chip;
    FigureInput input = input_of(c, dark);
    input.chips = chips;
    RecordCanvas canvas(fonts(), 15, {0, 0, 560, 420});
    find_figure("generations")->draw(canvas, canvas.bounds(), input, {});
    CAPTURE(chip.name);
    const bool shown = std::any_of(histories.begin(), histories.end(), [&](const engine::RateHistory& h) {
      return std::any_of(h.chips.begin(), h.chips.end(),
                         [&](const engine::Generation& g) { return &chips[g.chip] == &chip; });
    });
    if (!shown) continue;
    CHECK(std::any_of(canvas.texts().begin(), canvas.texts().end(), [&](const TextRun& run) {
      return run.text == short_name(chip) && run.style.weight == Weight::bold;
    }));
  }
}

TEST_CASE("generations without chips say so") {
  const FigureCase c = sixteen_stages();
  const Theme dark = theme("dark");
  FigureInput input = input_of(c, dark);
  input.chips = {};
  RecordCanvas canvas(fonts(), 15, {0, 0, 600, 400});
  find_figure("generations")->draw(canvas, canvas.bounds(), input, {});
  CHECK(canvas.find_text("No chip with a year and a published rate is known."));
}
