#include "engine/io/import/torchtitan_pipeline.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/sentence.h"
#include "engine/pipeline/schedules.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

using engine::say;

namespace {

struct TitanSchedule {
  std::string_view name, id;  // of torch.distributed.pipelining, in lower case; of ours
  bool several_stages;        // per rank, two by default
};
constexpr std::array kTitanSchedules{
    TitanSchedule{"1f1b", "1f1b", false},
    TitanSchedule{"gpipe", "gpipe", false},
    TitanSchedule{"interleaved1f1b", "interleaved-1f1b", true},
    TitanSchedule{"interleaved_1f1b", "interleaved-1f1b", true},
    TitanSchedule{"flexible_interleaved_1f1b", "interleaved-1f1b", true},
    TitanSchedule{"loopedbfs", "looped-bfs", true},
    TitanSchedule{"interleavedzerobubble", "zb-h1", true},
    TitanSchedule{"zbvzerobubble", "zb-v", true},
    TitanSchedule{"dualpipev", "dualpipev", true},
};

// The number behind "layers."; none: another module.
std::optional<int> layer_number(std::string_view module) {
  if (!module.starts_with("layers.")) return std::nullopt;
  module.remove_prefix(7);
  int number = 0;
  const auto [end, error] = std::from_chars(module.data(), module.data() + module.size(), number);
  if (error != std::errc() || end != module.data() + module.size() || number < 0) return std::nullopt;
  return number;
}

class TitanPipelineReader {
 public:
  TitanPipelineReader(KeyReader& keys, LaunchPlan& plan, const TitanLayout& layout)
      : keys_(keys), plan_(plan), old_layout_(layout.is_old), pipeline_(layout.pipeline), layers_(layout.layers) {}

  void read() {
    batch();
    if (!keys_.failed()) pipeline();
  }

 private:
  static engine::Sentence usual() { return say("import.default_of", std::string_view("torchtitan")); }

  void batch() {
    if (const auto length = keys_.whole("training.seq_len|training.max_context_length", 1, 1 << 24)) {
      plan_.state("workload.sequence_length", length->value, length->origin);
      length_ = length->value;
    } else if (!keys_.failed()) {
      plan_.assume("workload.sequence_length", 2048, usual());
    }
    if (keys_.has_any({"training.num_tokens_per_microbatch_per_dp_rank", "training.num_tokens_per_train_step"}))
      return tokens();
    local_ = keys_.whole("training.local_batch_size|training.batch_size", 1, 1 << 16);
    const auto global = keys_.whole("training.global_batch_size", -1, 1 << 24);
    if (keys_.failed()) return;
    if (!local_) {
      local_ = {8, {"training.local_batch_size", 0}};
      local_assumed_ = true;
    }
    if (global && global->value > 0) {
      global_ = global;
      plan_.state("workload.global_batch_sequences", global->value, global->origin);
      whole_rounds();
      return;
    }
    if (global && global->value == 0)
      return keys_.fail(global->origin, say("error.out_of_range", in_quotes("0")),
                        say("import.torchtitan.global.remedy"));
    plan_.batch_of_rank = local_;
  }

  // Newer: batches as tokens of packed sequences.
  void tokens() {
    const auto pass = keys_.whole("training.num_tokens_per_microbatch_per_dp_rank", 1, 1 << 30);
    const auto step = keys_.number("training.num_tokens_per_train_step", -1, 1e15);
    const auto passes = keys_.whole("parallelism.num_pp_microbatches", 1, 1 << 20);
    if (keys_.failed()) return;
    const int sequences = (pass ? pass->value : 16384) / length_;
    const Origin origin = pass ? pass->origin : Origin{"training.num_tokens_per_microbatch_per_dp_rank", 0};
    if (sequences < 1 || sequences * length_ != (pass ? pass->value : 16384))
      return keys_.fail(origin, say("import.torchtitan.tokens", length_), say("import.torchtitan.tokens.remedy"));
    microbatch_ = {sequences, origin};
    const int count = pipeline_ > 1 && passes ? passes->value : 1;
    local_ = {sequences * count, origin};
    if (step && step->value > 0 && step->value / length_ == std::floor(step->value / length_))
      plan_.state("workload.global_batch_sequences", step->value / length_, step->origin);
    else if (step && step->value > 0)
      return keys_.fail(step->origin, say("import.torchtitan.tokens", length_),
                        say("import.torchtitan.tokens.remedy"));
    else
      plan_.batch_of_rank = local_;
  }

  // torchtitan accumulates whole local batches.
  void whole_rounds() {
    if (!plan_.fsdp && !plan_.data) return;
    if (!plan_.fsdp) return;
    const std::int64_t pass = std::int64_t{plan_.data ? plan_.data->value : 1} * plan_.fsdp->value * local_->value;
    if (global_->value % pass != 0)
      keys_.contradiction(local_->origin, std::to_string(local_->value), global_->origin,
                          std::to_string(global_->value));
    rounds_ = static_cast<int>(global_->value / pass);
  }

  void pipeline() {
    const auto schedule =
        keys_.word("parallelism.pipeline_parallel_schedule|experimental.pipeline_parallel_schedule");
    const auto size = keys_.whole(
        "parallelism.pipeline_parallel_microbatch_size|experimental.pipeline_parallel_microbatch_size", 1, 1 << 16);
    const auto count = keys_.whole(
        "parallelism.pipeline_parallel_microbatches|experimental.pipeline_parallel_microbatches", 1, 1 << 20);
    const auto csv =
        keys_.word("parallelism.pipeline_parallel_schedule_csv|experimental.pipeline_parallel_schedule_csv");
    if (keys_.failed() || !local_) return;
    const std::string word = engine::ascii_lower(schedule ? schedule->value : "1F1B");
    const auto known = std::find_if(kTitanSchedules.begin(), kTitanSchedules.end(),
                                    [&](const TitanSchedule& row) { return row.name == word; });
    if (pipeline_ == 1) {
      for (const auto* unused :
           {schedule ? &schedule->origin : nullptr, size ? &size->origin : nullptr, count ? &count->origin : nullptr})
        if (unused != nullptr) plan_.no_effect(*unused, say("import.no_pipeline"));
      plan_.assume("pipeline.virtual_stages", 1, say("import.no_pipeline"));
      state_microbatch(microbatch_ ? *microbatch_ : *local_);
      return;
    }
    if (csv && !csv->value.empty()) plan_.fail(say("import.torchtitan.csv", in_quotes(csv->value)), csv->origin.line);
    if (known == kTitanSchedules.end()) {
      std::string names;
      for (const TitanSchedule& row : kTitanSchedules) names += (names.empty() ? "" : " ") + std::string(row.name);
      return keys_.not_possible(schedule->origin, schedule->value, names);
    }
    if (schedule)
      plan_.state_choice("pipeline.schedule", known->id, schedule->origin, schedule->value);
    else
      plan_.assume_choice("pipeline.schedule", known->id, usual());
    microbatches(size, count);
    if (!keys_.failed()) stages(known->several_stages, known->id);
  }

  void microbatches(const Maybe<int>& size, const Maybe<int>& count) {
    int passes = 0;
    if (microbatch_) {
      state_microbatch(*microbatch_);
      passes = local_->value / microbatch_->value;
    } else if (count || (old_layout_ && !size)) {
      // Until early 2025 their number was given, and was that of the stages otherwise.
      const Stated<int> parts =
          count ? *count : Stated<int>{pipeline_, {"experimental.pipeline_parallel_microbatches", 0}};
      if (local_->value % parts.value != 0)
        return keys_.contradiction(local_->origin, std::to_string(local_->value), parts.origin,
                                   std::to_string(parts.value));
      passes = parts.value;
      const int sequences = local_->value / passes;
      if (count)
        plan_.state("pipeline.microbatch_sequences", sequences, count->origin, std::to_string(count->value));
      else
        plan_.assume("pipeline.microbatch_sequences", sequences, say("import.torchtitan.microbatches", passes));
    } else {
      const int sequences = size ? size->value : 1;
      if (local_->value % sequences != 0)
        return keys_.contradiction(local_->origin, std::to_string(local_->value),
                                   size ? size->origin : local_->origin, std::to_string(sequences));
      passes = local_->value / sequences;
      if (size)
        state_microbatch(*size);
      else
        plan_.assume("pipeline.microbatch_sequences", 1, usual());
    }
    if (passes < pipeline_)
      plan_.warn(say("import.torchtitan.few_microbatches", passes, pipeline_), local_->origin.line);
    if (rounds_ > 1 || (global_ && rounds_ == 0))
      plan_.warn(say("import.torchtitan.drains", passes), global_->origin.line);
  }

  void state_microbatch(const Stated<int>& size) {
    if (local_assumed_ && size.origin.line == 0)
      plan_.assume("pipeline.microbatch_sequences", size.value, usual());
    else
      plan_.state("pipeline.microbatch_sequences", size.value, size.origin);
  }

  void stages(bool several, std::string_view schedule) {
    const auto per_stage = keys_.whole("parallelism.pipeline_parallel_layers_per_stage", 1, 10000);
    const auto first = keys_.whole("parallelism.pipeline_parallel_first_stage_less_layers", 0, 1000);
    const auto last = keys_.whole("parallelism.pipeline_parallel_last_stage_less_layers", 0, 1000);
    if (keys_.failed()) return;
    const int weight = old_layout_ ? 0 : 1;
    const auto weigh = [&](const Maybe<int>& stated, std::string_view field) {
      if (stated)
        plan_.state(field, stated->value, stated->origin);
      else if (!old_layout_)
        plan_.assume(field, weight, usual());
      return stated ? stated->value : weight;
    };
    const int lighter = weigh(first, "pipeline.embedding_as_layers") + weigh(last, "pipeline.head_as_layers");
    if (listed_stages()) return;
    if (per_stage) {
      if (layers_ == 0) {
        plan_.missing.push_back({"pipeline.virtual_stages", "--set pipeline.virtual_stages=..."});
        return plan_.no_effect(per_stage->origin, say("import.torchtitan.needs_layers"));
      }
      const int parts = (layers_ + lighter + per_stage->value - 1) / per_stage->value;
      if (parts % pipeline_ != 0 || (parts == pipeline_) == several)
        return keys_.fail(per_stage->origin, say("import.torchtitan.layers_per_stage", parts, pipeline_),
                          say("import.torchtitan.layers_per_stage.remedy"));
      plan_.state("pipeline.virtual_stages", parts / pipeline_, per_stage->origin, std::to_string(per_stage->value));
      return;
    }
    const auto kind = engine::parse_schedule(schedule);
    const int usual_chunks = several ? std::max(2, kind ? engine::default_virtual_stages(*kind) : 2) : 1;
    plan_.assume("pipeline.virtual_stages", usual_chunks, several ? usual() : say("import.torchtitan.one_stage"));
  }

  // Stages by the modules they begin with, or by all of their modules. False: they are not listed.
  bool listed_stages() {
    constexpr std::string_view kPoints =
        "parallelism.pipeline_parallel_split_points|experimental.pipeline_parallel_split_points";
    const auto parts = keys_.is_word("parallelism.module_fqns_per_model_part", "")
                           ? KeyReader::List{}
                           : keys_.list("parallelism.module_fqns_per_model_part");
    if (parts.list != nullptr && !parts.list->items.empty()) {
      std::string layout;
      for (const Node& stage : parts.list->items) {
        std::string modules;
        for (const Node& module : stage.items) modules += (modules.empty() ? "\"" : ", \"") + module.text + "\"";
        layout += (layout.empty() ? "[" : ", [") + modules + "]";
      }
      plan_.layout = {"[" + layout + "]", parts.origin};
      return true;
    }
    std::vector<std::string> points;
    Origin origin;
    if (keys_.is_word(kPoints, "")) return false;
    if (const auto text =
            keys_.has(kPoints) && !keys_.is_list(kPoints) ? keys_.word(kPoints) : Maybe<std::string>()) {
      origin = text->origin;
      std::string_view rest = text->value;
      while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        points.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
    } else if (const auto list = keys_.list(kPoints); list.list != nullptr) {
      origin = list.origin;
      for (const Node& point : list.list->items) points.push_back(point.text);
    }
    if (points.empty() || keys_.failed()) return false;
    if (layers_ == 0) {
      plan_.missing.push_back({"pipeline.layers_per_stage", "--set pipeline.layers_per_stage=..."});
      return true;
    }
    std::vector<int> layers;
    int before = 0;
    for (const std::string& point : points) {
      const std::string_view module =
          std::string_view(point).substr(std::min(point.find_first_not_of(' '), point.size()));
      const int at = layer_number(module).value_or(module == "norm" || module == "output" ? layers_ : -1);
      if (at < before || at > layers_) {
        keys_.fail(origin, say("import.torchtitan.split_point", in_quotes(point)),
                   say("import.torchtitan.split_point.remedy"));
        return true;
      }
      layers.push_back(at - before);
      before = at;
    }
    layers.push_back(layers_ - before);
    const int stages = static_cast<int>(layers.size());
    if (stages % pipeline_ != 0) {
      keys_.fail(origin, say("import.torchtitan.layers_per_stage", stages, pipeline_),
                 say("import.torchtitan.split_point.remedy"));
      return true;
    }
    plan_.state("pipeline.virtual_stages", stages / pipeline_, origin, std::to_string(stages));
    plan_.layers_per_stage = {std::move(layers), origin};
    return true;
  }

  KeyReader& keys_;
  LaunchPlan& plan_;
  const bool old_layout_;
  const int pipeline_, layers_;
  bool local_assumed_ = false;
  int length_ = 2048;
  int rounds_ = 0;  // of accumulation; 0: not known
  Maybe<int> local_, global_, microbatch_;
};

}  // namespace

void read_titan_pipeline(KeyReader& keys, LaunchPlan& plan, const TitanLayout& layout) {
  TitanPipelineReader(keys, plan, layout).read();
}

}  // namespace roofscape::io
