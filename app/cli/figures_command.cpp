// roofscape-cli figures RECIPE: all figures of a paper or lecture from one file (engine/io/scenario/figure_recipe.h).
// Files that would stay as they are are not written, so that what depends on them is not made anew.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/cli/figure_options.h"
#include "app/cli/output.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/figure_recipe.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

struct FiguresOptions {
  std::string recipe;
  bool check = false;
};

void add_options(OptionList& list, FiguresOptions& options) {
  list.required("file", options.recipe, "cli.figures.recipe");
  list.flag("--check", options.check, "cli.figures.check");
}

FigureOptions options_of(const io::RecipeFigure& figure) {
  FigureOptions out;
  out.figure = figure.figure;
  out.input = {figure.scenario, figure.set};
  out.output = figure.output;
  if (!figure.theme.empty()) out.theme = figure.theme;
  out.caption = figure.caption;
  out.font = figure.font;
  out.form = {figure.size,      figure.dpi,      {},          figure.venue,       figure.head,
              figure.text_size, figure.svg_text, figure.bare, figure.svg_tooltips};
  out.baseline = figure.baseline;
  if (!figure.measured.empty()) out.measured = {figure.measured};
  out.with = figure.with;
  return out;
}

bool is_already(const std::string& file, const std::string& bytes) {
  if (file.empty()) return true;
  const auto there = io::read_file(file, bytes.size() + 1);
  return there.ok() && there.value() == bytes;
}

// An option of the command line as the member of the recipe that it came from.
io::InputError in_recipe(io::InputError error, const std::string& recipe, std::size_t index) {
  if (!error.file.empty() && error.file != "--set") return error;  // of a file that the recipe names
  std::string member = error.file.empty() ? error.path : error.file;
  while (member.starts_with('-')) member.erase(0, 1);
  std::replace(member.begin(), member.end(), '-', '_');
  error.path = fmt::format("figures.{}{}{}", index, member.empty() ? "" : ".", member);
  error.file = recipe;
  return error;
}

int run(const Context& context, const FiguresOptions& options) {
  const auto text = io::read_file(options.recipe);
  if (!text) return refuse(context.texts, text.error());
  const auto recipe = io::read_recipe(text.value(), options.recipe);
  if (!recipe) return refuse(context.texts, recipe.error());
  const std::size_t count = recipe->size();
  int status = kGood;
  for (std::size_t i = 0; i < count; ++i) {
    const FigureOptions asked = options_of(recipe.value()[i]);
    const auto file = figure_file(context, asked);
    if (!file) return refuse(context.texts, in_recipe(file.error(), options.recipe, i));
    status = std::max(status, file->status);
    std::string_view outcome = "cli.figures.nothing";
    if (!file->bytes.empty()) {
      const bool same = is_already(asked.output, file->bytes) && is_already(asked.caption, file->caption);
      outcome = same ? "cli.figures.unchanged" : options.check ? "cli.figures.changed" : "cli.figures.written";
      if (!same && options.check) status = std::max(status, kHasErrors);
      if (!same && !options.check) {
        std::error_code ignored;  // what cannot be made is said by the writing
        for (const std::string& name : {asked.output, asked.caption})
          if (const auto folder = std::filesystem::path(name).parent_path(); !folder.empty())
            std::filesystem::create_directories(folder, ignored);
        if (const int written = write_figure(context, asked, file.value()); written == kBadInput) return written;
      }
    }
    const int shown =
        print(context.texts,
              context.texts.format("cli.figures.progress", {std::to_string(i + 1), std::to_string(count),
                                                            asked.output, std::string(context.texts.text(outcome))}) +
                  '\n',
              kGood);
    if (shown != kGood) return shown;
  }
  return status;
}

}  // namespace

const Command figures_command = command<FiguresOptions, add_options, run>("figures", "cli.figures");

}  // namespace roofscape::app::cli
