// Files and folders as a person names them: what stands in a folder, what a typed path means, and what a scenario is
// called on the disk. Shown by the file chooser and the export sheet.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roofscape::app {

struct FileEntry {
  std::string name;
  bool folder = false;
};

// What was typed as a path: "~/plans/a.json", "../a", "/tmp/a.json"; what is not absolute lies in `folder`.
std::filesystem::path typed_path(std::string_view typed, const std::filesystem::path& folder);
// The folder whose entries a typed path goes on to name, and the letters of the name so far.
struct TypedPlace {
  std::filesystem::path folder;
  std::string letters;
};
TypedPlace typed_place(std::string_view typed, const std::filesystem::path& folder);

// Folders, then files that end in .json or .csv, by name; hidden ones only where their dot was typed. At most some thousand.
// A folder that cannot be read is empty.
std::vector<FileEntry> list_folder(const TypedPlace& place);

// A typed path gone on with as far as all entries that begin with its letters agree, a folder with its slash: what
// Tab does in a line for paths. As it was where none does.
std::string completed(std::string_view typed, const std::filesystem::path& folder, bool folders_alone = false);

// "LLaMA-3 70B on one v5p pod" as a file name without its ending: letters of any script, digits and dashes.
std::string file_stem(std::string_view name);
// This file, or with "-2", "-3" ... before its ending where something stands there already.
std::filesystem::path free_name(const std::filesystem::path& file);

}  // namespace roofscape::app
