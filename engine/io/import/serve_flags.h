// The command line of an inference server as keys. For the .cpp files of engine/io.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/import/key_reader.h"
#include "engine/io/import/shell_script.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

// A whole number as servers let people write it: "32768", "32k" (thousands), "32K" (times 1024), "1M".
std::optional<double> human_number(std::string_view written);

// The formats of a served model: what weights are stored in and what matrix multiplications run in.
struct ServedFormat {
  std::string_view weights, compute;
};
// Of a --quantization word, in whatever case; none: not known. Empty words: the checkpoint decides.
std::optional<ServedFormat> served_format(std::string_view quantization);

// The model by its repository, and the formats that these keys and the repository's name say.
void read_served_model(KeyReader& keys, LaunchPlan& plan, const Maybe<std::string>& model, std::string_view engine,
                       std::string_view type_keys = "--dtype", std::string_view quantization_keys = "--quantization");
void read_cache_format(KeyReader& keys, LaunchPlan& plan, std::string_view engine,
                       std::string_view type_keys = "--kv-cache-dtype");

// What vLLM and SGLang both have to say where a server listens, who may ask, where it loads from and what it logs, to the
// receipt.
void leave_out_server_flags(KeyReader& keys);

// Warns of the commands behind the first server that start one of another model.
void tell_other_servers(std::span<const ShellCommand> commands, bool (*starts_server)(const ShellCommand&),
                        const Maybe<std::string>& model, LaunchPlan& plan);

// The chips of a stage of one server: attention is shared out by requests among `groups` of them, and the experts of a layer
// are dealt to `spread`.
struct ServedRanks {
  int ranks = 1, groups = 1;
  Origin ranks_origin, groups_origin;
  Maybe<int> spread, expert_tensor;  // expert_tensor: none: what is left
};
void deal_experts(KeyReader& keys, LaunchPlan& plan, const PresetLibrary& library, const ServedRanks& served,
                  std::string_view engine);

}  // namespace roofscape::io
