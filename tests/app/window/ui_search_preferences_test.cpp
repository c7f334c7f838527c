// What is wanted of a search: kept with its tab and the session, read from a file, and made a request.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/app/window/ui_search.h"

using namespace roofscape;
using test::dimension;
using test::Harness;
using test::kSmall;
using widgets::Key;

TEST_CASE("what is wanted of a search is kept with the session") {
  Harness h(kSmall);
  app::SearchPreferences& preferences = h.parts.panels.search.preferences;
  preferences.objective = engine::Objective::cost;
  preferences.min_free = 0.1;
  preferences.tensor_across_nodes = true;
  preferences.constraints[dimension("tensor")] = {app::Constraint::Kind::at_most, 4};
  preferences.constraints[dimension("fsdp")] = {app::Constraint::Kind::as_plan, 0};
  preferences.constraints[dimension("schedule")] = {app::Constraint::Kind::only,
                                                    static_cast<int>(engine::ScheduleKind::zb_h1)};
  preferences.constraints[dimension("offload")] = {app::Constraint::Kind::only, 0};
  preferences.constraints[dimension("zero_stage")] = {app::Constraint::Kind::only, 2};
  preferences.serving.objective = engine::ServingObjective::memory;
  preferences.serving.keeps_promises = false;
  preferences.serving.constraints[4] = {app::Constraint::Kind::at_most, 256};
  const std::size_t changes = h.workspace.changes();
  h.step();
  CHECK(h.workspace.changes() != changes);  // so that it is written
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(h.workspace.session_text(), "session.json"));
  CHECK(again.parts.panels.search.preferences == preferences);
}

TEST_CASE(
    "each tab has its own search preferences and its own baseline, which a duplicate copies and a session keeps") {
  const widgets::KeyPress add{widgets::key_of('N'), true, false, false}, next{Key::tab, true, false, false},
      close{widgets::key_of('W'), true, false, false}, reopen{widgets::key_of('T'), true, true, false},
      pin{widgets::key_of('B')};
  Harness h(kSmall);
  const app::SearchPreferences& preferences = h.parts.panels.search.preferences;
  const auto& pinned = h.parts.baseline;
  h.parts.panels.search.preferences.constraints[dimension("offload")] = {app::Constraint::Kind::only, 0};
  h.parts.panels.search.preferences.min_free = 0.2;
  h.key(pin);
  const app::SearchPreferences first = preferences;
  const engine::Scenario baseline = h.scenario();
  h.key(add);
  CHECK(preferences == first);  // a duplicate
  REQUIRE(pinned != nullptr);
  CHECK(pinned->scenario == baseline);
  h.parts.panels.search.preferences = {};
  h.parts.panels.search.preferences.objective = engine::Objective::memory;
  h.key(pin);
  CHECK(pinned == nullptr);
  const app::SearchPreferences second = preferences;
  h.key(next);
  CHECK(preferences == first);
  REQUIRE(pinned != nullptr);
  h.key(close);
  CHECK(preferences == second);
  CHECK(pinned == nullptr);
  h.key(reopen);
  CHECK(preferences == first);
  REQUIRE(pinned != nullptr);
  CHECK(pinned->scenario == baseline);

  const std::string text = h.workspace.session_text();
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(text, "session.json"));
  CHECK(again.workspace.session_text() == text);
  CHECK(again.parts.panels.search.preferences == first);
  REQUIRE(again.parts.baseline != nullptr);
  again.key(next);
  CHECK(again.parts.panels.search.preferences == second);
  CHECK(again.parts.baseline == nullptr);
}

TEST_CASE("a session of one baseline and one search for all tabs gives them to every tab") {
  Harness h(kSmall);
  h.key({widgets::key_of('N'), true, false, false});
  std::string text = h.workspace.session_text();
  const std::size_t from = text.find("\"scenario\":") + 11;
  int depth = 0;
  std::size_t to = text.find('{', from);
  const std::size_t begin = to;
  do depth += text[to] == '{' ? 1 : text[to] == '}' ? -1 : 0;
  while (++to < text.size() && depth > 0);
  text.insert(text.find('{') + 1,
              "\"search\": {\"tensor\": \"at most 4\"}, \"baseline\": " + text.substr(begin, to - begin) + ",");
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(text, "session.json"));
  app::SearchPreferences preferences;
  preferences.constraints[dimension("tensor")] = {app::Constraint::Kind::at_most, 4};
  for (int tab = 0; tab < 2; ++tab) {
    CHECK(again.parts.panels.search.preferences == preferences);
    REQUIRE(again.parts.baseline != nullptr);
    CHECK(again.parts.baseline->scenario == h.scenario());
    again.parts.step_tabs(1);
  }
}

TEST_CASE("search preferences in a file that mean nothing are as if they were not there") {
  const app::SearchPreferences usual;
  for (const app::PreferenceWords& words : {app::PreferenceWords{{"tensor", "at most 0"}},
                                            {{"tensor", "at most 1e99"}},
                                            {{"tensor", "4.5"}},
                                            {{"tensor", ""}},
                                            {{"tensors", "4"}},
                                            {{"schedule", "best"}},
                                            {{"schedule", "at most 1f1b"}},
                                            {{"offload", "maybe"}},
                                            {{"rank by", "beauty"}},
                                            {{"free", "1.5"}},
                                            {{"free", "nan"}},
                                            {{"serving.rank by", "step-time"}},
                                            {{"serving.batch", "-1"}},
                                            {{"slow end", "maybe"}},
                                            {{"serving.slow end", "1"}},
                                            {{"keep_gathered", "all"}},
                                            {{"keep_gathered", "as plan"}},
                                            {{"serving.promises", "perhaps"}}}) {
    CAPTURE(words.begin()->first);
    CAPTURE(words.begin()->second);
    CHECK(app::preferences_from(words) == usual);
  }
  CHECK(app::to_words(usual).empty());
  Harness h(kSmall);
  std::string text = h.workspace.session_text();
  text.insert(text.find('{') + 1, "\"search\": {\"tensor\": 4, \"fsdp\": [\"x\"], \"pipeline\": \"at most 2\"},");
  Harness again(kSmall);
  REQUIRE(again.workspace.restore(text, "session.json"));
  app::SearchPreferences read = usual;
  read.constraints[dimension("pipeline")] = {app::Constraint::Kind::at_most, 2};
  CHECK(again.parts.panels.search.preferences == read);
}

TEST_CASE("settings stay as the plan has them until others are asked for, which leaves no plan out") {
  const engine::Scenario s = test::preset("llama3-405b-16k-h100");
  app::SearchPreferences preferences;
  const auto tried = [&](std::vector<double> engine::PlanSpace::*setting) {
    return app::request_of(s, preferences).space.*setting;
  };
  CHECK(tried(&engine::PlanSpace::context_method).empty());
  app::Constraint& method = preferences.constraints[dimension("context_method")];
  method = {app::Constraint::Kind::any, 0};
  for (const double value : {0, 1, 2}) {
    const std::vector<double> values = tried(&engine::PlanSpace::context_method);
    CHECK(std::find(values.begin(), values.end(), value) != values.end());
  }
  CHECK_FALSE(preferences.limits());
  CHECK(app::preferences_from(app::to_words(preferences)) == preferences);
  app::Constraint& share = preferences.constraints[dimension("optimizer_fraction")];
  share = {app::Constraint::Kind::only, 0.3};
  CHECK(tried(&engine::PlanSpace::optimizer_fraction) == std::vector{0.3});
  CHECK(app::preferences_from(app::to_words(preferences)) == preferences);
  share = app::search_dimensions()[dimension("optimizer_fraction")].usual();
  method = {app::Constraint::Kind::only, 2};
  CHECK(tried(&engine::PlanSpace::context_method) == std::vector{2.0});
  CHECK(preferences.limits());
  CHECK(app::preferences_from(app::to_words(preferences)) == preferences);
  CHECK(app::without_limits(preferences, engine::WorkloadKind::training) == app::SearchPreferences{});
}

TEST_CASE("search preferences make a request of any scenario: limits, pins that follow the plan, and one value") {
  const engine::Scenario s = test::preset(kSmall);
  app::SearchPreferences preferences;
  const auto at = dimension;
  preferences.constraints[at("tensor")] = {app::Constraint::Kind::at_most, 4};
  preferences.constraints[at("fsdp")] = {app::Constraint::Kind::as_plan, 0};
  preferences.constraints[at("offload")] = {app::Constraint::Kind::only, 0};
  const engine::PlanSpace space = app::request_of(s, preferences).space;
  CHECK((space.tensor.allows(4) && !space.tensor.allows(8)));
  CHECK((space.fsdp.allows(s.parallelism.fsdp) && !space.fsdp.allows(2 * s.parallelism.fsdp)));
  CHECK_FALSE(space.offload_optimizer.allows(1));
  CHECK_FALSE(space.offload_activations.allows(1));
  engine::Scenario other = s;
  other.parallelism.fsdp = 2;
  CHECK(app::request_of(other, preferences).space.fsdp.allows(2));
}
