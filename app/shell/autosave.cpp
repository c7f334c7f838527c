#include "app/shell/autosave.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace roofscape::app {

namespace {
constexpr double kTryAgain_s = 5;
}

void Autosave::restore(Workspace& workspace, bool beside) {
  wanted_ = beside;  // one more tab than is in the file
  std::vector<std::string> problems;
  const std::vector<SessionFile::Kept> kept = file_.read(problems, workspace.texts());
  for (const std::string& problem : problems)
    workspace.say({true, workspace.texts().format("ui.session.unread", {problem}), {}});
  for (const SessionFile::Kept& one : kept) {
    if (workspace.restore(one.text, one.file.string(), beside)) {
      beside = true;
      wanted_ = wanted_ || one.file != file_.file();
      continue;
    }
    const std::string reason = workspace.session().message() ? workspace.session().message()->text : std::string();
    const std::filesystem::path aside = file_.set_aside(one.file);
    workspace.say({true,
                   workspace.texts().format("ui.session.damaged", {(aside.empty() ? one.file : aside).string()}),
                   reason});
  }
}

void Autosave::write(Workspace& workspace) {
  const auto failure = file_.write(workspace.session_text());
  wanted_ = failure.has_value();
  if (failure && !failing_)
    workspace.say({true, workspace.texts().format("ui.session.unsaved", {io::to_text(*failure, workspace.texts())}),
                   std::string(workspace.texts().text("ui.session.unsaved.detail"))});
  workspace.set_save_problem(failure ? io::to_text(*failure, workspace.texts()) : std::string());
  failing_ = failure.has_value();
}

void Autosave::run(Workspace& workspace, double now_s) {
  if (file_.file().empty()) return;
  const std::size_t changes = workspace.changes();
  if (!begun_) seen_ = changes;  // what was just restored is what is in the file
  begun_ = true;
  if (changes != seen_) wanted_ = true;
  if (!wanted_ || (failing_ && changes == seen_ && now_s < tried_s_ + kTryAgain_s)) return;
  seen_ = changes;
  tried_s_ = now_s;
  write(workspace);
}

bool Autosave::finish(Workspace& workspace) {
  if (file_.file().empty()) return true;
  if (begun_ && workspace.changes() != seen_) wanted_ = true;
  seen_ = workspace.changes();
  if (wanted_) write(workspace);
  return !failing_;
}

double Autosave::wake_in(double now_s) const { return failing_ ? std::max(0.1, tried_s_ + kTryAgain_s - now_s) : -1; }

}  // namespace roofscape::app
