// roofscape-cli: the engine without a window. Needs no display and no OpenGL.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/core/completion.h"
#include "app/core/man_page.h"
#include "app/core/strings.h"
#include "engine/io/json/nearest.h"
#include "widgets/figures/figures.h"

namespace {

namespace app = roofscape::app;
namespace cli = roofscape::app::cli;
namespace io = roofscape::io;
namespace widgets = roofscape::widgets;
using roofscape::engine::say;

// Options of the program, for every command.
struct GlobalOptions {
  std::string presets;   // a folder; empty: the user's data folder
  std::string language;  // empty: the system's
};

// "parallelism.tensor=8", and not the path of a file.
bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
         });
}

// The program with its options and commands as CLI11 has them.
class Program {
 public:
  explicit Program(const widgets::TextTable& texts) : parser_(std::string(texts.text("cli.about")), "roofscape-cli") {
    parser_.set_version_flag("--version", "roofscape-cli " ROOFSCAPE_VERSION);
    cli::OptionList globals(parser_, texts);
    globals.option("--presets", options.presets, "cli.presets");
    globals.option("--lang", options.language, "cli.lang", app::language_names());
    parser_.require_subcommand(1);
    parser_.fallthrough();
    for (const cli::Command* row : cli::commands()) {
      CLI::App* parsed = parser_.add_subcommand(std::string(row->name), std::string(texts.text(row->about)));
      cli::OptionList list(*parsed, texts);
      commands_.push_back({parsed, row->declare(list)});
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const CLI::App& parser() const { return parser_; }

  // Throws what CLI11 throws: of --help, of --version and of bad usage.
  void parse(int argc, char** argv) {
    parser_.allow_extras();  // only so that an unknown command can be named; commands themselves allow none
    std::vector<std::string> words = with_every_option({argv + 1, argv + argc});
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    parser_.parse(std::move(words));
    if (!parser_.remaining().empty()) throw CLI::ExtrasError(parser_.remaining());
  }
  int print_requested(const CLI::Success& request, const widgets::TextTable& texts) {
    if (dynamic_cast<const CLI::CallForHelp*>(&request) != nullptr)
      for (const ParsedCommand& command : commands_)
        if (command.parser->parsed())
          if (const std::string help = command.declared.help(texts); !help.empty())
            return cli::print(texts, help, cli::kGood);
    std::ostringstream text, error;
    const int code = parser_.exit(request, text, error);
    return cli::print(texts, text.str(), code);
  }

  // The command that was parsed.
  int run(const cli::Context& context) const {
    for (const ParsedCommand& command : commands_)
      if (command.parser->parsed()) return command.declared.run(context);
    return cli::kBadInput;  // not reached: one is required
  }

  GlobalOptions options;

 private:
  // `--set a=1 b=2` as `--set a=1 --set b=2`: of an option that may be repeated each further assignment is one of its
  // values. A list of values in the parser itself would take the scenario after it as well.
  std::vector<std::string> with_every_option(const std::vector<std::string>& words) const {
    std::vector<std::string> out;
    const CLI::App* command = nullptr;
    std::string option;  // that takes what follows
    bool has_value = false;
    for (const std::string& word : words) {
      if (word.starts_with('-')) {
        const std::size_t equals = word.find('=');
        option = word.substr(0, equals), has_value = equals != std::string::npos;
        const CLI::Option* known = command != nullptr ? command->get_option_no_throw(option) : nullptr;
        if (known == nullptr || known->get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll) option.clear();
      } else if (!option.empty() && has_value && is_assignment(word)) {
        out.push_back(option);
      } else if (!option.empty() && !has_value) {
        has_value = true;
      } else {
        option.clear();
        for (const ParsedCommand& one : commands_)
          if (command == nullptr && one.parser->get_name() == word) command = one.parser;
      }
      out.push_back(word);
    }
    return out;
  }

  struct ParsedCommand {
    const CLI::App* parser;
    cli::Declared declared;
  };
  CLI::App parser_;
  std::vector<ParsedCommand> commands_;
};

// One line on a usage error, with the nearest command for one that does not exist.
int usage_error(const CLI::App& program, const CLI::ParseError& error, const widgets::TextTable& texts) {
  std::vector<std::string_view> names;
  for (const cli::Command* command : cli::commands()) names.push_back(command->name);
  for (const std::string& word : program.remaining()) {
    if (word.starts_with("-") || !program.get_subcommands().empty()) break;
    const std::string_view near = io::nearest_word(word, names);
    return cli::refuse(texts, {{},
                               {},
                               say("error.cli.command", io::in_quotes(word)),
                               near.empty() ? say("error.there_are", io::listed(names)) : io::did_you_mean(near)});
  }
  return cli::refuse(texts, {{}, {}, std::string(error.what()), say("error.cli.help")});
}

// The figures as a section of the manual page.
std::string figures_section(const widgets::TextTable& texts) {
  std::string out = ".SH FIGURES\n";
  for (const widgets::FigureRow& figure : widgets::figures())
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", app::troff(figure.name),
                       app::troff(texts.text("figure." + std::string(figure.name) + ".about")));
  return out;
}

// Reads the presets and the texts that the options name, and runs the command.
int run_command(const Program& program, widgets::TextTable english) {
  const GlobalOptions& options = program.options;
  std::error_code ignored;
  const std::filesystem::path folder =
      options.presets.empty() ? io::default_preset_folder() : std::filesystem::path(options.presets);
  if (!options.presets.empty() && !std::filesystem::is_directory(folder, ignored))
    return cli::refuse(english, {options.presets, {}, say("error.cli.folder"), say("error.cli.folder.remedy")});
  const std::string language = options.language.empty() ? app::system_language() : options.language;
  const bool is_english = language == "en" && !app::has_texts(folder, language);
  const auto texts =
      is_english ? io::Result<widgets::TextTable>(std::move(english)) : app::load_texts(language, folder);
  if (!texts) return cli::refuse(english, texts.error());
  const io::PresetLibrary library(folder);
  for (const io::InputError& problem : library.problems()) cli::complain(texts.value(), problem);  // left out
  return program.run({library, texts.value(), folder});
}

int run(int argc, char** argv) {
  // The texts of --help are needed before the language is known; English is always there.
  auto english = app::load_texts("en");
  if (!english) return cli::refuse(widgets::TextTable(), english.error());
  Program program(english.value());

  // For packages and shells, not for people: no option of the table.
  if (argc > 1 && std::string_view(argv[1]) == "--man-sections")
    return cli::print(english.value(), app::man_sections(program.parser()) + figures_section(english.value()),
                      cli::kGood);
  if (argc > 1 && std::string_view(argv[1]) == "--complete")
    return cli::print(english.value(),
                      app::completions(program.parser(), {argv + 2, argv + argc},
                                       io::PresetLibrary(io::default_preset_folder()), english.value()),
                      cli::kGood);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return program.print_requested(request, english.value());
  } catch (const CLI::ParseError& error) {
    return usage_error(program.parser(), error, english.value());
  }
  return run_command(program, std::move(english).value());
}

// Where memory is so short that not even giving up can be done in order: the texts cannot be read, or a document of the
// JSON library, which allocates to be destroyed, cannot be let go.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    std::fputs("roofscape-cli: out of memory\n", stderr);
    std::_Exit(cli::kBadInput);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_without_memory);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, or a mistake of ours: still one line and no crash
    const auto english = app::load_texts("en");
    return cli::refuse(english ? english.value() : widgets::TextTable(), io::error_of(error));
  }
}
