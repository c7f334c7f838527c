// roofscape-cli figure: figures into files, one or all of them. figure NAME S -o FILE, figure --all S -o FOLDER, figure
// --list, or figure block NAME key=value -o FILE (figure_of_block.cpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/figure_options.h"
#include "app/cli/measurement_input.h"
#include "app/cli/output.h"
#include "app/core/figure_caption.h"
#include "app/core/figure_page.h"
#include "app/core/fonts.h"
#include "app/core/strings.h"
#include "app/core/text_columns.h"
#include "engine/evidence/evidence_points.h"
#include "engine/io/import/measured_file.h"
#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/measured/measured_input.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

using widgets::FigureRow;
using widgets::Needs;

std::vector<std::string> venue_ids() {
  std::vector<std::string> ids;
  for (const Venue& venue : venues()) ids.emplace_back(venue.id);
  return ids;
}

void add_options(OptionList& list, FigureOptions& options) {
  list.optional("name", options.figure, "cli.figure.name");
  list.optional("scenario", options.input.scenario, "cli.scenario");
  list.option("-o,--output", options.output, "cli.figure.output");
  list.option("--theme", options.theme, "cli.figure.theme", theme_names());
  list.option("--size", options.form.size, "cli.figure.size");
  list.option("--venue", options.form.venue, "cli.figure.venue", venue_ids());
  list.flag("--bare", options.form.bare, "cli.figure.bare");
  list.option("--head", options.form.head, "cli.figure.head");
  list.option("--caption", options.caption, "cli.figure.caption");
  list.option("--font", options.font, "cli.figure.font");
  list.option("--text-size", options.form.text_size, "cli.figure.text_size");
  list.flag("--all", options.all, "cli.figure.all");
  list.option("--format", options.format, "cli.figure.format");
  list.option("--dpi", options.form.dpi, "cli.figure.dpi");
  list.option("--scale", options.form.scale, "cli.figure.scale");
  list.option("--svg-text", options.form.svg_text, "cli.figure.svg_text");
  list.flag("--svg-tooltips", options.form.svg_tooltips, "cli.figure.svg_tooltips");
  list.option("--baseline", options.baseline, "cli.figure.baseline");
  list.repeated("--measured", options.measured, "cli.figure.measured");
  list.whole_number("--steps", options.measured_steps, "cli.compare.steps", 1, 1'000'000);
  list.repeated("--with", options.with, "cli.figure.with");
  list.option("--vary", options.vary, "cli.figure.vary");
  list.flag("--list", options.list, "cli.figure.list");
  add_edits(list, options.input);
  list.optional("inputs", options.inputs, "cli.figure.inputs");
  list.option("--over", options.over, "cli.figure.over");
  list.option("--show", options.show, "cli.figure.show");
}

constexpr std::string_view kBlockFigure = "block";

int print_figures(const Context& context) {
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
  std::optional<engine::MeasuredRun> run;
  std::optional<engine::EvidenceSet> evidence;
};

// The operations of all files that hold any; of files that hold none an error, or where `several` figures are drawn
// nothing.
io::Result<std::vector<engine::MeasuredOperation>> read_operations(const std::vector<std::string>& files,
                                                                   bool several) {
  std::vector<engine::MeasuredOperation> out;
  for (const std::string& file : files) {
    const auto text = io::read_file(file);
    auto points = text ? io::read_measured(text.value(), file)
                       : io::Result<std::vector<engine::MeasuredOperation>>(text.error());
    if (!points && several) continue;
    if (!points) return points.error();
    out.insert(out.end(), std::make_move_iterator(points->begin()), std::make_move_iterator(points->end()));
  }
  return out;
}

// What was measured, as far as this figure draws it; null: as all figures do.
io::Failure gather_measured(const FigureOptions& options, const FigureRow* row, Material& out) {
  if (options.measured.empty()) return check_steps(options.measured, options.measured_steps);
  if (row != nullptr && row->measures == widgets::Measures::nothing) {
    std::vector<std::string_view> names;
    for (const FigureRow& f : widgets::figures())
      if (f.measures != widgets::Measures::nothing) names.push_back(f.name);
    return io::InputError{{},
                          "--measured",
                          say("error.cli.figure.measured", row->name),
                          say("error.cli.figure.measured.remedy", fmt::format("{}", fmt::join(names, ", ")))};
  }
  if (row == nullptr || row->measures == widgets::Measures::run) {
    auto run = io::read_measured_run(options.measured, {options.measured_steps, {}});
    if (!run) return run.error();
    out.run = std::move(run).value();
  }
  if (row == nullptr || row->measures == widgets::Measures::operations) {
    auto points = read_operations(options.measured, row == nullptr);
    if (!points) return points.error();
    out.measured = std::move(points).value();
  }
  return std::nullopt;
}

// For one figure, or null for all of them. The predictions of all published runs are not for nothing: they are there
// where their figure is drawn.
io::Result<Material> gather(const Context& context, const FigureOptions& options, const FigureRow* row) {
  const bool with_evidence = row == nullptr || row->name == "evidence" || row->name == "compare";
  Material out;
  auto theme = load_theme(options.theme, context.folder);
  if (!theme) return theme.error();
  out.theme = std::move(theme).value();
  if (auto failure = gather_measured(options, row, out)) return *std::move(failure);
  if (with_evidence) {
    const auto files = io::load_evidence(context.library);
    if (!files) return files.error();
    out.evidence = evidence::evidence_set(files.value(), context.library);
  }
  auto now = evaluated(context, options.input);
  if (!now) return now.error();
  out.now = std::move(now).value();
  if (!options.baseline.empty()) {
    auto baseline = evaluated(context, {options.baseline});
    if (!baseline) return baseline.error();
    out.baseline = std::move(baseline).value();
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
              material.evidence ? &*material.evidence : nullptr,
              nullptr,
              nullptr,
              material.run ? &*material.run : nullptr} {}
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  widgets::StudyCache studies;
  std::optional<widgets::Baseline> ghost;
  widgets::FigureInput input;
};

void complain_of_errors(const Context& context, const FigureOptions& options, const Material& material) {
  cli::complain_of_errors(context, options.input, material.now);
  if (material.baseline) cli::complain_of_errors(context, {options.baseline}, *material.baseline);
}

// Why there is nothing of this scenario for the figure to show; empty: there is something, or drawing it will tell.
engine::Sentence nothing_because(const FigureRow& row, const Material& material) {
  if (!widgets::shows(row, material.now.scenario))
    return row.subject == widgets::Subject::serving ? say("cli.figure.left_out.serving")
                                                    : say("cli.figure.left_out.training");
  if (widgets::cannot_show(row, material.now.report) != nullptr) return say("cli.figure.left_out.cannot_run");
  if (row.needs == Needs::baseline && !material.baseline) return say("cli.figure.left_out.baseline");
  if (row.needs == Needs::stages && material.now.scenario.parallelism.pipeline == 1)
    return say("cli.figure.left_out.stages");
  return {};
}

io::InputError empty_figure(const FigureRow& row, const FigureOptions& options, engine::Sentence why) {
  return {options.input.scenario,
          {},
          say("error.cli.figure.empty", row.name, std::move(why)),
          say("error.cli.figure.empty.remedy")};
}

// What is wrong with asking for the figure of this scenario; of a plan that cannot run its own errors tell.
io::Failure nothing_to_show(const FigureRow& row, const FigureOptions& options, const Material& material) {
  engine::Sentence why = nothing_because(row, material);
  if (why.empty() || widgets::cannot_show(row, material.now.report) != nullptr) return std::nullopt;
  io::InputError error = empty_figure(row, options, std::move(why));
  if (row.needs == Needs::baseline && !material.baseline) error.remedy = say("error.cli.figure.empty.baseline");
  return error;
}

int write_one(const Context& context, const FigureOptions& options) {
  if (options.figure.empty() || options.input.scenario.empty() || options.output.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.figure"), say("error.cli.figure.remedy")});
  const auto file = figure_file(context, options);
  if (!file) return refuse(context.texts, file.error());
  if (file->bytes.empty()) return kHasErrors;
  return write_figure(context, options, file.value());
}

// `options` by value: where no figure is named, its place on the command line holds the scenario.
int write_all(const Context& context, FigureOptions options) {
  if (options.input.scenario.empty()) options.input.scenario = std::exchange(options.figure, {});
  if (options.input.scenario.empty() || !options.figure.empty() || options.output.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.figure.all"), say("error.cli.figure.all.remedy")});
  if (!options.with.empty())
    return refuse(context.texts, {{}, "--with", say("error.cli.one_figure"), say("error.cli.one_figure.remedy")});
  if (!options.caption.empty())
    return refuse(context.texts, {{}, "--caption", say("error.cli.one_figure"), say("error.cli.one_figure.remedy")});
  const auto format = parse_format(options.format.empty() ? "pdf" : options.format);
  if (!format) return refuse(context.texts, format.error());
  if (const auto error = unused_option(options, format.value())) return refuse(context.texts, *error);
  const auto form_for = [&options](const FigureRow& row) {
    return form_of(default_size(row), options.form, options.theme);
  };
  for (const FigureRow& row : widgets::figures())
    if (const auto form = form_for(row); !form) return refuse(context.texts, form.error());
  const auto fonts = load_fonts(options.font);
  if (!fonts) return refuse(context.texts, fonts.error());
  const auto material = gather(context, options, nullptr);
  if (!material) return refuse(context.texts, material.error());
  complain_of_errors(context, options, material.value());
  const std::filesystem::path folder = options.output;
  if (const auto error = make_folder(options.output)) return refuse(context.texts, *error);
  const Sheet sheet{material.value(), context};
  std::string written;
  std::vector<std::string> left_out;
  for (const FigureRow& row : widgets::figures()) {
    const auto leave_out = [&](const std::string& why) { left_out.push_back(fmt::format("{} ({})", row.name, why)); };
    if (const engine::Sentence why = nothing_because(row, material.value()); !why.empty()) {
      leave_out(context.texts.write(why));
      continue;
    }
    const Drawing drawing = drawing_of(row, sheet.input, {}, &context.library);
    if (const std::string why = empty_state_of(drawing, fonts.value()); !why.empty()) {
      leave_out(why);
      continue;
    }
    const ExportOptions form = form_for(row).value();
    if (!has_room(drawing, form, fonts.value())) {
      leave_out(context.texts.write(say("error.figure.no_room")));
      continue;
    }
    const auto file = folder / (std::string(row.name) + std::string(extension_of(format.value())));
    if (const auto error = export_drawing(drawing, file, form, fonts.value())) return refuse(context.texts, *error);
    written += file.string() + '\n';
  }
  if (!left_out.empty())
    fmt::print(stderr, "roofscape-cli: {}\n",
               context.texts.format("cli.figure.left_out", {fmt::format("{}", fmt::join(left_out, ", "))}));
  return print(context.texts, written, code_of(material->now));
}

int run(const Context& context, const FigureOptions& options) {
  if (options.list) return print_figures(context);
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

io::Result<FileFormat> format_of(const FigureOptions& asked) {
  if (asked.output == kStandardOutput)
    return asked.format.empty()
               ? io::InputError{{}, "-o -", say("error.figure.output"), say("error.figure.output.remedy")}
               : parse_format(asked.format);
  const auto named = app::format_of(std::filesystem::path(asked.output));
  if (!asked.format.empty()) {
    const auto said = parse_format(asked.format);
    if (said && named && *named != said.value())
      return io::InputError{{},
                            "--format",
                            say("error.cli.other_extension", io::in_quotes(asked.output)),
                            say("error.cli.other_extension.remedy")};
    return said;
  }
  if (named) return *named;
  return io::InputError{asked.output, {}, say("error.figure.extension"), say("error.figure.extension.remedy")};
}

io::Result<FigureFile> figure_file(const FigureOptions& asked, const Drawing& drawing, FileFormat format,
                                   const ExportOptions& form, const widgets::FontStack& fonts) {
  FigureFile out;
  if (!asked.caption.empty()) {
    auto caption = caption_file(drawing.head, asked.caption);
    if (!caption) return caption.error();
    out.caption = std::move(caption).value();
  }
  auto bytes = drawing_bytes(drawing, format, form, fonts);
  if (!bytes) {
    io::InputError error = bytes.error();
    error.file = asked.output;
    return error;
  }
  out.bytes = std::move(bytes).value();
  return out;
}

namespace {

// The values of --vary: a field, and what it is set to one after the other.
struct Varied {
  std::string path;
  std::vector<std::string> values;
};
io::Result<Varied> varied_of(const std::string& text) {
  Varied out;
  const std::size_t cut = text.find('=');
  if (cut != std::string::npos && cut > 0) {
    out.path = text.substr(0, cut);
    for (std::size_t from = cut + 1; from <= text.size();) {
      const std::size_t to = std::min(text.find(',', from), text.size());
      if (to > from) out.values.push_back(text.substr(from, to - from));
      from = to + 1;
    }
  }
  if (out.values.empty())
    return io::InputError{
        {}, "--vary", say("error.cli.figure.vary", io::in_quotes(text)), say("error.cli.figure.vary.remedy")};
  return out;
}

// A page with the figure at each value; a plan that cannot run there has no frame, and says so.
io::Result<FigureFile> varied_page(const Context& context, const FigureOptions& options, const FigureRow& row,
                                   const ExportOptions& form, const widgets::FigureView& view,
                                   const widgets::FontStack& fonts) {
  const auto varied = varied_of(options.vary);
  if (!varied) return varied.error();
  FigureFile out;
  std::vector<PageFrame> frames;
  io::Failure nothing;
  FigurePage page{{}, varied->path, {}, {}, {}};
  for (const std::string& value : varied->values) {
    FigureOptions one = options;
    one.input.set.push_back(varied->path + "=" + value);
    const auto material = gather(context, one, &row);
    if (!material) return material.error();
    complain_of_errors(context, one, material.value());
    out.status = std::max(out.status, code_of(material->now));
    if (widgets::cannot_show(row, material->now.report) != nullptr) continue;
    if (auto failure = nothing_to_show(row, one, material.value())) {
      nothing = std::move(failure);
      continue;
    }
    const Sheet sheet{material.value(), context};
    const Drawing drawing = drawing_of(row, sheet.input, view, &context.library);
    if (std::string why = empty_state_of(drawing, fonts); !why.empty()) {
      nothing = empty_figure(row, one, std::move(why));
      continue;
    }
    page.theme = material->theme;
    if (frames.empty())
      page.title = drawing.head.title, page.record = drawing.record, page.language = drawing.language;
    frames.push_back({value, frame_svg(drawing, form, fonts, fmt::format("f{}-", frames.size()))});
  }
  if (frames.empty() && nothing) return *std::move(nothing);
  if (!frames.empty()) out.bytes = figure_page(page, frames);
  return out;
}

}  // namespace

io::Result<FigureFile> figure_file(const Context& context, const FigureOptions& options) {
  const auto row = find(options.figure);
  if (!row) return row.error();
  const auto format = format_of(options);
  if (!format) return format.error();
  if (const auto error = unused_option(options, format.value())) return *error;
  const auto form = form_of(default_size(*row.value()), options.form, options.theme);
  if (!form) return form.error();
  widgets::FigureView view;
  for (const std::string& assignment : options.with)
    if (const auto error = choose(*row.value(), assignment, view)) return *error;
  if (!options.vary.empty()) {
    const auto fonts = load_fonts(options.font);
    if (!fonts) return fonts.error();
    return varied_page(context, options, *row.value(), form.value(), view, fonts.value());
  }
  const auto material = gather(context, options, row.value());
  if (!material) return material.error();
  if (auto failure = nothing_to_show(*row.value(), options, material.value())) return *std::move(failure);
  const auto fonts = load_fonts(options.font);
  if (!fonts) return fonts.error();
  complain_of_errors(context, options, material.value());
  FigureFile out;
  out.status = code_of(material->now);
  if (const engine::Diagnostic* why = widgets::cannot_show(*row.value(), material->now.report)) {
    complain(context.texts, {options.input.scenario,
                             std::string(why->field_path),
                             say("error.cli.figure.nothing", widgets::cannot_run_text(*why, context.texts)),
                             {}});
    return out;
  }
  const Sheet sheet{material.value(), context};
  const Drawing drawing = drawing_of(*row.value(), sheet.input, view, &context.library);
  if (std::string why = empty_state_of(drawing, fonts.value()); !why.empty()) {
    io::InputError error = empty_figure(*row.value(), options, std::move(why));
    if (!widgets::is_searched(row.value()->needs)) return error;
    // That no plan can run is an answer, not a mistake.
    error.remedy = {};
    complain(context.texts, error);
    out.status = kHasErrors;
    return out;
  }
  auto drawn = figure_file(options, drawing, format.value(), form.value(), fonts.value());
  if (drawn) drawn.value().status = out.status;
  return drawn;
}

int write_figure(const Context& context, const FigureOptions& asked, const FigureFile& file) {
  if (!asked.caption.empty())
    if (const auto error = io::write_file_atomically(asked.caption, file.caption))
      return refuse(context.texts, *error);
  return write_output(context.texts, asked.output, file.bytes, file.status);
}

std::optional<io::InputError> unused_option(const FigureOptions& asked, FileFormat format) {
  const auto unused = [format](FileFormat only, std::string_view option, const std::string& asked_for) {
    return format != only && !asked_for.empty() ? std::optional(option) : std::nullopt;
  };
  if (!is_picture(format))
    for (const auto& [option, given] : {std::pair{"--size", !asked.form.size.empty()},
                                        {"--venue", !asked.form.venue.empty()},
                                        {"--head", !asked.form.head.empty()},
                                        {"--bare", asked.form.bare},
                                        {"--font", !asked.font.empty()},
                                        {"--text-size", !asked.form.text_size.empty()}})
      if (given) return io::InputError{{}, option, say("error.cli.pictures_only"), say("error.cli.leave_out")};
  for (const auto& option :
       {unused(FileFormat::png, "--scale", asked.form.scale), unused(FileFormat::png, "--dpi", asked.form.dpi)})
    if (option)
      return io::InputError{{}, std::string(*option), say("error.cli.png_only"), say("error.cli.png_only.remedy")};
  for (const auto& option : {unused(FileFormat::svg, "--svg-text", asked.form.svg_text),
                             unused(FileFormat::svg, "--svg-tooltips", asked.form.svg_tooltips ? "on" : "")})
    if (option)
      return io::InputError{{}, std::string(*option), say("error.cli.svg_only"), say("error.cli.leave_out")};
  if (format != FileFormat::html && !asked.vary.empty())
    return io::InputError{{}, "--vary", say("error.cli.html_only"), say("error.cli.html_only.remedy")};
  return std::nullopt;
}

const Command figure_command = command<FigureOptions, add_options, run>("figure", "cli.figure");

}  // namespace roofscape::app::cli
