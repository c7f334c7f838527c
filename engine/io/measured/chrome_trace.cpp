// A trace is read in one pass and never held as JSON: of each event a few members are kept until it ends, then its
// kernel, launch or mark.
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "engine/io/measured/kernel_names.h"
#include "engine/io/measured/kernel_trace.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr std::size_t kMostDepth = 64;
constexpr double kMostRankNumber = 1 << 20;

struct TraceEvent {
  std::string phase, category, name, collective, group, ranks;
  double start_us = 0, duration_us = 0;
  std::int64_t correlation = -1, device_type = -1;
  double allocated = -1, reserved = -1;
  bool timed = false;

  void clear() {
    for (std::string* text : {&phase, &category, &name, &collective, &group, &ranks}) text->clear();
    start_us = duration_us = 0;
    correlation = device_type = -1;
    allocated = reserved = -1;
    timed = false;
  }
};

class TraceReader {
 public:
  explicit TraceReader(RankTrace& out) : out_(out) { out_.groups.emplace_back(); }

  // What the parser calls.
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return number(value); }
  bool binary(nlohmann::json::binary_t&) { return true; }
  bool string(std::string& value) {
    if (text_ != nullptr) *text_ = std::move(value);
    return true;
  }
  bool key(std::string& name) {
    text_ = nullptr;
    number_ = nullptr;
    if (depth_ == 1 && !listed_) {
      top_ = name;
    } else if (in_event_ && depth_ == event_depth_) {
      event_key(name);
    } else if (in_event_ && depth_ == event_depth_ + 1) {
      argument_key(name);
    } else if (depth_ == 2 && top_ == "distributedInfo" && name == "rank") {
      number_ = &rank_;
    }
    return true;
  }
  bool start_object(std::size_t) {
    if (++depth_ > kMostDepth) return false;
    number_ = nullptr;
    text_ = nullptr;
    if (in_events_ && depth_ == event_depth_) {
      event_.clear();
      in_event_ = true;
    }
    return true;
  }
  bool end_object() {
    if (in_event_ && depth_ == event_depth_) {
      in_event_ = false;
      if (!take()) return false;
    }
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    if (++depth_ > kMostDepth) return false;
    number_ = nullptr;
    text_ = nullptr;
    listed_ = listed_ || depth_ == 1;
    if (!in_events_ && (depth_ == 1 || (depth_ == 2 && top_ == "traceEvents"))) {
      in_events_ = found_ = true;
      event_depth_ = depth_ + 1;
    }
    return true;
  }
  bool end_array() {
    if (in_events_ && depth_ == event_depth_ - 1) in_events_ = false;
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    error_at_ = position;
    return false;
  }

  void finish() {
    if (!device_steps_.empty())
      out_.steps = std::move(device_steps_);
    else
      out_.steps = std::move(host_steps_);
    if (rank_ >= 0 && rank_ < kMostRankNumber) out_.rank = static_cast<int>(rank_);
  }
  std::optional<std::size_t> error_at() const { return error_at_; }
  bool found() const { return found_; }
  bool too_many() const { return out_.kernels.size() > kMostTracedKernels; }

 private:
  bool number(double value) {
    if (number_ != nullptr) *number_ = value;
    if (whole_ != nullptr) *whole_ = static_cast<std::int64_t>(std::clamp(value, -9e18, 9e18));
    if (number_ == &event_.start_us) event_.timed = true;
    number_ = nullptr;
    whole_ = nullptr;
    return true;
  }
  void event_key(const std::string& name) {
    whole_ = nullptr;
    if (name == "ph") text_ = &event_.phase;
    if (name == "cat") text_ = &event_.category;
    if (name == "name") text_ = &event_.name;
    if (name == "ts") number_ = &event_.start_us;
    if (name == "dur") number_ = &event_.duration_us;
  }
  void argument_key(const std::string& name) {
    whole_ = nullptr;
    if (name == "correlation") whole_ = &event_.correlation;
    if (name == "Device Type") whole_ = &event_.device_type;
    if (name == "Collective name") text_ = &event_.collective;
    if (name == "Process Group Name") text_ = &event_.group;
    if (name == "Process Group Ranks") text_ = &event_.ranks;
    if (name == "Total Allocated") number_ = &event_.allocated;
    if (name == "Total Reserved") number_ = &event_.reserved;
  }

  std::uint32_t name_of() {
    std::string id = event_.name;
    if (!event_.collective.empty()) id += '\n' + event_.collective;
    const auto [place, fresh] = name_ids_.try_emplace(std::move(id), static_cast<std::uint32_t>(out_.names.size()));
    if (fresh)
      out_.names.push_back({event_.name, collective_of(event_.name, event_.collective), work_of(event_.name)});
    return place->second;
  }
  std::uint32_t group_of() {
    if (event_.group.empty() && event_.ranks.empty()) return 0;
    const auto [place, fresh] =
        group_ids_.try_emplace(event_.group + ' ' + event_.ranks, static_cast<std::uint32_t>(out_.groups.size()));
    if (fresh) out_.groups.push_back(place->first);
    return place->second;
  }

  bool take() {
    const TraceEvent& e = event_;
    if (e.name == "[memory]" && e.device_type == 1) {
      if (e.allocated > out_.allocated_bytes.value_or(0)) out_.allocated_bytes = e.allocated;
      if (e.reserved > out_.reserved_bytes.value_or(0)) out_.reserved_bytes = e.reserved;
      return true;
    }
    if (e.phase != "X" || !e.timed || !std::isfinite(e.start_us) || !(e.duration_us >= 0) ||
        !std::isfinite(e.duration_us))
      return true;
    const double end_us = e.start_us + e.duration_us;
    if (e.category == "kernel" || e.category == "Kernel" || e.category == "gpu_memcpy" ||
        e.category == "gpu_memset" || e.category == "Memcpy" || e.category == "Memset") {
      out_.kernels.push_back({e.start_us, end_us, name_of(), group_of(), e.correlation});
      return !too_many();
    }
    if ((e.category == "cuda_runtime" || e.category == "cuda_driver" || e.category == "Runtime") &&
        e.correlation >= 0)
      out_.launches.emplace_back(e.correlation, end_us);
    else if (e.name.starts_with("ProfilerStep#"))
      (e.category == "gpu_user_annotation" ? device_steps_ : host_steps_).push_back({e.start_us, end_us});
    return true;
  }

  RankTrace& out_;
  std::vector<StepMark> device_steps_, host_steps_;
  std::unordered_map<std::string, std::uint32_t> name_ids_, group_ids_;
  TraceEvent event_;
  std::string top_;
  std::string* text_ = nullptr;
  double* number_ = nullptr;
  std::int64_t* whole_ = nullptr;
  double rank_ = -1;
  std::size_t depth_ = 0, event_depth_ = 0;
  bool listed_ = false, in_events_ = false, in_event_ = false, found_ = false;
  std::optional<std::size_t> error_at_;
};

}  // namespace

Result<RankTrace> read_chrome_trace(TextStream& stream, const std::string& file) {
  RankTrace out;
  TraceReader reader(out);
  const auto fail = [&](engine::Sentence message, engine::Sentence remedy) {
    return InputError{file, {}, std::move(message), std::move(remedy)};
  };
  const bool whole = nlohmann::json::sax_parse(TextStream::Iterator(&stream), TextStream::Iterator(), &reader);
  if (stream.problem()) return *stream.problem();
  if (stream.stopped()) return fail(say("error.measured.stopped"), {});
  if (reader.too_many())
    return fail(say("error.measured.too_many", kMostTracedKernels), say("error.measured.too_many.remedy"));
  if (!whole) {
    InputError error = fail(say("error.measured.trace"), say("error.measured.trace.remedy"));
    if (const auto at = reader.error_at()) error.place = say("error.measured.byte", *at);
    return error;
  }
  reader.finish();
  if (!reader.found() || out.kernels.empty())
    return fail(say("error.measured.no_kernels"), say("error.measured.no_kernels.remedy"));
  return out;
}

}  // namespace roofscape::io
