// What is legal, and what is offered instead of what is not.
#include <doctest/doctest.h>

#include "tests/engine/pipeline/pipeline_fixture.h"

using namespace roofscape::engine;
using namespace roofscape::engine::test;
using Kind = ScheduleKind;
using Rule = ScheduleRule;
using Field = ShapeField;

namespace {

void check_broken(const ScheduleShape& shape, Rule rule, Field field, int below, int above) {
  const ScheduleStatus status = check_schedule(shape);
  CHECK(status.rule == rule);
  CHECK(status.field == field);
  CHECK(status.below == below);
  CHECK(status.above == above);
}

}  // namespace

TEST_CASE("18 microbatches do not fill two chunks of 16 ZB-H1 stages: 16 or 32") {
  check_broken(shape_of(Kind::zb_h1, 16, 18, 2), Rule::microbatches_fill_stages, Field::microbatches, 16, 32);
}

// 120 on 16 as Megatron-LM runs them, 10 and 3 on 4 as torch does.
TEST_CASE("where nothing is said groups are the stages, else the fewest microbatches that leave no short group") {
  const auto group = [](int stages, int microbatches) {
    const ScheduleShape shape = shape_of(Kind::interleaved_1f1b, stages, microbatches);
    CHECK(check_schedule(shape).legal());
    return group_size_of(shape);
  };
  CHECK(group(16, 64) == 16);
  CHECK(group(16, 18) == 18);
  CHECK(group(16, 120) == 20);
  CHECK(group(4, 10) == 5);
  CHECK(group(4, 3) == 3);
}

TEST_CASE("a group that a plan cannot have is the next larger one it can") {
  const auto under = [](int wanted, int stages, int microbatches) {
    return group_under(Kind::interleaved_1f1b, wanted, stages, microbatches);
  };
  CHECK(under(20, 16, 120) == 20);
  CHECK(under(17, 16, 120) == 20);
  CHECK(under(3, 16, 120) == 20);
  CHECK(under(500, 16, 120) == 120);
  CHECK(under(2, 4, 3) == 3);
  CHECK(under(0, 16, 120) == 0);
  CHECK(group_under(Kind::looped_bfs, 20, 16, 120) == 0);
}

TEST_CASE("fewer microbatches than stages are one group") {
  CHECK(check_schedule({Kind::interleaved_1f1b, 16, 5, 2, 5}).legal());
  check_broken({Kind::interleaved_1f1b, 16, 5, 2, 4}, Rule::group_size_range, Field::group_size, 0, 5);
  check_broken({Kind::interleaved_1f1b, 16, 5, 2, 16}, Rule::group_size_range, Field::group_size, 5, 0);
}

TEST_CASE("ZB-H1 needs a multiple of the stages only with chunks") {
  CHECK(check_schedule(shape_of(Kind::zb_h1, 4, 6)).legal());
  check_broken(shape_of(Kind::zb_h1, 4, 6, 2), Rule::microbatches_fill_stages, Field::microbatches, 4, 8);
}

TEST_CASE("ZB-H2 needs 2p-1 microbatches") {
  CHECK(check_schedule(shape_of(Kind::zb_h2, 4, 7)).legal());
  check_broken(shape_of(Kind::zb_h2, 4, 6), Rule::microbatches_at_least, Field::microbatches, 0, 7);
}

TEST_CASE("DualPipe needs twice as many microbatches as stages") {
  check_broken(shape_of(Kind::dualpipe, 4, 6), Rule::microbatches_at_least, Field::microbatches, 0, 8);
  check_broken(shape_of(Kind::dualpipe_v, 3, 5), Rule::microbatches_at_least, Field::microbatches, 0, 6);
}

TEST_CASE("DualPipe needs an even number of microbatches") {
  check_broken(shape_of(Kind::dualpipe, 4, 11), Rule::microbatches_even, Field::microbatches, 10, 12);
  CHECK(check_schedule(shape_of(Kind::dualpipe_v, 4, 11)).legal());
}

TEST_CASE("DualPipe needs an even number of stages") {
  check_broken(shape_of(Kind::dualpipe, 5, 20), Rule::stages_even, Field::stages, 4, 6);
  check_broken(shape_of(Kind::dualpipe, 1, 20), Rule::stages_even, Field::stages, 0, 2);
}

TEST_CASE("schedules of one chunk take no other number") {
  for (const Kind kind : {Kind::gpipe, Kind::one_f_one_b, Kind::eager_1f1b, Kind::zb_h2, Kind::dualpipe})
    check_broken(shape_of(kind, 4, 16, 2), Rule::one_chunk, Field::virtual_stages, 1, 0);
}

TEST_CASE("a V has two chunks") {
  for (const Kind kind : {Kind::zb_v, Kind::dualpipe_v}) {
    check_broken(shape_of(kind, 4, 16, 1), Rule::two_chunks, Field::virtual_stages, 0, 2);
    check_broken(shape_of(kind, 4, 16, 4), Rule::two_chunks, Field::virtual_stages, 2, 0);
  }
}

TEST_CASE("zero and negative numbers are named, not computed with") {
  check_broken({Kind::gpipe, 0, 4, 1, 0}, Rule::stages_positive, Field::stages, 0, 1);
  check_broken({Kind::gpipe, 4, -3, 1, 0}, Rule::microbatches_positive, Field::microbatches, 0, 1);
  check_broken({Kind::looped_bfs, 4, 4, 0, 0}, Rule::virtual_stages_positive, Field::virtual_stages, 0, 1);
  check_broken({Kind::zb_h2, 4, 0, 1, 0}, Rule::microbatches_positive, Field::microbatches, 0, 7);
}

TEST_CASE("only interleaved 1F1B has groups") {
  check_broken({Kind::looped_bfs, 4, 8, 2, 4}, Rule::group_size_interleaved_only, Field::group_size, 0, 0);
}

TEST_CASE("a group is at least the stages and at most the microbatches") {
  check_broken({Kind::interleaved_1f1b, 4, 8, 2, 3}, Rule::group_size_range, Field::group_size, 0, 4);
  check_broken({Kind::interleaved_1f1b, 4, 8, 2, 9}, Rule::group_size_range, Field::group_size, 8, 0);
}

TEST_CASE("the microbatches left for the last group fill the stages") {
  check_broken({Kind::interleaved_1f1b, 4, 13, 2, 6}, Rule::last_group_fills_stages, Field::group_size, 0, 7);
  CHECK(check_schedule({Kind::interleaved_1f1b, 4, 13, 2, 9}).legal());
}

TEST_CASE("a step of more operations than can be kept is refused") {
  const ScheduleStatus status = check_schedule(shape_of(Kind::gpipe, 1024, 1'000'000'000));
  CHECK(status.rule == Rule::too_large);
  CHECK(status.below == 1024);
  CHECK(check_schedule({Kind::gpipe, 2'000'000'000, 1, 1, 0}).rule == Rule::too_large);
  CHECK(check_schedule({Kind::looped_bfs, 64, 1, 2'000'000'000, 0}).rule == Rule::too_large);
}

TEST_CASE("64 stages, 1024 microbatches, 8 chunks are legal") {
  CHECK(check_schedule(shape_of(Kind::interleaved_1f1b, 64, 1024, 8)).legal());
}

TEST_CASE("every value offered for a broken rule mends it") {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    ScheduleShape shape{schedule_in_turn(i), random_int(random, -1, 9), random_int(random, -1, 40),
                        random_int(random, -1, 4), random_int(random, 0, 3) == 0 ? random_int(random, -2, 20) : 0};
    const ScheduleStatus status = check_schedule(shape);
    for (const int offered : {status.below, status.above}) {
      if (offered == 0) continue;
      ScheduleShape mended = shape;
      int* const fields[] = {&mended.stages, &mended.microbatches, &mended.virtual_stages, &mended.group_size};
      CHECK(*fields[static_cast<int>(status.field)] == status.value);
      *fields[static_cast<int>(status.field)] = offered;
      // The mended field is not what is wrong any more; an independent rule may still be.
      const ScheduleStatus again = check_schedule(mended);
      CHECK((again.legal() || again.field != status.field));
    }
  }
}
