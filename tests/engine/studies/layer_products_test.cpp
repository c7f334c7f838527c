// The products of a layer, as arrays cut over the mesh.
#include "engine/studies/layer_products.h"

#include <doctest/doctest.h>

#include <random>

#include "engine/evaluate/evaluate.h"
#include "engine/inputs/inputs.h"
#include "engine/model/layer_operations.h"
#include "engine/scenario/mesh_size.h"
#include "tests/engine/fixtures.h"

namespace roofscape::engine {
namespace {

const LayerProduct* product(const LayerProductsStudy& study, OperationKind kind, bool shared = false) {
  for (const LayerProduct& p : study.products)
    if (p.kind == kind && p.shared_expert == shared) return &p;
  return nullptr;
}

TEST_CASE("products of a layer have the FLOPs of its operations") {
  std::mt19937 rng(3);
  for (int i = 0; i < 300; ++i) {
    Scenario s = tests::random_scenario(rng);
    s.assumptions.flops = FlopsConvention::exact_causal;
    if (s.model.is_moe() && s.model.moe.n_dense_layers > 0) continue;  // there an operation is of the mean layer
    const Inputs<double> in = make_inputs<double>(s, nullptr);
    const double tokens = microbatch_tokens(in.microbatch_sequences, in.sequence_length, in.degree(Axis::context).x);
    const auto operations = layer_operations(in, count_parameters(in.model), layer_key(s), tokens).operations;
    const LayerProductsStudy study = layer_products_study(s, evaluate(s));
    for (const OperationKind kind : {OperationKind::qkv, OperationKind::attention, OperationKind::attention_out,
                                     OperationKind::gate_up, OperationKind::down}) {
      const LayerProduct *own = product(study, kind), *shared = product(study, kind, true);
      REQUIRE(own != nullptr);
      const double flops = own->flops + (shared != nullptr ? shared->flops : 0);
      CHECK(flops == doctest::Approx(operations[static_cast<std::size_t>(kind)].flops).epsilon(1e-9));
    }
  }
}

TEST_CASE("adapters beside the products of a layer have the FLOPs of its operations, and the weights are frozen") {
  std::mt19937 rng(6);
  int adapted = 0;
  for (int i = 0; i < 600; ++i) {
    Scenario s = tests::random_scenario(rng);
    if (s.adapter.rank == 0 || (s.model.is_moe() && s.model.moe.n_dense_layers > 0)) continue;
    const Inputs<double> in = make_inputs<double>(s, nullptr);
    const double tokens = microbatch_tokens(in.microbatch_sequences, in.sequence_length, in.degree(Axis::context).x);
    const auto adapters = layer_operations(in, count_parameters(in.model), layer_key(s), tokens).adapters;
    const LayerProductsStudy study = layer_products_study(s, evaluate(s));
    CHECK(study.frozen);
    ++adapted;
    for (const OperationKind kind :
         {OperationKind::qkv, OperationKind::attention_out, OperationKind::gate_up, OperationKind::down}) {
      const LayerProduct *own = product(study, kind), *shared = product(study, kind, true);
      REQUIRE(own != nullptr);
      const double flops = own->adapter_flops + (shared != nullptr ? shared->adapter_flops : 0);
      CHECK(flops == doctest::Approx(adapters[static_cast<std::size_t>(kind)].flops));
    }
  }
  CHECK(adapted > 20);
}

TEST_CASE("what is left of a dimension on a chip is its part, and never less than one copy of a KV head") {
  std::mt19937 rng(4);
  for (int i = 0; i < 300; ++i) {
    const Scenario s = tests::random_scenario(rng);
    for (const LayerProduct& p : layer_products_study(s, evaluate(s)).products)
      for (const ShardedDim* dim : {&p.rows, &p.contraction, &p.columns, &p.experts}) {
        double ways = 1;
        for (const int n : dim->ways) ways *= n;
        CAPTURE(kLayerDimIds[dim->dim]);
        if (dim->dim == LayerDim::qkv)
          CHECK(dim->local * ways >= doctest::Approx(dim->whole));
        else
          CHECK(dim->local * ways == doctest::Approx(dim->whole));
      }
  }
}

TEST_CASE("each collective of a layer's forward stands at a product or at the weights") {
  std::mt19937 rng(5);
  for (int i = 0; i < 300; ++i) {
    const Scenario s = tests::random_scenario(rng);
    const Report report = evaluate(s);
    const LayerProductsStudy study = layer_products_study(s, report);
    for (const CollectiveRow& row : report.collectives) {
      if (row.backward || row.end_of_step || row.axis == Axis::pipeline) continue;
      bool stands = false;
      const auto look = [&](const std::vector<LayerMove>& moves) {
        for (const LayerMove& move : moves)
          stands = stands || (move.kind == row.kind && move.bytes == row.bytes && move.time_s == row.time_s);
      };
      look(study.weights);
      for (const LayerProduct& p : study.products) look(p.before), look(p.after);
      CAPTURE(kAxisIds[row.axis]);
      CHECK(stands);
    }
  }
}

TEST_CASE("LLaMA-3 70B on 4 tensor ranks: the shapes of chapter 6") {
  Scenario s = tests::preset("llama3-70b-v5p-pod");
  const LayerProductsStudy study = layer_products_study(s, evaluate(s));
  const LayerProduct& down = *product(study, OperationKind::down);
  CHECK(down.contraction.whole == 28672);
  CHECK(down.contraction.local == 7168);
  CHECK(down.columns.whole == 8192);
  CHECK(down.columns.at_rest[Axis::fsdp] == s.parallelism.fsdp);
  const LayerProduct& qkv = *product(study, OperationKind::qkv);
  CHECK(qkv.columns.whole == 10240);  // 64 heads of queries, 8 of keys, 8 of values
  CHECK(qkv.columns.local == 2560);
  Scenario serves = s;
  serves.workload.kind = WorkloadKind::serving;
  CHECK_FALSE(layer_products_study(serves, evaluate(serves)).known());
}

}  // namespace
}  // namespace roofscape::engine
