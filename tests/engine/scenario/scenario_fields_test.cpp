#include <doctest/doctest.h>

#include "engine/scenario/scenario_fields.h"

#include <limits>

#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;

TEST_CASE("every field reads back what was set, at both ends of its domain") {
  for (const Field& field : scenario_fields()) {
    CAPTURE(field.path);
    for (const double value : {field.minimum, field.maximum}) {
      if (!in_domain(field, value)) continue;
      Scenario s;
      apply(s, {&field, value});
      CHECK(field.get(s) == value);
    }
  }
}
TEST_CASE("paths of fields are unique") {
  for (const Field& field : scenario_fields()) CHECK(find_field(field.path) == &field);
}
TEST_CASE("values outside the domain are not applied") {
  for (const Field& field : scenario_fields()) {
    CAPTURE(field.path);
    const Scenario before;
    for (const double value : {field.minimum - 1, 2 * field.maximum + 1, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
      Scenario s = before;
      apply(s, {&field, value});
      CHECK(s == before);
    }
  }
}
TEST_CASE("whole numbers take no fractions") {
  CHECK_FALSE(in_domain(*find_field("parallelism.tensor"), 1.5));
  CHECK(in_domain(*find_field("assumptions.stated_mfu"), 0.45));
}
TEST_CASE("the words of the schedule field are the ids of the schedules, in order") {
  const Field& field = *find_field("pipeline.schedule");
  REQUIRE(field.choices.size() == static_cast<std::size_t>(kScheduleKinds));
  for (int i = 0; i < kScheduleKinds; ++i)
    CHECK(field.choices[static_cast<std::size_t>(i)] == schedule_id(static_cast<ScheduleKind>(i)));
}
