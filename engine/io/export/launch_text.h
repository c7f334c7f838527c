// What the writers of launch files share: which fields a file has said, and the notes for those it has not. A note is a
// comment that the import of the file reads back (engine/io/import/launch_notes.h): with the notes an exported plan is whole.
// For the .cpp files of engine/io.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/frameworks/framework.h"
#include "engine/frameworks/synonyms.h"
#include "engine/io/import/launch_notes.h"
#include "engine/io/presets/preset_library.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

class LaunchText {
 public:
  LaunchText(const engine::Scenario& s, engine::Framework framework, const PresetLibrary& library,
             const engine::Words& words)
      : s_(s), framework_(framework), library_(library), words_(words) {}

  const engine::Scenario& scenario() const { return s_; }
  const PresetLibrary& library() const { return library_; }
  std::string text(const engine::Sentence& sentence) const { return words_.write(sentence); }
  // The same as a line of comment, whatever characters its names have.
  std::string comment(const engine::Sentence& sentence) const;

  // The framework's key for a field, which the file then has said. Precondition: the table has one.
  std::string key(std::string_view path);
  // The value of a field as a launch file has it: numbers as they are, choices in the framework's word.
  std::string value(std::string_view path) const;
  // Fields that the file says in another way.
  void said(std::initializer_list<std::string_view> paths);
  // Steps of the whole run, at least one and rounded up; the file has said its tokens where they are whole steps.
  std::string run_steps();
  void unsaid(std::string_view path) { said_.erase(std::string(path)); }
  // Fields that the file has another value of, since the framework needs one: their own is always noted.
  void bent(std::string_view path) { bent_.emplace(path); }

  // "path=value" for all that matters and has not been said: model and cluster, and fields one by one.
  std::vector<std::string> notes() const;
  // What stands at the top of a file, each line a comment: what it is of, and the notes.
  std::string header() const;

 private:
  const engine::Scenario& s_;
  engine::Framework framework_;
  const PresetLibrary& library_;
  const engine::Words& words_;
  std::set<std::string, std::less<>> said_, bent_;
};

// Whether a field can make a difference to a plan: not the schedule of one stage.
bool field_matters(const engine::Scenario& s, std::string_view path);

// The repository of a model's weights in the form ORGANISATION/NAME, for servers; empty: not known.
std::string_view weights_of(std::string_view model_id);

}  // namespace roofscape::io
