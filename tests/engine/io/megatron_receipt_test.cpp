// What a receipt says of the flags of a line of Megatron-LM: read, counted so anyway, not modelled, without effect or
// not understood; and what is noted beside.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/io/import/import_launch.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

using namespace roofscape;

namespace {

// Of a small model on 8 H100.
io::Imported megatron_line(std::string_view more) {
  auto out = io::import_launch(
      fmt::format(
          "torchrun pretrain_gpt.py --num-layers 16 --hidden-size 64 --num-attention-heads 4 --vocab-size 512 "
          "--seq-length 128 --max-position-embeddings 128 --micro-batch-size 1 --global-batch-size 16 {}",
          more),
      "run.sh", {"h100-sxm:8", {}}, test::shipped());
  REQUIRE_MESSAGE(out.ok(), more);
  return std::move(out).value();
}

// Why each flag was left out.
std::map<std::string, std::string> reasons(const io::Imported& read) {
  std::map<std::string, std::string> why;
  for (const io::IgnoredKey& row : read.ignored) why[row.key] = row.why.key;
  return why;
}

bool notes_reduction(const io::Imported& read) {
  return std::ranges::any_of(read.notices,
                             [](const io::ImportNotice& note) { return note.text.key == "import.not_overlapped"; });
}

TEST_CASE("weights that torch's FSDP keeps from forward to backward are stage 2 in a line of Megatron-LM") {
  for (const auto& [flag, stage] : {std::pair{"", 3}, {" --no-torch-fsdp2-reshard-after-forward", 2}})
    CHECK(megatron_line(std::string("--use-torch-fsdp2") + flag).scenario.parallelism.zero_stage == stage);
}

TEST_CASE("the mapping of ranks with stages before data is read from a line of Megatron-LM") {
  CHECK(megatron_line("").scenario.placement.order == engine::RankOrder::automatic);
  const auto read = megatron_line("--use-tp-pp-dp-mapping --pipeline-model-parallel-size 2");
  CHECK(read.scenario.placement.order == engine::RankOrder::data_last);
  CHECK(std::ranges::any_of(read.read, [](const io::ReadValue& row) {
    return row.key == "--use-tp-pp-dp-mapping" && row.field == "placement.order";
  }));
}

TEST_CASE("an expert's capacity is not modelled, and no receipt says that it has no effect") {
  const auto read = megatron_line(
      "--num-experts 8 --moe-router-topk 2 --moe-expert-capacity-factor 1.25 --moe-pad-expert-input-to-capacity");
  int told = 0;
  for (const io::IgnoredKey& row : read.ignored)
    if (row.key.find("capacity") != std::string::npos) told += row.why.key == "import.ignored.not_modelled" ? 1 : 100;
  CHECK(told == 2);
}

TEST_CASE("a flag that turns off what is read is not said to have no effect, others of this form are") {
  auto why = reasons(
      megatron_line("--sequence-parallel --no-sequence-parallel --no-use-distributed-optimizer --no-save-rng"));
  CHECK(why["--no-save-rng"] == "import.why.no_effect");
  CHECK(why["--no-sequence-parallel"] == "import.why.not_understood");
  CHECK(why["--no-use-distributed-optimizer"] == "import.why.not_understood");
}

TEST_CASE("gradients that wait for the backward pass are noted where several ranks reduce any") {
  CHECK(notes_reduction(megatron_line("--tensor-model-parallel-size 4")));
  CHECK(!notes_reduction(megatron_line("--tensor-model-parallel-size 8")));
  CHECK(!notes_reduction(megatron_line("--tensor-model-parallel-size 4 --use-torch-fsdp2")));
  CHECK(!notes_reduction(megatron_line("--tensor-model-parallel-size 4 --overlap-grad-reduce --tp-comm-overlap")));
}

TEST_CASE("a last group of microbatches that Megatron-LM refuses is noted, unless the groups are stated") {
  const auto note = [](const std::string& more) {
    const auto read = io::import_launch(
        "torchrun pretrain_gpt.py --num-layers 16 --hidden-size 64 --num-attention-heads 4 --vocab-size 512 "
        "--seq-length 128 --max-position-embeddings 128 --micro-batch-size 1 --pipeline-model-parallel-size 4 "
        "--num-virtual-stages-per-pipeline-rank 2 " +
            more,
        "run.sh", {"h100-sxm:8", {}}, test::shipped());
    REQUIRE(read.ok());
    std::string text;
    for (const io::ImportNotice& one : read->notices)
      if (one.text.key == "import.last_group") text = test::in_english(one.text);
    return text;
  };
  CHECK(
      note("--global-batch-size 20") ==
      "10 microbatches in groups of 4, the default, leave a last group of 2, which Megatron-LM refuses to run; here "
      "groups are of 5");
  CHECK(note("--global-batch-size 20 --microbatch-group-size-per-virtual-pipeline-stage 5").empty());
  CHECK(note("--global-batch-size 24").empty());
}

TEST_CASE("flags of overlap, on or off, are said to be what an assumption stands for") {
  auto why = reasons(megatron_line(
      "--overlap-grad-reduce --no-overlap-param-gather --tp-comm-overlap --async-tensor-model-parallel-allreduce "
      "--no-async-tensor-model-parallel-allreduce --no-delay-grad-reduce"));
  CHECK(why.size() == 6);
  for (const auto& row : why) CHECK_MESSAGE(row.second == "import.ignored.overlap", row.first);
}

TEST_CASE("kernels and dropout are not modelled in a line of Megatron-LM, logs and seeds have no effect") {
  auto why = reasons(
      megatron_line("--attention-dropout 0.1 --hidden-dropout 0 --cuda-graph-scope full --no-bias-swiglu-fusion "
                    "--num-experts 8 --moe-token-dispatcher-type allgather --moe-grouped-gemm "
                    "--log-interval 10 --seed 1 --no-save-rng --adam-eps 1e-8"));
  for (const char* flag :
       {"--attention-dropout", "--cuda-graph-scope", "--no-bias-swiglu-fusion", "--moe-token-dispatcher-type"})
    CHECK_MESSAGE(why[flag] == "import.ignored.not_modelled", flag);
  CHECK(why["--moe-grouped-gemm"] == "import.ignored.as_counted");
  for (const char* flag : {"--hidden-dropout", "--log-interval", "--seed", "--no-save-rng", "--adam-eps"})
    CHECK_MESSAGE(why[flag] == "import.why.no_effect", flag);
}

TEST_CASE("moments, sinks and offloaded layers of Megatron-LM are read, and what is only near is said to be") {
  const auto read = [](std::string_view more) {
    io::Imported out =
        megatron_line(fmt::format("--bf16 --use-distributed-optimizer --overlap-grad-reduce {}", more));
    CHECK(std::ranges::none_of(out.ignored,
                               [](const io::IgnoredKey& row) { return row.why.key == "import.why.not_understood"; }));
    return out;
  };
  const std::string moments = "--use-precision-aware-optimizer --exp-avg-dtype bf16 ";
  const auto both = read(moments + "--exp-avg-sq-dtype bf16");
  CHECK(both.scenario.precision.optimizer == engine::OptimizerKind::adam_bf16);
  CHECK(both.notices.empty());
  CHECK(read(moments).notices.size() == 1);
  CHECK(read("--softmax-type learnable").scenario.model.attn_sinks);
  CHECK(!read("--softmax-type off-by-one").scenario.model.attn_sinks);
  const auto all = read("--cpu-offloading --cpu-offloading-num-layers 15");
  CHECK(all.scenario.offload.activations);
  CHECK(all.notices.empty());
  CHECK(read("--cpu-offloading --cpu-offloading-num-layers 4").notices.size() == 1);
}

TEST_CASE("the offloaded share of the optimizer is read, and where none is stated Megatron-LM's default is all") {
  const auto read = [](std::string_view more) {
    return megatron_line(fmt::format("--bf16 --use-distributed-optimizer --overlap-grad-reduce {}", more));
  };
  const io::Imported half = read("--optimizer-cpu-offload --optimizer-offload-fraction 0.5");
  CHECK(half.scenario.offload.optimizer);
  CHECK(half.scenario.offload.optimizer_fraction == 0.5);
  CHECK(half.notices.empty());
  CHECK(read("--optimizer-cpu-offload").scenario.offload.optimizer_fraction == 1);
}

TEST_CASE(
    "gradients and master weights of the optimizer that takes other formats are read, unless another flag decides") {
  using engine::Dtype;
  const std::string aware = "--bf16 --use-distributed-optimizer --use-precision-aware-optimizer ";
  const auto read = [&aware](std::string_view more) { return megatron_line(fmt::format("{}{}", aware, more)); };
  const auto both = read("--main-grads-dtype bf16 --main-params-dtype fp16");
  CHECK(both.scenario.precision.gradients == Dtype::bf16);
  CHECK(both.scenario.precision.master_weights == Dtype::fp16);
  CHECK(both.ignored.empty());
  CHECK(read("").scenario.precision.gradients == Dtype::fp32);
  CHECK(read("").scenario.precision.master_weights == Dtype::fp32);
  const auto decided = read("--main-grads-dtype fp32 --grad-reduce-in-bf16");
  CHECK(decided.scenario.precision.gradients == Dtype::bf16);
  CHECK(std::ranges::count_if(decided.read,
                              [](const io::ReadValue& row) { return row.field == "precision.gradients"; }) == 2);
}

TEST_CASE("what a script is given itself is no value of a flag of Megatron-LM") {
  const auto read = megatron_line("--tensor-model-parallel-size 2 --sequence-parallel ${@}");
  CHECK(read.scenario.parallelism.sequence_parallel);
  CHECK(std::ranges::none_of(read.read,
                             [](const io::ReadValue& row) { return row.value.find('$') != std::string::npos; }));
}

TEST_CASE("stages that wait while they send are read from the flag, where there are stages") {
  const auto sends = [](const std::string& more) { return megatron_line(more).scenario.pipeline.sends; };
  using engine::StageSends;
  const std::string interleaved = "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2";
  CHECK(sends(interleaved) == StageSends::by_schedule);
  CHECK(sends(interleaved + " --no-overlap-p2p-communication") == StageSends::blocking);
  CHECK(sends("--no-overlap-p2p-communication") == StageSends::by_schedule);
}

}  // namespace
