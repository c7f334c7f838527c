#include "app/cli/scenario_input.h"

#include <algorithm>
#include <utility>

#include "app/cli/output.h"
#include "app/core/report_text.h"
#include "app/core/strings.h"
#include "engine/evaluate/evaluate.h"
#include "engine/evaluate/offers.h"

namespace roofscape::app::cli {

std::string file_meant(const std::string& file) { return file == "-" ? "/dev/stdin" : file; }

void add_edits(OptionList& list, ScenarioInput& input) {
  list.set(input.set);
  list.option("--cluster", input.cluster, "cli.cluster");
  list.repeated("--env", input.environment, "cli.env");
}

io::Result<io::OpenedScenario> open(const Context& context, const ScenarioInput& input) {
  const io::ImportRequest request{input.cluster, input.set, input.environment};
  if (input.words.empty()) return io::open_scenario(file_meant(input.scenario), request, context.library);
  std::vector<std::string> words{input.scenario};
  words.insert(words.end(), input.words.begin(), input.words.end());
  return io::open_words(words, request, context.library);
}

namespace {

// An import is not silent: what was read as what, and its errors. The receipt is import's.
void tell_import(const Context& context, const std::string& file, const io::Imported& imported) {
  for (const io::ImportNotice& notice : imported.notices)
    if (notice.error)
      complain(context.texts, {file,
                               {},
                               notice.text,
                               {},
                               notice.line > 0 ? engine::say("import.line", notice.line) : engine::Sentence()});
  const auto warnings = static_cast<long>(imported.notices.size()) -
                        std::count_if(imported.notices.begin(), imported.notices.end(),
                                      [](const io::ImportNotice& notice) { return notice.error; });
  complain(context.texts, {file,
                           {},
                           engine::say("import.told", std::string(imported.format_name), imported.read.size(),
                                       imported.assumed.size(), warnings),
                           {}});
}

}  // namespace

std::optional<engine::Scenario> read_scenario(const Context& context, const ScenarioInput& input) {
  auto opened = open(context, input);
  if (!opened) {
    complain(context.texts, opened.error());
    return std::nullopt;
  }
  if (opened->imported) tell_import(context, input.scenario, *opened->imported);
  if (opened->unread) complain(context.texts, *opened->unread);
  return std::move(opened->scenario);
}

io::Result<Evaluated> evaluated(const Context& context, const ScenarioInput& input) {
  auto opened = open(context, input);
  if (!opened) return opened.error();
  Evaluated out;
  out.scenario = std::move(opened->scenario);
  out.imported = std::move(opened->imported);
  out.unread = std::move(opened->unread);
  out.report = engine::evaluate(out.scenario);
  return out;
}

void complain_of_errors(const Context& context, const ScenarioInput& input, const Evaluated& evaluated) {
  if (evaluated.imported) tell_import(context, input.scenario, *evaluated.imported);
  if (evaluated.unread) complain(context.texts, *evaluated.unread);
  if (!evaluated.report.has_errors()) return;
  for (const engine::OfferedFinding& finding : engine::offered_findings(evaluated.scenario, evaluated.report)) {
    const engine::Diagnostic& diagnostic = finding.diagnostic;
    if (diagnostic.severity != engine::Severity::error) continue;
    std::string sentence = diagnostic_text(diagnostic, context.texts);
    if (sentence.ends_with('.')) sentence.pop_back();  // more follows on the line
    complain(context.texts, {input.scenario, std::string(diagnostic.field_path), std::move(sentence),
                             offer_text(finding, context.texts)});
  }
}

std::optional<Evaluated> evaluate(const Context& context, const ScenarioInput& input) {
  auto read = evaluated(context, input);
  if (!read) {
    complain(context.texts, read.error());
    return std::nullopt;
  }
  complain_of_errors(context, input, read.value());
  return std::move(read).value();
}

int code_of(const engine::Report& report) { return report.has_errors() ? kHasErrors : kGood; }
int code_of(const Evaluated& evaluated) {
  return evaluated.imported && evaluated.imported->has_errors() ? kHasErrors : code_of(evaluated.report);
}

}  // namespace roofscape::app::cli
