// The events of a Chrome trace as text. For trace_json.cpp, which says what they are of.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "engine/pipeline/simulate.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io::trace {

using engine::Tick;

// Events one a line. Names and arguments are our own words and numbers, so nothing in them needs escaping.
class Writer {
 public:
  explicit Writer(const engine::Scenario& s);
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
  // An arrow from a slice that covers the first moment to one that covers the second.
  void flow(int id, int from_pid, int from_tid, Tick from, int to_pid, int to_tid, Tick to) {
    event("{{\"ph\":\"s\",\"name\":\"send\",\"cat\":\"transfer\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}", id,
          from_pid, from_tid, micro(from));
    event(
        "{{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"send\",\"cat\":\"transfer\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}"
        "}}",
        id, to_pid, to_tid, micro(to));
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

}  // namespace roofscape::io::trace
