#include "widgets/figures/figures.h"
#include "widgets/figures/common/doubts.h"

#include <array>

#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/hardware/figure_collective.h"
#include "widgets/figures/hardware/figure_comm_roofline.h"
#include "widgets/figures/hardware/figure_generations.h"
#include "widgets/figures/hardware/figure_ladder.h"
#include "widgets/figures/hardware/figure_matmul.h"
#include "widgets/figures/hardware/figure_sharded_matmul.h"
#include "widgets/figures/hardware/figure_topology.h"
#include "widgets/figures/search/figure_frontier.h"
#include "widgets/figures/search/figure_mesh_map.h"
#include "widgets/figures/search/figure_parallel_coordinates.h"
#include "widgets/figures/search/figure_serving_map.h"
#include "widgets/figures/serving/figure_decode_step.h"
#include "widgets/figures/serving/figure_kv.h"
#include "widgets/figures/serving/figure_latency_throughput.h"
#include "widgets/figures/serving/figure_prefill_decode.h"
#include "widgets/figures/serving/figure_queue.h"
#include "widgets/figures/serving/figure_serving_memory.h"
#include "widgets/figures/serving/figure_serving_roofline.h"
#include "widgets/figures/training/figure_bubble.h"
#include "widgets/figures/training/figure_checkpointing.h"
#include "widgets/figures/training/figure_compare.h"
#include "widgets/figures/training/figure_evidence.h"
#include "widgets/figures/training/figure_memory.h"
#include "widgets/figures/training/figure_memory_time.h"
#include "widgets/figures/training/figure_network.h"
#include "widgets/figures/training/figure_overlap.h"
#include "widgets/figures/training/figure_parameters.h"
#include "widgets/figures/training/figure_pipeline.h"
#include "widgets/figures/training/figure_roofline.h"
#include "widgets/figures/training/figure_scaling.h"
#include "widgets/figures/training/figure_schedules.h"
#include "widgets/figures/training/figure_step.h"

namespace roofscape::widgets {
namespace {

constexpr float kColumn = 425.2f, kPage = 510.2f;  // 150 mm, 180 mm
// clang-format off
constexpr std::array kFigures{
    FigureRow{"roofline", draw_roofline, roofline_head, roofline_data, kColumn, 283.5f},
    FigureRow{"memory", draw_memory, memory_head, memory_data,
              kColumn, 269.3f, {}, Subject::training, Needs::nothing, About::plan, Rests::memory},
    FigureRow{"pipeline", draw_pipeline, pipeline_head, pipeline_data,
              kColumn, 269.3f, kPipelineOptions, Subject::training, Needs::stages},
    FigureRow{"schedules", draw_schedules, schedules_head, schedules_data,
              kPage, 472.0f, {}, Subject::training, Needs::stages, About::schedules},
    FigureRow{"bubble", draw_bubble, bubble_head, bubble_data,
              kColumn, 283.5f, {}, Subject::training, Needs::stages, About::schedules},
    FigureRow{"network", draw_network, network_head, network_data, kColumn, 283.5f, kNetworkOptions},
    FigureRow{"comm-roofline", draw_comm_roofline, comm_roofline_head, comm_roofline_data, kColumn, 283.5f},
    FigureRow{"matmul", draw_matmul, matmul_head, matmul_data,
              kColumn, 283.5f, kMatmulOptions, Subject::training, Needs::nothing, About::cluster},
    FigureRow{"collective", draw_collective, collective_head, collective_data,
              kColumn, 283.5f, kCollectiveOptions, Subject::training, Needs::nothing, About::cluster},
    FigureRow{"sharded-matmul", draw_sharded_matmul, sharded_matmul_head, sharded_matmul_data,
              kColumn, 283.5f, kShardedMatmulOptions, Subject::training, Needs::nothing, About::cluster},
    FigureRow{"ladder", draw_ladder, ladder_head, ladder_data,
              kColumn, 283.5f, {}, Subject::any, Needs::nothing, About::chips},
    FigureRow{"generations", draw_generations, generations_head, generations_data,
              kColumn, 368.5f, {}, Subject::any, Needs::nothing, About::chips, Rests::nothing},
    FigureRow{"topology", draw_topology, topology_head, topology_data,
              kColumn, 255.1f, {}, Subject::training, Needs::nothing, About::cluster},
    FigureRow{"compare", draw_compare, compare_head, compare_data,
              kColumn, 255.1f, {}, Subject::training, Needs::baseline},
    FigureRow{"step", draw_step, step_head, step_data, kColumn, 255.1f},
    FigureRow{"parameters", draw_parameters, parameters_head, parameters_data,
              kColumn, 269.3f, {}, Subject::training, Needs::nothing, About::model, Rests::parameters},
    FigureRow{"memory-time", draw_memory_time, memory_time_head, memory_time_data,
              kColumn, 255.1f, kMemoryTimeOptions, Subject::training, Needs::nothing, About::plan, Rests::memory},
    FigureRow{"overlap", draw_overlap, overlap_head, overlap_data, kColumn, 283.5f, kOverlapOptions},
    FigureRow{"checkpointing", draw_checkpointing, checkpointing_head, checkpointing_data, kColumn, 283.5f},
    FigureRow{"scaling", draw_scaling, scaling_head, scaling_data, kColumn, 283.5f, kScalingOptions},
    FigureRow{"mesh-map", draw_mesh_map, mesh_map_head, mesh_map_data,
              kColumn, 297.6f, kMeshMapOptions, Subject::training, Needs::search, About::search},
    FigureRow{"evidence", draw_evidence, evidence_head, evidence_data,
              kColumn, 297.6f, kEvidenceOptions, Subject::any, Needs::nothing, About::runs, Rests::nothing},
    FigureRow{"frontier", draw_frontier, frontier_head, frontier_data,
              kColumn, 297.6f, {}, Subject::any, Needs::search, About::search},
    FigureRow{"parallel-coordinates", draw_parallel_coordinates, parallel_coordinates_head, parallel_coordinates_data,
              kPage, 297.6f, {}, Subject::any, Needs::search, About::search},
    FigureRow{"decode-step", draw_decode_step, decode_step_head, decode_step_data,
              kColumn, 255.1f, {}, Subject::serving},
    FigureRow{"latency-throughput", draw_latency_throughput, latency_throughput_head, latency_throughput_data,
              kColumn, 283.5f, {}, Subject::serving},
    FigureRow{"serving-memory", draw_serving_memory, serving_memory_head, serving_memory_data,
              kColumn, 255.1f, {}, Subject::serving, Needs::nothing, About::plan, Rests::memory},
    FigureRow{"kv", draw_kv, kv_head, kv_data,
              kColumn, 283.5f, kKvOptions, Subject::serving, Needs::nothing, About::plan, Rests::memory},
    FigureRow{"serving-roofline", draw_serving_roofline, serving_roofline_head, serving_roofline_data,
              kColumn, 283.5f, {}, Subject::serving},
    FigureRow{"prefill-decode", draw_prefill_decode, prefill_decode_head, prefill_decode_data,
              kColumn, 283.5f, {}, Subject::serving},
    FigureRow{"queue", draw_queue, queue_head, queue_data, kColumn, 283.5f, kQueueOptions, Subject::serving},
    FigureRow{"serving-map", draw_serving_map, serving_map_head, serving_map_data,
              kColumn, 297.6f, kServingMapOptions, Subject::serving, Needs::search, About::search},
};
// clang-format on

static_assert(kFigures.size() == kFigureCount);

}  // namespace

std::span<const FigureRow> figures() { return kFigures; }

bool shows(const FigureRow& row, const engine::Scenario& scenario) {
  if (row.subject == Subject::any) return true;
  return (row.subject == Subject::serving) == scenario.serves();
}

const engine::Diagnostic* cannot_show(const FigureRow& row, const engine::Report& report) {
  if (row.about != About::plan && row.about != About::schedules) return nullptr;
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.severity == engine::Severity::error && (row.about == About::plan || d.code != "pipeline.illegal_schedule"))
      return &d;
  return nullptr;
}

std::string cannot_run_text(const engine::Diagnostic& why, const TextTable& texts) {
  const std::string title = "diagnostic." + std::string(why.code) + ".title";
  return texts.format("figure.cannot_run", {std::string(texts.text(title))});
}

FigureHead figure_head(const FigureRow& row, const FigureInput& input, const FigureView& view) {
  if (shows(row, input.scenario) && cannot_show(row, input.report) == nullptr) {
    FigureHead head = row.head(input, view);
    mark_doubts(head, input);
    return head;
  }
  FigureHead head;
  head.title = input.texts.text("command.figure." + std::string(row.name));
  return head;
}

void draw_figure(const FigureRow& row, Canvas& canvas, const Rect& area, const FigureInput& input,
                 const FigureView& view) {
  const bool right_kind = shows(row, input.scenario);
  const engine::Diagnostic* why = cannot_show(row, input.report);
  if (right_kind && why == nullptr) {
    const engine::Provenance* doubts = doubts_of(input);
    if (doubts != nullptr)
      canvas.mark_readouts([doubts, own = quantity_of(row.rests, input.scenario)](
                               std::string_view id) { return doubted(*doubts, id, own); },
                           kDoubtMark);
    row.draw(canvas, area, input, view);
    if (doubts != nullptr) canvas.mark_readouts({}, {});
    return;
  }
  const Rect rest = draw_figure_head(canvas, area, input, view, figure_head(row, input, view));
  if (right_kind) return draw_empty_state(canvas, input.theme, rest, cannot_run_text(*why, input.texts));
  draw_empty_state(
      canvas, input.theme, rest,
      input.texts.text(row.subject == Subject::training ? "figure.training_only" : "figure.serving_only"));
}

std::string figure_data(const FigureRow& row, const FigureInput& input, const FigureView& view) {
  if (!shows(row, input.scenario) || cannot_show(row, input.report) != nullptr) return {};
  const engine::Provenance* doubts = doubts_of(input);
  std::string data = row.data(input, view);
  return doubts == nullptr ? data : marked_data(data, *doubts, quantity_of(row.rests, input.scenario));
}

const FigureRow* find_figure(std::string_view name) {
  for (const FigureRow& row : kFigures)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace roofscape::widgets
