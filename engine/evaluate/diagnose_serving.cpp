#include "engine/evaluate/diagnose_serving.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/evaluate/nearest_degree.h"
#include "engine/evaluate/service_level.h"
#include "engine/report/findings.h"
#include "engine/scenario/mesh_size.h"
#include "engine/serving/serving_capacity.h"
#include "engine/serving/serving_inputs.h"

namespace roofscape::engine {

namespace {

constexpr double kMuchExposed = 0.1;   // of the step
constexpr double kMuchPrefill = 1.25;  // time per token with prefills over that without
constexpr double kIdlePrefill = 0.6;   // load of prefill chips below which some are too many
constexpr double kBarely = 0.05;       // of the capacity

// The largest batch of at most `wanted` that keeps what is promised, as an edit; none where no other keeps it.
Fix batch_fix(const Findings& f, double wanted) {
  static const Field& field = *find_field("workload.batch");  // looked up once: this is asked for every scenario
  const Scenario& s = f.scenario();
  const int most = static_cast<int>(std::clamp(wanted, 0.0, field.maximum));
  const int batch = largest_batch_within(s, s.workload.slo, most);
  return batch > 0 && batch != s.workload.batch ? Fix{{&field, double(batch)}} : Fix{};
}

Fix larger_batch(const Findings& f, double wanted) {
  const Fix fix = batch_fix(f, wanted);
  return !fix.empty() && fix[0].value > f.scenario().workload.batch ? fix : Fix{};
}

// A larger batch that serves all that arrives. Where prefill alone takes longer than requests are apart, none does.
Fix batch_that_keeps_up(const Findings& f) {
  const Fix fix = larger_batch(f, f.quantity(Q::max_batch));
  return !fix.empty() && steady_load_of(f.scenario(), static_cast<int>(fix[0].value)) < 1 ? fix : Fix{};
}

// Time per token of what is in flight, without the prefills of others.
double alone(const Findings& f) {
  return f.knows(Q::in_flight_token_time) ? f.quantity(Q::in_flight_token_time)
                                          : f.quantity(Q::time_per_output_token);
}

void check_requests(Findings& f) {
  const Scenario& s = f.scenario();
  const auto replicas = static_cast<double>(data_ranks(s.parallelism)),
             least = static_cast<double>(least_decoding_batch(s.parallelism));
  if (s.workload.batch < replicas)
    f.add(Severity::error, "serving.too_few_sequences",
          {{double(s.workload.batch), unit::sequences}, {replicas, unit::ways}}, "workload.batch",
          {Findings::edit("workload.batch", least)});
  else if (s.workload.batch < least)  // it runs; stages without a sequence wait
    f.add(Severity::warning, "serving.idle_stages",
          {{double(s.workload.batch), unit::sequences}, {least, unit::count}}, "workload.batch",
          {Findings::edit("workload.batch", least)});
  const double length = f.quantity(Q::sequence_tokens);
  if (s.model.max_context_tokens > 0 && length > s.model.max_context_tokens)
    f.add(Severity::note, "serving.beyond_context",
          {{length, unit::tokens}, {double(s.model.max_context_tokens), unit::tokens}}, "workload.prompt_tokens");
  if (f.knows(Q::steady_load) && f.quantity(Q::steady_load) >= 1)
    f.add(Severity::warning, "serving.overloaded",
          {{s.workload.arrivals_per_s, unit::requests_per_s},
           {f.quantity(Q::steady_load), unit::fraction},
           {f.quantity(Q::capacity_requests), unit::requests_per_s}},
          "workload.arrivals_per_s", batch_that_keeps_up(f));
}

// A prefill mesh of its own has to suit the model as the decoding mesh has.
void check_prefill_mesh(Findings& f) {
  const Scenario& s = f.scenario();
  if (!s.serving.disaggregated) return;
  const PrefillPlan& p = s.serving.prefill;
  if (s.model.n_heads % p.tensor != 0) {
    const int nearest =
        nearest_degree(p.tensor, s.model.n_heads, [&s](int degree) { return s.model.n_heads % degree == 0; });
    f.add(Severity::error, "serving.prefill_heads",
          {{double(s.model.n_heads), unit::count}, {double(p.tensor), unit::ways}}, "serving.prefill.tensor",
          {Findings::edit("serving.prefill.tensor", nearest)});
  }
  const double ranks = double(p.data) * p.context;
  if (p.expert > 1 &&
      (!s.model.is_moe() || std::fmod(ranks, p.expert) != 0 || s.model.moe.n_routed_experts % p.expert != 0))
    f.add(Severity::error, "serving.prefill_experts", {{double(p.expert), unit::ways}, {ranks, unit::ways}},
          "serving.prefill.expert", {Findings::edit("serving.prefill.expert", 1)});
}

void check_mesh(Findings& f) {
  const Scenario& s = f.scenario();
  const Parallelism& plan = s.parallelism;
  if (plan.fsdp > 1 && plan.zero_stage == 3 && f.knows(Q::decode_exposed))
    f.add(Severity::warning, "serving.fsdp",
          {{double(plan.fsdp), unit::ways}, {f.quantity(Q::decode_exposed), unit::seconds}}, "parallelism.fsdp",
          {Findings::edit("parallelism.fsdp", 1),
           Findings::edit("parallelism.data", static_cast<double>(data_ranks(plan)))});
  const double copies = f.quantity(Q::kv_copies), heads = s.model.is_mla() ? 1 : s.model.n_kv_heads;
  if (copies > 1.0001) {
    // With sequences enough for all ranks they take others; else the tokens of a sequence can be split.
    const bool enough = f.quantity(Q::pass_sequences) >= f.quantity(Q::kv_spare_ways);
    const KvSplit better = enough ? KvSplit::batch : KvSplit::sequence;
    f.add(Severity::warning, "serving.kv_replicated",
          {{double(plan.tensor), unit::ways}, {heads, unit::count}, {copies, unit::one}}, "serving.kv_split",
          {Findings::edit("serving.kv_split", static_cast<double>(better))});
  }
  const double exposed = f.quantity(Q::decode_exposed), step = f.quantity(Q::decode_step);
  if (plan.tensor > 1 && exposed > kMuchExposed * step && plan.fsdp == 1) {
    const double limit = f.quantity(Q::tensor_limit_memory);
    const double better =
        std::min<double>(plan.tensor / 2, std::bit_floor(static_cast<unsigned>(std::clamp(limit, 1.0, 1024.0))));
    // Replicas make up for the degree.
    const double tensor = std::max(1.0, better), copies_more = plan.tensor / tensor;
    Fix fix;
    if (std::fmod(plan.tensor, tensor) == 0)
      fix = {Findings::edit("parallelism.tensor", tensor),
             Findings::edit("parallelism.data", plan.data * copies_more)};
    f.add(Severity::warning, "serving.exposed",
          {{exposed, unit::seconds}, {step, unit::seconds}, {limit, unit::ways_real}}, "parallelism.tensor", fix);
  }
}

void check_serving_memory(Findings& f) {
  const Scenario& s = f.scenario();
  if (!f.knows(Q::memory_free)) return;
  const double free = f.quantity(Q::memory_free), capacity = f.quantity(Q::hbm_capacity),
               most = f.quantity(Q::max_batch);
  if (free >= 0) {
    if (free < kBarely * capacity)
      f.add(Severity::note, "serving.fits_barely", {{free, unit::bytes}, {most, unit::sequences}}, "workload.batch");
    return;
  }
  if (most >= static_cast<double>(least_decoding_batch(s.parallelism))) {
    f.add(Severity::warning, "serving.batch_does_not_fit",
          {{double(s.workload.batch), unit::sequences}, {-free, unit::bytes}, {most, unit::sequences}},
          "workload.batch", batch_fix(f, most));
    return;
  }
  const double weights = f.quantity(Q::memory_weights);
  if (weights > capacity) {
    const double slice = obtainable_chips(s.cluster, f.quantity(Q::weights_bytes_all) / capacity);
    f.add(Severity::warning, "serving.weights_do_not_fit",
          {{weights, unit::bytes}, {capacity, unit::bytes}, {slice, unit::chips}}, "parallelism.tensor");
  } else {
    f.add(Severity::warning, "serving.no_room", {{weights, unit::bytes}, {capacity, unit::bytes}},
          "parallelism.tensor");
  }
}

// Below the critical batch linear layers wait for their weights: more sequences cost only the reading of their
// caches.
void check_serving_batch(Findings& f) {
  if (!f.knows(Q::decode_weight_read) || !f.knows(Q::critical_sequences) || f.quantity(Q::memory_free) < 0) return;
  if (f.knows(Q::in_flight_token_time)) return;  // there are no more sequences to have
  const double batch = f.quantity(Q::steady_batch), critical = f.quantity(Q::critical_sequences),
               first = std::ceil(critical), most = f.quantity(Q::max_batch);
  if (batch < critical) {
    if (first <= most)
      f.add(Severity::note, "serving.memory_bound", {{batch, unit::sequences}, {critical, unit::sequences}},
            "workload.batch", larger_batch(f, first));
    else if (batch < most)
      f.add(Severity::note, "serving.memory_bound_always",
            {{batch, unit::sequences}, {critical, unit::sequences}, {most, unit::sequences}}, "workload.batch",
            larger_batch(f, most));
  } else if (f.scenario().serving.draft_tokens > 0) {
    f.add(Severity::note, "serving.drafts_cost",
          {{f.quantity(Q::pass_tokens), unit::tokens}, {f.quantity(Q::critical_batch), unit::tokens}},
          "serving.draft_tokens", {Findings::edit("serving.draft_tokens", 0)});
  }
}

void check_phases(Findings& f) {
  const Scenario& s = f.scenario();
  const double ratio = f.quantity(Q::prefill_chip_ratio);
  if (!s.serving.disaggregated) {
    const double decoding = alone(f), mixed = f.quantity(Q::mixed_token_time_q);
    if (decoding > 0 && mixed > kMuchPrefill * decoding)
      f.add(Severity::note, "serving.prefill_interferes",
            {{decoding, unit::seconds}, {mixed, unit::seconds}, {ratio, unit::one}}, "serving.disaggregated");
    return;
  }
  const double decode = f.quantity(Q::decode_requests), prefill = f.quantity(Q::prefill_requests);
  if (!(decode > 0 && prefill > 0)) return;
  const double replicas = s.serving.prefill.data, needed = std::ceil(replicas * decode / prefill);
  const std::string_view field = "serving.prefill.data";
  const auto fix = [&]() -> Fix {
    const Field* data = find_field(field);
    if (needed > data->maximum || s.serving.prefill.expert > 1) return {};
    return {{data, needed}};
  };
  const DiagnosticValues values{
      {decode, unit::requests_per_s}, {prefill, unit::requests_per_s}, {needed, unit::ways}, {ratio, unit::one}};
  if (decode > prefill)
    f.add(Severity::warning, "serving.too_little_prefill", values, field, fix());
  else if (decode < kIdlePrefill * prefill && needed < replicas)
    f.add(Severity::note, "serving.too_much_prefill", values, field, fix());
}

// The batch that keeps the limits and fits: all of them, or where no batch does only those in `at_least`.
int batch_for(const Findings& f, const ServiceLevel& at_least) {
  const Scenario& s = f.scenario();
  const int most = static_cast<int>(std::min<double>(s.workload.batch, f.quantity(Q::max_batch)));
  const int both = largest_batch_within(s, s.workload.slo, most);
  return both > 0 ? both : largest_batch_within(s, at_least, most);
}

void check_token_limit(Findings& f) {
  const Scenario& s = f.scenario();
  const double limit = s.workload.slo.time_per_output_token_s, time = f.quantity(Q::mixed_token_time_q),
               decoding = alone(f);
  if (!(limit > 0 && time > limit)) return;
  constexpr std::string_view kField = "workload.slo.time_per_output_token_s";
  const int batch = batch_for(f, {.ttft_s = 0, .time_per_output_token_s = limit});
  DiagnosticValues values{{time, unit::seconds}, {limit, unit::seconds}};
  Fix fix;
  if (batch > 0) {
    values.push_back({double(batch), unit::sequences});
    fix = {Findings::edit("workload.batch", batch)};
  }
  // Decoding alone would keep it: the prefills of new requests on the same chips do not.
  if (decoding <= limit) {
    values = {{decoding, unit::seconds}, {limit, unit::seconds}, {time, unit::seconds}};
    if (batch > 0) values.push_back({double(batch), unit::sequences});
    f.add(Severity::warning, batch > 0 ? "serving.slo_token_mixed" : "serving.slo_token_mixed_never", values, kField,
          fix);
    return;
  }
  f.add(Severity::warning, batch > 0 ? "serving.slo_token" : "serving.slo_token_never", values, kField, fix);
}

void check_first_token_limit(Findings& f) {
  const Scenario& s = f.scenario();
  const double limit = s.workload.slo.ttft_s, time = f.quantity(Q::ttft);
  if (!(limit > 0 && time > limit)) return;
  const DiagnosticValues values{
      {time, unit::seconds}, {limit, unit::seconds}, {f.quantity(Q::prefill_time), unit::seconds}};
  // Only what waits between chunks depends on the batch.
  const int batch =
      f.quantity(Q::ttft_interleave) > 0 ? batch_for(f, {.ttft_s = limit, .time_per_output_token_s = 0}) : 0;
  if (batch > 0) {
    f.add(Severity::warning, "serving.slo_ttft",
          {{time, unit::seconds}, {limit, unit::seconds}, {double(batch), unit::sequences}}, "workload.slo.ttft_s",
          {Findings::edit("workload.batch", batch)});
    return;
  }
  const bool in_one_piece = s.serving.prefill_chunk_tokens > 0 && f.quantity(Q::prefill_time) <= limit;
  if (in_one_piece)
    f.add(Severity::warning, "serving.slo_ttft_chunks", values, "workload.slo.ttft_s",
          {Findings::edit("serving.prefill_chunk_tokens", 0)});
  else
    f.add(Severity::warning, "serving.slo_ttft_never", values, "workload.slo.ttft_s");
}

// Calibrated on training alone: the host's part of a decoding step is not known and is left out.
void check_calibration(Findings& f) {
  if (decodes_unfitted(f.scenario())) f.add(Severity::note, "serving.not_fitted", {}, "assumptions.mode");
}

}  // namespace

void diagnose_serving(const Scenario& s, Report& report) {
  Findings f(s, report);
  check_requests(f);
  check_prefill_mesh(f);
  check_mesh(f);
  check_serving_memory(f);
  check_serving_batch(f);
  check_phases(f);
  check_token_limit(f);
  check_first_token_limit(f);
  check_calibration(f);
}

}  // namespace roofscape::engine
