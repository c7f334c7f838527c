// roofscape-cli: the engine without a window. Needs no display and no OpenGL.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "app/cli/calc_command.h"
#include "app/cli/calibrate_command.h"
#include "app/cli/commands.h"
#include "app/cli/figure_command.h"
#include "app/cli/search_command.h"
#include "app/cli/sweep_command.h"
#include "app/cli/validate_command.h"
#include "app/core/completion.h"
#include "app/core/man_page.h"
#include "app/core/strings.h"
#include "engine/base/number_text.h"
#include "engine/io/json/nearest.h"
#include "widgets/figures/figures.h"

namespace {

using roofscape::app::cli::Options;
namespace cli = roofscape::app::cli;
namespace io = roofscape::io;

constexpr std::array<std::string_view, 12> kCommands{"eval",    "explain", "calc",     "figure",
                                                     "trace",   "check",   "validate", "calibrate",
                                                     "presets", "sweep",   "search",   "bench-sweep"};

// Reads "30 ms" or "10%" before CLI11 reads the number.
CLI::Validator number_of(const roofscape::engine::Unit& unit) {
  return CLI::Validator(
      [unit](std::string& text) {
        const roofscape::engine::NumberReading read = roofscape::engine::read_number(text, unit);
        if (!read) return read.problem + "; " + read.remedy;
        text = fmt::format("{}", *read);
        return std::string();
      },
      std::string());
}

// One line on a usage error, with the nearest command for one that does not exist.
int usage_error(const CLI::App& program, const CLI::ParseError& error) {
  for (const std::string& word : program.remaining()) {
    if (word.starts_with("-") || !program.get_subcommands().empty()) break;
    const std::string_view near = io::nearest_word(word, kCommands);
    cli::complain({{},
                   {},
                   "unknown command " + io::in_quotes(word),
                   near.empty() ? fmt::format("there are: {}", fmt::join(kCommands, ", "))
                                : "did you mean " + io::in_quotes(near) + "?"});
    return cli::kBadInput;
  }
  cli::complain({{}, {}, error.what(), "see roofscape-cli --help"});
  return cli::kBadInput;
}

// The figures as a section of the manual page.
std::string figures_section(const roofscape::widgets::TextTable& texts) {
  std::string out = ".SH FIGURES\n";
  for (const roofscape::widgets::FigureRow& figure : roofscape::widgets::figures())
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roofscape::app::troff(figure.name),
                       roofscape::app::troff(texts.text("figure." + std::string(figure.name) + ".about")));
  return out;
}

int run(int argc, char** argv) {
  // The texts of --help are needed before the language is known; English is always there.
  const auto english = roofscape::app::load_texts("en");
  if (!english) {
    cli::complain(english.error());
    return cli::kBadInput;
  }
  const auto text = [&](std::string_view key) { return std::string(english->text(key)); };
  const auto text_of = [&](std::string_view key, const std::vector<std::string>& names) {
    return english->format(key, {fmt::format("{}", fmt::join(names, ", "))});
  };

  Options options;
  CLI::App program(text("cli.about"), "roofscape-cli");
  program.set_version_flag("--version", "roofscape-cli " ROOFSCAPE_VERSION);
  program.add_option("--presets", options.presets, text("cli.presets"));
  program.add_option("--lang", options.language, text_of("cli.lang", roofscape::app::language_names()));
  program.require_subcommand(1);
  program.fallthrough();

  const auto add_command = [&](const std::string& name, const std::string& about) {
    return program.add_subcommand(name, text(about));
  };
  const auto add_set = [&](CLI::App* command) {
    command->add_option("--set", options.set, text("cli.set"))->type_size(1)->allow_extra_args(false)->take_all();
  };
  CLI::App* eval = add_command("eval", "cli.eval");
  eval->add_option("scenario", options.scenario, text("cli.scenario"))->required();
  add_set(eval);
  eval->add_flag("--json", options.json, text("cli.json"));
  eval->add_flag("--evidence", options.evidence, text("cli.eval.evidence"));

  CLI::App* explain = add_command("explain", "cli.explain");
  explain->add_option("scenario", options.scenario, text("cli.scenario"))->required();
  explain->add_option("quantity", options.quantity, text("cli.explain.quantity"))->required();
  add_set(explain);

  CLI::App* calc = add_command("calc", "cli.calc");
  calc->add_option("name", options.block, text("cli.calc.name"));
  calc->add_option("inputs", options.inputs, text("cli.calc.inputs"));
  calc->add_flag("--json", options.json, text("cli.json"));
  calc->add_flag("--explain", options.explain, text("cli.calc.explain"));
  calc->add_flag("--list", options.list, text("cli.calc.list"));

  CLI::App* figure = add_command("figure", "cli.figure");
  figure->add_option("name", options.figure, text("cli.figure.name"));
  figure->add_option("scenario", options.scenario, text("cli.scenario"));
  figure->add_option("-o,--output", options.output, text("cli.figure.output"));
  figure->add_option("--theme", options.theme, text_of("cli.figure.theme", roofscape::app::theme_names()));
  figure->add_option("--size", options.size, text("cli.figure.size"));
  figure->add_flag("--all", options.all, text("cli.figure.all"));
  figure->add_option("--format", options.format, text("cli.figure.format"));
  figure->add_option("--scale", options.scale, text("cli.figure.scale"));
  figure->add_option("--svg-text", options.svg_text, text("cli.figure.svg_text"));
  figure->add_option("--baseline", options.baseline, text("cli.figure.baseline"));
  figure->add_option("--measured", options.measured, text("cli.figure.measured"));
  figure->add_option("--with", options.with, text("cli.figure.with"))
      ->type_size(1)
      ->allow_extra_args(false)
      ->take_all();
  figure->add_flag("--list", options.list, text("cli.figure.list"));
  add_set(figure);

  CLI::App* trace = add_command("trace", "cli.trace");
  trace->add_option("scenario", options.scenario, text("cli.scenario"))->required();
  trace->add_option("-o,--output", options.output, text("cli.trace.output"));
  add_set(trace);

  CLI::App* check = add_command("check", "cli.check");
  check->add_option("scenario", options.scenario, text("cli.scenario"))->required();
  check->add_flag("--json", options.json, text("cli.json"));
  add_set(check);

  CLI::App* validate = add_command("validate", "cli.validate");
  validate->add_option("file", options.scenario, text("cli.validate.shipped"));
  validate->add_option("--mode", options.mode, text("cli.validate.mode"));
  validate->add_flag("--json", options.json, text("cli.json"));

  CLI::App* sweep = add_command("sweep", "cli.sweep");
  sweep->add_option("scenario", options.scenario, text("cli.scenario"))->required();
  sweep->add_option("--vary", options.vary, text("cli.sweep.vary"))
      ->type_size(1)
      ->allow_extra_args(false)
      ->take_all();
  sweep->add_option("--quantities", options.quantities, text("cli.sweep.quantities"));
  sweep->add_flag("--csv", options.csv, text("cli.sweep.csv"));
  sweep->add_flag("--json", options.json, text("cli.json"));
  add_set(sweep);

  CLI::App* search = add_command("search", "cli.search");
  search->add_option("scenario", options.scenario, text("cli.scenario"))->required();
  search->add_option("--limit", options.limit, text("cli.search.limit"))->check(CLI::Range(1, 10000));
  search->add_option("--objective", options.objective, text("cli.search.objective"));
  const auto add_constraint = [&](const char* name, std::vector<std::string>& into, const char* about) {
    search->add_option(name, into, text(about))->type_size(1)->allow_extra_args(false)->take_all();
  };
  add_constraint("--pin", options.pin, "cli.search.pin");
  add_constraint("--min", options.at_least, "cli.search.min");
  add_constraint("--max", options.at_most, "cli.search.max");
  search->add_option("--min-free", options.min_free, text("cli.search.min_free"))
      ->transform(number_of(roofscape::engine::unit::fraction))
      ->check(CLI::Range(0.0, 0.99));
  search->add_flag("--every", options.every, text("cli.search.every"));
  search->add_option("--max-token-time", options.most_token_s, text("cli.search.max_token_time"))
      ->transform(number_of(roofscape::engine::unit::seconds))
      ->check(CLI::PositiveNumber);
  search->add_option("--max-ttft", options.most_ttft_s, text("cli.search.max_ttft"))
      ->transform(number_of(roofscape::engine::unit::seconds))
      ->check(CLI::PositiveNumber);
  search->add_flag("--tensor-across-nodes", options.across_nodes, text("cli.search.across_nodes"));
  search->add_flag("--json", options.json, text("cli.json"));
  search->add_flag("--csv", options.csv, text("cli.search.csv"));
  add_set(search);

  CLI::App* bench_sweep = add_command("bench-sweep", "cli.bench_sweep");
  bench_sweep->add_option("sweep", options.sweep, text("cli.bench_sweep.name"))->required();
  bench_sweep->add_flag("--json", options.json, text("cli.json"));

  CLI::App* calibrate = add_command("calibrate", "cli.calibrate");
  calibrate->add_option("file", options.scenario, text("cli.validate.file"))->required();
  calibrate->add_option("--chip", options.chip, text("cli.calibrate.chip"))->required();
  calibrate->add_option("-o,--output", options.output, text("cli.calibrate.output"));
  calibrate->add_flag("--hold-out", options.hold_out, text("cli.calibrate.hold_out"));

  CLI::App* presets = add_command("presets", "cli.presets.command");
  presets->add_flag("--json", options.json, text("cli.json"));

  // For packages and shells, not for people: no option of the table.
  if (argc > 1 && std::string_view(argv[1]) == "--man-sections")
    return cli::print(roofscape::app::man_sections(program) + figures_section(english.value()), cli::kGood);
  if (argc > 1 && std::string_view(argv[1]) == "--complete")
    return cli::print(roofscape::app::completions(program, {argv + 2, argv + argc},
                                                  io::PresetLibrary(io::default_preset_folder()), english.value()),
                      cli::kGood);

  program.allow_extras();  // only so that an unknown command can be named; commands themselves allow none
  try {
    program.parse(argc, argv);
    if (!program.remaining().empty()) throw CLI::ExtrasError(program.remaining());
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ParseError& error) {
    return usage_error(program, error);
  }

  std::error_code ignored;
  const std::filesystem::path folder =
      options.presets.empty() ? io::default_preset_folder() : std::filesystem::path(options.presets);
  if (!options.presets.empty() && !std::filesystem::is_directory(folder, ignored)) {
    cli::complain({options.presets,
                   {},
                   "there is no such folder",
                   "--presets takes a folder with chips, clusters, models or scenarios in it"});
    return cli::kBadInput;
  }
  const io::PresetLibrary library(folder);
  for (const io::InputError& problem : library.problems()) cli::complain(problem);  // left out, and said so
  const auto texts = roofscape::app::load_texts(options.language, folder);
  if (!texts) {
    cli::complain(texts.error());
    return cli::kBadInput;
  }
  const cli::Context context{options, library, texts.value(), folder};
  if (eval->parsed()) return cli::eval(context);
  if (explain->parsed()) return cli::explain(context);
  if (calc->parsed()) return cli::calc(context);
  if (figure->parsed()) return cli::figure(context);
  if (trace->parsed()) return cli::trace(context);
  if (check->parsed()) return cli::check(context);
  if (sweep->parsed()) return cli::sweep(context);
  if (validate->parsed()) return cli::validate(context);
  if (search->parsed()) return cli::search(context);
  if (bench_sweep->parsed()) return cli::bench_sweep(context);
  if (calibrate->parsed()) return cli::calibrate(context);
  return cli::presets(context);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, or a mistake of ours: still one line and no crash
    cli::complain({{}, {}, error.what(), "please report this"});
    return cli::kBadInput;
  }
}
