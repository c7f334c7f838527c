// The options of roofscape-cli figure, which its two kinds of figures share: those of a scenario, and those of a
// building block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/scenario_input.h"
#include "app/core/export.h"

namespace roofscape::app::cli {

struct FigureOptions {
  std::string figure;
  ScenarioInput input;
  std::string output, theme = "print", format, caption, font;
  FormWords form;
  bool all = false;
  std::string baseline, measured;  // a scenario, a file
  std::vector<std::string> with;   // option=choice
  bool list = false;
  std::vector<std::string> inputs;  // of a block: name=value
  std::string over, show;           // of a block: an input, outputs with commas
};

// What the file is written as: by its extension, or for "-" (standard output) by --format.
io::Result<FileFormat> format_of(const FigureOptions& asked);
// Options that a file of this format would ignore.
std::optional<io::InputError> unused_option(const FigureOptions& asked, FileFormat format);
// The fonts to draw with: those of the program, behind the one that was asked for.
io::Result<widgets::FontStack> fonts_of(const FigureOptions& asked);
// Writes the file and the caption. Returns the exit status.
int write_drawing(const Context& context, const FigureOptions& asked, const Drawing& drawing, FileFormat format,
                  const ExportOptions& form, const widgets::FontStack& fonts);

// figure block NAME key=value ... -o FILE [--over INPUT] [--show OUTPUT,OUTPUT]. NAME stands where other figures have
// their scenario.
int write_block_figure(const Context& context, const FigureOptions& options);

}  // namespace roofscape::app::cli
