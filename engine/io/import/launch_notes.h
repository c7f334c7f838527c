// The notes of Roofscape in a launch file it has written: what the framework has no key for, as `path=value`. In a comment
// each, "# roofscape: cluster=h100-16k"; in JSON, which has no comments, in a list "set" of a member "roofscape". For the
// .cpp files of engine/io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/io/import/document.h"
#include "engine/io/import/import_launch.h"
#include "engine/io/import/launch_plan.h"

namespace roofscape::io {

inline constexpr std::string_view kNoteMark = "roofscape: ";
inline constexpr std::string_view kNotesMember = "roofscape";

// Of comments.
std::vector<std::string> notes_in(std::string_view text);
// Of a document, whose member of them is taken out, so that no reader wonders at it.
std::vector<std::string> take_notes(Node& document);

// What the notes say beside the file: the model where the file names or sizes none, the cluster where the request has
// none, and all else as if by --set, before what the request sets itself. Errors: a model that cannot be read.
Result<ImportRequest> with_notes(const std::vector<std::string>& notes, std::string_view file, const ImportRequest&,
                                 LaunchPlan&, const PresetLibrary&);

}  // namespace roofscape::io
