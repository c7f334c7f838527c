#include "engine/io/import/import_launch.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/io/import/contained_script.h"
#include "engine/io/import/launch_formats.h"
#include "engine/io/import/launch_notes.h"
#include "engine/io/import/plan_scenario.h"
#include "engine/io/json/files.h"
#include "engine/io/scenario/figure_file.h"

namespace roofscape::io {

using engine::say;

namespace {

Result<LaunchSource> parsed(std::string_view text, std::string_view file,
                            std::span<const std::string> environment = {}) {
  if (auto failure = check_text(text, file)) return *failure;
  LaunchSource out;
  out.file = file;
  out.text = text;
  out.syntax = syntax_of(text);
  out.notes = notes_in(text);
  // What stands in a file for a container or a service is a script like any other.
  const auto contained = [&out, file, environment](const ContainedScript& script) -> Result<LaunchSource> {
    auto read = read_shell(script.source, file, environment);
    if (!read) return read.error();
    out.syntax = LaunchSyntax::shell;
    out.script = std::move(read).value();
    out.script.gaps.insert(out.script.gaps.end(), script.gaps.begin(), script.gaps.end());
    return std::move(out);
  };
  if (out.syntax == LaunchSyntax::shell || out.syntax == LaunchSyntax::toml)
    if (const auto script = script_of_rows(text)) return contained(*script);
  if (out.syntax == LaunchSyntax::shell) {
    auto script = read_shell(text, file, environment);
    if (!script) return script.error();
    out.script = std::move(script).value();
    return out;
  }
  if (out.syntax == LaunchSyntax::yaml) {
    auto documents = read_yaml_documents(text, file);
    if (!documents) return documents.error();
    if (const auto script = script_of_documents(documents.value())) return contained(*script);
    auto document = only_document(std::move(documents).value(), file);
    if (!document) return document.error();
    out.document = std::move(document).value();
    return out;
  }
  auto document = out.syntax == LaunchSyntax::json ? read_json_document(text, file) : read_toml(text, file);
  if (!document) return document.error();
  out.document = std::move(document).value();
  if (out.syntax != LaunchSyntax::json) return out;
  if (const auto script = script_of_documents({&out.document, 1})) return contained(*script);
  out.notes = take_notes(out.document);
  return out;
}

const LaunchFormat* format_of(const LaunchSource& source) {
  for (const LaunchFormat* format : launch_formats())
    if (format->syntax == source.syntax && format->recognises(source)) return format;
  return nullptr;
}

// What a script gives to all it starts or, NAME=VALUE before it or after `env`, to one command; null: nothing.
std::optional<ShellWord> variable(const ShellScript& script, std::string_view name) {
  for (const ShellCommand& command : script.commands)
    for (const std::vector<ShellWord>* words : {&command.environment, &command.words})
      for (const ShellWord& word : *words)
        if (word.text.starts_with(name) && word.text.substr(name.size()).starts_with('='))
          return ShellWord{word.text.substr(name.size() + 1), word.line};
  const auto found = script.variables.find(std::string(name));
  return found == script.variables.end() ? std::nullopt : std::optional(found->second);
}

// What the launch tells CUDA by its environment, whichever framework it starts.
void read_environment(const ShellScript& script, LaunchPlan& plan) {
  if (plan.value_of("workload.kind")) return;  // stated where it serves: launches are a field of training
  const std::string name = "CUDA_LAUNCH_BLOCKING";
  const auto value = variable(script, name);
  if (!value || (value->text != "0" && value->text != "1")) return;
  plan.state_choice("kernels.launch", value->text == "1" ? "blocking" : "queued", {name, value->line}, value->text);
}

Result<Imported> import_source(const LaunchSource& source, const ImportRequest& request,
                               const PresetLibrary& library) {
  const LaunchFormat* format = format_of(source);
  if (format == nullptr) {
    std::string names;
    for (const LaunchFormat* known : launch_formats())
      if (names.find(known->name) == std::string::npos)
        names += (names.empty() ? "" : ", ") + std::string(known->name);
    // What a script starts may stand in a branch that nothing decides.
    const auto open = std::find_if(source.script.gaps.begin(), source.script.gaps.end(), [](const ShellGap& gap) {
      return gap.kind == ShellGap::Kind::condition && gap.written.find('$') != std::string::npos;
    });
    if (open != source.script.gaps.end())
      return line_error(source.file, open->line, say("error.import.open_branch", in_quotes(open->written)),
                        say("error.import.open_branch.remedy"));
    return InputError{
        std::string(source.file), {}, say("error.import.no_format"), say("error.import.no_format.remedy", names)};
  }
  auto plan = format->read(source, library);
  if (!plan) return plan.error();
  read_environment(source.script, plan.value());
  const auto noted = with_notes(source.notes, source.file, request, plan.value(), library);
  if (!noted) return noted.error();
  auto imported = plan_scenario(std::move(plan).value(), source.file, noted.value(), library);
  if (!imported) return imported;
  imported->format = format->id;
  imported->format_name = format->name;
  return imported;
}

}  // namespace

bool is_launch(std::string_view text) {
  const auto source = parsed(text, {});
  return source && format_of(source.value()) != nullptr;
}

bool reads_as_launch(std::string_view text) {
  // A figure carries its scenario.
  if (text.empty() || is_picture(text)) return false;
  return syntax_of(text) != LaunchSyntax::json || is_launch(text);
}

Result<Imported> import_launch(std::string_view text, std::string_view file, const ImportRequest& request,
                               const PresetLibrary& library) {
  const auto source = parsed(text, file, request.environment);
  if (!source) return source.error();
  return import_source(source.value(), request, library);
}

Result<Imported> import_model(const Preset& model, const ImportRequest& request, const PresetLibrary& library) {
  LaunchPlan plan;
  plan.name = model.name;
  plan.model = {model.id, {"model", 0}};
  plan.model_only = true;
  plan.rest = RestAxis::fsdp;
  auto imported = plan_scenario(std::move(plan), model.id, request, library);
  if (!imported) return imported;
  imported->format = "model";
  imported->format_name = "preset";
  return imported;
}

Result<Imported> import_words(const std::vector<std::string>& words, const ImportRequest& request,
                              const PresetLibrary& library) {
  LaunchSource source;
  if (!words.empty()) source.file = words.front();
  source.script = shell_of_words(words);
  return import_source(source, request, library);
}

}  // namespace roofscape::io
