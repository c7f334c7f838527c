#include "engine/io/import/maxtext_mesh.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/sentence.h"

namespace roofscape::io {

using engine::say;

namespace {

// One logical axis inside and across slices.
struct MaxtextAxis {
  int size = 1;       // the product of what is stated
  bool rest = false;  // one of the two takes what is left
  Origin origin;      // of a stated size
};

struct TpuSlice {
  std::string_view name, chip;
  int cores_per_chip;    // what the number after the name counts
  int devices_per_chip;  // what JAX counts
};
constexpr std::array kTpuSlices{TpuSlice{"v4", "tpu-v4p", 2, 1}, TpuSlice{"v5p", "tpu-v5p", 2, 1},
                                TpuSlice{"v5e", "tpu-v5e", 1, 1}, TpuSlice{"v6e", "tpu-v6e", 1, 1},
                                TpuSlice{"tpu7x", "tpu-7x", 2, 2}};

class MaxtextMeshReader {
 public:
  MaxtextMeshReader(KeyReader& keys, LaunchPlan& plan) : keys_(keys), plan_(plan) {}

  MaxtextMesh read() {
    topology();
    if (!keys_.failed()) mesh();
    return mesh_;
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("MaxText")); }

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
    mesh_.inner = static_cast<std::int64_t>(tensor.size) * context.size * pipeline.size;
    mesh_.pipeline = pipeline.size;
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

  KeyReader& keys_;
  LaunchPlan& plan_;
  MaxtextMesh mesh_;
  int slice_devices_ = 0, slices_ = 1;
  Maybe<int> ici_rest_, dcn_rest_;
};

}  // namespace

MaxtextMesh read_maxtext_mesh(KeyReader& keys, LaunchPlan& plan) { return MaxtextMeshReader(keys, plan).read(); }

}  // namespace roofscape::io
