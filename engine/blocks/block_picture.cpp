#include "engine/blocks/block_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace roofscape::engine {

namespace {

constexpr double kDown = 256, kUp = 32;  // how far an axis goes from the present value, as ratios
constexpr double kEvenRatio = 8;         // an axis that covers less goes in even steps
constexpr std::size_t kFewWhole = 96;    // as many whole numbers are all taken

// The pictures, by block.
const std::map<std::string_view, BlockPicture>& pictures() {
  static const std::map<std::string_view, BlockPicture> all{
      {"matmul", {"batch", {"flops_per_s"}}},
      {"roofline", {"intensity", {"attainable_flops_per_s"}}},
      {"ridge", {"level", {"ridge"}}},
      {"vector", {"flops_per_element", {"time_s", "math_s", "bytes_s"}}},
      {"transfer", {"", {"pcie_s", "ici_s", "hbm_s", "dcn_s", "math_s", "lower_s", "upper_s"}}},
      {"gpu-peak", {"dtype", {"peak_flops_per_s"}}},
      {"tpu-peak", {"dtype", {"peak_flops_per_s"}}},
      {"pod", {"", {"hbm_bytes_per_s", "dcn_bytes_per_s", "ici_bytes_per_s_per_chip", "dcn_bytes_per_s_per_host"}}},
      {"fat-tree",
       {"",
        {"node_gpu_bytes_per_s", "node_bytes_per_s", "leaf_bytes_per_s_per_node", "cable_bytes_per_s_per_node",
         "spine_bytes_per_s_per_node", "bisection_bytes_per_s_per_node"}}},
      {"ratio", {"value", {"ratio"}}},
      {"array", {"", {"bytes", "bytes_per_device", "total_bytes", "padded_bytes"}}},
      {"collective", {"bytes", {"time_s", "bandwidth_s", "latency_s"}}},
      {"collective-gpu", {"nodes", {"time_s", "sharp_s"}}},
      {"p2p", {"bytes", {"time_s", "transfer_s", "first_byte_s"}}},
      {"overlap", {"chunks", {"overlapped_s", "blocking_s", "perfect_s"}}},
      {"sharded-matmul", {"rows", {"gather_first_s", "reduce_after_s", "scatter_after_s", "replicated_s"}}},
      {"tensor-parallel", {"ways", {"math_s", "comms_s"}}},
      {"params", {"", {"mlp", "attention", "vocab", "norms"}}},
      {"flops", {"sequence_length", {"per_token", "attention_per_token"}}},
      {"attention", {"key_length", {"intensity", "prefill_intensity", "decode_intensity", "ridge"}}},
      {"moe", {"experts", {"total", "active"}}},
      {"mla", {"", {"queries", "keys_values", "output"}}},
      {"state", {"shards", {"zero_0_bytes", "zero_1_bytes", "zero_2_bytes", "zero_3_bytes"}}},
      {"activations",
       {"", {"all_bytes", "big_matmuls_bytes", "mlp_matmuls_bytes", "k_per_layer_bytes", "block_bytes"}}},
      {"activations-gpt",
       {"",
        {"layer_bytes", "tensor_bytes", "tensor_sequence_bytes", "selective_bytes", "full_recompute_bytes",
         "full_recompute_sharded_bytes"}}},
      {"checkpointing", {"checkpoints", {"extra_forwards"}}},
      {"kv-cache", {"sequence_length", {"bytes"}}},
      {"adapters", {"rank", {"total_bytes", "full_training_bytes", "adapter_state_bytes"}}},
      {"muon", {"tokens", {"overhead", "overhead_bound"}}},
      {"offload", {"chips", {"optimizer_s", "activation_s"}}},
      {"bounds",
       {"",
        {"tokens_per_chip", "fsdp_tokens_per_chip", "fsdp_2_axes_tokens_per_chip", "fsdp_3_axes_tokens_per_chip",
         "mixed_max_tokens_per_chip", "mixed_sum_tokens_per_chip"}}},
      {"mesh-optimum", {"fsdp", {"comms_sum_s", "fsdp_s", "tensor_s", "math_s"}}},
      {"bounds-gpu",
       {"",
        {"tokens_per_gpu", "in_node_tokens_per_gpu", "beyond_node_tokens_per_gpu", "sharp_tokens_per_gpu",
         "expert_tokens_per_gpu", "model_parallel_tokens_per_gpu"}}},
      {"mesh", {"", {"chips", "data_ranks", "state_shards", "token_ranks"}}},
      {"layer-traffic", {"", {"dp_bytes", "fsdp_bytes", "tp_bytes", "fsdp_tp_bytes"}}},
      {"hsdp", {"", {"intra_s", "inter_s", "time_s", "overlapped_s", "flat_fsdp_s"}}},
      {"context", {"context", {"ring_step_math_s", "ring_step_comms_s"}}},
      {"expert-parallel", {"expert_d_ff", {"math_s", "comms_s"}}},
      {"recipe", {"gpus", {"stage_number"}}},
      {"pipeline-bubble", {"microbatches", {"bubble_share"}}},
      {"pipeline", {"schedule", {"makespan"}}},
      {"run", {"chips", {"days"}}},
      {"mfu", {"sequence_length", {"flops_6p", "flops_full_attention", "flops_causal_attention"}}},
      {"decode", {"batch", {"step_s", "weights_s", "kv_s", "flops_s"}}},
      {"prefill", {"tokens", {"time_s", "linear_s", "attention_s"}}},
      {"serving-capacity", {"batch", {"total_bytes", "hbm_bytes"}}},
      {"serving-limits", {"tensor", {"gather_s", "latency_s"}}},
      {"weight-stationary", {"chips", {"time_s", "tensor_parallel_s"}}},
      {"batching", {"batch", {"requests_per_s", "mixed_requests_per_s"}}},
      {"batching-simulation", {"arrivals_per_s", {"ttft_p50_s", "ttft_p90_s", "ttft_p99_s"}, 13}},
      {"speculation", {"acceptance", {"tokens_per_step", "speedup"}}},
  };
  return all;
}

const BlockOutput* find_output(const BuildingBlock& block, std::string_view name) {
  for (const BlockOutput& o : block.outputs)
    if (o.name == name) return &o;
  return nullptr;
}

bool is_number(const BlockOutput& o) { return o.kind == OutputKind::number; }

std::string names_of(const std::vector<const BlockOutput*>& outputs) {
  std::string out;
  for (const BlockOutput* o : outputs) out += (out.empty() ? "" : ", ") + std::string(o->name);
  return out;
}

// Values of a numeric input for a curve.
std::vector<double> steps_of(const BlockInput& in, std::optional<double> now, std::size_t points, bool& even) {
  const double middle = now && *now != 0 ? *now : typical_value(in);
  double low = middle / kDown, high = middle * kUp;
  if (in.high <= 1) low = in.low, high = in.high;  // a share
  const Unit& unit = quantity(in.q).unit;
  const bool counts = in.high > 1 && (!now || (*now >= 1 && *now == std::floor(*now)));
  if (unit.notation == Notation::count || (counts && unit.symbol == "1"))
    low = std::max(low, 1.0);  // a number of something
  if (in.is_whole()) low = std::max(1.0, std::floor(low)), high = std::max(std::ceil(high), low + kUp);
  low = std::max(low, in.low), high = std::min(high, in.high);
  even = !(low > 0) || high / low < kEvenRatio;
  std::vector<double> x;
  const auto n = static_cast<double>(points - 1);
  if (in.is_whole() && high - low < static_cast<double>(std::min(kFewWhole, points))) {
    for (double at = low; at <= high; ++at) x.push_back(at);
  } else {
    for (std::size_t i = 0; i < points; ++i) {
      const double share = static_cast<double>(i) / n;
      double at = i + 1 == points ? high : even ? low + (high - low) * share : low * std::pow(high / low, share);
      if (in.is_whole()) at = std::round(at);
      x.push_back(at);
    }
    // What splits come out even at.
    if (in.is_whole())
      for (double at = std::exp2(std::ceil(std::log2(low))); at <= high; at *= 2) x.push_back(at);
  }
  if (in.above_low) std::erase_if(x, [&](double at) { return at <= in.low; });
  if (now && *now >= low && *now <= high) x.push_back(*now);
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
  return x;
}

double answer_at(const BlockResult& result, const BlockOutput& output) {
  const BlockAnswer* answer = result.error ? nullptr : result.find(output.name);
  return answer == nullptr || answer->numbers.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                      : answer->numbers.front();
}

}  // namespace

const BlockPicture& picture_of(const BuildingBlock& block) {
  static const BlockPicture none;
  const auto found = pictures().find(block.id);
  return found == pictures().end() ? none : found->second;
}

std::vector<const BlockInput*> picture_inputs(const BuildingBlock& block) {
  std::vector<const BlockInput*> out;
  for (const BlockInput& in : block.inputs)
    if (in.kind == InputKind::number || in.kind == InputKind::integer || in.kind == InputKind::choice)
      out.push_back(&in);
  return out;
}

std::vector<const BlockOutput*> picture_outputs(const BuildingBlock& block) {
  std::vector<const BlockOutput*> out;
  for (const BlockOutput& o : block.outputs)
    if (is_number(o) || o.kind == OutputKind::list) out.push_back(&o);
  return out;
}

PictureAnswer picture_with(const BuildingBlock& block, std::string_view over, std::span<const std::string> outputs) {
  PictureAnswer out{picture_of(block), std::nullopt};
  BlockPicture& picture = out.picture;
  const auto fail = [&out](std::string input, Sentence message, Sentence remedy) {
    out.error = BlockError{std::move(input), std::move(message), std::move(remedy)};
    return out;
  };
  if (over == "none")
    picture.over = {};
  else if (!over.empty()) {
    const std::vector<const BlockInput*> all = picture_inputs(block);
    const auto found =
        std::find_if(all.begin(), all.end(), [over](const BlockInput* in) { return in->name == over; });
    if (found == all.end()) {
      std::string names;
      for (const BlockInput* in : all) names += (names.empty() ? "" : ", ") + std::string(in->name);
      return fail("over", say("error.picture.over", over, block.id), say("error.picture.over.remedy", names));
    }
    picture.over = (*found)->name;
  }
  if (!outputs.empty()) picture.outputs.clear();
  for (const std::string& name : outputs) {
    const BlockOutput* found = find_output(block, name);
    if (found == nullptr || !(is_number(*found) || found->kind == OutputKind::list))
      return fail("show", say("error.picture.show", name, block.id),
                  say("error.there_are", names_of(picture_outputs(block))));
    picture.outputs.push_back(found->name);
  }
  // One axis has one unit; a list has no one value at an x.
  const BlockOutput* first = nullptr;
  for (const std::string_view name : picture.outputs) {
    const BlockOutput* o = find_output(block, name);
    if (o == nullptr) continue;
    if (!picture.over.empty() && o->kind == OutputKind::list)
      return fail("show", say("error.picture.list", name), say("error.picture.list.remedy"));
    if (first == nullptr) first = o;
    if (quantity(o->q).unit.symbol != quantity(first->q).unit.symbol)
      return fail("show", say("error.picture.unit", name, first->name), say("error.picture.unit.remedy"));
  }
  return out;
}

PictureData picture_data(const BlockCall& call, const BlockPicture& picture) {
  const BuildingBlock& block = call.block();
  PictureData data;
  data.over = picture.over.empty() ? nullptr : block.find_input(picture.over);
  for (const std::string_view name : picture.outputs)
    if (const BlockOutput* o = find_output(block, name)) data.lines.push_back({o, {}});
  if (data.over == nullptr) {
    const BlockResult result = run_block_plain(call);
    for (PictureLine& line : data.lines)
      if (const BlockAnswer* answer = result.error ? nullptr : result.find(line.output->name))
        line.y = answer->numbers;
  } else {
    if (const BlockValue& value = call.value(picture.over); value.is_known()) data.now = value.numbers.front();
    if (data.is_choice()) {
      for (std::size_t i = 0; i < data.over->choices.size(); ++i) data.x.push_back(static_cast<double>(i));
    } else {
      data.x = steps_of(*data.over, data.now, std::max<std::size_t>(2, picture.points), data.even_steps);
    }
    for (const double x : data.x) {
      const BlockResult result = run_block_plain(call.with(picture.over, x));
      for (PictureLine& line : data.lines) line.y.push_back(answer_at(result, *line.output));
    }
  }
  std::erase_if(data.lines, [](const PictureLine& line) {
    return std::none_of(line.y.begin(), line.y.end(), [](double y) { return std::isfinite(y); });
  });
  if (data.lines.empty()) {
    const BlockResult result = run_block(call);
    for (const std::string_view name : picture.outputs)
      if (const BlockAnswer* answer = result.find(name))
        for (const std::string& input : answer->missing)
          if (input != picture.over &&
              std::find(data.missing.begin(), data.missing.end(), input) == data.missing.end())
            data.missing.push_back(input);
    const std::vector<std::string> all = data.missing;
    std::erase_if(data.missing, [&](const std::string& name) {
      const BlockInput* in = block.find_input(name);
      return in != nullptr && call.is_decided_by(*in, all);
    });
  }
  return data;
}

double typical_value(const BlockInput& in) {
  struct Typical {
    std::string_view unit;
    double value;
  };
  constexpr std::array kTypical{Typical{"tokens", 8192},      Typical{"elements", 8192}, Typical{"parameters", 70e9},
                                Typical{"layers", 64},        Typical{"B", 1e9},         Typical{"FLOP", 1e12},
                                Typical{"s", 1e-3},           Typical{"B/s", 50e9},      Typical{"FLOP/s", 4e14},
                                Typical{"sequences", 16},     Typical{"chips", 256},     Typical{"microbatches", 16},
                                Typical{"tokens/chip", 1024}, Typical{"requests/s", 4},  Typical{"FLOP/B", 256},
                                Typical{"days", 30},          Typical{"h", 1e6}};
  const Unit& unit = quantity(in.q).unit;
  double x = unit.notation == Notation::percent ? 0.5 : 8;
  for (const Typical& t : kTypical)
    if (t.unit == unit.symbol) x = t.value;
  x = std::clamp(x, in.low, in.high);
  if (in.above_low && x <= in.low) x = in.low + 1;
  if (in.high <= 1 && x >= in.high) x = (in.low + in.high) / 2;
  return x;
}

}  // namespace roofscape::engine
