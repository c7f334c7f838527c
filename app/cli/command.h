// One command of roofscape-cli, as a row: its name, what it is for, the options it takes and what it does. Each command
// has a file of its own, with a struct for its options; commands.def lists them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "app/cli/option_list.h"
#include "engine/io/presets/preset_library.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app::cli {

// What all commands need, made once.
struct Context {
  const io::PresetLibrary& library;
  const widgets::TextTable& texts;
  std::filesystem::path folder;  // user's folder, for themes
};

// Runs a command whose options have been parsed; returns the exit status (output.h).
using Run = std::function<int(const Context&)>;

// What --help prints for the options that stand before it; empty: the help of the command.
using Help = std::function<std::string(const widgets::TextTable&)>;

struct Declared {
  Run run;
  Help help;
};

struct Command {
  std::string_view name;
  std::string_view about;            // key of a text
  Declared (*declare)(OptionList&);  // makes the options, to be filled by parsing, and what runs with them
};

// The row of a command with options of its own.
template <class Options, void (*add_options)(OptionList&, Options&), int (*run)(const Context&, const Options&),
          std::string (*help)(const widgets::TextTable&, const Options&) = nullptr>
constexpr Command command(std::string_view name, std::string_view about) {
  return {name, about, [](OptionList& list) -> Declared {
            const auto options = std::make_shared<Options>();
            add_options(list, *options);
            return {[options](const Context& context) { return run(context, *options); },
                    [options](const widgets::TextTable& texts) {
                      if constexpr (help != nullptr) return help(texts, *options);
                      return std::string();
                    }};
          }};
}

std::span<const Command* const> commands();

#define COMMAND(name) extern const Command name##_command;
#include "app/cli/commands.def"
#undef COMMAND

}  // namespace roofscape::app::cli
