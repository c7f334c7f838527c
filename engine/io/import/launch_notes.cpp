#include "engine/io/import/launch_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/io/json/json_text.h"
#include "engine/io/presets/parts_json.h"

namespace roofscape::io {

namespace {

constexpr std::size_t kMostNotes = 500;

// In what any framework states of a model.
bool of_one_size(const engine::TransformerShape& a, const engine::TransformerShape& b) {
  const auto sizes = [](const engine::TransformerShape& m) {
    return std::tuple(m.n_layers, m.d_model, m.d_ff, m.n_heads, m.n_kv_heads, m.vocab_size, m.moe.n_routed_experts,
                      m.moe.experts_per_token, m.is_moe() ? m.expert_width() : 0);
  };
  return sizes(a) == sizes(b);
}

}  // namespace

std::vector<std::string> notes_in(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty() && out.size() < kMostNotes) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (!line.starts_with("# ") || !line.substr(2).starts_with(kNoteMark)) continue;
    out.emplace_back(line.substr(2 + kNoteMark.size()));
  }
  return out;
}

std::vector<std::string> take_notes(Node& document) {
  std::vector<std::string> out;
  if (!document.is_map()) return out;
  for (std::size_t i = 0; i < document.keys.size(); ++i) {
    if (document.keys[i] != kNotesMember) continue;
    if (const Node* set = document.items[i].find("set"); set != nullptr && set->is_list())
      for (const Node& item : set->items)
        if (item.kind == Node::Kind::text && out.size() < kMostNotes) out.push_back(item.text);
    document.keys.erase(document.keys.begin() + static_cast<std::ptrdiff_t>(i));
    document.items.erase(document.items.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  return out;
}

Result<ImportRequest> with_notes(const std::vector<std::string>& notes, std::string_view file,
                                 const ImportRequest& request, LaunchPlan& plan, const PresetLibrary& library) {
  ImportRequest out = request;
  out.set.clear();
  const auto sets = [&](std::string_view path) {
    return std::any_of(request.set.begin(), request.set.end(), [&](const std::string& assignment) {
      return std::string_view(assignment).substr(0, assignment.find('=')) == path;
    });
  };
  for (const std::string& note : notes) {
    const std::size_t equals = note.find('=');
    const std::string path = note.substr(0, equals);
    if (equals == std::string::npos || sets(path)) continue;
    const std::string value = note.substr(equals + 1);
    if (path == "cluster") {
      if (out.cluster.empty()) out.cluster = value;
    } else if (path != "model") {
      out.set.push_back(note);
    } else if (!plan.model) {
      std::erase_if(plan.missing, [](const MissingValue& missing) { return missing.field == "model"; });
      const Origin origin{std::string(kNotesMember), 0};
      if (!value.starts_with('{')) {
        // A file that has sizes of its own may have been edited.
        const engine::TransformerShape* noted = library.find_model(value);
        if (plan.shape && (noted == nullptr || !of_one_size(*noted, plan.shape->value))) continue;
        plan.shape.reset();
        plan.model = Stated<std::string>{value, origin};
        continue;
      }
      if (plan.shape) continue;
      const auto json = parse_json(value, file);
      if (!json) return json.error();
      auto shape = read_model(json.value(), PartContext{std::string(file), "model", library, {}, {}});
      if (!shape) return shape.error();
      plan.shape = Stated<engine::TransformerShape>{std::move(shape).value(), origin};
    }
  }
  out.set.insert(out.set.end(), request.set.begin(), request.set.end());
  return out;
}

}  // namespace roofscape::io
