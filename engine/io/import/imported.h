// What came of reading a launch file: a Scenario and the receipt that says where each of its values is from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

struct ReadValue {
  std::string key;           // as the file writes it: "--tensor-model-parallel-size"
  int line = 0;              // 0: of a command line
  std::string field, value;  // of the scenario, and as the file has it
};
// A value that nothing states: a default of the framework, of a class or of Roofscape, or what follows from the others.
struct AssumedValue {
  std::string field, value;
  engine::Sentence why;
};
// A field that nothing states and that has no default. The scenario holds a stand-in there.
struct MissingValue {
  std::string field;
  std::string option;  // what gives it: "--cluster", "--set model.vocab_size=..."
};
struct IgnoredKey {
  std::string key;
  int line = 0;
  engine::Sentence why;
  bool understood = true;  // false: the reader does not know the key
};
// A value of the file that an option of one's own replaced.
struct OverriddenValue {
  std::string key;
  int line = 0;
  std::string field, value;
  std::string by;  // "--cluster h100-16k", "--set parallelism.tensor=4"
};
struct ImportNotice {
  bool error = false;  // the plan is not one that runs, or not the one that would run
  engine::Sentence text;
  int line = 0;
};

struct Imported {
  std::string_view format, format_name;  // "megatron", "Megatron-LM"
  engine::Scenario scenario;
  std::vector<ReadValue> read;
  std::vector<AssumedValue> assumed;
  std::vector<MissingValue> missing;
  std::vector<IgnoredKey> ignored;
  std::vector<OverriddenValue> overridden;
  std::vector<ImportNotice> notices;

  bool is_missing(std::string_view field) const;
  bool has_errors() const;
  // Everything an evaluation needs is there.
  bool complete() const { return missing.empty() && !has_errors(); }
};

}  // namespace roofscape::io
