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
  std::string baseline;               // a scenario
  std::vector<std::string> measured;  // files or lines
  int measured_steps = 0;             // that a trace without marks or a table of kernels holds; 0: not given
  std::vector<std::string> with;      // option=choice
  bool list = false;
  std::vector<std::string> inputs;  // of a block: name=value
  std::string over, show;           // of a block: an input, outputs with commas
  std::string vary;                 // of a page: a field and its values, path=a,b,c
};

// What the file is written as: by its extension, or for "-" (standard output) by --format.
io::Result<FileFormat> format_of(const FigureOptions& asked);
// Options that a file of this format would ignore.
std::optional<io::InputError> unused_option(const FigureOptions& asked, FileFormat format);
// A figure before it is written. `bytes` is empty where the plan cannot run, so that there is nothing to draw.
struct FigureFile {
  std::string bytes, caption;  // caption: empty where none was asked for
  int status = 0;              // exit status
};
io::Result<FigureFile> figure_file(const FigureOptions& asked, const Drawing& drawing, FileFormat format,
                                   const ExportOptions& form, const widgets::FontStack& fonts);
// The same of a figure of a scenario, from its options alone; complains about a plan that cannot run.
io::Result<FigureFile> figure_file(const Context& context, const FigureOptions& asked);
// Writes the file and the caption. Returns the exit status.
int write_figure(const Context& context, const FigureOptions& asked, const FigureFile& file);

// figure block NAME key=value ... -o FILE [--over INPUT] [--show OUTPUT,OUTPUT]. NAME stands where other figures have
// their scenario.
int write_block_figure(const Context& context, const FigureOptions& options);

}  // namespace roofscape::app::cli
