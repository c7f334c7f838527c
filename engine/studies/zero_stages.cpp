#include "engine/studies/zero_stages.h"

#include "engine/evaluate/evaluate.h"

namespace roofscape::engine {

ZeroStagesStudy zero_stages_study(const Scenario& s) {
  ZeroStagesStudy out;
  Scenario edited = s;
  EvaluationScratch scratch;
  OrderSpans spans;
  Parallelism& mesh = edited.parallelism;
  out.from_data_axis = mesh.fsdp * mesh.context == 1 && mesh.data > 1;
  if (out.from_data_axis) mesh.fsdp = mesh.data, mesh.data = 1;
  out.shards = mesh.fsdp * mesh.context;
  for (int stage = 0; stage < kZeroStages; ++stage) {
    mesh.zero_stage = stage;
    ZeroStagesStudy::Variant& variant = out.stages[static_cast<std::size_t>(stage)];
    variant.scenario = edited;
    evaluate_without_timeline(edited, scratch, spans, variant.report);
  }
  return out;
}

}  // namespace roofscape::engine
