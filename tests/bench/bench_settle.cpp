// What an edit makes follow, per scenario preset: every slider of the scenario at a hundred places of its track, as a
// hand drags it, and every cluster and chip that ships. Prints the median, the 99th percentile and the longest, in
// processor time of the thread: a slider's part of the frame's 4 ms.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "app/session/settle_edit.h"
#include "engine/io/scenario/scenario_json.h"
#include "tests/bench/clocks.h"

namespace {

using namespace roofscape;

constexpr int kPlaces = 100;

void print(const char* what, std::vector<double>& ms) {
  if (ms.empty()) return;
  std::sort(ms.begin(), ms.end());
  std::printf("  %-9s %6zu edits   median %7.3f ms   p99 %7.3f ms   longest %7.3f ms\n", what, ms.size(),
              ms[ms.size() / 2], ms[(ms.size() - 1) * 99 / 100], ms.back());
}

}  // namespace

int main() {
  const io::PresetLibrary library;
  const auto measure = [&](const engine::Scenario& base, const engine::Scenario& edited, std::string path) {
    const app::EditNature nature{std::move(path)};
    const double start = bench::thread_ms();
    app::settle_edit(base, base, edited, nature, library.chips());
    return bench::thread_ms() - start;
  };
  for (const io::Preset& preset : library.list(io::PresetKind::scenario)) {
    const auto loaded = io::load_scenario(preset.id, library);
    if (!loaded.ok()) continue;
    const engine::Scenario& base = loaded.value();
    std::vector<double> mesh, others, clusters;
    for (const engine::Field& field : engine::scenario_fields()) {
      if (field.kind != engine::FieldKind::integer && field.kind != engine::FieldKind::number) continue;
      const double now = field.get(base);
      const bool is_mesh = app::is_mesh_axis(field.path);
      const double least = is_mesh ? 1 : now / 16,
                   most = is_mesh ? 2.0 * static_cast<double>(engine::chip_count(base.cluster)) : now * 16;
      for (int place = 0; place < kPlaces && now > 0; ++place) {
        engine::Scenario edited = base;
        const double value = least * std::pow(most / least, place / (kPlaces - 1.0));
        const bool whole = field.kind == engine::FieldKind::integer;
        field.set(edited, std::clamp(whole ? std::round(value) : value, field.minimum, field.maximum));
        if (field.get(edited) == field.get(base)) continue;
        (is_mesh ? mesh : others).push_back(measure(base, edited, std::string(field.path)));
      }
    }
    for (const io::PresetKind kind : {io::PresetKind::cluster, io::PresetKind::chip})
      for (const io::Preset& other : library.list(kind)) {
        engine::Scenario edited = base;
        if (kind == io::PresetKind::cluster)
          edited.cluster = *library.find_cluster(other.id);
        else if (io::set_field(edited, "cluster.chip=" + other.id, library))
          continue;
        clusters.push_back(measure(base, edited, ""));
      }
    std::printf("%s\n", preset.id.c_str());
    print("mesh", mesh);
    print("others", others);
    print("clusters", clusters);
  }
}
