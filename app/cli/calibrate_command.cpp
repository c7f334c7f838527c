// roofscape-cli calibrate FILE --chip C: fits a calibration to measurements.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/evidence/calibration_fit.h"
#include "engine/io/json/files.h"
#include "engine/io/presets/evidence_files.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

struct CalibrateOptions {
  std::string file;  // of measurements
  std::string chip;
  std::string output;  // empty: stdout
  bool hold_out = false;
};

void add_options(OptionList& list, CalibrateOptions& options) {
  list.required("file", options.file, "cli.validate.file");
  list.required_option("--chip", options.chip, "cli.calibrate.chip");
  list.option("-o,--output", options.output, "cli.calibrate.output");
  list.flag("--hold-out", options.hold_out, "cli.calibrate.hold_out");
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

void print_held_out(const widgets::TextTable& texts, std::string_view key,
                    const std::vector<evidence::HeldOut>& rows) {
  for (const evidence::HeldOut& row : rows)
    fmt::print(
        stderr, "  {}\n",
        texts.format(key, {fmt::format("{:<32}", row.name), fmt::format("{:>4}", row.rows),
                           fmt::format("{:>5}", percent(row.fitted)), fmt::format("{:>5}", percent(row.held_out))}));
}

int run(const Context& context, const CalibrateOptions& options) {
  const auto entries = io::load_measurements(options.file);
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
  const evidence::CalibrationFit fit =
      evidence::fit_calibration(entries.value(), context.library, *file, options.hold_out);
  const widgets::TextTable& texts = context.texts;
  fmt::print(
      stderr, "{}: {}\n", file->id,
      texts.format("cli.calibrate.fit", {std::to_string(fit.rows), fmt::format("{:.4f}", fit.objective),
                                         fmt::format("{:.4f}", fit.start), percent(fit.median), percent(fit.mean)}));
  if (options.hold_out) {
    print_held_out(texts, "cli.calibrate.family", fit.by_family);
    print_held_out(texts, "cli.calibrate.model", fit.by_model);
    fmt::print(stderr, "  {}\n",
               texts.format("cli.calibrate.all",
                            {percent(fit.median), percent(fit.family_left_out), percent(fit.model_left_out)}));
  }
  const auto text = io::rewrite_calibration(io::shipped_calibration_text(file->id), file->id, fit.calibration,
                                            "fitted by `roofscape-cli calibrate` to published runs of these chips");
  if (!text) return refuse(context.texts, text.error());
  if (options.output.empty()) return print(context.texts, text.value(), kGood);
  if (const auto error = io::write_file_atomically(options.output, text.value()))
    return refuse(context.texts, *error);
  return kGood;
}

}  // namespace

const Command calibrate_command = command<CalibrateOptions, add_options, run>("calibrate", "cli.calibrate");

}  // namespace roofscape::app::cli
