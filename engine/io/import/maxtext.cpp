// MaxText: YAML over its base.yml, and launch lines of key=value. Not a run's file but a model's is read as a model.
//
// Its mesh is a product of axes inside a slice (ici_) and across slices (dcn_); one of each kind may be -1 and takes what is
// left. fsdp, fsdp_transpose and expert all shard the batch and the weights, so they multiply into fsdp, with expert inside.
// tensor shards the residual stream by its features, tensor_sequence by the sequence. per_device_batch_size counts every
// device of the mesh and may be a fraction. A pipeline runs the forwards of all microbatches before the first backward, its
// layers going round the stages in repeats.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "engine/base/ascii.h"
#include "engine/io/import/command_keys.h"
#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launcher.h"
#include "engine/io/import/maxtext_keys.h"
#include "engine/io/import/maxtext_model.h"

namespace roofscape::io {

using engine::say;

namespace {

// One logical axis inside and across slices.
struct MaxtextAxis {
  int size = 1;       // the product of what is stated
  bool rest = false;  // one of the two takes what is left
  Origin origin;      // of a stated size
};

// Tensors of a layer that a policy keeps, as custom policies name them.
enum class Kept { no, device, host };
struct KeptTensors {
  Kept input = Kept::device, context = Kept::no, query = Kept::no, key = Kept::no, value = Kept::no, out = Kept::no,
       mlp_in = Kept::no, mlp_out = Kept::no;
};
struct RematPolicy {
  std::string_view name;
  KeptTensors kept;
};
constexpr std::array kRematPolicies{
    // input, context, query, key, value, out, mlp_in, mlp_out
    RematPolicy{"full", {Kept::device, Kept::no, Kept::no, Kept::no, Kept::no, Kept::no, Kept::no, Kept::no}},
    RematPolicy{
        "minimal",
        {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device}},
    RematPolicy{"minimal_flash",
                {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device,
                 Kept::device}},
    RematPolicy{"minimal_with_context",
                {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device,
                 Kept::device}},
    RematPolicy{"minimal_with_context_and_quantization",
                {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device,
                 Kept::device}},
    RematPolicy{"minimal_offloaded",
                {Kept::device, Kept::no, Kept::host, Kept::host, Kept::host, Kept::host, Kept::host, Kept::host}},
    RematPolicy{
        "save_dot_with_context_except_mlp",
        {Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::device, Kept::no, Kept::no}},
    RematPolicy{
        "save_dot_except_mlpwi",
        {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::device, Kept::no, Kept::device}},
    RematPolicy{"save_dot_except_mlp",
                {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::device, Kept::no, Kept::no}},
    RematPolicy{"save_qkv_proj",
                {Kept::device, Kept::no, Kept::device, Kept::device, Kept::device, Kept::no, Kept::no, Kept::no}},
    RematPolicy{"qkv_proj_offloaded",
                {Kept::device, Kept::no, Kept::host, Kept::host, Kept::host, Kept::no, Kept::no, Kept::no}},
    RematPolicy{"save_out_proj",
                {Kept::device, Kept::no, Kept::no, Kept::no, Kept::no, Kept::device, Kept::no, Kept::no}},
};

struct TpuSlice {
  std::string_view name, chip;
  int cores_per_chip;    // what the number after the name counts
  int devices_per_chip;  // what JAX counts
};
constexpr std::array kTpuSlices{TpuSlice{"v4", "tpu-v4p", 2, 1}, TpuSlice{"v5p", "tpu-v5p", 2, 1},
                                TpuSlice{"v5e", "tpu-v5e", 1, 1}, TpuSlice{"v6e", "tpu-v6e", 1, 1},
                                TpuSlice{"tpu7x", "tpu-7x", 2, 2}};

int jax_devices_of(const engine::Chip& chip) { return chip.id == "tpu-7x" ? 2 : 1; }

class MaxtextReader {
 public:
  MaxtextReader(std::string_view file, const PresetLibrary& library) : library_(library), keys_(file, plan_) {}
  KeyReader& keys() { return keys_; }
  LaunchPlan& plan() { return plan_; }

  Result<LaunchPlan> read(bool whole_plan) {
    plan_.devices_of = jax_devices_of;
    other_work();
    shape_ = read_maxtext_model(keys_, plan_, library_, whole_plan);
    if (whole_plan)
      for (auto step : {&MaxtextReader::topology, &MaxtextReader::mesh, &MaxtextReader::batch,
                        &MaxtextReader::sharding, &MaxtextReader::checkpointing, &MaxtextReader::precision})
        if (!keys_.failed()) (this->*step)();
    rest();
    if (keys_.failed()) return *keys_.failure();
    return std::move(plan_);
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("MaxText")); }

  // What MaxText does besides pretraining: the plan is read, and is not what would run.
  void other_work() {
    for (const std::string_view pattern :
         {"student_overrides.*", "teacher_overrides.*", "rollout_*", "num_samplers_slices", "rl.*"})
      if (const auto origin = keys_.like(pattern))
        return plan_.fail(say("import.maxtext.other_work", origin->key), origin->line);
    for (const std::string_view key : {"use_dpo", "lora.enable_lora", "use_grpo"})
      if (keys_.is_word(key, "true")) return plan_.fail(say("import.maxtext.other_work", key), keys_.like(key)->line);
    const auto base = keys_.word("base_config");
    if (keys_.is_word("model_call_mode", "inference") ||
        (base &&
         (base->value.find("inference") != std::string::npos || base->value.find("decode") != std::string::npos)))
      plan_.fail(say("import.maxtext.inference"), base ? base->origin.line : 0);
  }

  // "v5p-2048": an accelerator and its size, for compilation ahead of time.
  void topology() {
    const auto name = keys_.word("compile_topology");
    const auto slices = keys_.whole("compile_topology_num_slices|num_slices", -1, 1024);
    if (keys_.failed()) return;
    const int count = slices && slices->value > 0 ? slices->value : 1;
    if (slices && slices->value > 0)
      plan_.read.push_back({slices->origin.key, slices->origin.line, "cluster.slices", std::to_string(count)});
    if (!name || name->value.empty()) return;
    const std::string_view written = name->value;
    const std::size_t dash = written.rfind('-');
    int size = 0;
    const std::string_view digits = dash == std::string_view::npos ? std::string_view() : written.substr(dash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const auto row = std::find_if(kTpuSlices.begin(), kTpuSlices.end(),
                                  [&](const TpuSlice& known) { return known.name == written.substr(0, dash); });
    if (row == kTpuSlices.end() || error != std::errc() || end != digits.data() + digits.size() || size < 1 ||
        size > 1 << 20 || size % row->cores_per_chip != 0)
      return plan_.warn(say("import.maxtext.topology", in_quotes(written)), name->origin.line);
    plan_.devices_per_chip = row->devices_per_chip;
    plan_.slices = count;
    slice_devices_ = size / row->cores_per_chip * row->devices_per_chip;
    slices_ = count;
    plan_.chips = {slice_devices_ * count, name->origin};
    plan_.chip = {std::string(row->chip), name->origin};
  }

  // One of the axes that multiply into a degree. `rests`: it may be -1.
  void take(MaxtextAxis& axis, std::string_view name, bool rests, int usual_ici = 1, int usual_dcn = 1) {
    for (const auto& [prefix, usual_size] :
         {std::pair<std::string_view, int>{"ici_", usual_ici}, {"dcn_", usual_dcn}}) {
      const std::string key = std::string(prefix) + std::string(name) + "_parallelism";
      const auto stated = keys_.whole(key, -1, kMostRanks);
      if (keys_.failed()) return;
      const int size = stated ? stated->value : usual_size;
      if (stated && size == 0)
        return keys_.fail(stated->origin, say("error.out_of_range", in_quotes("0")),
                          say("import.maxtext.axis.remedy"));
      if (size == -1) {
        // -1 inside a slice is known where the slice is; elsewhere one axis of each kind takes what chips leave.
        Maybe<int>& other = prefix == "ici_" ? ici_rest_ : dcn_rest_;
        if (stated && other && other->origin.line > 0)
          return keys_.contradiction(other->origin, "-1", stated->origin, "-1");
        if (stated || !other) other = Stated<int>{-1, stated ? stated->origin : Origin{key, 0}};
        if (!rests) {
          plan_.missing.push_back(
              {"parallelism." + std::string(name), "--set parallelism." + std::string(name) + "=..."});
          return plan_.fail(say("import.maxtext.rest", key), stated ? stated->origin.line : 0);
        }
        axis.rest = true;
      } else if (static_cast<std::int64_t>(axis.size) * size > kMostRanks) {
        return keys_.fail(stated->origin, say("error.out_of_range", in_quotes(std::to_string(size))),
                          say("import.maxtext.axis.remedy"));
      } else {
        axis.size *= size;
      }
      if (stated && (axis.origin.key.empty() || size != 1)) axis.origin = stated->origin;
    }
  }
  void state_degree(const MaxtextAxis& axis, std::string_view field) {
    if (axis.origin.key.empty())
      plan_.assume(field, axis.size, usual());
    else
      plan_.state(field, axis.size, axis.origin);
  }

  void mesh() {
    lists();
    MaxtextAxis tensor, sequence, context, pipeline, expert, fsdp, data;
    MaxtextAxis replicas, cache;
    take(tensor, "tensor", false);
    const int plain_tensor_before = tensor.size;
    take(tensor, "tensor_transpose", false);
    if (tensor.size > plain_tensor_before) plan_.warn(say("import.maxtext.two_ways"), tensor.origin.line);
    take(sequence, "tensor_sequence", false);
    take(context, "context", false);
    take(context, "sequence", false);
    take(context, "context_usp_ulysses", false);
    take(context, "context_autoregressive", false);
    take(pipeline, "pipeline", false);
    take(expert, "expert", false);
    take(cache, "autoregressive", false);
    take(fsdp, "fsdp", true, ici_explicit() ? 1 : -1, 1);
    take(fsdp, "fsdp_transpose", true);
    take(data, "data", true, 1, dcn_explicit() ? 1 : -1);
    take(replicas, "diloco", false);
    if (keys_.failed()) return;
    if (cache.size > 1)
      return keys_.fail(cache.origin, say("import.maxtext.autoregressive"),
                        say("import.maxtext.autoregressive.remedy"));
    if (replicas.size > 1) {
      data.size *= replicas.size;
      if (data.origin.key.empty()) data.origin = replicas.origin;
      plan_.warn(say("import.maxtext.diloco"), replicas.origin.line);
    }

    const int tensor_degree = tensor.size * sequence.size;
    if (sequence.size > 1 && tensor.size == 1) tensor.origin = sequence.origin;
    tensor.size = tensor_degree;
    state_degree(tensor, "parallelism.tensor");
    state_degree(context, "parallelism.context");
    state_degree(pipeline, "parallelism.pipeline");
    state_degree(expert, "parallelism.expert");
    inner_ = static_cast<std::int64_t>(tensor.size) * context.size * pipeline.size;
    pipeline_ = pipeline.size;
    if (tensor_degree == 1)
      plan_.assume("parallelism.sequence_parallel", 0, say("import.tensor_is_one"));
    else if (tensor_degree == sequence.size)
      plan_.state("parallelism.sequence_parallel", 1, sequence.origin, std::to_string(sequence.size));
    else {
      plan_.missing.push_back({"parallelism.sequence_parallel", "--set parallelism.sequence_parallel=..."});
      plan_.warn(say("import.maxtext.features", tensor.origin.key), tensor.origin.line);
    }
    if (const auto method = keys_.word("context_parallel_strategy"); method && context.size > 1) {
      const bool known = method->value == "all_gather" || method->value == "ring" || method->value == "ulysses";
      plan_.state_choice("parallelism.context_method", known ? method->value : "ulysses", method->origin,
                         method->value);
      if (!known) plan_.warn(say("import.maxtext.context_method", in_quotes(method->value)), method->origin.line);
    } else if (context.size > 1) {
      plan_.assume_choice("parallelism.context_method", "all_gather", usual());
    }
    fsdp.size *= expert.size;
    if (expert.size > 1) fsdp.origin = expert.origin;
    share_out(fsdp, data, tensor, context, pipeline);
  }

  // ici_parallelism and dcn_parallelism list all axes at once.
  void lists() {
    for (const std::string_view key : {"ici_parallelism", "dcn_parallelism"})
      if (keys_.has(key) && keys_.is_list(key))
        if (const auto list = keys_.list(key); list.list != nullptr)
          plan_.no_effect(list.origin, say("import.maxtext.listed"));
  }
  // Whether an axis other than the usual one takes what is left.
  bool other_rest(std::string_view prefix, std::string_view usual_axis) {
    for (const std::string_view axis :
         {"data", "fsdp", "fsdp_transpose", "sequence", "context", "tensor", "tensor_transpose", "tensor_sequence",
          "expert", "pipeline", "autoregressive"}) {
      if (axis == usual_axis) continue;
      const std::string key = std::string(prefix) + std::string(axis) + "_parallelism";
      if (keys_.is_word(key, "-1")) return true;
    }
    return false;
  }
  bool ici_explicit() { return other_rest("ici_", "fsdp"); }
  bool dcn_explicit() { return other_rest("dcn_", "data"); }

  void share_out(MaxtextAxis fsdp, MaxtextAxis data, const MaxtextAxis& tensor, const MaxtextAxis& context,
                 const MaxtextAxis& pipeline) {
    plan_.rest = data.rest && !fsdp.rest ? RestAxis::data : RestAxis::fsdp;
    // A degree that is stated, or MaxText's default of it.
    const auto take_degree = [&](Maybe<int>& degree, const MaxtextAxis& axis, std::string_view field) {
      if (axis.origin.key.empty())
        plan_.assume(field, axis.size, usual());
      else
        degree = {axis.size, axis.origin};
    };
    const bool known = slice_devices_ > 0;
    if (known) {  // a topology says how many devices there are
      const std::int64_t all = static_cast<std::int64_t>(slice_devices_) * slices_;
      if (fsdp.rest && data.rest) {
        data.size *= dcn_rest_ && dcn_rest_->origin.key.find("data") != std::string::npos ? slices_ : 1;
        data.rest = false;
      }
      const std::int64_t others =
          static_cast<std::int64_t>(tensor.size) * context.size * pipeline.size * (fsdp.rest ? data.size : fsdp.size);
      if (all % others != 0)
        return keys_.fail(plan_.chips->origin,
                          say("import.maxtext.too_many", std::to_string(others), std::to_string(all)),
                          say("import.maxtext.too_many.remedy"));
    }
    if (!fsdp.rest) take_degree(plan_.fsdp, fsdp, "parallelism.fsdp");
    if (!data.rest) {
      take_degree(plan_.data, data, "parallelism.data");
    } else if (fsdp.rest) {
      // Both are left open: data is that across slices, of which there is one unless the cluster has more.
      plan_.assume("parallelism.data", data.size, say("import.maxtext.one_slice"));
      plan_.data_times_slices = true;
    } else {
      plan_.rest_alone =
          DefaultField{"parallelism.data", static_cast<double>(data.size), say("import.maxtext.one_slice")};
    }
    if (fsdp.rest && fsdp.size > 1) plan_.fsdp_multiple = fsdp.size;
  }

  void batch() {
    if (const auto length = keys_.whole("max_target_length", 1, 1 << 24))
      plan_.state("workload.sequence_length", length->value, length->origin);
    else if (!keys_.failed())
      plan_.assume("workload.sequence_length", 2048, usual());
    const auto stated = keys_.number("per_device_batch_size", 1e-9, 1 << 20);
    const auto rounds = keys_.whole("gradient_accumulation_steps", 1, 1 << 20);
    if (keys_.failed()) return;
    const Stated<double> each = stated ? *stated : Stated<double>{12, {"per_device_batch_size", 0}};
    const double rank = each.value * static_cast<double>(inner_);
    if (rank < 1 || rank > (1 << 24) || rank != std::floor(rank))
      return keys_.fail(each.origin,
                        say("import.maxtext.fraction", fmt::format("{:g}", each.value), std::to_string(inner_),
                            fmt::format("{:g}", rank)),
                        say("import.maxtext.fraction.remedy"));
    const int sequences = static_cast<int>(rank);
    plan_.batch_of_rank = {sequences, each.origin};
    plan_.accumulation = {rounds ? rounds->value : 1,
                          rounds ? rounds->origin : Origin{"gradient_accumulation_steps", 0}};
    const int parts = pipeline_ > 1 ? stages(sequences) : 1;
    if (keys_.failed()) return;
    if (stated)
      plan_.state("pipeline.microbatch_sequences", sequences / parts, each.origin, fmt::format("{:g}", each.value));
    else
      plan_.assume("pipeline.microbatch_sequences", sequences / parts, usual());
    if (pipeline_ == 1) plan_.assume("pipeline.virtual_stages", 1, say("import.no_pipeline"));
  }

  // Stages, repeats and microbatches of a pipeline; how many of these a rank's batch is cut into.
  int stages(int sequences) {
    const auto layers = keys_.whole("num_layers_per_pipeline_stage", 1, 10000);
    const auto repeats = keys_.whole("num_pipeline_repeats", -1, 10000);
    const auto count = keys_.whole("num_pipeline_microbatches", -1, 1 << 20);
    const auto delayed = keys_.flag("pipeline_delay_activation_forwarding");
    const auto piped = keys_.whole("pipeline_parallel_layers", -1, 10000);
    if (keys_.failed()) return 1;
    if (piped && piped->value > 0) plan_.warn(say("import.maxtext.piped_layers", piped->value), piped->origin.line);
    const int parts = count && count->value > 0 ? count->value : pipeline_ * (delayed && delayed->value ? 2 : 1);
    const Origin from = count ? count->origin : Origin{"num_pipeline_microbatches", 0};
    if (sequences % parts != 0) {
      keys_.contradiction({"per_device_batch_size", 0}, std::to_string(sequences), from, std::to_string(parts));
      return 1;
    }
    int chunks = repeats && repeats->value > 0 ? repeats->value : 0;
    if (chunks > 0) {
      plan_.state("pipeline.virtual_stages", chunks, repeats->origin);
    } else if (shape_.n_layers > 0) {
      const int each = layers ? layers->value : 1;
      chunks = shape_.n_layers / (pipeline_ * each);
      if (chunks * pipeline_ * each != shape_.n_layers) {
        keys_.fail(layers ? layers->origin : Origin{"num_layers_per_pipeline_stage", 0},
                   say("import.maxtext.repeats", shape_.n_layers, pipeline_, each),
                   say("import.maxtext.repeats.remedy"));
        return 1;
      }
      if (layers)
        plan_.state("pipeline.virtual_stages", chunks, layers->origin);
      else
        plan_.assume("pipeline.virtual_stages", chunks, usual());
    } else {
      plan_.missing.push_back({"pipeline.virtual_stages", "--set pipeline.virtual_stages=..."});
    }
    plan_.assume_choice("pipeline.schedule", chunks > 1 ? "looped-bfs" : "gpipe", say("import.maxtext.schedule"));
    if (delayed && delayed->value) plan_.warn(say("import.maxtext.delayed"), delayed->origin.line);
    const auto once = keys_.flag("pipeline_fsdp_ag_once"), repeated = keys_.flag("pipeline_fsdp_ag_per_repeat");
    if (once && once->value)
      plan_.state_choice("parallelism.keep_gathered", "step", once->origin, "true");
    else if (repeated && repeated->value)
      plan_.state_choice("parallelism.keep_gathered", "chunk", repeated->origin, "true");
    return parts;
  }

  void sharding() {
    const auto over_data = keys_.flag("shard_optimizer_over_data");
    if (keys_.failed()) return;
    if (over_data && over_data->value && plan_.data && fsdp_is_one()) {
      // Optimizer state alone is sharded, over the data ranks: these are the group of stage 1.
      plan_.fsdp = plan_.data;
      plan_.data = Stated<int>{1, over_data->origin};
      plan_.rest = RestAxis::fsdp;
      std::erase_if(plan_.defaults, [](const DefaultField& field) {
        return field.path == "parallelism.data" || field.path == "parallelism.fsdp";
      });
      plan_.state("parallelism.zero_stage", 1, over_data->origin, "true");
    } else {
      plan_.assume("parallelism.zero_stage", 3, say("import.maxtext.sharded"));
      if (over_data && over_data->value) plan_.warn(say("import.maxtext.over_data"), over_data->origin.line);
    }
    if (const auto offload = keys_.flag("optimizer_memory_host_offload"))
      plan_.state("offload.optimizer", offload->value ? 1 : 0, offload->origin, offload->value ? "true" : "false");
    if (const auto offload = keys_.flag("parameter_memory_host_offload"); offload && offload->value)
      plan_.warn(say("import.offloads_weights"), offload->origin.line);
    if (const auto rules = keys_.word("custom_mesh_and_rule|custom_mesh"); rules && !rules->value.empty())
      plan_.warn(say("import.maxtext.rules", in_quotes(rules->value)), rules->origin.line);
  }

  bool fsdp_is_one() const { return plan_.fsdp ? plan_.fsdp->value == 1 : plan_.value_of("parallelism.fsdp") == 1.0; }

  Kept kept(std::string_view names) {
    const auto word = keys_.word(names);
    if (!word || word->value == "remat") return Kept::no;
    if (word->value == "offload") return Kept::host;
    if (word->value != "device") keys_.not_possible(word->origin, word->value, "remat device offload");
    return Kept::device;
  }

  void checkpointing() {
    const auto policy = keys_.word("remat_policy");
    if (keys_.failed()) return;
    const std::string name = policy ? policy->value : "full";
    const auto take_policy = [&](std::string_view id) {
      if (policy)
        plan_.state_choice("checkpointing.policy", id, policy->origin, name);
      else
        plan_.assume_choice("checkpointing.policy", id, usual());
    };
    if (name == "none") return take_policy("none");
    KeptTensors tensors;
    if (name == "custom") {
      if (kept("decoder_layer_input") == Kept::host) tensors.input = Kept::host;
      tensors.context = kept("context");
      const Kept all = kept("qkv_proj");
      tensors.query = std::max(all, kept("query_proj"));
      tensors.key = std::max(all, kept("key_proj"));
      tensors.value = std::max(all, kept("value_proj"));
      tensors.out = kept("out_proj");
      tensors.mlp_in =
          std::max({kept("mlpwi"), kept("mlpwi_0"), kept("mlpwi_1"), kept("moe_mlpwi_0"), kept("moe_mlpwi_1")});
      tensors.mlp_out = std::max(kept("mlpwo"), kept("moe_mlpwo"));
      if (keys_.failed()) return;
    } else {
      const auto row = std::find_if(kRematPolicies.begin(), kRematPolicies.end(),
                                    [&](const RematPolicy& known) { return known.name == name; });
      if (row == kRematPolicies.end()) {
        std::string names = "none custom";
        for (const RematPolicy& known : kRematPolicies) names += " " + std::string(known.name);
        return keys_.not_possible(policy->origin, name, names);
      }
      tensors = row->kept;
    }
    nearest(tensors, name, policy, take_policy);
  }

  template <class Take>
  void nearest(const KeptTensors& t, const std::string& name, const Maybe<std::string>& policy,
               const Take& take_policy) {
    const auto holds = [](Kept kept) { return kept == Kept::no ? 0.0 : 1.0; };
    const bool host =
        std::max({t.input, t.context, t.query, t.key, t.value, t.out, t.mlp_in, t.mlp_out}) == Kept::host;
    const int line = policy ? policy->origin.line : 0;
    if (host) {
      if (policy)
        plan_.state("offload.activations", 1, policy->origin, name);
      else
        plan_.assume("offload.activations", 1, usual());
    }
    const bool attention = holds(t.query) * holds(t.key) * holds(t.value) * holds(t.out) > 0;
    if (attention && holds(t.mlp_in) > 0 && holds(t.mlp_out) > 0) {
      take_policy("big_matmuls");
      if (host) plan_.warn(say("import.maxtext.remat", in_quotes(name), std::string_view("big_matmuls")), line);
      return;
    }
    const double width = std::max(1, shape_.d_model);
    const bool known = shape_.n_layers > 0;
    const double heads = known ? shape_.n_heads * shape_.d_head / width : 1;
    const double kv_heads = known ? shape_.n_kv_heads * shape_.d_head / width : 0.25;
    const double mlp = known ? shape_.d_ff * (shape_.gated_mlp ? 2 : 1) / width : 7;
    const double kept = 1 + holds(t.context) * heads + holds(t.query) * heads +
                        (holds(t.key) + holds(t.value)) * kv_heads + holds(t.out) + holds(t.mlp_out) +
                        holds(t.mlp_in) * mlp;
    const int k = std::clamp(static_cast<int>(std::lround(kept)), 1, 20);
    if (k == 1) {
      take_policy("block");
      if (name != "full") plan_.warn(say("import.maxtext.remat", in_quotes(name), std::string_view("block")), line);
      return;
    }
    take_policy("k_per_layer");
    plan_.assume("checkpointing.k", k, say("import.maxtext.tensors", in_quotes(name)));
    plan_.warn(say("import.maxtext.remat", in_quotes(name), std::string_view("k_per_layer")), line);
  }

  void precision() {
    const auto compute = keys_.word("dtype"), weights = keys_.word("weight_dtype"),
               quantization = keys_.word("quantization");
    const auto optimizer = keys_.word("opt_type"), moment = keys_.word("mu_dtype"),
               gradients = keys_.word("grad_dtype");
    if (keys_.failed()) return;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTypes{
        {{"bfloat16", "bf16"}, {"float32", "fp32"}, {"float16", "fp16"}}};
    const auto type_of = [&](const Maybe<std::string>& stated, std::string_view usual_type) -> std::string_view {
      if (!stated || stated->value.empty()) return usual_type;
      for (const auto& [theirs, ours] : kTypes)
        if (theirs == stated->value) return ours;
      keys_.not_possible(stated->origin, stated->value, "bfloat16 float32 float16");
      return usual_type;
    };
    const std::string_view computes = type_of(compute, "bf16"), stores = type_of(weights, "fp32");
    type_of(gradients, "fp32");
    type_of(moment, "fp32");
    if (keys_.failed()) return;
    const std::string_view low = quantization ? std::string_view(quantization->value) : std::string_view();
    if (low.find("fp8") != std::string_view::npos)
      plan_.state_choice("precision.compute", "fp8", quantization->origin, quantization->value);
    else if (low.find("nvfp4") != std::string_view::npos)
      plan_.state_choice("precision.compute", "nvfp4", quantization->origin, quantization->value);
    else if (low.starts_with("int8") || low == "aqt_int8")
      plan_.state_choice("precision.compute", "int8", quantization->origin, quantization->value);
    else if (!low.empty())
      plan_.warn(say("import.maxtext.quantization", in_quotes(low)), quantization->origin.line);
    const bool narrow = low.find("fp8") != std::string_view::npos || low.find("nvfp4") != std::string_view::npos;
    if (!narrow && !low.starts_with("int8") && low != "aqt_int8") {
      if (compute)
        plan_.state_choice("precision.compute", computes, compute->origin, compute->value);
      else
        plan_.assume_choice("precision.compute", "bf16", usual());
    } else if (compute) {
      plan_.no_effect(compute->origin, say("import.maxtext.quantized", in_quotes(low)));
    }
    // Weights of 32 bits are gathered and multiplied as copies of 16: a master copy in Roofscape's terms.
    const bool pure = stores != "fp32", full = computes == "fp32";
    const auto take = [&](std::string_view field, std::string_view type) {
      if (weights)
        plan_.state_choice(field, type, weights->origin, weights->value);
      else
        plan_.assume_choice(field, type, usual());
    };
    take("precision.weights", pure ? stores : full ? "fp32" : "bf16");
    take("precision.master_weights", pure || full ? "none" : "fp32");
    plan_.assume_choice("precision.gradients", full ? "fp32" : "bf16", usual());
    const std::string kind = optimizer ? optimizer->value : "adamw";
    const std::string_view state = kind == "sgd"    ? "none"
                                   : kind == "muon" ? (pure ? "muon_bf16" : "muon_fp32")
                                                    : (pure ? "adam_bf16" : "adam_fp32");
    if (optimizer)
      plan_.state_choice("precision.optimizer", state, optimizer->origin, kind);
    else
      plan_.assume_choice("precision.optimizer", state, usual());
    if (kind != "adamw" && kind != "adam_pax" && kind != "sgd" && kind != "muon")
      plan_.warn(say("import.optimizer_unknown", in_quotes(kind)), optimizer->origin.line);
    if (moment && !moment->value.empty()) plan_.no_effect(moment->origin, say("import.ignored.not_modelled"));
  }

  void rest() {
    if (!keys_.failed()) finish_maxtext_keys(keys_);
  }

  const PresetLibrary& library_;
  LaunchPlan plan_;
  KeyReader keys_;
  engine::TransformerShape shape_;
  std::int64_t inner_ = 1;
  int pipeline_ = 1, slice_devices_ = 0, slices_ = 1;
  Maybe<int> ici_rest_, dcn_rest_;
};

// Keys that a run of MaxText has and a model's file has not.
bool is_run_key(std::string_view key) {
  constexpr std::array<std::string_view, 9> kKeys{"base_config",       "model_name",       "per_device_batch_size",
                                                  "max_target_length", "remat_policy",     "steps",
                                                  "run_name",          "compile_topology", "base_output_directory"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end() ||
         ((key.starts_with("ici_") || key.starts_with("dcn_")) && key.ends_with("_parallelism"));
}
bool is_model_key(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys{"base_emb_dim", "base_num_decoder_layers", "base_num_query_heads",
                                                  "base_mlp_dim", "decoder_block"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

bool is_maxtext_file(const LaunchSource& source) {
  const Node& root = source.document;
  int run = 0;
  for (const std::string& key : root.keys) {
    if (is_model_key(key) || ((key.starts_with("ici_") || key.starts_with("dcn_")) && key.ends_with("_parallelism")))
      return true;
    if (key == "per_device_batch_size" || key == "max_target_length" || key == "remat_policy" || key == "base_config")
      return true;
    if (is_run_key(key)) ++run;
  }
  return run >= 3;
}

Result<LaunchPlan> read_maxtext_file(const LaunchSource& source, const PresetLibrary& library) {
  MaxtextReader reader(source.file, library);
  reader.keys().add(source.document);
  const bool run = std::any_of(source.document.keys.begin(), source.document.keys.end(),
                               [](const std::string& key) { return is_run_key(key); });
  return reader.read(run);
}

// "key=value" with a key of letters, digits and underscores. npos: it is none.
std::size_t equals_sign(std::string_view word) {
  std::size_t end = 0;
  while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_')) ++end;
  return end > 0 && end < word.size() && word[end] == '=' && std::isalpha(static_cast<unsigned char>(word[0])) != 0
             ? end
             : std::string_view::npos;
}

bool is_maxtext_command(const ShellCommand& command) {
  bool named = false;
  int keys = 0;
  for (const ShellWord& word : command.words) {
    const std::size_t at = equals_sign(word.text);
    if (at == std::string_view::npos)
      named = named || engine::ascii_lower(word.text).find("maxtext") != std::string::npos;
    else if (const std::string_view key = std::string_view(word.text).substr(0, at);
             is_run_key(key) || is_model_key(key))
      ++keys;
  }
  return keys > 0 && (named || keys > 1);
}

bool is_maxtext_line(const LaunchSource& source) {
  const std::vector<ShellCommand> commands = commands_of(source.script);
  return std::any_of(commands.begin(), commands.end(), is_maxtext_command);
}

// What xpk and its like are told of the chips, as the keys that MaxText has for them.
void take_topology(const ShellCommand& command, KeyReader& keys) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFlags{
      {{"--tpu-type", "compile_topology"},
       {"--device-type", "compile_topology"},
       {"--num-slices", "compile_topology_num_slices"},
       {"--num-nodes", "compile_topology_num_slices"}}};
  for (std::size_t i = 0; i < command.words.size(); ++i)
    for (const auto& [flag, key] : kFlags) {
      const std::string_view text = command.words[i].text;
      if (!text.starts_with(flag)) continue;
      const bool joined = text.size() > flag.size() && text[flag.size()] == '=';
      if (!joined && (text != flag || i + 1 == command.words.size())) continue;
      const ShellWord& value = joined ? command.words[i] : command.words[i + 1];
      keys.add(std::string(key),
               plain_scalar(joined ? text.substr(flag.size() + 1) : std::string_view(value.text), value.line),
               value.open);
    }
}

Result<LaunchPlan> read_maxtext_line(const LaunchSource& source, const PresetLibrary& library) {
  MaxtextReader reader(source.file, library);
  std::vector<ShellCommand> commands = commands_of(source.script);
  // A command that holds the run as one text has the run behind it; its own flags say on what it runs.
  const auto run = std::find_if(commands.rbegin(), commands.rend(), is_maxtext_command);
  for (const ShellCommand& command : commands) {
    take_topology(command, reader.keys());
    if (&command != &*run) continue;
    bool begun = false;
    for (const ShellWord& word : command.words) {
      const std::size_t at = equals_sign(word.text);
      if (at != std::string_view::npos) {
        begun = true;
        const std::string value = word.text.substr(at + 1);
        reader.keys().add(word.text.substr(0, at), plain_scalar(value, word.line), word.open);
      } else if (begun) {
        reader.plan().warn(say("import.maxtext.stray", in_quotes(word.text)), word.line);
      } else if (word.text.ends_with(".yml") || word.text.ends_with(".yaml")) {
        const std::string_view name = std::string_view(word.text).substr(word.text.rfind('/') + 1);
        if (name != "base.yml") reader.plan().warn(say("import.maxtext.other_file", in_quotes(word.text)), word.line);
      }
    }
    break;  // the first run of a script
  }
  tell_gaps(source.script, reader.plan());
  return reader.read(true);
}

}  // namespace

const LaunchFormat maxtext_yaml_format{"maxtext", "MaxText", LaunchSyntax::yaml, is_maxtext_file, read_maxtext_file};
const LaunchFormat maxtext_line_format{"maxtext", "MaxText", LaunchSyntax::shell, is_maxtext_line, read_maxtext_line};

}  // namespace roofscape::io
