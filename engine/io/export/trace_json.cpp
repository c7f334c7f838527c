#include "engine/io/export/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/evaluate/pass_parts.h"
#include "engine/io/export/trace_writer.h"
#include "engine/pipeline/timeline_analysis.h"
#include "engine/training/stage_time.h"

namespace roofscape::io {
namespace {

using trace::Writer;

using engine::Op;
using engine::OpKind;
using engine::PipelineReport;
using engine::Q;
using engine::Tick;

constexpr int kCompute = 1, kOverlapped = 2, kRecompute = 3, kExposed = 4;
constexpr int kFirstAxis = 5;                                // a thread for each axis with collectives
constexpr int kFirstLink = kFirstAxis + engine::kAxisCount;  // transfers between stages

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
// transfers to the host nothing hides, the host's own work, waiting for the slowest node. They close the step: the
// last ends when the step does.
struct StepEnd {
  std::string_view title, category;
  int thread = kCompute;
  double seconds = 0;
};
std::array<StepEnd, 6> step_end(const engine::Report& report, const engine::StepPasses& passes) {
  const auto part = [&report](Q q) { return report.quantities.value_or(q, 0); };
  // What layers wait for the host is in their own slices.
  const double all = std::max(part(Q::step_host) - part(Q::step_layers_host), 0.0),
               host = std::min(all, passes.host_s);
  return {{{"gradient reduction", "step_end", kExposed, report.pipeline.reduction_s},
           {"matrices of Muon, exposed", "step_end", kExposed, report.pipeline.update_exchange_s},
           {"optimizer", "step_end", kCompute, part(Q::step_optimizer)},
           {"offload, exposed", "step_end", kExposed, part(Q::step_offload)},
           {"host", "step_end", kCompute, host},
           {"waiting for the slowest node", "step_end", kCompute, all - host}}};
}
void write_step_end(Writer& out, int pid, const std::array<StepEnd, 6>& ends, Tick now) {
  double seconds = 0;
  const Tick first = now;
  for (const StepEnd& end : ends) {
    seconds += std::max(0.0, end.seconds);
    const Tick until = first + ticks(seconds);
    if (until > now) out.slice(pid, end.thread, end.title, end.category, now, until - now, "");
    now = until;
  }
}

// ---- a pass of one microbatch, on the rows of a device ----

std::string_view exposed_title(std::size_t axis) {
  constexpr engine::AxisArray<std::string_view> kTitles{"data, exposed",    "fsdp, exposed",   "tensor, exposed",
                                                        "context, exposed", "expert, exposed", "pipeline, exposed"};
  return kTitles[axis];
}

// What all passes that run as one operation send.
struct Communication {
  engine::AxisArray<double> exposed_s{}, network_s{};
  double all_exposed_s = 0;
  void add(const engine::PassParts& pass) {
    for (std::size_t a = 0; a < exposed_s.size(); ++a)
      exposed_s[a] += pass.exposed_s[a], network_s[a] += pass.network_s[a];
    all_exposed_s += pass.exposed_all_s();
  }
};

// Exposed communication at the end of what lasts from `start` to `end`, axis by axis, at most `seconds` of it, and
// never more than is left over `work`; on rows of their own the collectives of each axis, from the start on. Gives
// the time at which the work is done.
Tick write_communication(Writer& out, int pid, const Communication& sent, double seconds, Tick start, Tick end,
                         Tick work, std::string_view args) {
  const Tick exposed = std::min(ticks(seconds), std::max<Tick>(0, end - start - work));
  const Tick done = end - exposed;
  const double all = sent.all_exposed_s;
  double sum = 0;
  Tick now = done;
  for (std::size_t a = 0; a < sent.exposed_s.size(); ++a) {
    sum += sent.exposed_s[a];
    const Tick until = all > 0 ? done + std::llround(static_cast<double>(exposed) * std::min(1.0, sum / all)) : done;
    if (until > now) out.slice(pid, kExposed, exposed_title(a), "exposed", now, until - now, args);
    now = std::max(now, until);
    const Tick busy = std::min(ticks(sent.network_s[a]), end - start);
    if (busy > 0)
      out.slice(pid, kFirstAxis + static_cast<int>(a), engine::kAxisIds[a], "collective", start, busy, args);
  }
  return done;
}

void name_axes(Writer& out, int pid, const engine::AxisArray<bool>& communicates) {
  for (std::size_t a = 0; a < communicates.size(); ++a)
    if (communicates[a])
      out.thread(pid, kFirstAxis + static_cast<int>(a), fmt::format("collectives, {}", engine::kAxisIds[a]));
}
engine::AxisArray<bool> axes_of(const engine::StepPasses& passes) {
  engine::AxisArray<bool> out{};
  for (const engine::StagePasses& stage : passes.stages)
    for (std::size_t a = 0; a < out.size(); ++a)
      out[a] = out[a] || stage.forward.network_s[a] > 0 || stage.backward.network_s[a] > 0;
  return out;
}

// The virtual stage that waits for the result of an operation, or -1.
std::int64_t consumer(const engine::Orders& orders, Op op) {
  const std::int64_t stage = op.stage(), route = orders.route_length, place = stage % route;
  if (op.kind() == OpKind::forward) return place + 1 < route ? stage + 1 : -1;
  if (op.kind() == OpKind::backward_weight) return -1;
  return place > 0 ? stage - 1 : -1;
}

// Where each operation stands in the order, by what waits for it: the forward, and the backward or input gradient, of
// a virtual stage and microbatch.
class OpIndex {
 public:
  explicit OpIndex(const engine::Orders& orders)
      : microbatches_(orders.microbatches), ops_(2 * orders.device_of.size() * orders.microbatches, engine::kNoOp) {
    for (std::uint32_t i = 0; i < orders.ops.size(); ++i) {
      const Op op = orders.ops[i];
      if (op.kind() != OpKind::backward_weight)
        ops_[slot(op.stage(), op.kind() != OpKind::forward, op.microbatch())] = i;
    }
  }
  std::uint32_t of(std::uint32_t stage, bool backward, std::uint32_t microbatch) const {
    return ops_[slot(stage, backward, microbatch)];
  }

 private:
  std::size_t slot(std::uint32_t stage, bool backward, std::uint32_t microbatch) const {
    return (2 * std::size_t{stage} + (backward ? 1 : 0)) * microbatches_ + microbatch;
  }
  std::size_t microbatches_;
  std::vector<std::uint32_t> ops_;
};

int thread_of(const engine::Orders& orders, std::uint32_t op) {
  return engine::joined_with_previous(orders, op) ? kOverlapped : kCompute;
}

class DeviceTrace {
 public:
  DeviceTrace(Writer& out, const PipelineReport& p, const engine::StepPasses& passes, const OpIndex& index,
              double transfer_bytes, int device, int& arrows)
      : out_(out), p_(p), passes_(passes), index_(index), bytes_(transfer_bytes), device_(device), arrows_(arrows) {}

  void write() {
    const auto d = static_cast<std::size_t>(device_);
    for (std::uint32_t i = p_.orders.first[d]; i < p_.orders.first[d + 1]; ++i) {
      const bool pair = p_.orders.ops[i].joined_with_next();
      const std::uint32_t last = pair ? i + 1 : i;
      work(i, last);
      for (; i <= last; ++i) send(i);
      i = last;
    }
  }
  std::size_t links() const { return links_.count(); }

 private:
  const engine::PassParts* pass_of(Op op) const {
    if (op.kind() == OpKind::backward_weight) return nullptr;
    const engine::StagePasses& stage = passes_.stages[op.stage() % passes_.stages.size()];
    return op.kind() == OpKind::forward ? &stage.forward : &stage.backward;
  }
  std::string args(Op op) const {
    return fmt::format("\"microbatch\":{},\"stage\":{}", op.microbatch() + 1, op.stage());
  }

  // One operation, or the two halves of a pair, which hides what it takes less than both would one after the other.
  void work(std::uint32_t first, std::uint32_t last) {
    const Tick start = p_.timeline.start[first], duration = engine::op_duration(p_.orders, p_.times, first);
    Communication sent;
    double hidden = 0;
    Tick again = 0;
    for (std::uint32_t i = first; i <= last; ++i) {
      const Op op = p_.orders.ops[i];
      if (const engine::PassParts* pass = pass_of(op)) {
        sent.add(*pass);
        hidden += pass->time_s;
        if (op.kind() != OpKind::forward)
          again = std::min(duration, op.stage() < p_.recompute.size() ? p_.recompute[op.stage()] : 0);
      }
    }
    hidden = last > first ? hidden - static_cast<double>(duration) * engine::kTickSeconds : 0;
    const Tick done = write_communication(out_, device_, sent, sent.all_exposed_s - std::max(0.0, hidden), start,
                                          start + duration, again, args(p_.orders.ops[first]));
    for (std::uint32_t i = first; i <= last; ++i) {
      const Op op = p_.orders.ops[i];
      out_.slice(device_, thread_of(p_.orders, i), fmt::format("{} {}", title(op.kind()), op.microbatch() + 1),
                 word(op.kind()), start, done - start, args(op));
      if (again > 0 && op.kind() != OpKind::forward)
        out_.slice(device_, kRecompute, fmt::format("recompute {}", op.microbatch() + 1), "recompute", start, again,
                   args(op));
    }
  }

  void send(std::uint32_t i) {
    const Op op = p_.orders.ops[i];
    const std::int64_t to = consumer(p_.orders, op);
    if (to < 0) return;
    const int target = p_.orders.device_of[static_cast<std::size_t>(to)];
    const Tick hop = p_.times.hop(static_cast<std::uint32_t>(device_), static_cast<std::uint32_t>(target));
    if (hop <= 0) return;
    const Tick sent = p_.timeline.start[i] + engine::op_duration(p_.orders, p_.times, i);
    const int link = links_.thread_for(sent, sent + hop);
    const bool forward = op.kind() == OpKind::forward;
    out_.slice(device_, link, fmt::format("send {} {}", forward ? "activations" : "gradient", op.microbatch() + 1),
               "transfer", sent, hop, fmt::format("{},\"to\":{},\"bytes\":{:.0f}", args(op), target, bytes_));
    const std::uint32_t started = index_.of(static_cast<std::uint32_t>(to), !forward, op.microbatch());
    if (started == engine::kNoOp) return;
    out_.flow(++arrows_, device_, link, sent, target, thread_of(p_.orders, started), p_.timeline.start[started]);
  }

  Writer& out_;
  const PipelineReport& p_;
  const engine::StepPasses& passes_;
  const OpIndex& index_;
  double bytes_;
  int device_;
  int& arrows_;
  Links links_;
};

// What a microbatch keeps of a chunk: the report's bytes at the most that is held, or where the checkpoints are on
// the host, all of them there.
double chunk_bytes(const engine::Scenario& s, const engine::Report& report, int device,
                   const std::vector<engine::MemoryPoint>& held) {
  const engine::StageRow& row = report.stages[static_cast<std::size_t>(device)];
  if (s.offload.activations) {
    const auto& of = report.pipeline.orders.device_of;
    const auto chunks =
        std::count_if(of.begin(), of.end(), [device](auto d) { return static_cast<int>(d) == device; });
    return row.kept_bytes / static_cast<double>(std::max<std::ptrdiff_t>(1, chunks));
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
                      engine::say("error.trace.long", kMostTraceEvents),
                      engine::say("error.trace.long.remedy")};
  Writer out(s);
  double bytes = 0;
  for (const engine::CollectiveRow& row : report.collectives)
    if (row.axis == engine::Axis::pipeline && !row.end_of_step) bytes = row.bytes;
  // A device's chunks count alike, as in the report, which says how many bytes they come to.
  // What a weight gradient that is put off needs beyond the checkpoint is there once its input gradient is.
  engine::ActivationSizes sizes;
  sizes.freed_after_weight.resize(p.orders.device_of.size());
  sizes.freed_after_input.resize(p.orders.device_of.size());
  for (std::size_t v = 0; v < p.orders.device_of.size(); ++v) {
    const engine::StageRow& row = report.stages[p.orders.device_of[v]];
    const bool grows = !s.offload.activations && row.postponed_bytes > row.kept_bytes && row.kept_bytes > 0;
    const double more = grows ? row.postponed_bytes / row.kept_bytes - 1 : 0;
    sizes.freed_after_weight[v] = 1 + more;
    sizes.freed_after_input[v] = -more;
  }

  const engine::StepPasses passes = engine::step_passes(s);
  const auto ends = step_end(report, passes);
  const engine::AxisArray<bool> communicates = axes_of(passes);
  const bool recomputes = std::any_of(p.recompute.begin(), p.recompute.end(), [](Tick t) { return t > 0; });
  const OpIndex index(p.orders);
  int arrows = 0;
  std::vector<engine::MemoryPoint> memory;
  for (int device = 0; device < static_cast<int>(p.orders.devices()); ++device) {
    out.process(device, fmt::format("device {}", device));
    out.thread(device, kCompute, "compute");
    if (engine::overlaps_forward_backward(p.shape.kind)) out.thread(device, kOverlapped, "compute, overlapped");
    if (recomputes) out.thread(device, kRecompute, "recompute");
    out.thread(device, kExposed, "communication, exposed");
    name_axes(out, device, communicates);
    DeviceTrace trace(out, p, passes, index, bytes, device, arrows);
    trace.write();
    write_step_end(out, device, ends, p.timeline.makespan);
    for (std::size_t lane = 0; lane < trace.links(); ++lane)
      out.thread(device, kFirstLink + static_cast<int>(lane),
                 lane == 0 ? "sends to other stages" : fmt::format("sends to other stages {}", lane + 1));
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
  }

  Result<std::string> write() && {
    if (static_cast<double>(microbatches_) > static_cast<double>(kMostTraceEvents) / 2)
      return InputError{
          {}, {}, engine::say("error.trace.long", kMostTraceEvents), engine::say("error.trace.long.remedy")};
    whole_ = static_cast<double>(microbatches_) * 2 * layers_ > static_cast<double>(kMostTraceEvents) / 8;
    out_.process(0, fmt::format("each of {:.0f} chips", report_.quantities.value_or(Q::chips_used, 1)));
    out_.thread(0, kCompute, "compute");
    if (passes_.stages[0].backward.recompute_s > 0) out_.thread(0, kRecompute, "recompute");
    out_.thread(0, kExposed, "communication, exposed");
    name_axes(out_, 0, axes_of(passes_));
    for (std::int64_t m = 1; m <= microbatches_; ++m) {
      pass(m, false);
      pass(m, true);
    }
    write_step_end(out_, 0, step_end(report_, passes_), now_);
    return std::move(out_).finish();
  }

 private:
  void pass(std::int64_t m, bool backward) {
    const engine::StagePasses& stage = passes_.stages[0];
    const engine::PassParts& whole = backward ? stage.backward : stage.forward;
    const engine::PassParts& one = backward ? passes_.layer.backward : passes_.layer.forward;
    const std::string_view what = backward ? "backward" : "forward";
    const Tick all = ticks(whole.time_s);
    if (whole_) {
      part(fmt::format("{} {}", what, m), what, whole, all,
           fmt::format("\"microbatch\":{},\"layers\":{}", m, layers_));
      memory(backward ? 0 : layers_);
      return;
    }
    const Tick layer = std::min(ticks(one.time_s), all / layers_);
    const Tick rest = all - layer * layers_;
    if (backward) vocabulary(m, what, rest, whole, one);
    for (int i = 0; i < layers_; ++i) {
      const int which = backward ? layers_ - 1 - i : i;
      part(fmt::format("{} layer {}", what, which), what, one, layer,
           fmt::format("\"microbatch\":{},\"layer\":{}", m, which));
      memory(backward ? which : which + 1);
    }
    if (!backward) vocabulary(m, what, rest, whole, one);
  }

  // What the pass has beside its layers.
  void vocabulary(std::int64_t m, std::string_view what, Tick duration, const engine::PassParts& whole,
                  const engine::PassParts& layer) {
    if (duration <= 0) return;
    engine::PassParts rest;
    const auto less = [this](double all, double each) { return std::max(0.0, all - layers_ * each); };
    rest.recompute_s = less(whole.recompute_s, layer.recompute_s);
    for (std::size_t a = 0; a < rest.exposed_s.size(); ++a) {
      rest.exposed_s[a] = less(whole.exposed_s[a], layer.exposed_s[a]);
      rest.network_s[a] = less(whole.network_s[a], layer.network_s[a]);
    }
    part(fmt::format("{} embedding and logits", what), what, rest, duration, fmt::format("\"microbatch\":{}", m));
  }

  void part(const std::string& called, std::string_view what, const engine::PassParts& pass, Tick duration,
            const std::string& args) {
    Communication sent;
    sent.add(pass);
    const Tick again = std::min(ticks(pass.recompute_s), duration);
    const Tick done = write_communication(out_, 0, sent, sent.all_exposed_s, now_, now_ + duration, again, args);
    out_.slice(0, kCompute, called, what, now_, done - now_, args);
    if (again > 0) out_.slice(0, kRecompute, "recompute", "recompute", now_, again, args);
    now_ += duration;
  }

  void memory(int held) {
    if (checkpoint_ > 0) out_.counter(0, counter_name(s_), now_, checkpoint_ * held);
  }

  const engine::Scenario& s_;
  const engine::Report& report_;
  engine::StepPasses passes_ = engine::step_passes(s_);
  Writer out_;
  int layers_;
  std::int64_t microbatches_;
  double checkpoint_ = 0;
  bool whole_ = false;  // a slice a pass: layers would be too many
  Tick now_ = 0;
};

}  // namespace

Result<std::string> trace_json(const engine::Scenario& scenario, const engine::Report& report) {
  if (scenario.serves())
    return InputError{
        {}, "workload.kind", engine::say("error.trace.serves"), engine::say("error.order.no_order.serves")};
  for (const engine::Diagnostic& d : report.diagnostics)
    if (d.severity == engine::Severity::error)
      return InputError{{},
                        std::string(d.field_path),
                        engine::say("error.trace.cannot_run", d.code),
                        engine::say("error.trace.cannot_run.remedy")};
  if (!report.quantities[Q::step_time])
    return InputError{{}, {}, engine::say("error.trace.no_time"), engine::say("error.missing_figures.remedy")};
  if (report.pipeline.shape.stages > 1) return pipeline_trace(scenario, report);
  return ChipTrace(scenario, report).write();
}

}  // namespace roofscape::io
