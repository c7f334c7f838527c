// A LaunchPlan on its way to a Scenario and its receipt, step by step: what the file and --set say by themselves
// (plan_scenario.cpp), and what each rank gets of chips, batch and layers (plan_ranks.cpp). For those two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/io/import/import_launch.h"
#include "engine/io/import/imported.h"
#include "engine/io/import/launch_plan.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/scenario_fields.h"

namespace roofscape::io {

class PlanToScenario {
 public:
  PlanToScenario(LaunchPlan plan, std::string_view file, const ImportRequest& request, const PresetLibrary& library)
      : plan_(std::move(plan)), file_(file), request_(request), library_(library) {}

  Result<Imported> run();

 private:
  static constexpr std::string_view kBatchPath = "workload.global_batch_sequences";
  static constexpr std::string_view kLengthPath = "workload.train_tokens";
  static constexpr std::string_view kDataPath = "parallelism.data", kFsdpPath = "parallelism.fsdp";

  engine::Scenario& s() { return out_.scenario; }

  void missing(std::string_view field, std::string option) {
    if (!out_.is_missing(field)) out_.missing.push_back({std::string(field), std::move(option)});
  }
  void missing_set(std::string_view field) { missing(field, "--set " + std::string(field) + "=..."); }
  void assumed(std::string_view field, std::string value, engine::Sentence why) {
    out_.assumed.push_back({std::string(field), std::move(value), std::move(why)});
  }
  void read(const Origin& origin, std::string_view field, std::string value) {
    out_.read.push_back({origin.key, origin.line, std::string(field), std::move(value)});
  }
  InputError at(const Origin& origin, engine::Sentence message, engine::Sentence remedy = {}) const;

  // plan_scenario.cpp
  // By name or by shape; what --set names goes over both.
  Failure model();
  Failure set(const std::string& assignment);
  // What --set says of single fields comes before the arithmetic, so that degrees that follow from others follow.
  Failure overrides();
  // One field, two values: neither is taken.
  Failure no_contradictions() const;
  InputError out_of_domain(const engine::Field& field, const Origin& origin, const std::string& written) const;
  Failure put(const StatedField& stated);
  Failure fields();
  // A reader takes the sizes of a shape as the file has them; those that a scenario may not have are refused by name.
  Failure shape_in_domain();
  // The formats of a quantised checkpoint are those of a server. Training starts from weights of 16 bits or more.
  void stored();
  // Whether the receipt has it already: as something that follows, or as missing.
  bool said(std::string_view path) const;
  bool given(std::string_view path) const;
  // A model of sizes alone needs those that decide its shape. One that is known by its shape has its vocabulary.
  void check_model();
  // What neither the file nor the framework says and the answer depends on: Roofscape's own default.
  void told_defaults();
  // --set once more, in its order, for what is no field of the table.
  Failure last_word();
  void finish();

  // plan_ranks.cpp
  // A mesh of which every degree is known says how many chips there are. They have no origin of their own.
  void imply_chips(bool asked);
  Failure cluster();
  // Chips among the axes: those that are stated, and the rest axis of what they leave.
  Failure chips();
  // A degree that is the framework's default is as good as a stated one. It has no origin.
  void default_degrees();
  // A model that is to be served, of which nobody says how: split over the chips of a node, and a replica on each
  // node; where a node is too small, with a stage on each.
  void serving_degrees();
  void read_degree(const Maybe<int>& degree, std::string_view path) {
    if (degree && !degree->origin.key.empty()) read(degree->origin, path, std::to_string(degree->value));
  }
  // Ranks of devices as ranks of chips: one chip takes the sequences of its devices.
  void fold_devices();
  void state_chips(std::optional<std::int64_t> have);
  // Until a cluster is chosen the scenario has one that holds the mesh.
  void stand_in(std::int64_t chips);
  // What a server leaves of a chip's memory.
  void reserve();
  // Of a batch, its ranks and their passes follows the microbatch.
  void microbatch();
  void batch();
  // Tokens of the run, of its steps or sequences, once batch and length are known.
  Failure run_length();
  Failure stages();
  void check_last_group();

  LaunchPlan plan_;
  std::string_view file_;
  const ImportRequest& request_;
  const PresetLibrary& library_;
  Imported out_;
  std::vector<StatedField> own_;  // of --set
  bool has_model_ = false, has_cluster_ = false, ranks_known_ = false;
};

}  // namespace roofscape::io
