#include "app/panels/derivation_id.h"

#include "engine/report/report.h"

namespace roofscape::app {

using engine::Q;

ScopedId scoped_id(std::string_view id) {
  constexpr std::string_view kScope = "schedule.";
  const std::size_t slash = id.find('/');
  if (!id.starts_with(kScope) || slash == std::string_view::npos) return {{}, id, std::nullopt};
  return {id.substr(0, slash + 1), id.substr(slash + 1),
          engine::parse_schedule(id.substr(kScope.size(), slash - kScope.size()))};
}

std::string derivation_id(std::string_view tag_id, int index) {
  // Of another schedule its bubble: it is what it is compared by, and made of its makespan and its work.
  if (tag_id.starts_with("schedule.")) {
    const std::string scope = std::string(tag_id.substr(0, tag_id.find('/'))) + "/";
    return scoped_id(scope).schedule ? scope + std::string(engine::quantity(Q::pipeline_bubble_fraction).id)
                                     : std::string();
  }
  if (tag_id.starts_with("operation.")) {
    if (index < 0 || index >= engine::kOperationCount) return {};
    return std::string(engine::quantity(Q::operation_time).id) + "[" +
           std::string(engine::kOperationIds.ids()[static_cast<std::size_t>(index)]) + "]";
  }
  const auto q = engine::find_quantity(engine::without_index(tag_id));
  if (!q) return {};
  std::string id(tag_id);
  if (!engine::is_indexed(engine::quantity(*q)) || index < 0 || id.find('[') != std::string::npos) return id;
  const bool by_stage = id.starts_with("stage.");
  if (!by_stage && index >= engine::kAxisCount) return id;
  return id + "[" +
         (by_stage ? std::to_string(index) : std::string(engine::kAxisIds[static_cast<std::size_t>(index)])) + "]";
}

}  // namespace roofscape::app
