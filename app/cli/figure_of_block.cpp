// roofscape-cli figure block: the figure of a building block into a file.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/figure_options.h"
#include "app/cli/output.h"
#include "app/core/fonts.h"
#include "app/core/strings.h"
#include "engine/base/text_pieces.h"
#include "engine/blocks/block_picture.h"
#include "engine/io/export/block_json.h"
#include "widgets/figures/blocks/block_figure.h"

namespace roofscape::app::cli {

using engine::say;
namespace {

// What a figure of a scenario takes and one of a block does not.
std::optional<io::InputError> foreign_option(const FigureOptions& options) {
  const std::vector<std::pair<std::string_view, bool>> foreign{{"--all", options.all},
                                                               {"--baseline", !options.baseline.empty()},
                                                               {"--measured", !options.measured.empty()},
                                                               {"--steps", options.measured_steps != 0},
                                                               {"--with", !options.with.empty()},
                                                               {"--vary", !options.vary.empty()},
                                                               {"--cluster", !options.input.cluster.empty()},
                                                               {"--set", !options.input.set.empty()}};
  for (const auto& [name, given] : foreign)
    if (given)
      return io::InputError{
          {}, std::string(name), say("error.cli.scenario_figures"), say("error.cli.scenario_figures.remedy")};
  return std::nullopt;
}

}  // namespace

int write_block_figure(const Context& context, const FigureOptions& options) {
  const std::string& name = options.input.scenario;
  if (name.empty() || options.output.empty())
    return refuse(context.texts, {{}, {}, say("error.cli.figure.block"), say("error.cli.figure.block.remedy")});
  if (const auto error = foreign_option(options)) return refuse(context.texts, *error);
  const auto format = format_of(options);
  if (!format) return refuse(context.texts, format.error());
  if (const auto error = unused_option(options, format.value())) return refuse(context.texts, *error);
  const auto sized = form_of(block_figure_size(), options.form, options.theme);
  if (!sized) return refuse(context.texts, sized.error());
  const auto question = io::read_block_question(name, options.inputs, context.library);
  if (!question) return refuse(context.texts, question.error());
  const engine::BlockCall& call = question.value().call;
  const auto asked = engine::picture_with(call.block(), options.over, engine::between_commas(options.show));
  if (asked.error)
    return refuse(context.texts, {{}, "--" + asked.error->input, asked.error->message, asked.error->remedy});
  // What the block itself refuses is no picture either; what its own point lacks may be the input along the axis.
  if (const engine::BlockResult result = engine::run_block_plain(call); result.error)
    return refuse(context.texts, {{}, result.error->input, result.error->message, result.error->remedy});
  const engine::PictureData data = engine::picture_data(call, asked.picture);
  if (data.lines.empty()) {
    std::string names;
    for (const std::string& missing : data.missing) names += (names.empty() ? "" : ", ") + missing;
    return refuse(context.texts, {{},
                                  name,
                                  say("error.cli.figure.block.nothing"),
                                  names.empty() ? say("error.cli.figure.block.others") : say("error.give", names)});
  }
  const auto theme = load_theme(options.theme, context.folder);
  if (!theme) return refuse(context.texts, theme.error());
  const widgets::BlockFigure figure{call, data, context.texts, theme.value()};
  const auto fonts = load_fonts(options.font);
  if (!fonts) return refuse(context.texts, fonts.error());
  const auto file = figure_file(options, drawing_of(figure), format.value(), sized.value(), fonts.value());
  if (!file) return refuse(context.texts, file.error());
  return write_figure(context, options, file.value());
}

}  // namespace roofscape::app::cli
