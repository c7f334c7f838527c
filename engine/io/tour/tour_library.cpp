// The tours there are: those compiled in, and the user's over them.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/io/json/files.h"
#include "engine/io/json/nearest.h"
#include "engine/io/presets/resources.h"
#include "engine/io/tour/tour.h"

namespace roofscape::io {

namespace fs = std::filesystem;
using engine::say;

namespace {

constexpr std::string_view kShipped = "presets/tours/";

// Translations that ship: presets/tours/<language>/<id>.json.
Failure translate(Tour& tour, const PresetLibrary& library) {
  for (const Resource& resource : embedded_resources()) {
    if (!resource.path.starts_with(kShipped)) continue;
    const std::string_view rest = resource.path.substr(kShipped.size());
    const std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos || rest.substr(slash + 1) != tour.id + ".json") continue;
    if (auto failure = translate_tour(tour, rest.substr(0, slash), resource.text, resource.path, library))
      return failure;
  }
  return std::nullopt;
}

Result<Tour> read_place(const TourPlace& place, const PresetLibrary& library) {
  if (place.from_user) {
    const auto text = read_file(place.origin);
    if (!text) return text.error();
    auto tour = read_tour(text.value(), place.origin, library);
    if (tour) tour->from_user = true;
    return tour;
  }
  auto tour = read_tour(embedded_text(place.origin), place.origin, library);
  if (!tour) return tour;
  if (auto failure = translate(tour.value(), library)) return *failure;
  return tour;
}

}  // namespace

std::vector<TourPlace> tour_places(const PresetLibrary& library) {
  std::vector<TourPlace> out;
  const auto add = [&out](TourPlace place) {
    std::erase_if(out, [&place](const TourPlace& other) { return other.id == place.id; });
    out.push_back(std::move(place));
  };
  for (const Resource& resource : embedded_resources())
    if (resource.path.starts_with(kShipped) &&
        resource.path.substr(kShipped.size()).find('/') == std::string_view::npos)
      add({fs::path(resource.path).stem().string(), std::string(resource.path), false});
  if (!library.folder().empty()) {
    std::error_code error;
    for (fs::directory_iterator entries(library.folder() / "tours", error);
         !error && entries != fs::directory_iterator(); entries.increment(error))
      if (entries->path().extension() == ".json")
        add({entries->path().stem().string(), entries->path().string(), true});
  }
  std::sort(out.begin(), out.end(), [](const TourPlace& a, const TourPlace& b) { return a.id < b.id; });
  return out;
}

Result<Tour> load_tour(const std::string& id_or_path, const PresetLibrary& library) {
  const std::vector<TourPlace> places = tour_places(library);
  for (const TourPlace& place : places)
    if (place.id == id_or_path) return read_place(place, library);
  std::error_code ignored;
  if (id_or_path.ends_with(".json") || fs::exists(id_or_path, ignored))
    return read_place({fs::path(id_or_path).stem().string(), id_or_path, true}, library);
  std::vector<std::string_view> ids;
  for (const TourPlace& place : places) ids.push_back(place.id);
  const std::string_view near = nearest_word(id_or_path, ids);
  return InputError{{},
                    {},
                    say("error.tour.none", in_quotes(id_or_path)),
                    near.empty() ? say("error.there_are", listed(ids)) : did_you_mean(near)};
}

std::vector<Tour> load_tours(const PresetLibrary& library, std::vector<InputError>& problems) {
  std::vector<Tour> out;
  for (const TourPlace& place : tour_places(library)) {
    auto tour = read_place(place, library);
    if (tour)
      out.push_back(std::move(tour).value());
    else
      problems.push_back(tour.error());
  }
  std::stable_sort(out.begin(), out.end(), [](const Tour& a, const Tour& b) { return a.order < b.order; });
  return out;
}

}  // namespace roofscape::io
