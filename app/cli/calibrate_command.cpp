// roofscape-cli calibrate FILE --chip C: fits a calibration to measurements.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/measurement_input.h"
#include "app/cli/output.h"
#include "engine/evidence/calibration_fit.h"
#include "engine/io/json/files.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

struct CalibrateOptions {
  std::string file;  // of measurements; empty: those that ship
  std::string chip;
  std::string output;  // empty: stdout
  bool hold_out = false;
};

void add_options(OptionList& list, CalibrateOptions& options) {
  list.optional("file", options.file, "cli.validate.shipped");
  list.required_option("--chip", options.chip, "cli.calibrate.chip");
  list.option("-o,--output", options.output, "cli.calibrate.output");
  list.flag("--hold-out", options.hold_out, "cli.calibrate.hold_out");
}

std::string in_percent(double share) { return fmt::format("{:.1f}", 100 * share); }

int run(const Context& context, const CalibrateOptions& options) {
  const auto entries = measurements(context, options.file);
  if (!entries) return refuse(context.texts, entries.error());
  std::vector<io::InputError> problems;
  const std::vector<io::CalibrationFile> files = io::shipped_calibrations(problems);
  const auto file = std::find_if(files.begin(), files.end(), [&](const io::CalibrationFile& f) {
    return std::find(f.chips.begin(), f.chips.end(), options.chip) != f.chips.end();
  });
  if (file == files.end())
    return refuse(context.texts, {{},
                                  {},
                                  say("error.cli.calibrate.chip", io::in_quotes(options.chip)),
                                  say("error.cli.calibrate.chip.remedy")});
  const auto parent =
      std::find_if(files.begin(), files.end(), [&](const io::CalibrationFile& f) { return f.id == file->inherits; });
  const widgets::TextTable& texts = context.texts;
  const auto progress = [&](std::size_t done, std::size_t all) {
    if (done == all || done % 10 == 0)
      fmt::print(stderr, "{}: {}\n", file->id,
                 texts.format("cli.calibrate.progress", {std::to_string(done), std::to_string(all)}));
  };
  const evidence::CalibrationFit fit =
      evidence::fit_calibration(entries.value(), context.library, *file, parent == files.end() ? nullptr : &*parent,
                                options.hold_out, progress);
  fmt::print(
      stderr, "{}: {}\n", file->id,
      texts.format("cli.calibrate.fit",
                   {std::to_string(fit.rows), std::to_string(fit.refused), fmt::format("{:.4f}", fit.objective),
                    fmt::format("{:.4f}", fit.start), in_percent(fit.median), in_percent(fit.mean)}));
  if (options.hold_out) {
    for (const evidence::LeftOutErrors& group : fit.groups)
      fmt::print(
          stderr, "  {}\n",
          texts.format("cli.calibrate.group",
                       {fmt::format("{:<6} {:<32}", io::kLeftOutIds[group.kind], group.name),
                        fmt::format("{:>4}", group.observations), fmt::format("{:>5}", in_percent(group.fitted)),
                        fmt::format("{:>5}", in_percent(group.left_out))}));
    for (std::size_t kind = 0; kind < io::kLeftOutKinds; ++kind)
      fmt::print(stderr, "  {}\n",
                 texts.format("cli.calibrate.all",
                              {std::string(io::kLeftOutIds.ids()[kind]), in_percent(fit.median),
                               in_percent(fit.left_out_median[kind]), in_percent(fit.left_out_p90[kind])}));
    for (const evidence::PullTried& tried : fit.pulls)
      fmt::print(stderr, "  {}\n",
                 texts.format(tried.pull == fit.result.pull ? "cli.calibrate.pull_taken" : "cli.calibrate.pull",
                              {fmt::format("{:<4g}", tried.pull), in_percent(tried.median), in_percent(tried.p90)}));
  }
  const auto text = io::rewrite_calibration(io::shipped_calibration_text(file->id), *file, fit.result);
  if (!text) return refuse(context.texts, text.error());
  if (options.output.empty()) return print(context.texts, text.value(), kGood);
  return write_output(context.texts, options.output, text.value(), kGood);
}

}  // namespace

const Command calibrate_command = command<CalibrateOptions, add_options, run>("calibrate", "cli.calibrate");

}  // namespace roofscape::app::cli
