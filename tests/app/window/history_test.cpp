#include <doctest/doctest.h>

#include <random>

#include "app/session/history.h"
#include "engine/scenario/scenario_fields.h"

using roofscape::app::History;
namespace engine = roofscape::engine;

namespace {

engine::Scenario random_edit(engine::Scenario s, std::mt19937& random) {
  const auto fields = engine::scenario_fields();
  const engine::Field& field = fields[random() % fields.size()];
  double value = 0;
  switch (field.kind) {
    case engine::FieldKind::choice:
      value = static_cast<double>(random() % field.choices.size());
      break;
    case engine::FieldKind::boolean:
      value = static_cast<double>(random() % 2);
      break;
    default:
      value = field.minimum + static_cast<double>(random() % 7);
      break;
  }
  if (engine::in_domain(field, value)) field.set(s, value);
  return s;
}

}  // namespace

TEST_CASE("a hundred random edits undone one by one return to the start") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const engine::Scenario start;
    History history(start);
    std::vector<engine::Scenario> states{start};
    for (int i = 0; i < 100; ++i) {
      engine::Scenario edited = random_edit(history.current(), random);
      if (history.update(edited, false)) states.push_back(edited);
      CHECK(history.undo_depth() == states.size() - 1);
    }
    const engine::Scenario last = history.current();
    for (std::size_t i = states.size(); i-- > 1;) {
      CHECK(history.current() == states[i]);
      CHECK(history.undo());
    }
    CHECK_FALSE(history.undo());
    CHECK(history.current() == start);
    while (history.redo()) {
    }
    CHECK(history.current() == last);
  }
}

TEST_CASE("edits while a control is held are one step") {
  History history{engine::Scenario{}};
  for (const int batch : {2, 4, 8, 16}) {
    engine::Scenario s = history.current();
    s.workload.global_batch_sequences = batch;
    history.update(s, true);
  }
  history.update(history.current(), false);
  CHECK(history.undo_depth() == 1);
  CHECK(history.current().workload.global_batch_sequences == 16);
  CHECK(history.undo());
  CHECK(history.current() == engine::Scenario{});
}

TEST_CASE("two drags are two steps even if the second begins where the first ended") {
  History history{engine::Scenario{}};
  for (const int tensor : {2, 4}) {
    engine::Scenario s = history.current();
    s.parallelism.tensor = tensor;
    history.update(s, true);
    history.update(history.current(), false);
  }
  CHECK(history.undo_depth() == 2);
  history.undo();
  CHECK(history.current().parallelism.tensor == 2);
}

TEST_CASE("a drag that comes back to where it began is no step") {
  History history{engine::Scenario{}};
  engine::Scenario s;
  s.parallelism.tensor = 8;
  history.update(s, true);
  history.update(engine::Scenario{}, true);
  history.update(history.current(), false);
  CHECK(history.undo_depth() == 0);
}

TEST_CASE("an edit after an undo forgets what was undone") {
  History history{engine::Scenario{}};
  engine::Scenario a, b;
  a.parallelism.tensor = 2;
  b.parallelism.tensor = 4;
  history.update(a, false);
  history.undo();
  history.update(b, false);
  CHECK_FALSE(history.can_redo());
  CHECK(history.current() == b);
}

TEST_CASE("history forgets the oldest entries, never the present one") {
  History history{engine::Scenario{}};
  for (int i = 0; i < 1200; ++i) {
    engine::Scenario s;
    s.workload.sequence_length = i + 5000;
    history.update(s, false);
  }
  CHECK(history.current().workload.sequence_length == 6199);
  CHECK(history.undo_depth() < History::kLongest);
}
