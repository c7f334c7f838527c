// Tables by their names in the exports of Nsight Systems 2021 to 2025; times are whole nanoseconds. Of strings only those
// are kept that name a kernel or a step.
#include "engine/io/measured/nsys_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/io/measured/kernel_names.h"

namespace roofscape::io {

using engine::say;

namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr int kMostNameBytes = 16 << 10, kProgressSteps = 5'000;
constexpr std::size_t kMostGpus = 512, kMostSteps = 100'000, kMostStrings = 2'000'000;
constexpr std::int64_t kLeastRowBytes = 4;  // of a file that holds so many rows

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

// Only reading of tables, and no functions.
int reading_only(void*, int action, const char*, const char*, const char*, const char* view) {
  return view == nullptr && (action == SQLITE_SELECT || action == SQLITE_READ) ? SQLITE_OK : SQLITE_DENY;
}

// What training loops mark their steps with before a number, in small letters; where a profile has several, the first
// counts.
constexpr std::array<std::string_view, 9> kStepWords{"profilerstep", "train_step",    "training_step",
                                                     "train step",   "training step", "global_step",
                                                     "step",         "iteration",     "iter"};

// Which of these a range is named by: "ProfilerStep#12", "step 12", "iteration_12".
std::optional<std::size_t> step_word_of(std::string_view text) {
  std::size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  if (digits == text.size() || digits == 0 || text.size() > 64) return std::nullopt;
  std::string word(text.substr(0, digits));
  while (!word.empty() && std::string_view(" #:_=").find(word.back()) != std::string_view::npos) word.pop_back();
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (std::size_t i = 0; i < kStepWords.size(); ++i)
    if (kStepWords[i] == word) return i;
  return std::nullopt;
}

// What a copy is called in the sums of the same program, by CUPTI's number of its kind.
std::string copy_name(std::int64_t kind) {
  constexpr std::array<std::string_view, 11> kWays{"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                   "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  return "Memcpy " + std::string(kind >= 0 && kind < 11 ? kWays[static_cast<std::size_t>(kind)] : kWays[0]);
}

// Whether the words that made a table have one of a column that is computed ("x AS (...)"). Exports have none, and a
// computation may take any time.
bool computes(std::string_view made) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t i = 0; i + 1 < made.size(); ++i)
    if ((made[i] == 'a' || made[i] == 'A') && (made[i + 1] == 's' || made[i + 1] == 'S') &&
        (i == 0 || !in_word(made[i - 1])) && (i + 2 == made.size() || !in_word(made[i + 2])))
      return true;
  return false;
}

class NsysReader {
 public:
  NsysReader(std::string file, Database database, std::int64_t bytes, const ReadProgress& progress)
      : file_(std::move(file)), database_(std::move(database)), bytes_(bytes), progress_(progress) {}

  Result<std::vector<RankTrace>> read() {
    sqlite3* const db = database_.get();
    for (const int off :
         {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW})
      sqlite3_db_config(db, off, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 64 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr, nullptr);
    sqlite3_set_authorizer(db, reading_only, nullptr);
    sqlite3_progress_handler(
        db, kProgressSteps, [](void* self) { return static_cast<NsysReader*>(self)->stop(); }, this);
    for (const auto read :
         {&NsysReader::read_kernels, &NsysReader::read_names, &NsysReader::read_marks, &NsysReader::read_launches}) {
      if (auto failure = (this->*read)()) return *std::move(failure);
      ++done_;
    }
    return take();
  }

 private:
  int stop() {
    if (!progress_) return 0;
    const double part = rows_expected_ > 0 ? std::min(1.0, rows_read_ / rows_expected_) : 0;
    stopped_ = stopped_ || !progress_((done_ + part) / 4);
    return stopped_ ? 1 : 0;
  }
  InputError fail(engine::Sentence message, engine::Sentence remedy = say("error.measured.sqlite.remedy")) const {
    return InputError{file_, {}, std::move(message), std::move(remedy)};
  }
  // Never with the words of the database's own schema.
  InputError fail_of(int code) const {
    if (stopped_) return fail(say("error.measured.stopped"), {});
    return fail(say("error.measured.sqlite.damaged", std::string(sqlite3_errstr(code))));
  }

  // Null: there is no such table. Views, virtual tables and those with computed columns are refused.
  Result<Statement> open_table(const char* table, std::span<const char* const> columns) {
    sqlite3* const db = database_.get();
    sqlite3_stmt* raw = nullptr;
    int code =
        sqlite3_prepare_v2(db, "SELECT type, rootpage, sql FROM sqlite_master WHERE name = ?1", -1, &raw, nullptr);
    Statement listed(raw);
    if (code != SQLITE_OK) return fail_of(code);
    sqlite3_bind_text(listed.get(), 1, table, -1, SQLITE_STATIC);
    code = sqlite3_step(listed.get());
    if (code == SQLITE_DONE) return Statement();
    if (code != SQLITE_ROW) return fail_of(code);
    const auto* type = reinterpret_cast<const char*>(sqlite3_column_text(listed.get(), 0));
    if (type == nullptr || std::strcmp(type, "table") != 0 || sqlite3_column_int64(listed.get(), 1) < 2 ||
        computes(text(listed.get(), 2)))
      return fail(say("error.measured.sqlite.no_table", std::string(table)));
    std::string query = "SELECT ";
    for (const char* column : columns) {
      const bool known = sqlite3_table_column_metadata(db, nullptr, table, column, nullptr, nullptr, nullptr, nullptr,
                                                       nullptr) == SQLITE_OK;
      query += (query.size() > 7 ? ", " : "") + (known ? '"' + std::string(column) + '"' : std::string("NULL"));
    }
    raw = nullptr;
    code = sqlite3_prepare_v2(db, (query + " FROM \"" + table + '"').c_str(), -1, &raw, nullptr);
    Statement out(raw);
    if (code != SQLITE_OK) return fail_of(code);
    rows_read_ = 0;
    rows_expected_ = last_row(table);
    return out;
  }
  double last_row(const std::string& table) const {
    sqlite3_stmt* raw = nullptr;
    const std::string query = "SELECT rowid FROM \"" + table + "\" ORDER BY rowid DESC LIMIT 1";
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &raw, nullptr) != SQLITE_OK) return 0;
    const Statement last(raw);
    return sqlite3_step(last.get()) == SQLITE_ROW ? static_cast<double>(sqlite3_column_int64(last.get(), 0)) : 0;
  }

  // Each row of a table that is there. `take` may fail.
  template <class Take>
  Failure each_row(const char* table, std::initializer_list<const char*> columns, bool& there, Take&& take) {
    auto opened = open_table(table, {columns.begin(), columns.size()});
    if (!opened) return opened.error();
    there = opened.value() != nullptr;
    if (!there) return std::nullopt;
    sqlite3_stmt* const row = opened.value().get();
    int code;
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
      // Pages of a damaged file may lead to each other without an end.
      if (static_cast<std::int64_t>(++rows_read_) > bytes_ / kLeastRowBytes) return fail_of(SQLITE_CORRUPT);
      if (Failure failure = take(row)) return failure;
    }
    return code == SQLITE_DONE ? std::nullopt : Failure(fail_of(code));
  }

  static std::optional<std::int64_t> whole(sqlite3_stmt* row, int column) {
    if (sqlite3_column_type(row, column) != SQLITE_INTEGER) return std::nullopt;
    return sqlite3_column_int64(row, column);
  }
  static std::string_view text(sqlite3_stmt* row, int column) {
    if (sqlite3_column_type(row, column) != SQLITE_TEXT) return {};
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    return {bytes, static_cast<std::size_t>(std::min(kMostNameBytes, sqlite3_column_bytes(row, column)))};
  }

  // Processes are told apart by all but the last 24 bits, which are a thread's in the ids of threads.
  static std::int64_t process_of(std::int64_t id) { return id >> 24; }

  Failure add(std::int64_t process, std::int64_t device, std::int64_t start, std::int64_t end, std::uint32_t name,
              std::int64_t correlation) {
    if (end < start) return std::nullopt;
    if (++kernels_ > kMostTracedKernels)
      return fail(say("error.measured.too_many", kMostTracedKernels), say("error.measured.too_many.remedy"));
    const auto [place, fresh] = gpus_.try_emplace({process, device});
    if (fresh && gpus_.size() > kMostGpus) return fail(say("error.measured.sqlite.gpus", kMostGpus));
    place->second.kernels.push_back(
        {static_cast<double>(start) * 1e-3, static_cast<double>(end) * 1e-3, name, 0, correlation});
    return std::nullopt;
  }
  std::uint32_t name_at(std::int64_t string_id) {
    const auto [place, fresh] = by_string_.try_emplace(string_id, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.emplace_back();
    return place->second;
  }
  std::uint32_t named(std::string_view name) {
    names_.emplace_back(name);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }

  Failure read_kernels() {
    bool kernels = false, others = false;
    const auto incomplete = [&](const char* table) {
      return Failure(fail(say("error.measured.sqlite.no_times", std::string(table))));
    };
    const char* table = "CUPTI_ACTIVITY_KIND_KERNEL";
    Failure failure =
        each_row(table, {"start", "end", "deviceId", "globalPid", "correlationId", "demangledName", "shortName"},
                 kernels, [&](sqlite3_stmt* row) {
                   const auto start = whole(row, 0), end = whole(row, 1);
                   const auto name = whole(row, 5) ? whole(row, 5) : whole(row, 6);
                   if (!start || !end || !name) return incomplete(table);
                   if (by_string_.size() > kMostStrings) return Failure(fail_of(SQLITE_CORRUPT));
                   return add(process_of(whole(row, 3).value_or(0)), whole(row, 2).value_or(0), *start, *end,
                              name_at(*name), whole(row, 4).value_or(-1));
                 });
    if (failure) return failure;
    // A graph that is traced as a whole has no kernels of its own.
    std::array<std::optional<std::uint32_t>, 11> copies{};
    std::optional<std::uint32_t> sets, graphs;
    const auto take_other = [&](const char* from, auto&& name) {
      return each_row(from, {"start", "end", "deviceId", "globalPid", "correlationId", "copyKind"}, others,
                      [&](sqlite3_stmt* row) {
                        const auto start = whole(row, 0), end = whole(row, 1);
                        if (!start || !end) return incomplete(from);
                        return add(process_of(whole(row, 3).value_or(0)), whole(row, 2).value_or(0), *start, *end,
                                   name(row), whole(row, 4).value_or(-1));
                      });
    };
    failure = take_other("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", [&](sqlite3_stmt*) {
      if (!graphs) graphs = named("CUDA graph");
      return *graphs;
    });
    if (failure) return failure;
    if (kernels_ == 0)
      return fail(say("error.measured.sqlite.no_table", std::string(table)),
                  say("error.measured.sqlite.no_table.remedy"));
    failure = take_other("CUPTI_ACTIVITY_KIND_MEMCPY", [&](sqlite3_stmt* row) {
      const std::int64_t kind = std::clamp<std::int64_t>(whole(row, 5).value_or(0), 0, 10);
      auto& name = copies[static_cast<std::size_t>(kind)];
      if (!name) name = named(copy_name(kind));
      return *name;
    });
    if (failure) return failure;
    return take_other("CUPTI_ACTIVITY_KIND_MEMSET", [&](sqlite3_stmt*) {
      if (!sets) sets = named("Memset");
      return *sets;
    });
  }

  Failure read_names() {
    bool there = false;
    Failure failure = each_row("StringIds", {"id", "value"}, there, [&](sqlite3_stmt* row) {
      const auto id = whole(row, 0);
      const std::string_view value = text(row, 1);
      if (!id) return Failure();
      if (const auto found = by_string_.find(*id); found != by_string_.end()) names_[found->second] = value;
      if (step_word_of(value) && step_strings_.size() < kMostSteps) step_strings_.emplace(*id, value);
      return Failure();
    });
    if (!failure && !there) return fail(say("error.measured.sqlite.no_table", std::string("StringIds")));
    return failure;
  }

  Failure read_marks() {
    bool there = false;
    return each_row("NVTX_EVENTS", {"start", "end", "text", "textId", "globalTid"}, there, [&](sqlite3_stmt* row) {
      const auto start = whole(row, 0), end = whole(row, 1);
      if (!start || !end || *end <= *start) return Failure();
      std::string_view name = text(row, 2);
      if (const auto id = whole(row, 3); name.empty() && id)
        if (const auto found = step_strings_.find(*id); found != step_strings_.end()) name = found->second;
      const auto word = step_word_of(name);
      if (!word || marks_.size() >= kMostSteps) return Failure();
      // Threads of one process mark the same step.
      const StepMark mark{static_cast<double>(*start) * 1e-3, static_cast<double>(*end) * 1e-3};
      const auto [place, fresh] =
          marks_.try_emplace({process_of(whole(row, 4).value_or(0)), *word, std::string(name)}, mark);
      if (!fresh) {
        place->second.start_us = std::min(place->second.start_us, mark.start_us);
        place->second.end_us = std::max(place->second.end_us, mark.end_us);
      }
      return Failure();
    });
  }

  Failure read_launches() {
    bool there = false;
    return each_row(
        "CUPTI_ACTIVITY_KIND_RUNTIME", {"end", "correlationId", "globalTid"}, there, [&](sqlite3_stmt* row) {
          const auto end = whole(row, 0), correlation = whole(row, 1);
          if (!end || !correlation || *correlation < 0) return Failure();
          if (++launch_count_ > 2 * kMostTracedKernels)
            return Failure(
                fail(say("error.measured.too_many", kMostTracedKernels), say("error.measured.too_many.remedy")));
          launches_[process_of(whole(row, 2).value_or(0))].emplace_back(*correlation,
                                                                        static_cast<double>(*end) * 1e-3);
          return Failure();
        });
  }

  std::vector<RankTrace> take() {
    std::vector<KernelName> known;
    known.reserve(names_.size());
    for (const std::string& name : names_) known.push_back({name, collective_of(name), work_of(name)});
    std::vector<RankTrace> out;
    for (auto& [key, trace] : gpus_) {
      trace.names = known;
      trace.groups.emplace_back();
      if (const auto own = launches_.find(key.first); own != launches_.end()) trace.launches = own->second;
      trace.steps = steps_of(key.first);
      out.push_back(std::move(trace));
    }
    return out;
  }
  std::vector<StepMark> steps_of(std::int64_t process) const {
    std::vector<StepMark> out;
    std::optional<std::size_t> word;
    for (auto it = marks_.lower_bound({process, 0, {}}); it != marks_.end(); ++it) {
      const auto& [of, kind, name] = it->first;
      if (of != process || (word && *word != kind)) break;
      word = kind;
      out.push_back(it->second);
    }
    return out;
  }

  std::string file_;
  Database database_;
  std::int64_t bytes_;
  const ReadProgress& progress_;
  double rows_read_ = 0, rows_expected_ = 0, done_ = 0;
  bool stopped_ = false;
  std::size_t kernels_ = 0, launch_count_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, RankTrace> gpus_;  // by process and device
  std::vector<std::string> names_;
  std::unordered_map<std::int64_t, std::uint32_t> by_string_;
  std::unordered_map<std::int64_t, std::string> step_strings_;
  std::map<std::tuple<std::int64_t, std::size_t, std::string>, StepMark> marks_;             // by process, word, name
  std::unordered_map<std::int64_t, std::vector<std::pair<std::int64_t, double>>> launches_;  // by process
};

// For a name in a URI of SQLite.
std::string uri_of(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-").find(c) != std::string_view::npos;
    constexpr std::string_view kHex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (plain)
      out += c;
    else
      (out += '%') += {kHex[byte >> 4], kHex[byte & 15]};
  }
  return out + "?mode=ro&immutable=1";
}

}  // namespace

bool is_sqlite(std::string_view beginning) { return beginning.starts_with(kSqliteMagic); }

Result<std::vector<RankTrace>> read_nsys_database(const std::string& path, const ReadProgress& progress) {
  // What is unpacked on the way is no file that can be opened.
  std::array<char, kSqliteMagic.size()> magic{};
  struct stat status {};
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool read = descriptor >= 0 && ::read(descriptor, magic.data(), magic.size()) == std::ssize(magic) &&
                    ::fstat(descriptor, &status) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!read || !is_sqlite({magic.data(), magic.size()}))
    return InputError{path, {}, say("error.measured.sqlite.packed"), say("error.measured.sqlite.packed.remedy")};
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(uri_of(std::filesystem::absolute(path).string()).c_str(), &raw,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  if (code != SQLITE_OK)
    return InputError{path,
                      {},
                      say("error.measured.sqlite.damaged", std::string(sqlite3_errstr(code))),
                      say("error.measured.sqlite.remedy")};
  return NsysReader(path, std::move(database), status.st_size, progress).read();
}

Result<std::vector<RankTrace>> read_nsys_database_of(std::string_view bytes, const std::string& file) {
  std::string held(bytes);  // it is not written to, but is not const; outlives the database
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  const auto size = static_cast<sqlite3_int64>(held.size());
  if (code == SQLITE_OK)
    code = sqlite3_deserialize(raw, "main", reinterpret_cast<unsigned char*>(held.data()), size, size,
                               SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK)
    return InputError{file,
                      {},
                      say("error.measured.sqlite.damaged", std::string(sqlite3_errstr(code))),
                      say("error.measured.sqlite.remedy")};
  const ReadProgress none;
  return NsysReader(file, std::move(database), size, none).read();
}

}  // namespace roofscape::io
