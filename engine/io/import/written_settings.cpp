#include "engine/io/import/written_settings.h"

#include <algorithm>
#include <utility>

#include "engine/io/import/document.h"

namespace roofscape::io {

using engine::say;

namespace {

// A variable that nothing sets was left as it stands.
std::string open_part(const Node& item) {
  return item.kind == Node::Kind::text && item.text.find('$') != std::string::npos ? item.text : std::string();
}

void take_paths(const Node& map, const std::string& path, KeyReader& keys) {
  for (std::size_t i = 0; i < map.items.size(); ++i) {
    const Node& item = map.items[i];
    std::string name = path.empty() ? map.keys[i] : path + "." + map.keys[i];
    if (item.is_map() && !item.items.empty())
      take_paths(item, name, keys);
    else if (!keys.like(name))
      keys.add(std::move(name), Node(item), open_part(item));
  }
}

}  // namespace

void take_flag_settings(const Node& settings, std::span<const ShortFlag> shorts, KeyReader& keys) {
  for (std::size_t i = 0; i < settings.items.size(); ++i) {
    Node value = settings.items[i];
    std::string open = open_part(value), name = full_flag("--" + settings.keys[i], shorts);
    if (name.starts_with("--no-") && value.kind == Node::Kind::boolean) {
      name = full_flag("--" + name.substr(5), shorts);
      value.number = 1 - value.number;
      value.text = value.number != 0 ? "true" : "false";
    }
    if (!keys.like(name)) keys.add(std::move(name), std::move(value), std::move(open));
  }
}

bool are_server_settings(const Node& settings, std::string_view model_flag,
                         std::initializer_list<std::string_view> flags) {
  if (!settings.is_map()) return false;
  bool served = false, any = false;
  for (std::size_t i = 0; i < settings.items.size(); ++i) {
    const std::string flag = full_flag("--" + settings.keys[i], {});
    served = served || (flag == model_flag && settings.items[i].kind == Node::Kind::text);
    any = any || std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
  return served && any;
}

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
  if (!settings.value().is_map()) return {};
  if (names == SettingNames::flags)
    take_flag_settings(settings.value(), {}, keys);
  else
    take_paths(settings.value(), {}, keys);
  return {};
}

}  // namespace roofscape::io
