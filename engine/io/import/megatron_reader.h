// Megatron-LM's arguments, from wherever they come: a launch line, the YAML of its tests, the settings of Megatron-Bridge or
// NeMo in its words. Which flags are fields by themselves is a table (megatron_flags.cpp); what several flags decide
// together is here: the model (megatron_model.cpp) and the plan (megatron_plan.cpp). Defaults are those of
// megatron/training/arguments.py and of the transformer's configuration class. For the .cpp files of engine/io/import.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/io/import/launch_plan.h"
#include "engine/io/import/launcher.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

class MegatronReader {
 public:
  MegatronReader(std::string_view file, const PresetLibrary& library, LaunchPlan& plan)
      : file_(file), library_(library), plan_(plan) {}

  Failure read(const LaunchLine& line) { return read(line.program, arguments_of(line.arguments)); }
  // The same of arguments that are no words of a line.
  Failure read(const ShellWord& program, Arguments arguments);

 private:
  InputError at(const Argument& argument, engine::Sentence message, engine::Sentence remedy = {}) const;
  Failure refuse_programs(const ShellWord& started, const Arguments& arguments) const;
  // A number of a field, or something that is looked at later.
  Failure take(Argument argument);
  static bool decides(std::string_view flag);
  // The number a flag gives. Nothing: it is open, and then `field` is missing.
  Result<std::optional<double>> number(const Argument& argument, std::string_view field);
  // A whole number of a flag that is no field.
  Result<std::optional<int>> whole(std::string_view flag, std::string_view field, int least, int most);
  void open(const Argument& argument, const ShellWord& value, std::string_view field);
  const Argument* find(std::string_view flag);
  // The same as a switch: `--flag`, or `--flag true` in the YAML.
  bool flag(std::string_view name) { return find(name) != nullptr; }
  std::string word(std::string_view name);
  // The same as the receipt shows it: a flag by itself is "true".
  std::string written(std::string_view name);
  Origin origin(std::string_view name);
  int value(std::string_view field, int fallback) const;
  bool has(std::string_view field) const;
  // A switch of the file that a field stands for, or Megatron's default.
  void tell(std::string_view field, bool on, std::string_view flag_name);
  Failure model();
  // Of the tokenizer, where that says it.
  void vocabulary();
  int stated_line(std::string_view field) const;
  Failure attention();
  Failure experts();
  void batch();
  void mesh();
  void context_method();
  // Which state the ranks that share a batch split, and so whether they are `data` or `fsdp`.
  void zero();
  Failure stages();
  // The first and the last stage have their own number of layers, those between share the rest.
  void uneven(int pipeline, std::optional<int> first, std::optional<int> last);
  void schedule(int pipeline);
  void checkpointing();
  void kernels();
  void graphs();
  void precision();
  void offload();
  void moments();
  void read_too(std::string_view flag_name, std::string_view field);
  void muon(const std::string& optimizer);
  bool layer_wise();
  void leftovers();
  // Why a flag that no field is read from is left out; nothing: it is not known.
  std::optional<engine::Sentence> why_without_field(const Argument& argument) const;

  std::string_view file_;
  const PresetLibrary& library_;
  LaunchPlan& plan_;
  std::map<std::string, Argument, std::less<>> given_;  // the last of each flag
  std::set<std::string, std::less<>> asked_;            // flags that were looked for, given or not
  std::set<std::string, std::less<>> open_;             // fields
};

}  // namespace roofscape::io
