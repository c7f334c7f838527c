// Plans written for launchers and servers: complete, and read back as the plan they are of.
#include "engine/io/export/export_flags.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "engine/frameworks/rules.h"
#include "engine/io/export/runs_on.h"
#include "engine/io/import/import_launch.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/checkpoint_policies.h"
#include "engine/scenario/mesh_size.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"
#include "engine/studies/nearest_plan.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/serving_fixture.h"
#include "tests/english.h"
#include "tests/test_paths.h"

namespace roofscape::io {
namespace {

using engine::Framework;
using engine::Scenario;
using test::english;
using tests::library;
using tests::preset;
using tests::with;

// Without what means nothing for the plan, and with one way of saying what can be said in two.
Scenario essential(Scenario s) {
  const Scenario defaults;
  engine::Parallelism& p = s.parallelism;
  if (p.fsdp * p.context == 1) p.zero_stage = defaults.parallelism.zero_stage;
  if (p.fsdp * p.context > 1 && p.zero_stage == 0) p.data *= p.fsdp, p.fsdp = 1;
  if (p.fsdp * p.context == 1) p.zero_stage = defaults.parallelism.zero_stage;
  if (engine::sharded_stage(s) != 3) p.keep_gathered = defaults.parallelism.keep_gathered;
  if (p.context == 1) p.context_method = defaults.parallelism.context_method;
  if (!engine::rank_order_matters(s.cluster, p)) s.placement.order = defaults.placement.order;
  if (p.tensor == 1) p.sequence_parallel = defaults.parallelism.sequence_parallel;
  p.expert_tensor = s.model.is_moe() ? p.experts_tensor() : 0;
  if (!s.model.is_moe()) p.expert = 1;
  engine::PipelinePlan& plan = s.pipeline;
  if (s.serves()) plan = {};
  if (p.pipeline == 1) {
    const int microbatch = plan.microbatch_sequences;
    plan = {};
    plan.microbatch_sequences = microbatch;
  } else {
    plan.layers_per_stage = split_layers(layer_split(s), plan.schedule, virtual_stages_of(s));
    plan.embedding_as_layers = plan.head_as_layers = 0;
    const engine::ScheduleFacts& facts = engine::facts_of(plan.schedule);
    const int chunks = std::max(1, virtual_stages_of(s) / p.pipeline);
    plan.group_size = !facts.takes_groups
                          ? 0
                          : engine::group_size_of(engine::schedule_shape(plan, plan.schedule, p.pipeline,
                                                                         engine::microbatch_count(s), chunks));
    if (!facts.orders_backwards) plan.backward_order = defaults.pipeline.backward_order;
    if (facts.fixed_chunks != engine::kAnyChunks) plan.virtual_stages = facts.fixed_chunks;
  }
  if (!engine::is_muon(s.precision.optimizer)) s.muon = {};
  if (s.adapter.rank == 0) s.adapter = {};
  if (!s.offload.optimizer) s.offload.optimizer_fraction = defaults.offload.optimizer_fraction;
  const engine::CheckpointCount count = engine::facts_of(s.checkpointing.policy).count;
  if (count != engine::CheckpointCount::k) s.checkpointing.k = defaults.checkpointing.k;
  if (count != engine::CheckpointCount::blocks) s.checkpointing.blocks = defaults.checkpointing.blocks;
  if (count != engine::CheckpointCount::segments) s.checkpointing.segments = defaults.checkpointing.segments;
  for (const engine::Field& field : engine::scenario_fields())
    if (!applies(field, s.workload.kind)) field.set(s, field.get(defaults));
  if (s.assumptions.mode != engine::Mode::custom) s.assumptions.custom = {};
  if (!s.serving.disaggregated) s.serving.prefill = {};
  if (s.serving.draft_tokens == 0) s.serving.acceptance_rate = s.serving.draft_cost = 0;
  if (!s.workload.has_lengths()) s.workload.lengths = {};
  // Where every tensor rank has KV heads of its own there is nothing to share out.
  if (p.tensor <= (s.model.is_mla() ? 1 : s.model.n_kv_heads)) s.serving.kv_split = defaults.serving.kv_split;
  s.name = s.source = {};
  s.model.source = s.model.name = s.model.id = {};
  return s;
}

// "path: before, after" of all fields that differ.
std::string differences(const Scenario& a, const Scenario& b) {
  std::string out;
  for (const engine::Field& field : engine::scenario_fields())
    if (field.get(a) != field.get(b))
      out +=
          std::string(field.path) + ": " + std::to_string(field.get(a)) + ", " + std::to_string(field.get(b)) + "\n";
  if (a.pipeline.layers_per_stage != b.pipeline.layers_per_stage) out += "layers_per_stage\n";
  if (a.cluster != b.cluster) out += "cluster\n";
  if (out.empty() && a != b) out = "something else";
  return out;
}

std::string exported(const Scenario& s, Framework framework) {
  const auto text = export_flags(s, framework, library(), english());
  return text ? text.value() : "error: " + to_text(text.error(), english());
}

// A random plan that the framework runs: a random one, or the nearest to it.
std::optional<Scenario> random_plan_for(Framework framework, std::mt19937& rng) {
  const Scenario s = engine::is_server(framework) ? tests::random_serving_scenario(rng) : tests::random_scenario(rng);
  engine::NearestPlan near = engine::nearest_plan_on(framework, s);
  if (!near.runs) return std::nullopt;
  return std::move(near.scenario);
}

constexpr Framework kRead[] = {Framework::megatron, Framework::megatron_bridge, Framework::torchtitan,
                               Framework::maxtext,  Framework::deepspeed,       Framework::vllm,
                               Framework::sglang,   Framework::trtllm};

int round_trips() {
  const char* wished = std::getenv("ROOFSCAPE_ROUND_TRIPS");  // more than the suite has time for
  return wished != nullptr ? std::atoi(wished) : 60;
}

TEST_CASE("import of an export is the plan that was exported") {
  const int wanted = round_trips();
  for (const Framework framework : kRead) {
    CAPTURE(engine::kFrameworkIds[framework]);
    std::mt19937 rng(21);
    int failures = 0;
    for (int tried = 0, done = 0; done < wanted && tried < 20 * wanted; ++tried) {
      const auto s = random_plan_for(framework, rng);
      if (!s) continue;
      ++done;
      const std::string text = exported(*s, framework);
      const auto read = import_launch(text, "plan", {}, library());
      CAPTURE(text);
      if (!read) {
        FAIL_CHECK(to_text(read.error(), english()));
        if (++failures > 3) return;
        continue;
      }
      std::string open;
      for (const MissingValue& missing : read.value().missing) open += missing.field + " ";
      for (const ImportNotice& notice : read.value().notices)
        if (notice.error) open += english().write(notice.text) + " ";
      CHECK(open == "");
      const Scenario before = essential(*s), after = essential(read.value().scenario);
      CHECK_MESSAGE(before == after, differences(before, after));
      if (before != after && ++failures > 3) return;
    }
  }
}

TEST_CASE("nothing that a plan is written as is unknown to the reader, or said to hold what the plan does not") {
  std::mt19937 rng(22);
  const int wanted = round_trips();
  for (const Framework framework : kRead)
    for (int done = 0, tried = 0; done < wanted && tried < 20 * wanted; ++tried) {
      const auto s = random_plan_for(framework, rng);
      if (!s) continue;
      ++done;
      const std::string text = exported(*s, framework);
      const auto read = import_launch(text, "plan", {}, library());
      REQUIRE(read.ok());
      CAPTURE(engine::kFrameworkIds[framework]);
      CAPTURE(text);
      std::string unknown;
      for (const IgnoredKey& row : read->ignored)
        if (row.why.key == "import.why.not_understood") unknown += row.key + " ";
      CHECK(unknown == "");
      for (const ImportNotice& notice : read->notices) CHECK(notice.text.key != "import.last_group");
      if (engine::sharded_stage(*s) > 0 || framework != Framework::deepspeed)
        for (const ImportNotice& notice : read->notices) CHECK(notice.text.key != "import.not_overlapped");
    }
}

TEST_CASE("groups of microbatches are written where Megatron-LM's own would leave a last one that it refuses") {
  // 64 microbatches and 21 stages: 64 % 21 = 1, and 32 is the least from 21 on that leaves none or at least 21.
  const Scenario s = with(preset("llama3-405b-16k-h100-8k"),
                          {"cluster.nodes=1344", "parallelism.fsdp=32", "parallelism.tensor=4",
                           "parallelism.context=4", "parallelism.pipeline=21", "pipeline.virtual_stages=6"});
  CHECK(exported(s, Framework::megatron).find("--microbatch-group-size-per-virtual-pipeline-stage 32\n") !=
        std::string::npos);
  CHECK(exported(s, Framework::megatron_bridge).find("microbatch_group_size_per_vp_stage: 32\n") !=
        std::string::npos);
  const Scenario even = with(s, {"workload.global_batch_sequences=2016"});  // 63 microbatches
  CHECK(exported(even, Framework::megatron).find("microbatch-group-size") == std::string::npos);
}

TEST_CASE("launches that block are Megatron-LM's by a variable, and a note where a file has none") {
  const Scenario s = preset("llama3-405b-16k-h100-8k"), blocks = with(s, {"kernels.launch=blocking"});
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  const std::string script = exported(blocks, Framework::megatron);
  CHECK(has(script, "export CUDA_LAUNCH_BLOCKING=1\n"));
  CHECK_FALSE(has(script, "kernels.launch"));
  CHECK_FALSE(has(exported(s, Framework::megatron), "CUDA_LAUNCH_BLOCKING"));
  CHECK(has(exported(blocks, Framework::megatron_bridge), "# roofscape: kernels.launch=blocking\n"));
}

TEST_CASE("launches from graphs are Megatron's, of experts what comes before their tokens are counted") {
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  const Scenario dense = with(preset("llama3-405b-16k-h100-8k"), {"kernels.launch=graphs"});
  CHECK(has(exported(dense, Framework::megatron), "    --cuda-graph-impl transformer_engine\n"));
  CHECK_FALSE(has(exported(dense, Framework::megatron), "--cuda-graph-scope"));
  CHECK(has(exported(dense, Framework::megatron_bridge), "  cuda_graph_impl: transformer_engine\n"));
  const Scenario experts =
      with(preset("gpt-oss-120b-64-h100"), {"kernels.launch=graphs", "parallelism.zero_stage=1"});
  CHECK(has(exported(experts, Framework::megatron), "    --cuda-graph-scope attn moe_router moe_preprocess\n"));
  CHECK(
      has(exported(experts, Framework::megatron_bridge), "  cuda_graph_scope: [attn, moe_router, moe_preprocess]\n"));
  CHECK_FALSE(has(exported(preset("llama3-405b-16k-h100-8k"), Framework::megatron), "cuda-graph"));
}

// A file of tests/golden, which ROOFSCAPE_UPDATE_GOLDEN writes anew.
void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = test::source_dir() / "tests/golden/exports" / name;
  if (std::getenv("ROOFSCAPE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream golden;
  golden << in.rdbuf();
  CAPTURE(name);
  CHECK(golden.str() == text);
}

TEST_CASE("a name of several lines stays inside the comment at the top of a script") {
  Scenario lines = preset("llama3-70b-serving-8-h100"), blanks = lines;
  engine::set_name(lines, "x\ntouch y\u2028#\t\u2029");
  engine::set_name(blanks, "x touch y #  ");
  CHECK(exported(lines, Framework::vllm) == exported(blanks, Framework::vllm));
  CHECK(exported(lines, Framework::sglang) == exported(blanks, Framework::sglang));
  CHECK(exported(lines, Framework::trtllm) == exported(blanks, Framework::trtllm));
  for (const char* end : {"\r", "\u0085", "\x7f", "\v", "\f"}) {
    engine::set_name(lines, std::string("x") + end + "touch y");
    CHECK(exported(lines, Framework::vllm).find(end) == std::string::npos);
  }
}

TEST_CASE("a count of drafted tokens has the method or the model that drafts beside it") {
  const Scenario dense = with(preset("llama3-70b-serving-8-h100"), {"serving.draft_tokens=3"}),
                 latent = with(preset("deepseek-v3-h800-wide-expert"), {"serving.draft_tokens=1"});
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  CHECK(has(exported(dense, Framework::vllm), R"({"model": "DRAFT_MODEL", "num_speculative_tokens": 3})"));
  CHECK(has(exported(latent, Framework::vllm), R"({"method": "mtp", "num_speculative_tokens": 1})"));
  CHECK(has(exported(dense, Framework::sglang),
            "--speculative-algorithm EAGLE \\\n    --speculative-draft-model-path DRAFT_MODEL"));
  CHECK(has(exported(with(latent, {"serving.draft_tokens=2"}), Framework::sglang), "--speculative-algorithm NEXTN"));
  CHECK(has(exported(dense, Framework::trtllm), "  speculative_model: DRAFT_MODEL\n"));
  CHECK_FALSE(has(exported(latent, Framework::vllm), "DRAFT_MODEL"));
}

TEST_CASE("SGLang's replicas are its own, and attention that is shared out lies within its tensor ranks") {
  const auto says = [](const Scenario& s, std::string_view words) {
    return exported(s, Framework::sglang).find(words) != std::string::npos;
  };
  const Scenario replicas =
      with(preset("llama3-70b-serving-8-h100"), {"parallelism.tensor=4", "parallelism.data=2", "workload.batch=64"});
  CHECK(says(replicas, "--tp-size 4 \\\n    --pp-size 1 \\\n    --dp-size 2 \\\n    --dtype"));
  CHECK(says(replicas, "--max-running-requests 32 "));
  CHECK(says(replicas, "--chunked-prefill-size 2048 "));
  Scenario shared = preset("llama3-70b-serving-8-h100");
  shared.model = *library().find_model("mixtral-8x7b");
  shared = with(shared, {"parallelism.tensor=2", "parallelism.data=4", "parallelism.expert=8",
                         "parallelism.expert_tensor=1", "workload.batch=64"});
  CHECK(
      says(shared,
           "--tp-size 8 \\\n    --pp-size 1 \\\n    --dp-size 4 \\\n    --enable-dp-attention \\\n    --ep-size 8"));
  CHECK(says(shared, "--max-running-requests 64 "));
  CHECK(says(shared, "--chunked-prefill-size 8192 "));
}

TEST_CASE("adapters of Megatron Bridge are those of the plan: by matrix, and one for each expert") {
  const auto section = [](const char* of, const char* targets) {
    const std::string text = exported(with(preset(of), {"adapter.rank=8", std::string("adapter.targets=") + targets}),
                                      Framework::megatron_bridge);
    const std::size_t at = text.find("peft:\n");
    if (at == std::string::npos) return text;
    std::size_t end = text.find('\n', at) + 1;
    while (text.compare(end, 2, "  ") == 0) end = text.find('\n', end) + 1;
    return text.substr(at, end - at);
  };
  constexpr std::string_view kSplit =
                                 "peft:\n  _target_: megatron.bridge.peft.canonical_lora.CanonicalLoRA\n  dim: 8\n",
                             kFused = "peft:\n  _target_: megatron.bridge.peft.lora.LoRA\n  dim: 8\n";
  CHECK(section("llama3-405b-16k-h100", "query_value") ==
        std::string(kSplit) + "  target_modules: [linear_q, linear_v]\n");
  CHECK(section("gpt3-175b-1024-a100", "mlp") ==
        std::string(kFused) + "  target_modules: [linear_fc1, linear_fc2]\n");
  CHECK(section("mixtral-8x7b-64-h100", "mlp") ==
        std::string(kSplit) +
            "  target_modules: [linear_fc1_gate, linear_fc1_up, linear_fc2]\n  share_expert_adapters: false\n");
  // Latent attention has the fused form alone, whose experts share one: that is noted.
  const std::string latent =
      exported(with(preset("deepseek-v3-2048-h800"), {"adapter.rank=8", "pipeline.schedule=1f1b",
                                                      "checkpointing.policy=block", "precision.optimizer=adam_fp32"}),
               Framework::megatron_bridge);
  CHECK(latent.find("share_expert_adapters") == std::string::npos);
  CHECK(latent.find("# roofscape: adapter.experts=true\n") != std::string::npos);
}

TEST_CASE("exports of shipped scenarios equal their golden") {
  const Scenario llama = preset("llama3-8b-8-h100"),
                 big = with(preset("llama3-405b-16k-h100"), {"assumptions.mode=calibrated"}),
                 pod = preset("llama3-70b-v5p-pod"), experts = preset("mixtral-8x7b-64-h100");
  check_golden("llama3_405b_megatron.sh", exported(big, Framework::megatron));
  check_golden("mixtral_megatron.sh", exported(experts, Framework::megatron));
  check_golden("mixtral_megatron_bridge.yaml", exported(experts, Framework::megatron_bridge));
  check_golden(
      "llama3_70b_lora_megatron_bridge.yaml",
      exported(with(preset("llama3-70b-lora-8-h100"), {"precision.weights=bf16"}), Framework::megatron_bridge));
  check_golden("llama3_8b_torchtitan.toml", exported(llama, Framework::torchtitan));
  check_golden("llama3_70b_maxtext.yaml", exported(with(pod, {"checkpointing.policy=block"}), Framework::maxtext));
  check_golden("llama3_70b_jax.py", exported(pod, Framework::jax));
  check_golden("mixtral_jax.py", exported(experts, Framework::jax));
  check_golden("llama3_8b_deepspeed.json", exported(llama, Framework::deepspeed));
  check_golden("llama3_70b_vllm.sh", exported(preset("llama3-70b-serving-8-h100"), Framework::vllm));
  check_golden("llama3_70b_sglang.sh", exported(preset("llama3-70b-serving-8-h100"), Framework::sglang));
  check_golden("llama3_70b_trtllm.sh", exported(preset("llama3-70b-serving-8-h100"), Framework::trtllm));
}

TEST_CASE("scripts that start a plan equal their golden") {
  const Scenario llama = preset("llama3-8b-8-h100"), big = preset("llama3-405b-16k-h100");
  const auto script = [](const Scenario& s, Framework framework, Launcher launcher) {
    const auto text = launch_script(s, framework, launcher, library(), english());
    return text ? text.value() : to_text(text.error(), english());
  };
  check_golden("llama3_405b_megatron_sbatch.sh", script(big, Framework::megatron, Launcher::sbatch));
  check_golden("llama3_8b_torchtitan_torchrun.sh", script(llama, Framework::torchtitan, Launcher::torchrun));
  check_golden("llama3_8b_deepspeed_sbatch.sh", script(llama, Framework::deepspeed, Launcher::sbatch));
  CHECK(script(preset("llama3-70b-v5p-pod"), Framework::jax, Launcher::torchrun) ==
        "--launcher: torchrun does not start the processes of JAX; give sbatch");
}

TEST_CASE("on several nodes a server's script asks a shell on each for its rank, and is read as the plan") {
  const Scenario s = with(preset("llama3-70b-serving-8-h100"), {"cluster.nodes=2", "parallelism.pipeline=2"});
  for (const auto& [framework, first] : {std::pair{Framework::vllm, "--master-addr $MASTER_ADDR"},
                                         {Framework::sglang, "--dist-init-addr $MASTER_ADDR:"}}) {
    const std::string_view server = engine::kFrameworkIds[framework];
    CAPTURE(server);
    for (const int drafts : {0, 3}) {
      if (drafts > 0 && framework == Framework::sglang) continue;  // not with a pipeline
      const Scenario plan =
          drafts == 0 ? s : with(s, {"parallelism.pipeline=1", "parallelism.data=2", "serving.draft_tokens=3"});
      const auto text = launch_script(plan, framework, Launcher::sbatch, library(), english());
      REQUIRE(text);
      CHECK(text.value().find("srun bash -c '") != std::string::npos);
      CHECK(text.value().find("--node-rank $SLURM_NODEID") != std::string::npos);
      CHECK(text.value().find(first) != std::string::npos);
      const auto back = import_launch(text.value(), "plan.sh", {}, library());
      REQUIRE(back);
      CHECK(essential(back->scenario) == essential(plan));
    }
  }
  check_golden("llama3_70b_vllm_sbatch.sh",
               launch_script(s, Framework::vllm, Launcher::sbatch, library(), english()).value());
}

TEST_CASE("a plan that a framework cannot run is refused by the rule, with the nearest that it can") {
  const Scenario s = with(preset("llama3-405b-16k-h100"), {"checkpointing.policy=block"});
  CHECK(exported(s, Framework::deepspeed) ==
        "error: parallelism.zero_stage: DeepSpeed cannot run this plan: ZeRO 2 is incompatible with pipeline "
        "parallelism; ZeRO 1 is the most (DeepSpeed, deepspeed/runtime/pipe/engine.py); the nearest plan that it can "
        "run "
        "has --set parallelism.fsdp=128 --set parallelism.context=1 --set parallelism.sequence_parallel=false --set "
        "parallelism.zero_stage=1 "
        "--set parallelism.context_method=ulysses --set placement.order=auto --set pipeline.schedule=1f1b "
        "--set pipeline.virtual_stages=1");
}

TEST_CASE("what --set of a refusal says makes the nearest plan") {
  std::mt19937 rng(22);
  for (int n = 0; n < 60; ++n) {
    const Scenario s = tests::random_scenario(rng);
    for (std::size_t i = 0; i < engine::kFrameworks; ++i) {
      const engine::NearestPlan near = engine::nearest_plan_on(static_cast<Framework>(i), s);
      if (!near.runs) continue;
      Scenario set = s;
      for (const std::string& one : assignments_between(s, near.scenario)) {
        CAPTURE(one);
        CHECK(!set_field(set, one, library()));
      }
      CHECK(set == near.scenario);
    }
  }
}

TEST_CASE("every field of a plan is said by the file or noted") {
  std::mt19937 rng(23);
  for (const Framework framework :
       {Framework::megatron, Framework::megatron_bridge, Framework::torchtitan, Framework::maxtext, Framework::jax,
        Framework::deepspeed, Framework::vllm, Framework::sglang, Framework::trtllm}) {
    CAPTURE(engine::kFrameworkIds[framework]);
    for (int n = 0; n < 20; ++n) {
      auto s = random_plan_for(framework, rng);
      if (!s) continue;
      const std::string plain = exported(*s, framework);
      // Another value of any field makes another file, as far as the field matters.
      for (const engine::Field& field : engine::scenario_fields()) {
        if (field.path.starts_with("cluster.") || !applies(field, s->workload.kind)) continue;
        Scenario other = *s;
        const double value = field.kind == engine::FieldKind::boolean  ? 1 - field.get(*s)
                             : field.kind == engine::FieldKind::choice ? field.maximum - field.get(*s)
                                                                       : field.get(*s) * 2 + 1;
        if (value == field.get(*s) || !in_domain(field, value)) continue;
        field.set(other, value);
        if (essential(other) == essential(*s) || engine::broken_rule(framework, other) != nullptr) continue;
        CAPTURE(field.path);
        CHECK(exported(other, framework) != plain);
      }
    }
  }
}

// "name": ((80, 8192), P("pipeline", None)): each axis of a spec divides its dimension.
TEST_CASE("a mesh of JAX divides every array it splits") {
  std::mt19937 rng(24);
  const std::regex axis("    \"(\\w+)\": (\\d+),"), row("    \"([\\w.]+)\": \\(\\(([\\d, ]+)\\), P\\((.*)\\)\\),");
  int arrays = 0;
  for (int n = 0; n < 100; ++n) {
    const auto s = random_plan_for(Framework::jax, rng);
    if (!s) continue;
    const std::string text = exported(*s, Framework::jax);
    std::map<std::string, long> sizes;
    std::istringstream lines(text);
    double devices = 1;
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (std::regex_match(line, found, axis)) {
        sizes[found[1]] = std::stol(found[2]);
        devices *= std::stod(found[2]);
      }
      if (!std::regex_match(line, found, row)) continue;
      ++arrays;
      CAPTURE(line);
      std::vector<long> shape;
      std::istringstream numbers(found[2]);
      for (std::string number; std::getline(numbers, number, ',');)
        if (number.find_first_of("0123456789") != std::string::npos) shape.push_back(std::stol(number));
      // Entries at the top level: None, one axis, or several in parentheses.
      std::vector<long> split;
      const std::string spec = found[3];
      for (std::size_t i = 0; i < spec.size();) {
        const bool several = spec[i] == '(';
        const std::size_t end = several ? spec.find(')', i) + 1 : std::min(spec.find(',', i), spec.size());
        long ways = 1;
        for (const auto& [name, size] : sizes)
          if (spec.substr(i, end - i).find("\"" + name + "\"") != std::string::npos) ways *= size;
        split.push_back(ways);
        i = std::min(end + 2, spec.size());
      }
      REQUIRE(split.size() == shape.size());
      for (std::size_t i = 0; i < shape.size(); ++i) CHECK(shape[i] % split[i] == 0);
    }
    CHECK(devices == engine::mesh_chips(s->parallelism));
  }
  CHECK(arrays > 500);
}

}  // namespace
}  // namespace roofscape::io
