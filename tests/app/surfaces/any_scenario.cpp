#include "tests/app/surfaces/any_scenario.h"

#include <cmath>
#include <string>

#include "engine/pipeline/given_order.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/serving/serving_inputs.h"
#include "tests/engine/serving_fixture.h"

namespace roofscape::tests {
namespace {

// Gives a plan an order to run: its schedule's own, or GPipe's where it runs 1F1B.
void run_an_order(Dice& dice, engine::Scenario& s) {
  if (s.pipeline.schedule != engine::ScheduleKind::one_f_one_b || dice.one_in(2))
    return engine::find_field(engine::kGivenOrder)->set(s, 1);
  engine::Scenario gpipe = s;
  gpipe.pipeline.schedule = engine::ScheduleKind::gpipe;
  engine::find_field(engine::kGivenOrder)->set(gpipe, 1);
  if (!gpipe.pipeline.order) return;
  const engine::ListedOrderResult read =
      engine::read_listed_order(gpipe.pipeline.order->csv, engine::ScheduleKind::one_f_one_b);
  if (read.order) engine::take_order(s, read.order);
}

}  // namespace

engine::Scenario any_scenario(std::mt19937& rng, engine::WorkloadKind kind) {
  Dice dice(rng);
  engine::Scenario s = kind == engine::WorkloadKind::training ? random_scenario(rng) : random_serving_scenario(rng);
  if (dice.one_in(2)) {
    const auto& chips = library().list(io::PresetKind::chip);
    const std::string& id = chips[static_cast<std::size_t>(dice.pick(0, static_cast<int>(chips.size()) - 1))].id;
    const engine::Parallelism plan = s.parallelism;
    if (s.serves() && s.serving.disaggregated)  // room for both meshes
      s.parallelism.data *= static_cast<int>(std::ceil(
          engine::serving_chips(s) / (double(plan.data) * plan.fsdp * plan.tensor * plan.context * plan.pipeline)));
    random_cluster(dice, *library().find_chip(id), s);
    s.parallelism = plan;
  }
  s.name = "a scenario";
  s.assumptions.mode = static_cast<engine::Mode>(dice.pick(0, 2));
  if (!s.serves()) {
    const engine::Dtype streams[] = {engine::Dtype::none, engine::Dtype::bf16, engine::Dtype::fp32};
    s.precision.residual = streams[dice.pick(0, 2)];
    if (s.parallelism.pipeline > 1 && dice.one_in(4)) run_an_order(dice, s);
  }
  return s;
}

}  // namespace roofscape::tests
