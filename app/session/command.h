// A command of the window: what it is called, its key, and what it does to a Workspace. The table of them is
// app/shell/commands.h; who shows or finds commands is handed it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/enum_table.h"
#include "widgets/ui/interaction.h"

namespace roofscape::app {

class Workspace;

// `wall`: a key of the projected window, listed among the keys and in no menu. `palette`: found there alone. `hidden`: a
// key alone.
enum class Category : std::uint8_t { file, edit, view, figures, tours, help, wall, palette, hidden };
inline constexpr engine::EnumTable<Category> kCategoryIds{"file", "edit", "view",    "figures", "tours",
                                                          "help", "wall", "palette", "hidden"};
inline constexpr std::array kMenus{Category::file,    Category::edit,  Category::view,
                                   Category::figures, Category::tours, Category::help};

struct Command {
  std::string_view id;  // title at "command.<id>"
  Category category = Category::file;
  widgets::KeyPress key;  // none: no key
  widgets::KeyPress other_key;
  bool separated = false;                       // a line above it in the menu
  bool (*enabled)(const Workspace&) = nullptr;  // null: always
  void (*run)(Workspace&) = nullptr;
  bool (*on)(const Workspace&) = nullptr;  // null: it switches nothing; else whether it is on, marked in the menu
};

const Command* find_command(std::span<const Command> commands, std::string_view id);  // null: there is none
// "Ctrl+Shift+Z"; empty for no key.
std::string key_text(const widgets::KeyPress& key);

}  // namespace roofscape::app
