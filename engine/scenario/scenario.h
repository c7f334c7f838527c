// A Scenario is every input of one evaluation, as one value: which model on which cluster, the work to do, how it is
// split, and under which assumptions. It is complete (presets are already resolved into it), comparable and copyable;
// undo is a list of Scenarios and a comparison is two of them. Reading and writing it as JSON is in engine/io.
//
// What the mesh axes mean: `data` replicates; `fsdp` is the group over which `zero_stage` shards (1 optimizer state,
// 2 and gradients, 3 and weights); state is sharded over fsdp x context. Chips used = data * fsdp * tensor * context
// * pipeline; `expert` is carved out of these and does not multiply the chips.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/pipeline/layer_split.h"
#include "engine/pipeline/schedule.h"
#include "engine/pipeline/schedules.h"
#include "engine/scenario/chip.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::engine {

// One level of switches above the nodes of a cluster. Its children are nodes (first level) or switches of the level
// below.
struct FabricLevel {
  std::string name;                   // "leaf", "spine", "rack"
  int degree = 1;                     // children of one switch, or of one group of switches that act as one
  double bytes_per_s_per_child = 0;   // one way, after oversubscription
  bool in_network_reduction = false;  // the switches add up what passes (SHARP)
  friend bool operator==(const FabricLevel&, const FabricLevel&) = default;
};
inline constexpr std::size_t kMaxFabricLevels = 4;

// The chips of a job and how they are wired. Torus chips come in slices (joined by the data-centre network when there
// are several); GPUs come in nodes (one NVLink domain each) on a fabric.
struct Cluster {
  Chip chip;
  std::array<int, 3> slice{1, 1, 1};  // torus chips: chips along each axis (a 2D torus has 1 at the end)
  int slices = 1;                     // torus chips: slices of that shape
  int nodes = 1;                      // switched chips
  int node_size = 8;                  // switched chips: chips of one node
  // Switched chips: levels above the node, from below, at most kMaxFabricLevels. Empty: one level of full bandwidth,
  // at the chip's figure for a node. The last level joins all that is below, whatever its degree.
  std::vector<FabricLevel> fabric;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};
std::int64_t chip_count(const Cluster&);
// Torus chips: of one slice.
std::int64_t slice_chips(const Cluster&);
// As many of them as an int holds: what shares chips out among ranks goes no further.
int shared_chips(const Cluster&);

enum class WorkloadKind : std::uint8_t { training, serving };

// Requests of like lengths, as a bin of a histogram. A share of 0: the bin is not used.
struct LengthBin {
  int prompt_tokens = 1024, output_tokens = 256;
  double share = 0;  // of the requests, against the other bins
  friend bool operator==(const LengthBin&, const LengthBin&) = default;
};
inline constexpr std::size_t kLengthBins = 8;

// What users are promised (a service level objective). 0: no limit.
struct ServiceLevel {
  double ttft_s = 0;                   // time to first token, without a queue
  double time_per_output_token_s = 0;  // sustained: with the prefills of new requests on the same chips
  bool any() const { return ttft_s > 0 || time_per_output_token_s > 0; }  // something is promised
  friend bool operator==(const ServiceLevel&, const ServiceLevel&) = default;
};

struct Workload {
  WorkloadKind kind = WorkloadKind::training;
  // Training
  int global_batch_sequences = 1024;
  int sequence_length = 4096;
  double train_tokens = 15e12;  // tokens of the whole run
  // Serving
  int prompt_tokens = 8192, output_tokens = 512;  // of every request, unless the bins say otherwise
  std::array<LengthBin, kLengthBins> lengths{};
  int batch = 32;             // sequences that are decoded at the same time, on all replicas together
  double arrivals_per_s = 0;  // requests a second; 0: the batch is always full
  ServiceLevel slo;
  bool has_lengths() const {
    for (const LengthBin& bin : lengths)
      if (bin.share > 0) return true;
    return false;
  }
  friend bool operator==(const Workload&, const Workload&) = default;
};

enum class Axis : std::uint8_t { data, fsdp, tensor, context, expert, pipeline };
inline constexpr int kAxisCount = 6;
// One of something for each axis; indexed by the axis, or by its number.
template <class T>
struct AxisArray : std::array<T, kAxisCount> {
  using std::array<T, kAxisCount>::operator[];
  constexpr T& operator[](Axis axis) { return (*this)[static_cast<std::size_t>(axis)]; }
  constexpr const T& operator[](Axis axis) const { return (*this)[static_cast<std::size_t>(axis)]; }
};
inline constexpr AxisArray<std::string_view> kAxisIds{"data", "fsdp", "tensor", "context", "expert", "pipeline"};

enum class ContextMethod : std::uint8_t { ring, all_gather, ulysses };
// How long weights that ZeRO-3 shards stay gathered, and gradients unreduced. `microbatch`: a layer's for its forward,
// and again for its backward (Rajbhandari et al. 2020; PyTorch's FSDP). `chunk`: a chunk's for the forwards of all
// microbatches, and again for their backwards (breadth-first, Lamy-Poirier 2023). `step`: all of a chip's from its
// first microbatch to its last (torchtitan with a pipeline; FSDP's reshard_after_forward = false).
enum class KeepGathered : std::uint8_t { microbatch, chunk, step };

struct Parallelism {
  int data = 1, fsdp = 1, tensor = 1, context = 1, pipeline = 1, expert = 1;
  bool sequence_parallel = true;  // norms and residuals split over tensor ranks too
  int zero_stage = 3;
  KeepGathered keep_gathered = KeepGathered::microbatch;  // under ZeRO-3
  ContextMethod context_method = ContextMethod::ring;
  int expert_tensor = 0;  // ranks that split one expert; 0: as many as tensor. Fewer: expert takes tensor ranks too
  friend bool operator==(const Parallelism&, const Parallelism&) = default;
  int degree(Axis axis) const {
    switch (axis) {
      case Axis::data:
        return data;
      case Axis::fsdp:
        return fsdp;
      case Axis::tensor:
        return tensor;
      case Axis::context:
        return context;
      case Axis::expert:
        return expert;
      case Axis::pipeline:
        return pipeline;
    }
    return 1;
  }
  int experts_tensor() const { return expert_tensor > 0 && expert_tensor < tensor ? expert_tensor : tensor; }
};
// The largest degrees: the ends of their fields' domains, beyond which no plan is proposed either.
inline constexpr int kMostDataDegree = 65536;  // of data and of fsdp
inline constexpr int kMostTensorDegree = 1024, kMostContextDegree = 4096, kMostPipelineDegree = kMostDevices,
                     kMostExpertDegree = 4096;
inline constexpr int kMostBatchSequences = 1 << 24;  // the same of a batch, whether it trains or serves

// Axes of a torus, x the first of a slice's sides: one bit each. None: left to the engine.
enum class TorusAxes : std::uint8_t { automatic, x, y, xy, z, xz, yz, xyz };
inline constexpr std::array<std::string_view, 8> kTorusAxesIds{"auto", "x", "y", "xy", "z", "xz", "yz", "xyz"};

// In which order ranks fill the nodes of a switched cluster, the nearest first: named as launchers name it, dp for fsdp
// and data.
enum class RankOrder : std::uint8_t {
  automatic,      // as most launchers have it, see resolved()
  pipeline_last,  // stages farthest apart: training with Megatron-LM, torchtitan, DeepSpeed
  data_last       // ranks that share the batch farthest apart: LLaMA 3 405B, and replicas that serve
};
inline constexpr EnumTable<RankOrder> kRankOrders{"auto", "tp-cp-dp-pp", "tp-cp-pp-dp"};

// On which torus axes each mesh axis lies: by name (`on`), or as many as `axes` says; 0 and automatic let the engine
// choose (engine/inputs/placement.h states the rule). On switches the order of ranks says where a mesh axis lies.
struct Placement {
  AxisArray<int> axes{};
  AxisArray<TorusAxes> on{};
  RankOrder order = RankOrder::automatic;
  friend bool operator==(const Placement&, const Placement&) = default;
};

// Whether a stage computes while it sends its results on. By schedule: as the software does for which the schedule is
// known (ScheduleFacts::blocks_sends).
enum class StageSends : std::uint8_t { by_schedule, overlapped, blocking };
inline constexpr EnumTable<StageSends> kStageSends{"by-schedule", "overlapped", "blocking"};

struct PipelinePlan {
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int microbatch_sequences = 1;  // sequences one data x fsdp rank puts through the model at a time
  int virtual_stages = 1;        // model chunks a device
  int group_size = 0;            // interleaved 1F1B: ScheduleShape::group_size
  BackwardOrder backward_order = BackwardOrder::first_in;  // of GPipe and breadth-first
  StageSends sends = StageSends::by_schedule;
  // How layers are dealt to virtual stages (engine/pipeline/layer_split.h): what the embedding and the head count for,
  // or by hand, in the order a microbatch passes the virtual stages.
  int embedding_as_layers = 0, head_as_layers = 0;
  std::vector<int> layers_per_stage;
  // Instead of the schedule's own order, where the plan has the stages, chunks and microbatches it is of.
  GivenOrder order;
  friend bool operator==(const PipelinePlan&, const PipelinePlan&) = default;
};

// The rows of checkpoint_policies.def, which says what each keeps.
enum class CheckpointPolicy : std::uint8_t {
#define POLICY(name, ...) name,
#include "engine/scenario/checkpoint_policies.def"
#undef POLICY
};

struct Checkpointing {
  CheckpointPolicy policy = CheckpointPolicy::block;
  int k = 4;         // k_per_layer only
  int blocks = 1;    // some_blocks only: layers of the model
  int segments = 0;  // segments, segments_minimal: C, of the whole model; 0: the square root of the layers
  friend bool operator==(const Checkpointing&, const Checkpointing&) = default;
};

// What kernels keep of their work, where a run's software is not what its generation mostly has (Assumptions::stack).
// Attention: its scores stay on the chip (FlashAttention, Dao et al. 2022), or go to HBM and are kept for the backward
// pass with the masks of dropout, 5 a s^2 b bytes a layer (Korthikanti et al. 2022, section 4.1).
enum class AttentionKernel : std::uint8_t { automatic, fused, unfused };
// The loss: what it holds of each logit at its peak, see bytes_of_logit().
enum class LossKernel : std::uint8_t {
  automatic,  // as the software does; in ideal mode as fused
  plain,      // PyTorch, one operation after the other: a copy in fp32, its log-softmax and the gradient
  fused,      // compiled or by hand: the logits in 16 bits and their gradient, or one copy in fp32
  chunked,    // with the product before it, a chunk of tokens at a time (Liger Kernel): the logits are never there
};
// Norms and activation functions of a layer: fused ones keep their inputs; of eager PyTorch each operation keeps what
// its own gradient needs, which in a layer with a gated MLP is the activated gate and the normalized inputs too.
enum class ElementwiseKernel : std::uint8_t { fused, eager };
// Whether the host runs ahead of the chip, or waits for each kernel before it starts the next (CUDA_LAUNCH_BLOCKING=1,
// set to find errors, and by BLOOM around hangs): then its own time stands beside that of every layer, and nothing is
// sent under work. Or kernels of a layer are captured once and replayed (CUDA graphs), and the host is never slower than
// the chip. Felt in calibrated mode, and by software whose host starts every kernel.
enum class KernelLaunch : std::uint8_t { queued, blocking, graphs };
struct KernelChoices {
  AttentionKernel attention = AttentionKernel::automatic;
  LossKernel loss = LossKernel::automatic;
  ElementwiseKernel elementwise = ElementwiseKernel::fused;
  KernelLaunch launch = KernelLaunch::queued;
  friend bool operator==(const KernelChoices&, const KernelChoices&) = default;
};
// Nothing of `automatic`.
std::optional<double> bytes_of_logit(LossKernel);

// nvfp4, mxfp4: four-bit floats (E2M1) in blocks of 16 or 32 that share a scale of eight bits.
enum class Dtype : std::uint8_t { none, fp8, bf16, fp16, fp32, int8, int4, nvfp4, mxfp4 };
// adam_8bit: both moments in 8 bits, in blocks that share a scale of 32 (bytes_of). muon_*: Muon for the matrices of the
// layers, with one momentum of that width; Adam, with two, for the rest.
enum class OptimizerKind : std::uint8_t { none, adam_bf16, adam_fp32, adam_8bit, muon_bf16, muon_fp32 };
constexpr bool is_muon(OptimizerKind kind) {
  return kind == OptimizerKind::muon_bf16 || kind == OptimizerKind::muon_fp32;
}
// Who makes an update of Muon, for which a matrix has to be whole.
enum class MuonHomes : std::uint8_t {
  replicated,   // every rank all of its matrices
  distributed,  // each matrix has one home among the ranks that share training state, else among the data replicas
};
// What Muon takes as one matrix where tensor ranks have a slice each.
enum class MuonTensor : std::uint8_t {
  gathered,   // the whole: momentum is gathered and every tensor rank computes all of it
  blockwise,  // the slice: nothing is sent
};

struct Precision {
  Dtype compute = Dtype::bf16;  // of matrix multiplications, activations and what is sent of them
  Dtype weights = Dtype::bf16;
  Dtype gradients = Dtype::none;  // as stored through a step; none: consumed as they are made (the book's rule)
  OptimizerKind optimizer = OptimizerKind::adam_fp32;
  Dtype master_weights = Dtype::none;
  Dtype kv_cache = Dtype::none;  // serving; none: as compute
  Dtype residual = Dtype::none;  // training: of the residual stream as it is kept and sent on; none: as compute, but
                                 // not below 16 bits
  friend bool operator==(const Precision&, const Precision&) = default;
};

// How the updates of Muon are made (Jordan et al. 2024; Liu et al. 2025, "Muon is Scalable for LLM Training").
struct Muon {
  int newton_schulz_steps = 5;
  MuonHomes homes = MuonHomes::replicated;
  MuonTensor tensor = MuonTensor::gathered;
  friend bool operator==(const Muon&, const Muon&) = default;
};

// Which matrices of a layer get an adapter.
enum class AdapterTargets : std::uint8_t {
  query_value,  // as Hu et al. 2021
  attention,    // queries, keys, values and the output
  mlp,          // gate, up and down
  linear        // both
};
inline constexpr EnumTable<AdapterTargets> kAdapterTargets{"query_value", "attention", "mlp", "linear"};
// Low-rank adapters are trained and the model's weights, stored in `precision.weights`, are not (LoRA, Hu et al. 2021;
// in fewer bits QLoRA, Dettmers et al. 2023). Embedding, head, norms and the router stay as they are.
struct Adapter {
  int rank = 0;  // 0: no adapters, all weights are trained
  AdapterTargets targets = AdapterTargets::linear;
  bool experts = true;  // of an MLP, routed experts too
  friend bool operator==(const Adapter&, const Adapter&) = default;
};

// What lives in the memory of the host instead of the chip's, and crosses PCIe for it.
struct Offload {
  bool optimizer = false;
  bool activations = false;
  double optimizer_fraction = 1;  // of the parameters whose state is on the host, if any is
  friend bool operator==(const Offload&, const Offload&) = default;
};

// What tensor ranks beyond the KV heads do with the cache when serving.
enum class KvSplit : std::uint8_t {
  heads,     // each holds a copy
  batch,     // they take other sequences: two exchanges of activations a layer
  sequence,  // they take other tokens of each sequence: queries are gathered, partial outputs combined
};

// Mesh of the chips that only prefill.
struct PrefillPlan {
  int data = 1, tensor = 1, context = 1, pipeline = 1, expert = 1;
  friend bool operator==(const PrefillPlan&, const PrefillPlan&) = default;
};

// How requests are served. The scenario's parallelism is the mesh of decoding, and of prefill unless that has its
// own.
struct ServingPlan {
  bool disaggregated = false;  // prefill runs on chips of its own and sends the cache over
  PrefillPlan prefill;         // disaggregated only
  KvSplit kv_split = KvSplit::batch;
  int prefill_chunk_tokens = 0;  // 0: the whole prompt at once
  int prefill_prompts = 1;       // that go through one pass of prefill together
  double prefix_hit_rate = 0;    // share of a prompt's tokens that are in the cache already
  int page_tokens = 16;          // of the cache; 0: no pages
  int draft_tokens = 0;          // speculative decoding; 0: none
  double acceptance_rate = 0.8;  // of a draft token
  double draft_cost = 0.05;      // step time of the draft over the model's
  friend bool operator==(const ServingPlan&, const ServingPlan&) = default;
};

// ideal: peak rates and perfect overlap, the book's arithmetic. calibrated: what software has been measured to reach
// on the chip (its Calibration). custom: the scenario's own values of the same parameters.
enum class Mode : std::uint8_t { ideal, calibrated, custom };
// Which software: automatic is xla on a torus; else inflight where it serves, torch_fsdp where weights are sharded
// (ZeRO-3) without a pipeline, megatron otherwise. Software of the other kind of workload counts as automatic.
enum class StackChoice : std::uint8_t {
  automatic,
  megatron_2021,
  megatron,
  megatron_2026,
  torch_fsdp,
  xla,
  faster_transformer,
  torch_compile,
  inflight
};
enum class FlopsConvention : std::uint8_t {
  six_p,         // 6 FLOP a parameter and token, attention not counted (the book)
  exact,         // every matrix multiplication and full attention
  exact_causal,  // the same with the masked half of attention left out
};
// How many weights a served model has.
enum class ParameterCount : std::uint8_t {
  counted,    // those of its shape
  published,  // as many as its source states: the MLP, or its experts, take what the other parts leave
};
// How the transfers of several mesh axes go together (scaling book, chapter 5: its editions add them or take the
// longest).
enum class AxesOverlap : std::uint8_t {
  automatic,  // by_wire on switched clusters, sum on a torus: what links join decides; see resolved()
  sum,        // they follow each other
  max,        // they run at the same time
  by_wire,    // those that share physical links follow each other, those on different links run at the same time
};
// What `automatic` stands for on a cluster; any other value is itself.
AxesOverlap resolved(AxesOverlap, Interconnect);
// The same of a kind of work: stages come last in training, and data in serving.
constexpr RankOrder resolved(RankOrder order, WorkloadKind kind) {
  if (order != RankOrder::automatic) return order;
  return kind == WorkloadKind::serving ? RankOrder::data_last : RankOrder::pipeline_last;
}

struct Assumptions {
  Mode mode = Mode::ideal;
  FlopsConvention flops = FlopsConvention::six_p;
  AxesOverlap axes_overlap = AxesOverlap::automatic;
  double overlap = 1;        // share of the work that communication can hide under: 1 perfect, 0 none
  double stated_mfu = 0.4;   // for "how long at this MFU" questions
  double reserve_bytes = 0;  // memory the framework keeps for itself
  // Of the memory of the host, the bandwidth that one chip's offloaded state has for its update. 0: 51.2e9, an eighth
  // of a host with two sockets of eight DDR4-3200 channels.
  double host_memory_bytes_per_s = 0;
  double context_share = 0.5;  // serving: share of a sequence's output that is in the cache when a step is priced
  ParameterCount parameters = ParameterCount::counted;  // serving; counted where nothing is published
  double hop_latency_s = 0;                    // serving: of a message, however small; 0: the chip's, else 1 us
  StackChoice stack = StackChoice::automatic;  // calibrated mode
  CalibrationValues custom;                    // custom mode
  friend bool operator==(const Assumptions&, const Assumptions&) = default;
};

// What a scenario was when it was given its name, as fingerprints (scenario_title.h); zeros: its name stands whatever
// it is. A note and no part of the value.
struct NameStamp {
  std::uint64_t model = 0, cluster = 0, plan = 0;
  friend bool operator==(const NameStamp&, const NameStamp&) { return true; }
};

struct Scenario {
  std::string name;    // what it was called; what it is called now is scenario_title()
  std::string source;  // where this plan was published and what that left open; empty: made by hand
  NameStamp stamp;
  TransformerShape model;
  Cluster cluster;
  Workload workload;
  Parallelism parallelism;
  Placement placement;
  PipelinePlan pipeline;
  Checkpointing checkpointing;
  KernelChoices kernels;
  Precision precision;
  Muon muon;
  Adapter adapter;
  Offload offload;
  ServingPlan serving;
  Assumptions assumptions;
  bool serves() const { return workload.kind == WorkloadKind::serving; }  // else it trains
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// How the layers of the plan are dealt to its virtual stages, and how many of these there are; 1 without a pipeline.
LayerSplit layer_split(const Scenario&);
// Whether a stage waits until what it sends has arrived.
constexpr bool blocks_sends(StageSends sends, ScheduleKind kind) {
  return sends == StageSends::by_schedule ? facts_of(kind).blocks_sends : sends == StageSends::blocking;
}
int virtual_stages_of(const Scenario&);
// Lists the order that the schedule makes, where it is legal and not too long to be read by people; or drops what was
// given.
void give_order(Scenario&, bool given);
// Runs an order that was read: with the schedule and the chunks it is of.
void take_order(Scenario&, const GivenOrder&);
// What a pipeline of these sizes is asked to run: the schedule, with the plan's group size or its given order where
// either suits. `virtual_stages` as the plan has them; without a pipeline there is one.
ScheduleShape schedule_shape(const PipelinePlan&, ScheduleKind, int stages, int microbatches, int virtual_stages);
// Lists the layers of the virtual stages as they are dealt now, or deals them again.
void list_layers(Scenario&, bool by_hand);

SoftwareStack software_stack(const Scenario&);
// Whether, by its calibration, the host takes time of every layer to wait for its kernels (KernelLaunch::blocking).
bool waits_for_kernels(const Scenario&);
// Whether, by its calibration, the products of attention run on the vector units of a GPU: kernels that send scores
// through HBM take heads as they are (has_aligned_heads), fused ones pad them.
bool multiplies_heads_by_vector(const Scenario&);
// Whether it serves in calibrated mode on software that was fitted to training alone (JAX on TPUs): the time the host
// takes of a training step is not that of a decoding step, and is left out.
bool decodes_unfitted(const Scenario&);
// The calibration that applies to a scenario that is not ideal: of its mode, chip and software.
CalibrationValues applied_calibration(const Scenario&);

}  // namespace roofscape::engine
