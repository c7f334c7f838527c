#include "engine/io/import/written_settings.h"

#include <algorithm>
#include <utility>

#include "engine/io/import/document.h"

namespace roofscape::io {

using engine::say;

namespace {

void add(const Node& map, const std::string& path, SettingNames names, KeyReader& keys) {
  for (std::size_t i = 0; i < map.items.size(); ++i) {
    const Node& item = map.items[i];
    std::string name = path.empty() ? map.keys[i] : path + "." + map.keys[i];
    if (names == SettingNames::paths && item.is_map() && !item.items.empty()) {
      add(item, name, names, keys);
      continue;
    }
    // A variable that nothing sets was left as it stands.
    const bool open = item.kind == Node::Kind::text && item.text.find('$') != std::string::npos;
    Node value = item;
    if (names == SettingNames::flags) {
      std::replace(name.begin(), name.end(), '_', '-');
      if (name.starts_with("no-") && value.kind == Node::Kind::boolean) {
        name.erase(0, 3);
        value.number = 1 - value.number;
        value.text = value.number != 0 ? "true" : "false";
      }
      name.insert(0, "--");
    }
    if (keys.like(name)) continue;
    keys.add(std::move(name), std::move(value), open ? item.text : std::string());
  }
}

}  // namespace

Failure take_written_settings(const LaunchSource& source, const Stated<std::string>& file, SettingNames names,
                              UnwrittenSettings unwritten, KeyReader& keys, LaunchPlan& plan) {
  const std::string* text = source.script.written_file(file.value);
  if (text == nullptr) {
    const std::string name = in_quotes(file.value);
    plan.fail(unwritten == UnwrittenSettings::importable ? say("import.settings_file", name)
                                                         : say("import.settings_of_line", name),
              file.origin.line);
    return {};
  }
  const LaunchSyntax syntax = syntax_of(*text);
  auto settings = syntax == LaunchSyntax::json   ? read_json_document(*text, source.file)
                  : syntax == LaunchSyntax::toml ? read_toml(*text, source.file)
                                                 : read_yaml(*text, source.file);
  if (!settings) return settings.error();
  plan.no_effect(file.origin, say("import.settings_read"));
  if (settings.value().is_map()) add(settings.value(), {}, names, keys);
  return {};
}

}  // namespace roofscape::io
