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

void print_held_out(const char* what, const std::vector<evidence::HeldOut>& rows) {
  for (const evidence::HeldOut& row : rows)
    fmt::print(stderr, "  {} {:<32} {:>4} values  median error {:5.1f} % fitted, {:5.1f} % left out\n", what,
               row.name, row.rows, 100 * row.fitted, 100 * row.held_out);
}

int run(const Context& context, const CalibrateOptions& options) {
  const auto entries = io::load_measurements(options.file);
  if (!entries) return refuse(entries.error());
  std::vector<io::InputError> problems;
  const std::vector<io::CalibrationFile> files = io::shipped_calibrations(problems);
  const auto file = std::find_if(files.begin(), files.end(), [&](const io::CalibrationFile& f) {
    return std::find(f.chips.begin(), f.chips.end(), options.chip) != f.chips.end();
  });
  if (file == files.end())
    return refuse({{},
                   {},
                   "no calibration has the chip " + io::in_quotes(options.chip),
                   "`roofscape-cli presets` lists the chips"});
  const evidence::CalibrationFit fit =
      evidence::fit_calibration(entries.value(), context.library, *file, options.hold_out);
  fmt::print(stderr, "{}: {} runs, objective {:.4f} from {:.4f}, absolute error median {:.1f} %, mean {:.1f} %\n",
             file->id, fit.rows, fit.objective, fit.start, 100 * fit.median, 100 * fit.mean);
  if (options.hold_out) {
    print_held_out("family", fit.by_family);
    print_held_out("model", fit.by_model);
    fmt::print(stderr,
               "  all runs: median error {:.1f} % fitted, {:.1f} % with its family left out, {:.1f} % with its model "
               "left out\n",
               100 * fit.median, 100 * fit.family_left_out, 100 * fit.model_left_out);
  }
  const auto text = io::rewrite_calibration(io::shipped_calibration_text(file->id), file->id, fit.calibration,
                                            "fitted by `roofscape-cli calibrate` to published runs of these chips");
  if (!text) return refuse(text.error());
  if (options.output.empty()) return print(text.value(), kGood);
  if (const auto error = io::write_file_atomically(options.output, text.value())) return refuse(*error);
  return kGood;
}

}  // namespace

const Command calibrate_command = command<CalibrateOptions, add_options, run>("calibrate", "cli.calibrate");

}  // namespace roofscape::app::cli
