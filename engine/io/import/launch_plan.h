// What one launch file says, in Roofscape's words, before its chips are known. A reader of a format fills a LaunchPlan;
// plan_scenario.h makes the Scenario and the receipt of it, with the arithmetic of chips and batches, which is there alone.
// Every value knows where it was read. What a file does not say is left out, never invented. For the .cpp files of
// engine/io.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/io/huggingface/hf_config.h"
#include "engine/io/import/imported.h"
#include "engine/scenario/chip.h"
#include "engine/scenario/transformer_shape.h"

namespace roofscape::io {

// Where a value was read: the key or flag as the file writes it, and its line. Line 0: no line (an argument of a command
// line).
struct Origin {
  std::string key;
  int line = 0;
};

template <class T>
struct Stated {
  T value{};
  Origin origin;
};
template <class T>
using Maybe = std::optional<Stated<T>>;

// A value of a field of the scenario's field table (engine/scenario/scenario_fields.h): numbers, switches and choices.
struct StatedField {
  std::string path;     // "workload.sequence_length"
  double value = 0;     // choices as index, switches as 0 or 1
  std::string written;  // as the file has it
  Origin origin;
};
struct DefaultField {
  std::string path;
  double value = 0;
  engine::Sentence why;                              // whose default it is
  double (*of_chip)(const engine::Chip&) = nullptr;  // where it depends on the chip; `value` until one is given
};

// Which axis takes the chips that the other degrees leave.
enum class RestAxis { data, fsdp };

struct LaunchPlan {
  std::string name;  // of the scenario; empty: after the file
  // The model by name (a preset's id, name or alias), by its shape, or by model.* among the fields; fields go over either.
  Maybe<std::string> model;
  std::string model_written;  // as the file has it, where that is another name; empty: the same
  Maybe<engine::TransformerShape> shape;
  Maybe<HfStored> stored;  // the formats of its checkpoint, which a server takes

  std::vector<StatedField> fields;
  std::vector<DefaultField>
      defaults;  // of the framework, for what the file does not say; a stated field goes over it

  Maybe<std::string> chip;  // a chip's id, where the file says what it runs on
  // Chips of the job as the launcher or the file says, and those of one node.
  Maybe<int> chips, chips_per_node;
  // What the framework counts, where a chip shows itself as two: chips and degrees above and below are of devices.
  int devices_per_chip = 1;
  int (*devices_of)(const engine::Chip&) = nullptr;  // the same of a cluster that is given; null: 1
  // Degrees of the ranks that take parts of the batch; the one that is not stated and is `rest` takes what chips leave.
  Maybe<int> data, fsdp;
  RestAxis rest = RestAxis::fsdp;
  int slices = 0;  // of a torus, as the file says; 0: it does not
  // The rest axis while nothing says how many chips there are; none: it is missing then.
  std::optional<DefaultField> rest_alone;
  int fsdp_multiple = 1;           // where fsdp is the rest: it is a multiple of this
  bool data_times_slices = false;  // the default of the data axis counts once for each slice of a torus

  // A model and no plan: work and mesh are Roofscape's own defaults, where a file that states a plan has to state its batch.
  bool model_only = false;

  // How the batch is stated, where it is not workload.global_batch_sequences itself. Sequences of one data x fsdp rank in a
  // step, or passes of microbatches of one such rank, or sequences per device (all of them, and it may be a fraction).
  Maybe<int> batch_of_rank, accumulation;
  Maybe<double> batch_per_device;
  // How long a training run is, where the file says: in steps of the whole batch, or in sequences, which go over steps.
  Maybe<double> train_steps, train_sequences;

  // What is worth a note where several ranks of data reduce gradients; empty: nothing.
  engine::Sentence note_on_reduction;

  // Serving: the share of a chip's memory that the server takes; the rest is reserved.
  Maybe<double> memory_share;
  engine::Sentence memory_share_default;  // whose default it is; empty: the file states it

  // Pipeline: layers by virtual stage, a layout (engine/io/scenario/layer_layout.h), or layers of each virtual stage.
  Maybe<std::vector<int>> layers_per_stage;
  Maybe<std::string> layout;
  Maybe<int> layers_per_virtual_stage;
  // Where the file says nothing, a virtual stage takes as many microbatches before the next one's turn as there are stages.
  bool groups_of_stages = false;

  // For the receipt.
  std::vector<ReadValue> read;  // what is not a field of its own: launcher sizes, names
  std::vector<IgnoredKey> ignored;
  std::vector<ImportNotice> notices;
  // Fields for which the file has a value that could not be resolved; each is missing.
  std::vector<MissingValue> missing;

  // Helpers for readers. `path` is that of a field; the value is checked against its domain when the scenario is made.
  void state(std::string_view path, double value, Origin origin, std::string written = {});
  void state_choice(std::string_view path, std::string_view word, Origin origin, std::string written = {});
  // In place of what was stated of it before.
  void restate_choice(std::string_view path, std::string_view word, Origin origin, std::string written);
  void assume(std::string_view path, double value, engine::Sentence why);
  void assume_choice(std::string_view path, std::string_view word, engine::Sentence why);
  // Steps of the run; a count below one is how frameworks say "not by steps".
  void steps(const Maybe<double>& count);
  // What the plan has of a field: stated, else assumed; none: neither.
  std::optional<double> value_of(std::string_view path) const;
  const StatedField* stated(std::string_view path) const;

  void no_effect(Origin, engine::Sentence why);  // understood; nothing that is computed depends on it
  void not_understood(Origin);                   // a key that the reader does not know
  void warn(engine::Sentence text, int line = 0);
  void fail(engine::Sentence text, int line = 0);  // the plan is shown, but is not what would run; exit status 1
};

}  // namespace roofscape::io
