// roofscape-cli docs: the formula sheet.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/quantity.h"
#include "engine/evaluate/explain.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/app/cli/cli_run.h"
#include "widgets/plot/formula_text.h"

namespace roofscape {
namespace {

using test::run;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("the formula sheet has every quantity of a report once") {
  const std::string sheet = run("docs").out;
  for (std::size_t i = 0; i < engine::kReportQuantityCount; ++i) {
    const std::string id = "(`" + std::string(engine::quantity(static_cast<engine::Q>(i)).id) + "`)";
    CAPTURE(id);
    CHECK(has(sheet, id));
    CHECK(sheet.find(id) == sheet.rfind(id));
  }
}

TEST_CASE("the formula sheet has every formula by which a shipped scenario comes to a number") {
  const std::string sheet = run("docs").out;
  const io::PresetLibrary library;
  for (const io::Preset& preset : library.list(io::PresetKind::scenario)) {
    const auto read = io::read_scenario(*library.find_scenario_text(preset.id), preset.id, library);
    REQUIRE(read.ok());
    const engine::Recording recording(read.value());
    for (const std::string& id : recording.explainable()) {
      if (id.find('[') != std::string::npos) continue;
      const auto derivation = recording.explain(id, 1);
      const engine::DerivationLine& line = derivation->lines.front();
      if (line.expression.is_empty()) continue;
      CAPTURE(preset.id);
      CAPTURE(id);
      CHECK(has(sheet, "- `" + line.symbol + " = " + widgets::formula_in_symbols(line.expression) + "`"));
    }
  }
}

TEST_CASE("the formula sheet has the formulas of each kind of operation, and of like axes one for all") {
  const std::string sheet = run("docs").out;
  const auto times = [&sheet](const std::string& part) {
    int found = 0;
    for (std::size_t at = sheet.find(part); at != std::string::npos; at = sheet.find(part, at + 1)) ++found;
    return found;
  };
  for (const char* left : {"operation.flops`", "links.bytes_per_s`", "layer.comm_forward_s`"})
    CHECK(has(sheet, left));
  CHECK(times("- `f_op,") == 1);  // its share of the step is the same division for all
  CHECK(times("- `T_tensor,f = ") + times("- `T_fsdp,f = ") + times("- `T_expert,f = ") > 3);  // these differ
}

TEST_CASE("the formula sheet is the same twice, and in the language asked for") {
  const test::Outcome first = run("docs");
  CHECK(first.code == 0);
  CHECK(first.out == run("docs").out);
  CHECK(run("--lang ko docs").out.starts_with("# Roofscape의 수식\n"));
}

}  // namespace
}  // namespace roofscape
