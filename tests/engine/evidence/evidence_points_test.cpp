// The measurements that ship, and what becomes of them: one point for a run and kind of quantity.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "engine/base/stats.h"
#include "engine/evidence/evidence_points.h"
#include "engine/evidence/measured_prediction.h"
#include "engine/evidence/peers.h"
#include "engine/evidence/validation.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/capture_binding.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using engine::EvidenceKind;
using engine::EvidencePoint;

const io::EvidenceFiles& shipped_evidence() {
  static const auto files = io::load_evidence(test::shipped());
  REQUIRE(files);
  return files.value();
}

const engine::EvidenceSet& all_points() {
  static const engine::EvidenceSet set = evidence::evidence_set(shipped_evidence(), test::shipped());
  return set;
}

const EvidencePoint* find(const engine::Evidence& evidence, std::string_view id, EvidenceKind kind) {
  for (const EvidencePoint& p : evidence.points)
    if (p.id == id && p.kind == kind) return &p;
  return nullptr;
}

double validated_error(std::string_view id, std::string_view quantity) {
  std::vector<io::Measurement> one;
  for (const io::Measurement& m : shipped_evidence().entries)
    if (m.id == id) one.push_back(m);
  for (const evidence::ValidationRow& row : evidence::validate(one, test::shipped(), engine::Mode::calibrated).rows)
    if (row.quantity == quantity)
      return row.left_out[static_cast<std::size_t>(io::LeftOutKind::model)].value_or(row.error);
  FAIL("no such row");
  return 0;
}

constexpr const char* kEntry =
    R"({"name": "Mine", "entries": [{"id": "mine-1", "family": "mine", "task": "train", "measured": {"step_time_s": 2}}]})";

TEST_CASE("a run that states more ranks than 32 bits count is refused, as any that has too few chips") {
  int tried = 0;
  for (io::Measurement run : shipped_evidence().entries) {
    if (tried == 20) break;
    if (!run.plan || !evidence::prepare(run, test::shipped(), engine::Mode::ideal).scenario) continue;
    ++tried;
    run.scenario.clear();
    run.plan->data.reset();
    run.plan->tensor = run.plan->pipeline = 1024;
    run.plan->context = 4096;
    CAPTURE(run.id);
    const evidence::PreparedEntry prepared = evidence::prepare(run, test::shipped(), engine::Mode::ideal);
    CHECK_FALSE(prepared.scenario.has_value());
    CHECK_FALSE(prepared.reason.empty());
  }
  CHECK(tried == 20);
}

TEST_CASE("3542 measurements of 28 sources ship, each with its source") {
  CHECK(shipped_evidence().entries.size() == 3542);
  CHECK(shipped_evidence().names.size() == 28);
  for (const io::Measurement& m : shipped_evidence().entries) CHECK_MESSAGE(!m.source.empty(), m.id);
}

TEST_CASE("a source has a name for people") {
  CHECK(shipped_evidence().names.at("korthikanti2022") == "Korthikanti et al. 2022");
}

TEST_CASE("no prediction is stored: a run's file says what was measured only") {
  for (const io::Measurement& m : shipped_evidence().entries)
    for (const io::MeasuredValue& v : m.values) CHECK_MESSAGE(v.quantity.find("predict") == std::string::npos, m.id);
}

TEST_CASE("a published step time is the point's, in seconds") {  // Korthikanti et al. 2022, Table 5: 1.42 s
  const EvidencePoint* p = find(all_points().calibrated, "korthikanti22-t5-22B-full", EvidenceKind::step);
  REQUIRE(p != nullptr);
  CHECK(p->measured == doctest::Approx(1.42));
  CHECK(p->published == "step_time_s");
  CHECK(p->family == "Korthikanti et al. 2022");
  CHECK(p->model == "Megatron 22B");
  CHECK(p->error == doctest::Approx(validated_error("korthikanti22-t5-22B-full", "step_time_s")));
}

TEST_CASE("a run published as tokens per second is told as the step time that gives them") {
  // torchtitan, 70B with asynchronous tensor parallelism off: 597.3 tokens/s a GPU; 512 sequences of 8192 on 256.
  const EvidencePoint* p = find(all_points().calibrated, "titan-70b-asynctp-bf16-vanilla", EvidenceKind::step);
  REQUIRE(p != nullptr);
  CHECK(p->published == "tokens_per_s_per_chip");
  CHECK(p->measured == doctest::Approx(512.0 * 8192 / 256 / 597.3));
  const double too_many = validated_error("titan-70b-asynctp-bf16-vanilla", "tokens_per_s_per_chip");
  CHECK(p->error == doctest::Approx(1 / (1 + too_many) - 1));
}

TEST_CASE("memory in GiB and GB is told in bytes") {
  // BLOOM's tuning: 55 GB by nvidia-smi.
  const EvidencePoint* p = find(all_points().calibrated, "bloom-tune-022", EvidenceKind::memory);
  REQUIRE(p != nullptr);
  CHECK(p->measured == doctest::Approx(55e9));
}

TEST_CASE("a kernel is told in FLOP/s, a collective in bus bandwidth") {
  const EvidencePoint* kernel = find(all_points().calibrated, "bmm-a100-64x2048x256x2048", EvidenceKind::kernel);
  const EvidencePoint* collective = find(all_points().calibrated, "b200-ar-4node-1024MiB", EvidenceKind::collective);
  REQUIRE(kernel != nullptr);
  REQUIRE(collective != nullptr);
  CHECK(kernel->measured == doctest::Approx(218.952e12));
  CHECK(collective->measured == doctest::Approx(361.99e9));
}

TEST_CASE("a run gives one point a kind, however many figures it was published with") {
  for (const engine::Evidence* evidence : {&all_points().calibrated, &all_points().ideal})
    for (std::size_t i = 1; i < evidence->points.size(); ++i) {
      const EvidencePoint &a = evidence->points[i - 1], &b = evidence->points[i];
      CHECK_MESSAGE((a.id != b.id || a.kind != b.kind), a.id);
    }
}

TEST_CASE("every kind has points, and runs without one are counted") {
  std::array<int, engine::kEvidenceKinds> n{};
  std::set<std::string> ids;
  for (const EvidencePoint& p : all_points().calibrated.points)
    ++n[static_cast<std::size_t>(p.kind)], ids.insert(p.id);
  for (const int count : n) CHECK(count >= 20);
  CHECK(ids.size() + all_points().calibrated.runs_without_point == shipped_evidence().entries.size());
}

TEST_CASE("a published step time that ideal mode calls too short has a negative error there") {
  const EvidencePoint* p = find(all_points().ideal, "korthikanti22-t5-22B-full", EvidenceKind::step);
  REQUIRE(p != nullptr);
  CHECK(p->error < 0);
}

TEST_CASE("nine in ten runs lie inside the band of the others, and most have one") {
  for (const EvidenceKind kind : {EvidenceKind::step, EvidenceKind::memory, EvidenceKind::decode}) {
    const engine::BandCoverage coverage = engine::band_coverage(all_points().calibrated.points, kind);
    CHECK(coverage.share() >= 0.88);
    // Bands are as wide as new models of new sources ask for: of those they hold no more than they say.
    CHECK(engine::band_coverage(all_points().calibrated.points, kind, engine::Others::models).share() <= 0.97);
    CHECK(static_cast<double>(coverage.n) >=
          (kind == EvidenceKind::step ? 0.6 : 0.55) * static_cast<double>(coverage.all));
  }
}

TEST_CASE("without their own model and source nearly as many do, on each generation that shows bands") {
  const std::vector<EvidencePoint>& points = all_points().calibrated.points;
  CHECK(engine::band_coverage(points, EvidenceKind::step, engine::Others::models).share() >= 0.88);
  int shown = 0, none = 0;
  for (const EvidencePoint& point : points) {
    if (point.kind != EvidenceKind::step || point.contradicts) continue;  // those are in no band
    CHECK(point.trial.holds() == (point.trial.share() >= engine::kBandsHold));
    ++(point.trial.holds() ? shown : none);
  }
  CHECK(shown > none);
}

TEST_CASE("servers whose calibration never saw the model are off by 15 % a token in the median") {
  std::vector<double> errors;
  for (const EvidencePoint& point : all_points().calibrated.points)
    if (point.kind == EvidenceKind::decode && point.family == "serving engines")
      errors.push_back(std::abs(point.error));
  CHECK(errors.size() > 500);
  CHECK(engine::median(errors) <= 0.15);
}

TEST_CASE("the more requests a load begins with, the longer its first tokens take") {
  // LLaMA-3 70B on two H200s with vLLM, prompts of 8192 tokens, from four requests in flight to many.
  std::map<double, double> by_batch;
  for (const io::Measurement& m : shipped_evidence().entries) {
    if (m.table != "InferenceX" || m.model->shape.name != "LLaMA-3 70B" || m.hardware->chip_id != "h200" ||
        m.hardware->count != 2 || m.batch->prompt_tokens != 8192.0)
      continue;
    for (const evidence::ValidationRow& row :
         evidence::validate(std::span(&m, 1), test::shipped(), engine::Mode::calibrated).rows)
      if (row.quantity == "ttft_ms" && row.predicted) by_batch[*m.batch->batch] = *row.predicted;
  }
  REQUIRE(by_batch.size() >= 4);
  double before = 0;
  for (const auto& [batch, milliseconds] : by_batch) {
    CAPTURE_BINDING(batch);
    CHECK(milliseconds > before);
    before = milliseconds;
  }
}

TEST_CASE("a user's file of measurements is laid over those that ship") {
  const test::TemporaryFolder folder;
  folder.write("evidence/mine.json", kEntry);
  const auto files = io::load_evidence(io::PresetLibrary(folder.path()));
  REQUIRE(files);
  CHECK(files.value().entries.size() == 3543);
  CHECK(files.value().names.at("mine") == "Mine");
}

TEST_CASE("a user's file of a shipped name replaces it") {
  const test::TemporaryFolder folder;
  folder.write("evidence/vtrain.json", kEntry);
  const auto files = io::load_evidence(io::PresetLibrary(folder.path()));
  REQUIRE(files);
  CHECK(files.value().entries.size() == 3542 - 70 + 1);
}

TEST_CASE("an id that two files have is an error that names both file and id") {
  const test::TemporaryFolder folder;
  folder.write("evidence/a.json", kEntry);
  const auto file = folder.write("evidence/b.json", kEntry);
  const auto files = io::load_evidence(io::PresetLibrary(folder.path()));
  REQUIRE_FALSE(files);
  CHECK(test::in_english(files.error()) ==
        file.string() + ": entries: \"mine-1\" stands in another file too; give every entry an id of its own");
}

TEST_CASE("a user's file that is no JSON is an error with its path") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("evidence/a.json", "{");
  const auto files = io::load_evidence(io::PresetLibrary(folder.path()));
  REQUIRE_FALSE(files);
  CHECK(files.error().file == file.string());
}

TEST_CASE("on the rows of peers that ship errors without their source are below those published for several nodes") {
  const auto& entries = shipped_evidence().entries;
  const evidence::Validation validation = evidence::validate(entries, test::shipped(), engine::Mode::calibrated);
  const auto compared = evidence::compare_with_peers(entries, validation);
  REQUIRE(compared.size() == 3);
  const std::array<std::size_t, 3> rows{4, 46, 24};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(std::string(compared[i].peer->on));
    CHECK(compared[i].rows == rows[i]);
    CHECK(compared[i].rows_left_out == rows[i]);
  }
  for (const std::size_t i : {0U, 1U}) CHECK(compared[i].left_out < compared[i].peer->error);
}

TEST_CASE("two plans that differ in one thing are told how measured pairs like them went, others are not") {
  const engine::PairRecord& pairs = all_points().calibrated.pairs;
  const auto loaded = io::load_scenario("llama3-405b-16k-h100", test::shipped());
  REQUIRE(loaded.ok());
  engine::Scenario other = loaded.value();
  CHECK_FALSE(pairs.like(loaded.value(), other).has_value());
  other.pipeline.microbatch_sequences *= 2;
  const auto like = pairs.like(loaded.value(), other);
  REQUIRE(like.has_value());
  CHECK(like->change == engine::PlanChange::batch);
  CHECK(like->pairs.apart >= engine::kFewestPairs);
  CHECK(like->pairs.right <= like->pairs.apart);
  other.parallelism.tensor *= 2;
  CHECK_FALSE(pairs.like(loaded.value(), other).has_value());
}

TEST_CASE("rows of the coverage by chips add up to those of all steps") {
  std::size_t all = 0, chips = 0;
  for (const engine::CoverageRow& row : engine::coverage_rows(all_points().calibrated.points)) {
    if (row.kind != EvidenceKind::step || row.part == "experts") continue;
    (row.part.empty() ? all : chips) += row.coverage.all;
  }
  CHECK(all > 300);
  CHECK(chips == all);
}

}  // namespace
}  // namespace roofscape
