// Every text that the programs will ask for is there, and says something with its values in place.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/core/strings.h"
#include "engine/base/collective_kind.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/report/diagnostic.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"
#include "widgets/plot/quantity_label.h"

namespace roofscape {
namespace {

const widgets::TextTable& texts() {
  static const widgets::TextTable table = [] {
    auto loaded = app::load_texts("en");
    REQUIRE_MESSAGE(loaded.ok(), (loaded ? "" : test::in_english(loaded.error())));
    return std::move(loaded).value();
  }();
  return table;
}

void check_text(const std::string& key) { CHECK_MESSAGE((texts().has(key) && !texts().text(key).empty()), key); }

TEST_CASE("every quantity has a label and a sentence") {
  for (const engine::Quantity& row : engine::kQuantities) {
    check_text("quantity." + std::string(row.id) + ".label");
    check_text("quantity." + std::string(row.id) + ".about");
  }
}

TEST_CASE("labels are short, differ within a group, and sentences end") {
  std::map<std::string, std::string> seen;
  for (const engine::Quantity& row : engine::kQuantities) {
    const std::string key = "quantity." + std::string(row.id);
    const std::string label(texts().text(key + ".label"));
    CHECK_MESSAGE(label.size() <= 44, label);
    CHECK_MESSAGE(texts().text(key + ".about").ends_with('.'), key);
    const std::string group(row.id.substr(0, row.id.find('.')));
    const auto added = seen.emplace(group + "/" + label, std::string(row.id));
    CHECK_MESSAGE(added.second, label << " names " << added.first->second << " and " << row.id);
  }
}

TEST_CASE("every field has a label and a sentence, every choice a word") {
  for (const engine::Field& field : engine::scenario_fields()) {
    const std::string path(field.path);
    if (engine::find_quantity(path)) continue;  // sizes of a model are shown with the texts of their quantities
    check_text("field." + path + ".label");
    check_text("field." + path + ".about");
    for (const std::string_view word : field.choices) check_text("choice." + path + "." + std::string(word));
  }
}

TEST_CASE("words of the report") {
  for (const std::string_view id : engine::kAxisIds) check_text("axis." + std::string(id));
  for (const std::string_view id : engine::kAxisIds) check_text("bound." + std::string(id));
  for (const char* id : {"compute", "hbm", "bubble"}) check_text(std::string("bound.") + id);
  for (const std::string_view id : engine::kOperationIds) check_text("operation." + std::string(id));
  for (const std::string_view id : engine::kCollectiveIds) check_text("collective." + std::string(id));
  for (const std::string_view id : engine::kLinkTierIds) check_text("tier." + std::string(id));
  for (const std::string_view id : engine::kSeverityIds) check_text("severity." + std::string(id));
  for (const std::string_view id : engine::kAbsenceIds)
    if (!id.empty()) check_text("absence." + std::string(id));
}

// Every diagnostic code written in the engine, by reading the source: a new one without a text fails here.
TEST_CASE("every diagnostic has a title and a sentence") {
  std::string source;
  for (const char* file : {"engine/evaluate/diagnose.cpp", "engine/evaluate/diagnose_pipeline.cpp",
                           "engine/evaluate/diagnose_recipes.cpp", "engine/evaluate/diagnose_serving.cpp"})
    source += test::text_of(test::source_dir() / file);
  std::set<std::string> codes;
  for (std::size_t at = source.find("Severity::"); at != std::string::npos; at = source.find("Severity::", at + 1)) {
    const std::size_t open = source.find('"', at), close = source.find('"', open + 1);
    if (open == std::string::npos || open > at + 40) continue;
    codes.insert(source.substr(open + 1, close - open - 1));
  }
  CHECK(codes.size() >= 15);
  for (const std::string& code : codes) {
    check_text("diagnostic." + code);
    check_text("diagnostic." + code + ".title");
  }
}

// A detail of a code has a sentence of its own; the rules of schedules are tried one by one.
TEST_CASE("a schedule that cannot run is told by the rule it breaks, with the numbers of that rule") {
  struct Broken {
    engine::ScheduleKind kind;
    int stages, microbatches, chunks;
    const char* words;
  };
  for (const Broken& broken : {
           Broken{engine::ScheduleKind::one_f_one_b, 16, 96, 6, "one virtual stage per stage; the plan has 6."},
           Broken{engine::ScheduleKind::zb_v, 16, 96, 1, "two virtual stages per stage; the plan has 1."},
           Broken{engine::ScheduleKind::dualpipe, 3, 96, 1, "the number of stages is even, not 3."},
           Broken{engine::ScheduleKind::dualpipe, 4, 9, 1, "9 microbatches on 4 stages: half of them"},
           Broken{engine::ScheduleKind::zb_h1, 4, 9, 2, "9 microbatches on 4 stages: their number is a"},
           Broken{engine::ScheduleKind::zb_h2, 4, 6, 1, "6 microbatches on 4 stages: it needs 7 to fill them."},
       }) {
    auto loaded = io::load_scenario("gpt3-175b-1024-a100", test::shipped());
    REQUIRE(loaded.ok());
    engine::Scenario s = loaded.value();
    s.parallelism = {};
    s.parallelism.pipeline = broken.stages;
    s.pipeline.schedule = broken.kind, s.pipeline.virtual_stages = broken.chunks;
    s.pipeline.microbatch_sequences = 1, s.workload.global_batch_sequences = broken.microbatches;
    const engine::Report r = engine::evaluate(s);
    const auto found = std::find_if(r.diagnostics.begin(), r.diagnostics.end(), [](const engine::Diagnostic& d) {
      return d.code == "pipeline.illegal_schedule";
    });
    REQUIRE(found != r.diagnostics.end());
    const std::string text = app::diagnostic_text(*found, texts());
    CHECK_MESSAGE(text.find(broken.words) != std::string::npos, text);
    CHECK_FALSE(r.quantities[engine::Q::step_time]);
    CHECK(r.quantities.absence(engine::Q::step_time) == engine::Absence::cannot_run);
  }
}

TEST_CASE("diagnostics of scenarios that are wrong have all their values in place") {
  const char* edits[] = {"parallelism.tensor=16",
                         "parallelism.tensor=3",
                         "parallelism.fsdp=4096",
                         "parallelism.pipeline=128",
                         "parallelism.context=3",
                         "parallelism.expert=8",
                         "workload.global_batch_sequences=1000",
                         "workload.global_batch_sequences=16",
                         "assumptions.reserve_bytes=9e10",
                         "assumptions.reserve_bytes=1e12",
                         "cluster.slice=5x5x5",
                         "model.n_kv_heads=7",
                         "pipeline.schedule=dualpipe",
                         "checkpointing.policy=none"};
  std::set<std::string> seen;
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::scenario))
    for (const char* edit : edits) {
      auto scenario = io::load_scenario(preset.id, test::shipped());
      REQUIRE(scenario.ok());
      (void)io::set_field(scenario.value(), edit, test::shipped());
      for (const engine::Diagnostic& diagnostic : engine::evaluate(scenario.value()).diagnostics) {
        const std::string text = app::diagnostic_text(diagnostic, texts());
        CAPTURE(text);
        seen.insert(std::string(diagnostic.code));
        CHECK(text.find('{') == std::string::npos);
        CHECK(text != "diagnostic." + std::string(diagnostic.code));
        std::string key = "diagnostic." + std::string(diagnostic.code);
        if (!diagnostic.detail.empty()) key += "." + std::string(diagnostic.detail);
        for (std::size_t i = 0; i < diagnostic.values.size(); ++i)
          CHECK_MESSAGE(texts().text(key).find("{" + std::to_string(i) + "}") != std::string_view::npos,
                        key << " leaves out value " << i);
      }
    }
  CHECK(seen.size() >= 10);
}

TEST_CASE("what is free, or missing, is said in the units of the report") {
  for (const char* mode : {"ideal", "calibrated"})
    for (const auto& [zero, words] :
         {std::pair{"3", "fits, {} of {} to spare"}, {"0", "does not fit, {} over the {} of a chip"}}) {
      auto scenario = io::load_scenario("llama3-8b-8-h100", test::shipped());
      REQUIRE(scenario.ok());
      REQUIRE_FALSE(io::set_field(scenario.value(), fmt::format("assumptions.mode={}", mode), test::shipped()));
      REQUIRE_FALSE(io::set_field(scenario.value(), fmt::format("parallelism.zero_stage={}", zero), test::shipped()));
      const engine::Report report = engine::evaluate(scenario.value());
      const auto amount = [&report](engine::Q q) {
        return texts().amount(std::abs(report.quantities.value_or(q, 0)), engine::quantity(q).unit);
      };
      const std::string expected =
          fmt::format(fmt::runtime(words), amount(engine::Q::memory_free), amount(engine::Q::hbm_capacity));
      CHECK(app::memory_text(report, texts()) == expected);
    }
}

TEST_CASE("the stage that is fullest is named where there are several") {
  auto scenario = io::load_scenario("llama3-8b-8-h100", test::shipped());
  REQUIRE(scenario.ok());
  for (const char* edit : {"parallelism.fsdp=2", "parallelism.pipeline=4"})
    REQUIRE_FALSE(io::set_field(scenario.value(), edit, test::shipped()));
  const engine::Report report = engine::evaluate(scenario.value());
  const std::string words = fmt::format(" to spare on stage {}, the fullest", report.fullest_stage);
  CHECK(app::memory_text(report, texts()).ends_with(words));
}

TEST_CASE("what is free, or missing, is that of the report, for every plan that ships, in either mode") {
  int spare = 0, lacking = 0;
  for (const io::Preset& preset : test::shipped().list(io::PresetKind::scenario))
    for (const engine::Mode mode : {engine::Mode::ideal, engine::Mode::calibrated})
      for (const double reserve : {0.0, 5e11}) {
        auto scenario = io::load_scenario(preset.id, test::shipped());
        REQUIRE(scenario.ok());
        scenario->assumptions.mode = mode;
        scenario->assumptions.reserve_bytes = reserve;
        const engine::Report report = engine::evaluate(scenario.value());
        CAPTURE(preset.id);
        const auto free = report.quantities[engine::Q::memory_free];
        const std::string said = app::memory_text(report, texts());
        REQUIRE(said.empty() == !free);
        if (!free) continue;
        ++(*free >= 0 ? spare : lacking);
        CHECK(said.starts_with(*free >= 0 ? "fits, " : "does not fit, "));
        for (const engine::Q q : {engine::Q::memory_free, engine::Q::hbm_capacity})
          CHECK(said.find(texts().amount(std::abs(*report.quantities[q]), engine::quantity(q).unit)) !=
                std::string::npos);
      }
  CHECK(spare > 30);
  CHECK(lacking > 30);
}

// A citation ("Chen et al. 2016") is the same in every language, and so is a formula ("N sqrt N").
bool needs_words(std::string_view part) {
  const bool cites = part.find(" 19") != std::string_view::npos || part.find(" 20") != std::string_view::npos ||
                     part.find("(20") != std::string_view::npos;
  std::string word;
  bool words = false;
  for (const char c : std::string(part) + " ") {
    if (c >= 'a' && c <= 'z') {
      word += c;
      continue;
    }
    words = words || (word.size() >= 3 && word != "sqrt" && word != "max");
    word.clear();
  }
  return words && !cites;
}

TEST_CASE("the rules that derivations name are translated where a language translates any") {
  for (const std::string& language : app::language_names()) {
    const auto loaded = app::load_texts(language);
    REQUIRE(loaded.ok());
    if (!loaded->has("source.sum of the parts")) continue;
    for (const engine::Quantity& row : engine::kQuantities) {
      if (engine::is_input(row)) continue;
      for (std::string_view rest = row.source; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find("; "));
        CHECK_MESSAGE((!needs_words(part) || loaded->has("source." + std::string(part))), language << ": " << part);
        rest.remove_prefix(std::min(part.size() + 2, rest.size()));
      }
    }
  }
}

TEST_CASE("a rule is said part by part in the language of the table") {
  const widgets::TextTable::Texts words{{"source.sum of the parts", "сумма частей"}};
  CHECK(widgets::source_text(widgets::TextTable(words, "ru"), "sum of the parts; Dao 2023") ==
        "сумма частей; Dao 2023");
  CHECK(widgets::source_text(widgets::TextTable(words, "ru"), "").empty());
}

TEST_CASE("every theme that ships is complete") {
  CHECK(app::theme_names().size() >= 4);
  for (const std::string& name : app::theme_names()) {
    const auto theme = app::load_theme(name);
    CHECK_MESSAGE(theme.ok(), (theme ? "" : test::in_english(theme.error())));
  }
}

TEST_CASE("a user's texts and themes lie over those that ship") {
  const test::TemporaryFolder folder;
  folder.write("strings/en.json", R"({"quantity.mfu.label": "my MFU"})");
  folder.write("strings/eo.json", R"({"quantity.hfu.label": "HFU!"})");
  folder.write("themes/light.json", R"({"ink": "no colour"})");
  const auto own = app::load_texts("eo", folder.path());
  REQUIRE(own.ok());
  CHECK(own->text("quantity.mfu.label") == "my MFU");
  CHECK(own->text("quantity.hfu.label") == "HFU!");
  CHECK(own->text("quantity.step.time_s.label") == "step time");
  CHECK(!app::load_theme("light", folder.path()).ok());
  CHECK(!app::load_texts("../../etc/passwd", folder.path()).ok());
}

}  // namespace
}  // namespace roofscape
