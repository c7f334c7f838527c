// What frameworks call the fields: the table itself, and where its names are accepted.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "engine/frameworks/synonyms.h"
#include "engine/io/scenario/scenario_write.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/search/plan_dimensions.h"
#include "engine/search/serving_search.h"
#include "tests/capture_binding.h"
#include "tests/engine/fixtures.h"

namespace roofscape::engine {
namespace {

TEST_CASE("every framework's name is of a field, and every word of one of its choices") {
  for (const Synonym& row : synonyms()) {
    CAPTURE(row.key);
    const Field* field = find_field(row.path);
    if (row.path == "pipeline.layers_per_stage") continue;  // a list, which is no row of the fields
    REQUIRE(field != nullptr);
    for (const auto& [theirs, ours] : row.words) {
      CAPTURE_BINDING(theirs);
      CHECK(std::find(field->choices.begin(), field->choices.end(), ours) != field->choices.end());
    }
  }
}

TEST_CASE("a framework has one name for a field and one field for a name") {
  std::set<std::pair<Framework, std::string_view>> keys, paths;
  for (const Synonym& row : synonyms()) {
    CAPTURE(row.key);
    CHECK(keys.emplace(row.framework, row.key).second);
    CHECK(paths.emplace(row.framework, row.path).second);
  }
}

TEST_CASE("names are found whatever joins their words, and short ones as they are said") {
  const auto path = [](std::string_view name) {
    const NamedField* field = find_named_field(name);
    return field != nullptr ? field->path : std::string_view("-");
  };
  CHECK(path("TP") == "parallelism.tensor");
  CHECK(path("tensor-model-parallel-size") == "parallelism.tensor");
  CHECK(path("--tensor_model_parallel_size") == "parallelism.tensor");
  CHECK(path("tensor_parallel_degree") == "parallelism.tensor");
  CHECK(path("dp_shard") == "parallelism.fsdp");
  CHECK(path("ici_fsdp_parallelism") == "parallelism.fsdp");
  CHECK(path("zero_optimization.stage") == "parallelism.zero_stage");
  CHECK(path("max-num-seqs") == "workload.batch");
  CHECK(path("tensors") == "-");
}

TEST_CASE("the last part of a field's own path names it, unless it ends two of them") {
  std::map<std::string, std::set<std::string_view>> ending;
  for (const Field& field : scenario_fields())
    ending[std::string(field.path.substr(field.path.rfind('.') + 1))].insert(field.path);
  for (const auto& one : ending) {
    const std::string& name = one.first;
    const std::set<std::string_view>& paths = one.second;
    if (name == "0" || name == "1" || name == "2") continue;  // elements of a list
    CAPTURE(name);
    const NamedField* field = find_named_field(name);
    if (paths.size() == 1) {
      REQUIRE(field != nullptr);
      CHECK(field->path == *paths.begin());
    } else if (field != nullptr && !field->path.starts_with("parallelism.")) {
      // A framework's whole key may still be this word.
      CHECK(std::any_of(synonyms().begin(), synonyms().end(), [&](const Synonym& row) { return row.key == name; }));
    }
  }
  for (const char* axis : {"data", "fsdp", "tensor", "context", "pipeline", "expert"}) {
    CAPTURE(axis);
    REQUIRE(find_named_field(axis) != nullptr);
    CHECK(find_named_field(axis)->path == "parallelism." + std::string(axis));
  }
  CHECK(find_named_field("optimizer") == nullptr);  // in which format it is kept, or whether the host keeps it
  CHECK(find_named_field("0") == nullptr);
}

TEST_CASE("a name of two fields is nobody's") {
  // Megatron-LM's head size of values and MaxText's are one thing.
  for (const Synonym& row : synonyms()) {
    const NamedField* field = find_named_field(row.key);
    if (field != nullptr) CHECK(field->path == row.path);
  }
}

TEST_CASE("a field is set by a framework's name and word") {
  const io::PresetLibrary& library = tests::library();
  Scenario s;
  const auto set = [&](std::string_view assignment) { return !io::set_field(s, assignment, library); };
  CHECK(set("mode=calibrated"));  // ours, not torchtitan's activation_checkpoint.mode
  CHECK(set("TP=8"));
  CHECK(set("ici_fsdp_parallelism=16"));
  CHECK(set("cp-comm-type=a2a"));
  CHECK(set("pipeline_parallel_schedule=Interleaved1F1B"));
  CHECK(set("recompute-granularity=selective"));
  CHECK(set("activation_checkpoint.mode=selective"));
  CHECK(s.assumptions.mode == Mode::calibrated);
  CHECK(s.parallelism.tensor == 8);
  CHECK(s.parallelism.fsdp == 16);
  CHECK(s.parallelism.context_method == ContextMethod::ulysses);
  CHECK(s.pipeline.schedule == ScheduleKind::interleaved_1f1b);
  CHECK(s.checkpointing.policy == CheckpointPolicy::big_matmuls);
}

TEST_CASE("what is wrong with a value named by a framework is said of the field") {
  Scenario s;
  const auto failure = io::set_field(s, "TP=many", tests::library());
  REQUIRE(failure);
  CHECK(failure->path == "parallelism.tensor");
}

TEST_CASE("constraints of a search take a framework's names and words") {
  PlanSpace space;
  CHECK(!constrain(space, "tensor-model-parallel-size", "8", ConstraintKind::pinned));
  CHECK(!constrain(space, "PP", "4", ConstraintKind::at_most));
  CHECK(!constrain(space, "schedule", "Interleaved1F1B", ConstraintKind::pinned));
  CHECK(space.tensor.only == std::vector<double>{8});
  CHECK(space.pipeline.max == 4);
  CHECK(space.schedule.allows(static_cast<int>(ScheduleKind::interleaved_1f1b)));
  CHECK(constrain(space, "policy", "selective", ConstraintKind::pinned));  // Megatron's and torchtitan's differ
  ServingRequest request;
  CHECK(!constrain(request, "tensor-parallel-size", "8", ConstraintKind::pinned));
  CHECK(request.tensor.only == std::vector<double>{8});
}

}  // namespace
}  // namespace roofscape::engine
