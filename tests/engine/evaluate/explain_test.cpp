#include <doctest/doctest.h>

#include "engine/evaluate/explain.h"

#include <map>

#include "engine/evaluate/evaluate.h"
#include "tests/cases_to_try.h"
#include "tests/engine/fixtures.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::preset;

namespace {

constexpr const char* kPresets[] = {"llama3-70b-v5p-pod", "llama3-405b-16k-h100", "llama3-405b-16k-h100-8k",
                                    "llama3-8b-8-h100"};

// The presets, and models with every kind of layer in each convention of FLOPs.
std::vector<Scenario> scenarios() {
  std::vector<Scenario> out;
  for (const char* id : kPresets) out.push_back(preset(id));
  for (const char* id :
       {"llama3-70b-v5p-pod", "llama3-405b-16k-h100-8k", "gpt3-175b-1024-a100", "mixtral-8x7b-64-h100"})
    out.push_back(tests::with(preset(id), {"assumptions.mode=calibrated"}));
  for (const char* model : {"deepseek-v3", "deepseek-v2-lite", "gpt-oss-120b", "mixtral-8x7b", "gemma3-27b-text",
                            "gpt3-175b", "bloom-176b"})
    for (const char* flops : {"assumptions.flops=6p", "assumptions.flops=exact", "assumptions.flops=exact_causal"})
      for (const char* preset_id : {"llama3-405b-16k-h100", "llama3-8b-8-h100"})
        out.push_back(tests::with(preset(preset_id),
                                  {std::string("model=") + model, flops, "checkpointing.policy=k_per_layer"}));
  for (const char* id : {"llama2-13b-16-v5e", "llama3-70b-serving-8-h100", "deepseek-v3-h800-wide-expert"})
    out.push_back(preset(id));
  out.push_back(
      tests::with(preset("llama3-70b-16-v5e"),
                  {"model=gemma3-27b-text", "parallelism.tensor=4", "parallelism.context=2", "parallelism.pipeline=2",
                   "assumptions.flops=exact_causal", "serving.draft_tokens=3", "serving.prefix_hit_rate=0.5",
                   "serving.prefill_chunk_tokens=512", "workload.arrivals_per_s=0.5", "workload.lengths.0.share=1",
                   "workload.lengths.2.share=2"}));
  out.push_back(tests::with(preset("llama3-70b-serving-8-h100"),
                            {"model=mixtral-8x7b", "parallelism.fsdp=2", "parallelism.tensor=4",
                             "parallelism.expert=8", "parallelism.expert_tensor=1", "serving.kv_split=sequence"}));
  for (const char* model : {"model=llama2-13b", "model=deepseek-v3"})
    out.push_back(tests::with(preset("llama3-70b-serving-8-h100"),
                              {model, "model.n_kv_heads=8", "assumptions.parameters=published"}));
  // A fabric whose leaves add up, experts that fewer tensor ranks split, and everything on the host.
  out.push_back(tests::with(preset("mixtral-8x7b-64-h100"),
                            {"cluster=dgx-h100-superpod-1024", "parallelism.data=16", "parallelism.zero_stage=0",
                             "parallelism.expert_tensor=1", "offload.optimizer=true", "offload.activations=true",
                             "workload.global_batch_sequences=2048"}));
  out.back().cluster.fabric[0].in_network_reduction = true;
  return out;
}

// Symbols in a term of a formula; a sum's terms are counted one by one, as they are listed one a line when many.
int symbols(const Expression& e) {
  if (e.kind == Expression::Kind::operand) return 1;
  int count = 0;
  const bool separate =
      e.kind == Expression::Kind::add || e.kind == Expression::Kind::max || e.kind == Expression::Kind::min;
  for (const Expression& child : e.children) {
    const int n = symbols(child);
    count = separate ? std::max(count, n) : count + n;
  }
  return count;
}

void operands(const Expression& e, std::vector<const Expression*>& out) {
  if (e.kind == Expression::Kind::operand) out.push_back(&e);
  for (const Expression& child : e.children) operands(child, out);
}

}  // namespace

TEST_CASE("every quantity of a report has a derivation that ends in the report's value") {
  for (const Scenario& s : scenarios()) {
    const Report r = evaluate(s);
    const Recording recording(s);
    for (std::size_t i = 0; i < kQuantityCount; ++i) {
      const auto value = r.quantities[static_cast<Q>(i)];
      if (!value) continue;
      CAPTURE(std::string(kQuantities[i].id));
      const auto derivation = recording.explain(kQuantities[i].id);
      REQUIRE(derivation.has_value());
      REQUIRE(derivation->lines[0].id == kQuantities[i].id);
      REQUIRE(derivation->lines[0].value == *value);
    }
  }
}
TEST_CASE("with the steps between added, whatever explain derives is in the report, with the same value") {
  for (const Scenario& s :
       {preset("llama3-405b-16k-h100-8k"), preset("llama3-70b-serving-8-h100"),
        tests::with(preset("llama3-8b-8-h100"), {"offload.optimizer=true", "offload.activations=true"}),
        tests::with(preset("deepseek-v3-2048-h800"), {"assumptions.mode=calibrated"})}) {
    const Report report = evaluate(s);
    const QuantityValues values = all_quantities(s, report);
    int between = 0;
    const Recording recording(s);
    for (const std::string& id : recording.explainable()) {
      const auto q = find_quantity(id);
      if (!q || static_cast<std::size_t>(*q) >= kReportQuantityCount) continue;
      CAPTURE(id);
      const Derivation derivation = *recording.explain(id);
      if (derivation.lines.front().is_input) continue;
      CHECK(values[*q] == derivation.lines.front().value);
      if (report.quantities[*q])
        CHECK(values[*q] == report.quantities[*q]);
      else
        ++between;
    }
    CHECK(between > 0);
  }
  Scenario broken = preset("llama3-8b-8-h100");
  broken.parallelism.tensor = 3;
  CHECK_FALSE(all_quantities(broken, evaluate(broken))[Q::step_time].has_value());
}

TEST_CASE("every operand of a derivation has a line of its own") {
  for (const char* id : kPresets) {
    const auto derivation = explain(preset(id), "run.cost_usd");
    REQUIRE(derivation.has_value());
    for (const DerivationLine& line : derivation->lines) {
      std::vector<const Expression*> found;
      operands(line.expression, found);
      for (const Expression* e : found) {
        CAPTURE(e->id);
        const DerivationLine* target = derivation->find(e->id);
        REQUIRE(target != nullptr);
        REQUIRE(target->value == e->value);
      }
    }
  }
}
TEST_CASE("a derivation down to a depth has the lines of the whole one, and all that those above it are made of") {
  for (const char* id : kPresets) {
    const Recording run(preset(id));
    for (const std::string& asked : run.explainable()) {
      CAPTURE(id);
      CAPTURE(asked);
      const auto whole = run.explain(asked);
      REQUIRE(whole.has_value());
      for (const int deepest : {0, 1, 2}) {
        const auto near = run.explain(asked, deepest);
        REQUIRE(near.has_value());
        REQUIRE(near->lines.front().id == asked);
        REQUIRE((deepest > 0 || near->lines.size() == 1));
        int depth = 0;
        for (const DerivationLine& line : near->lines) {
          const DerivationLine* same = whole->find(line.id);
          REQUIRE(same != nullptr);
          REQUIRE(line.value == same->value);
          REQUIRE(line.uses == same->uses);
          REQUIRE(line.source == same->source);
          REQUIRE(near->find(line.id) == &line);  // once
          REQUIRE((line.depth >= depth && line.depth <= deepest));
          depth = line.depth;
          if (line.depth == deepest) continue;
          for (const std::string& used : line.uses) REQUIRE(near->find(used) != nullptr);
        }
      }
    }
  }
}

TEST_CASE("a derivation goes down to inputs with a source") {
  const auto derivation = explain(preset("llama3-70b-v5p-pod"), "step.time_s");
  REQUIRE(derivation.has_value());
  int inputs = 0;
  for (const DerivationLine& line : derivation->lines) {
    CAPTURE(line.id);
    CHECK_FALSE(line.source.empty());
    CHECK((line.is_input || line.is_simulated || !line.uses.empty() || line.value == 0));
    inputs += line.is_input;
  }
  CHECK(inputs >= 10);
  CHECK(derivation->find("chip.peak_flops_per_s")->source.find("ch") != std::string::npos);
}
TEST_CASE("no term of any derivation has more than five symbols") {
  int tried = 0;
  for (const Scenario& s : scenarios()) {
    if (tried++ % tests::kFewerCases != 0) continue;
    const Recording recording(s);
    for (const std::string& quantity_id : recording.explainable()) {
      const auto derivation = recording.explain(quantity_id);
      if (!derivation) continue;
      CAPTURE(quantity_id);
      CHECK(symbols(derivation->lines[0].expression) <= 5);
    }
  }
}
TEST_CASE("a symbol means one quantity in a derivation, in ideal and in calibrated mode") {
  int tried = 0;
  for (const io::Preset& each : tests::library().list(io::PresetKind::scenario))
    for (const char* mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"}) {
      if (tried++ % tests::kFewerCases != 0) continue;
      const Scenario s = tests::with(preset(each.id), {mode});
      const Recording recording(s);
      for (const std::string& quantity_id : recording.explainable()) {
        const auto derivation = recording.explain(quantity_id);
        if (!derivation) continue;
        std::map<std::string, std::string> meaning;
        for (const DerivationLine& line : derivation->lines) {
          const auto known = meaning.emplace(line.symbol, line.id).first;
          CHECK_MESSAGE(known->second == line.id, quantity_id, ": ", line.symbol);
        }
      }
    }
}
TEST_CASE("step time is a sum of its parts") {
  const auto derivation = explain(preset("llama3-70b-v5p-pod"), "step.time_s");
  REQUIRE(derivation.has_value());
  const Expression& sum = derivation->lines[0].expression;
  CHECK(sum.kind == Expression::Kind::add);
  CHECK(sum.children.size() == kStepParts.size() - 1);  // the host takes no time in ideal mode
}
TEST_CASE("matrix multiplication time reads F_model / (N C)") {
  const auto derivation = explain(preset("llama3-70b-v5p-pod"), "step.matmul_s");
  REQUIRE(derivation.has_value());
  const Expression& e = derivation->lines[0].expression;
  REQUIRE(e.kind == Expression::Kind::divide);
  CHECK(e.children[0].symbol == "F_model");
  REQUIRE(e.children[1].children.size() == 2);
  CHECK(e.children[1].children[0].symbol == "N");
  CHECK(e.children[1].children[1].symbol == "C");
}
TEST_CASE("a maximum says which side decided") {
  const auto derivation = explain(preset("llama3-70b-v5p-pod"), "layer.work_forward_s");
  REQUIRE(derivation.has_value());
  const Expression& e = derivation->lines[0].expression;
  CHECK(e.kind == Expression::Kind::max);
  REQUIRE(e.winner == 0);
  CHECK(e.children[0].symbol == "T_math,f");
}
TEST_CASE("indexed quantities are explained by axis and by stage") {
  const Scenario s = preset("llama3-405b-16k-h100");
  CHECK(explain(s, "links.bytes_per_s[tensor]")->lines[0].symbol == "W_tensor");
  CHECK(explain(s, "stage.forward_s[3]")->lines[0].symbol == "T_fwd,3");
  CHECK(explain(s, "pipeline.makespan_s")->lines[0].is_simulated);
}
TEST_CASE("an unknown quantity has no derivation") {
  CHECK_FALSE(explain(preset("llama3-70b-v5p-pod"), "step.tiem_s").has_value());
}
