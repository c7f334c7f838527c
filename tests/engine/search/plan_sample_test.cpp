// What is drawn for a picture of the space.
#include "engine/search/plan_sample.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include "engine/search/plan.h"

using namespace roofscape::engine;

namespace {

// A plan for each number.
Plan plan_of_number(std::size_t number) {
  Plan plan;
  plan.data = static_cast<int>(number) + 1;
  return plan;
}

std::vector<std::size_t> numbers_drawn(PlanSample& sample) {
  std::vector<std::size_t> out;
  for (const PlanSample::Drawn& one : sample.settle())
    out.push_back(static_cast<std::size_t>(one.plan.plan.data - 1));
  return out;
}

// Of parts with so many plans in each block; plans are numbered through.
void draw_part(PlanSample& sample, std::size_t part, const std::vector<std::size_t>& blocks, std::size_t first) {
  sample.start_part(part);
  for (const std::size_t plans : blocks) {
    sample.start_block(plans);
    while (const auto drawn = sample.draw()) {
      REQUIRE(*drawn < plans);
      sample.add(plan_of_number(first + *drawn), 0, true);
    }
    first += plans;
  }
}

const std::vector<std::size_t> kBlocks{1, 22, 0, 3, 60, 14};
constexpr std::size_t kPlans = 100;

}  // namespace

TEST_CASE("every plan is drawn as often as another, whatever the size of its block") {
  constexpr std::size_t kSize = 10, kSamples = 20'000;
  std::vector<double> drawn(kPlans);
  for (std::size_t n = 0; n < kSamples; ++n) {
    PlanSample sample(kSize);
    draw_part(sample, n, kBlocks, 0);
    const std::vector<std::size_t> numbers = numbers_drawn(sample);
    REQUIRE(numbers.size() == kSize);
    REQUIRE(std::set(numbers.begin(), numbers.end()).size() == kSize);
    for (const std::size_t number : numbers) ++drawn[number];
  }
  // Five standard deviations of a binomial count.
  const double share = double(kSize) / kPlans, mean = kSamples * share;
  for (const double count : drawn) CHECK(std::abs(count - mean) < 5 * std::sqrt(mean * (1 - share)));
}

TEST_CASE("pairs of plans are drawn together as often from one block as from two") {
  constexpr std::size_t kSize = 10, kSamples = 20'000;
  double in_one = 0, in_two = 0;
  for (std::size_t n = 0; n < kSamples; ++n) {
    PlanSample sample(kSize);
    draw_part(sample, n, kBlocks, 0);
    const std::vector<std::size_t> numbers = numbers_drawn(sample);
    const std::set<std::size_t> among(numbers.begin(), numbers.end());
    in_one += among.contains(30) && among.contains(31);
    in_two += among.contains(2) && among.contains(90);
  }
  const double share = double(kSize) / kPlans * (kSize - 1) / (kPlans - 1), mean = kSamples * share;
  CHECK(std::abs(in_one - mean) < 5 * std::sqrt(mean));
  CHECK(std::abs(in_two - mean) < 5 * std::sqrt(mean));
}

TEST_CASE("a sample is the same whoever draws which part of it") {
  constexpr std::size_t kParts = 40;
  PlanSample one(25), first(25), second(25);
  for (std::size_t part = 0; part < kParts; ++part) draw_part(one, part, kBlocks, part * kPlans);
  for (std::size_t part = kParts; part-- > 0;)
    draw_part(part % 3 == 0 ? first : second, part, kBlocks, part * kPlans);
  second.merge(first);
  CHECK(numbers_drawn(one) == numbers_drawn(second));
}

TEST_CASE("a sample of more than there are has each plan once") {
  PlanSample sample(1000);
  draw_part(sample, 7, kBlocks, 0);
  const std::vector<std::size_t> numbers = numbers_drawn(sample);
  CHECK(numbers.size() == kPlans);
  CHECK(std::set(numbers.begin(), numbers.end()).size() == kPlans);
}
