#include "app/core/report_sections.h"

#include <array>

namespace roofscape::app {
namespace {

using engine::Q;

// Training
constexpr std::array kModelRows{
    Q::params_total, Q::flops_per_token, Q::tokens_per_step, Q::flops_model_per_step, Q::flops_hardware_per_step,
    Q::flops_run,    Q::tokens_per_chip, Q::microbatches};
constexpr std::array kThroughputRows{Q::mfu,
                                     Q::hfu,
                                     Q::tokens_per_s,
                                     Q::tokens_per_s_per_chip,
                                     Q::run_steps,
                                     Q::run_days,
                                     Q::run_chip_hours,
                                     Q::run_cost,
                                     Q::run_energy,
                                     Q::stated_run_days};
constexpr std::array kPipelineRows{Q::pipeline_bubble_fraction, Q::pipeline_bubble_to_work, Q::pipeline_span_bubble,
                                   Q::pipeline_bubble_ideal,    Q::pipeline_makespan,       Q::pipeline_transfer};
constexpr std::array kBoundRows{Q::ridge,           Q::bound_cluster_tokens, Q::bound_alpha,     Q::bound_fsdp_1,
                                Q::bound_fsdp_2,    Q::bound_fsdp_3,         Q::bound_tensor,    Q::bound_mixed_sum,
                                Q::bound_mixed_max, Q::bound_x_opt,          Q::bound_ratio_sum, Q::bound_ratio_max,
                                Q::bound_dcn,       Q::memory_job_bytes,     Q::memory_min_chips};

// Serving
constexpr std::array kServingRows{Q::params_total,   Q::params_active,     Q::prompt_tokens,
                                  Q::output_tokens,  Q::prompt_mean,       Q::output_mean,
                                  Q::serving_batch,  Q::decode_context,    Q::kv_sequence_bytes,
                                  Q::kv_total_bytes, Q::weights_bytes_all, Q::kv_cache_bytes_per_token};
constexpr std::array kDecodeRows{Q::time_per_output_token, Q::serving_tokens_per_s, Q::serving_tokens_per_chip,
                                 Q::decode_kv_read,        Q::decode_weight_read,   Q::decode_flops_time,
                                 Q::decode_network,        Q::accepted_per_step,    Q::serving_cost};
constexpr std::array kFirstTokenParts{Q::prefill_time, Q::ttft_interleave, Q::ttft_transfer, Q::ttft_host};
constexpr std::array kSteadyRows{Q::mixed_token_time_q, Q::sustained_tokens,    Q::sustained_tokens_per_chip,
                                 Q::sustained_cost,     Q::steady_batch,        Q::requests_per_s,
                                 Q::capacity_requests,  Q::steady_load,         Q::request_time,
                                 Q::decode_requests,    Q::prefill_requests,    Q::prefill_chip_ratio,
                                 Q::prefill_load,       Q::in_flight_token_time};
constexpr std::array kCapacityRows{Q::max_batch,  Q::kv_ways,    Q::kv_copies,
                                   Q::slice_bf16, Q::slice_int8, Q::slice_int4};
constexpr std::array kServingLimitRows{Q::critical_batch,       Q::critical_sequences,  Q::kv_plateau,
                                       Q::tensor_limit_compute, Q::tensor_limit_memory, Q::prefill_at_mfu};

}  // namespace

std::vector<ReportSection> report_sections(const engine::Scenario& scenario) {
  using enum ReportSection::Below;
  if (scenario.serves())
    return {{"report.section.serving", kServingRows},
            {"report.section.decode_step", engine::kDecodeParts, Q::decode_step},
            {"report.section.throughput", kDecodeRows},
            {"report.section.prefill", engine::kPrefillParts, Q::prefill_time},
            {"report.section.ttft", kFirstTokenParts, Q::ttft},
            {"report.section.steady", kSteadyRows},
            {"report.section.memory", engine::kServingMemoryParts, Q::memory_total},
            {"report.section.capacity", kCapacityRows, {}, placement},
            {"report.section.serving_limits", kServingLimitRows}};
  std::vector<ReportSection> sections{
      {"report.section.model", kModelRows},
      {"report.section.step", engine::kStepParts, Q::step_time},
      {scenario.parallelism.pipeline > 1 ? "report.section.memory.stages" : "report.section.memory",
       engine::kMemoryParts, Q::memory_total, placement},
      {"report.section.throughput", kThroughputRows, {}, run_counts}};
  if (scenario.parallelism.pipeline > 1) sections.push_back({"report.section.pipeline", kPipelineRows});
  sections.push_back({"report.section.bounds", kBoundRows});
  return sections;
}

}  // namespace roofscape::app
