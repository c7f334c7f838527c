// The table of commands. Menus, key handling, the help sheet and the tests are made from it: a new command is one
// row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "widgets/interaction.h"

namespace roofscape::app {

class Workspace;

enum class Category : std::uint8_t { file, edit, view, figures, help, hidden };
inline constexpr std::string_view kCategoryIds[] = {"file", "edit", "view", "figures", "help"};

struct Command {
  std::string_view id;         // title at "command.<id>"
  Category category = Category::file;
  widgets::KeyPress key;       // none: no key
  widgets::KeyPress other_key;
  bool separated = false;      // a line above it in the menu
  bool (*enabled)(const Workspace&) = nullptr;  // null: always
  void (*run)(Workspace&) = nullptr;
  bool (*on)(const Workspace&) = nullptr;  // null: it switches nothing; else whether it is on, marked in the menu
};

std::span<const Command> commands();
const Command* find_command(std::string_view id);
bool enabled(const Command& command, const Workspace& workspace);
// "Ctrl+Shift+Z"; empty for no key.
std::string key_text(const widgets::KeyPress& key);

}  // namespace roofscape::app
