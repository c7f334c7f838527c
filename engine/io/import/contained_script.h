// What a file of another kind starts, as the script that it comes to: Kubernetes manifests (whatever has containers,
// jobs and operators' resources among them), Compose files, SkyPilot tasks, Dockerfiles and systemd units. Each
// character knows its line in that file. Nothing is run, and nothing else of such a file says anything of a plan. For
// the .cpp files of engine/io.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/io/import/document.h"
#include "engine/io/import/shell_script.h"
#include "engine/io/import/shell_text.h"

namespace roofscape::io {

struct ContainedScript {
  ShellSource source;
  std::vector<ShellGap> gaps;  // what a command is given that stands elsewhere, and how often it runs
};

// Nothing: the documents (of one YAML or JSON file) start nothing.
std::optional<ContainedScript> script_of_documents(std::span<const Node> documents);
// The same of a text that is no such document: a Dockerfile, a unit.
std::optional<ContainedScript> script_of_rows(std::string_view text);

}  // namespace roofscape::io
