// What a real run left behind, laid over the prediction: log lines, kernel tables and traces made here by the formats' rules.
#include <doctest/doctest.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine/evaluate/evaluate.h"
#include "engine/io/measured/kernel_names.h"
#include "engine/io/measured/measured_input.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/studies/measured_run.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using engine::MeasuredCollective;
using engine::MeasuredRun;
using engine::WorkKind;

io::Result<MeasuredRun> read_all(const std::vector<std::string>& inputs, int steps = 1) {
  return io::read_measured_run(inputs, {steps, {}});
}
std::string refusal_of_run(const std::vector<std::string>& inputs) {
  const auto read = read_all(inputs);
  return read ? "" : io::to_text(read.error(), test::english());
}

// Events of a trace: kernels of the device, calls of the host and marks of steps, times in microseconds.
class TraceText {
 public:
  explicit TraceText(int rank = 0) : rank_(rank) {}
  void kernel(const std::string& name, double at, double length, const std::string& more = {}) {
    ++correlation_;
    add(R"("ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" + number(at) +
        R"(, "dur": )" + number(length) + R"(, "args": {"device": 0, "stream": 7, "correlation": )" +
        std::to_string(correlation_) + more + "}");
  }
  // The host's call that launches the next kernel, over at `end`.
  void launch(double end) {
    add(R"("ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": )" +
        number(end - 5) + R"(, "dur": 5, "args": {"correlation": )" + std::to_string(correlation_ + 1) + "}");
  }
  void step(int n, double at, double length, bool device = false) {
    add(std::string(R"("ph": "X", "cat": ")") + (device ? "gpu_user_annotation" : "user_annotation") +
        R"(", "name": "ProfilerStep#)" + std::to_string(n) + R"(", "pid": 1, "tid": 1, "ts": )" + number(at) +
        R"(, "dur": )" + number(length));
  }
  void memory(double allocated, double reserved) {
    add(R"("ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1,
      "args": {"Total Reserved": )" +
        number(reserved) + R"(, "Total Allocated": )" + number(allocated) +
        R"(, "Bytes": 512, "Device Id": 0, "Device Type": 1})");
  }
  std::string text() const {
    return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
      "distributedInfo": {"backend": "nccl", "rank": )" +
           std::to_string(rank_) + R"(, "world_size": 8}, "traceEvents": [)" + events_ + "]}";
  }

 private:
  static std::string number(double value) { return std::to_string(value); }
  void add(const std::string& event) { events_ += (events_.empty() ? "{" : ",\n{") + event + "}"; }
  int rank_;
  std::int64_t correlation_ = 0;
  std::string events_;
};

// One step of 1000 us: 400 of a product, 100 of attention, an AllGather of 300 of which 200 run alone, 50 of a norm, then
// a gap of 100 that the host takes 60 of, 50 of the optimizer, and nothing at the end.
TraceText one_step(int rank = 0, double gather = 300) {
  TraceText out(rank);
  out.step(3, 0, 1000);
  out.kernel("nvjet_hsh_128x256_64x4", 0, 400);
  out.kernel(
      "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 300, gather,
      R"(, "Collective name": "_allgather_base", "Process Group Name": "dp", "Process Group Ranks": "[0, 1]")");
  out.kernel("flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", 600, 100);
  out.kernel("void at::native::vectorized_layer_norm_kernel<float>(int)", 700, 50);
  out.launch(810);
  out.kernel("void multi_tensor_apply_kernel<FusedAdam>(long)", 850, 50);
  out.memory(40e9, 50e9);
  return out;
}

const engine::WorkTime& work(const MeasuredRun& run, WorkKind kind) {
  return run.kernels->work[static_cast<std::size_t>(kind)];
}
const engine::CollectiveTime& collective(const MeasuredRun& run, MeasuredCollective kind) {
  return run.kernels->collectives[static_cast<std::size_t>(kind)];
}
doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-9); }

engine::Scenario llama() { return io::load_scenario("llama3-8b-8-h100", test::shipped()).value(); }

TEST_CASE("a line of Megatron-LM's log gives step time and FLOP rate") {
  const auto run =
      read_all({" [2024-05-01 12:00:00] iteration      100/  500000 | consumed samples:       12800 | elapsed time "
                "per iteration "
                "(ms): 12345.6 | throughput per GPU (TFLOP/s/GPU): 412.3 | learning rate: 1.0E-04 | global batch "
                "size:   128 |"});
  REQUIRE(run.ok());
  CHECK(*run->step_s == about(12.3456));
  CHECK(*run->flops_per_chip_per_s == about(412.3e12));
  CHECK(run->log_steps == 1);
}

TEST_CASE("a line of torchtitan's log gives tokens a second, MFU and reserved memory") {
  const auto run =
      read_all({"[rank0]:2024-12-01 10:00:00,000 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  5.1  "
                "\x1b[33mmemory: 47.52GiB(50.02%)  \x1b[34mtps: 7,012  \x1b[36mtflops: 405.96  "
                "\x1b[35mmfu: 41.05%\x1b[39m"});
  REQUIRE(run.ok());
  CHECK_FALSE(run->step_s.has_value());
  CHECK(*run->tokens_per_chip_per_s == about(7012));
  CHECK(*run->flops_per_chip_per_s == about(405.96e12));
  CHECK(*run->mfu == about(0.4105));
  CHECK(*run->reserved_bytes == about(47.52 * 1024 * 1024 * 1024));
}

TEST_CASE("a line of MaxText's log gives step time, FLOP rate and tokens a second") {
  const auto run =
      read_all({"completed step: 10, seconds: 5.123, TFLOP/s/device: 201.1, Tokens/s/device: 4001.2, "
                "total_weights: 65536, loss: 8.1"});
  REQUIRE(run.ok());
  CHECK(*run->step_s == about(5.123));
  CHECK(*run->flops_per_chip_per_s == about(201.1e12));
  CHECK(*run->tokens_per_chip_per_s == about(4001.2));
}

TEST_CASE("a line of nanotron's log has its numbers with prefixes") {
  const auto run =
      read_all({"[1,0]: iteration: 10 / 100 | consumed_tokens: 10.5M | elapsed_time_per_iteration_ms: 1.2K | "
                "tokens_per_sec: 8.5K | tokens_per_sec_per_gpu: 1.06K | global_batch_size: 128 | lm_loss: "
                "9.1 | model_tflops_per_gpu: 7.4 | hardware_tflops_per_gpu: 7.4"});
  REQUIRE(run.ok());
  CHECK(*run->step_s == about(1.2));
  CHECK(*run->tokens_per_chip_per_s == about(1060));
  CHECK(*run->flops_per_chip_per_s == about(7.4e12));
}

TEST_CASE("the lane of a rank has what ran alone in each stretch of its last step, and where its optimizer begins") {
  const test::TemporaryFolder folder;
  TraceText trace = one_step(3);
  trace.step(4, 1000, 2000);
  trace.kernel("nvjet_hsh_128x256_64x4", 1000, 1000);
  trace.kernel("void multi_tensor_apply_kernel<FusedAdam>(long)", 1500,
               100);  // under a product: not yet the step's end
  trace.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 1800, 600);
  trace.kernel("void multi_tensor_apply_kernel<FusedAdam>(long)", 2500, 250);
  const auto run = read_all({folder.write("trace.json", trace.text()).string()});
  REQUIRE(run.ok());
  REQUIRE(run->lanes.size() == 1);
  const engine::MeasuredLane& lane = run->lanes.front();
  CHECK(lane.rank == 3);
  CHECK(lane.step_s == about(2000e-6));
  CHECK(*lane.optimizer_s == about(1500e-6));
  std::array<double, engine::kLaneWorks> sum{};
  for (const auto& bin : lane.bins)
    for (std::size_t i = 0; i < bin.size(); ++i) sum[i] += bin[i] / static_cast<double>(engine::kMeasuredBins);
  const auto share = [&sum](engine::LaneWork work) {
    return doctest::Approx(sum[static_cast<std::size_t>(work)]).epsilon(1e-4);
  };
  CHECK(share(engine::LaneWork::compute) == 0.5);
  CHECK(share(engine::LaneWork::optimizer) == 0.125);
  CHECK(share(engine::LaneWork::send_recv) == 0.2);
  CHECK(share(engine::LaneWork::collective) == 0);
}

TEST_CASE("lanes stand in the order of their ranks, whatever the order of the files") {
  const test::TemporaryFolder folder;
  const auto run = read_all(
      {folder.write("b.json", one_step(7).text()).string(), folder.write("a.json", one_step(2).text()).string()});
  REQUIRE(run.ok());
  REQUIRE(run->lanes.size() == 2);
  CHECK(run->lanes[0].rank == 2);
  CHECK(run->lanes[1].rank == 7);
}

constexpr const char* kMemorySummary =
    R"(|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |  35840 MiB |  51200 MiB | 400000 MiB | 364160 MiB |
|       from large pool |  35830 MiB |  51190 MiB | 399000 MiB | 363170 MiB |
| GPU reserved memory   |     60 GiB |     62 GiB |     62 GiB |      0 B   |
|===========================================================================|
)";
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

TEST_CASE("the summary of PyTorch's memory gives the peaks of what is allocated and reserved") {
  const test::TemporaryFolder folder;
  for (const std::string& input :
       {folder.write("memory.txt", kMemorySummary).string(), std::string(kMemorySummary)}) {
    const auto run = read_all({input});
    REQUIRE(run.ok());
    CHECK(*run->allocated_bytes == about(50 * kGibibyte));
    CHECK(*run->reserved_bytes == about(62 * kGibibyte));
    CHECK_FALSE(run->step_s.has_value());
  }
}

TEST_CASE("PyTorch's memory statistics as JSON give the same two peaks") {
  const test::TemporaryFolder folder;
  const auto run = read_all({folder
                                 .write("stats.json", R"({"active.all.peak": 7, "allocated_bytes.all.current": 5,
    "allocated_bytes.all.peak": 40000000000, "reserved_bytes.all.peak": 50000000000})")
                                 .string()});
  REQUIRE(run.ok());
  CHECK(*run->allocated_bytes == 40e9);
  CHECK(*run->reserved_bytes == 50e9);
}

TEST_CASE("the profiler's memory timeline gives what is held at the peak, by what it is") {
  const test::TemporaryFolder folder;
  // Columns: none, parameters, optimizer, input, temporary, activations, gradients, autograd, not known.
  const std::string file = folder
                               .write("timeline.json", R"([[1, 2, 3], [[0, 10, 20, 0, 0, 0, 0, 0, 0],
    [0, 10, 20, 1, 2, 30, 5, 3, 4], [0, 10, 20, 0, 0, 0, 8, 0, 0]]])")
                               .string();
  const auto run = read_all({file, "step=2s"});
  REQUIRE(run.ok());
  CHECK(*run->allocated_bytes == 75);
  REQUIRE(run->held_bytes.has_value());
  CHECK(*run->held_bytes == std::array<double, 5>{10, 5, 20, 34, 6});
  CHECK(*run->step_s == 2);
}

TEST_CASE("memory that cannot be read is refused with its place in one line") {
  const test::TemporaryFolder folder;
  const auto refused = [&folder](const std::string& text) {
    return refusal_of_run({folder.write("memory.txt", text).string()});
  };
  std::string cut(kMemorySummary);
  CHECK(refused(cut.substr(0, cut.find("| Allocated"))).find("no peak of allocated") != std::string::npos);
  std::string wrong(kMemorySummary);
  wrong.replace(wrong.find("51200 MiB"), 9, "51200 XiB");
  CHECK(refused(wrong).find("line 8") != std::string::npos);
  for (const char* text :
       {R"({"allocated_bytes.all.peak": "many"})", R"({"allocated_bytes.all.peak": -1})",
        R"({"allocated_bytes.all.peak": 1e300})", R"({"allocated_bytes.all.current": 1})", "[[1], [[0, 1]]]",
        "[[1, 2]]", "[[1], [[0, 1, 2, 3, 4, 5, 6, 7, \"x\"]]]", "[[1], [[0, 1e400, 2, 3, 4, 5, 6, 7, 8]]]",
        "[[1], 3]", "[[1], [[0, 1, 2, 3, 4, 5, 6, 7, 8]", "[[], []]", "\x80\x04\x95snapshot"}) {
    CAPTURE(text);
    const std::string line = refused(text);
    CHECK_FALSE(line.empty());
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("of a whole log the median of the steps counts, and the most memory") {
  const test::TemporaryFolder folder;
  std::string log = "starting\n";
  for (const double ms : {90000.0, 1010.0, 1000.0, 1020.0, 1005.0})
    log += "iteration 1/ 10 | elapsed time per iteration (ms): " + std::to_string(ms) + " |\n";
  log +=
      "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1000.0 | max allocated: 2048.0 | reserved: 3000.0 | "
      "max "
      "reserved: 4096.0\n[Rank 1] (after 2 iterations) memory (MB) | allocated: 1.0 | max allocated: 1024.0 | "
      "reserved: "
      "1.0 | max reserved: 2048.0\n";
  const auto run = read_all({folder.write("run.log", log).string()});
  REQUIRE(run.ok());
  CHECK(*run->step_s == about(1.01));
  CHECK(run->log_steps == 5);
  CHECK(*run->allocated_bytes == about(2048.0 * 1024 * 1024));
  CHECK(*run->reserved_bytes == about(4096.0 * 1024 * 1024));
}

TEST_CASE("a trace is told apart into work, exposed collectives and idle time, which add up to its step") {
  const test::TemporaryFolder folder;
  const auto run = read_all({folder.write("trace.json", one_step().text()).string()});
  REQUIRE(run.ok());
  CHECK(*run->step_s == about(1e-3));
  CHECK(work(run.value(), WorkKind::matmul).own_s == about(400e-6));
  CHECK(work(run.value(), WorkKind::attention).own_s == about(100e-6));
  CHECK(work(run.value(), WorkKind::vector).own_s == about(50e-6));
  CHECK(work(run.value(), WorkKind::optimizer).own_s == about(50e-6));
  CHECK(collective(run.value(), MeasuredCollective::all_gather).seconds == about(300e-6));
  CHECK(collective(run.value(), MeasuredCollective::all_gather).exposed_s == about(200e-6));
  CHECK(run->kernels->idle_host_s == about(60e-6));
  CHECK(run->kernels->idle_launch_s == about(40e-6));
  CHECK(run->kernels->idle_s == about(100e-6));  // after the last kernel
  CHECK(*run->allocated_bytes == 40e9);
  CHECK(*run->reserved_bytes == 50e9);
}

TEST_CASE("of several ranks the fastest in a collective did not wait") {
  const test::TemporaryFolder folder;
  const auto run = read_all({folder.write("rank0.json", one_step(0, 300).text()).string(),
                             folder.write("rank1.json", one_step(1, 200).text()).string()});
  REQUIRE(run.ok());
  CHECK(run->kernels->ranks == 2);
  const engine::CollectiveTime& gather = collective(run.value(), MeasuredCollective::all_gather);
  CHECK(gather.seconds == about(250e-6));
  REQUIRE(gather.link_s.has_value());
  CHECK(*gather.link_s == about(200e-6));
}

TEST_CASE("a trace packed with gzip reads as the same run") {
  const test::TemporaryFolder folder;
  const std::string text = one_step().text(), plain = folder.write("trace.json", text).string();
  const std::string packed = (folder.path() / "trace.json.gz").string();
  const gzFile file = gzopen(packed.c_str(), "wb");
  REQUIRE(file != nullptr);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  const auto a = read_all({plain}), b = read_all({packed});
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(*a->step_s == *b->step_s);
  CHECK(work(a.value(), WorkKind::matmul).own_s == work(b.value(), WorkKind::matmul).own_s);
}

TEST_CASE("steps marked on the device go before those of the host, and numbers are of one of them") {
  TraceText trace;
  trace.step(1, 0, 5000);
  trace.step(1, 100, 1000, true);
  trace.step(2, 1100, 1000, true);
  trace.kernel("ampere_bf16_s16816gemm_bf16_128x256", 100, 500);
  trace.kernel("ampere_bf16_s16816gemm_bf16_128x256", 1100, 700);
  trace.kernel("ampere_bf16_s16816gemm_bf16_128x256", 2200, 900);  // of no step
  const test::TemporaryFolder folder;
  const auto run = read_all({folder.write("t.json", trace.text()).string()});
  REQUIRE(run.ok());
  CHECK(run->kernels->steps == 2);
  CHECK(*run->step_s == about(1e-3));
  CHECK(work(run.value(), WorkKind::matmul).own_s == about(600e-6));
}

TEST_CASE("predicted, differences by name and what is unexplained add up to the measured step") {
  const test::TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", one_step().text()).string();
  for (const char* id : {"llama3-8b-8-h100", "llama3-405b-16k-h100-8k", "deepseek-v3-2048-h800"}) {
    CAPTURE(id);
    const engine::Scenario s = io::load_scenario(id, test::shipped()).value();
    const engine::Report report = engine::evaluate(s);
    for (const auto& inputs : {std::vector<std::string>{trace}, {"step=12s"}, {trace, "step=3s"}}) {
      const auto run = read_all(inputs);
      REQUIRE(run.ok());
      const engine::MeasuredComparison c = engine::compare_measured(s, report, run.value());
      REQUIRE(c.predicted_s.has_value());
      double sum = c.unexplained_s, predicted = 0;
      for (const engine::StepTermRow& row : c.terms) {
        predicted += row.predicted_s;
        sum += row.measured_s.value_or(row.predicted_s);
      }
      CHECK(predicted == about(*c.predicted_s));
      CHECK(sum == about(*c.measured_s));
    }
  }
}

TEST_CASE("of a trace by itself nothing is unexplained: every moment has a name") {
  const test::TemporaryFolder folder;
  const engine::Scenario s = llama();
  const auto run = read_all({folder.write("trace.json", one_step().text()).string()});
  REQUIRE(run.ok());
  const engine::MeasuredComparison c = engine::compare_measured(s, engine::evaluate(s), run.value());
  CHECK(std::abs(c.unexplained_s) < 1e-12 * *c.predicted_s);
}

TEST_CASE("a log's step time goes before that of the profiler, which slows the step it looks at") {
  const test::TemporaryFolder folder;
  const std::string trace = folder.write("trace.json", one_step().text()).string();
  for (const auto& inputs : {std::vector<std::string>{trace, "step=0.9ms"}, {"step=0.9ms", trace}}) {
    const auto run = read_all(inputs);
    REQUIRE(run.ok());
    CHECK(*run->step_s == about(0.9e-3));
  }
}

TEST_CASE("a step follows from tokens a second, and from MFU, as the prediction counts them") {
  const engine::Scenario s = llama();
  const engine::Report report = engine::evaluate(s);
  MeasuredRun run;
  run.tokens_per_chip_per_s = *report.quantities[engine::Q::tokens_per_s_per_chip];
  engine::MeasuredComparison c = engine::compare_measured(s, report, run);
  CHECK(c.step_follows);
  CHECK(*c.measured_s == about(*c.predicted_s));
  run = {};
  run.mfu = *report.quantities[engine::Q::mfu];
  c = engine::compare_measured(s, report, run);
  CHECK(*c.measured_s == about(*c.predicted_s));
  CHECK(*c.measured_mfu == about(*c.predicted_mfu));
}

TEST_CASE("an assumption that closes the gap gives the measured step, and one that cannot says how far it comes") {
  for (const char* id : {"llama3-8b-8-h100", "llama3-405b-16k-h100-8k"}) {
    engine::Scenario s = io::load_scenario(id, test::shipped()).value();
    s.assumptions.mode = engine::Mode::calibrated;
    const double predicted = *engine::evaluate(s).quantities[engine::Q::step_time];
    for (const double factor : {0.97, 1.1, 3.0}) {
      CAPTURE(factor);
      const double wanted = predicted * factor;
      const auto rows = engine::closing_assumptions(s, wanted);
      REQUIRE_FALSE(rows.empty());
      bool cannot = false;
      for (const engine::ClosingAssumption& row : rows) {
        CAPTURE(std::string(row.field->path));
        engine::Scenario there = s;
        there.assumptions.custom = engine::applied_calibration(s);
        there.assumptions.mode = engine::Mode::custom;
        CHECK(*engine::evaluate(there).quantities[engine::Q::step_time] == about(predicted));
        row.field->set(there, row.needed.value_or(row.furthest));
        const double step = *engine::evaluate(there).quantities[engine::Q::step_time];
        if (row.needed) {
          CHECK_FALSE(cannot);  // those that close come first
          CHECK(std::abs(step / wanted - 1) < 1e-3);
        } else {
          cannot = true;
          CHECK(step == about(row.furthest_step_s));
          CHECK((factor > 1 ? step < wanted : step > wanted));
        }
      }
    }
  }
}

TEST_CASE("where nothing is assumed no assumption can shorten the step") {
  engine::Scenario s = llama();
  s.assumptions.mode = engine::Mode::ideal;
  const double predicted = *engine::evaluate(s).quantities[engine::Q::step_time];
  for (const engine::ClosingAssumption& row : engine::closing_assumptions(s, predicted * 0.9))
    CHECK(row.field->path == "assumptions.overlap");
  CHECK_FALSE(engine::closing_assumptions(s, predicted * 1.1).empty());
}

TEST_CASE("Nsight Systems' table of kernels gives sums by class, for as many steps as are said") {
  const std::string csv =
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "60.0,6000000,30,200000,200000,1,2,3,\"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm, 128>(T1)\"\n"
      "30.0,3000000,10,300000,300000,1,2,3,\"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevComm *)\"\n"
      "10.0,1000000,10,100000,100000,1,2,3,my_own_kernel\n";
  const test::TemporaryFolder folder;
  const auto run = read_all({folder.write("kernels.csv", csv).string()}, 2);
  REQUIRE(run.ok());
  CHECK(work(run.value(), WorkKind::matmul).seconds == about(3e-3));
  CHECK(work(run.value(), WorkKind::matmul).count == about(15));
  CHECK(collective(run.value(), MeasuredCollective::reduce_scatter).seconds == about(1.5e-3));
  CHECK(work(run.value(), WorkKind::unknown).seconds == about(0.5e-3));
  REQUIRE(run->kernels->unknown.size() == 1);
  CHECK(run->kernels->unknown[0].first == "my_own_kernel");
  CHECK_FALSE(run->step_s.has_value());
}

TEST_CASE("copies in a table of Nsight Systems are copies, also where their names are cut short") {
  const test::TemporaryFolder folder;
  for (const std::string name : {"[CUDA memcpy Host-to-Device]", "[CUDA memcpy]", "[CUDA memcpy"}) {
    CAPTURE(name);
    const auto run =
        read_all({folder.write("copies.csv", "Total Time (ns),Count,Operation\n1000,1," + name + "\n").string()}, 1);
    REQUIRE(run.ok());
    CHECK(run->kernels->unknown.empty());
  }
}

TEST_CASE("kernels are classed by their names") {
  const auto work_named = [](const char* name) { return io::work_of(name); };
  CHECK(work_named("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n") == WorkKind::matmul);
  CHECK(work_named("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<...>") == WorkKind::attention);
  CHECK(work_named("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16") == WorkKind::attention);
  CHECK(work_named("triton_poi_fused_add_mul_silu_0") == WorkKind::vector);
  CHECK(work_named("triton_mm") == WorkKind::matmul);
  CHECK(work_named("Memcpy DtoH (Device -> Pinned)") == WorkKind::host_copy);
  CHECK(work_named("Memcpy DtoD (Device -> Device)") == WorkKind::vector);
  CHECK(io::collective_of("ncclDevKernel_SendRecv(x)", "all_to_allv") == MeasuredCollective::all_to_all);
  CHECK(io::collective_of("ncclDevKernel_SendRecv(x)") == MeasuredCollective::send_recv);
  CHECK(io::collective_of("ncclKernel_AllReduce_RING_LL_Sum_half(x)") == MeasuredCollective::all_reduce);
  CHECK_FALSE(io::collective_of("sm90_xmma_gemm").has_value());
}

TEST_CASE("what cannot be read as measured is one line with its file, place and remedy") {
  const test::TemporaryFolder folder;
  const std::string whole = one_step().text();
  const std::string cut = folder.write("cut.json", whole.substr(0, whole.size() / 2)).string();
  CHECK(refusal_of_run({cut}).find(cut + ": byte ") == 0);
  CHECK(refusal_of_run({cut}).find("the trace is not whole JSON; it may be cut off; export it again") !=
        std::string::npos);
  const std::string host = folder.write("host.json", R"({"traceEvents": [{"ph": "X", "cat": "cpu_op"}]})").string();
  CHECK(refusal_of_run({host}) == host + ": the trace has no GPU kernels; profile with ProfilerActivity.CUDA");
  const std::string same = folder.write("same.json", whole).string(),
                    other = folder.write("other.json", whole).string();
  CHECK(refusal_of_run({same, other}) == other + ": rank 0 is also in " + same + "; give one trace for each rank");
  const std::string poem = folder.write("poem.txt", "roses are red\n").string();
  CHECK(refusal_of_run({poem}).find(poem + ": nothing measured that is known is in it; ") == 0);
  const std::string sqlite = folder.write("run.sqlite", std::string("SQLite format 3\0and more", 24)).string();
  CHECK(refusal_of_run({sqlite}).find("cannot be read as an SQLite database") != std::string::npos);
  CHECK(refusal_of_run({"nowhere.log"}).find("nowhere.log: ") == 0);
  CHECK(refusal_of_run({"step=12s,speed=3"}).find("is not a number of a step") != std::string::npos);
  CHECK(refusal_of_run({"step=-1s"}).find("step: ") != std::string::npos);
  CHECK(refusal_of_run({"step=1s", "step=2s"}).find("is another number than in \"step=1s\"") != std::string::npos);
  const std::string packed =
      folder.write("bad.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3 not packed", 24)).string();
  CHECK(refusal_of_run({packed}).find(packed + ": cannot be unpacked") == 0);
}

TEST_CASE("reading stops where it is told to") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("trace.json", one_step().text()).string();
  const auto run = io::read_measured_run({file}, {1, [](double) { return false; }});
  REQUIRE_FALSE(run.ok());
  CHECK(io::to_text(run.error(), test::english()) == file + ": reading was stopped");
}

}  // namespace
}  // namespace roofscape
