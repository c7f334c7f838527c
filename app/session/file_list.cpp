#include "app/session/file_list.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"
#include "widgets/canvas/number_format.h"

namespace roofscape::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 4000;

}  // namespace

fs::path typed_path(std::string_view typed, const fs::path& folder) {
  while (typed.starts_with(' ')) typed.remove_prefix(1);
  while (typed.ends_with(' ')) typed.remove_suffix(1);
  if (typed.empty()) return folder;
  if (typed == "~" || typed.starts_with("~/"))
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
      return (fs::path(home) / (typed.size() > 2 ? typed.substr(2) : std::string_view())).lexically_normal();
  return (folder / typed).lexically_normal();
}

TypedPlace typed_place(std::string_view typed, const fs::path& folder) {
  const std::size_t slash = typed.rfind('/');
  if (slash == std::string_view::npos) return {folder, std::string(typed)};
  return {typed_path(typed.substr(0, slash + 1), folder), std::string(typed.substr(slash + 1))};
}

std::vector<FileEntry> list_folder(const TypedPlace& place) {
  std::vector<FileEntry> out;
  const std::string letters = engine::ascii_lower(place.letters);
  std::error_code failed;
  for (fs::directory_iterator at(place.folder, fs::directory_options::skip_permission_denied, failed), end;
       !failed && at != end && out.size() < kMostEntries; at.increment(failed)) {
    std::error_code unknown;
    FileEntry entry{at->path().filename().string(), at->is_directory(unknown)};
    if (entry.name.starts_with('.') && !letters.starts_with('.')) continue;
    if (const std::string ending = engine::ascii_lower(at->path().extension().string());
        !entry.folder && ending != ".json" && ending != ".csv")
      continue;
    if (engine::ascii_lower(entry.name).find(letters) == std::string::npos) continue;
    out.push_back(std::move(entry));
  }
  std::sort(out.begin(), out.end(), [&](const FileEntry& a, const FileEntry& b) {
    if (a.folder != b.folder) return a.folder;
    const std::string x = engine::ascii_lower(a.name), y = engine::ascii_lower(b.name);
    return x != y ? x < y : a.name < b.name;
  });
  return out;
}

std::string completed(std::string_view typed, const fs::path& folder, bool folders_alone) {
  const TypedPlace place = typed_place(typed, folder);
  std::string common;
  std::size_t hits = 0;
  bool is_folder = false;
  for (const FileEntry& e : list_folder(place)) {
    if (!e.name.starts_with(place.letters) || (folders_alone && !e.folder)) continue;
    if (hits++ == 0) common = e.name;
    while (!e.name.starts_with(common)) common.pop_back();
    is_folder = e.folder;
  }
  std::string out(typed);
  if (hits == 0 || common.size() < place.letters.size()) return out;
  out.replace(out.size() - place.letters.size(), place.letters.size(), common);
  if (hits == 1 && is_folder) out += '/';
  return out;
}

std::string file_stem(std::string_view name) {
  std::string stem, whole(name);
  for (const std::string_view gap : {std::string_view(","), widgets::kNarrowSpace})  // of thousands
    for (std::size_t at = whole.find(gap); at != std::string::npos; at = whole.find(gap, at))
      whole.erase(at, gap.size());
  for (const char c : whole) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x80 || std::isalnum(u) != 0 || c == '.')
      stem += static_cast<char>(std::tolower(u));
    else if (!stem.empty() && stem.back() != '-')
      stem += '-';
  }
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '.')) stem.pop_back();
  stem.resize(engine::whole_characters(stem, 80).size());
  return stem.empty() ? "scenario" : stem;
}

fs::path free_name(const fs::path& file) {
  std::error_code failed;
  fs::path free = file;
  for (int number = 2; fs::exists(fs::symlink_status(free, failed)) && number < 10000; ++number)
    free = file.parent_path() / (file.stem().string() + "-" + std::to_string(number) + file.extension().string());
  return free;
}

}  // namespace roofscape::app
