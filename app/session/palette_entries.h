// What the command palette finds: commands, figures, scenarios, models, clusters, numbers to explain, building
// blocks, and fields to set ("tensor 8"). Made from the tables of each, so a new one is found without being listed
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/command.h"
#include "app/session/session.h"
#include "engine/base/enum_table.h"
#include "widgets/plot/text_table.h"

namespace roofscape::app {

enum class PaletteKind : std::uint8_t {
  command,
  field,
  complete,
  quantity,
  scenario,
  model,
  cluster,
  block,
  file,
  pin,
  tour
};
inline constexpr engine::EnumTable<PaletteKind> kPaletteKindIds{
    "command", "field", "field", "quantity", "scenario", "model", "cluster", "block", "file", "command", "tour"};

struct PaletteEntry {
  PaletteKind kind = PaletteKind::command;
  std::string title, detail;
  // Of a command, quantity, preset, block or tour its id; of a field or file its path; of `complete` the text to go on
  // from; of `pin` the path of the field that is put on the wall or taken away.
  std::string value;
  double number = 0;  // field: the value to set
  double score = 0;   // better is higher
};

// A tour that can be opened.
struct TourName {
  std::string id, title;  // the id, or of a user's own its file
};

// The best entries for what was typed, best first. Every word has to be found in the title or the id of an entry; a
// last word that is a value of the field named by the others makes an entry that sets it. `usable` says which
// commands there are.
std::vector<PaletteEntry> palette_entries(const Session& session, const widgets::TextTable& texts,
                                          std::span<const Command> commands, std::string_view typed,
                                          const std::function<bool(const Command&)>& usable, std::size_t most = 60,
                                          std::span<const TourName> tours = {});

}  // namespace roofscape::app
