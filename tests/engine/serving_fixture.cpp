#include "tests/engine/serving_fixture.h"

#include <cmath>

#include "engine/serving/serving_inputs.h"

namespace roofscape::tests {

engine::Scenario random_serving_scenario(std::mt19937& rng) {
  using namespace engine;
  Dice dice(rng);
  static const std::vector<const Chip*> chips = [] {
    std::vector<const Chip*> out;
    for (const char* id : {"tpu-v5p", "tpu-v4p", "tpu-v5e", "tpu-v6e", "h100-sxm", "a100-80g", "b200", "gb200-nvl72",
                           "mi300x", "h800"})
      out.push_back(library().find_chip(id));
    return out;
  }();
  const auto any_of = [&dice](const auto& list) {
    return list[static_cast<std::size_t>(dice.pick(0, static_cast<int>(list.size()) - 1))];
  };
  Scenario s;
  s.model = *library().find_model(any_of(library().list(io::PresetKind::model)).id);
  s.workload.kind = WorkloadKind::serving;
  auto& plan = s.parallelism;
  plan.data = dice.power(4), plan.tensor = dice.power(4), plan.context = dice.one_in(3) ? dice.power(3) : 1;
  plan.pipeline = dice.one_in(3) ? dice.power(2) : 1, plan.fsdp = dice.one_in(6) ? dice.power(3) : 1;
  plan.zero_stage = dice.one_in(3) ? 1 : 3;
  while (s.model.n_heads % plan.tensor != 0) plan.tensor /= 2;
  random_experts(dice, s);
  auto& serving = s.serving;
  serving.kv_split = static_cast<KvSplit>(dice.pick(0, 2));
  serving.disaggregated = dice.one_in(3);
  serving.prefill = {dice.power(3), plan.tensor, dice.power(1), dice.power(1), 1};
  serving.prefill_chunk_tokens = dice.one_in(2) ? 0 : 256 * dice.power(4);
  serving.prefix_hit_rate = dice.one_in(2) ? 0 : dice.pick(0, 9) / 10.0;
  serving.page_tokens = dice.one_in(4) ? 0 : dice.power(8);
  serving.draft_tokens = dice.one_in(2) ? 0 : dice.pick(1, 16);
  serving.acceptance_rate = dice.pick(0, 10) / 10.0;
  serving.draft_cost = dice.pick(0, 10) / 50.0;
  s.workload.prompt_tokens = dice.pick(1, 32768), s.workload.output_tokens = dice.pick(1, 4096);
  s.workload.batch = plan.data * plan.fsdp * plan.pipeline * dice.pick(1, 300);
  s.workload.arrivals_per_s = dice.one_in(2) ? 0 : dice.pick(1, 2000) / 10.0;
  if (dice.one_in(3))
    for (int i = dice.pick(1, static_cast<int>(kLengthBins)); i > 0; --i)
      s.workload.lengths[static_cast<std::size_t>(i - 1)] = {dice.pick(1, 20000), dice.pick(1, 2000),
                                                             dice.pick(1, 100) / 7.0};
  const Chip& chip = *any_of(chips);
  const auto supports = [&chip](Dtype d) { return chip[peak_field(d)].value.has_value(); };
  s.precision.compute = static_cast<Dtype>(dice.pick(1, 8));
  if (!supports(s.precision.compute)) s.precision.compute = Dtype::bf16;
  s.precision.weights = static_cast<Dtype>(dice.pick(1, 8));
  s.precision.kv_cache = static_cast<Dtype>(dice.pick(0, 8));
  const Parallelism decode = plan;
  const double own = double(plan.data) * plan.fsdp * plan.tensor * plan.context * plan.pipeline;
  plan.data *= static_cast<int>(std::ceil(serving_chips(s) / own));  // room for both meshes
  random_cluster(dice, chip, s);
  plan = decode;
  s.assumptions.flops = static_cast<FlopsConvention>(dice.pick(0, 2));
  s.assumptions.overlap = dice.one_in(2) ? 1 : dice.pick(0, 10) / 10.0;
  s.kernels.attention = static_cast<AttentionKernel>(s.model.n_layers % 3);
  s.assumptions.context_share = dice.pick(0, 2) / 2.0;
  s.assumptions.hop_latency_s = dice.one_in(2) ? 0 : dice.pick(1, 50) * 1e-7;
  s.assumptions.reserve_bytes = dice.pick(0, 1) * 1e9;
  s.assumptions.parameters = dice.one_in(4) ? ParameterCount::published : ParameterCount::counted;
  s.workload.slo.ttft_s = dice.one_in(3) ? dice.pick(1, 1000) / 1e3 : 0;
  s.workload.slo.time_per_output_token_s = dice.one_in(3) ? dice.pick(1, 100) / 1e3 : 0;
  serving.prefill_prompts = dice.one_in(3) ? dice.pick(2, 64) : 1;
  return s;
}

}  // namespace roofscape::tests
