// Published measurements as JSON: what somebody measured, on which chips, with which model and plan, and where it was
// published. Texts that programs need come as ids ("chip_id", "precision_id", "checkpointing_id", "schedule_id");
// free texts are kept for people, and for the one thing that only they state: by which convention FLOPs were counted.
//
// {"entries": [{"id", "family", "table", "task", "kind", "model": {...}, "hardware": {"chip_id", "count",
// "node_size"},
//   "parallelism": {"dp" (the whole data-parallel degree), "tp", "pp", "vpp", "cp", "ep", "sp", "zero", "fsdp", ...},
//   "batch": {"global", "micro", "seq"} or {"batch", "prompt_tokens", "output_tokens", "rounds",
//     "lengths_from", "pass_tokens", "join_steps", "decode_steps", "cold"}, "op": {...},
//   "software": engine of a server and its version, "vLLM 0.18.0",
//   "kernels": {"attention": "unfused", "loss": "plain", "elementwise": "eager", "launch": "graphs"} where
//     the software's are known,
//   "held_out": true where no fit may use it, "short_run": true where it was timed alone and briefly,
//   "ran_otherwise": true where the source says that the run was not of this plan, and not what it was,
//   "measured": {quantity: number, ...}, "scenario": id of the preset that is this run, "assumed": [what that preset
//   adds to the source, ...]}, ...]}
// Many entries that are alike stand in tables, with their models beside: {"models": {name: {...}, ...}, "tables":
// [{"entry": {what all of its entries have}, "columns": ["id", "model", "hardware.chip_id", "measured.itl_ms", ...],
//   "rows": [[...], ...]}]}: a row has a value for each column, null for none; "model" names one of the models.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/json/result.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::io {

struct MeasuredModel {
  engine::TransformerShape shape;
  std::vector<std::string> missing;  // sizes the entry does not state, in the order of the model's table
  double params = 0;                 // stated instead of a shape; 0: not
};

struct MeasuredHardware {
  std::string chip_id, chip, cluster;  // chip_id: empty if none is given
  std::optional<int> count, node_size, slices, chips_per_slice;
  int devices_per_chip = 1;               // degrees and microbatches count devices
  std::optional<double> hbm_bytes_per_s;  // of this variant, other than the chip's
  bool operator==(const MeasuredHardware&) const = default;
};

struct MeasuredPlan {
  std::optional<int> data, tensor, pipeline, virtual_stages, context, expert;
  std::optional<int> expert_tensor, zero_stage, fsdp, zero_group;
  bool sequence_parallel = false;
  bool operator==(const MeasuredPlan&) const = default;
};

struct MeasuredBatch {
  std::optional<double> global, micro, sequence_length, microbatches;  // micro: a fraction where context splits it
  std::optional<double> batch, prompt_tokens, output_tokens;           // of inference
  bool as_many_as_fit = false;                                         // the batch is what memory holds
  std::optional<double> rounds;        // of a load that starts at once: requests for each that is in flight
  std::optional<double> lengths_from;  // of those stated: lengths are drawn evenly from this share of them to all
  std::optional<double> pass_tokens;   // that a server prefills in one pass at most
  std::optional<double> join_steps;  // of decoding, after each of which those who wait join; one where none is stated
  std::optional<double> decode_steps;  // after the prompt; one fewer than its output has tokens where none is stated
  bool cold = false;                   // no request had run before these: the first ones wait for kernels to be built
};

// One operation, by its shape: a matrix multiplication, an attention kernel, a pass over a vector, a collective.
struct MeasuredShape {
  std::string op, algorithm;
  std::optional<double> m, n, k, batch, groups, m_per_group, elements, bytes;
  std::optional<double> tokens, heads, d_head;  // of attention, each token to those before it if `causal`
  bool causal = false;
  std::optional<int> ranks;
};

struct MeasuredValue {
  std::string quantity;         // "step_time_s"
  std::optional<double> value;  // none: it is not a number
};

struct Measurement {
  std::string id, family, table, task, kind, what, source, notes, completeness;
  std::string precision, checkpointing, schedule;  // the ids; empty where there is none
  std::string flops_basis, mfu_basis;              // as the source words it
  std::string scenario;                            // the preset that is this run; empty: built from the entry
  std::string software;                            // of a server: its engine and version, "vLLM 0.18.0"
  std::string
      environment;  // what the source says slowed its runs that is of no software: no calibration is fitted to them
  std::vector<engine::FieldEdit> kernels;  // of its software, where they are not what its generation mostly has
  bool held_out = false;                   // takes no part in any fit: what is predicted of it was never seen
  bool short_run = false;                  // timed alone, a few in a row: at the boost clock, behind an empty queue
  bool ran_otherwise = false;              // by its source not of this plan, nor is it said of which: not predicted
  std::vector<std::string> assumed;        // of that preset, what the source leaves open
  std::optional<MeasuredModel> model;
  std::optional<MeasuredHardware> hardware;
  std::optional<MeasuredPlan> plan;
  std::optional<MeasuredBatch> batch;
  std::optional<MeasuredShape> operation;
  std::vector<MeasuredValue> values;
};

struct MeasurementsFile {
  std::string name;  // what the file calls its source; empty if it does not
  std::vector<Measurement> entries;
};

// Members that are not known are left alone: such files carry more than a program needs.
Result<MeasurementsFile> read_measurements_file(std::string_view text, std::string_view file);
Result<std::vector<Measurement>> read_measurements(std::string_view text, std::string_view file);  // its entries
Result<std::vector<Measurement>> load_measurements(const std::string& path);

}  // namespace roofscape::io
