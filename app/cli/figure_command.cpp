// roofscape-cli figure: figures into files, one or all of them. figure NAME S -o FILE, figure --all S -o FOLDER, figure
// --list, or figure block NAME key=value -o FILE (figure_of_block.cpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cli/figure_options.h"
#include "app/cli/output.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evidence/evidence_points.h"
#include "engine/io/import/measured_file.h"
#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

using widgets::FigureRow;
using widgets::Needs;

void add_options(OptionList& list, FigureOptions& options) {
  list.optional("name", options.figure, "cli.figure.name");
  list.optional("scenario", options.input.scenario, "cli.scenario");
  list.option("-o,--output", options.output, "cli.figure.output");
  list.option("--theme", options.theme, "cli.figure.theme", theme_names());
  list.option("--size", options.size, "cli.figure.size");
  list.flag("--all", options.all, "cli.figure.all");
  list.option("--format", options.format, "cli.figure.format");
  list.option("--scale", options.scale, "cli.figure.scale");
  list.option("--svg-text", options.svg_text, "cli.figure.svg_text");
  list.option("--baseline", options.baseline, "cli.figure.baseline");
  list.option("--measured", options.measured, "cli.figure.measured");
  list.repeated("--with", options.with, "cli.figure.with");
  list.flag("--list", options.list, "cli.figure.list");
  list.set(options.input.set);
  list.optional("inputs", options.inputs, "cli.figure.inputs");
  list.option("--over", options.over, "cli.figure.over");
  list.option("--show", options.show, "cli.figure.show");
}

constexpr std::string_view kBlockFigure = "block";

int print_list(const Context& context) {
  Columns columns({false, false});
  for (const FigureRow& entry : widgets::figures()) {
    columns.add(
        {std::string(entry.name), std::string(context.texts.text("figure." + std::string(entry.name) + ".about"))});
    for (const widgets::FigureOption& option : entry.options)
      columns.add({"", fmt::format("--with {}={}", option.key, fmt::join(option.choices, "|"))});
  }
  columns.add({"block NAME", std::string(context.texts.text("cli.figure.block"))});
  return print(context.texts, columns.text(0), kGood);
}

io::Result<const FigureRow*> find(const std::string& name) {
  if (const FigureRow* found = widgets::find_figure(name)) return found;
  std::vector<std::string_view> names;
  for (const FigureRow& f : widgets::figures()) names.push_back(f.name);
  const std::string_view near = io::nearest_word(name, names);
  return io::InputError{{},
                        {},
                        say("error.cli.figure.unknown", io::in_quotes(name)),
                        near.empty() ? say("error.cli.figure.list") : io::did_you_mean(near)};
}

// What all figures of one call are drawn from.
struct Material {
  widgets::Theme theme;
  Evaluated now;
  std::optional<Evaluated> baseline;
  std::vector<engine::MeasuredOperation> measured;
  std::optional<engine::EvidenceSet> evidence;
};

// `with_evidence`: a figure of it is among those to draw; the predictions of all runs are not for nothing.
std::optional<Material> gather(const Context& context, const FigureOptions& options, bool with_evidence) {
  Material out;
  auto theme = load_theme(options.theme, context.folder);
  if (!theme) {
    complain(context.texts, theme.error());
    return std::nullopt;
  }
  out.theme = std::move(theme).value();
  if (const std::string& file = options.measured; !file.empty()) {
    const auto text = io::read_file(file);
    auto points = text ? io::read_measured(text.value(), file)
                       : io::Result<std::vector<engine::MeasuredOperation>>(text.error());
    if (!points) {
      complain(context.texts, points.error());
      return std::nullopt;
    }
    out.measured = std::move(points).value();
  }
  if (with_evidence) {
    const auto files = io::load_evidence(context.library);
    if (!files) {
      complain(context.texts, files.error());
      return std::nullopt;
    }
    out.evidence = evidence::evidence_set(files.value(), context.library);
  }
  auto now = evaluate(context, options.input);
  if (!now) return std::nullopt;
  out.now = *std::move(now);
  if (!options.baseline.empty()) {
    out.baseline = evaluate(context, {options.baseline});
    if (!out.baseline) return std::nullopt;
  }
  return out;
}

// The material as figures take it. Stays where it is: the input points into it.
struct Sheet {
  Sheet(const Material& material, const Context& context)
      : ghost(material.baseline
                  ? std::optional(widgets::Baseline{material.baseline->scenario, material.baseline->report})
                  : std::nullopt),
        input{material.now.scenario,
              material.now.report,
              context.texts,
              material.theme,
              studies,
              ghost ? &*ghost : nullptr,
              material.measured,
              context.library.chips(),
              material.evidence ? &*material.evidence : nullptr} {}
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  widgets::StudyCache studies;
  std::optional<widgets::Baseline> ghost;
  widgets::FigureInput input;
};

int write_one(const Context& context, const FigureOptions& options) {
  if (options.figure.empty() || options.input.scenario.empty() || options.output.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.figure"), say("error.cli.figure.remedy")});
  const auto row = find(options.figure);
  if (!row) return refuse(context.texts, row.error());
  if (!options.format.empty())
    return refuse(context.texts, {{}, "--format", say("error.cli.all_only"), say("error.cli.all_only.remedy")});
  const auto format = format_of(options.output);
  if (!format)
    return refuse(context.texts,
                  {options.output, {}, say("error.figure.extension"), say("error.figure.extension.remedy")});
  if (const auto error = unused_option(options, *format)) return refuse(context.texts, *error);
  const auto form = form_of(default_size(*row.value()), options);
  if (!form) return refuse(context.texts, form.error());
  widgets::FigureView view;
  for (const std::string& assignment : options.with)
    if (const auto error = choose(*row.value(), assignment, view)) return refuse(context.texts, *error);
  const auto material = gather(context, options, row.value()->name == "evidence");
  if (!material) return kBadInput;
  if (const engine::Diagnostic* why = widgets::cannot_show(*row.value(), material->now.report)) {
    complain(context.texts, {options.input.scenario,
                             std::string(why->field_path),
                             say("error.cli.figure.nothing", widgets::cannot_run_text(*why, context.texts)),
                             {}});
    return kHasErrors;
  }
  const widgets::FontStack fonts;
  const Sheet sheet{*material, context};
  if (const auto error = export_figure(*row.value(), sheet.input, options.output, form.value(), fonts, view))
    return refuse(context.texts, *error);
  return code_of(material->now.report);
}

// Whether there is anything of this scenario for the figure to show; adds it to the sentence about those left out if
// not.
bool has_content(const FigureRow& row, const Material& material, const widgets::TextTable& texts,
                 std::vector<std::string>& left_out) {
  std::string_view why;
  if (!widgets::shows(row, material.now.scenario))
    why = row.subject == widgets::Subject::serving ? "cli.figure.left_out.serving" : "cli.figure.left_out.training";
  else if (widgets::cannot_show(row, material.now.report) != nullptr)
    why = "cli.figure.left_out.cannot_run";
  else if (row.needs == Needs::baseline && !material.baseline)
    why = "cli.figure.left_out.baseline";
  else if (row.needs == Needs::stages && material.now.scenario.parallelism.pipeline == 1)
    why = "cli.figure.left_out.stages";
  if (!why.empty()) left_out.push_back(fmt::format("{} ({})", row.name, texts.text(why)));
  return why.empty();
}

// `options` by value: where no figure is named, its place on the command line holds the scenario.
int write_all(const Context& context, FigureOptions options) {
  if (options.input.scenario.empty()) options.input.scenario = std::exchange(options.figure, {});
  if (options.input.scenario.empty() || !options.figure.empty() || options.output.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.figure.all"), say("error.cli.figure.all.remedy")});
  if (!options.with.empty())
    return refuse(context.texts, {{}, "--with", say("error.cli.one_figure"), say("error.cli.one_figure.remedy")});
  const auto format = parse_format(options.format.empty() ? "pdf" : options.format);
  if (!format) return refuse(context.texts, format.error());
  if (const auto error = unused_option(options, format.value())) return refuse(context.texts, *error);
  for (const FigureRow& row : widgets::figures())
    if (const auto form = form_of(default_size(row), options); !form) return refuse(context.texts, form.error());
  const auto material = gather(context, options, true);
  if (!material) return kBadInput;
  const std::filesystem::path folder = options.output;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return refuse(
        context.texts,
        {options.output, {}, say("error.cli.figure.folder", problem.message()), say("error.file.unwritable.remedy")});
  const widgets::FontStack fonts;
  const Sheet sheet{*material, context};
  std::string written;
  std::vector<std::string> left_out;
  for (const FigureRow& row : widgets::figures()) {
    if (!has_content(row, *material, context.texts, left_out)) continue;
    const auto file = folder / (std::string(row.name) + std::string(extension_of(format.value())));
    if (const auto error = export_figure(row, sheet.input, file, form_of(default_size(row), options).value(), fonts))
      return refuse(context.texts, *error);
    written += file.string() + '\n';
  }
  if (!left_out.empty())
    fmt::print(stderr, "roofscape-cli: {}\n",
               context.texts.format("cli.figure.left_out", {fmt::format("{}", fmt::join(left_out, ", "))}));
  return print(context.texts, written, code_of(material->now.report));
}

int run(const Context& context, const FigureOptions& options) {
  if (options.list) return print_list(context);
  if (options.figure == kBlockFigure) return write_block_figure(context, options);
  if (!options.inputs.empty())
    return refuse(context.texts, {{},
                                  {},
                                  say("error.cli.figure.block_input", io::in_quotes(options.inputs.front())),
                                  say("error.cli.figure.block_input.remedy")});
  if (!options.over.empty() || !options.show.empty())
    return refuse(context.texts, {{},
                                  options.over.empty() ? "--show" : "--over",
                                  say("error.cli.figure.block_option"),
                                  say("error.cli.figure.block_option.remedy")});
  return options.all ? write_all(context, options) : write_one(context, options);
}

}  // namespace

io::Result<ExportOptions> form_of(ExportOptions form, const FigureOptions& asked) {
  if (!asked.size.empty())
    if (const auto error = set_size(asked.size, form)) return *error;
  if (!asked.scale.empty())
    if (const auto error = set_scale(asked.scale, form)) return *error;
  if (!asked.svg_text.empty())
    if (const auto error = set_svg_text(asked.svg_text, form)) return *error;
  if (asked.theme == "projector") form.em = slide_em(form.height);
  return form;
}

std::optional<io::InputError> unused_option(const FigureOptions& asked, FileFormat format) {
  if (!asked.scale.empty() && format != FileFormat::png)
    return io::InputError{{}, "--scale", say("error.cli.png_only"), say("error.cli.png_only.remedy")};
  if (!asked.svg_text.empty() && format != FileFormat::svg)
    return io::InputError{{}, "--svg-text", say("error.cli.svg_only"), say("error.cli.leave_out")};
  return std::nullopt;
}

const Command figure_command = command<FigureOptions, add_options, run>("figure", "cli.figure");

}  // namespace roofscape::app::cli
