// roofscape-cli frames S --vary path=a,b,c -o FOLDER: one figure at each step of a sweep, as numbered pictures of one size
// on the same axes, for slides and films.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/export.h"
#include "app/core/fonts.h"
#include "app/core/strings.h"
#include "engine/evaluate/evaluate.h"
#include "engine/io/export/sweep.h"
#include "engine/io/json/nearest.h"
#include "engine/io/scenario/scenario_json.h"
#include "widgets/canvas/canvas_record.h"
#include "widgets/figures/common/empty_state.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFrames = 10000;

struct FramesOptions {
  ScenarioInput input;
  std::vector<std::string> vary, with;  // path=a,b,c; option=choice
  std::string figure, folder, format = "png", theme = "projector", size = "1280x720px";
};

void add_options(OptionList& list, FramesOptions& options) {
  list.scenario(options.input.scenario);
  list.option("--figure", options.figure, "cli.frames.figure");
  list.repeated("--vary", options.vary, "cli.frames.vary");
  list.option("-o,--output", options.folder, "cli.frames.output");
  list.option("--format", options.format, "cli.frames.format");
  list.option("--theme", options.theme, "cli.figure.theme", theme_names());
  list.option("--size", options.size, "cli.frames.size");
  list.repeated("--with", options.with, "cli.figure.with");
  add_edits(list, options.input);
}

// The scenarios in the order of the sweep: the last field varies fastest.
io::Result<std::vector<engine::Scenario>> plans_of(const Context& context, const engine::Scenario& start,
                                                   const std::vector<std::string>& vary) {
  std::vector<engine::Scenario> plans{start};
  for (const std::string& option : vary) {
    const auto field = io::read_varied_field(option);
    if (!field) return field.error();
    if (plans.size() * field->values.size() > kMostFrames)
      return io::InputError{{},
                            "--vary",
                            say("error.cli.frames.many", std::to_string(kMostFrames)),
                            say("error.cli.frames.many.remedy")};
    std::vector<engine::Scenario> next;
    for (const engine::Scenario& plan : plans)
      for (const std::string& value : field->values) {
        next.push_back(plan);
        if (const auto failure = io::set_field(next.back(), field->path + "=" + value, context.library))
          return *failure;
      }
    plans = std::move(next);
  }
  return plans;
}

io::Result<const widgets::FigureRow*> figure_of(const FramesOptions& options, const engine::Scenario& scenario) {
  const std::string name = !options.figure.empty() ? options.figure : scenario.serves() ? "decode-step" : "step";
  if (const widgets::FigureRow* row = widgets::find_figure(name)) return row;
  std::vector<std::string_view> names;
  for (const widgets::FigureRow& row : widgets::figures()) names.push_back(row.name);
  return io::InputError{
      {}, "--figure", say("error.cli.figure.unknown", io::in_quotes(name)), io::did_you_mean(name, names)};
}

int run(const Context& context, const FramesOptions& options) {
  const auto start = read_scenario(context, options.input);
  if (!start) return kBadInput;
  if (options.vary.empty() || options.folder.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.frames"), say("error.cli.frames.remedy")});
  const auto row = figure_of(options, start.value());
  if (!row) return refuse(context.texts, row.error());
  const auto format = parse_format(options.format);
  if (!format) return refuse(context.texts, format.error());
  if (!is_picture(format.value()))
    return refuse(
        context.texts,
        {{}, "--format", say("error.cli.frames.format", options.format), say("error.cli.frames.format.remedy")});
  const auto theme = load_theme(options.theme, context.folder);
  if (!theme) return refuse(context.texts, theme.error());
  ExportOptions form;
  if (const auto error = set_size(options.size, form)) return refuse(context.texts, *error);
  make_slide(form);
  widgets::FigureView view;
  for (const std::string& assignment : options.with)
    if (const auto error = choose(*row.value(), assignment, view)) return refuse(context.texts, *error);
  const auto plans = plans_of(context, start.value(), options.vary);
  if (!plans) return refuse(context.texts, plans.error());
  const auto fonts = load_fonts();
  if (!fonts) return refuse(context.texts, fonts.error());
  const fs::path folder = options.folder;
  if (const auto error = make_folder(options.folder)) return refuse(context.texts, *error);

  widgets::HeldAxes axes;
  axes.hold(true);
  int status = kGood;
  std::string written;
  const auto leave_out = [&](std::size_t i, std::string field, engine::Sentence why) {
    status = kHasErrors;
    complain(context.texts,
             {fmt::format("{} {}", options.input.scenario, i + 1), std::move(field), std::move(why), {}});
  };
  std::vector<std::string> empty(plans->size());  // why a figure has nothing to draw
  // Once to see how far the axes reach over all frames, then for the files.
  for (const bool writes : {false, true})
    for (std::size_t i = 0; i < plans->size(); ++i) {
      const engine::Scenario& plan = plans.value()[i];
      const engine::Report report = engine::evaluate(plan);
      if (const engine::Diagnostic* why = widgets::cannot_show(*row.value(), report)) {
        if (writes)
          leave_out(i, std::string(why->field_path),
                    say("error.cli.figure.nothing", widgets::cannot_run_text(*why, context.texts)));
        continue;
      }
      widgets::StudyCache studies;
      widgets::FigureInput input{plan, report, context.texts, theme.value(), studies};
      input.chips = context.library.chips();
      input.axes = &axes;
      const Drawing drawing = drawing_of(*row.value(), input, view, &context.library);
      if (!writes) {
        widgets::RecordCanvas canvas(fonts.value(), form.em, {0, 0, form.width, form.height});
        drawing.draw(canvas, canvas.bounds(), form.head);
        const auto says_why = [](const widgets::TextRun& run) { return run.group == widgets::kEmptyState; };
        if (std::any_of(canvas.texts().begin(), canvas.texts().end(), says_why))
          empty[i] = empty_state_of(drawing, fonts.value());
        continue;
      }
      if (!empty[i].empty()) {
        leave_out(i, {}, say("error.cli.figure.empty", row.value()->name, empty[i]));
        continue;
      }
      const fs::path file =
          folder / fmt::format("{}-{:04}{}", row.value()->name, i + 1, extension_of(format.value()));
      if (const auto error = export_drawing(drawing, file, form, fonts.value())) return refuse(context.texts, *error);
      written += file.string() + '\n';
    }
  return print(context.texts, written, status);
}

}  // namespace

const Command frames_command = command<FramesOptions, add_options, run>("frames", "cli.frames");

}  // namespace roofscape::app::cli
