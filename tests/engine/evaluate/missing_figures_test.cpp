// What a chip's unpublished figure does to a plan: nothing, or there is no time and the figure is named. Never
// another number.
#include <doctest/doctest.h>

#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/missing_figures.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/inputs/inputs.h"
#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::library;
using tests::preset;
using tests::with;

namespace {

std::set<std::string_view> named_in(const Report& r) {
  std::set<std::string_view> out;
  for (const Diagnostic& d : r.diagnostics)
    if (d.code == "chip.missing_figure") out.insert(d.field_path);
  return out;
}

bool has_time(const Scenario& s, const Report& r) {
  return s.serves() ? r.quantities[Q::mixed_token_time_q] && r.quantities[Q::ttft]
                    : r.quantities[Q::step_time].has_value();
}

// Plans of 16 chips that between them cross every kind of link, on a chip whose other figures are all known.
std::vector<Scenario> plans_on(const Chip& chip) {
  Scenario training = preset(chip.interconnect == Interconnect::torus ? "llama2-13b-16-v5e" : "llama3-8b-8-h100");
  training.cluster.chip = chip;
  training.model = *library().find_model("mixtral-8x7b");
  if (chip.interconnect == Interconnect::torus) {
    training.cluster.slice = chip[ChipField::ici_torus_dims].value == 2 ? std::array{4, 2, 1} : std::array{2, 2, 2};
    training.cluster.slices = 2;
  } else {
    training.cluster.node_size = 8;
    training.cluster.nodes = 2;
    training.cluster.fabric.clear();
  }
  training.placement = {};
  training.parallelism = {};
  training.workload.global_batch_sequences = 32;
  training.workload.sequence_length = 4096;
  training.pipeline = {};
  training.pipeline.microbatch_sequences = 1;
  std::vector<Scenario> out;
  for (const std::initializer_list<std::string_view>& mesh :
       std::initializer_list<std::initializer_list<std::string_view>>{
           {"parallelism.data=16"},
           {"parallelism.fsdp=16"},
           {"parallelism.fsdp=16", "offload.optimizer=true", "offload.activations=true"},
           {"parallelism.data=2", "parallelism.tensor=8"},
           {"parallelism.fsdp=2", "parallelism.context=8"},
           {"parallelism.fsdp=8", "parallelism.expert=8", "parallelism.pipeline=2"},
           {"parallelism.pipeline=16"},
           {"parallelism.fsdp=16", "precision.compute=fp8"},
           {"parallelism.pipeline=2", "parallelism.tensor=8"},
           {"parallelism.data=8", "parallelism.pipeline=2"},
           {"parallelism.fsdp=8", "parallelism.pipeline=2", "parallelism.zero_stage=0"},
           {"parallelism.fsdp=8", "parallelism.pipeline=2", "parallelism.zero_stage=1"},
           {"parallelism.fsdp=8", "parallelism.pipeline=2", "parallelism.keep_gathered=chunk"},
           {"parallelism.fsdp=8", "parallelism.pipeline=2", "parallelism.keep_gathered=step"},
           {"parallelism.pipeline=8", "parallelism.tensor=2"}})
    out.push_back(with(training, mesh));
  Scenario serving = preset("llama3-8b-serving-8-h100");
  serving.cluster = training.cluster;
  serving.parallelism = {};
  serving.workload.batch = 64;
  for (const std::initializer_list<std::string_view>& mesh :
       std::initializer_list<std::initializer_list<std::string_view>>{
           {"parallelism.data=16"},
           {"parallelism.data=2", "parallelism.tensor=8"},
           {"parallelism.data=2", "parallelism.context=8"},
           {"parallelism.pipeline=4", "parallelism.tensor=4"},
           {"parallelism.pipeline=2", "parallelism.tensor=8"},
           {"parallelism.fsdp=16"},
           {"parallelism.tensor=8", "serving.disaggregated=true", "serving.prefill.tensor=8"},
           {"parallelism.tensor=4", "serving.disaggregated=true", "serving.prefill.tensor=4"}})
    out.push_back(with(serving, mesh));
  return out;
}

// Figures that size a scenario or describe the chip are no speeds: what takes them has other values without them.
constexpr std::array kDescribe{ChipField::launch_year, ChipField::ici_torus_dims, ChipField::chips_per_host,
                               ChipField::scaleup_domain_chips};

}  // namespace

TEST_CASE("without one figure of its chip a plan has every number as before, or no time and the figure named") {
  int named = 0, tried = 0;
  for (const Chip& shipped : library().chips()) {
    if (tried++ % tests::kFewerCases != 0) continue;
    Chip chip = shipped;
    // What nobody has published is entered, so that one figure at a time is missing.
    for (const ChipFieldRow& row : kChipFields)
      if (!chip[row.field].value && row.unit == unit::bytes_per_s) chip[row.field].value = 1e11;
    for (const Mode mode : {Mode::ideal, Mode::calibrated, Mode::custom})
      for (Scenario s : plans_on(chip)) {
        s.assumptions.mode = mode;
        const Report whole = evaluate(s);
        if (whole.has_errors() || !has_time(s, whole)) continue;
        for (const ChipFieldRow& row : kChipFields) {
          if (!chip[row.field].value || std::find(kDescribe.begin(), kDescribe.end(), row.field) != kDescribe.end())
            continue;
          Scenario without = s;
          without.cluster.chip[row.field].value.reset();
          const Report r = evaluate(without);
          const std::string_view path = figure_path(row.field);
          CAPTURE(chip.id);
          CAPTURE(static_cast<int>(mode));
          CAPTURE(path);
          CAPTURE(s.serves());
          CAPTURE(s.parallelism.pipeline);
          CAPTURE(s.parallelism.tensor);
          const bool rate = row.field == peak_field(s.precision.compute);  // has words of its own: chip.no_rate
          if (!has_time(without, r)) {
            CHECK((rate || named_in(r).contains(path)));
            CHECK(r.has_errors());
            ++named;
            continue;
          }
          CHECK_FALSE(r.has_errors());
          for (std::size_t i = 0; i < kReportQuantityCount; ++i) {
            const auto q = static_cast<Q>(i);
            if (!r.quantities[q]) continue;  // absent, with a reason: what a price is missing for
            CAPTURE(quantity(q).id);
            CHECK(r.quantities[q] == whole.quantities[q]);
          }
        }
      }
  }
  CHECK(named > 500 / tests::kFewerCases);
}

TEST_CASE("a transfer between stages over a link of unknown speed is not free") {
  Scenario s = with(preset("llama3-8b-8-h100"), {"parallelism.fsdp=1", "parallelism.pipeline=8"});
  REQUIRE_FALSE(evaluate(s).has_errors());
  s.cluster.chip[ChipField::scaleup_bytes_per_s_per_chip_oneway].value.reset();
  const Report r = evaluate(s);
  CHECK_FALSE(r.quantities[Q::step_time]);
  CHECK(named_in(r) == std::set<std::string_view>{"cluster.chip.scaleup_bytes_per_s_per_chip_oneway"});
}
