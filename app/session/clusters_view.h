// ClustersView: among which clusters one is looked for, and what was answered. A part of the window's view: never undone.
// What is wanted stands in the preferences.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/cluster_job.h"
#include "engine/io/json/result.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::app {

struct ClustersView {
  // The clusters that the preferences name, read once for each text; those around the present one stay while it is one
  // of them, so that a list does not run away from who takes its rows.
  struct Named {
    std::string text;
    std::shared_ptr<const io::PresetLibrary> library;
    engine::Cluster around;
    bool is_around = false;                 // the text names none
    NamedClusters clusters;                 // at least one, unless the text could not be read
    std::optional<io::InputError> problem;  // why the text could not be read
  };
  std::optional<Named> named;

  // Of the job, taken at the beginning of a frame.
  std::shared_ptr<const ClusterOutcome> latest;  // of whatever was asked last
  std::shared_ptr<const ClusterOutcome> found;   // the same, if it is of the kind of workload that is shown
  ClusterJob::State state = ClusterJob::State::idle;
  double progress = 0;
  bool stale = false;  // `found` answers another question

  std::size_t hovered = 0;  // the row under the pointer, from 1; 0: none

  // The box in which something was typed that could not be read, and why; until something else is typed.
  struct Refused {
    std::string id, why;
  };
  std::optional<Refused> refused;
};

}  // namespace roofscape::app
