#include "engine/io/presets/evidence_files.h"

#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "engine/io/json/files.h"
#include "engine/io/presets/parts_json.h"
#include "engine/io/presets/resources.h"

namespace roofscape::io {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kFolder = "presets/evidence/";

struct File {
  std::string origin, text;
};
using Files = std::map<std::string, File>;  // by name without extension

Failure add_folder(const fs::path& folder, Files& files) {
  std::error_code missing;
  for (fs::directory_iterator at(folder / "evidence", missing), end; !missing && at != end; at.increment(missing)) {
    if (at->path().extension() != ".json") continue;
    auto text = read_file(at->path());
    if (!text) return text.error();
    files.insert_or_assign(at->path().stem().string(), File{at->path().string(), std::move(text).value()});
  }
  return std::nullopt;
}

Failure add_file(const File& file, EvidenceFiles& out, std::set<std::string>& ids) {
  auto read = read_measurements_file(file.text, file.origin);
  if (!read) return read.error();
  const std::string& name = read.value().name;
  for (Measurement& entry : read.value().entries) {
    if (!ids.insert(entry.id).second)
      return InputError{file.origin, "entries", engine::say("error.measurement.other_file", in_quotes(entry.id)),
                        engine::say("error.measurement.id.remedy")};
    out.names.try_emplace(entry.family, name.empty() ? entry.family : name);
    out.entries.push_back(std::move(entry));
  }
  return std::nullopt;
}

}  // namespace

Result<EvidenceFiles> load_evidence(const PresetLibrary& library) {
  Files files;
  for (const Resource& resource : embedded_resources())
    if (resource.path.starts_with(kFolder))
      files.emplace(fs::path(resource.path).stem().string(),
                    File{std::string(resource.path), std::string(resource.text)});
  if (!library.folder().empty())
    if (auto failure = add_folder(library.folder(), files)) return *std::move(failure);
  EvidenceFiles out;
  std::set<std::string> ids;
  for (const auto& [name, file] : files)
    if (auto failure = add_file(file, out, ids)) return *std::move(failure);
  return out;
}

}  // namespace roofscape::io
