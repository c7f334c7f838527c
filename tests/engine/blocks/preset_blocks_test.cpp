// Building blocks fed by chip and model presets: every preset runs in every block, what a block says of a preset is
// what the engine's own function says to the last bit, and what a preset does not know is said, not guessed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/hardware/roofline.h"
#include "engine/io/export/block_json.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layer_operations.h"
#include "engine/model/parameters.h"
#include "tests/engine/blocks/ask.h"
#include "tests/engine/fixtures.h"
#include "tests/english.h"
#include "tests/test_paths.h"

using namespace roofscape;
using namespace roofscape::engine;
using tests::ask;
using tests::library;
using tests::number;

namespace {

// Something that makes most outputs of a block known: sizes that come out even.
std::vector<std::string> plain_inputs(const BuildingBlock& block, bool chip, bool model) {
  std::vector<std::string> out;
  for (const BlockInput& in : block.inputs) {
    const bool is_of_preset = (chip && in.takes_chip()) || (model && in.of_model != nullptr);
    if (is_of_preset || !in.fallback.empty() || in.computed != nullptr || !in.is_numeric()) continue;
    const std::string_view unit = quantity(in.q).unit.symbol;
    const double typical = in.name == "distance"               ? 3
                           : unit == "B/s" || unit == "FLOP/s" ? 1e12
                           : unit == "s"                       ? 1e-3
                                                               : 64;
    out.push_back(std::string(in.name) + "=" +
                  fmt::format("{}", std::clamp(typical, in.low, std::max(in.low, in.high))));
  }
  return out;
}

Inputs<double> inputs_of(const TransformerShape& model, int tokens) {
  Scenario s;
  s.model = model;
  s.workload.sequence_length = tokens;
  return make_inputs<double>(s, nullptr);
}

}  // namespace

TEST_CASE("a figure that an input takes of a chip is one that chip files have, and some preset knows it") {
  for (const BuildingBlock& block : blocks())
    for (const BlockInput& in : block.inputs) {
      if (!in.takes_chip()) continue;
      CAPTURE(std::string(block.id));
      CAPTURE(std::string(in.name));
      if (!in.chip_field.empty())
        CHECK(std::any_of(kChipFields.begin(), kChipFields.end(),
                          [&](const ChipFieldRow& row) { return row.id == in.chip_field; }));
      bool is_known = false;
      for (const Chip& chip : library().chips()) {
        BlockCall call(block);
        call.complete(&chip, nullptr);
        const BlockValue& value = call.value(in.name);
        is_known =
            is_known || (value.is_known() && value.source != "default" && !value.source.starts_with("default:"));
      }
      CHECK(is_known);
    }
}

TEST_CASE("what a chip preset does not know is never a default: the input is unknown and says why") {
  for (const BuildingBlock& block : blocks())
    for (const Chip& chip : library().chips()) {
      BlockCall call(block);
      call.complete(&chip, nullptr);
      for (const BlockInput& in : block.inputs) {
        if (!in.takes_chip()) continue;
        CAPTURE(chip.id);
        CAPTURE(std::string(block.id));
        CAPTURE(std::string(in.name));
        CHECK(call.value(in.name).source != "default");
        if (!call.value(in.name).is_known()) CHECK_FALSE(call.value(in.name).source.empty());
      }
    }
}

TEST_CASE("every block runs for every chip, and says of every output what it is or why it is not") {
  for (const BuildingBlock& block : blocks()) {
    if (!block.takes_chip()) continue;
    for (const Chip& chip : library().chips()) {
      CAPTURE(std::string(block.id));
      CAPTURE(chip.id);
      std::vector<std::string> typed = plain_inputs(block, true, false);
      typed.push_back("chip=" + chip.id);
      const auto asked = ask(block.id, typed);
      REQUIRE_MESSAGE(asked.ok(), (asked ? "" : test::in_english(asked.error())));
      for (const BlockAnswer& a : asked->answers) {
        CAPTURE(std::string(a.output->name));
        if (a.is_absent() && a.output->kind != OutputKind::table) CHECK((!a.missing.empty() || !a.reason.empty()));
      }
    }
  }
}

TEST_CASE("every block runs for every model") {
  for (const BuildingBlock& block : blocks()) {
    if (!block.takes_model()) continue;
    for (const io::Preset& row : library().list(io::PresetKind::model)) {
      CAPTURE(std::string(block.id));
      CAPTURE(row.id);
      std::vector<std::string> typed{"model=" + row.id};
      if (block.takes_chip()) typed.emplace_back("chip=h100-sxm");
      const auto asked = ask(block.id, typed);
      REQUIRE_MESSAGE(asked.ok(), (asked ? "" : test::in_english(asked.error())));
    }
  }
}

TEST_CASE("a block that takes the size of a model takes it of a preset") {
  const std::set<Q> sizes{Q::n_layers, Q::d_model, Q::d_ff, Q::n_heads, Q::n_kv_heads, Q::d_head, Q::vocab_size};
  for (const BuildingBlock& block : blocks())
    for (const BlockInput& in : block.inputs)
      if (in.is_numeric() && (sizes.contains(in.q) || in.q == Q::state_parameters))
        CHECK_MESSAGE(!!in.of_model, block.id << " " << in.name);
}

TEST_CASE("peak and ridge of every chip are the engine's, in every block that has them") {
  for (const Chip& chip : library().chips()) {
    CAPTURE(chip.id);
    Scenario s;
    s.cluster.chip = chip;
    const Inputs<double> in = make_inputs<double>(s, nullptr);
    const double peak = in.chip.peak_flops, hbm = in.chip.hbm_bandwidth;
    for (const BuildingBlock& block : blocks()) {
      const auto has = [&](std::string_view name) { return block.find_input(name) != nullptr; };
      BlockCall call(block);
      call.complete(&chip, nullptr);
      CAPTURE(std::string(block.id));
      const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      if (has("peak_flops_per_s")) CHECK(same(call.number("peak_flops_per_s"), peak));
      if (has("published_flops_per_s")) CHECK(same(call.number("published_flops_per_s"), peak));
      if (has("hbm_bytes_per_s")) CHECK(same(call.number("hbm_bytes_per_s"), hbm));
    }
    if (std::isnan(peak) || std::isnan(hbm)) continue;
    const double ridge = ridge_point(peak, hbm);
    CHECK(number(ask("ridge", {"chip=" + chip.id}), "ridge") == ridge);
    CHECK(number(ask("roofline", {"chip=" + chip.id}), "ridge") == ridge);
    CHECK(number(ask("matmul", {"chip=" + chip.id}), "ridge") == ridge);
    CHECK(number(ask("attention", {"chip=" + chip.id}), "ridge") == ridge);
  }
}

TEST_CASE("units and clock of a chip make its published peak within a tenth, where all of them are known") {
  int gpus = 0, tpus = 0;
  for (const Chip& chip : library().chips()) {
    CAPTURE(chip.id);
    const bool is_tpu = chip[ChipField::mxu_dim].value.has_value();
    const auto bf16 = chip[ChipField::peak_bf16_dense_flops_per_s].value;
    const auto asked = ask(is_tpu ? "tpu-peak" : "gpu-peak",
                           {"chip=" + chip.id, bf16 ? std::string("dtype=bf16") : std::string("dtype=fp16")});
    REQUIRE(asked.ok());
    const BlockAnswer* share = asked->find("peak_to_published");
    if (share->is_absent()) continue;
    ++(is_tpu ? tpus : gpus);
    // The TPU v3's peak is the book's 140 TFLOP/s; its units make Google's 123. A TPU v6e states no clock.
    CHECK(share->numbers.front() == doctest::Approx(1).epsilon(chip.id == "tpu-v3" ? 0.13 : 0.1));
  }
  CHECK(gpus >= 14);
  CHECK(tpus >= 5);
}

TEST_CASE("units make the peak of every format as they make that of bf16, and none where none is published") {
  for (const Chip& chip : library().chips()) {
    if (!chip[ChipField::peak_bf16_dense_flops_per_s].value) continue;
    const char* block = chip[ChipField::mxu_dim].value ? "tpu-peak" : "gpu-peak";
    const auto bf16 = ask(block, {"chip=" + chip.id});
    REQUIRE(bf16.ok());
    if (bf16->find("peak_to_published")->is_absent()) continue;
    for (const char* dtype : {"fp8", "int8", "int4", "fp4", "tf32", "fp32"}) {
      CAPTURE(chip.id);
      CAPTURE(dtype);
      const auto asked = ask(block, {"chip=" + chip.id, "dtype=" + std::string(dtype)});
      REQUIRE(asked.ok());
      const bool published = !ask("roofline", {"chip=" + chip.id, "dtype=" + std::string(dtype), "intensity=1e9"})
                                  ->find("attainable_flops_per_s")
                                  ->is_absent();
      if (published)
        CHECK(number(asked, "peak_to_published") == doctest::Approx(number(bf16, "peak_to_published")).epsilon(1e-9));
      else
        CHECK(asked->find("peak_flops_per_s")->is_absent());
    }
  }
}

TEST_CASE("matrix over vector rate is one number of a chip, whichever block is asked") {
  for (const Chip& chip : library().chips()) {
    CAPTURE(chip.id);
    std::set<double> values;
    for (const char* block : {"ridge", "gpu-peak", "tpu-peak"}) {
      const auto asked = ask(block, {"chip=" + chip.id});
      REQUIRE(asked.ok());
      const BlockAnswer* a = asked->find("matmul_to_vector");
      if (!a->is_absent()) values.insert(a->numbers.front());
    }
    CHECK(values.size() <= 1);
  }
}

TEST_CASE("parameters of every model are the engine's, in every block that has them") {
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    const TransformerShape& model = *library().find_model(row.id);
    const Parameters<double> p = count_parameters(make_model_dims<double>(model, nullptr));
    const auto params = ask("params", {"model=" + row.id});
    CHECK(number(params, "total") == p.total);
    CHECK(number(params, "active") == p.active);
    CHECK(number(params, "attention") == p.attention);
    CHECK(number(params, "mlp") == p.mlp);
    CHECK(number(params, "vocab") == p.vocab);
    for (const BuildingBlock& block : blocks()) {
      BlockCall call(block);
      call.complete(nullptr, &model);
      CAPTURE(std::string(block.id));
      // What a token does again, it does with the parameters it passes through.
      const double expected = block.id == "activations" || block.id == "flops" ? p.active : p.total;
      if (block.find_input("parameters") != nullptr) CHECK(call.number("parameters") == expected);
      if (block.find_input("active_parameters") != nullptr) CHECK(call.number("active_parameters") == p.active);
    }
    if (!model.is_moe()) continue;
    const auto moe = ask("moe", {"model=" + row.id});
    CHECK(number(moe, "total") == p.total);
    CHECK(number(moe, "active") == p.active);
    CHECK(number(moe, "expert") == p.expert);
  }
}

TEST_CASE("FLOPs of a token of every model are the engine's, in every block and convention") {
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    const TransformerShape& model = *library().find_model(row.id);
    for (const int tokens : {512, 4096, 131072}) {
      const Inputs<double> in = inputs_of(model, tokens);
      const Parameters<double> p = count_parameters(in.model);
      const std::string length = "sequence_length=" + std::to_string(tokens);
      CHECK(number(ask("flops", {"model=" + row.id, length}), "per_token") ==
            training_flops_per_token(in, p, FlopsConvention::exact));
      CHECK(number(ask("flops", {"model=" + row.id, length, "causal=true"}), "per_token") ==
            training_flops_per_token(in, p, FlopsConvention::exact_causal));
      CHECK(number(ask("flops", {"model=" + row.id, length}), "attention_per_token") ==
            attention_flops_per_token(in, FlopsConvention::exact));
      const double six_p = training_flops_per_token(in, p, FlopsConvention::six_p);
      CHECK(number(ask("params", {"model=" + row.id}), "flops_per_token") == six_p);
      CHECK(number(ask("run", {"model=" + row.id}), "flops_per_token") == six_p);
      if (model.is_moe()) CHECK(number(ask("moe", {"model=" + row.id}), "flops_per_token") == six_p);
    }
  }
}

TEST_CASE("the KV cache of every model is the engine's, windows and latents included") {
  for (const io::Preset& row : library().list(io::PresetKind::model)) {
    CAPTURE(row.id);
    const ModelDims<double> dims = make_model_dims<double>(*library().find_model(row.id), nullptr);
    for (const int tokens : {512, 8192, 131072}) {
      const double expected = kv_cache_bytes_per_token(dims, 2.0, static_cast<double>(tokens));
      const std::string n = std::to_string(tokens);
      const auto cache = ask("kv-cache", {"model=" + row.id, "sequence_length=" + n});
      CHECK(number(cache, "bytes_per_token") == expected);
      CHECK(number(cache, "bytes") == expected * tokens);
      CHECK(number(ask("decode", {"model=" + row.id, "context=" + n}), "kv_bytes_per_sequence") == expected * tokens);
      CHECK(number(ask("serving-capacity", {"model=" + row.id, "context=" + n}), "kv_bytes_per_sequence") ==
            expected * tokens);
      CHECK(number(ask("prefill", {"model=" + row.id, "tokens=" + n}), "kv_bytes") == expected * tokens);
    }
  }
}

TEST_CASE("every reason for an absent answer has words") {
  std::ifstream file(test::source_dir() / "assets/strings/en.json");
  const auto texts = nlohmann::json::parse(file);
  for (const BuildingBlock& block : blocks())
    for (const bool chip : {false, true}) {
      std::vector<std::string> typed = plain_inputs(block, chip && block.takes_chip(), false);
      if (chip && block.takes_chip()) typed.emplace_back("chip=tpu-v5e");
      const auto asked = ask(block.id, typed);
      if (!asked.ok()) continue;
      for (const BlockAnswer& a : asked->answers)
        if (!a.reason.empty()) CHECK_MESSAGE(texts.contains("calc.absent." + std::string(a.reason)), a.reason);
    }
}
