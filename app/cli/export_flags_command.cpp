// roofscape-cli export-flags: a plan as the file of a launcher or server, or as the script that starts it; and who can run
// it.
#include <optional>
#include <string>

#include "app/cli/output.h"
#include "app/cli/scenario_input.h"
#include "app/core/text_columns.h"
#include "engine/io/export/export_flags.h"
#include "engine/io/export/runs_on.h"
#include "engine/io/json/files.h"

namespace roofscape::app::cli {

using engine::say;

namespace {

struct FlagsOptions {
  ScenarioInput input;
  std::string framework, launcher, output;
  bool who = false, json = false;
};

void add_options(OptionList& list, FlagsOptions& options) {
  list.scenario(options.input.scenario);
  list.option("--for", options.framework, "cli.export_flags.for");
  list.option("--launcher", options.launcher, "cli.export_flags.launcher");
  list.flag("--who", options.who, "cli.export_flags.who");
  list.option("-o,--output", options.output, "cli.export_flags.output");
  list.json(options.json);
  list.set(options.input.set);
}

// What was given as one of these words; complains where it is none.
template <class E>
std::optional<E> word_of(const Context& context, const char* option, const std::string& given,
                         const engine::EnumTable<E>& ids) {
  if (const auto found = ids.parse(given)) return found;
  complain(context.texts,
           {option,
            {},
            given.empty() ? say("error.cli.export_flags.for") : say("error.not_known", io::in_quotes(given)),
            say("error.there_are", io::listed(ids.ids()))});
  return std::nullopt;
}

// Each launcher and server, and the first of its rules that is broken.
std::string who_text(const Context& context, const engine::Scenario& scenario) {
  Columns columns({false, false});
  for (const auto& [framework, rule] : io::runs_on(scenario)) {
    std::string verdict(context.texts.text("cli.export_flags.runs"));
    if (rule != nullptr) {
      verdict = context.texts.write(rule->words(scenario));
      if (!rule->source.empty()) verdict += " (" + std::string(rule->source) + ")";
    }
    columns.add({std::string(framework_name(framework)), std::move(verdict)});
  }
  return columns.text(0) + "\n";
}

int finish(const Context& context, const FlagsOptions& options, const std::string& text, int code) {
  if (options.output.empty()) return print(context.texts, text, code);
  return write_output(context.texts, options.output, text, code);
}

int run(const Context& context, const FlagsOptions& options) {
  if (options.who != options.framework.empty())
    return refuse(context.texts,
                  {"--for",
                   {},
                   options.who ? say("error.cli.export_flags.both") : say("error.cli.export_flags.for"),
                   say("error.there_are", io::listed(engine::kFrameworkIds.ids()))});
  if (options.json && !options.who)
    return refuse(context.texts,
                  {"--json", {}, say("error.cli.export_flags.json"), say("error.cli.export_flags.json.remedy")});
  if (options.who && !options.launcher.empty())
    return refuse(context.texts,
                  {"--launcher", {}, say("error.cli.export_flags.starts"), say("error.cli.leave_out")});
  std::optional<engine::Framework> framework;
  std::optional<io::Launcher> launcher;
  if (!options.who && !(framework = word_of(context, "--for", options.framework, engine::kFrameworkIds)))
    return kBadInput;
  if (!options.launcher.empty() && !(launcher = word_of(context, "--launcher", options.launcher, io::kLauncherIds)))
    return kBadInput;
  const auto evaluated = evaluate(context, options.input);
  if (!evaluated) return kBadInput;
  const engine::Scenario& scenario = evaluated->scenario;
  if (options.who) {
    const std::string text = options.json ? io::runs_on_json(scenario, context.texts) : who_text(context, scenario);
    return finish(context, options, text, code_of(evaluated->report));
  }
  // A plan that runs nowhere is nobody's flags.
  if (evaluated->report.has_errors()) return kHasErrors;
  if (engine::broken_rule(*framework, scenario) != nullptr) {
    io::InputError error = io::cannot_run(scenario, *framework);
    error.file = options.input.scenario;
    complain(context.texts, error);
    return kHasErrors;
  }
  const auto text = launcher ? io::launch_script(scenario, *framework, *launcher, context.library, context.texts)
                             : io::export_flags(scenario, *framework, context.library, context.texts);
  if (!text) return refuse(context.texts, text.error());
  return finish(context, options, text.value(), kGood);
}

}  // namespace

const Command export_flags_command = command<FlagsOptions, add_options, run>("export-flags", "cli.export_flags");

}  // namespace roofscape::app::cli
