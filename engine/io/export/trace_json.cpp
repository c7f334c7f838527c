#include "engine/io/export/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/hardware/wires.h"
#include "engine/io/json/json_text.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/scenario/scenario_fields.h"
#include "engine/scenario/scenario_title.h"
#include "engine/training/stage_time.h"

namespace roofscape::io {
namespace {

using engine::Op;
using engine::OpKind;
using engine::PipelineReport;
using engine::Q;
using engine::Tick;

constexpr int kCompute = 1, kOverlapped = 2, kFirstLink = 3;

Tick ticks(double seconds) {
  const double t = seconds / engine::kTickSeconds;
  return t > 0 && t < 4e18 ? static_cast<Tick>(std::llround(t)) : 0;
}

std::string_view word(OpKind kind) {
  constexpr std::array<std::string_view, 4> kWords{"forward", "backward", "backward_input", "backward_weight"};
  return kWords[static_cast<std::size_t>(kind)];
}
std::string_view title(OpKind kind) {
  constexpr std::array<std::string_view, 4> kTitles{"forward", "backward", "input gradient", "weight gradient"};
  return kTitles[static_cast<std::size_t>(kind)];
}

std::string_view mode_word(const engine::Scenario& s) {
  const engine::Field& mode = *engine::find_field("assumptions.mode");
  return mode.choices[static_cast<std::size_t>(mode.get(s))];
}

// Events one a line. Names and arguments are our own words and numbers, so nothing in them needs escaping.
class Writer {
 public:
  explicit Writer(const engine::Scenario& s) {
    const auto text = [](const std::string& t) {
      return Json(t).dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    text_ = fmt::format(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"program\":\"Roofscape\",\"mode\":\"{}\",\"scenario\":{},"
        "\"model\":{},"
        "\"chip\":{}}},\n\"traceEvents\":[",
        mode_word(s), text(engine::scenario_title(s)), text(engine::model_title(s.model)),
        text(engine::chip_title(s.cluster.chip)));
  }
  void name(std::string_view what, int pid, int tid, std::string_view name) {
    event("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", what, pid, tid,
          name);
  }
  void order(std::string_view what, int pid, int tid, int index) {
    event("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", what, pid, tid,
          index);
  }
  void thread(int pid, int tid, std::string_view called) {
    name("thread_name", pid, tid, called);
    order("thread_sort_index", pid, tid, tid);
  }
  void process(int pid, std::string_view called) {
    name("process_name", pid, 0, called);
    order("process_sort_index", pid, 0, pid);
  }
  // `args` is the inside of an object.
  void slice(int pid, int tid, std::string_view called, std::string_view category, Tick start, Tick duration,
             std::string_view args) {
    event(
        "{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
        called, category, pid, tid, micro(start), micro(duration), args);
  }
  void counter(int pid, std::string_view called, Tick at, double bytes) {
    event("{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{{\"bytes\":{:.0f}}}}}", called,
          pid, micro(at), std::max(0.0, bytes));
  }
  std::string finish() && { return std::move(text_) + "\n]}\n"; }

 private:
  static std::string micro(Tick t) { return fmt::format("{}.{:06}", t / 1'000'000, t % 1'000'000); }
  template <class... T>
  void event(fmt::format_string<T...> pattern, T&&... values) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), pattern, std::forward<T>(values)...);
  }
  std::string text_;
  bool first_ = true;
};

std::string_view counter_name(const engine::Scenario& s) {
  return s.offload.activations ? "activations, on the host" : "activations";
}

// ---- with a pipeline ----

// The threads of a device's transfers: one, and as many more as cross each other.
class Links {
 public:
  int thread_for(Tick start, Tick end) {
    std::size_t lane = 0;
    while (lane < free_.size() && free_[lane] > start) ++lane;
    if (lane == free_.size()) free_.push_back(0);
    free_[lane] = end;
    return kFirstLink + static_cast<int>(lane);
  }
  std::size_t count() const { return free_.size(); }

 private:
  std::vector<Tick> free_;
};

// What a step ends with, one after the other: reductions that wait for the last gradient, the update, what of the
// transfers to the host nothing hides, the host's own work. They close the step: the last ends when the step does.
struct StepEnd {
  std::string_view title;
  bool on_links = false;
  double seconds = 0;
};
std::array<StepEnd, 4> step_end(const engine::Report& report) {
  const auto part = [&report](Q q) { return report.quantities.value_or(q, 0); };
  return {{{"gradient reduction", true, report.pipeline.reduction_s},
           {"optimizer", false, part(Q::step_optimizer)},
           {"offload, exposed", true, part(Q::step_offload)},
           {"host and stragglers", false, part(Q::step_host)}}};
}

// The virtual stage that waits for the result of an operation, or -1.
std::int64_t consumer(const engine::Orders& orders, Op op) {
  const std::int64_t stage = op.stage(), route = orders.route_length, place = stage % route;
  if (op.kind() == OpKind::forward) return place + 1 < route ? stage + 1 : -1;
  if (op.kind() == OpKind::backward_weight) return -1;
  return place > 0 ? stage - 1 : -1;
}

void write_operations(Writer& out, const PipelineReport& p, int device, double transfer_bytes, Links& links) {
  const auto d = static_cast<std::size_t>(device);
  for (std::uint32_t i = p.orders.first[d]; i < p.orders.first[d + 1]; ++i) {
    const Op op = p.orders.ops[i];
    const Tick start = p.timeline.start[i], duration = engine::op_duration(p.orders, p.times, i);
    const int thread = engine::joined_with_previous(p.orders, i) ? kOverlapped : kCompute;
    const std::string number = fmt::format("\"microbatch\":{},\"stage\":{}", op.microbatch() + 1, op.stage());
    out.slice(device, thread, fmt::format("{} {}", title(op.kind()), op.microbatch() + 1), word(op.kind()), start,
              duration, number);
    const std::int64_t to = consumer(p.orders, op);
    if (to < 0 || p.times.transfer <= 0) continue;
    const int target = p.orders.device_of[static_cast<std::size_t>(to)];
    if (target == device) continue;
    const Tick sent = start + duration;
    const int link = links.thread_for(sent, sent + p.times.transfer);
    const bool forward = op.kind() == OpKind::forward;
    out.slice(device, link, fmt::format("send {} {}", forward ? "activations" : "gradient", op.microbatch() + 1),
              "transfer", sent, p.times.transfer,
              fmt::format("{},\"to\":{},\"bytes\":{:.0f}", number, target, transfer_bytes));
  }
}

// What a microbatch keeps of a chunk: the report's bytes at the most that is held, or where the checkpoints are on
// the host, all of them there.
double chunk_bytes(const engine::Scenario& s, const engine::Report& report, int device,
                   const std::vector<engine::MemoryPoint>& held) {
  const engine::StageRow& row = report.stages[static_cast<std::size_t>(device)];
  if (s.offload.activations) {
    const auto& of = report.pipeline.orders.device_of;
    const auto chunks =
        std::count_if(of.begin(), of.end(), [device](auto d) { return static_cast<int>(d) == device; });
    return report.quantities.value_or(Q::layer_checkpoint_bytes, 0) * row.layers /
           static_cast<double>(std::max<std::ptrdiff_t>(1, chunks));
  }
  double most = 0;
  for (const engine::MemoryPoint& point : held) most = std::max(most, point.amount);
  const auto part = std::find(engine::kMemoryParts.begin(), engine::kMemoryParts.end(), Q::memory_activations);
  const double bytes = row.memory_bytes[static_cast<std::size_t>(part - engine::kMemoryParts.begin())];
  return most > 0 ? bytes / most : 0;
}

Result<std::string> pipeline_trace(const engine::Scenario& s, const engine::Report& report) {
  const PipelineReport& p = report.pipeline;
  if (!p.drawn() || p.orders.ops.size() > kMostTraceEvents)
    return InputError{{},
                      "pipeline.schedule",
                      fmt::format("the step has more operations than a trace holds ({})", kMostTraceEvents),
                      "write fewer microbatches: workload.global_batch_sequences"};
  Writer out(s);
  double bytes = 0;
  for (const engine::CollectiveRow& row : report.collectives)
    if (row.axis == engine::Axis::pipeline && !row.end_of_step) bytes = row.bytes;
  // A device's chunks count alike, as in the report, which says how many bytes they come to.
  // What a weight gradient that is put off needs beyond the checkpoint is there once its input gradient is.
  const double kept = report.quantities.value_or(Q::layer_checkpoint_bytes, 0),
               needed = report.quantities.value_or(Q::layer_postponed_bytes, 0);
  const double more = s.offload.activations || !(needed > kept) ? 0 : needed / kept - 1;
  engine::ActivationSizes sizes;
  sizes.freed_after_weight.assign(p.orders.device_of.size(), 1 + more);
  sizes.freed_after_input.assign(p.orders.device_of.size(), -more);

  const std::array<StepEnd, 4> ends = step_end(report);
  std::vector<engine::MemoryPoint> memory;
  for (int device = 0; device < static_cast<int>(p.orders.devices()); ++device) {
    out.process(device, fmt::format("device {}", device));
    out.thread(device, kCompute, "compute");
    if (engine::overlaps_forward_backward(p.shape.kind)) out.thread(device, kOverlapped, "compute, overlapped");
    Links links;
    write_operations(out, p, device, bytes, links);
    Tick now = p.timeline.makespan;
    for (const StepEnd& end : ends) {
      const Tick duration = ticks(end.seconds);
      if (duration <= 0) continue;
      const int thread = end.on_links ? links.thread_for(now, now + duration) : kCompute;
      out.slice(device, thread, end.title, "step_end", now, duration, "");
      now += duration;
    }
    for (std::size_t lane = 0; lane < links.count(); ++lane)
      out.thread(device, kFirstLink + static_cast<int>(lane),
                 lane == 0 ? "communication" : fmt::format("communication {}", lane + 1));
    engine::memory_trace(p.orders, p.times, p.timeline, sizes, static_cast<std::uint32_t>(device), memory);
    const double chunk = chunk_bytes(s, report, device, memory);
    if (!(chunk > 0)) continue;
    for (const engine::MemoryPoint& point : memory)
      out.counter(device, counter_name(s), point.time, point.amount * chunk);
  }
  return std::move(out).finish();
}

// ---- without one ----

// One chip, which does what every chip does.
class ChipTrace {
 public:
  ChipTrace(const engine::Scenario& s, const engine::Report& report)
      : s_(s),
        report_(report),
        out_(s),
        layers_(std::max(1, s.model.n_layers)),
        microbatches_(static_cast<std::int64_t>(report.quantities.value_or(Q::microbatches, 1))) {
    checkpoint_ = report.quantities.value_or(Q::layer_checkpoint_bytes, 0);
    for (const engine::CollectiveRow& row : report.collectives)
      communicates_[static_cast<std::size_t>(row.axis)] |= row.time_s > 0 && row.calls_per_step > 0;
  }

  Result<std::string> write() && {
    if (static_cast<double>(microbatches_) > static_cast<double>(kMostTraceEvents) / 2)
      return InputError{{},
                        {},
                        fmt::format("the step has more operations than a trace holds ({})", kMostTraceEvents),
                        "write fewer microbatches: workload.global_batch_sequences"};
    whole_ = static_cast<double>(microbatches_) * 2 * layers_ > static_cast<double>(kMostTraceEvents) / 8;
    out_.process(0, fmt::format("each of {:.0f} chips", report_.quantities.value_or(Q::chips_used, 1)));
    out_.thread(0, kCompute, "compute");
    for (std::size_t axis = 0; axis < communicates_.size(); ++axis)
      if (communicates_[axis])
        out_.thread(0, kFirstLink + static_cast<int>(axis), fmt::format("communication, {}", engine::kAxisIds[axis]));
    for (std::int64_t m = 1; m <= microbatches_; ++m) {
      pass(m, false);
      pass(m, true);
    }
    for (const StepEnd& end : step_end(report_)) {
      const Tick duration = ticks(end.seconds);
      if (duration <= 0) continue;
      out_.slice(0, kCompute, end.title, "step_end", now_, duration, "");
      now_ += duration;
    }
    return std::move(out_).finish();
  }

 private:
  void pass(std::int64_t m, bool backward) {
    const engine::StageRow& stage = report_.stages[0];
    const std::string_view what = backward ? "backward" : "forward";
    const Tick all = ticks(backward ? stage.backward_s : stage.forward_s);
    if (whole_) {
      out_.slice(0, kCompute, fmt::format("{} {}", what, m), what, now_, all,
                 fmt::format("\"microbatch\":{},\"layers\":{}", m, layers_));
      now_ += all;
      memory(backward ? 0 : layers_);
      return;
    }
    const Tick layer =
        std::min(ticks(report_.quantities.value_or(backward ? Q::layer_time_backward : Q::layer_time_forward, 0)),
                 all / layers_);
    const Tick rest = all - layer * layers_;
    if (backward) vocabulary(m, what, rest);
    for (int i = 0; i < layers_; ++i) {
      const int which = backward ? layers_ - 1 - i : i;
      out_.slice(0, kCompute, fmt::format("{} layer {}", what, which), what, now_, layer,
                 fmt::format("\"microbatch\":{},\"layer\":{}", m, which));
      communicate(m, which, backward, layer);
      now_ += layer;
      memory(backward ? which : which + 1);
    }
    if (!backward) vocabulary(m, what, rest);
  }

  void vocabulary(std::int64_t m, std::string_view what, Tick duration) {
    if (duration <= 0) return;
    out_.slice(0, kCompute, fmt::format("{} embedding and logits", what), what, now_, duration,
               fmt::format("\"microbatch\":{}", m));
    now_ += duration;
  }

  // The collectives of a layer, from its start on; axes that share links wait for each other.
  void communicate(std::int64_t m, int layer, bool backward, Tick duration) {
    engine::AxisArray<Tick> used{};
    for (const engine::CollectiveRow& row : report_.collectives) {
      if (row.end_of_step || row.backward != backward) continue;
      const auto axis = static_cast<std::size_t>(row.axis);
      const double calls = row.calls_per_step / (static_cast<double>(layers_) * static_cast<double>(microbatches_));
      Tick from = 0;  // after what shares links with it
      for (std::size_t other = 0; other < used.size(); ++other)
        if ((waits_[axis] >> other & 1u) != 0) from = std::max(from, used[other]);
      const Tick length = std::min(ticks(row.time_s * calls), duration - from);
      if (length <= 0) continue;
      out_.slice(0, kFirstLink + static_cast<int>(axis), engine::kCollectiveIds[static_cast<std::size_t>(row.kind)],
                 "collective", now_ + from, length,
                 fmt::format("\"microbatch\":{},\"layer\":{},\"axis\":\"{}\",\"bytes\":{:.0f}", m, layer,
                             engine::kAxisIds[axis], row.bytes * calls));
      used[axis] = from + length;
    }
  }

  void memory(int held) {
    if (checkpoint_ > 0) out_.counter(0, counter_name(s_), now_, checkpoint_ * held);
  }

  const engine::Scenario& s_;
  const engine::Report& report_;
  engine::AxisArray<std::uint8_t> waits_ = engine::sharers(s_);
  Writer out_;
  int layers_;
  std::int64_t microbatches_;
  double checkpoint_ = 0;
  bool whole_ = false;  // a slice a pass: layers would be too many
  Tick now_ = 0;
  engine::AxisArray<bool> communicates_{};
};

}  // namespace

Result<std::string> trace_json(const engine::Scenario& scenario, const engine::Report& report) {
  if (scenario.serves())
    return InputError{{},
                      "workload.kind",
                      "the scenario serves, and a trace is of a training step",
                      "give a scenario whose workload.kind is training"};
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.severity == engine::Severity::error)
      return InputError{{},
                        std::string(d.field_path),
                        fmt::format("the plan cannot run ({}), so its step has no trace", d.code),
                        "mend it first; `roofscape-cli check` says how"};
  if (!report.quantities[Q::step_time])
    return InputError{
        {}, {}, "the step has no time, so there is nothing to write", "`roofscape-cli check` says what is missing"};
  if (report.pipeline.shape.stages > 1) return pipeline_trace(scenario, report);
  return ChipTrace(scenario, report).write();
}

}  // namespace roofscape::io
