// roofscape: the window. Flags mirror what the window can do; `--help` and errors work without a display.
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/core/completion.h"
#include "app/core/fonts.h"
#include "app/core/man_page.h"
#include "app/core/strings.h"
#include "app/session/reduced_motion.h"
#include "app/shell/autosave.h"
#include "app/shell/window.h"
#include "app/shell/workspace.h"
#include "engine/io/huggingface/hf_config.h"
#include "engine/io/import/open_scenario.h"
#include "engine/io/json/files.h"
#include "engine/io/measured/measured_input.h"
#include "engine/io/scenario/scenario_json.h"

namespace {

namespace app = roofscape::app;
namespace io = roofscape::io;
using roofscape::engine::say;

constexpr int kBadInput = 2;

int complain(const io::InputError& error, const roofscape::engine::Words& words) {
  fmt::print(stderr, "{}\n", io::to_text(error, words));
  return kBadInput;
}

// "1920x1080"; false if it is not a size a window can have.
bool parse_window_size(const std::string& text, int& width, int& height) {
  char end = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &end) != 2)
    return false;  // NOLINT: bounded by the format
  return width >= 320 && height >= 240 && width <= 16384 && height <= 16384;
}

// A file stays the same one wherever the program is started from next.
std::string whole_path(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::absolute(path, unknown);
  return unknown ? path : whole.lexically_normal().string();
}

int run(int argc, char** argv) {
  const auto english = app::load_texts("en");
  if (!english.ok()) return complain(english.error(), roofscape::widgets::TextTable());
  const auto text = [&](std::string_view key) { return std::string(english.value().text(key)); };
  const auto text_of = [&](std::string_view key, const std::vector<std::string>& names) {
    return english.value().format(key, {fmt::format("{}", fmt::join(names, ", "))});
  };

  std::optional<io::InputError> settings_problem;
  app::Settings settings = app::read_settings(app::settings_file(), &settings_problem);
  std::string scenario, preset, theme, language, size, presets, capture;
  float scale = 0;
  int frames = 4;
  CLI::App program(text("cli.about"), "roofscape");
  program.set_version_flag("--version", "roofscape " ROOFSCAPE_VERSION);
  program.add_option("scenario", scenario, text("cli.scenario"));
  program.add_option("--preset", preset, text("window.preset"));
  program.add_option("--theme", theme, text_of("window.theme", app::theme_names()));
  program.add_option("--lang", language, text_of("cli.lang", app::language_names()));
  program.add_option("--size", size, text("window.size"));
  program.add_option("--scale", scale, text("window.scale"))->check(CLI::Range(0.5f, 8.0f));
  program.add_option("--presets", presets, text("cli.presets"));
  program.add_option("--capture", capture, text("window.capture"));
  program.add_option("--frames", frames, text("window.frames"))->check(CLI::Range(1, 100000));
  // For packages and shells, not for people: no option of the table.
  if (argc > 1 && std::string_view(argv[1]) == "--man-sections") {
    fmt::print("{}", app::man_sections(program));
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "--complete") {
    const io::PresetLibrary offered(io::default_preset_folder());
    fmt::print("{}", app::completions(program, {argv + 2, argv + argc}, offered, english.value()));
    return 0;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    return complain({{}, {}, std::string(error.what()), say("error.window.help")}, english.value());
  }

  app::WindowOptions options;
  options.scale = scale;
  options.frames = frames;
  if (!capture.empty()) options.capture = capture;
  options.keep_settings = capture.empty();
  if (!size.empty() && !parse_window_size(size, options.width, options.height))
    return complain({{}, "--size", say("error.window.size", io::in_quotes(size)), say("error.window.size.remedy")},
                    english.value());
  const std::string chosen_theme = theme.empty() ? settings.theme : theme;
  auto loaded_theme = app::load_theme(chosen_theme);
  if (!loaded_theme.ok() && theme.empty()) loaded_theme = app::load_theme("dark");  // a setting from another time
  if (!loaded_theme.ok()) return complain(loaded_theme.error(), english.value());
  const std::string set_language = settings.language.empty() ? app::system_language() : settings.language;
  const std::string chosen_language = language.empty() ? set_language : language;
  auto texts = app::load_texts(chosen_language);
  if (!texts.ok() && language.empty()) texts = app::load_texts("en");
  if (!texts.ok()) return complain(texts.error(), english.value());

  const auto library = std::make_shared<const io::PresetLibrary>(presets.empty() ? io::default_preset_folder()
                                                                                 : std::filesystem::path(presets));
  std::string origin = !scenario.empty() ? scenario : preset;
  // A model's config.json, a launch file of a framework and what a real run left behind are opened once the window is there,
  // as if they were dropped onto it. What cannot be read of them is said here.
  std::string dropped;
  if (!origin.empty() && library->find_scenario_text(origin) == nullptr) {
    constexpr std::size_t kBeginning = std::size_t{64} << 10;
    const auto beginning = io::first_bytes(origin, kBeginning);
    const bool measured = beginning.ok() && io::is_measured_run(beginning.value());
    const auto file = measured ? beginning : io::read_file(origin);
    const bool config = !measured && file.ok() && io::is_hf_config(file.value());
    const bool launch = !measured && !config && file.ok() && io::reads_as_launch(file.value());
    if (config)
      if (const auto read = io::read_hf_config(file.value(), origin); !read.ok())
        return complain(read.error(), texts.value());
    if (launch)
      if (const auto read = io::import_launch(file.value(), origin, {}, *library); !read.ok())
        return complain(read.error(), texts.value());
    // So is a model preset.
    const bool model = !file.ok() && io::model_meant(origin, *library) != nullptr;
    if (measured || config || launch || model) dropped = std::exchange(origin, std::string(io::kStartScenario));
  }
  auto start = io::load_scenario(origin.empty() ? std::string(io::kStartScenario) : origin, *library);
  if (!start.ok()) return complain(start.error(), texts.value());
  const bool asked = !origin.empty();  // it opens beside what was open when the window was closed
  if (!asked)
    origin = io::kStartScenario;
  else if (library->find_scenario_text(origin) == nullptr)
    origin = whole_path(origin);

  const auto fonts = app::load_fonts();
  if (!fonts.ok()) return complain(fonts.error(), texts.value());
  app::Workspace workspace(library, fonts.value(), std::move(start).value(), origin, std::move(texts).value(),
                           std::move(loaded_theme).value(), settings);
  workspace.set_system_still(app::system_asks_for_stillness());
  // The first is told in the window, all are named where it was started.
  const auto& problems = library->problems();
  for (const io::InputError& problem : problems) complain(problem, workspace.texts());
  if (!problems.empty()) {
    const std::string first = io::to_text(problems.front(), workspace.texts());
    const auto others = static_cast<double>(problems.size() - 1);
    workspace.say({true, others == 0 ? first : workspace.texts().count("ui.presets.problems", others, {first}), {}});
  }
  if (settings_problem && options.keep_settings) {
    const std::filesystem::path aside = app::set_aside(app::settings_file());
    workspace.say(
        {true,
         workspace.texts().format("ui.settings.damaged", {(aside.empty() ? app::settings_file() : aside).string()}),
         io::to_text(*settings_problem, workspace.texts())});
  }
  app::Autosave autosave(options.keep_settings ? app::autosave_file().parent_path() : std::filesystem::path());
  autosave.restore(workspace, asked);
  if (!dropped.empty()) workspace.open(dropped);
  return app::run_window(workspace, options.keep_settings ? &autosave : nullptr, options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("roofscape: out of memory\n", stderr);
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "roofscape: {}\n", error.what());
    return 1;
  }
}
