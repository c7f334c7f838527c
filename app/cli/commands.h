// The commands of roofscape-cli. Each returns the exit code: 0 good; 1 the scenario was read and has an error
// diagnostic; 2 bad usage, unreadable file, unknown key, wrong type or out of domain.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/presets/preset_library.h"
#include "engine/report/report.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app::cli {

inline constexpr int kGood = 0, kHasErrors = 1, kBadInput = 2;

struct Options {
  std::string scenario;          // preset id or file
  std::vector<std::string> set;  // path=value
  bool json = false;
  bool evidence = false;            // eval: with the error bands
  bool list = false;                // figure --list
  std::string quantity;             // explain
  std::string block;                // calc
  std::vector<std::string> inputs;  // calc: name=value
  bool explain = false;             // calc --explain
  std::vector<std::string> with;    // figure: option=choice
  std::string figure, output, theme = "print", size;
  bool all = false;  // figure --all
  std::string format, scale, svg_text;
  std::string baseline, measured;  // figure: a scenario, a file
  std::string language = "en";
  int limit = 10;                                   // search
  std::string objective;                            // empty: step time, or throughput where the scenario serves
  double most_token_s = 0, most_ttft_s = 0;         // search of serving plans
  std::vector<std::string> pin, at_least, at_most;  // dimension=value
  double min_free = 0;
  bool across_nodes = false;
  bool every = false;               // search: plans that differ in nothing that counts are listed too
  std::string sweep;                // bench-sweep
  std::vector<std::string> vary;    // sweep: path=a,b,c
  std::string quantities;           // sweep: ids with commas
  bool csv = false;                 // sweep
  std::string mode = "calibrated";  // validate
  std::string chip;                 // calibrate
  bool hold_out = false;            // calibrate
  std::string presets;              // --presets DIR; empty: the user's data folder
};

// What all commands need, made once.
struct Context {
  const Options& options;
  const io::PresetLibrary& library;
  const widgets::TextTable& texts;
  std::filesystem::path folder;  // user's folder, for themes
};

int eval(const Context&);
int explain(const Context&);
int trace(const Context&);
int check(const Context&);
int presets(const Context&);

// The scenario a command works on, with its --set edits.
io::Result<engine::Scenario> read(const Context&);
// The same and its report; complains about what cannot be read, and about
// each error diagnostic, one line each.
struct Evaluated {
  engine::Scenario scenario;
  engine::Report report;
};
std::optional<Evaluated> evaluate(const Context&);
int code_of(const engine::Report&);  // kGood or kHasErrors

// The scenario alone, with its --set edits; complains about what cannot be read.
std::optional<engine::Scenario> read_scenario(const Context&);

// One line on stderr: "roofscape-cli: ...".
void complain(const io::InputError& error);
// Everything to stdout; a failure (full disk, closed pipe) is complained about and gives kBadInput, else `code`.
int print(const std::string& text, int code);

}  // namespace roofscape::app::cli
