// Scenarios from text and back, and single fields.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/io/scenario/order_json.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using test::error_of;
using test::read;
using test::shipped;

engine::Scenario preset(const std::string& id) {
  auto scenario = io::load_scenario(id, shipped());
  REQUIRE_MESSAGE(scenario.ok(), (scenario ? "" : test::in_english(scenario.error())));
  return std::move(scenario).value();
}

// Some value of the field's domain that is not the present one.
double another_value(const engine::Field& field, double now) {
  if (field.kind == engine::FieldKind::number)
    return now == field.maximum ? field.minimum : (now + field.maximum) / 2;
  for (const double candidate : {field.minimum, field.minimum + 1, field.minimum + 2, field.maximum})
    if (candidate != now && engine::in_domain(field, candidate)) return candidate;
  return now;
}

TEST_CASE("every shipped scenario is read, written and read again as the same scenario") {
  for (const io::Preset& entry : shipped().list(io::PresetKind::scenario)) {
    CAPTURE(entry.id);
    const engine::Scenario scenario = preset(entry.id);
    const std::string text = io::write_scenario(scenario, shipped());
    const auto again = io::read_scenario(text, "again.json", shipped());
    REQUIRE_MESSAGE(again.ok(), (again ? "" : test::in_english(again.error())));
    CHECK(again.value() == scenario);
    CHECK(io::write_scenario(again.value(), shipped()) == text);
  }
}

TEST_CASE("the window starts on a published run, in calibrated mode") {
  const engine::Scenario s = preset(std::string(io::kStartScenario));
  CHECK(s.model.id == "llama3-405b");
  CHECK(s.cluster.chip.id == "h100-sxm");
  CHECK(s.workload.sequence_length == 8192);
  CHECK_FALSE(s.source.empty());
  CHECK(s.assumptions.mode == engine::Mode::calibrated);
}

TEST_CASE("the presets of published runs are calibrated, the book's are ideal") {
  for (const char* id :
       {"llama3-405b-16k-h100-8k", "llama3-405b-16k-h100", "deepseek-v3-2048-h800", "gpt3-175b-1024-a100"}) {
    CAPTURE(id);
    CHECK(preset(id).assumptions.mode == engine::Mode::calibrated);
  }
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-70b-v5p-4-pods", "llama2-13b-16-v5e", "llama3-70b-16-v5e"}) {
    CAPTURE(id);
    CHECK(preset(id).assumptions.mode == engine::Mode::ideal);
  }
}

TEST_CASE("a scenario holds what its file says") {
  const engine::Scenario s = preset("llama3-70b-v5p-pod");
  CHECK(s.name == "LLaMA-3 70B on one v5p pod");
  CHECK(s.model.id == "llama3-70b");
  CHECK(s.cluster.chip.id == "tpu-v5p");
  CHECK(s.cluster.slice == std::array<int, 3>{16, 20, 28});
  CHECK(engine::chip_count(s.cluster) == 8960);
  CHECK(s.workload.train_tokens == 15e12);
  CHECK(s.parallelism.fsdp == 1024);
  CHECK(s.parallelism.sequence_parallel);
  CHECK(s.placement == engine::Placement{});  // left free: fsdp takes two axes, tensor one
  CHECK(s.checkpointing.policy == engine::CheckpointPolicy::k_per_layer);
  CHECK(s.precision.gradients == engine::Dtype::none);
  CHECK(s.assumptions.flops == engine::FlopsConvention::six_p);
}

TEST_CASE("a preset that was not changed is written by its id, a changed one in full") {
  engine::Scenario s = preset("llama3-405b-16k-h100");
  CHECK(io::write_scenario(s, shipped()).find("\"model\": \"llama3-405b\"") != std::string::npos);
  s.model.n_layers = 7;
  s.cluster.chip[engine::ChipField::hbm_bytes] = {141e9, "a better one"};
  const std::string text = io::write_scenario(s, shipped());
  CHECK(text.find("\"n_layers\": 7") != std::string::npos);
  const auto again = io::read_scenario(text, "again.json", shipped());
  REQUIRE(again.ok());
  CHECK(again.value() == s);
}

TEST_CASE("every field that --set sets is read back, through a written file too") {
  for (const char* id : {"llama3-70b-v5p-pod", "llama3-405b-16k-h100"}) {
    const engine::Scenario before = preset(id);
    const bool torus = before.cluster.chip.interconnect == engine::Interconnect::torus;
    for (const engine::Field& field : engine::scenario_fields()) {
      if (field.path.starts_with("cluster.slice") && !torus) continue;
      if (field.path.starts_with("cluster.node") && torus) continue;
      engine::Scenario after = before;
      const double value = another_value(field, field.get(before));
      std::string text = std::to_string(value);
      if (field.kind == engine::FieldKind::choice) text = field.choices[static_cast<std::size_t>(value)];
      if (field.kind == engine::FieldKind::boolean) text = value != 0 ? "true" : "false";
      CAPTURE(field.path);
      CAPTURE(text);
      const auto error = io::set_field(after, std::string(field.path) + "=" + text, shipped());
      CHECK_MESSAGE(!error, (error ? test::in_english(*error) : ""));
      CHECK(field.get(after) == doctest::Approx(value).epsilon(1e-6));
      const auto again = io::read_scenario(io::write_scenario(after, shipped()), "again.json", shipped());
      REQUIRE_MESSAGE(again.ok(), (again ? "" : test::in_english(again.error())));
      CHECK(again.value() == after);
    }
  }
}

TEST_CASE("--set knows name, model, cluster, chip and slice") {
  engine::Scenario s = preset("llama3-70b-v5p-pod");
  const auto set = [&](const char* text) {
    const auto error = io::set_field(s, text, shipped());
    CHECK_MESSAGE(!error, (error ? test::in_english(*error) : ""));
  };
  set("name=\xED\x95\x9C\xEA\xB5\xAD, a=b");
  CHECK(s.name == "\xED\x95\x9C\xEA\xB5\xAD, a=b");
  set("model=llama3-8b");
  CHECK(s.model.n_layers == 32);
  set("cluster.slice=4x4x8");
  CHECK(s.cluster.slice == std::array<int, 3>{4, 4, 8});
  set("cluster.slice.2=12");
  CHECK(s.cluster.slice == std::array<int, 3>{4, 4, 12});
  set("cluster.chip=h100-sxm");
  CHECK(s.cluster.nodes == 24);  // 192 chips in nodes of 8
  CHECK(s.cluster.slice == std::array<int, 3>{1, 1, 1});
  set("cluster.chips=64");
  CHECK(s.cluster.nodes == 8);
  set("cluster.chip.hbm_bytes=141e9");
  CHECK(s.cluster.chip[engine::ChipField::hbm_bytes].value == 141e9);
  set("cluster=tpu-v5p-pod");
  CHECK(engine::chip_count(s.cluster) == 8960);
}

TEST_CASE("an assignment that is wrong says why and changes nothing") {
  const engine::Scenario before = preset("llama3-70b-v5p-pod");
  struct Case {
    const char *assignment, *answer;
  };
  const Case cases[] = {
      {"parallelism.tensor=0", "parallelism.tensor: 0 is out of range; give a whole number from 1 to 1024"},
      {"parallelism.tensor=-4", "parallelism.tensor: -4 is out of range; give a whole number from 1 to 1024"},
      {"parallelism.tensor=2.5", "parallelism.tensor: 2.5 is not a whole number; give a whole number from 1 to 1024"},
      {"parallelism.tensor=1e300", "parallelism.tensor: 1e+300 is out of range; give a whole number from 1 to 1024"},
      {"parallelism.tensor=1e999",
       "parallelism.tensor: \"1e999\" is too large or too small to compute with; give a whole number from 1 to 1024"},
      {"parallelism.tensor=inf", "parallelism.tensor: \"inf\" is not a number; give a whole number from 1 to 1024"},
      {"parallelism.tensor=", "parallelism.tensor: \"\" is not a number; give a whole number from 1 to 1024"},
      {"parallelism.tensor=true", "parallelism.tensor: \"true\" is not a number; give a whole number from 1 to 1024"},
      {"parallelism.tensor=8 GB",
       "parallelism.tensor: \"8 GB\" is an amount of bytes; give a whole number from 1 to 1024"},
      {"parallelism.tensr=8", "parallelism.tensr: unknown field; did you mean \"parallelism.tensor\"?"},
      {"tensro=8", "tensro: unknown field; did you mean \"parallelism.tensor\"?"},
      {"parallelism=8", "parallelism: is a group of fields, not a field; write parallelism.data=..."},
      {"workload.slo.ttft_s=-1", "workload.slo.ttft_s: -1 is out of range; give a number from 0 to 1e+06"},
      {"workload.slo.time_per_output_token_s=soon",
       "workload.slo.time_per_output_token_s: \"soon\" is not a number; give a time, such as 500 ms or 2 s; a number "
       "from 0 to 1e+06 s"},
      {"assumptions.stated_mfu=x",
       "assumptions.stated_mfu: \"x\" is not a number; give a share, such as 40 % or 0.4; a number from 0.001 to 1"},
      {"workload.slo.ttft=1", "workload.slo.ttft: unknown field; did you mean \"workload.slo.ttft_s\"?"},
      {"workload.slo=1", "workload.slo: is a group of fields, not a field; write workload.slo.ttft_s=..."},
      {"assumptions.parameters=stated",
       "assumptions.parameters: \"stated\" is not possible here; give one of: counted published"},
      {"checkpointing.policy=selective",
       "checkpointing.policy: \"selective\" is not possible here; did you mean \"attention\"? It is one of: none "
       "attention big_matmuls "
       "k_per_layer block some_blocks segments segments_minimal"},
      {"foo.bar=1", "foo.bar: unknown field"},
      {"=1", "\"=1\" is no assignment; write path=value, such as parallelism.tensor=8"},
      {"parallelism.tensor",
       "\"parallelism.tensor\" is no assignment; write path=value, such as parallelism.tensor=8"},
      {"model=llama3-70c", "model: no model preset is called \"llama3-70c\"; did you mean \"llama3-70b\"?"},
      {"cluster.chip=tpu-v5pp", "cluster.chip: no chip preset is called \"tpu-v5pp\"; did you mean \"tpu-v5p\"?"},
      {"cluster.nodes=4", "cluster.nodes: does not apply to chips on a torus; give \"slice\" and \"slices\""},
      {"cluster.slice=4x4x4x4",
       "cluster.slice: is a list of 4; give the chips along each torus axis as a list of one to three whole numbers"},
      {"cluster.chip.hbm=1e9", "cluster.chip.hbm: unknown field; did you mean \"hbm_bytes\"?"},
      {"precision.compute=none",
       "precision.compute: \"none\" is not possible here; give one of: fp8 bf16 fp16 fp32 int8 int4 nvfp4 mxfp4"},
  };
  for (const Case& c : cases) {
    engine::Scenario s = before;
    const auto error = io::set_field(s, c.assignment, shipped());
    REQUIRE_MESSAGE(error, c.assignment);
    CHECK(test::in_english(*error) == c.answer);
    CHECK(s == before);
  }
}

TEST_CASE("fields left out have their defaults") {
  const auto empty = read("{}");
  REQUIRE(empty.ok());
  CHECK(empty->model.id == io::kDefaultModel);
  CHECK(engine::chip_count(empty->cluster) == 8960);
  CHECK(empty->parallelism == engine::Parallelism{});
  const auto gpu = read(R"({"cluster": {"chip": "h100-sxm", "chips": 64}})");
  REQUIRE(gpu.ok());
  CHECK(gpu->cluster.nodes == 8);
  CHECK(gpu->cluster.node_size == 8);
  const auto flat = read(R"({"cluster": {"chip": "tpu-v5p", "slice": [4, 8]}})");
  REQUIRE(flat.ok());
  CHECK(flat->cluster.slice == std::array<int, 3>{4, 8, 1});
}

TEST_CASE("layers per stage are set, written, read again, and dealt again") {
  engine::Scenario s = preset("llama3-405b-16k-h100-8k");
  CHECK_FALSE(io::set_field(s, "parallelism.pipeline=4", shipped()));
  CHECK_FALSE(io::set_field(s, "pipeline.virtual_stages=1", shipped()));
  CHECK_FALSE(io::set_field(s, "pipeline.schedule=1f1b", shipped()));
  CHECK_FALSE(io::set_field(s, "pipeline.layers_per_stage=32,33,33,28", shipped()));
  CHECK(s.pipeline.layers_per_stage == std::vector<int>{32, 33, 33, 28});
  const auto again = read(io::write_scenario(s, shipped()));
  REQUIRE(again.ok());
  CHECK(again.value().pipeline.layers_per_stage == s.pipeline.layers_per_stage);
  CHECK_FALSE(io::set_field(s, "pipeline.layers_per_stage=even", shipped()));
  CHECK(s.pipeline.layers_per_stage.empty());
  CHECK_FALSE(io::set_field(s, "pipeline.layers_by_hand=true", shipped()));
  CHECK(s.pipeline.layers_per_stage == std::vector<int>{31, 32, 32, 31});
}

TEST_CASE("wrong layers per stage are answered with one line: path, fault, remedy") {
  const auto answer = [](const std::string& layers) {
    return error_of(R"({"pipeline": {"layers_per_stage": )" + layers + "}}");
  };
  CHECK(answer("8") == "s.json: pipeline.layers_per_stage: 8 is not a list; list the layers of each virtual stage");
  CHECK(answer("[8, -1]") ==
        "s.json: pipeline.layers_per_stage.1: -1 is no number of layers; give a whole number from 0 to 10000");
  CHECK(answer("[8, 2.5]") ==
        "s.json: pipeline.layers_per_stage.1: 2.5 is no number of layers; give a whole number from 0 to 10000");
  CHECK(answer(R"([8, "x"])") ==
        "s.json: pipeline.layers_per_stage.1: \"x\" is no number of layers; give a whole number from 0 to 10000");
  engine::Scenario s = preset("llama3-8b-8-h100");
  const auto failure = io::set_field(s, "pipeline.layers_per_stage=8,x", shipped());
  REQUIRE(failure);
  CHECK(test::in_english(*failure) ==
        "pipeline.layers_per_stage: \"8,x\" is not a list of numbers; write the layers of each virtual stage as "
        "8,8,9,8, as Megatron-LM's layout, or even");
}

TEST_CASE("an order of operations is read, written and read again, a row a device") {
  const auto s = read(R"({"pipeline": {"order": ["0F0,0F1,0B0,0B1", "1F0,1B0,1F1,1B1"], "schedule": "eager-1f1b"}})");
  REQUIRE(s.ok());
  REQUIRE(s->pipeline.order);
  CHECK(s->pipeline.order->kind == engine::ScheduleKind::eager_1f1b);
  CHECK(s->pipeline.order->csv == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  const std::string written = io::write_scenario(s.value(), shipped());
  CHECK(written.find("given_order") == std::string::npos);
  const auto again = read(written);
  REQUIRE(again.ok());
  CHECK(again.value() == s.value());
}

TEST_CASE("an order keeps the schedule it stands for when the plan takes another") {
  using engine::ScheduleKind;
  const auto s = read(R"({"pipeline": {"order": ["0F0,0F1,0B0,0B1", "1F0,1B0,1F1,1B1"], "schedule": "eager-1f1b"}})");
  REQUIRE(s.ok());
  CHECK(io::write_scenario(s.value(), shipped()).find("order_schedule") == std::string::npos);
  for (const ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::zb_h1, ScheduleKind::dualpipe}) {
    engine::Scenario other = s.value();
    other.pipeline.schedule = kind;
    const auto again = read(io::write_scenario(other, shipped()));
    REQUIRE(again.ok());
    CHECK(again.value() == other);
    CHECK(again->pipeline.order->kind == ScheduleKind::eager_1f1b);
  }
}

TEST_CASE("what an order stands for is checked: it stands beside an order, and can run it") {
  CHECK(error_of(R"({"pipeline": {"order_schedule": "gpipe"}})") ==
        "s.json: pipeline.order_schedule: stands without \"order\"; give both or neither");
  CHECK(error_of(R"({"pipeline": {"order": ["0F0,0B0"], "order_schedule": "dualpipev"}})") ==
        "s.json: pipeline.order_schedule: the order is none that \"dualpipev\" could run; give \"1f1b\"");
  CHECK(error_of(R"({"pipeline": {"order": ["0F0,0B0"], "order_schedule": 3}})")
            .starts_with("s.json: pipeline.order_schedule: 3 is not a text; give "));
}

TEST_CASE("what stands in a scenario's file only is not offered as its own correction") {
  engine::Scenario s;
  for (const std::string path : {"source", "made_from", "version", "pipeline.order_schedule"}) {
    const auto failure = io::set_field(s, path + "=x", shipped());
    REQUIRE(failure);
    CHECK(test::in_english(*failure) == path + ": unknown field; it is written in the scenario's file only");
  }
}

TEST_CASE("an order comes from a file by its path, with its schedule and chunks, and goes with none") {
  const test::TemporaryFolder folder;
  folder.write("order.csv", "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n1F0,1F1,3F0,3B0,3F1,3B1,1B0,1B1\n");
  const std::string file = (folder.path() / "order.csv").string();
  engine::Scenario s = preset("llama3-8b-8-h100");
  REQUIRE_FALSE(io::set_field(s, "pipeline.order=" + file, shipped()));
  REQUIRE(s.pipeline.order);
  CHECK(s.pipeline.schedule == engine::ScheduleKind::interleaved_1f1b);
  CHECK(s.pipeline.virtual_stages == 2);
  CHECK_FALSE(io::set_field(s, "pipeline.order=none", shipped()));
  CHECK_FALSE(s.pipeline.order);
}

TEST_CASE("a wrong order is answered with one line: path or file, row and column, fault") {
  const auto answer = [](const std::string& order) { return error_of(R"({"pipeline": {"order": )" + order + "}}"); };
  constexpr const char* kCells = "; a row lists the operations of one device in the order in which it runs them";
  CHECK(answer("8") ==
        "s.json: pipeline.order: 8 is not a list; list the operations of each device as one text, such as "
        "\"0F0,0F1,0B0,0B1\"");
  CHECK(answer(R"(["0F0,0B0", 1])") ==
        "s.json: pipeline.order.1: 1 is not a text; list the operations of each device as one text, such as "
        "\"0F0,0F1,0B0,0B1\"");
  CHECK(answer(R"(["0F0,0B0,0F0"])") ==
        "s.json: pipeline.order: row 1, column 3: 0F0 stands a second time, first in column 1" + std::string(kCells));
  CHECK(answer("[]") ==
        "s.json: pipeline.order: row 1, column 1: no operation stands in the file" + std::string(kCells));
  const test::TemporaryFolder folder;
  folder.write("order.csv", "0F0,0X0\n");
  engine::Scenario s = preset("llama3-8b-8-h100");
  const std::string file = (folder.path() / "order.csv").string();
  const auto failure = io::set_field(s, "pipeline.order=" + file, shipped());
  REQUIRE(failure);
  CHECK(test::in_english(*failure) ==
        "pipeline.order: \"" + file +
            "\": row 1, column 2: \"0X0\" is no operation; such as 2F0: stage, one of F B I W, microbatch" + kCells);
  CHECK(s == preset("llama3-8b-8-h100"));
  const auto missing = io::set_field(s, "pipeline.order=" + file + "x", shipped());
  REQUIRE(missing);
  CHECK(test::in_english(*missing) ==
        "pipeline.order: \"" + file +
            "x\": there is no such file; give a CSV file, none, zb-1p, zb-2p, zb-fit, zb-v-fit, v-half or v-min");
}

TEST_CASE("an order is made for the plan as it is set so far, or it is said why none can be") {
  engine::Scenario s = preset("gpt3-175b-1024-a100");
  REQUIRE_FALSE(io::set_field(s, "pipeline.order=zb-1p", shipped()));
  CHECK(s.pipeline.order);
  CHECK(s.pipeline.schedule == engine::ScheduleKind::zb_h1);
  CHECK(s.pipeline.virtual_stages == 1);
  engine::Scenario whole = preset("llama3-8b-8-h100");
  const auto failure = io::set_field(whole, "pipeline.order=zb-fit", shipped());
  REQUIRE(failure);
  CHECK(test::in_english(*failure) ==
        "pipeline.order: \"zb-fit\" makes no order of this plan; set parallelism.pipeline first, to 2 or more");
  CHECK(whole == preset("llama3-8b-8-h100"));
  engine::Scenario serving = preset("llama3-8b-serving-8-h100");
  const auto refused = io::set_field(serving, "pipeline.order=zb-1p", shipped());
  REQUIRE(refused);
  CHECK(test::in_english(*refused) ==
        "pipeline.order: \"zb-1p\" makes no order of this plan; give a scenario whose workload.kind is training");
}

TEST_CASE("a file is known for an order by how it begins") {
  for (const char* order :
       {"0F0,0B0", ",,1F0", "\"0F0\",1", "(0F1;1B0)OVERLAP_F_B", "0UNSHARD,0F0", "1RECV_F0", "\n0F0"})
    CHECK(io::is_order_csv(order));
  for (const char* other : {"", "{}", "name,flops", "F0", "12", "a,0F0", "0,1"}) CHECK_FALSE(io::is_order_csv(other));
}

TEST_CASE("the levels of a fabric are read, written and read again") {
  const auto s = read(R"({"cluster": {"chip": "h100-sxm", "nodes": 64, "fabric": [
    {"name": "leaf", "degree": 32, "bytes_per_s_per_child": 400e9, "in_network_reduction": true},
    {"degree": 2, "bytes_per_s_per_child": 1.28e13}]}})");
  REQUIRE(s.ok());
  const std::vector<engine::FabricLevel> expected{{"leaf", 32, 400e9, true}, {"", 2, 1.28e13, false}};
  CHECK(s->cluster.fabric == expected);
  const auto again = read(io::write_scenario(s.value(), shipped()));
  REQUIRE(again.ok());
  CHECK(again.value() == s.value());
  for (const char* id : {"dgx-h100-superpod-1024", "gb200-superpod-576", "meta-llama3-24k"}) {
    engine::Scenario large = preset("llama3-8b-8-h100");
    REQUIRE(!io::set_field(large, std::string("cluster=") + id, shipped()));
    CHECK(!large.cluster.fabric.empty());
    REQUIRE(!io::set_field(large, "cluster.nodes=4", shipped()));  // keeps the levels
    CHECK(!large.cluster.fabric.empty());
    REQUIRE(!io::set_field(large, "cluster.chip=tpu-v5p", shipped()));  // a torus has none
    CHECK(large.cluster.fabric.empty());
  }
}

TEST_CASE("a wrong fabric is answered with one line: path, fault, remedy") {
  const auto fault = [](std::string_view fabric) {
    return error_of(R"({"cluster": {"chip": "h100-sxm", "fabric": )" + std::string(fabric) + "}}");
  };
  CHECK(fault("3") ==
        "s.json: cluster.fabric: is a number; give the levels above the node, from below, as a list of at most four "
        "objects");
  CHECK(fault("[{},{},{},{},{}]") ==
        "s.json: cluster.fabric: is a list of 5; give the levels above the node, from below, as a list of at most "
        "four objects");
  CHECK(fault("[8]") ==
        "s.json: cluster.fabric.0: is a number; a level is an object of \"name\", \"degree\" and "
        "\"bytes_per_s_per_child\"");
  CHECK(
      fault(R"([{"degree": 8}])") ==
      "s.json: cluster.fabric.0.bytes_per_s_per_child: is missing; give the bandwidth of one child's link, one way");
  CHECK(fault(R"([{"degree": 0}])") ==
        "s.json: cluster.fabric.0.degree: 0 is out of range; give a whole number from 1 to 131072");
  CHECK(fault(R"([{"degre": 8}])") == "s.json: cluster.fabric.0.degre: unknown field; did you mean \"degree\"?");
  CHECK(fault(R"([{"degree": 8, "bytes_per_s_per_child": 0}])") ==
        "s.json: cluster.fabric.0.bytes_per_s_per_child: 0 is out of range; give a number from 1 to 1e18");
  CHECK(error_of(R"({"cluster": {"chip": "tpu-v5p", "fabric": []}})") ==
        "s.json: cluster.fabric: does not apply to chips on a torus; give \"slice\" and \"slices\"");
}

TEST_CASE("a scenario that is wrong is answered with one line: path, fault, remedy") {
  CHECK(error_of(R"({"paralellism": {"tensor": 4}})") ==
        "s.json: paralellism: unknown field; did you mean \"parallelism\"?");
  CHECK(error_of(R"({"parallelism": {"tensr": 4}})") ==
        "s.json: parallelism.tensr: unknown field; did you mean \"parallelism.tensor\"?");
  CHECK(error_of(R"({"tensor": 4})") == "s.json: tensor: unknown field; did you mean \"parallelism.tensor\"?");
  CHECK(error_of(R"({"parallelism.tensor": 4})") ==
        "s.json: parallelism.tensor: unknown field; write it nested, one object per step");
  CHECK(error_of(R"({"parallelism": {"tensor": 0}})") ==
        "s.json: parallelism.tensor: 0 is out of range; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"tensor": -8}})") ==
        "s.json: parallelism.tensor: -8 is out of range; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"tensor": 1.5}})") ==
        "s.json: parallelism.tensor: 1.5 is not a whole number; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"tensor": 1e300}})") ==
        "s.json: parallelism.tensor: 1e+300 is out of range; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"tensor": "8"}})") ==
        "s.json: parallelism.tensor: \"8\" is not a number; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"tensor": null}})") ==
        "s.json: parallelism.tensor: null is not a number; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"tensor": [8]}})") ==
        "s.json: parallelism.tensor: a list is not a number; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"parallelism": {"sequence_parallel": 1}})") ==
        "s.json: parallelism.sequence_parallel: 1 is not true or false; give true or false");
  CHECK(error_of(R"({"parallelism": 8})") == "s.json: parallelism: is a number; expected an object with its fields");
  CHECK(error_of(R"({"assumptions": {"mode": "idael"}})") ==
        "s.json: assumptions.mode: \"idael\" is not possible here; did you mean \"ideal\"? It is one of: ideal "
        "calibrated custom");
  CHECK(error_of(R"({"workload": {"train_tokens": 0}})") ==
        "s.json: workload.train_tokens: 0 is out of range; give a number from 1 to 1e+18");
  CHECK(error_of(R"({"model": "llama3-70bb"})") ==
        "s.json: model: no model preset is called \"llama3-70bb\"; did you mean \"llama3-70b\"?");
  CHECK(error_of(R"({"model": 70})") == "s.json: model: is a number; a model is a preset id or a JSON object");
  CHECK(error_of(R"({"model": {"n_layers": 2}})") ==
        "s.json: model.d_model: is missing; give a whole number from 1 to 1048576");
  CHECK(error_of(R"({"cluster": {"slice": [1]}})") ==
        "s.json: cluster.chip: is missing; name a chip, such as \"tpu-v5p\"");
  CHECK(error_of(R"({"cluster": {"chip": "tpu-v5p", "slice": [16, 0]}})") ==
        "s.json: cluster.slice.1: 0 is out of range; give a whole number from 1 to 1024");
  CHECK(error_of(R"({"cluster": {"chip": "h100-sxm", "slice": [16]}})") ==
        "s.json: cluster.slice: does not apply to chips in nodes; give \"nodes\" (or \"chips\") and \"node_size\"");
  CHECK(error_of(R"({"cluster": {"chip": "h100-sxm", "chips": 12}})") ==
        "s.json: cluster.chips: 12 does not fill whole nodes; give a whole number of nodes of 8 chips");
  CHECK(error_of(R"({"cluster": {"chip": {"interconnect": "torus", "hbm_bytes": {"value": -1}}}})") ==
        "s.json: cluster.chip.hbm_bytes: -1 is out of range; give a number above 0, or null if it is unknown");
  CHECK(error_of(R"({"format": "roofscape/scnario"})") ==
        "s.json: format: is \"roofscape/scnario\"; expected \"roofscape/scenario\"");
  CHECK(error_of(R"({"version": 2})") ==
        "s.json: version: 2 is newer than this program reads (1); use a newer Roofscape");
  CHECK(error_of(R"({"name": 3})") == "s.json: name: is a number, not a text; put it in quotation marks");
  CHECK(error_of("[]") == "s.json: is a list; a scenario is a JSON object");
}

TEST_CASE("every field of the table refuses the wrong type, and numbers out of domain") {
  for (const engine::Field& field : engine::scenario_fields()) {
    if (field.path.starts_with("model.") || field.path.starts_with("cluster.")) continue;
    CAPTURE(field.path);
    std::vector<std::string> values{"null",   "{}", "[]",        "\"\\u0000\"",       "1e300",
                                    "-1e300", "-1", "0.5000001", "4503599627370497.5"};
    if (field.kind != engine::FieldKind::boolean) values.push_back("true");
    for (const std::string& value : values) {
      if (field.kind == engine::FieldKind::number && value.find(".5") != std::string::npos)
        continue;  // may be inside
      std::string text = value;
      std::string_view path = field.path;
      while (true) {
        const std::size_t dot = path.rfind('.');
        text = "{\"" + std::string(path.substr(dot == std::string_view::npos ? 0 : dot + 1)) + "\": " + text + "}";
        if (dot == std::string_view::npos) break;
        path = path.substr(0, dot);
      }
      const std::string error = error_of(text);
      CHECK_MESSAGE(error.starts_with("s.json: " + std::string(field.path) + ": "), text << " gave: " << error);
    }
  }
}

TEST_CASE("model and chip may be files beside the scenario") {
  const test::TemporaryFolder folder;
  folder.write("mine.json",
               R"({"name": "Mine", "n_layers": 2, "d_model": 64, "d_ff": 128, "n_heads": 4, "vocab_size": 100})");
  const auto file = folder.write("s.json", R"({"model": "mine.json"})");
  const auto scenario = io::load_scenario(file.string(), shipped());
  REQUIRE_MESSAGE(scenario.ok(), (scenario ? "" : test::in_english(scenario.error())));
  CHECK(scenario->model.name == "Mine");
  CHECK(scenario->model.n_kv_heads == 4);
  CHECK(scenario->model.d_head == 16);
  const auto missing = io::load_scenario(folder.write("t.json", R"({"model": "other.json"})").string(), shipped());
  REQUIRE(!missing.ok());
  CHECK(missing.error().path == "model");
  CHECK(test::in_english(missing.error()).find("there is no such file") != std::string::npos);
}

TEST_CASE("a scenario that is neither preset nor file is answered with the nearest preset") {
  const auto error = io::load_scenario("llama3-70b-v5p-pud", shipped());
  REQUIRE(!error.ok());
  CHECK(test::in_english(error.error()) ==
        "llama3-70b-v5p-pud: there is no such file and no scenario preset of that name; did you mean "
        "\"llama3-70b-v5p-pod\"?");
}

}  // namespace
}  // namespace roofscape
