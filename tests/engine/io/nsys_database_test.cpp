// SQLite exports of Nsight Systems, made here by the rules of the format: kernels by class, steps, ranks, and databases
// that are damaged or mean harm.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <filesystem>
#include <random>
#include <string>

#include "engine/io/measured/measured_input.h"
#include "engine/io/measured/nsys_database.h"
#include "tests/engine/io/io_fixture.h"
#include "tests/english.h"

namespace roofscape {
namespace {

using engine::MeasuredCollective;
using engine::MeasuredRun;
using engine::WorkKind;

// A database that these statements make, as the bytes of its file.
std::string database_of(const std::string& sql) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "made.sqlite";
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(file.string().c_str(), &db) == SQLITE_OK);
  char* problem = nullptr;
  const int code =
      sqlite3_exec(db, ("PRAGMA page_size=512; BEGIN;" + sql + "COMMIT;").c_str(), nullptr, nullptr, &problem);
  INFO(std::string(problem == nullptr ? "" : problem));
  REQUIRE(code == SQLITE_OK);
  sqlite3_close(db);
  return test::text_of(file);
}

const std::string kNsysTables =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, "
    "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
    "shortName INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, "
    "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, "
    "nameId INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, "
    "globalTid INTEGER);"
    "INSERT INTO StringIds VALUES (1,'nvjet_hsh_128x256_64x4'),(2,'flash_fwd_kernel<Flash_fwd_kernel_traits<128>>'),"
    "(3,'ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),(4,'void "
    "vectorized_layer_norm_kernel<float>(int)'),(5,'void multi_tensor_apply_kernel<FusedAdam>(long)'),"
    "(6,'step 7'),(7,'something of its own'),(8,'step 8');";
constexpr std::int64_t kProcess = 4242;

std::string id_of(std::int64_t process, int thread = 0) { return std::to_string((process << 24) + thread); }
// Times in microseconds.
std::string kernel(int name, int start, int length, int device = 0, int correlation = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start * 1000) + "," +
         std::to_string((start + length) * 1000) + "," + std::to_string(device) + ",1,7," +
         std::to_string(correlation) + "," + id_of(kProcess) + "," + std::to_string(name) + ",1);";
}
// The step of measured_run_test.cpp: 400 us of a product, 100 of attention, an AllGather of 300 of which 200 run alone, a
// norm of 50, a gap of 100 that the host takes 60 of, 50 of the optimizer.
std::string profiled_step(int gather = 300, int device = 0) {
  return kernel(1, 0, 400, device) + kernel(3, 300, gather, device) + kernel(2, 600, 100, device) +
         kernel(4, 700, 50, device) + kernel(5, 850, 50, device, 99) +
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (805000,810000," + id_of(kProcess, 3) + ",99,0);";
}
const std::string kMark = "INSERT INTO NVTX_EVENTS VALUES (0,1000000,59,NULL,6," + id_of(kProcess, 5) + ");";

io::Result<MeasuredRun> read_bytes(const std::string& bytes) {
  const test::TemporaryFolder folder;
  return io::read_measured_run({folder.write("run.sqlite", bytes).string()}, {});
}
// The one line that a database is refused with; it never names two.
std::string refusal_of_database(const std::string& bytes) {
  const auto read = read_bytes(bytes);
  if (read) return "";
  const std::string line = io::to_text(read.error(), test::english());
  CHECK(line.find('\n') == std::string::npos);
  return line;
}
bool line_says(const std::string& line, std::string_view words) { return line.find(words) != std::string::npos; }
doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-9); }

TEST_CASE("kernels of an SQLite export are told apart as those of a trace") {
  const auto run = read_bytes(database_of(kNsysTables + profiled_step() + kMark));
  REQUIRE(run.ok());
  const auto work = [&](WorkKind kind) { return run->kernels->work[static_cast<std::size_t>(kind)].seconds; };
  CHECK(*run->step_s == near(1000e-6));
  CHECK(work(WorkKind::matmul) == near(400e-6));
  CHECK(work(WorkKind::attention) == near(100e-6));
  CHECK(work(WorkKind::vector) == near(50e-6));
  CHECK(work(WorkKind::optimizer) == near(50e-6));
  const engine::CollectiveTime& gather =
      run->kernels->collectives[static_cast<std::size_t>(MeasuredCollective::all_gather)];
  CHECK(gather.seconds == near(300e-6));
  CHECK(gather.exposed_s == near(200e-6));
  CHECK(run->kernels->idle_host_s == near(60e-6));
  CHECK(run->kernels->idle_launch_s == near(40e-6));
  CHECK(run->kernels->timeline);
}

TEST_CASE("ranges of NVTX that are named by a word and a number are the steps") {
  // Two steps, each by two threads; other ranges do not count.
  const auto run = read_bytes(database_of(
      kNsysTables + profiled_step() + kMark + "INSERT INTO NVTX_EVENTS VALUES (1000000,2000000,59,'step 8',NULL," +
      id_of(kProcess, 5) + "),(1000000,2000000,59,NULL,8," + id_of(kProcess, 6) + "),(0,5000000,59,'epoch 1',NULL," +
      id_of(kProcess, 5) + "),(0,9000000,59,NULL,7," + id_of(kProcess, 5) + "),(3,NULL,34,'step 9',NULL," +
      id_of(kProcess, 5) + ");"));
  REQUIRE(run.ok());
  CHECK(run->kernels->steps == 2);
  CHECK(*run->step_s == near(1000e-6));
}

TEST_CASE("each GPU of an SQLite export is a rank, and the fastest did not wait") {
  const auto run = read_bytes(database_of(kNsysTables + profiled_step(300) + profiled_step(200, 1) + kMark));
  REQUIRE(run.ok());
  CHECK(run->kernels->ranks == 2);
  const engine::CollectiveTime& gather =
      run->kernels->collectives[static_cast<std::size_t>(MeasuredCollective::all_gather)];
  CHECK(gather.seconds == near(250e-6));
  CHECK(gather.link_s == near(200e-6));
  CHECK(run->sources.size() == 1);
}

TEST_CASE("copies go by their kind, and a graph traced as a whole is work not known by name") {
  const std::string pid = id_of(kProcess);
  const auto run = read_bytes(database_of(
      kNsysTables + kernel(1, 0, 400) + "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (500000,600000,0,1," + pid +
      ",8,1),(600000,650000,0,1," + pid +
      ",8,8);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, "
      "graphId INTEGER, correlationId INTEGER, globalPid INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (700000,770000,0,1,2," +
      pid + ");"));
  REQUIRE(run.ok());
  const auto work = [&](WorkKind kind) { return run->kernels->work[static_cast<std::size_t>(kind)].seconds; };
  CHECK(work(WorkKind::host_copy) == near(100e-6));
  CHECK(work(WorkKind::vector) == near(50e-6));
  CHECK(work(WorkKind::unknown) == near(70e-6));
  REQUIRE(run->kernels->unknown.size() == 1);
  CHECK(run->kernels->unknown.front().first == "CUDA graph");
}

TEST_CASE("a database is only read, and leaves nothing beside it") {
  const test::TemporaryFolder folder;
  const std::string bytes = database_of(kNsysTables + profiled_step() + kMark);
  const std::filesystem::path file = folder.write("a b?#%é.sqlite", bytes);
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  CHECK(io::read_measured_run({file.string()}, {}).ok());
  CHECK(folder.count() == 1);
  CHECK(test::text_of(file) == bytes);
}

TEST_CASE("databases without kernels, and such as define something to run, are refused by name") {
  CHECK(line_says(refusal_of_database(database_of("CREATE TABLE a (b);")), "CUPTI_ACTIVITY_KIND_KERNEL"));
  CHECK(line_says(refusal_of_database(database_of(kNsysTables)), "CUPTI_ACTIVITY_KIND_KERNEL"));
  const std::string names = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);";
  CHECK(line_says(
      refusal_of_database(database_of(
          names + "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL "
                  "SELECT start + 1 FROM n) SELECT start, start AS end, 1 AS demangledName FROM n;")),
      "no table CUPTI_ACTIVITY_KIND_KERNEL"));
  // Functions in columns that are computed.
  CHECK(line_says(
      refusal_of_database(database_of(
          names + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER AS (length(zeroblob(start))), "
                  "demangledName INTEGER);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 1);")),
      "no table CUPTI_ACTIVITY_KIND_KERNEL"));
  CHECK(line_says(refusal_of_database(database_of(
                      names + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName); INSERT INTO "
                              "CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', x'00', 1);")),
                  "no time or no name"));
  CHECK(line_says(refusal_of_database(
                      database_of("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName); INSERT INTO "
                                  "CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 1);")),
                  "StringIds"));
  CHECK_FALSE(refusal_of_database("SQLite format 3").empty());
}

TEST_CASE("a packed database says that it is packed") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "run.sqlite.gz";
  const std::string bytes = database_of(kNsysTables + profiled_step());
  const gzFile packed = gzopen(file.string().c_str(), "wb");
  gzwrite(packed, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(packed);
  const auto read = io::read_measured_run({file.string()}, {});
  REQUIRE_FALSE(read.ok());
  CHECK(line_says(io::to_text(read.error(), test::english()), "packed"));
}

TEST_CASE("databases cut anywhere and with bytes changed are read or refused in one line") {
  const std::string whole = database_of(kNsysTables + profiled_step() + profiled_step(250, 1) + kMark);
  for (std::size_t length = 16; length < whole.size(); length += 97) {
    CAPTURE(length);
    (void)refusal_of_database(whole.substr(0, length));
  }
  std::mt19937 random(7);
  for (int turn = 0; turn < 400; ++turn) {
    CAPTURE(turn);
    std::string bytes = whole;
    const int changes = 1 + turn % 24;
    for (int i = 0; i < changes; ++i) bytes[20 + random() % (bytes.size() - 20)] = static_cast<char>(random() % 256);
    const auto read = io::read_nsys_database_of(bytes, "changed.sqlite");
    if (!read) CHECK(io::to_text(read.error(), test::english()).find('\n') == std::string::npos);
  }
}

TEST_CASE("what is stopped while a database is read says so") {
  const test::TemporaryFolder folder;
  std::string rows;
  for (int i = 0; i < 4000; ++i) rows += kernel(1, i, 1);
  const std::filesystem::path file = folder.write("run.sqlite", database_of(kNsysTables + rows));
  const auto read = io::read_measured_run({file.string()}, {1, [](double) { return false; }});
  REQUIRE_FALSE(read.ok());
  CHECK(line_says(io::to_text(read.error(), test::english()), "stopped"));
}

}  // namespace
}  // namespace roofscape
