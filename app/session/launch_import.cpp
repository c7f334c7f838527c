#include "app/session/launch_import.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/io/import/open_scenario.h"

namespace roofscape::app {

namespace {

// Launchers of PyTorch start processes on GPUs; JAX, a model by itself and vLLM are for both.
bool runs_there(std::string_view format, const engine::Chip& chip) {
  return chip.interconnect != engine::Interconnect::torus || format == "maxtext" || format == "huggingface" ||
         format == "vllm";
}

}  // namespace

io::Result<LaunchImport> LaunchImport::read(std::string text, std::string file, const engine::Cluster& open,
                                            const io::PresetLibrary& library) {
  LaunchImport out;
  out.text_ = std::move(text);
  out.file_ = std::move(file);
  auto read = io::import_launch(out.text_, out.file_, {}, library);
  if (!read.ok()) return read.error();
  out.imported_ = std::move(read).value();
  out.counted_ = !out.imported_.is_missing("cluster");
  const bool without_chips = !out.counted_ || out.imported_.is_missing("cluster.chip");
  if (without_chips && library.find_chip(open.chip.id) != nullptr && runs_there(out.imported_.format, open.chip)) {
    const std::string wish =
        out.counted_ ? open.chip.id : fmt::format("{}:{}", open.chip.id, engine::chip_count(open));
    if (!out.ask({wish, {}}, library)) {
      out.guessed_ = true;
      out.say_whose_chips();
    }
  }
  return out;
}

std::optional<LaunchImport> LaunchImport::kept(io::SavedLaunch saved, const io::PresetLibrary& library) {
  LaunchImport out;
  out.text_ = std::move(saved.text);
  out.file_ = std::move(saved.file);
  auto read = io::import_launch(out.text_, out.file_, {}, library);
  if (!read.ok()) return std::nullopt;
  out.imported_ = std::move(read).value();
  out.counted_ = !out.imported_.is_missing("cluster");
  if (out.ask({std::move(saved.cluster), std::move(saved.set)}, library)) return std::nullopt;
  out.guessed_ = saved.guessed;
  if (out.guessed_) out.say_whose_chips();
  return out;
}

void LaunchImport::say_whose_chips() {
  imported_.assumed.insert(imported_.assumed.begin(),
                           {"cluster", request_.cluster, engine::say("import.why.open_chips")});
}

io::Failure LaunchImport::ask(io::ImportRequest request, const io::PresetLibrary& library) {
  auto read = io::import_launch(text_, file_, {request.cluster, io::ordered_edits(request.set)}, library);
  if (!read.ok()) return read.error();
  imported_ = std::move(read).value();
  guessed_ = guessed_ && request.cluster == request_.cluster;
  request_ = std::move(request);
  if (guessed_) say_whose_chips();
  return std::nullopt;
}

io::Failure LaunchImport::give(std::string_view path, std::string_view value, const io::PresetLibrary& library) {
  io::ImportRequest next = request_;
  std::erase_if(next.set, [&](const std::string& one) {
    return one.size() > path.size() && one.starts_with(path) && one[path.size()] == '=';
  });
  if (!value.empty()) next.set.push_back(fmt::format("{}={}", path, value));
  return ask(std::move(next), library);
}

const io::ReadValue* LaunchImport::origin_of(std::string_view path) const {
  const auto found = std::find_if(imported_.read.begin(), imported_.read.end(),
                                  [&](const io::ReadValue& value) { return value.field == path; });
  return found == imported_.read.end() ? nullptr : &*found;
}

const io::AssumedValue* LaunchImport::assumption_of(std::string_view path) const {
  const auto found = std::find_if(imported_.assumed.begin(), imported_.assumed.end(),
                                  [&](const io::AssumedValue& value) { return value.field == path; });
  return found == imported_.assumed.end() ? nullptr : &*found;
}

}  // namespace roofscape::app
