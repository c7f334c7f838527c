// "1 stage", never "1 stages": what figures, their readouts and findings say of plans that have one of things.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/core/strings.h"
#include "tests/widgets/figures/preset_fixture.h"
#include "widgets/figures/common/figure_head.h"

using namespace roofscape;
using namespace roofscape::widgets;
using namespace roofscape::widgets::testing;

namespace {

FigureCase plan_of_one(const char* preset, std::initializer_list<std::string_view> edits) {
  return evaluated(tests::with(case_of(preset).scenario, edits));
}

// Of both workloads, with one chip, layer, head, microbatch, expert per token, sequence or output token.
std::vector<FigureCase> plans_of_one() {
  std::vector<FigureCase> out;
  for (const char* mode : {"assumptions.mode=ideal", "assumptions.mode=calibrated"}) {
    out.push_back(plan_of_one("llama3-8b-8-h100", {mode, "cluster.nodes=1", "cluster.node_size=1",
                                                   "parallelism.fsdp=1", "workload.global_batch_sequences=1"}));
    out.push_back(
        plan_of_one("llama3-8b-8-h100", {mode, "model.n_layers=1", "model.n_heads=1", "model.n_kv_heads=1"}));
    out.push_back(plan_of_one("textbook-pipeline-4x4", {mode, "workload.global_batch_sequences=1"}));
    out.push_back(plan_of_one("textbook-pipeline-8x1", {mode, "pipeline.schedule=zb-v"}));
    out.push_back(plan_of_one("llama3-70b-v5p-pod", {mode, "parallelism.fsdp=1"}));
    out.push_back(plan_of_one("gpt-oss-120b-64-h100", {mode, "model.moe.experts_per_token=1"}));
    out.push_back(plan_of_one("llama3-70b-serving-8-h100", {mode, "workload.batch=1"}));
    out.push_back(plan_of_one("llama3-8b-serving-8-h100", {mode, "workload.batch=1", "workload.output_tokens=1"}));
  }
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The plural noun behind a lone 1, "" where there is none: "1 stages", but not "11 stages", "0.1 stages" or "1 ms".
std::string plural_of_one(std::string_view text) {
  static const std::set<std::string, std::less<>> kNoPlurals{"axis", "does", "holds", "leaves", "ms", "ns", "s"};
  for (std::size_t at = 0; (at = text.find('1', at)) != std::string_view::npos; ++at) {
    const auto before = text.substr(0, at);
    const bool lone = at == 0 || (!is_digit(before.back()) && before.back() != '.' && before.back() != ',' &&
                                  !before.ends_with("\u202f") && before.back() != '-' &&
                                  !std::isalpha(static_cast<unsigned char>(before.back())));
    std::string_view rest = text.substr(at + 1);
    if (rest.starts_with("\u202f"))
      rest.remove_prefix(3);
    else if (rest.starts_with(' '))
      rest.remove_prefix(1);
    else
      continue;
    const std::string_view word = rest.substr(0, rest.find_first_of(" ,.;:)"));
    const bool letters = !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c); });
    if (lone && letters && word.ends_with('s') && !word.ends_with("ss") && !kNoPlurals.contains(word))
      return std::string(word);
  }
  return "";
}

}  // namespace

TEST_CASE("what there is one of has no plural") {
  const Theme dark = theme("dark");
  std::set<std::string> found;
  const auto look = [&](std::string_view where, const std::string& text) {
    if (const std::string noun = plural_of_one(text); !noun.empty()) found.insert(std::string(where) + ": " + text);
  };
  for (const FigureCase& c : plans_of_one()) {
    for (const engine::Diagnostic& one : c.report.diagnostics) look("finding", app::diagnostic_text(one, english()));
    for (const FigureRow& row : figures()) {
      if (!shows(row, c.scenario) || row.needs == Needs::baseline || row.about == About::search ||
          row.about == About::runs)
        continue;
      for (const FigureView& view : views_of(row)) {
        RecordCanvas canvas(fonts(), 15, {0, 0, 1600, 900});
        FigureInput input = input_of(c, dark);
        row.draw(canvas, canvas.bounds(), input, view);
        for (const TextRun& run : canvas.texts()) look(row.name, run.text);
        for (const TagRegion& tag : canvas.tags()) {
          look(row.name, tag.readout.title);
          for (const auto& [name, value] : tag.readout.rows) look(row.name, name), look(row.name, value);
        }
        const FigureHead head = figure_head(row, input, view);
        look(row.name, head.takeaway), look(row.name, head.context);
      }
    }
  }
  for (const std::string& one : found) FAIL_CHECK(one);
}
